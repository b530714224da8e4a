"""Costs of one value for changes within an L2 ball: never below those of any neighbour."""

import pickle

import numpy as np
import pytest
from by_night import by_night
from instance_costs import bounded

import tightnoise as tn
from tightnoise._sketch_panels import count_edges
from tightnoise.mechanisms import _ball, _laplace_ball, _sketched
from tightnoise.mechanisms._laplace_ball import LaplaceSupport

ORDERS = [1.05, 1.3, 2.0, 2.6, 8.0, 50.0, 1000.0]
NAMES = ["rectified", "truncated", "sign", "quantized", "three levels"]
EVERY = [*NAMES, "laplace"]


def mechanism(name, half=1.0, sigma=1.0, centre=0.0):
    kind, levels = ("quantized", 3) if name == "three levels" else (name, 8)
    return bounded(kind, sigma, centre - half, centre + half, levels)


def greatest(m, theta, changes, orders):
    """The largest sum over coordinates that one of the changes makes, in either direction."""
    moved, still = theta + changes, theta + 0 * changes
    sums = [
        [m.renyi_divergence(*pair, order).sum(axis=-1).max() for order in orders]
        for pair in ((moved, still), (still, moved))
    ]
    return np.max(sums, axis=0)


def neighbours(rng, d, total, sides, count=400):
    """Changes within ball and box: of few coordinates, of many, and of one or all alike."""
    changes = rng.normal(size=(count, d)) * (
        rng.random((count, d)) < rng.uniform(0.1, 1, (count, 1))
    )
    changes = np.vstack([changes, np.eye(d), -np.eye(d), np.ones((1, d)), -np.ones((1, d))])
    norms = np.linalg.norm(changes, axis=1, keepdims=True)
    return np.clip(changes / np.maximum(norms, 1e-300) * total, -sides, sides)


@pytest.mark.parametrize("name", EVERY)
def test_few_coordinates_by_brute_force(name):
    rng = np.random.default_rng(EVERY.index(name))
    ratios = []
    for case in range(15):
        half, d = float(np.exp(rng.uniform(-1.2, 1.2))), int(rng.integers(2, 7))
        theta = rng.normal(size=d) * rng.choice([0.3, 1, 3])
        total = float(np.exp(rng.uniform(np.log(0.02), np.log(2))))
        m, sides, given = mechanism(name, half), np.asarray(total), {}
        if case % 3 == 1:
            sides = np.asarray(total * rng.uniform(0.3, 1))
        if case % 3 == 2:  # every coordinate another law
            sides = total * rng.uniform(0.1, 1, d)
            sigma = rng.uniform(0.5, 2, d)
            m = mechanism(name, half, sigma, 0.0 if name == "sign" else rng.normal(size=d))
        if case % 3:
            given["coordinate_sensitivity"] = sides if sides.ndim else float(sides)
        cost = m.cost_at(theta, sensitivity=total, **given).rdp(ORDERS).values
        found = greatest(m, theta, neighbours(rng, d, total, sides), ORDERS)
        assert (found <= cost * (1 + 1e-12)).all()
        box = m.cost_at(theta, coordinate_sensitivity=sides).rdp(ORDERS).values
        if name != "laplace":
            box = np.minimum(box, m.cost(sensitivity=total).rdp(ORDERS).values)
        assert (cost <= box * (1 + 1e-9)).all()
        ratios.extend(cost[found > 0] / found[found > 0])
    assert np.median(ratios) < 1.1  # random changes are not the worst ones


