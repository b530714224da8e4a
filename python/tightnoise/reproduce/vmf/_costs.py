"""What directional and Gaussian noise cost in the paper's setting, by its methods and exactly."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from tightnoise.costs import Adjacency, Cost, RdpCurve, Sampling, rdp_to_epsilon
from tightnoise.leakage import log_bayes_capacity
from tightnoise.mechanisms import Gaussian, LiftedVonMisesFisher, VonMisesFisher
from tightnoise.reproduce.vmf._amplified import amplified_composition

Array = NDArray[np.float64]

LAYERS = (12_800, 750, 150)
"""Parameters of the layers of the paper's network, each clipped by itself."""

DIM = sum(LAYERS)
"""Parameters in all, p: 13,700."""

RECORDS, BATCH = 60_000, 128
SAMPLING_RATE = BATCH / RECORDS
DELTA = 1 / RECORDS

ANCHOR = 64.0
"""Of the lifted mechanism, which the paper does not have: half of the largest norm of a sum."""

EPOCHS = 3
"""What the paper counts for the von Mises-Fisher mechanism, N."""

STEPS = EPOCHS * math.ceil(RECORDS / BATCH)
"""The 1,407 releases that three epochs are, which the paper counts for the Gaussian."""

INTEGER_ORDERS = np.arange(2.0, 100.0)
"""The orders that the second approach tries."""

CHORD_ORDERS = 1 + np.arange(1, 4901) / 50
"""The orders 1.02, 1.04, ..., 99, at which the chords between integer orders are read."""

OPACUS_ORDERS = np.concatenate([1 + np.arange(1, 100) / 10, np.arange(12.0, 64.0)])
"""The orders that the RDP accountant of Opacus tries unless told."""


def _converted(orders: Array, costs: Array) -> float:
    """Return the smallest epsilon that any of the orders proves, and no order between them.

    What the paper has at real orders is no divergence's, and an RdpCurve would refuse it.
    """
    return float(np.min(rdp_to_epsilon(orders, costs, DELTA, "canonne")))


@functools.cache
def _release(kappa: float) -> RdpCurve:
    return VonMisesFisher(kappa, DIM).cost().rdp()


def approach_1(kappa: float, count: int, composition: str = "closed_form") -> float:
    """Return epsilon at delta = 1/60000, rounded up, by approach 1: convert, amplify, compose.

    Parameters
    ----------
    kappa : float
        Concentration of the von Mises-Fisher mechanism.
    count : int
        The number N of releases.
    composition : str
        "closed_form": the paper's Theorem 2, with the factor N epsilon_s that it lacks; or
        "optimal".

    Examples
    --------
    >>> from tightnoise.reproduce.vmf import approach_1
    >>> round(approach_1(75, 3), 4)
    0.4804
    """
    return amplified_composition(_release(kappa), SAMPLING_RATE, count, DELTA, composition)


def approach_2(kappa: float, count: int) -> float:
    """Return epsilon by the paper's second approach: its Theorem 3 with factor 3, integer orders.

    With 1/(alpha - 1) before the logarithm, where the paper prints 1/alpha: that would be below the
    truth. The factor 3 is not needed (see cpp/cost/SUBSAMPLING.md).

    Parameters
    ----------
    kappa, count
        As in `approach_1`.

    Examples
    --------
    >>> from tightnoise.reproduce.vmf import approach_2
    >>> round(approach_2(100, 3), 2)
    2.48
    """
    return _converted(INTEGER_ORDERS, _theorem_3(kappa) * count)


def unsound_approach_2(kappa: float, count: int) -> float:
    """Return what the second approach gives with the paper's interpolation, which is **no bound**.

    Between integer orders the paper takes the chord of the divergence, from its bound `q` times the
    Kullback-Leibler divergence at order 1. The divergence is not convex and may be above its chord;
    only (alpha - 1) times it is below.

    Parameters
    ----------
    kappa, count
        As in `approach_1`.

    Examples
    --------
    >>> from tightnoise.reproduce.vmf import approach_2, unsound_approach_2
    >>> round(approach_2(300, 3), 2), round(unsound_approach_2(300, 3), 2)
    (51.36, 41.01)
    """
    return _converted(CHORD_ORDERS, unsound_chord(kappa, CHORD_ORDERS) * count)


