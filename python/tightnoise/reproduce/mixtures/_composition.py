"""What many releases of a multi-Gaussian cost, exactly and by the paper's Corollary 3.7."""

from __future__ import annotations

import functools
import math

import tightnoise.calibrate as calibrate
from tightnoise.costs import Cost
from tightnoise.mechanisms import Gaussian, MultiGaussianMixture
from tightnoise.reproduce._table import Table, beside

DELTA = 1e-5

EXPECTED: dict[float, dict[int, tuple[str, str, str | None]]] = {
    1.0: {
        1: ("1.00", "2.97", "17.3"),
        10: ("10.8", "11.6", "81.3"),
        100: ("71.0", "55.0", "524"),
        1000: ("499", "349", "4322"),
    },
    3.0: {
        1: ("3.0", "12.0", None),
        10: ("32.1", "57.2", None),
        100: ("283", "366", None),
        1000: ("2542", "2991", None),
    },
}
"""Epsilon of one release, and how many: epsilon at `DELTA`, computed apart from this package."""

MODES = {1.0: 11, 3.0: 4}
"""Epsilon: the fewest Gaussians on either side of which the outermost weighs at most `DELTA`."""


@functools.cache
def mixture(epsilon: float) -> MultiGaussianMixture:
    """Return the multi-Gaussian that is just (epsilon, `DELTA`)-DP at sensitivity 1."""
    return calibrate.multi_gaussian(epsilon, DELTA, sensitivity=1.0, modes=MODES[epsilon])


def cost(epsilon: float) -> Cost:
    """Return the cost of one release of `mixture(epsilon)`."""
    return mixture(epsilon).cost(sensitivity=1.0)


def exact_epsilon(epsilon: float, releases: int) -> float:
    """Return what so many releases of `mixture(epsilon)` cost together."""
    return (cost(epsilon) * releases).epsilon(DELTA)


def gaussian_epsilon(epsilon: float, releases: int) -> float:
    """Return what a Gaussian of the same variance costs."""
    deviation = math.sqrt(float(mixture(epsilon).var()))
    return (Gaussian(deviation).cost(sensitivity=1.0) * releases).epsilon(DELTA)


def zcdp_epsilon(epsilon: float, releases: int) -> float:
    """Return the bound by zCDP: that of a Gaussian of the same sigma (Corollary 3.7)."""
    rho = releases * cost(epsilon).zcdp_rho
    # Bun and Steinke 2016, "Concentrated Differential Privacy", Proposition 1.3.
    return rho + 2.0 * math.sqrt(rho * math.log(1.0 / DELTA))


def composition_table(epsilon: float) -> Table:
    """Return epsilon after many releases of `mixture(epsilon)`."""
    functions = exact_epsilon, gaussian_epsilon, zcdp_epsilon
    return Table.of(
        f"Epsilon at delta {DELTA:g} of many releases of a multi-Gaussian that is "
        f"({epsilon:g}, {DELTA:g})-DP for one",
        "releases",
        ("exact", "Gaussian of its l2", "zCDP"),
        {
            releases: beside((function(epsilon, releases) for function in functions), texts)
            for releases, texts in EXPECTED[epsilon].items()
        },
    )
