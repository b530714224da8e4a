"""Few releases by quadrature: the bounds on a lattice hold the truth between them.

The divergence of n releases is the mean of that of n - 1 at epsilon less a loss, and that of one is
its closed form. So a mean over one output after the other is all there is: no lattice, no FFT.
"""

import math

import numpy as np
import pytest
from by_night import by_night
from lattices import bounds_on_lattice

import tightnoise as tn

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_PANELS = 96


def integral(function, low, high, kinks):
    """Integrals over [low, high] of functions with kinks there, shape (n, k): one for each row."""
    ends = np.sort(np.clip(kinks, low, high), axis=1)
    rows = ends.shape[0]
    ends = np.hstack([np.full((rows, 1), low), ends, np.full((rows, 1), high)])
    steps = np.arange(_PANELS) / _PANELS
    starts = (ends[:, :-1, None] + np.diff(ends)[:, :, None] * steps).reshape(rows, -1)
    half = np.repeat(np.diff(ends), _PANELS, axis=1) / (2 * _PANELS)
    places = starts[..., None] + half[..., None] * (1 + _NODES)
    values = function(places.reshape(rows, -1)).reshape(places.shape)
    return (values * _WEIGHTS * half[..., None]).sum(axis=(1, 2))


class FixedSize:
    """Losses log r and -log r with the masses r and 1 where r > 1, of N(0, 1); the rest is 0."""

    def __init__(self, mu, rate):
        self.mu, self.rate = mu, rate
        once = tn.Gaussian(1 / mu).cost(sensitivity=1.0, adjacency="replace-one")
        self.cost = once.sampled(rate, "fixed-size")
        self.leaf = self.cost.terms[0][0]
        above = tn.special.ndtr(np.array([-mu / 2, mu / 2]))  # of N(0, 1) and of N(mu, 1)
        self.at_zero = 1 - above[0] * (2 - rate) - rate * above[1]

    def loss(self, z):
        return np.log1p(self.rate * np.expm1(self.mu * z - self.mu**2 / 2))

    def place(self, loss):
        return np.log1p(np.expm1(loss) / self.rate) / self.mu + self.mu / 2

    def once(self, x, way):
        """The divergence of one release, of epsilons of either sign."""
        there = self.leaf.profile(np.abs(x).ravel())[0].reshape(x.shape)
        return np.where(x >= 0, there, -np.expm1(x) + np.exp(np.minimum(x, 0)) * there)

    def many(self, x, times, way):
        if times == 1:
            return self.once(x, way)
        rest = lambda at: self.many(at.ravel(), times - 1, way).reshape(at.shape)  # noqa: E731

        def inner(z):
            loss = self.loss(z)
            density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
            return density * (np.exp(loss) * rest(x[:, None] - loss) + rest(x[:, None] + loss))

        kinks = self.place(np.abs(x))[:, None]
        return self.at_zero * rest(x) + integral(inner, self.mu / 2, self.mu + 12, kinks)


class PoissonLaplace:
    """(1-q) Q + q P against Q, Laplace noise about 0 and about 1; `way` 1 is the swapped pair."""

    def __init__(self, scale, rate):
        self.scale, self.rate = scale, rate
        self.cost = tn.Laplace(scale).cost(sensitivity=1.0).sampled(rate, "poisson")
        self.leaf = self.cost.terms[0][0]

    def loss(self, y):
        return np.log1p(self.rate * np.expm1((2 * np.clip(y, 0, 1) - 1) / self.scale))

    def place(self, loss):
        inner = np.maximum(np.expm1(loss) / self.rate, -1 + 1e-15)
        return (self.scale * np.log1p(inner) + 1) / 2

    def once(self, x, way):
        here, there = (
            self.leaf.profile(np.abs(x).ravel())[i].reshape(x.shape) for i in (way, 1 - way)
        )
        return np.where(x >= 0, here, -np.expm1(x) + np.exp(np.minimum(x, 0)) * there)

    def many(self, x, times, way):
        if times == 1:
            return self.once(x, way)
        sign = 1 - 2 * way
        rest = lambda at: self.many(at.ravel(), times - 1, way).reshape(at.shape)  # noqa: E731
        density = lambda y: np.exp(-np.abs(y) / self.scale) / (2 * self.scale)  # noqa: E731
        ends = self.loss(np.array([0.0, 1.0]))

        def weight(y, loss):
            return density(y) * (np.exp(loss) if way == 0 else 1.0)

        def inner(y):
            loss = self.loss(y)
            return weight(y, loss) * rest(x[:, None] - sign * loss)

        # At the atoms, of which the one is at 0 and below, the other at 1 and above.
        masses = 0.5 * np.array([1.0, math.exp(-1 / self.scale)])
        if way == 0:
            masses = masses * np.exp(ends)
        atoms = sum(m * rest(x - sign * e) for m, e in zip(masses, ends, strict=True))
        sums = np.unique([i * ends[0] + (times - 1 - i) * ends[1] for i in range(times)])
        kinks = self.place(sign * x[:, None] - sums)
        return atoms + integral(inner, 0.0, 1.0, kinks)