def unsound_chord(kappa: float, orders: Array) -> Array:
    """Return what the paper has for the sampled divergence between integer orders, as printed."""
    at_one = SAMPLING_RATE * VonMisesFisher(kappa, DIM).renyi_divergence(alpha=1.0)
    integers, at_integers = np.append(1.0, INTEGER_ORDERS), np.append(at_one, _theorem_3(kappa))
    chords: Array = np.interp(orders, integers, at_integers)
    return chords


@functools.cache
def _theorem_3(kappa: float) -> Array:
    """Return the bound on the sampled divergence at the integer orders, with 1/(alpha - 1).

    The logarithm's argument is 1 plus the sum over l from 2 to alpha, with w_2 = 1 and w_l = 3, of
    C(alpha, l) q^l (1 - q)^(alpha - l) (w_l exp((l - 1) tau_l) - 1).
    """
    index = INTEGER_ORDERS.astype(int)
    weights = np.where(index > 2, 3.0, 1.0)
    exponent = (index - 1) * _release(kappa).at(INTEGER_ORDERS).values + np.log(weights)
    log_excess = exponent + np.log(-np.expm1(-exponent))
    log_factorial = np.array([math.lgamma(n + 1) for n in range(index[-1] + 1)])
    log_share, log_rest = math.log(SAMPLING_RATE), math.log1p(-SAMPLING_RATE)
    bounds = np.empty(index.shape)
    for which, alpha in enumerate(index):
        here, left = index[: which + 1], alpha - index[: which + 1]
        log_binomial = log_factorial[alpha] - log_factorial[here] - log_factorial[left]
        log_terms = log_binomial + here * log_share + left * log_rest + log_excess[: which + 1]
        bounds[which] = np.logaddexp(0.0, np.logaddexp.reduce(log_terms)) / (alpha - 1)
    return bounds


def exact_epsilon(
    kappa: float,
    count: int = STEPS,
    *,
    angle: float = math.pi,
    sampling: Sampling = "poisson",
    conversion: str = "optimal",
) -> float:
    """Return epsilon by the exact Renyi divergence of the sampled mechanism.

    Parameters
    ----------
    kappa, count
        As in `approach_1`.
    angle : float
        The largest angle by which one record turns the direction.
    sampling : str
        "poisson" or "fixed-size", as in `tightnoise.costs._sampled_von_mises_fisher`.
    conversion : str
        As in `tightnoise.rdp_to_epsilon`.

    Examples
    --------
    >>> from tightnoise.reproduce.vmf import exact_epsilon
    >>> round(exact_epsilon(75), 3), round(exact_epsilon(75, conversion="canonne"), 3)
    (1.421, 1.513)
    """
    return (_sampled(kappa, angle, sampling) * count).rdp().epsilon(DELTA, conversion)


@functools.cache
def tight_epsilon_bounds(
    kappa: float,
    count: int = STEPS,
    *,
    angle: float = math.pi,
    sampling: Sampling = "poisson",
) -> tuple[float, float]:
    """Return lower and upper bounds of epsilon by the distribution of losses: both are proved.

    Parameters
    ----------
    kappa, count, angle, sampling
        As in `exact_epsilon`.

    Examples
    --------
    >>> from tightnoise.reproduce.vmf import tight_epsilon_bounds
    >>> lower, upper = tight_epsilon_bounds(75)
    >>> round(lower, 9), round(upper, 9)
    (0.790471488, 0.790471488)
    """
    return (_sampled(kappa, angle, sampling) * count).epsilon_bounds(DELTA)


def tight_epsilon_above(kappa: float) -> float:
    """Return an upper bound of it that is quick: on a lattice, some 1e-5 above, as measured."""
    return (_sampled(kappa, math.pi, "poisson") * STEPS).losses().epsilon(DELTA)


def tight_gaussian_bounds(sigma: float) -> tuple[float, float]:
    """Return the same of `STEPS` steps with Gaussian noise."""
    return (_sampled_gaussian(sigma) * STEPS).epsilon_bounds(DELTA)


def _sampled(kappa: float, angle: float, sampling: Sampling) -> Cost:
    adjacency: Adjacency = "add-remove" if sampling == "poisson" else "replace-one"
    cost = VonMisesFisher(kappa, DIM).cost(angle=angle, adjacency=adjacency)
    return cost.sampled(SAMPLING_RATE, sampling)