@pytest.mark.parametrize("name", ["truncated", "laplace"])
@pytest.mark.parametrize("d", [2, 3])
def test_a_sphere_by_brute_force(name, d):
    """All directions of a change as long as may be, which include the worst one, or nearly."""
    rng = np.random.default_rng(d)
    angle = np.linspace(0, 2 * np.pi, 721)
    directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if d == 3:
        height = np.linspace(-1, 1, 41)[:, np.newaxis, np.newaxis]
        flat = directions[::8] * np.sqrt(1 - height**2)
        directions = np.concatenate([flat, np.broadcast_to(height, (*flat.shape[:2], 1))], axis=2)
    for half, total in [(0.3, 0.2), (1.0, 0.5), (4.0, 1.5)]:
        m, theta = mechanism(name, half), rng.uniform(-1.2, 1.2, d) * half
        cost = m.cost_at(theta, sensitivity=total).rdp(ORDERS).values
        found = greatest(m, theta, total * directions.reshape(-1, d), ORDERS)
        assert (found <= cost * (1 + 1e-12)).all()
        if name == "laplace":
            assert (cost <= 1.2 * found).all()
        assert (cost[:5] <= 1.6 * found[:5]).all()  # one coordinate's gap, of two or three


def alike(m, theta, total, side, order, low=6):
    """The most that equal changes of some coordinates make: a lower bound."""
    best = 0.0
    for count in np.unique(np.geomspace(max(1, (total / side) ** 2), theta.size, low).astype(int)):
        s = min(side, total / np.sqrt(count))
        for away in (False, True):
            pairs = [(theta + x, theta) if away else (theta, theta + x) for x in (s, -s)]
            worse = np.maximum(*(m.renyi_divergence(*pair, order) for pair in pairs))
            best = max(best, np.sort(worse)[-count:].sum())
    return best


@pytest.mark.parametrize("name", [*NAMES[:3], *by_night("quantized"), *EVERY[4:]])
@pytest.mark.parametrize("spread", [*by_night(0.3), 2.0])
def test_many_coordinates_are_close_to_the_supremum(name, spread):
    theta = np.random.default_rng(5).normal(size=1_500) * spread
    for half, order in [(1.0, 1.5), (2.5, 16.0)]:
        m = mechanism(name, half)
        for total, side in [(1.0, 0.125), (2.0, 0.05)]:
            cost = m.cost_at(theta, sensitivity=total, coordinate_sensitivity=side)
            found = alike(m, theta, total, side, order)
            value = cost.rdp([order]).values[0]
            assert found * (1 - 1e-12) <= value
            assert value <= 1.03 * found
        value = m.cost_at(theta, sensitivity=0.5).rdp([order]).values[0]
        assert alike(m, theta, 0.5, 0.5, order) <= value


def test_the_gap_with_a_ball_alone():
    """Equal coordinates, of which a few make the whole change: the dual is 10 % above."""
    m, theta = tn.StochasticSign(1.0), np.full(300, 4.5)
    value = m.cost_at(theta, sensitivity=5.0).rdp([1.3]).values[0]
    found = alike(m, theta, 5.0, 5.0, 1.3, low=300)
    assert 1.05 * found < value < 1.14 * found


@pytest.mark.parametrize("name", ["sign", "laplace", *by_night(*NAMES[:2], *NAMES[3:])])
def test_places_and_coordinates_say_the_same(name, monkeypatch):
    rng = np.random.default_rng(8)
    for spread, total, side in [(0.5, 1.0, 0.1), (3.0, 2.0, 2.0), (12.0, 4.0, 0.5)]:
        theta = rng.normal(size=800) * spread
        m, orders = mechanism(name, 1.3, centre=0.0), [1.5, 12.0]
        counted = m.cost_at(theta, sensitivity=total, coordinate_sensitivity=side).rdp(orders)
        with monkeypatch.context() as patch:
            patch.setattr(_ball, "_MOST_ALONE", 1000)
            alone = m.cost_at(theta, sensitivity=total, coordinate_sensitivity=side).rdp(orders)
        # Each bound has an error of its own; that of places is larger.
        assert (counted.values > 0.99 * alone.values).all()
        if spread < 1:
            assert (counted.values < 1.02 * alone.values).all()


def sum_of_sketches(*parts):
    first, *others = (tn.Sketch.of(part, -1, 1, sigma=1.0) for part in parts)
    return sum(others, first)


