"""The tables: what the runs gave beside what the paper prints, and then at equal privacy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tightnoise.reproduce._study import Results
from tightnoise.reproduce._table import Cell, Row, Table, wrapped
from tightnoise.reproduce.reconstruction._network import BATCH
from tightnoise.reproduce.reconstruction._noises import Noise, capacity
from tightnoise.reproduce.reconstruction._plan import (
    DECAY,
    L2_BATCHES,
    Scope,
    error,
    mean,
)
from tightnoise.reproduce.reconstruction._printed import (
    ACCURACY,
    ALONE,
    BATCHES,
    DLG,
    IGA,
    SELECTED,
    SIGMA,
)
from tightnoise.reproduce.vmf._tables import PRINTED_EPSILON

__all__ = ["epsilon", "epsilon_of_one", "paper_epsilon", "tables"]


def tables(scope: Scope, results: Results) -> list[Table]:
    """Return all tables, in the order in which they are printed."""
    return [
        _epsilons(scope),
        _baselines(scope, results),
        *[_accuracies(scope, results, batch) for batch in reversed(scope.batches)],
        _equal_accuracies(scope, results),
        _selected(scope, results),
        *[_attacks(scope, results, batch) for batch in reversed(scope.batches)],
        _l2(scope, results),
        _sums(scope, results),
        _one(scope, results),
    ]


def paper_epsilon(scope: Scope, noise: Noise) -> float:
    """Return epsilon of the training in the relation that the paper's numbers are for."""
    cost = noise.cost(scope.weights, replaced=False).sampled(scope.rate, "poisson")
    return (cost * scope.steps).epsilon(scope.delta)


def epsilon(scope: Scope, noise: Noise) -> float:
    """Return epsilon of the training for batches of a fixed size and a record that is replaced."""
    cost = noise.cost(scope.weights, replaced=True).sampled(scope.rate, "fixed-size")
    return (cost * scope.steps).epsilon(scope.delta)


def epsilon_of_one(scope: Scope, noise: Noise) -> float:
    """Return epsilon of one release of a sum in which a record is replaced."""
    return noise.cost(scope.weights, replaced=True).epsilon(scope.delta)


def _epsilons(scope: Scope) -> Table:
    return Table(
        f"Epsilon at delta 1/{len(scope.task.train)} of {scope.steps} batches of {BATCH}, "
        "and log capacities of one release",
        "kappa",
        (
            *("printed", "add-remove", "replace-one", "capacity"),
            *("sigma", "add-remove", "replace-one", "radius 1", f"radius {BATCH}"),
        ),
        tuple(
            Row(
                kappa,
                (
                    Cell(None, PRINTED_EPSILON[kappa]),
                    Cell(paper_epsilon(scope, directions)),
                    Cell(epsilon(scope, directions)),
                    Cell(capacity(directions, scope.weights, 1)),
                    Cell(None, f"{SIGMA[kappa]:g}"),
                    Cell(paper_epsilon(scope, gaussian)),
                    Cell(epsilon(scope, gaussian)),
                    Cell(capacity(gaussian, scope.weights, 1)),
                    Cell(capacity(gaussian, scope.weights, BATCH)),
                ),
            )
            for kappa, (directions, gaussian) in scope.pairs()
        ),
        wrapped(
            "Printed: of 3 releases with directions, 1407 with the Gaussian. Add-remove: of "
            "Poisson samples. Replace-one: of batches of a fixed size, as the paper's algorithms "
            "and its neighbours have them; a replaced record moves the sum by 2. Directions may "
            "turn around in either relation.",
            f"The sum of {BATCH} clipped gradients lies in a ball of radius {BATCH}; the paper "
            "takes 1 (and prints the number of layers).",
        ),
    )


def _baselines(scope: Scope, results: Results) -> Table:
    none = Noise("none")
    rows = (
        ("without noise", scope.accuracies(results, none), ALONE),
        (f"the same, weight decay {DECAY:g}", scope.accuracies(results, none, decay=DECAY), ALONE),
        ("clipped, without noise", scope.accuracies(results, Noise("clip")), None),
    )
    return Table(
        "Accuracy without noise (section VII-A)",
        "training",
        ("printed", "ours", "se"),
        tuple(Row(name, (Cell(None, printed), *_spread(values))) for name, values, printed in rows),
        wrapped(
            f"{_data(scope)}. Adam with a rate of 0.005 and the paper's weight decay shrinks all "
            "weights until the network tells nothing apart. All other runs are without decay.",
        ),
    )


