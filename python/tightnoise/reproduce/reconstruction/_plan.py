"""How much of the study is run, which runs it is made of, and where their results are."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightnoise._validate import require
from tightnoise.reproduce._study import Results
from tightnoise.reproduce.reconstruction._network import BATCH, Task, network
from tightnoise.reproduce.reconstruction._noises import (
    Noise,
    as_capacious,
    as_private,
    as_private_once,
    lifted_as_private,
)
from tightnoise.reproduce.reconstruction._printed import (
    BATCHES,
    FASHION_MNIST,
    MNIST,
    SIGMA,
    Printed,
)
from tightnoise.reproduce.reconstruction._runs import (
    TOTAL_VARIATION,
    accuracy,
    attack_alone,
    attack_batch,
    attack_l2,
    guess,
    steps,
)

_SMALL = 10_000  # records: of fewer, more epochs


@dataclass(frozen=True)
class Scope:
    """How much of the study is run, and on what."""

    task: Task
    seeds: int
    kappas: Sequence[int]
    """Of the paper's pairs."""
    batches: Sequence[int]
    """The last of them is 128."""
    alone: Sequence[float]
    """kappas with which one record is attacked."""
    epochs: int
    iterations: int
    """Of inverting gradients."""
    l2_iterations: int
    """Of deep leakage from gradients."""

    @classmethod
    def of(cls, task: Task, seeds: int, *, full: bool, batches: Sequence[int] = ()) -> Scope:
        """Return all of the study, or what takes minutes; and such batches, of those of 128, too.

        Without any, all of them or none.
        """
        chosen = [batch for batch in BATCHES if batch in batches or batch == BATCH]
        return cls(
            task,
            seeds,
            kappas=tuple(SIGMA) if full else (75, 150, 300, 400),
            batches=BATCHES if full and not batches else tuple(chosen),
            alone=(500.0, 4_000.0, 16_000.0, 64_000.0) if full else (500.0, 16_000.0),
            epochs=3 if len(task.train) >= _SMALL else 30,
            iterations=10_000 if full else 400,
            l2_iterations=100,
        )

    @functools.cached_property
    def weights(self) -> int:
        return sum(p.numel() for p in network(self.task, 0).parameters())

    @property
    def rate(self) -> float:
        """The part of the records that is in a batch."""
        return BATCH / len(self.task.train)

    @property
    def delta(self) -> float:
        return 1 / len(self.task.train)

    @property
    def steps(self) -> int:
        return steps(len(self.task.train), BATCH, self.epochs)

    @property
    def what(self) -> str:
        """What the numbers are of."""
        plural = "s" * (self.seeds > 1)
        what = f"{len(self.task.train)} images of {self.task.name}, {self.seeds} seed{plural}"
        return f"{what} (printed: {self.printed.name})"

    @property
    def printed(self) -> Printed:
        """What the paper prints of these data, or of Fashion-MNIST."""
        return MNIST if self.task.is_mnist else FASHION_MNIST

    def paper_epsilon(self, noise: Noise) -> float:
        """Return epsilon of the training in the relation that the paper's numbers are for."""
        cost = noise.cost(self.weights, replaced=False).sampled(self.rate, "poisson")
        return (cost * self.steps).epsilon(self.delta)

    def epsilon(self, noise: Noise) -> float:
        """Return epsilon of the training by batches of a fixed size, for a replaced record."""
        cost = noise.cost(self.weights, replaced=True).sampled(self.rate, "fixed-size")
        return (cost * self.steps).epsilon(self.delta)

    def epsilon_of_one(self, noise: Noise) -> float:
        """Return epsilon of one release of a sum in which a record is replaced."""
        return noise.cost(self.weights, replaced=True).epsilon(self.delta)

    def pairs(self) -> list[tuple[int, tuple[Noise, Noise]]]:
        """Return kappa, directions, and the Gaussian to which the paper ascribes its epsilon."""
        return [
            (k, (Noise("directions", float(k)), Noise("gaussian", SIGMA[k]))) for k in self.kappas
        ]

    def equals(self) -> list[tuple[int, tuple[Noise, Noise, Noise]]]:
        """Return kappa, directions, and Gaussian and lifted noise that costs as much."""
        return [
            (
                k,
                (
                    Noise("directions", float(k)),
                    as_private(k, self.weights),
                    lifted_as_private(k, self.weights),
                ),
            )
            for k in self.kappas
        ]

    def selected(self) -> list[Noise]:
        """Return the noises of Tables II and III beyond the pairs."""
        return [
            Noise("none"),
            Noise("clip"),
            Noise("gaussian", 0.174),
            Noise("directions", 500.0),
        ]

    def of_one(self) -> list[tuple[float, str, Noise]]:
        """Return the noises on one record's gradient, each with what it is the equal of."""
        rows: list[tuple[float, str, Noise]] = []
        for kappa in self.alone:
            directions = Noise("directions", kappa)
            rows += [
                (kappa, "directions", directions),
                (kappa, "Gaussian, epsilon", as_private_once(kappa, self.weights, self.delta)),
                (kappa, "Gaussian, capacity", as_capacious(directions, self.weights, 1)),
            ]
        return rows

    def of_sums(self) -> list[tuple[str, Noise]]:
        """Return the noises on a batch's gradient: Gaussian, and directions as private, as open."""
        rows: list[tuple[str, Noise]] = []
        for sigma in (1.23, 0.174):
            gaussian = Noise("gaussian", sigma)
            # As private: kappa and sigma of `as_private` are inversely proportional.
            kappa = as_private(1.0, self.weights).parameter / sigma
            rows += [
                (f"Gaussian {sigma:g}", gaussian),
                ("directions, epsilon", Noise("directions", kappa)),
                ("directions, capacity", as_capacious(gaussian, self.weights, BATCH)),
            ]
        return rows

    def accuracies(
        self, results: Results, noise: Noise, batch: int = BATCH, decay: float = 0.0
    ) -> list[float]:
        """Return what the seeds gave."""
        return [results[trained(noise, batch, decay, seed)] for seed in range(self.seeds)]

    def attacks(
        self, results: Results, kind: str, noise: Noise, batch: int = BATCH
    ) -> list[dict[str, Any]]:
        """Return the same of attacks: "iga", "dlg" or "alone"."""
        return [results[attacked(kind, noise, batch, seed)] for seed in range(self.seeds)]

    def guesses(self, results: Results, batch: int) -> list[dict[str, Any]]:
        """Return the same of images that are guessed without a gradient."""
        return [results[guessed(batch, seed)] for seed in range(self.seeds)]