def test_gaussian_box_and_sketch():
    theta = np.random.default_rng(2).normal(size=5000)
    gaussian = tn.Gaussian(2.0)
    at = gaussian.cost_at(theta, sensitivity=0.7).rdp(ORDERS).values
    assert at == pytest.approx(gaussian.cost(sensitivity=0.7).rdp(ORDERS).values, rel=1e-11)
    orders = [2.6, 40.0]
    for name in ("rectified", "three levels"):
        m = mechanism(name)
        box = m.cost_at(theta, coordinate_sensitivity=0.01).rdp(orders).values
        whole = m.cost_at(theta, sensitivity=1.0, coordinate_sensitivity=0.01).rdp(orders).values
        assert np.array_equal(box, whole)  # 5,000 coordinates change by 0.707 at most
        sketch = sum_of_sketches(theta[:900], theta[900:])
        for given in ({}, {"coordinate_sensitivity": 0.02}):
            by_array = m.cost_at(theta, sensitivity=1.0, **given)
            by_sketch = m.cost_at(sketch, sensitivity=1.0, **given)
            values = by_array.rdp(orders).values
            assert by_sketch.rdp(orders).values == pytest.approx(values, rel=1e-9)
            again = pickle.loads(pickle.dumps(by_array))
            assert np.array_equal(again.rdp(orders).values, values)


def test_a_gradient():
    theta, side = np.random.default_rng(6).normal(size=100_000) * 5, 2 / 100_000**0.5
    for name, least, most in [("truncated", 0.255, 0.268)]:
        m = mechanism(name)
        sketch = tn.Sketch.of(theta, -1, 1, sigma=1.0)
        cost = m.cost_at(sketch, sensitivity=1.0, coordinate_sensitivity=side).rdp([8.0]).values[0]
        assert least < cost / 4.0 < most
        assert cost >= alike(m, theta, 1.0, side, 8.0, low=1) * (1 - 1e-12)
        assert (m.cost_at(sketch, sensitivity=1.0) * 3).epsilon(1e-5) <= (
            m.cost(sensitivity=1.0) * 3
        ).epsilon(1e-5)


def test_zero_one_and_far():
    m = tn.RectifiedGaussian(1.0, -1, 1)
    assert m.cost_at([0.1, 0.2], sensitivity=0.0).rdp([2.0]).values == 0
    assert m.cost_at([0.1], sensitivity=0.5).rdp([2.0]).values == pytest.approx(
        m.cost_at([0.1], coordinate_sensitivity=0.5).rdp([2.0]).values
    )
    sides = np.array([0.5, 0.0, 0.5])
    part = m.cost_at([0.1, 7.0, 0.2], sensitivity=0.6, coordinate_sensitivity=sides)
    rest = m.cost_at([0.1, 0.2], sensitivity=0.6, coordinate_sensitivity=0.5)
    assert part.rdp([4.0]).values == pytest.approx(rest.rdp([4.0]).values, rel=1e-12)
    for far in (1e4, 1e90):  # beyond what is counted
        assert m.cost_at(np.full(3000, far), sensitivity=1.0).rdp([4.0]).values < 1e-290
    for tiny in (1e-200, 1e-90, 1e-12):
        for size in (3, 2000):
            cost = m.cost_at(np.zeros(size), sensitivity=tiny).rdp([4.0]).values
            assert 0 < cost <= 2 * tiny**2 * (1 + 1e-9) + 1e-296
    uneven = m.cost_at([0.0] * 3, sensitivity=1.0, coordinate_sensitivity=[0.9, 1e-200, 0.9])
    two = m.cost_at([0.0] * 2, sensitivity=1.0, coordinate_sensitivity=0.9)
    assert uneven.rdp([4.0]).values == pytest.approx(two.rdp([4.0]).values, rel=2e-3)
    with pytest.raises(ValueError, match="finite"):
        m.cost_at([0.0] * 2, sensitivity=1e300)
    huge = m.cost_at(np.zeros(2000), sensitivity=1e9).rdp([4.0]).values
    assert huge == pytest.approx(2e18)


# --- the inequalities of cpp/sketch/BALL.md


