"""Cells of mixtures of Gaussians: what both neighbours give to them, and losses from both sides."""

import math

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise.costs._noise_cells import Components, _Curve, cells_of

CASES = [0, *by_night(*range(1, 12))]


def some_mixture(rng):
    """Symmetric, of one to seven components, whose sigmas are the same or not."""
    if rng.random() < 0.5:
        places = np.arange(-(k := int(rng.integers(0, 4))), k + 1.0)
        weights = np.exp(-rng.uniform(0.2, 2) * np.abs(places))
        return Components(
            places, weights / weights.sum(), np.full(places.size, rng.uniform(0.5, 2))
        )
    location, share = rng.uniform(0, 0.5), rng.uniform(0.1, 0.9)
    weights = 0.5 * np.array([share, share, 1 - share, 1 - share])
    first, second = rng.uniform(0.4, 1), rng.uniform(1, 5)
    return Components(
        np.array([-location, location, 0.0, 0.0]),
        weights,
        np.array([first, first, second, second]),
    )


class Exact:
    """The same in mpmath."""

    def __init__(self, components, shift):
        columns = zip(*map(np.ndarray.tolist, components), strict=True)
        parts = [tuple(map(mp.mpf, each)) for each in columns]
        total = mp.fsum(weight for _, weight, _ in parts)
        self.parts = [(place, weight / total, sigma) for place, weight, sigma in parts]
        self.shift = mp.mpf(shift)

    def density(self, y):
        return mp.fsum(w * mp.npdf(y, m, s) for m, w, s in self.parts)

    def mass(self, low, high):
        each = ((w, (low - m) / s, (high - m) / s) for m, w, s in self.parts)
        # Of the tail that is smaller.
        return mp.fsum(
            w * (mp.ncdf(b) - mp.ncdf(a) if a < 0 else mp.ncdf(-a) - mp.ncdf(-b))
            for w, a, b in each
        )

    def loss(self, y):
        return mp.log(self.density(y - self.shift) / self.density(y))

    def both(self, low, high):
        """What P and Q give to an interval."""
        return self.mass(low - self.shift, high - self.shift), self.mass(low, high)

    def beyond(self, loss, reach):
        """What P and Q give to outputs with larger losses."""
        grid = [mp.mpf(y) for y in np.linspace(-reach, reach + float(self.shift), 400).tolist()]
        signs = [self.loss(y) > loss for y in grid]
        ends = [grid[0]] if signs[0] else []
        for i in range(len(grid) - 1):
            if signs[i] != signs[i + 1]:
                bracket = (grid[i], grid[i + 1])
                ends.append(mp.findroot(lambda y: self.loss(y) - loss, bracket, solver="anderson"))
        if signs[-1]:
            ends.append(mp.mpf(1000))
        intervals = [self.both(*ends[i : i + 2]) for i in range(0, len(ends), 2)]
        return mp.fsum(p for p, _ in intervals), mp.fsum(q for _, q in intervals)


@pytest.mark.parametrize("seed", CASES)
def test_masses_and_losses_are_as_wrong_as_said(seed):
    rng = np.random.default_rng(seed)
    components, shift = some_mixture(rng), float(rng.uniform(0.1, 3))
    curve = _Curve(components, shift)
    edges = np.sort(rng.uniform(-components.reach, components.reach + shift, 300))
    edges = np.append(edges, edges[:5] + 10.0 ** rng.uniform(-5, -1, 5))
    edges.sort()
    masses = components.masses(edges - shift)
    low, high = curve.between(edges)
    # Everywhere, to the digits that floats have.
    inside = edges[:-1, None] + np.diff(edges)[:, None] * np.linspace(0, 1, 41)
    losses = curve.at(inside.ravel())[0].reshape(inside.shape)
    assert (losses.min(axis=1) >= low - 1e-11).all()
    assert (losses.max(axis=1) <= high + 1e-11).all()
    with mp.workdps(60):
        exact = Exact(components, shift)
        for i in rng.integers(0, edges.size - 1, 12).tolist():
            a, b = mp.mpf(edges[i]), mp.mpf(edges[i + 1])
            truth = mp.log(exact.both(a, b)[0])
            assert abs(truth - mp.mpf(float(masses.logs[i]))) <= masses.wrong[i]
            for share in rng.uniform(0, 1, 4).tolist():
                loss = exact.loss(a + (b - a) * mp.mpf(share))
                assert low[i] <= loss <= high[i]