def check_batches(batches: Sequence[int]) -> None:
    """Refuse sizes that the paper does not have."""
    for batch in batches:
        require(batch in BATCHES, "--batches", batch, "16, 32, 64 or 128")


def column(found: Sequence[dict[str, Any]], name: str) -> list[float]:
    """Return one number of each attack."""
    return [float(values[name]) for values in found]


def mean(found: Sequence[dict[str, Any]], name: str) -> float:
    """Return the mean of one number over the attacks."""
    return float(np.mean(column(found, name)))


def guessed(batch: int, seed: int) -> str:
    return f"guess, batch {batch}, seed {seed}"


def trained(noise: Noise, batch: int, decay: float, seed: int) -> str:
    return f"accuracy, {noise.label}, batch {batch}, weight decay {decay:g}, seed {seed}"


def attacked(kind: str, noise: Noise, batch: int, seed: int) -> str:
    return f"{kind}, {noise.label}, batch {batch}, seed {seed}"


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
    for noise in (none, Noise("clip"), *_all(scope.pairs()), *_all(scope.equals())):
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
            settings = {"batch": batch, "iterations": scope.l2_iterations, "seed": seed}
            attack = functools.partial(attack_l2, scope.task, noise, **settings)
            found[attacked("dlg", noise, batch, seed)] = attack
    return found


def _accuracy(scope: Scope, noise: Noise, batch: int, decay: float, seed: int) -> Cells:
    settings: dict[str, Any] = {
        "batch": batch,
        "epochs": scope.epochs,
        "weight_decay": decay,
        "seed": seed,
    }
    run = functools.partial(accuracy, scope.task, noise, **settings)
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
            found[attacked(kind, noise, batch, seed)] = functools.partial(
                lambda known, place: known()[place], known, place
            )
    return found


def _all(rows: Iterable[tuple[int, tuple[Noise, ...]]]) -> list[Noise]:
    return [noise for _, noises in rows for noise in noises]