@pytest.mark.parametrize("name", NAMES)
def test_slope_of_a_divergence(name):
    rng, ratios = np.random.default_rng(12), []
    for _ in range(40):
        half, order = float(np.exp(rng.uniform(-2, 1.5))), 1 + float(np.exp(rng.uniform(-3, 4)))
        m = mechanism(name, half)
        support = _sketched.support_of(m._law)
        s = np.exp(rng.uniform(-4, 0, 200)) * min(1, 1.5 / order)
        t, h = rng.uniform(-half - 3, half + 3, 200), 1e-4
        ends = [m._law.call("renyi", t.shape, s, np.array(order), t + e) for e in (-h, h)]
        slope = np.abs(ends[1] - ends[0]) / (2 * h)
        ratios.append(float(np.max(slope / _ball._slope(support, order, s))))
    assert 0.15 < max(ratios) <= 1


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("away", [False, True])
def test_convex_in_the_change(name, away):
    rng = np.random.default_rng(13)
    for _ in range(60):
        half, order = float(np.exp(rng.uniform(-2, 1.5))), 1 + float(np.exp(rng.uniform(-3, 4)))
        law = mechanism(name, half)._law
        t, s = rng.uniform(-half - 3, half + 3, 50), np.linspace(0, rng.uniform(0.1, 4), 9)
        found = _ball._divergences(law, t, s, order, away)
        found += _ball._curved(law, order, away, np.ones(1)) * s**2
        middle = 0.5 * (found[:, :-2] + found[:, 2:])
        assert (found[:, 1:-1] <= middle * (1 + 1e-9) + 1e-13).all()


@pytest.mark.parametrize("away", [False, True])
def test_between_places_of_bounded_laplace_noise(away):
    """Each of the two bounds holds by itself, and in all no more than a few parts are lost."""
    rng, losses = np.random.default_rng(15), []
    for _ in range(75):
        half, order = float(np.exp(rng.uniform(-3, 2))), 1 + float(np.exp(rng.uniform(-3, 5)))
        law, support = mechanism("laplace", half)._law, LaplaceSupport(1.0, 0.0, half, 0.0)
        places = np.sort(rng.uniform(-half, half, 12))
        places[[0, -1]] = [-half, half] if rng.random() < 0.5 else places[[0, -1]]
        places[1::2] = places[::2] + (places[1::2] - places[::2]) * rng.choice([1, 0.1, 0.01])
        places = places[:, np.newaxis]
        s = np.exp(rng.uniform(-7, 1, (1, 20))) * min(1.0, 2 * half)
        values = _ball._divergences(law, places, s, order, away)
        known = support.between(places[:, 0], values, s, order, away)
        cell = _laplace_ball._Cell(half, places[:-1], places[1:], s)
        small = cell.small(order)
        for share in np.append(rng.random(4), [0.0, 0.5, 1.0]):
            t = places[:-1] + share * (places[1:] - places[:-1])
            found = _ball._divergences(law, t, s, order, away) / (1 + _ball._RELATIVE)
            bend = np.maximum(*(cell.bend(order, away, up=up) for up in (False, True)))
            convex = (
                np.maximum(values[:-1], values[1:]) + bend * (places[1:] - places[:-1]) ** 2 / 8
            )
            for bound in (small, convex, known):
                assert (found <= bound * (1 + 1e-9)).all()
            losses.append((known / np.maximum(found, 1e-300))[::2].ravel())
    assert np.median(np.concatenate(losses)) < 1.5


@pytest.mark.parametrize("total", [*by_night(0.05), 1.0])
def test_many_bounded_laplace_numbers_float32_at_the_bounds_and_beyond(total):
    m, rng = tn.BoundedLaplace(0.7, 0.1, 2.3), np.random.default_rng(16)
    theta = rng.normal(1.2, 1.0, 900).astype(np.float32)
    theta[:100] = np.float32(0.1)  # above the bound in double precision
    theta[100:200] = 2.3
    cost = m.cost_at(theta, sensitivity=total)
    for order in (1.5, 300.0):
        found, value = alike(m, theta, total, total, order, low=40), cost.rdp([order]).values[0]
        assert found * (1 - 1e-12) <= value <= 1.25 * found
    assert "%" in cost.explain(1e-5)


