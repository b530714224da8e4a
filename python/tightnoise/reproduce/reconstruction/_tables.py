"""The tables: what the runs gave beside what the paper prints, and then at equal privacy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tightnoise.reproduce._study import Results
from tightnoise.reproduce._table import Figure, Table, mean_and_error
from tightnoise.reproduce.reconstruction._network import BATCH
from tightnoise.reproduce.reconstruction._noises import Noise, capacity
from tightnoise.reproduce.reconstruction._plan import DECAY, L2_BATCHES, Scope, column, mean
from tightnoise.reproduce.reconstruction._printed import BATCHES, SIGMA
from tightnoise.reproduce.vmf._tables import PRINTED_EPSILON

_DLG = ("SSIM", "MSE")


def tables(scope: Scope, results: Results) -> list[Table]:
    """Return all tables, in the order in which they are printed."""
    batches = scope.batches[::-1]
    return [
        _epsilons(scope),
        _baselines(scope, results),
        *[_accuracies(scope, results, batch) for batch in batches],
        _equal_accuracies(scope, results),
        _selected(scope, results),
        *[_attacks(scope, results, batch) for batch in batches],
        _l2_attacks(scope, results),
        _sums(scope, results),
        _one(scope, results),
    ]


# --- what is learned, and what it costs


def _epsilons(scope: Scope) -> Table:
    return Table.of(
        f"Epsilon at delta 1/{len(scope.task.train)} of {scope.steps} batches of {BATCH}, "
        "and log capacities of one release",
        "kappa",
        (
            *("printed", "add-remove", "replace-one", "capacity"),
            *("sigma", "add-remove", "replace-one", "radius 1", f"radius {BATCH}"),
        ),
        {
            kappa: (
                PRINTED_EPSILON[kappa],
                scope.paper_epsilon(directions),
                scope.epsilon(directions),
                capacity(directions, scope.weights, 1),
                f"{SIGMA[kappa]:g}",
                scope.paper_epsilon(gaussian),
                scope.epsilon(gaussian),
                capacity(gaussian, scope.weights, 1),
                capacity(gaussian, scope.weights, BATCH),
            )
            for kappa, (directions, gaussian) in scope.pairs()
        },
        "Printed: of 3 releases with directions, 1407 with the Gaussian. Add-remove: of Poisson "
        "samples. Replace-one: of batches of a fixed size, as the paper's algorithms and its "
        "neighbours have them; a replaced record moves the sum by 2. Directions may turn around in "
        "either relation.",
        f"The sum of {BATCH} clipped gradients lies in a ball of radius {BATCH}; the paper takes 1 "
        "(and prints the number of layers).",
    )


def _baselines(scope: Scope, results: Results) -> Table:
    none, alone = Noise("none"), scope.printed.alone
    decayed = scope.accuracies(results, none, decay=DECAY)
    return Table.of(
        "Accuracy without noise (section VII-A)",
        "training",
        ("printed", "ours", "se"),
        {
            "without noise": (alone, *mean_and_error(scope.accuracies(results, none))),
            f"the same, weight decay {DECAY:g}": (alone, *mean_and_error(decayed)),
            "clipped, without noise": (
                None,
                *mean_and_error(scope.accuracies(results, Noise("clip"))),
            ),
        },
        f"{scope.what}. Adam with a rate of 0.005 and the paper's weight decay shrinks all weights "
        "until the network tells nothing apart. All other runs are without decay.",
    )


def _accuracies(scope: Scope, results: Results, batch: int) -> Table:
    at = BATCHES.index(batch)
    printed, beside = scope.printed.accuracy
    return Table.of(
        f"Accuracy, batches of {batch} (Figure 2, Table V)",
        "kappa",
        ("printed", "directions", "se", "sigma", "printed", "Gaussian", "se"),
        {
            kappa: (
                printed[kappa][at],
                *mean_and_error(scope.accuracies(results, directions, batch)),
                f"{SIGMA[kappa]:g}",
                beside[kappa][at],
                *mean_and_error(scope.accuracies(results, gaussian, batch)),
            )
            for kappa, (directions, gaussian) in scope.pairs()
        },
        f"{scope.what}. Pairs to which the paper ascribes one epsilon; see the first table.",
    )


def _equal_accuracies(scope: Scope, results: Results) -> Table:
    return Table.of(
        "Accuracy at equal privacy: all batches counted, a replaced record in all three",
        "kappa",
        ("epsilon", "directions", "se", "sigma", "Gaussian", "se", "kappa'", "lifted", "se"),
        {
            kappa: (
                scope.epsilon(directions),
                *mean_and_error(scope.accuracies(results, directions)),
                gaussian.parameter,
                *mean_and_error(scope.accuracies(results, gaussian)),
                lifted.parameter,
                *mean_and_error(scope.accuracies(results, lifted)),
            )
            for kappa, (directions, gaussian, lifted) in scope.equals()
        },
        "Sigma: 2/mu, where the directions are mu-GDP: the Gaussian costs within 1 % of what they "
        "cost. Lifted: directions beside an anchor of 64, with the same mu; they cost less.",
    )


# --- how near attackers come


def _selected(scope: Scope, results: Results) -> Table:
    noises = [*scope.selected(), Noise("gaussian", 1.23), Noise("directions", 75.0)]
    guesses = scope.guesses(results, BATCH)
    attacked = {
        noise.label: _attacked(scope, results, noise, scope.printed.selected[noise.label], BATCH)
        for noise in noises
    }
    return Table.of(
        f"Inverting gradients of {BATCH} images (Table II, Figure 3)",
        "noise",
        ("cosine", "SSIM printed", "ours", "se", "MSE printed", "ours", "se"),
        {"no gradient": (None, *_near(scope, guesses, (None, None))), **attacked},
        _attack_note(scope),
    )


def _attacks(scope: Scope, results: Results, batch: int) -> Table:
    at, of = BATCHES.index(batch), scope.printed
    return Table.of(
        f"Inverting gradients of {batch} images (Figure 1, Table VI)",
        "noise",
        ("cosine", "SSIM printed", "ours", "se", "MSE printed", "ours", "se"),
        {
            noise.label: _attacked(scope, results, noise, (ssim[kappa][at], mse[kappa][at]), batch)
            for kappa, noises in scope.pairs()
            for noise, ssim, mse in zip(noises, of.ssim, of.mse, strict=True)
        },
        _attack_note(scope),
    )


def _attacked(
    scope: Scope, results: Results, noise: Noise, printed: tuple[str, str], batch: int
) -> tuple[Figure, ...]:
    found = scope.attacks(results, "iga", noise, batch)
    return mean(found, "cosine"), *_near(scope, found, printed)


def _near(
    scope: Scope, found: Sequence[dict[str, Any]], printed: tuple[str | None, str | None]
) -> tuple[Figure, ...]:
    """Return SSIM, and the MSE in units of the pixels' variance."""
    near, far = printed
    squares = [values / scope.task.deviation**2 for values in column(found, "mse")]
    return near, *mean_and_error(column(found, "ssim")), far, *mean_and_error(squares)


