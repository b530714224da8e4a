"""The tables of how near attackers come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tightnoise.reproduce._study import Results
from tightnoise.reproduce._table import Figure, Table, mean_and_error
from tightnoise.reproduce.reconstruction._network import BATCH
from tightnoise.reproduce.reconstruction._noises import Noise, capacity
from tightnoise.reproduce.reconstruction._plan import L2_BATCHES
from tightnoise.reproduce.reconstruction._printed import BATCHES, DLG, IGA, SELECTED
from tightnoise.reproduce.reconstruction._scope import Scope, column, mean

__all__ = ["attacks", "l2_attacks", "one", "selected", "sums"]

_DLG = ("SSIM", "MSE")


def selected(scope: Scope, results: Results) -> Table:
    noises = [*scope.selected(), Noise("gaussian", 1.23), Noise("directions", 75.0)]
    guesses = scope.guesses(results, BATCH)
    attacked = {
        noise.label: _attacked(scope, results, noise, SELECTED[noise.label], BATCH)
        for noise in noises
    }
    return Table.of(
        f"Inverting gradients of {BATCH} images (Table II, Figure 3)",
        "noise",
        ("cosine", "SSIM printed", "ours", "se", "MSE printed", "ours", "se"),
        {"no gradient": (None, *_near(scope, guesses, (None, None))), **attacked},
        _attack_note(scope),
    )


def attacks(scope: Scope, results: Results, batch: int) -> Table:
    at = BATCHES.index(batch)
    return Table.of(
        f"Inverting gradients of {batch} images (Figure 1, Table VI)",
        "noise",
        ("cosine", "SSIM printed", "ours", "se", "MSE printed", "ours", "se"),
        {
            noise.label: _attacked(scope, results, noise, printed[at], batch)
            for kappa, noises in scope.pairs()
            for noise, printed in zip(noises, IGA[kappa], strict=True)
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


def l2_attacks(scope: Scope, results: Results) -> Table:
    def figures(noise: Noise) -> tuple[Figure, ...]:
        found = [scope.attacks(results, "dlg", noise, batch) for batch in L2_BATCHES]
        ours = [mean(each, name) for each in found for name in ("ssim", "mse")]
        return *DLG.get(noise.label, (None, None)), *ours

    heads = [f"{name}, {batch} image{'s' * (batch > 1)}" for batch in L2_BATCHES for name in _DLG]
    return Table.of(
        "Deep leakage from gradients (Table III, Figure 6)",
        "noise",
        ("SSIM printed", "MSE printed", *heads),
        {noise.label: figures(noise) for noise in scope.selected()},
        f"{scope.what}. The paper does not say how many images; it has .0174 for .174. MSE of "
        "pixels from 0 to 1. The best of four beginnings, by the attacker's own loss.",
    )


def sums(scope: Scope, results: Results) -> Table:
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


def one(scope: Scope, results: Results) -> Table:
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