@pytest.mark.parametrize("rate", [1.0, 1 - 1e-6, 1e-5])
@pytest.mark.parametrize("seed", CASES)
def test_both_sides_of_divergences(seed, rate):
    rng = np.random.default_rng(1000 + seed)
    components, shift = some_mixture(rng), float(rng.uniform(0.1, 2))
    corners = np.linspace(-12, 12, 3001)
    cells = cells_of(components, shift, corners).sampled(rate)
    above, below = cells.above(0.0), cells.below()
    with mp.workdps(40):
        exact, rate = Exact(components, shift), mp.mpf(rate)
        for loss in (0.3, 1.7, 4.0):
            # With the record: P is (1 - rate) Q + rate P'. Without, the other way round.
            p, q = exact.beyond(mp.mpf(loss), components.reach)
            both = [(rate * p + (1 - rate) * q, q, 1 + rate * (mp.exp(loss) - 1))]
            p, q = exact.beyond(-mp.mpf(loss), components.reach)
            p, q = 1 - p, 1 - q
            both.append((q, rate * p + (1 - rate) * q, 1 / (1 + rate * (mp.exp(-loss) - 1))))
            for way, (ahead, behind, t) in enumerate(both):
                x = np.array([float(mp.log(t))])
                truth = ahead - mp.exp(mp.mpf(x[0])) * behind
                (high,) = (above.swapped if way else above).profile(x)[0]
                (low,) = below[way].profile(x)[0]
                assert low * (1 - 1e-12) <= truth <= high  # `profile` is rounded up
                if truth > 1e-9 * rate:
                    assert high - low <= 1e-2 * truth


def test_components_that_are_the_same_are_gaussian_noise():
    mixture = tn.GaussianScaleMixture([0.0, 0.0], [0.5, 0.5], [0.9, 0.9])
    for rate, n, delta in ((0.01, 3000, 1e-6), (1e-4, 20_000, 1e-11), (0.003, 12, 1e-9)):
        gaussian, cost = (
            noise.cost(sensitivity=1.0).sampled(rate, "poisson") * n
            for noise in (tn.Gaussian(0.9), mixture)
        )
        truth = gaussian.epsilon_bounds(delta)
        lower, upper = cost.epsilon_bounds(delta)
        assert lower <= truth[1] * (1 + 1e-12)
        assert upper >= truth[0] * (1 - 1e-12)
        assert upper - lower <= 1e-6 * upper


def test_losses_next_to_where_they_turn():
    """Of three releases nearly all have the largest loss: 1.5e-4 apart without cells there."""
    noise = tn.GaussianScaleMixture([0.0, 0.0], [0.7, 0.3], [0.5942, 3.803])
    cost = noise.cost(sensitivity=1.0).sampled(0.4655, "poisson") * 3
    lower, upper = cost.epsilon_bounds(1.22e-11)
    assert 4.2 < lower <= upper <= lower * (1 + 1e-6)


def test_losses_that_hardly_change():
    """Of two sixths of the outputs: 4e-6 apart where cells are 0.1 wide."""
    noise = tn.MultiGaussianMixture(0.8149, 0.4357, 1.0, 20)
    lower, upper = (noise.cost(sensitivity=1.0) * 8).epsilon_bounds(2.85e-5)
    assert 3.39 < lower <= upper <= lower * (1 + 1e-6)


def test_swapped_losses_are_those_of_the_other_direction():
    cells = cells_of(Components(np.zeros(1), np.ones(1), np.ones(1)), 1.0, np.linspace(-9, 9, 500))
    sampled = cells.sampled(0.01).above(0.0)
    assert sampled.swapped.swapped is sampled
    assert sampled.highest > 1
    assert sampled.swapped.highest <= -math.log1p(-0.01) * (1 + 1e-12)