LAWS = {
    "fixed size": FixedSize(1.0, 0.05),
    "fixed size, steep": FixedSize(3.0, 0.3),
    "fixed size, rare": FixedSize(2.0, 0.002),
    "Laplace": PoissonLaplace(1.0, 0.1),
    "Laplace, steep": PoissonLaplace(0.2, 0.5),
    "Laplace, rare": PoissonLaplace(0.7, 0.003),
}


LATER = ("fixed size, rare", "fixed size, steep", "Laplace, steep", "Laplace, rare")


@pytest.mark.parametrize("name", ["fixed size", "Laplace", *by_night(*LATER)])
@pytest.mark.parametrize("times", [2, *by_night(3)])
def test_few_releases(name, times, rng, check_error, monkeypatch):
    if times > 2:
        monkeypatch.setitem(globals(), "_PANELS", 32)
    close = 1e-10 if times == 2 else 1e-8  # of the quadrature
    law = LAWS[name]
    many = law.cost * times
    ways = 2 if isinstance(law, PoissonLaplace) else 1
    for delta in (1e-9, 1e-6, 1e-3):
        lower, upper = bounds_on_lattice("epsilon", many, delta)
        assert 0 <= lower <= upper
        if upper <= 1e-3:
            continue
        limit = 3e-6 if name == "fixed size, rare" else 1e-6
        check_error(f"bounds of {times}, {name}", (upper - lower) / upper, limit)
        at = np.array([lower, upper])
        truth = np.max([law.many(at, times, way) for way in range(ways)], axis=0)
        assert truth[0] >= delta * (1 - close) - 1e-14
        assert truth[1] <= delta * (1 + close) + 1e-14
    for epsilon in rng.uniform(0.0, upper, 2):
        low, high = bounds_on_lattice("delta", many, epsilon)
        truth = max(law.many(np.array([epsilon]), times, way)[0] for way in range(ways))
        assert low <= truth * (1 + close) + 1e-14
        assert high >= truth * (1 - close) - 1e-14


@pytest.mark.parametrize(
    ("count", "losses", "masses", "epsilon"),
    [
        (
            147095744,
            [1.2980232098214413e-05, -1.2980387950121283e-05, 4.876156021959957],
            [0.5000062464878299, 0.49999375351216263, 7.537791216689897e-15],
            1.2852447283568806,
        ),
        (
            148142,
            [-0.0003012557065380284, 0.0003012556484335113, 5.0766916925954275],
            [0.499924686066583, 0.5000753139041823, 2.9234698281687126e-11],
            1.313562328846682,
        ),
    ],
)
def test_rare_losses_of_very_many(count, losses, masses, epsilon):
    # That one of all has the large loss proves P(A) - e^epsilon Q(A). Small losses of either sign
    # turn the characteristic function by little at a time, and often.
    cost = tn.Cost.of_losses(losses, masses) * count
    p, q = masses[2], masses[2] * math.exp(-losses[2])
    known = -math.expm1(count * math.log1p(-p))
    known += math.exp(epsilon) * math.expm1(count * math.log1p(-q))
    assert cost.delta(epsilon) >= known * (1 - 1e-11)
    lower, upper = cost.delta_bounds(epsilon)
    assert lower <= upper
    assert upper >= known * (1 - 1e-11)
