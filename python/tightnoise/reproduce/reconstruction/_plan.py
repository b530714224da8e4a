"""Which runs the study is made of."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterable, Mapping
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
    for batch in reversed(scope.batches[:-1]):
        for seed in range(scope.seeds):
            for _, noises in scope.pairs():
                for noise in noises:
                    found |= _accuracy(scope, noise, batch, 0.0, seed)
                    found |= _iga(scope, noise, batch, seed)
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
    for _, _, noise in [(0, "", Noise("none")), *scope.of_one()]:
        found[attacked("alone", noise, 1, seed)] = functools.partial(
            attack_alone, scope.task, noise, iterations=scope.iterations, seed=seed
        )
    on_sums = [noise for _, noise in scope.of_sums()]
    for noise in [*scope.selected(), *_all(scope.pairs()), *on_sums]:
        found |= _iga(scope, noise, BATCH, seed)
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


def _iga(scope: Scope, noise: Noise, batch: int, seed: int) -> Cells:
    run = functools.partial(
        attack_batch, scope.task, noise, batch=batch, iterations=scope.iterations, seed=seed
    )
    return {attacked("iga", noise, batch, seed): run}


def _all(rows: Iterable[tuple[int, tuple[Noise, ...]]]) -> list[Noise]:
    return [noise for _, noises in rows for noise in noises]
