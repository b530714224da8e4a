"""Table 1: the variance of the noise, what it truly costs, and how far the output is off."""

from __future__ import annotations

from collections.abc import Callable

from tightnoise.reproduce._table import Cell, Row, Table, wrapped
from tightnoise.reproduce.bounded import _printed as printed
from tightnoise.reproduce.bounded._generalized import generalized_gaussian_variance
from tightnoise.reproduce.bounded._setting import EPSILONS, SENSITIVITIES, WIDTHS

__all__ = ["TABLES"]


def _generalized_table() -> Table:
    return Table(
        "Generalized Gaussian (Table 1): sigma^2",
        "epsilon",
        ("sigma^2",),
        tuple(
            Row(
                epsilon,
                (
                    Cell(
                        generalized_gaussian_variance(epsilon, WIDTHS, SENSITIVITIES),
                        printed.GENERALIZED[epsilon],
                    ),
                ),
            )
            for epsilon in EPSILONS
        ),
        wrapped("132 over epsilon: the sum of 2 L_i D_i + D_i^2 over both coordinates."),
    )


TABLES: tuple[Callable[[], Table], ...] = (_generalized_table,)
"""What computes each table, in the order in which they are printed."""