def _accuracies(scope: Scope, results: Results, batch: int) -> Table:
    at = BATCHES.index(batch)
    return Table(
        f"Accuracy, batches of {batch} (Figure 2, Table V)",
        "kappa",
        ("printed", "directions", "se", "sigma", "printed", "Gaussian", "se"),
        tuple(
            Row(
                kappa,
                (
                    Cell(None, ACCURACY[kappa][0][at]),
                    *_spread(scope.accuracies(results, directions, batch)),
                    Cell(None, f"{SIGMA[kappa]:g}"),
                    Cell(None, ACCURACY[kappa][1][at]),
                    *_spread(scope.accuracies(results, gaussian, batch)),
                ),
            )
            for kappa, (directions, gaussian) in scope.pairs()
        ),
        wrapped(
            f"{_data(scope)}. Pairs to which the paper ascribes one epsilon; see the first table."
        ),
    )


def _equal_accuracies(scope: Scope, results: Results) -> Table:
    return Table(
        "Accuracy at equal privacy: all batches counted, a replaced record in all three",
        "kappa",
        ("epsilon", "directions", "se", "sigma", "Gaussian", "se", "kappa'", "lifted", "se"),
        tuple(
            Row(
                kappa,
                (
                    Cell(epsilon(scope, directions)),
                    *_spread(scope.accuracies(results, directions)),
                    Cell(gaussian.parameter),
                    *_spread(scope.accuracies(results, gaussian)),
                    Cell(lifted.parameter),
                    *_spread(scope.accuracies(results, lifted)),
                ),
            )
            for kappa, (directions, gaussian, lifted) in scope.equals()
        ),
        wrapped(
            "Sigma: 2/mu, where the directions are mu-GDP: the Gaussian costs within 1 % of what "
            "they cost. Lifted: directions beside an anchor of 64, with the same mu; they cost "
            "less.",
        ),
    )


def _selected(scope: Scope, results: Results) -> Table:
    rows = [*scope.selected(), Noise("gaussian", 1.23), Noise("directions", 75.0)]
    guesses = scope.guesses(results, BATCH)
    return Table(
        f"Inverting gradients of {BATCH} images (Table II, Figure 3)",
        "noise",
        ("cosine", "SSIM printed", "ours", "se", "MSE printed", "ours", "se"),
        (
            Row("no gradient", (Cell(None), *_near(scope, guesses, (None, None)))),
            *[
                Row(noise.label, _attacked(scope, results, noise, SELECTED[noise.label], BATCH))
                for noise in rows
            ],
        ),
        _attack_notes(scope),
    )


def _attacks(scope: Scope, results: Results, batch: int) -> Table:
    at = BATCHES.index(batch)
    rows = []
    for kappa, noises in scope.pairs():
        for noise, printed in zip(noises, IGA[kappa], strict=True):
            rows.append(Row(noise.label, _attacked(scope, results, noise, printed[at], batch)))
    return Table(
        f"Inverting gradients of {batch} images (Figure 1, Table VI)",
        "noise",
        ("cosine", "SSIM printed", "ours", "se", "MSE printed", "ours", "se"),
        tuple(rows),
        _attack_notes(scope),
    )


def _attacked(
    scope: Scope, results: Results, noise: Noise, printed: tuple[str, str], batch: int
) -> tuple[Cell, ...]:
    found = scope.attacks(results, "iga", noise, batch)
    return Cell(mean(_column(found, "cosine"))), *_near(scope, found, printed)


def _near(
    scope: Scope, found: Sequence[dict[str, Any]], printed: tuple[str | None, str | None]
) -> tuple[Cell, ...]:
    """Return SSIM, and the MSE in units of the pixels' variance."""
    near, far = printed
    squares = [values / scope.task.deviation**2 for values in _column(found, "mse")]
    return (
        Cell(None, near),
        *_spread(_column(found, "ssim")),
        Cell(None, far),
        *_spread(squares),
    )