def _sampled_gaussian(sigma: float) -> Cost:
    return Gaussian(sigma).cost(sensitivity=1.0).sampled(SAMPLING_RATE, "poisson")


def lifted_epsilon(kappa: float) -> float:
    """Return epsilon of `STEPS` releases beside an anchor, of sums of vectors of norm at most 1."""
    cost = LiftedVonMisesFisher(kappa, DIM, ANCHOR).cost(sensitivity=1.0)
    return (cost.sampled(SAMPLING_RATE, "poisson") * STEPS).epsilon(DELTA, by="rdp")


def lifted_capacity(kappa: float) -> float:
    """Return the logarithm of the Bayes capacity of one of these releases."""
    return log_bayes_capacity(LiftedVonMisesFisher(kappa, DIM, ANCHOR), radius=BATCH)


def gaussian_epsilon(sigma: float, *, on_grid: bool = False) -> float:
    """Return epsilon of `STEPS` steps with Gaussian noise: exact RDP.

    Parameters
    ----------
    sigma : float
        Noise multiplier.
    on_grid : bool
        Whether to keep to the orders and the conversion that the RDP accountant of Opacus has.

    Examples
    --------
    >>> from tightnoise.reproduce.vmf import gaussian_epsilon
    >>> round(gaussian_epsilon(1.23), 3), round(gaussian_epsilon(1.23, on_grid=True), 3)
    (0.456, 0.483)
    """
    training = (_sampled_gaussian(sigma) * STEPS).rdp()
    if on_grid:
        return _converted(OPACUS_ORDERS, training.at(OPACUS_ORDERS).values)
    return training.epsilon(DELTA)


def equal_sigma(kappa: float) -> float:
    """Return the noise multiplier of a Gaussian that is as private as the mechanism, or less so.

    The mechanism is mu-GDP with mu = 2 kappa/sqrt(p - 3): its releases, sampled or not, cost at
    most what those of the Gaussian mechanism with noise multiplier 1/mu cost.

    Parameters
    ----------
    kappa : float
        The concentration.

    Examples
    --------
    >>> from tightnoise.reproduce.vmf import equal_sigma
    >>> round(equal_sigma(75), 4)
    0.7802
    """
    return 1 / VonMisesFisher(kappa, DIM).cost().gdp_mu


def vmf_capacity(kappa: float) -> float:
    """Return the logarithm of the mechanism's Bayes capacity (Theorem 6).

    Parameters
    ----------
    kappa : float
        The concentration.

    Examples
    --------
    >>> from tightnoise.reproduce.vmf import vmf_capacity
    >>> round(vmf_capacity(75), 4)
    74.7947
    """
    return log_bayes_capacity(VonMisesFisher(kappa, DIM))


def gaussian_capacity(sigma: float, radius: float = 1.0, *, as_printed: bool = False) -> float:
    """Return the logarithm of the Bayes capacity of Gaussian noise on a ball (Theorem 5).

    Parameters
    ----------
    sigma, radius : float
        Standard deviation of the noise, and the largest norm of what it is added to.
    as_printed : bool
        Whether to keep the factor 2 that the paper has in front of Z, which is one too many: of an
        endless sigma the capacity would be 2, as if a release of nothing told something.

    Examples
    --------
    >>> from tightnoise.reproduce.vmf import gaussian_capacity
    >>> round(gaussian_capacity(1.23), 4), round(gaussian_capacity(1.23, as_printed=True), 3)
    (94.9934, 95.687)
    """
    capacity = log_bayes_capacity(Gaussian(sigma), dim=DIM, radius=radius)
    if not as_printed:
        return capacity
    # The second term is the ball's volume times the density's peak.
    half = 0.5 * DIM
    log_second = DIM * math.log(radius / sigma) - half * math.log(2) - math.lgamma(half + 1)
    return capacity + math.log(2 - math.exp(log_second - capacity))


def layers_capacity(sigma: float) -> float:
    """Return the same for the product of one ball of radius 1 a layer."""
    return log_bayes_capacity(Gaussian(sigma), dim=LAYERS, radius=1.0)
