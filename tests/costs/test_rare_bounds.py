"""Few rarely sampled releases beside others: both sides, by atoms that are composed one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from by_night import by_night, rows_by_night
from numpy.polynomial.legendre import leggauss

import tightnoise as tn
from tightnoise.costs import _rare_bounds as rare
from tightnoise.costs._cases import cases_of
from tightnoise.costs._exact import Bounds, composition_of
from tightnoise.costs._group import GroupCase

NODES, WEIGHTS = leggauss(20)


def noise(sigma, rate, count):
    once = tn.Gaussian(sigma).cost(sensitivity=1.0)
    return once.sampled(rate, "poisson") * count


def replaced(sigma, rate, count, sampling):
    adjacency = "replace-one" if sampling == "fixed-size" else "add-remove"
    once = tn.Gaussian(sigma).cost(sensitivity=1.0, adjacency=adjacency)
    return once.sampled(rate, sampling, adjacency="replace-one") * count


def laplace(scale, count=1, adjacency=None):
    return tn.Laplace(scale).cost(sensitivity=1.0, adjacency=adjacency) * count


def bounds(question, cost, at, upper):
    return rare.rare_bounds(question, cost.terms, at, Bounds(0.0, upper))


# --- one or two sampled Gaussians and a Laplace, by quadrature


def laplace_delta(y, loss):
    """D(y), any sign of y: atoms of 1/2 at the loss, e^-loss/2 at less it, a density between."""
    lowest = np.maximum(y, -loss)
    half = -np.expm1(-(loss - lowest) / 2) / 2
    inner = half * -np.expm1(y - (loss + lowest) / 2)
    top = -0.5 * np.expm1(np.minimum(y - loss, 0.0))
    bottom = -0.5 * math.exp(-loss) * np.expm1(np.minimum(y + loss, 0.0))
    return np.where(y < loss, inner, 0.0) + top + bottom


def composed_delta(x, sigma, rate, loss, way, count):
    """The same with so many sampled Gaussians: over panels that end where D has a corner."""
    if count == 0:
        return float(laplace_delta(np.array([x]), loss)[0])
    ends, shift = [-11.0, 14.0 + 1 / sigma, 1 / sigma], (count - 1) * math.log1p(-rate)
    for corner in (-loss, loss):
        gap = x - corner - shift if way == 0 else corner - x - shift
        excess = math.expm1(gap) / rate + 1
        if excess > 0:
            place = sigma * math.log(excess) + 1 / (2 * sigma)
            steps = [0.05, 0.2, 0.5, 1.0, 2.0] if count > 1 else []
            ends += [place + step for step in (0.0, *steps, *(-one for one in steps))]
    edges = np.unique(np.clip(ends, ends[0], ends[1]))
    parts = [
        np.linspace(a, b, 1 + math.ceil((b - a) / 0.8))[1:] for a, b in itertools.pairwise(edges)
    ]
    edges = np.append(edges[0], np.concatenate(parts))
    middle, half = 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.diff(edges)
    z = (middle[:, None] + half[:, None] * NODES).ravel()
    weights = (half[:, None] * WEIGHTS).ravel() * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    losses = np.log1p(rate * np.expm1(z / sigma - 1 / (2 * sigma * sigma)))
    places = x - losses if way == 0 else x + losses
    if count == 1:
        each = laplace_delta(places, loss)
    else:
        each = np.array(
            [composed_delta(y, sigma, rate, loss, way, count - 1) for y in places.tolist()]
        )
    return float((weights * (np.exp(losses) if way == 0 else 1.0) * each).sum())


SETTINGS = [
    (0.5, 1e-5, 1 / 3, 1),
    (0.5, 1e-3, 1 / 3, 1),
    (1.3, 1e-5, 1 / 3, 1),
    (1.3, 0.05, 1 / 3, 1),
    (0.8, 1e-4, 2.0, 1),
    (0.6, 3e-4, 1 / 3, 2),
]


@pytest.mark.parametrize(("sigma", "rate", "loss", "count"), SETTINGS)
def test_as_quadrature_says(sigma, rate, loss, count, check_error):
    cost = noise(sigma, rate, count) + laplace(1 / loss)
    for x in (0.4 * loss, loss, 1.1 * loss + rate)[2 * (count - 1) :]:
        truth = max(composed_delta(x, sigma, rate, loss, way, count) for way in (0, 1))
        if not truth > 1e-12:
            continue
        found = bounds("delta", cost, x, 1.0)
        assert found.lower * (1 - 1e-10) <= truth <= found.upper * (1 + 1e-10)
        check_error("deltas of rare losses", 1 - found.lower / found.upper, 2e-4)
        lower, upper = bounds("epsilon", cost, truth, 1.5 * x)
        assert lower <= x * (1 + 1e-8)
        assert x <= upper * (1 + 1e-8)


@pytest.mark.parametrize("way", [*by_night(0), 1])
def test_each_direction_as_quadrature_says(way):
    sigma, rate, loss = 0.7, 2e-3, 0.5
    plan = rare._Plan.of((noise(sigma, rate, 2) + laplace(1 / loss)).terms)
    assert plan is not None
    laid = plan.laid(plan.first_grid(0.5))
    sums = rare._products_of(
        plan.rare, laid._grid, rare.product_below, rare._below(way, 0.5), swapped=way > 0
    )
    for x in (0.0, 0.2, 0.4999, 0.51, 0.8):
        truth = composed_delta(x, sigma, rate, loss, way, 2)
        others = laid._others[way]
        above = rare._Read(rare._turned(laid.above[-1], way), others.above, is_upper=True)
        below = rare._Read(sums[-1], others.below, is_upper=False)
        assert below.delta(x) * (1 - 1e-10) <= truth + 1e-14
        assert truth <= above.delta(x) * (1 + 1e-10) + 1e-14


@pytest.mark.parametrize(("sigma", "rate"), [(0.7, 1e-3), (1.2, 1e-2)])
def test_groups_as_quadrature_says(sigma, rate, check_error):
    # Two records, of which the one data set has both, or either one. Panels are so short that
    # corners do not matter.
    loss = 0.5
    cost = noise(sigma, rate, 1).group(2) + laplace(1 / loss)
    edges = np.linspace(-13.0, 13.0 + 2 / sigma, 6001)
    z = (0.5 * (edges[1:] + edges[:-1]) + 0.5 * np.diff(edges) * NODES[:, None]).ravel()
    weights = (0.5 * np.diff(edges) * WEIGHTS[:, None]).ravel() / math.sqrt(2 * math.pi)

    def density(records, shift):
        parts = [
            math.comb(records, k)
            * rate**k
            * (1 - rate) ** (records - k)
            * np.exp(-0.5 * (z - k * shift) ** 2)
            for k in range(records + 1)
        ]
        return np.sum(parts, axis=0)

    cases = cases_of(cost.terms)
    assert len(cases) > 1
    for terms in cases:
        pair = next(leaf.pair for leaf, _ in terms if isinstance(leaf, GroupCase))
        p, q = density(pair.ours, 1 / sigma), density(pair.theirs, -1 / sigma)
        losses = np.log(p / q)
        for x in (0.2, 0.4, 0.7):
            truth = max(
                (weights * p * laplace_delta(x - losses, loss)).sum(),
                (weights * q * laplace_delta(x + losses, loss)).sum(),
            )
            found = rare.rare_bounds("delta", terms, x, Bounds(0.0, 1.0))
            assert found.lower * (1 - 1e-6) <= truth <= found.upper * (1 + 1e-6)
            check_error("deltas of groups beside atoms", 1 - found.lower / found.upper, 1e-5)


def test_large_losses_in_the_other_direction():
    # The others are not symmetric, so that the sum of the rare ones is read from both ends: coarser
    # points are farther from each other than losses whose exponentials are numbers next to 1.
    table = tn.Cost.of_losses([math.log(0.5), math.log(1.125)], [0.1, 0.9], adjacency="replace-one")
    once = tn.Gaussian(1 / 6).cost(sensitivity=2.0, adjacency="replace-one")
    plan = rare._Plan.of((once.sampled(1e-4, "fixed-size") * 3 + table).terms)
    assert plan is not None
    laid = plan.laid(plan.first_grid(1.5))
    for way in (0, 1):
        sums = rare._products_of(
            plan.rare, laid._grid, rare.product_below, rare._below(way, 0.5), swapped=way > 0
        )
        above = rare._Read(
            rare._turned(laid.above[-1], way), laid._others[way].above, is_upper=True
        )
        below = rare._Read(sums[-1], laid._others[way].below, is_upper=False)
        for x in (0.05, 0.3, 1.5):
            assert 0 < below.delta(x) <= above.delta(x) <= below.delta(x) * (1 + 1e-4)


# --- as contours say, where these are narrow


@pytest.mark.parametrize(
    ("cost", "delta"),
    [
        (noise(1.0, 1e-3, 3), 1e-8),
        (noise(0.8, 1e-3, 4) + noise(1.2, 3e-4, 2), 1e-7),
        (replaced(0.8, 2e-3, 2, "poisson"), 1e-7),
        *rows_by_night((noise(0.6, 2e-3, 12), 1e-6), (replaced(1.0, 1e-3, 3, "fixed-size"), 1e-8)),
    ],
)
def test_as_contours_say(cost, delta):
    lower, upper = composition_of(cost.terms).epsilon(delta)
    assert upper - lower <= 1e-6 * upper
    found = bounds("epsilon", cost, delta, 1.05 * upper)
    assert found.lower <= upper
    assert lower <= found.upper
    assert found.upper - found.lower <= 1e-5 * found.upper


# --- how narrow


@pytest.mark.parametrize(
    "case",
    [
        (noise(1.6, 1.7e-6, 12) + tn.Cost.of_response(0.79) * 5, 1.2e-8),
        (
            noise(0.8, 3e-5, 5)
            + tn.Staircase(1.0, 1.0, 0.3).cost(sensitivity=1.0)
            + laplace(1.5).sampled(0.1, "poisson") * 2,
            1e-7,
        ),
        *by_night(
            (replaced(0.7, 1e-4, 6, "fixed-size") + laplace(3.0, 2, "replace-one"), 1e-7),
            (noise(0.653, 2.8e-6, 20) + laplace(3.0, 3), 6.8e-7),  # 2e-5 by contours and lattices
            (noise(1.23, 8.5e-5, 8) + laplace(3.0, 3), 1.7e-9),  # 2e-3
            (noise(1.33, 0.0059, 1) + laplace(3.0, 3), 3.1e-9),
            (noise(1.27, 0.006, 12) + laplace(3.0, 3), 6.1e-9),
            (noise(0.5, 8e-6, 44) + noise(1.0, 4e-6, 23) + laplace(1.0), 4.2e-8),
            (noise(0.7, 1e-4, 6).group(2) + laplace(2.0, 3), 1e-8),
        ),
    ],
)
def test_narrow(case):
    cost, delta = case
    lower, upper = cost.epsilon_bounds(delta)
    assert 0 < lower <= upper <= cost.epsilon(delta)
    assert upper - lower <= 1e-6 * upper
    below, above = cost.delta_bounds(0.999 * lower)
    assert delta <= above
    assert 0 < below <= above


def test_batches_of_a_fixed_size():
    once = tn.Gaussian(1.0).cost(sensitivity=1.0, adjacency="replace-one")
    lower, upper = (once.sampled(1e-4, "fixed-size") * 100).epsilon_bounds(1e-20)
    assert 0 < lower <= upper <= lower * (1 + 1e-6)


def test_what_is_not_rare_is_left_to_others():
    for cost in (laplace(3.0, 5), noise(1.0, 0.5, 3), noise(1.0, 1e-4, 2) + tn.Cost.of_zcdp(0.1)):
        known = Bounds(0.25, 0.5)
        assert rare.rare_bounds("delta", cost.terms, 0.1, known) is known


def test_none_but_rare_losses():
    cost = tn.Cost.of_losses([-444.8590476104802, 0.0], [1.6275606298120732e-266, 1.0]) * 4
    delta = 1.0313991499905793e-72
    lower, upper = cost.epsilon_bounds(delta)
    assert 0 <= lower <= upper <= 444.9
    assert cost.delta(upper) <= delta


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_crossing_is_on_the_safe_side(way):
    rng = np.random.default_rng(2)
    for _ in range(200):
        root, bend = 10 ** rng.uniform(-8, 2.5), rng.choice([0.0, 1e-3, 0.5])
        rate = 10 ** rng.uniform(-1, 3) / root
        near = root * (1 + rng.choice([-1, 1]) * 10 ** rng.uniform(-9, -0.3))

        def excess(x, root=root, rate=rate, bend=bend):
            u = rate * (x - root)
            return -u - bend * u * abs(u)

        found = rare.crossing(excess, near, way)
        assert excess(found) <= 0 if way > 0 else excess(found) > 0
        assert found == pytest.approx(root, rel=1e-8)
    assert rare.crossing(lambda x: 1.0, 1.0, 1.0) == math.inf
    assert rare.crossing(lambda x: rare.log_ratio(math.nan, 0.5), 1.0, way) in (math.inf, 0.0)
    assert rare.crossing(lambda x: -1.0, 1.0, -1.0) == 0.0
