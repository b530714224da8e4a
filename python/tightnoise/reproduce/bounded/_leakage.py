"""What a bounded mechanism tells of theta: soundly, and by the rule of Hu et al. (2024), Figure 1.

Hu, Mahloujifar, Smith, Chaudhuri and Guo (2024), "Privacy Amplification for the Gaussian Mechanism
via Bounded Support". Their Proposition 5.1 and Algorithm 1 take D(theta || theta + c) for the cost
at theta. A neighbour may be at theta - c too, and the divergence may be larger the other way round,
so that their figure is below the truth: `one_shift` is **not a valid bound**, nor is
`one_shift_both_ways`, the maximum of section 4.2.2. The cost is what `cost_at` says. Expected
figures were computed in 40-digit arithmetic.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from tightnoise.mechanisms import (
    QuantizedGaussian,
    RectifiedGaussian,
    StochasticSign,
    TruncatedGaussian,
)
from tightnoise.mechanisms.base import CoordinateMechanism
from tightnoise.reproduce._table import Table, beside, figures

LOWER, UPPER = -1.0, 1.0
"""The support in Figure 1."""

SENSITIVITY = 1.0
ALPHA = 2.0

MECHANISMS: dict[str, Callable[[float], CoordinateMechanism]] = {
    "rectified": lambda sigma: RectifiedGaussian(sigma, LOWER, UPPER),
    "truncated": lambda sigma: TruncatedGaussian(sigma, LOWER, UPPER),
    "sign": StochasticSign,
}
"""The mechanisms of Figure 1, each for a sigma."""

GAUSSIAN = {0.5: (2.0, 4.0), 1.0: (1.0, 1.0)}
"""sigma: 1 / sigma and alpha c^2 / (2 sigma^2), the loss and the cost of the plain Gaussian."""


def eta(mechanism: CoordinateMechanism, theta: float) -> float:
    """Return the Fisher information loss at theta, for a Jacobian of 1."""
    return math.sqrt(float(mechanism.fisher_information(theta)))


def one_shift(mechanism: CoordinateMechanism, theta: float, alpha: float = ALPHA) -> float:
    """Return D(theta || theta + c), which Algorithm 1 takes for the cost. Not a valid bound."""
    return float(mechanism.renyi_divergence(theta, theta + SENSITIVITY, alpha))


def one_shift_both_ways(
    mechanism: CoordinateMechanism, theta: float, alpha: float = ALPHA
) -> float:
    """Return the larger of D(theta || theta + c) and D(theta + c || theta). Not a valid bound."""
    back = float(mechanism.renyi_divergence(theta + SENSITIVITY, theta, alpha))
    return max(one_shift(mechanism, theta, alpha), back)


def sound(mechanism: CoordinateMechanism, theta: float, alpha: float = ALPHA) -> float:
    """Return the cost at theta: the supremum over all neighbours, either way round.

    Examples
    --------
    Far to the right of the support, what counts is the neighbour that is less far.

    >>> import tightnoise as tn
    >>> from tightnoise.reproduce.bounded._leakage import one_shift, sound
    >>> m = tn.StochasticSign(sigma=0.5)
    >>> round(one_shift(m, 3.0), 5), round(sound(m, 3.0), 4)
    (0.00156, 0.7014)
    """
    cost = mechanism.cost_at([theta], coordinate_sensitivity=SENSITIVITY)
    return float(cost.rdp([alpha]).values[0])


FIGURE_1 = dict(
    zip(
        ("rectified", "truncated", "sign"),
        figures(
            """
0.5 0.0    1.99479    3.77598  3.77598  1.75925   2.70671  2.70671    1.59577    2.41990    2.41990
0.5 0.5    1.96806    3.95602  3.95602  1.56989   2.33334  2.33334    1.32458    2.96299    2.96299
0.5 1.0    1.80921    3.97756  3.97756  1.20442   1.55667  2.70671   0.724196    2.85053    2.85053
0.5 2.0   0.731341    3.34123  3.97756 0.676102  0.513057  1.55667  0.0475618   0.701433    2.85053
0.5 4.0 3.86998e-4 1.72770e-3 0.807391 0.309759 0.0999993 0.200250 4.05124e-7 5.07888e-8 1.56341e-3
1.0 0.0   0.967897   0.897750 0.897750 0.539560  0.284000 0.284000   0.797885   0.627481   0.627481
1.0 0.5   0.952456   0.937822 0.937822 0.529385  0.274312 0.274312   0.762228   0.661283   0.661283
1.0 1.0   0.903167   0.930706 0.930706 0.501315  0.248149 0.284000   0.662291   0.604738   0.627481
1.0 2.0   0.685654   0.731971 0.930706 0.416477  0.174840 0.248149   0.362098   0.292462   0.604738
1.0 4.0   0.121100  0.0574875 0.327437 0.264192 0.0711671 0.111650  0.0237809 3.43031e-3  0.0534168
""",
            *(3, 3, 3),
            settings=2,
        ),
        strict=True,
    )
)
"""Mechanism, sigma, theta: eta, D_2(theta || theta + 1), and the cost of order 2."""

UNSOUND: dict[tuple[str, float, float], tuple[str, str, str]] = {
    ("rectified", -1.5, 2.0): ("1.51190", "3.95602", "3.95602"),
    ("rectified", -1.5, 32.0): ("1.66270", "8.24412", "11.8333"),
    ("rectified", 3.0, 2.0): ("0.807391", "0.807391", "3.34123"),
    ("truncated", 1.5, 2.0): ("0.899961", "0.899961", "2.33334"),
    ("sign", 3.0, 2.0): ("1.563e-3", "1.563e-3", "0.701433"),
}
"""Mechanism, theta, alpha: the same as printed, by both orders of one shift, and the cost.

For sigma 0.5.
"""

MAX_DIVERGENCE: dict[float, tuple[str, str]] = {
    0.0: ("6.57692", "5.35336"),
    2.0: ("14.2767", "7.42308"),
    5.0: ("26.1524", "7.78215"),
    10.0: ("46.0867", "7.89522"),
}
"""theta: D_infinity(theta || theta + 1) of the rectified and the truncated, for sigma 0.5."""

QUANTISED: dict[int, tuple[str, str, str, str]] = {
    1: ("1.59577", "1.32458", "0.724196", "0.0475618"),
    2: ("1.71823", "1.66826", "1.33092", "0.241420"),
    4: ("1.90993", "1.85803", "1.60100", "0.447208"),
    8: ("1.97048", "1.93043", "1.71991", "0.581125"),
    16: ("1.98767", "1.95424", "1.76910", "0.654630"),
    32: ("1.99253", "1.96246", "1.79038", "0.692650"),
    64: ("1.99399", "1.96559", "1.80011", "0.711921"),
}
"""Intervals: eta at theta 0, 0.5, 1 and 2, for sigma 0.5."""


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