def _attack_notes(scope: Scope) -> tuple[str, ...]:
    return wrapped(
        f"{_data(scope)}, {scope.iterations} iterations (the paper: 10,000), on a network before "
        "its first step. Cosine: between what is seen and the gradient of the images. MSE: in "
        f"units of the pixels' variance, {scope.task.deviation:.4f}^2; printed ones are only "
        "possible so, pixels being from 0 to 1. A grey image has about 1: above, nothing is "
        "rebuilt. No gradient: the mean of all images, whatever the noise.",
    )


def _l2(scope: Scope, results: Results) -> Table:
    rows = []
    for noise in scope.selected():
        cells = []
        for batch in L2_BATCHES:
            found = scope.attacks(results, "dlg", noise, batch)
            cells += [Cell(mean(_column(found, name))) for name in ("ssim", "mse")]
        near, far = DLG.get(noise.label, (None, None))
        rows.append(Row(noise.label, (Cell(None, near), Cell(None, far), *cells)))
    heads = [f"{name}, {batch} image{'s' * (batch > 1)}" for batch in L2_BATCHES for name in _DLG]
    return Table(
        "Deep leakage from gradients (Table III, Figure 6)",
        "noise",
        ("SSIM printed", "MSE printed", *heads),
        tuple(rows),
        wrapped(
            f"{_data(scope)}. The paper does not say how many images; it has .0174 for .174. MSE "
            "of pixels from 0 to 1.",
        ),
    )


def _sums(scope: Scope, results: Results) -> Table:
    return Table(
        f"Inverting gradients of {BATCH} images at equal privacy, and at equal capacity",
        "noise",
        ("parameter", "epsilon", "log capacity", "cosine", "SSIM", "MSE"),
        tuple(
            Row(
                name,
                (
                    Cell(noise.parameter),
                    Cell(epsilon(scope, noise)),
                    Cell(capacity(noise, scope.weights, BATCH)),
                    *[
                        Cell(mean(_column(scope.attacks(results, "iga", noise), column)))
                        for column in ("cosine", "ssim", "mse")
                    ],
                ),
            )
            for name, noise in scope.of_sums()
        ),
        wrapped(
            "Epsilon: of all batches, for a replaced record. Capacity: of one release of a sum in "
            f"a ball of radius {BATCH}. MSE of pixels from 0 to 1.",
        ),
    )


def _one(scope: Scope, results: Results) -> Table:
    none = scope.attacks(results, "alone", Noise("none"), 1)
    blind = scope.guesses(results, 1)
    guessed = [Cell(mean(_column(blind, name))) for name in ("ssim", "mse")]
    rows = [
        Row("no gradient", (*[Cell(None)] * 4, *guessed, *[Cell(None)] * 2)),
        Row("none", (*[Cell(None)] * 3, *_alone(none))),
    ]
    for kappa, name, noise in scope.of_one():
        cells = (
            Cell(noise.parameter),
            Cell(epsilon_of_one(scope, noise)),
            Cell(capacity(noise, scope.weights, 1)),
        )
        label = f"{name} {kappa:g}" if noise.kind == "directions" else name
        rows.append(Row(label, (*cells, *_alone(scope.attacks(results, "alone", noise, 1)))))
    return Table(
        "One record's gradient, released by itself: at equal epsilon, and at equal capacity",
        "noise",
        ("parameter", "epsilon", "capacity", "cosine", "SSIM", "MSE", "closed SSIM", "MSE of it"),
        tuple(rows),
        wrapped(
            "Epsilon: of this one release, for a replaced record. Closed: the image that the first "
            "layer's gradient shows, without iterations. MSE of pixels from 0 to 1. No gradient: "
            "the mean of all images.",
        ),
    )


def _alone(found: Sequence[dict[str, Any]]) -> list[Cell]:
    names = ("cosine", "ssim", "mse", "spectral ssim", "spectral mse")
    return [Cell(mean(_column(found, name))) for name in names]


def _column(found: Sequence[dict[str, Any]], name: str) -> list[float]:
    return [float(values[name]) for values in found]


def _spread(values: Sequence[float]) -> tuple[Cell, Cell]:
    return Cell(mean(values)), Cell(error(values))


def _data(scope: Scope) -> str:
    plural = "s" * (scope.seeds > 1)
    return f"{len(scope.task.train)} images of {scope.task.name}, {scope.seeds} seed{plural}"


_DLG = ("SSIM", "MSE")
