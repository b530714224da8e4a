"""The tables of how near attackers come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tightnoise.reproduce._study import Results
from tightnoise.reproduce._table import Cell, Row, Table, wrapped
from tightnoise.reproduce.reconstruction._cells import column, mean, of_what, spread
from tightnoise.reproduce.reconstruction._costs import epsilon, epsilon_of_one
from tightnoise.reproduce.reconstruction._network import BATCH
from tightnoise.reproduce.reconstruction._noises import Noise, capacity
from tightnoise.reproduce.reconstruction._plan import L2_BATCHES
from tightnoise.reproduce.reconstruction._printed import BATCHES, DLG, IGA, SELECTED
from tightnoise.reproduce.reconstruction._scope import Scope

__all__ = ["attacks", "l2_attacks", "one", "selected", "sums"]

_DLG = ("SSIM", "MSE")


def selected(scope: Scope, results: Results) -> Table:
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


def attacks(scope: Scope, results: Results, batch: int) -> Table:
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
    return Cell(mean(column(found, "cosine"))), *_near(scope, found, printed)


def _near(
    scope: Scope, found: Sequence[dict[str, Any]], printed: tuple[str | None, str | None]
) -> tuple[Cell, ...]:
    """Return SSIM, and the MSE in units of the pixels' variance."""
    near, far = printed
    squares = [values / scope.task.deviation**2 for values in column(found, "mse")]
    return (
        Cell(None, near),
        *spread(column(found, "ssim")),
        Cell(None, far),
        *spread(squares),
    )


def _attack_notes(scope: Scope) -> tuple[str, ...]:
    return wrapped(
        f"{of_what(scope)}, {scope.iterations} iterations (the paper: 10,000), on a network before "
        "its first step. Cosine: between what is seen and the gradient of the images. MSE: in "
        f"units of the pixels' variance, {scope.task.deviation:.4f}^2; printed ones are only "
        "possible so, pixels being from 0 to 1. A grey image has about 1: above, nothing is "
        "rebuilt. No gradient: the mean of all images, whatever the noise.",
    )


def l2_attacks(scope: Scope, results: Results) -> Table:
    rows = []
    for noise in scope.selected():
        cells = []
        for batch in L2_BATCHES:
            found = scope.attacks(results, "dlg", noise, batch)
            cells += [Cell(mean(column(found, name))) for name in ("ssim", "mse")]
        near, far = DLG.get(noise.label, (None, None))
        rows.append(Row(noise.label, (Cell(None, near), Cell(None, far), *cells)))
    heads = [f"{name}, {batch} image{'s' * (batch > 1)}" for batch in L2_BATCHES for name in _DLG]
    return Table(
        "Deep leakage from gradients (Table III, Figure 6)",
        "noise",
        ("SSIM printed", "MSE printed", *heads),
        tuple(rows),
        wrapped(
            f"{of_what(scope)}. The paper does not say how many images; it has .0174 for .174. MSE "
            "of pixels from 0 to 1. The best of four beginnings, by the attacker's own loss.",
        ),
    )


def sums(scope: Scope, results: Results) -> Table:
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
                        Cell(mean(column(scope.attacks(results, "iga", noise), number)))
                        for number in ("cosine", "ssim", "mse")
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


def one(scope: Scope, results: Results) -> Table:
    none = scope.attacks(results, "alone", Noise("none"), 1)
    blind = scope.guesses(results, 1)
    guessed = [Cell(mean(column(blind, name))) for name in ("ssim", "mse")]
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
    return [Cell(mean(column(found, name))) for name in names]
