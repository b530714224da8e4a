"""Figure 1 of Hu et al. (2024) as tables, and where its accounting is below the truth."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from tightnoise.mechanisms import QuantizedGaussian
from tightnoise.reproduce._table import Table, beside
from tightnoise.reproduce.bounded._leakage import (
    ALPHA,
    GAUSSIAN,
    LOWER,
    MECHANISMS,
    UPPER,
    eta,
    one_shift,
    one_shift_both_ways,
    sound,
)
from tightnoise.reproduce.bounded._leakage_expected import (
    FIGURE_1,
    MAX_DIVERGENCE,
    QUANTISED,
    UNSOUND,
)

NARROW = 0.5
"""The smaller sigma of Figure 1, for which the other tables are."""


def figure_1_table(name: str) -> Table:
    """Return the loss and the cost of one mechanism, against theta and for both sigma."""
    rows = {}
    for sigma, expected in FIGURE_1[name].items():
        mechanism = MECHANISMS[name](sigma)
        for theta, texts in expected.items():
            ours = (rule(mechanism, theta) for rule in (eta, one_shift, sound))
            rows[f"{sigma:g}, {theta:g}"] = beside(ours, texts)
    gaussian = "; ".join(
        f"for sigma {sigma:g} eta is {loss:g} and the cost {cost:g}"
        for sigma, (loss, cost) in GAUSSIAN.items()
    )
    return Table.of(
        f"Hu et al. (2024), Figure 1: {name}, sensitivity 1, alpha {ALPHA:g}",
        "sigma, theta",
        ("eta", "by Algorithm 1", "sound cost"),
        rows,
        f"The plain Gaussian: {gaussian}.",
        *_NOTES[name],
    )


_NOTES: dict[str, tuple[str, ...]] = {
    "rectified": (
        "Algorithm 1 has D(theta || theta + 1) only; the cost is the largest over both neighbours "
        "and both ways round. It is not largest in the middle of the support, as eta is: for sigma "
        "0.5 it grows up to theta 1.",
    ),
    "truncated": (),
    "sign": (),
}


def unsound_table() -> Table:
    """Return how far below the truth the paper's accounting can be."""
    rows = {}
    for (name, theta, alpha), texts in UNSOUND.items():
        mechanism = MECHANISMS[name](NARROW)
        rules = [rule(mechanism, theta, alpha) for rule in (one_shift, one_shift_both_ways, sound)]
        setting = f"{name}, {theta:g}, {alpha:g}"
        rows[setting] = *beside(rules, texts), rules[-1] / rules[0]
    return Table.of(
        f"Hu et al. (2024), Algorithm 1: below the truth (sigma {NARROW:g})",
        "mechanism, theta, alpha",
        ("by Algorithm 1", "both ways round", "sound cost", "times"),
        rows,
        "Both ways round: the maximum of section 4.2.2, still of one neighbour.",
    )


def max_divergence_table() -> Table:
    """Return the divergence of order infinity, which does not fall far outside the support."""
    mechanisms = [MECHANISMS[name](NARROW) for name in ("rectified", "truncated")]
    return Table.of(
        f"The same at order infinity: D(theta || theta + 1), sigma {NARROW:g}",
        "theta",
        ("rectified", "truncated"),
        {
            theta: beside((one_shift(each, theta, math.inf) for each in mechanisms), texts)
            for theta, texts in MAX_DIVERGENCE.items()
        },
        "Far outside the support less is paid at every fixed order, but not at all of them: the "
        "rectified Gaussian's largest log ratio grows without end. The truncated Gaussian's stays "
        "below (upper - lower) c / sigma^2 = 8.",
    )


def quantised_table() -> Table:
    """Return how quantisation to more and more letters becomes rectification (Theorem F.1)."""
    thetas = (0.0, 0.5, 1.0, 2.0)
    limit = FIGURE_1["rectified"][NARROW]
    mechanisms = {
        **{str(k): QuantizedGaussian(NARROW, LOWER, UPPER, k + 1) for k in QUANTISED},
        "rectified": MECHANISMS["rectified"](NARROW),
    }
    expected = [*QUANTISED.values(), tuple(limit[theta][0] for theta in thetas)]
    return Table.of(
        f"Hu et al. (2024), Theorem F.1: eta of the quantised Gaussian, sigma {NARROW:g}",
        "intervals",
        (f"theta {theta:g}" for theta in thetas),
        {
            name: beside((eta(mechanism, theta) for theta in thetas), texts)
            for (name, mechanism), texts in zip(mechanisms.items(), expected, strict=True)
        },
        "The paper's k-bit quantiser has k intervals, so k + 1 letters; with one interval it is "
        "the stochastic sign.",
    )


TABLES: tuple[Callable[[], Table], ...] = (
    *(functools.partial(figure_1_table, name) for name in MECHANISMS),
    unsound_table,
    max_divergence_table,
    quantised_table,
)
