"""The paper's figures, with our runs beside the printed numbers, and then at equal privacy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from tightnoise._figures import BLUE, GREEN, ORANGE, Axes
from tightnoise.reproduce._study import Results
from tightnoise.reproduce.reconstruction._network import BATCH
from tightnoise.reproduce.reconstruction._noises import Noise, capacity
from tightnoise.reproduce.reconstruction._plan import Scope, mean
from tightnoise.reproduce.vmf._tables import PRINTED_EPSILON

PRINTED: dict[str, Any] = {"linestyle": "", "marker": "o", "fillstyle": "none"}
OURS: dict[str, Any] = {"linestyle": "-", "marker": "."}
KINDS = (("directions", ORANGE), ("Gaussian", BLUE))
DIRECTIONS, GAUSSIAN = 0, 1  # in KINDS and in the paper's tables

Rows = list[tuple[str, list[Any]]]


def draw(scope: Scope, results: Results, file: IO[bytes]) -> None:
    """Draw all figures into one PNG file; ImportError without matplotlib."""
    from matplotlib.figure import Figure  # an extra, and slow to import; needs no screen

    figure = Figure(figsize=(17, 17), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=(8, 9))
    charts, images = parts
    axes = charts.subplots(2, 4).ravel()
    _training(axes[0], axes[1], scope, results)
    _attacks(axes[2], axes[3], scope, results)
    _capacities(axes[4], axes[5], scope, results)
    _alone(axes[6], axes[7], scope, results)
    strips = images.subfigures(1, 3, width_ratios=(4, 3, 4))
    _show(strips[0], f"Figure 3: inverting gradients of {BATCH}", _batch_rows(scope, results))
    _show(strips[1], "Figure 6: DLG, one image", _l2_rows(scope, results))
    _show(strips[2], "One record: " + ", ".join(_COLUMNS), _alone_rows(scope, results))
    figure.savefig(file, format="png", dpi=110)


# --- charts


def _training(printed: Axes, equal: Axes, scope: Scope, results: Results) -> None:
    epsilons = [float(PRINTED_EPSILON[kappa]) for kappa in scope.kappas]
    for which, (name, color) in enumerate(KINDS):
        known = [float(scope.printed.accuracy[which][kappa][-1]) for kappa in scope.kappas]
        printed.plot(epsilons, known, color=color, label=f"{name}, printed", **PRINTED)
        ours = [np.mean(scope.accuracies(results, row[1][which])) for row in scope.pairs()]
        printed.plot(epsilons, ours, color=color, label=f"{name}, ours", **OURS)
    _finish(printed, "Figure 2, as printed", "epsilon as printed", "accuracy")
    epsilons = [scope.epsilon(row[1][DIRECTIONS]) for row in scope.equals()]
    for which, (name, color) in enumerate((*KINDS, ("lifted, or less", GREEN))):
        ours = [np.mean(scope.accuracies(results, row[1][which])) for row in scope.equals()]
        equal.plot(epsilons, ours, color=color, label=name, **OURS)
    _finish(equal, "at equal privacy", "epsilon of all steps, replace-one", "accuracy")


def _attacks(squares: Axes, likeness: Axes, scope: Scope, results: Results) -> None:
    epsilons = [float(PRINTED_EPSILON[kappa]) for kappa in scope.kappas]
    for axes, name, printed, height in (
        (squares, "MSE", scope.printed.mse, 0.43),
        (likeness, "SSIM", scope.printed.ssim, 0.65),
    ):
        for which, (kind, color) in enumerate(KINDS):
            known = [float(printed[which][kappa][-1]) for kappa in scope.kappas]
            axes.plot(epsilons, known, color=color, label=f"{kind}, printed", **PRINTED)
            ours = [_found(scope, results, row[1][which], name) for row in scope.pairs()]
            axes.plot(epsilons, ours, color=color, label=f"{kind}, ours", **OURS)
        _guess(axes, scope, results, name)
        title = f"Figure 1, {name}, as printed"
        _finish(axes, title, "epsilon as printed", name, height)


def _capacities(squares: Axes, costs: Axes, scope: Scope, results: Results) -> None:
    noises = [row[1][DIRECTIONS] for row in scope.pairs()]
    gaussians = [row[1][GAUSSIAN] for row in scope.pairs()]
    for name, color, rows, records, which in (
        ("directions", ORANGE, noises, 1, DIRECTIONS),
        ("Gaussian, radius 1", GREEN, gaussians, 1, GAUSSIAN),
        (f"Gaussian, radius {BATCH}", BLUE, gaussians, BATCH, GAUSSIAN),
    ):
        capacities = [capacity(noise, scope.weights, records) for noise in rows]
        known = [float(scope.printed.mse[which][kappa][-1]) for kappa in scope.kappas]
        squares.plot(capacities, known, color=color, **PRINTED)
        ours = [_found(scope, results, noise, "MSE") for noise in rows]
        squares.plot(capacities, ours, color=color, label=name, **OURS)
        epsilons = [scope.epsilon(noise) for noise in rows]
        costs.plot(epsilons, capacities, color=color, label=name, **OURS)
    _guess(squares, scope, results, "MSE")
    title = "Figure 4 (circles: as printed)"
    _finish(squares, title, "log capacity of one release", "MSE", 0.43)
    _finish(costs, "Figure 5", "epsilon of all steps, replace-one", "log capacity of one release")
    costs.set(yscale="log")


def _alone(costs: Axes, capacities: Axes, scope: Scope, results: Results) -> None:
    rows = scope.of_one()
    names = ("directions", "Gaussian of equal epsilon", "Gaussian of equal capacity")
    for place, (name, color) in enumerate(zip(names, (ORANGE, BLUE, GREEN), strict=True)):
        noises = [noise for _, _, noise in rows[place::3]]
        found = [scope.attacks(results, "alone", noise, 1) for noise in noises]
        likeness = [mean(each, "ssim") for each in found]
        for axes, at in (
            (costs, [scope.epsilon_of_one(noise) for noise in noises]),
            (capacities, [capacity(noise, scope.weights, 1) for noise in noises]),
        ):
            axes.plot(at, likeness, color=color, label=name, **OURS)
    title = "One record, by itself"
    _finish(costs, title, "epsilon of one release, replace-one", "SSIM")
    _finish(capacities, title, "log capacity of one release", "SSIM")


def _guess(axes: Axes, scope: Scope, results: Results, name: str) -> None:
    """Draw what the mean of all images has."""
    near = _mean(scope, scope.guesses(results, BATCH), name)
    axes.axhline(near, color="black", linestyle=":", label="no gradient")
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))


def _found(scope: Scope, results: Results, noise: Noise, name: str) -> float:
    """Return how near an attack on a batch comes."""
    return _mean(scope, scope.attacks(results, "iga", noise), name)


def _mean(scope: Scope, found: list[dict[str, Any]], name: str) -> float:
    """Return the mean SSIM, or MSE in the paper's units."""
    scale = scope.task.deviation**2 if name == "MSE" else 1.0
    return mean(found, name.lower()) / scale


