"""Mixtures of Gaussians whose scales lie many powers of ten apart."""

import itertools
import math

import numpy as np
import pytest
from by_night import by_night
from scipy.optimize import brentq
from scipy.special import logsumexp, ndtr

import tightnoise as tn

Law = tuple[list[float], list[float], list[float]]  # locations, weights, sigmas

LAWS: list[Law] = [
    ([0.0, 0.0], [0.5, 0.5], [1e-6, 1.0]),
    ([0.0, 3.0], [0.5, 0.5], [1e-5, 1.0]),
    ([0.0, 3.0], [0.5, 0.5], [1.0, 1e-5]),
    ([2.34, 0.0], [0.86, 0.14], [0.7, 7e-4]),
    ([0.4, 0.0, 2.36], [0.002, 0.001, 0.997], [0.06, 9e-4, 1.3e-6]),
]


def _components(law: Law) -> np.ndarray:
    """Rows of location, weight and sigma, on both sides of 0."""
    rows = [(sign * c, w / 2, s) for c, w, s in zip(*law, strict=True) for sign in (1, -1)]
    return np.array(rows)


def _divergence(law: Law, shift: float, epsilon: float) -> float:
    """The hockey-stick divergence, from roots bracketed at every scale about every location."""
    c, w, s = _components(law).T

    def log_density(x: np.ndarray) -> np.ndarray:
        z = (np.asarray(x)[..., None] - c) / s
        return logsumexp(np.log(w / s) - z * z / 2, axis=-1)

    def excess(x: np.ndarray) -> np.ndarray:
        return log_density(x + shift) - log_density(x) - epsilon

    def mass(a: float, b: float, moved: float) -> float:
        u, v = (a + moved - c) / s, (b + moved - c) / s
        flip = u + v > 0
        return float(w @ (ndtr(np.where(flip, -u, v)) - ndtr(np.where(flip, -v, u))))

    away = np.geomspace(1e-9, 200.0, 4000)
    around = np.concatenate([-away, [0.0], away])
    places = np.unique([*c, *(c - shift)])
    grid = np.unique(np.concatenate([place + around for place in places]))
    positive = excess(grid) > 0
    turns = np.flatnonzero(positive[1:] != positive[:-1])
    roots = [brentq(excess, grid[i], grid[i + 1], xtol=1e-18, rtol=1e-15) for i in turns]
    ends = [grid[0], *roots, grid[-1]]
    return sum(
        mass(a, b, shift) - math.exp(epsilon) * mass(a, b, 0.0)
        for i, (a, b) in enumerate(itertools.pairwise(ends))
        if positive[0] == (i % 2 == 0)
    )


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("where", [*by_night((1.0, 1.0), (0.5, 0.1), (1e-5, 0.1)), (2e-3, 0.5)])
def test_nothing_is_missed_between_narrow_peaks(law: Law, where: tuple[float, float]) -> None:
    shift, epsilon = where
    noise = tn.GaussianScaleMixture(*law)
    exact = _divergence(law, shift, epsilon)
    # The reference takes the roots of a narrow peak to 1e-15 of its location.
    assert noise.hockey_stick(shift, 0.0, epsilon) == pytest.approx(exact, rel=1e-8, abs=1e-13)
    assert noise.cost(sensitivity=shift).delta(epsilon) >= exact * (1 - 1e-8) - 1e-13


@pytest.mark.parametrize("delta", [1e-6, 1e-8, 1e-12])
def test_epsilon_where_delta_falls_within_the_digits_of_epsilon(delta: float) -> None:
    """At one root D falls by a factor of 10^20 within 1e-4: delta is not met to all its digits."""
    noise = tn.GaussianScaleMixture(
        [0.0, 0.36, 0.81, 0.98, 1.19],
        [0.979, 0.0145, 0.0049, 0.0015, 1e-4],
        [0.0142, 0.28, 0.13, 0.046, 1.2],
    )
    cost = noise.cost(sensitivity=1.0)
    epsilon = cost.epsilon(delta)
    assert cost.delta(epsilon) <= delta
    assert cost.delta(epsilon * (1 - 1e-9)) > delta
