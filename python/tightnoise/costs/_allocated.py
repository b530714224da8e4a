"""The leaf of one epoch in which each record is in exactly one of t Gaussian steps, at random.

Let Q be the output without the record and Y_i the ratio of densities of step i with and without it,
given what came before. With it the output has the density W = (Y_1 + ... + Y_t)/t beside Q, and

    delta(P, Q) = E (W - e^x)^+ = put(e^x) + 1 - e^x,   delta(Q, P) = E (1 - e^x W)^+
                = e^x put(e^-x),                         put(k) = E (k - W)^+       (under Q).

Balls in bins: Chua et al. 2024, "Balls-and-Bins Sampling for DP-SGD"; Feldman and Shenfeld 2025.
What the record adds at step i may follow from earlier outputs; it has a norm of a <= mu standard
deviations, so given these Y_i = e^(a Z - a^2/2), Z normal. That is a martingale in a: in the convex
order Y_i is at most the Y of mu. Replacing the last one, then the one before and so on, in convex
functions of the sum, W is at most the mean of t independent such Y, and both divergences are the
expectations of convex functions of W. So the pair of these dominates. Where other records are is
independent of it, and divergences are jointly convex.

Upper bounds. put does not decrease when Y is spread about its mean, nor when it is lowered or mass
is added. So Y is split between the multiples of h around it, keeping the mean of each cell, and put
at J h beyond. Where a cell's mass may be wrong by e, e is added, and twice (j + 1) e is moved from
the right to the left. The sum of t is the t-th power of the discrete Fourier transform on a circle
of N multiples. What is beyond the window only adds to put; what is below it, l below t m_1, is
lost: at most k times, with the moments m_i of the masses and as e^-y <= 1 - y + y^2/2,

    e^(t (m_0 - 1) - l^2/(2 t m_2)).

A transform is wrong by u (8 + 8 log2 N) times the sum of the moduli of what it is of, the power
e^(t log f) by t (|f| + e)^(t-1) e with e = u (80 + 8 log2 N) m_0, and by Parseval's identity the
masses together by the root of the sum of the squares. Sums over N are wrong by a part of 2 N u.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tightnoise import special
from tightnoise._validate import MAX_COUNT, integer
from tightnoise.costs._discrete_losses import Release
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._gaussian_pair import GaussianPair
from tightnoise.costs._leaf import Leaf, Profile, losses_of_leaf
from tightnoise.costs._loss_points import losses_of

__all__ = ["Allocated"]

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_POINTS = 2**17  # of the circle
_BEYOND = 7.0  # deviations of log Y: beyond, its mean is 1e-12
_BELOW = 120.0  # twice the logarithm of the probability that is lost
_LARGEST_MU = 3.0  # beyond, Y is spread too far for multiples
_MOST_STEPS = 10**7


@dataclass(frozen=True)
class Allocated(Leaf):
    """One epoch of `steps` releases of Gaussian noise, of which each record is in exactly one.

    No more than that release on all records, to which divergences are jointly convex.
    """

    leaf: GaussianPair
    steps: int

    kind: ClassVar[str] = "allocated"
    is_attained: ClassVar[bool] = False
    has_least_profile: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.leaf, GaussianPair):
            raise TypeError(f"leaf must be a Gaussian one; got {self.leaf!r}")
        self._set(steps=integer("steps", self.steps, minimum=1, maximum=MAX_COUNT))

    @property
    def gdp_mu(self) -> float:
        """That of the release on all records."""
        return self.leaf.gdp_mu

    def renyi(self) -> RdpFunction:
        """Return that of the release on all records."""
        return self.leaf.renyi()

    def profile(self, epsilons: Array) -> Profile:
        """Return the lesser of both bounds, in each direction."""
        whole, _ = self.leaf.profile(epsilons)
        if self.leaf.gdp_mu > _LARGEST_MU or not 1 < self.steps <= _MOST_STEPS:
            return whole, whole
        table = _put(self.leaf.gdp_mu, self.steps)
        with np.errstate(over="ignore", invalid="ignore"):
            # delta does not increase: beyond the window it is at most that at its end.
            k = np.minimum(np.exp(np.minimum(epsilons, 700.0)) * (1 - 8 * _UNIT), table.places[-1])
            forward = table.at(k) + 1 - k + 4 * _UNIT * (1 + k)
            least = np.exp(-epsilons) * (1 + 8 * _UNIT)
            backward = np.where(least > 0, table.at(least) / least * (1 + 16 * _UNIT), 1.0)
        return np.minimum(whole, np.maximum(forward, 0.0)), np.minimum(whole, backward)

    def release(self) -> Release | None:
        """Return the losses."""
        found = losses_of_leaf(self.leaf)
        if found is None:
            return None
        mu = min(self.leaf.gdp_mu, _LARGEST_MU)
        width = min(math.sqrt(math.expm1(mu * mu) / self.steps), mu, found.largest)
        return losses_of(self.profile, found.largest, width, symmetric=False)

    def describe(self) -> str:
        """Return what runs, and in how many steps a record may be."""
        return f"in one of {self.steps} steps: {self.leaf.describe()}"


@dataclass(frozen=True)
class _Put:
    """Upper bounds of E (k - W)^+."""

    places: Array
    heights: Array
    error: float  # a part of k

    def at(self, k: Array) -> Array:
        """Return them, up to the window's end."""
        inside = np.interp(k, self.places, self.heights, left=0.0, right=math.inf)
        return np.asarray(inside + self.error * k)


