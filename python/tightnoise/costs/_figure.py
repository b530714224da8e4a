"""A picture of what releases cost: the privacy profile and the trade-off curve."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightnoise._text import upper_text
from tightnoise.costs._cases import cases_of
from tightnoise.costs._profile_points import Profile, profiles

Array = NDArray[np.float64]

# Colours that the colour-blind can tell apart (Okabe and Ito).
_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#7F7F7F"
_RATES = 401
_FURTHER = 1e-3  # the profile goes so far below delta
_LEAST = 1e-300


def draw(cost: object, epsilon: float, delta: float, profile: object, tradeoff: object) -> None:
    """Draw both, from above and from below, on two axes; `cost` is a Cost, which calls this."""
    _draw_profile(profile, cost, epsilon, delta)
    draw_tradeoff(tradeoff, cost)


def _draw_profile(axes: Any, cost: Any, epsilon: float, delta: float) -> None:
    if cost.terms:
        far = max(_FURTHER * delta, 1e-300) if delta > 0 else 1e-12
        cases = cases_of(cost.terms)
        each = [one for case in cases for one in profiles(case, far, both_sides=True)]
        epsilons = np.unique(np.concatenate([one.epsilons for one in each]))
        lower, upper = np.max([_read(one, epsilons) for one in each], axis=0)
        _draw_bounds(axes, epsilons, lower, upper, "no more", "no less")
        lowest = max(upper.min(where=upper > 0, initial=1.0), far)
        seen = epsilons[upper >= lowest]
        axes.set(yscale="log", ylim=(0.5 * lowest, 1.5), xlim=(0.0, 1.05 * seen[-1] or 1.0))
    if 0 < epsilon < math.inf and delta > 0:
        label = f"({upper_text(epsilon, 4)}, {delta:.4g})"
        axes.plot([epsilon], [delta], "o", color=_ORANGE, label=label)
    axes.set_title("privacy profile", fontsize="medium")
    axes.set(xlabel="epsilon", ylabel="delta")
    _finish(axes)


def _read(profile: Profile, epsilons: Array) -> Array:
    """Return both bounds of delta, which falls and is convex in e^epsilon, between points, too."""
    x, last = profile.epsilons, profile.epsilons.size - 1
    after = np.searchsorted(x, epsilons)
    lower = np.append(profile.lower, 0.0)[after]
    first = np.clip(after - 1, 0, max(last - 1, 0))
    second = np.minimum(first + 1, last)
    # (e^epsilon - e^first)/(e^second - e^first)
    gap, part = x[second] - x[first], epsilons - x[first]
    share = np.exp(np.minimum(part - gap, 0.0)) * -np.expm1(-np.clip(part, 0.0, gap))
    share /= np.maximum(-np.expm1(-gap), _LEAST)
    upper = profile.upper[first] * (1 - share) + profile.upper[second] * share
    return np.array([lower, upper])


def draw_tradeoff(axes: Any, cost: Any) -> None:
    """Draw the trade-off curve, from above and from below."""
    rates = np.linspace(0.0, 1.0, _RATES) ** 2  # most where the curve is steep
    lower, upper = cost.tradeoff_bounds(rates)
    lower, upper = np.asarray(lower), np.asarray(upper)
    _draw_bounds(axes, rates, lower, upper, "an attacker does", "no attacker does better")
    axes.plot([0, 1], [1, 0], ":", color=_GREY, label="guessing")
    rate = 1e-3
    area, advantage, power = (
        upper_text(share, 4)
        for share in (cost.auc, cost.advantage, float(cost.true_positive_rate(rate)))
    )
    title = f"trade-off curve\nAUC {area}, advantage {advantage}, TPR {power} at FPR {rate:g}"
    axes.set_title(title, fontsize="medium")
    axes.set(xlabel="false-positive rate", ylabel="false-negative rate")
    _finish(axes)


def _draw_bounds(axes: Any, at: Array, lower: Array, upper: Array, above: str, below: str) -> None:
    axes.fill_between(at, lower, upper, color=_BLUE, alpha=0.15, linewidth=0)
    axes.plot(at, upper, color=_BLUE, linewidth=1.6, label=above)
    axes.plot(at, lower, color=_ORANGE, linewidth=1.6, linestyle=(0, (4, 4)), label=below)


def _finish(axes: Any) -> None:
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper right")
