"""Which runs the study is made of."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tightnoise.reproduce.reconstruction._network import BATCH
from tightnoise.reproduce.reconstruction._noises import Noise
from tightnoise.reproduce.reconstruction._runs import (
    TOTAL_VARIATION,
    accuracy,
    attack_alone,
    attack_batch,
    attack_l2,
    guess,
)
from tightnoise.reproduce.reconstruction._scope import Scope, attacked, guessed, trained

DECAY = 0.1
"""The weight decay that the paper states."""

L2_BATCHES = (1, 8)

_TOGETHER = 8  # attacks: 128 images' take half the time that they take one by one, a few' an eighth

Cells = Mapping[str, Callable[[], Any]]


def about(scope: Scope) -> dict[str, Any]:
    """Return what the results depend on beside their names."""
    task = scope.task
    parts = (task.train, task.train_labels, task.test, task.test_labels)
    digest = functools.reduce(lambda crc, part: zlib.crc32(part.numpy().tobytes(), crc), parts, 0)
    return {
        "study": "reconstruction",
        "data": f"{len(task.train)} images, digest {digest:08x}",
        "epochs": scope.epochs,
        "iterations": [scope.iterations, scope.l2_iterations],
        "total variation": TOTAL_VARIATION,
    }


def cells(scope: Scope) -> Cells:
    """Return the runs by name, those first that say most."""
    found: dict[str, Callable[[], Any]] = {}
    for seed in range(scope.seeds):
        found |= _attack_cells(scope, seed)
        found |= _training_cells(scope, seed)
    noises = _all(scope.pairs())
    for batch in reversed(scope.batches[:-1]):
        for seed in range(scope.seeds):
            found |= _iga(scope, noises, batch, seed)
            for noise in noises:
                found |= _accuracy(scope, noise, batch, 0.0, seed)
    return found


def _training_cells(scope: Scope, seed: int) -> Cells:
    none = Noise("none")
    found = dict(_accuracy(scope, none, BATCH, DECAY, seed))
    noises = [none, Noise("clip"), *_all(scope.pairs()), *_all(scope.equals())]
    for noise in noises:
        found |= _accuracy(scope, noise, BATCH, 0.0, seed)
    return found


def _attack_cells(scope: Scope, seed: int) -> Cells:
    found: dict[str, Callable[[], Any]] = {
        guessed(batch, seed): functools.partial(guess, scope.task, batch=batch, seed=seed)
        for batch in (1, BATCH)
    }
    of_one = [Noise("none"), *(noise for _, _, noise in scope.of_one())]
    alone = functools.partial(attack_alone, scope.task, iterations=scope.iterations, seed=seed)
    found |= _side_by_side("alone", alone, of_one, 1, seed)
    on_sums = [noise for _, noise in scope.of_sums()]
    found |= _iga(scope, [*scope.selected(), *_all(scope.pairs()), *on_sums], BATCH, seed)
    for noise in scope.selected():
        for batch in L2_BATCHES:
            found[attacked("dlg", noise, batch, seed)] = functools.partial(
                attack_l2,
                scope.task,
                noise,
                batch=batch,
                iterations=scope.l2_iterations,
                seed=seed,
            )
    return found


def _accuracy(scope: Scope, noise: Noise, batch: int, decay: float, seed: int) -> Cells:
    run = functools.partial(
        accuracy,
        scope.task,
        noise,
        batch=batch,
        epochs=scope.epochs,
        weight_decay=decay,
        seed=seed,
    )
    return {trained(noise, batch, decay, seed): run}


def _iga(scope: Scope, noises: Sequence[Noise], batch: int, seed: int) -> Cells:
    attack = functools.partial(
        attack_batch, scope.task, batch=batch, iterations=scope.iterations, seed=seed
    )
    return _side_by_side("iga", attack, noises, batch, seed)


def _side_by_side(
    kind: str,
    attack: Callable[[Sequence[Noise]], list[Any]],
    noises: Sequence[Noise],
    batch: int,
    seed: int,
) -> Cells:
    """Return a cell for each noise; the first of some that is asked for computes all of them."""
    found: dict[str, Callable[[], Any]] = {}
    distinct = list(dict.fromkeys(noises))
    for first in range(0, len(distinct), _TOGETHER):
        some = distinct[first : first + _TOGETHER]
        known = functools.cache(functools.partial(attack, some))
        for place, noise in enumerate(some):
            found[attacked(kind, noise, batch, seed)] = functools.partial(_part, known, place)
    return found


def _part(known: Callable[[], list[Any]], place: int) -> Any:
    return known()[place]


def _all(rows: Iterable[tuple[int, tuple[Noise, ...]]]) -> list[Noise]:
    return [noise for _, noises in rows for noise in noises]
