"""The errors of a ranking's mechanisms on their range, and at other epsilons."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tightnoise._figures import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, SKY, YELLOW, Axes
from tightnoise._progress import SHOWN_AFTER, progress
from tightnoise.compare._bounded_families import BOUNDED_FAMILIES, Question
from tightnoise.compare.bounded_errors import errors_of, utility_of

# The colours of the figure of `best_noise` for the noises that are clipped.
_STYLE = {
    "middle": (GREY, "--"),
    "truncated Gaussian": (ORANGE, "-"),
    "rectified Gaussian": (BLUE, "-"),
    "bounded Laplace": (GREEN, "-"),
    "Gaussian + clip": (BLACK, ":"),
    "multi-Gaussian + clip": (ORANGE, ":"),
    "quasi-Gaussian + clip": (BLUE, ":"),
    "Laplace + clip": (GREEN, ":"),
    "truncated Laplace + clip": (YELLOW, ":"),
    "Tulap + clip": (SKY, ":"),
    "staircase + clip": (PINK, "-."),
    "grid optimum": (BLACK, "-"),
}

_POINTS = 401
_EPSILONS = 17


def draw(ranking: Any, left: Axes, right: Axes) -> None:
    """Draw on two axes; `ranking` is a BoundedRanking, which calls this."""
    _draw_by_value(left, ranking)
    _draw_by_epsilon(right, ranking)
    # From the largest error down, beside the axes: curves are everywhere on them.
    handles = left.get_legend_handles_labels()
    right.legend(*handles, loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize="small")


def _draw_by_value(axes: Axes, ranking: Any) -> None:
    theta = np.linspace(ranking.lower, ranking.upper, _POINTS)
    if ranking.integer:
        theta = np.unique(np.rint(theta))
    for choice in reversed(ranking.sorted_by("mse_average")):
        colour, line = _STYLE[choice.name]
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
    epsilons = ranking.epsilon * np.geomspace(0.1, 10.0, _EPSILONS)
    ends = ranking.lower, ranking.upper
    prior = ranking[0].prior
    budget = ranking.epsilon, ranking.delta
    asked = Question(*budget, *ends, ranking.sensitivity, ranking.releases, prior, ranking.integer)
    for family in progress(tuple(BOUNDED_FAMILIES.values()), "families", delay=SHOWN_AFTER):
        if family.searched:
            continue  # a point of it is enough to wait for
        errors = []
        for epsilon in epsilons.tolist():
            try:
                mechanism = family.calibrated(asked._replace(epsilon=epsilon))
                found = utility_of(errors_of(mechanism, *ends, ranking.integer), asked.prior)
            except ValueError:
                errors.append(np.nan)
                continue
            errors.append(found.mse_average)
        if not np.isnan(errors).all():
            colour, line = _STYLE[family.name]
            axes.plot(epsilons, errors, line, color=colour, linewidth=1.4)
    for choice in ranking:
        axes.plot(ranking.epsilon, choice.mse_average, "o", color=_STYLE[choice.name][0])
    axes.set(xlabel="epsilon", ylabel="mean squared error, average over the range")
    axes.set(xscale="log", yscale="log", title=f"delta = {ranking.delta:g}")
    ticks = [ranking.epsilon * factor for factor in (0.1, 0.2, 0.5, 1, 2, 5, 10)]
    axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.grid(alpha=0.3, which="both")