def _finish(axes: Axes, title: str, across: str, upwards: str, height: float | None = None) -> None:
    """Label axes; the legend stands in the middle, at `height`, or wherever there is room."""
    axes.set(title=title, xlabel=across, ylabel=upwards, xscale="log")
    axes.grid(alpha=0.3)
    at = {} if height is None else {"loc": "center", "bbox_to_anchor": (0.5, height)}
    axes.legend(fontsize="small", **at)


# --- images

_COLUMNS = ("truth", "directions", "Gaussian of equal epsilon", "of equal capacity")


def _batch_rows(scope: Scope, results: Results) -> Rows:
    noises = [*scope.selected(), Noise("gaussian", 1.23), Noise("directions", 75.0)]
    found = [scope.attacks(results, "iga", noise)[0] for noise in noises]
    rows = [(noise.label, one["found"]) for noise, one in zip(noises, found, strict=True)]
    return [("truth", found[0]["images"]), *rows]


def _l2_rows(scope: Scope, results: Results) -> Rows:
    every = {noise.label: scope.attacks(results, "dlg", noise, 1) for noise in scope.selected()}
    rows = [(label, [one["found"][0] for one in found]) for label, found in every.items()]
    return [("truth", [one["images"][0] for one in next(iter(every.values()))]), *rows]


def _alone_rows(scope: Scope, results: Results) -> Rows:
    def images(noise: Noise, name: str = "found") -> Any:
        return scope.attacks(results, "alone", noise, 1)[0][name][0]

    rows = scope.of_one()
    none = Noise("none")
    found: Rows = [("none", [images(none, "images"), images(none)])]
    for first in range(0, len(rows), 3):
        three = [noise for _, _, noise in rows[first : first + 3]]
        truth = images(none, "images")
        found.append((three[0].label, [truth, *[images(noise) for noise in three]]))
    return found


def _show(strip: Any, title: str, rows: Sequence[tuple[str, list[Any]]]) -> None:
    strip.suptitle(title)
    columns = max(len(images) for _, images in rows)
    grid = strip.subplots(len(rows), columns, squeeze=False)
    for (label, images), line in zip(rows, grid, strict=True):
        for axes in line:
            axes.axis("off")
        for axes, image in zip(line, images, strict=False):
            axes.imshow(np.asarray(image), cmap="gray", vmin=0, vmax=1)
        line[0].set_title(label, fontsize="small", loc="left")