def _attack_note(scope: Scope) -> str:
    return (
        f"{scope.what}, {scope.iterations} iterations (the paper: 10,000), on a network before "
        "its first step. Cosine: between what is seen and the gradient of the images. MSE: in "
        f"units of the pixels' variance, {scope.task.deviation:.4f}^2; printed ones are only "
        "possible so, pixels being from 0 to 1. A grey image has about 1: above, nothing is "
        "rebuilt. No gradient: the mean of all images, whatever the noise."
    )


def _l2_attacks(scope: Scope, results: Results) -> Table:
    def figures(noise: Noise) -> tuple[Figure, ...]:
        found = [scope.attacks(results, "dlg", noise, batch) for batch in L2_BATCHES]
        ours = [mean(each, name) for each in found for name in ("ssim", "mse")]
        return *scope.printed.dlg.get(noise.label, (None, None)), *ours

    heads = [f"{name}, {batch} image{'s' * (batch > 1)}" for batch in L2_BATCHES for name in _DLG]
    return Table.of(
        "Deep leakage from gradients (Table III, Figure 6)",
        "noise",
        ("SSIM printed", "MSE printed", *heads),
        {noise.label: figures(noise) for noise in scope.selected()},
        f"{scope.what}. The paper does not say how many images; it has .0174 for .174. MSE of "
        "pixels from 0 to 1. The best of four beginnings, by the attacker's own loss.",
    )


def _sums(scope: Scope, results: Results) -> Table:
    def figures(noise: Noise) -> tuple[Figure, ...]:
        found = scope.attacks(results, "iga", noise)
        costs = scope.epsilon(noise), capacity(noise, scope.weights, BATCH)
        return noise.parameter, *costs, *(mean(found, name) for name in ("cosine", "ssim", "mse"))

    return Table.of(
        f"Inverting gradients of {BATCH} images at equal privacy, and at equal capacity",
        "noise",
        ("parameter", "epsilon", "log capacity", "cosine", "SSIM", "MSE"),
        ((name, figures(noise)) for name, noise in scope.of_sums()),
        "Epsilon: of all batches, for a replaced record. Capacity: of one release of a sum in a "
        f"ball of radius {BATCH}. MSE of pixels from 0 to 1.",
    )


def _one(scope: Scope, results: Results) -> Table:
    def found(noise: Noise) -> list[float]:
        names = "cosine", "ssim", "mse", "spectral ssim", "spectral mse"
        return [mean(scope.attacks(results, "alone", noise, 1), name) for name in names]

    blind = scope.guesses(results, 1)
    guessed = [mean(blind, name) for name in ("ssim", "mse")]
    rows: list[tuple[str, Iterable[Figure]]] = [
        ("no gradient", (*[None] * 4, *guessed, *[None] * 2)),
        ("none", (*[None] * 3, *found(Noise("none")))),
    ]
    for kappa, name, noise in scope.of_one():
        costs = scope.epsilon_of_one(noise), capacity(noise, scope.weights, 1)
        label = f"{name} {kappa:g}" if noise.kind == "directions" else name
        rows.append((label, (noise.parameter, *costs, *found(noise))))
    return Table.of(
        "One record's gradient, released by itself: at equal epsilon, and at equal capacity",
        "noise",
        ("parameter", "epsilon", "capacity", "cosine", "SSIM", "MSE", "closed SSIM", "MSE of it"),
        rows,
        "Epsilon: of this one release, for a replaced record. Closed: the image that the first "
        "layer's gradient shows, without iterations. MSE of pixels from 0 to 1. No gradient: the "
        "mean of all images.",
    )
