"""The tables: what the runs gave beside what the paper prints, and then at equal privacy."""

from __future__ import annotations

from tightnoise.reproduce._study import Results
from tightnoise.reproduce._table import Table
from tightnoise.reproduce.reconstruction import _attack_tables, _training_tables
from tightnoise.reproduce.reconstruction._scope import Scope

__all__ = ["tables"]


def tables(scope: Scope, results: Results) -> list[Table]:
    """Return all tables, in the order in which they are printed."""
    batches = scope.batches[::-1]
    return [
        _training_tables.epsilons(scope),
        _training_tables.baselines(scope, results),
        *[_training_tables.accuracies(scope, results, batch) for batch in batches],
        _training_tables.equal_accuracies(scope, results),
        _attack_tables.selected(scope, results),
        *[_attack_tables.attacks(scope, results, batch) for batch in batches],
        _attack_tables.l2_attacks(scope, results),
        _attack_tables.sums(scope, results),
        _attack_tables.one(scope, results),
    ]