@pytest.mark.parametrize("half", [0.4, *by_night(3.0), 200.0])
@pytest.mark.parametrize("total", [*by_night(0.1), 1.0])
def test_sketches_of_bounded_laplace_numbers(half, total):
    """Without arrays, with places beyond the bounds and, of the widest, beyond what is counted."""
    m, theta = tn.BoundedLaplace(1.0, -half, half), np.random.default_rng(17).normal(size=3000)
    theta[:50] = 0.999 * half
    sketch = tn.Sketch.from_buffers(*tn.Sketch.of(theta, -half, half, sigma=1.0).buffers())
    cost = m.cost_at(sketch, sensitivity=total)
    for order in (1.5, 60.0):
        found, value = alike(m, theta, total, total, order, low=40), cost.rdp([order]).values[0]
        by_array = m.cost_at(theta, sensitivity=total).rdp([order]).values[0]
        assert found * (1 - 1e-12) <= by_array <= 1.2 * found
        assert 0.95 * by_array <= value < 6 * by_array
    assert m.cost_at(sketch, coordinate_sensitivity=0.1).rdp([2.0]).values == np.inf


@pytest.mark.parametrize("name", [*NAMES[:3], *by_night("quantized"), "three levels"])
@pytest.mark.parametrize("order", [*by_night(1.2, 4.0), 112.0])
def test_a_table_is_above_every_place_change_and_price(name, order):
    rng, n = np.random.default_rng(14), 20_000
    for half, sigma, side in [(1.0, 0.7, 0.5), (3.0, 1.0, 0.01)]:
        m = mechanism(name, half, sigma)
        support, edges = _sketched.support_of(m._law), sigma * count_edges()
        tables, _ = _ball._tables(support, sigma, 0.01 * side, side, order)
        place = (rng.integers(0, edges.size - 1, n) * rng.random(n) ** 2).astype(int)
        t = edges[place] + rng.random(n) * (edges[place + 1] - edges[place])
        s = side * np.exp(-np.maximum(0, rng.uniform(-2, 6, n))) * rng.choice([-1, 1], n)
        for (prices, excesses), pair in zip(tables, [(t, t + s), (t + s, t)], strict=True):
            which = rng.integers(0, prices.size, n)
            paid = prices[which] * s * s
            divergence = m.renyi_divergence(*pair, order)
            most = excesses[which, place].astype(np.float64)
            assert (divergence - paid <= most + 1e-12 * (divergence + paid)).all()
            useful = divergence - paid > 1e-6 * most.max()
            assert ((divergence - paid)[useful] / most[useful]).max() > 0.85


@pytest.mark.parametrize("kind", ["array", *by_night("sketch")])
@pytest.mark.parametrize("m", [tn.RectifiedGaussian(1.0, -1.0, 1.0), tn.StochasticSign(1.0)])
def test_explain_says_what_the_worst_neighbour_costs(m, kind):
    """Coordinates alike, at a place that a sketch counts by its edge: m of them change equally."""
    theta, order = np.full(300, 0.5), 4.0
    known = tn.Sketch.of(theta, -1.0, 1.0, sigma=1.0) if kind == "sketch" else theta
    cost = m.cost_at(known, sensitivity=1.0)
    changed = np.arange(1, 301)
    worst = max(
        float((changed * m.renyi_divergence(*pair, order)).max())
        for sign in (-1, 1)
        for there in [0.5 + sign / np.sqrt(changed)]
        for pair in [(np.full(300, 0.5), there), (there, np.full(300, 0.5))]
    )
    ((function, _),) = cost.rdp().terms
    bound, least = float(cost.rdp([order]).values[0]), function.least(order)
    assert 0.9 * worst <= least <= worst * (1 + 1e-9)
    assert worst <= bound
    said = float(cost.explain(1e-5).split("at most ")[1].split(" %")[0])
    assert 0 < said < 20
    assert "at most" not in m.cost_at(known, coordinate_sensitivity=0.1).explain(1e-5)
    assert (cost * 0).explain(1e-5).startswith("epsilon 0 ")
