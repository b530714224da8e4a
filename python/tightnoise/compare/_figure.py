"""The densities of a ranking's mechanisms, and their losses at other epsilons."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tightnoise._figures import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, SKY, YELLOW, Axes
from tightnoise._progress import SHOWN_AFTER, progress
from tightnoise.calibrate import CalibrationError
from tightnoise.calibrate._loss import loss_of
from tightnoise.compare._families import FAMILIES
from tightnoise.mechanisms._steps import LARGEST_EPSILON

_COLOURS = (BLACK, ORANGE, BLUE, PINK, GREEN, YELLOW, SKY, GREY)  # one a family
_STYLE = dict(zip((family.name for family in FAMILIES), _COLOURS, strict=True))

_POINTS = 2001
_EPSILONS = 33
_REACH = 4.0  # of the densities, in sensitivities, at least


def draw(ranking: object, left: Axes, right: Axes) -> None:
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
        colour = _STYLE[choice.name]
        axes.plot(x, density, label=choice.name, color=colour, drawstyle=where, linewidth=1.2)
    kind = "probability of the rounded noise" if ranking.integer else "density of the noise"
    axes.set(title=kind, xlabel="noise", yscale="log")
    axes.set_ylim(max(0.5 * lowest, 1e-8 * highest), 2 * highest)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def _draw_losses(axes: Axes, ranking: Any) -> None:
    highest = min(5.0, LARGEST_EPSILON / ranking.epsilon)
    epsilons = np.minimum(ranking.epsilon * np.geomspace(0.2, highest, _EPSILONS), LARGEST_EPSILON)
    for family in progress(FAMILIES, "families", delay=SHOWN_AFTER):
        if family.for_one:
            continue  # a point of it is enough: each takes a tenth of a second or more
        losses = []
        for epsilon in epsilons.tolist():
            try:
                mechanism = family.calibrated(
                    epsilon,
                    ranking.delta,
                    sensitivity=ranking.sensitivity,
                    loss=ranking.loss,
                    integer=ranking.integer,
                )
            except CalibrationError:
                losses.append(np.nan)
                continue
            noise = mechanism.rounded() if ranking.integer else mechanism
            losses.append(loss_of(noise, ranking.loss))
        axes.plot(epsilons, losses, label=family.name, color=_STYLE[family.name], linewidth=1.2)
    if ranking.releases == 1:
        for choice in ranking:
            axes.plot(ranking.epsilon, ranking.loss_of(choice), "o", color=_STYLE[choice.name])
    name = {"l1": "mean of abs(noise)", "l2": "variance"}[ranking.loss]
    axes.set(title=f"one release at delta = {ranking.delta:g}", xlabel="epsilon", ylabel=name)
    axes.set(xscale="log", yscale="log")
    ticks = [ranking.epsilon * factor for factor in (0.2, 0.5, 1, 2, 5) if factor <= highest]
    axes.set_xticks(ticks, [f"{tick:.4g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.grid(alpha=0.3)
