"""The exact guarantee of the Gaussian mechanism, by its privacy profile.

Noise N(0, sigma^2) on a value whose L2 sensitivity is Delta is (epsilon, delta)-DP exactly if

    delta >= Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu),   mu = Delta / sigma

(Balle and Wang 2018, "Improving the Gaussian Mechanism for Differential Privacy", Theorem 8). This
is mu-Gaussian-DP (Dong, Roth and Su 2022, "Gaussian Differential Privacy", Corollary 2.13), and
Gaussian mechanisms compose by the root of the sum of the squares of their mu (Corollary 3.3): k
releases cost sqrt(k) mu. No conversion of a Renyi-DP curve gives less.

Both functions round upwards: to at most 1.3e-14 above delta, relative, and to at most the epsilon
of delta (1 - 1e-13). Ranges: any float64, and nothing overflows on the way; a delta that would
underflow is 5e-324. Where delta is within a part in 1e14 of the total variation distance
2 Phi(mu/2) - 1, epsilon is as good as 0 and its relative error is large: the digits of delta no
longer determine it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import elementwise
from tightnoise._core import cost as core

Array = NDArray[np.float64]


def gaussian_delta(epsilon: ArrayLike, mu: ArrayLike) -> Array:
    """Return the smallest delta with which a Gaussian mechanism is (epsilon, delta)-DP."""
    return elementwise(core.gaussian_delta, epsilon=_floats(epsilon), mu=_floats(mu))


def gaussian_epsilon(delta: ArrayLike, mu: ArrayLike) -> Array:
    """Return the smallest epsilon with which a Gaussian mechanism is (epsilon, delta)-DP."""
    return elementwise(core.gaussian_epsilon, delta=_floats(delta), mu=_floats(mu))


def _floats(values: ArrayLike) -> Array:
    return np.asarray(values, dtype=np.float64)