@functools.lru_cache(maxsize=8)
def _put(mu: float, steps: int) -> _Put:
    n, t = _POINTS, float(steps)
    square, top = math.exp(mu * mu), math.exp(mu * mu / 2 + _BEYOND * mu)
    below = math.sqrt(_BELOW * t * square)
    low, high = max(0.0, t - below), t + below + 2 * top
    h = (high - low) / n
    base = math.floor(low / h)
    masses = _split(mu, h, math.ceil(top / h))

    at = h * np.arange(masses.size)
    m0, m1, m2 = (float(moment) for moment in (masses.sum(), masses @ at, masses @ at**2))
    left = max(t * m1 * (1 - 1e-9) - base * h, 0.0)
    lost = math.exp(t * (m0 * (1 + 1e-13) - 1) - left * left / (2 * t * m2) * (1 - 1e-6))
    circle = np.bincount(np.arange(masses.size) % n, weights=masses, minlength=n)
    f = np.fft.rfft(circle)
    with np.errstate(divide="ignore", under="ignore"):
        power = np.exp(t * np.log(np.where(f == 0, 1e-300, f)))
        e = _UNIT * (80 + 8 * math.log2(n)) * m0
        wrong = t * e * np.exp((t - 1) * np.log(np.abs(f) + e))
    inverse = 2 * float(np.abs(power).sum()) * _UNIT * (8 + 8 * math.log2(n))
    error = math.sqrt(2 * float(wrong @ wrong)) + inverse + 2 * n * _UNIT * m0**t
    places = np.fft.irfft(power, n)
    order = (np.arange(n) + base) % n
    until = np.cumsum(places[order])
    x = h / t * (base + np.arange(n, dtype=np.float64))
    heights = np.concatenate([[0.0], np.cumsum(until[:-1] * np.diff(x))])
    return _Put(x, heights, (error + lost if base > 0 else error) * (1 + 1e-6) + 16 * _UNIT)


def _split(mu: float, h: float, count: int) -> Array:
    """Return masses at the first multiples of h."""
    j = np.arange(count + 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        log_edge = np.log(h * j)
    z = log_edge / mu + mu / 2
    log_mass = special.log_ndtr_diff(z[:-1], z[1:])
    mass = np.exp(log_mass)
    mean = np.exp(special.log_ndtr_diff(z[:-1] - mu, z[1:] - mu))
    # An edge is wrong by a part of 8 u (|log| + 1 + mu^2 + mu |z|); 0 is not.
    log_edge[0] = z[0] = 0.0
    part = 8 * _UNIT * (np.abs(log_edge) + 1 + mu * mu + mu * np.abs(z))
    edge = part * np.exp(-z * z / 2) / (mu * math.sqrt(2 * math.pi)) * 2
    edge[0] = 0.0
    e = edge[:-1] + edge[1:] + 16 * _UNIT * (32 + np.abs(np.maximum(log_mass, -1e3))) * mass
    right = np.clip((mean - h * j[:-1] * mass) / h - 2 * (j[:-1] + 1) * e, 0.0, mass)
    masses = np.zeros(count + 1)
    masses[:-1] = mass + e - right
    masses[1:] += right
    masses[-1] += math.exp(float(special.log_ndtr(-z[-1]))) * (1 + 2.0**-40) + edge[-1]
    return masses * (1 + 2.0**-51)
