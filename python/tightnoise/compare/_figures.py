"""Rankings drawn: densities or errors of their mechanisms, and their losses at other epsilons."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tightnoise._figures import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, SKY, YELLOW, Axes
from tightnoise._progress import SHOWN_AFTER, progress
from tightnoise.calibrate._loss import loss_of
from tightnoise.compare._families import BOUNDED_FAMILIES, FAMILIES, Question
from tightnoise.compare.bounded_errors import errors_of, utility_of
from tightnoise.mechanisms._steps import LARGEST_EPSILON

_COLOURS = (BLACK, ORANGE, BLUE, PINK, GREEN, YELLOW, SKY, GREY)  # one a family
_OF_NOISE = {family.name: (colour, "-") for family, colour in zip(FAMILIES, _COLOURS, strict=True)}
_OF_BOUNDED = {
    **{f"{name} + clip": (colour, ":") for name, (colour, _) in _OF_NOISE.items()},
    "staircase + clip": (PINK, "-."),
    "middle": (GREY, "--"),
    "truncated Gaussian": (ORANGE, "-"),
    "rectified Gaussian": (BLUE, "-"),
    "bounded Laplace": (GREEN, "-"),
    "grid optimum": (BLACK, "-"),
}

_POINTS = 2001
_VALUES = 401  # that are true
_EPSILONS, _BOUNDED_EPSILONS = 33, 17
_REACH = 4.0  # of the densities, in sensitivities, at least


def draw_noise(ranking: object, left: Axes, right: Axes) -> None:
    """Draw on two axes; `ranking` is a NoiseRanking, which calls this."""
    _draw_densities(left, ranking)
    _draw_losses(right, ranking)


def _draw_densities(axes: Axes, ranking: Any) -> None:
    reach = max(_REACH * ranking.sensitivity, 4.0 * ranking.best.mean_abs)
    if ranking.integer:
        last = math.ceil(reach)
        # Of more integers than that some, evenly.
        x = np.unique(np.rint(np.linspace(-last, last, min(2 * last + 1, _POINTS))))
    else:
        x = np.linspace(-reach, reach, _POINTS)
    lowest, highest = np.inf, 0.0
    for choice in ranking:
        noise = choice.mechanism
        density = noise.rounded().pmf(x) if ranking.integer else noise.pdf(x)
        lowest = min(lowest, float(density.min()))
        highest = max(highest, float(density.max()))
        where = "steps-mid" if ranking.integer else "default"
        colour, _ = _OF_NOISE[choice.name]
        axes.plot(x, density, label=choice.name, color=colour, drawstyle=where, linewidth=1.2)
    kind = "probability of the rounded noise" if ranking.integer else "density of the noise"
    axes.set(title=kind, xlabel="noise", yscale="log")
    axes.set_ylim(max(0.5 * lowest, 1e-8 * highest), 2 * highest)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def _draw_losses(axes: Axes, ranking: Any) -> None:
    highest = min(5.0, LARGEST_EPSILON / ranking.epsilon)
    epsilons = np.minimum(ranking.epsilon * np.geomspace(0.2, highest, _EPSILONS), LARGEST_EPSILON)
    choices = {"loss": ranking.loss, "integer": ranking.integer}

    def loss(family: Any, epsilon: float) -> float:
        mechanism = family.calibrated(
            epsilon, ranking.delta, sensitivity=ranking.sensitivity, **choices
        )
        return loss_of(mechanism.rounded() if ranking.integer else mechanism, ranking.loss)

    # Of a scale mixture a point is enough: each takes a tenth of a second or more.
    families = [family for family in FAMILIES if not family.for_one]
    _draw_curves(axes, epsilons, families, loss, _OF_NOISE, 1.2)
    if ranking.releases == 1:
        for choice in ranking:
            colour, _ = _OF_NOISE[choice.name]
            axes.plot(ranking.epsilon, ranking.loss_of(choice), "o", color=colour)
    name = {"l1": "mean of abs(noise)", "l2": "variance"}[ranking.loss]
    axes.set(title=f"one release at delta = {ranking.delta:g}", xlabel="epsilon", ylabel=name)
    ticks = [ranking.epsilon * factor for factor in (0.2, 0.5, 1, 2, 5) if factor <= highest]
    _set_ticks(axes, ticks, [f"{tick:.4g}" for tick in ticks])
    axes.grid(alpha=0.3)


def draw_bounded(ranking: Any, left: Axes, right: Axes) -> None:
    """Draw on two axes; `ranking` is a BoundedRanking, which calls this."""
    _draw_by_value(left, ranking)
    _draw_by_epsilon(right, ranking)
    # From the largest error down, beside the axes: curves are everywhere on them.
    handles = left.get_legend_handles_labels()
    right.legend(*handles, loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize="small")


def _draw_by_value(axes: Axes, ranking: Any) -> None:
    theta = np.linspace(ranking.lower, ranking.upper, _VALUES)
    if ranking.integer:
        theta = np.unique(np.rint(theta))
    for choice in reversed(ranking.sorted_by("mse_average")):
        colour, line = _OF_BOUNDED[choice.name]
        axes.plot(theta, choice.mse(theta), line, color=colour, label=choice.name, linewidth=1.4)
    axes.set(xlabel="true value", ylabel="mean squared error", yscale="log")
    axes.set(title=f"epsilon = {ranking.epsilon:g}, delta = {ranking.delta:g}")
    # The middle of the range is exact for one value, which has no place on a logarithmic axis.
    others = [choice for choice in ranking if choice.name != "middle"]
    lowest = min((choice.mse(theta).min() for choice in others), default=ranking[0].mse_average)
    axes.set_ylim(
        max(0.5 * lowest, sys.float_info.min), 1.6 * max(choice.mse_worst for choice in ranking)
    )
    axes.grid(alpha=0.3, which="both")


def _draw_by_epsilon(axes: Axes, ranking: Any) -> None:
    epsilons = ranking.epsilon * np.geomspace(0.1, 10.0, _BOUNDED_EPSILONS)
    ends = ranking.lower, ranking.upper
    asked: Question = ranking[0].question

    def error(family: Any, epsilon: float) -> float:
        mechanism = family.calibrated(asked._replace(epsilon=epsilon))
        return utility_of(errors_of(mechanism, *ends, ranking.integer), asked.prior).mse_average

    # Of what is searched for, a point is enough to wait for.
    families = [family for family in BOUNDED_FAMILIES.values() if not family.searched]
    _draw_curves(axes, epsilons, families, error, _OF_BOUNDED, 1.4)
    for choice in ranking:
        colour, _ = _OF_BOUNDED[choice.name]
        axes.plot(ranking.epsilon, choice.mse_average, "o", color=colour)
    axes.set(xlabel="epsilon", ylabel="mean squared error, average over the range")
    axes.set(title=f"delta = {ranking.delta:g}")
    ticks = [ranking.epsilon * factor for factor in (0.1, 0.2, 0.5, 1, 2, 5, 10)]
    _set_ticks(axes, ticks, [f"{tick:.3g}" for tick in ticks])
    axes.grid(alpha=0.3, which="both")


def _draw_curves(
    axes: Axes,
    epsilons: np.ndarray[Any, Any],
    families: Sequence[Any],
    loss: Callable[[Any, float], float],
    styles: dict[str, tuple[str, str]],
    width: float,
) -> None:
    """Draw what each family loses at these epsilons, where it has an answer."""
    for family in progress(families, "families", delay=SHOWN_AFTER):
        losses = np.full(epsilons.shape, np.nan)
        for i, epsilon in enumerate(epsilons.tolist()):
            with contextlib.suppress(ValueError):
                losses[i] = loss(family, epsilon)
        if not np.isnan(losses).all():
            colour, line = styles[family.name]
            axes.plot(epsilons, losses, line, color=colour, linewidth=width)


def _set_ticks(axes: Axes, ticks: list[float], labels: list[str]) -> None:
    axes.set(xscale="log", yscale="log")
    axes.set_xticks(ticks, labels)
    axes.set_xticks([], minor=True)
