"""Costs through a sketch against the exact pass: never below it, at most 1e-9 above."""

from __future__ import annotations

import pickle

import mpmath as mp
import numpy as np
import pytest
from instance_costs import bounded, exact_rdp, rdp_at
from reference.bounded_gaussian import Case, renyi

import tightnoise as tn
from tightnoise import sketch as sketch_module
from tightnoise.mechanisms import _analytic_bound, _sketched
from tightnoise.mechanisms._coordinate_law import CoordinateLaw
from tightnoise.mechanisms.base import CoordinateMechanism

KINDS = ("rectified", "truncated", "sign", "quantized")


def make(
    kind: str, sigma: float, centre: float, half_width: float, levels: int = 3
) -> CoordinateMechanism:
    return bounded(kind, sigma, centre - half_width, centre + half_width, levels)


def draw_data(rng: np.random.Generator, half_width: float, sigma: float, n: int) -> np.ndarray:
    kind = rng.integers(4)
    if kind == 0:
        return rng.uniform(-half_width, half_width, n)
    if kind == 1:
        return rng.normal(0.0, half_width * 10.0 ** rng.uniform(-4, -1), n)
    if kind == 2:
        return rng.normal(0.0, half_width + 3.0 * sigma, n)
    return rng.uniform(0.9, 1.0, n) * half_width * rng.choice([-1, 1], n)


@pytest.mark.parametrize("kind", KINDS)
def test_rdp_of_a_sketch_is_sound_and_close(rng, check_error, kind):
    answered = total = 0
    for _ in range(12):
        sigma = 10.0 ** rng.uniform(-3, 3)
        half_width = sigma * 10.0 ** rng.uniform(-1, 1.3)
        # Where the centre is not 0 everything is moved by it, and rounded.
        centre = 0.0 if kind == "sign" else half_width * rng.choice([0.0, 0.25, 3.0])
        c = sigma * 10.0 ** rng.uniform(-6, 0)
        orders = np.sort(1.0 + 10.0 ** rng.uniform(-3, 4, 3))
        theta = centre + draw_data(rng, half_width, sigma, 300)
        levels = int(rng.choice([2, 3, 4, 9, 40])) if kind == "quantized" else 2
        mechanism = make(kind, sigma, centre, half_width, levels)
        sketch = tn.Sketch.of(theta, centre - half_width, centre + half_width, sigma=sigma)

        wanted = exact_rdp(mechanism, theta, orders, c)
        values = rdp_at(mechanism, sketch, orders, c)
        ratio = (values - 1e-290) / np.maximum(wanted, 1e-290)
        assert np.all(ratio >= 1.0 - 1e-12), (sigma, half_width, c, orders)
        check_error(f"{kind}: rdp through a sketch, above the exact pass", ratio.max() - 1.0, 1e-9)

        support = _sketched.support_of(mechanism._law)
        if support is not None:
            upper = _sketched._rdp_upper(support, sketch, orders, c)
            used = np.isfinite(upper).all(axis=0)
            ratio = (np.maximum(*upper) / np.maximum(wanted, 1e-290))[used & (wanted > 1e-280)]
            assert np.all(ratio >= 1.0 - 1e-12), (sigma, half_width, c, orders)
            if ratio.size:
                check_error(f"{kind}: sketch alone, above the exact pass", ratio.max() - 1, 1e-9)
            answered += int(used.sum())
            total += orders.size
    assert answered > total / 2  # the exact pass is the exception


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [0.9, 5.0])
def test_small_and_large_shifts(rng, kind, spread):
    theta = rng.uniform(-spread, spread, 300)
    mechanism = make(kind, 1.0, 0.0, 1.0)
    sketch = tn.Sketch.of(theta, -1.0, 1.0, sigma=1.0)
    support = _sketched.support_of(mechanism._law)
    for c in (1e-9, 1e-6, 1e-3, 0.1):
        orders = np.array([1.001, 2.0, 8.0])
        upper = _sketched._rdp_upper(support, sketch, orders, c)
        wanted = np.array(mechanism._law.rdp_sums(theta, orders, np.array(c)))
        assert np.all(np.isfinite(upper[:, 1:]))
        finite = np.isfinite(upper)
        assert np.all(upper[finite] >= wanted[finite] * (1 - 1e-12))
        assert np.all(upper[finite] <= wanted[finite] * (1 + 1e-9))


def alone(theta, lower: float, upper: float, sigma: float = 1.0) -> tn.Sketch:
    """Return a sketch that has no arrays to fall back on."""
    return pickle.loads(pickle.dumps(tn.Sketch.of(theta, lower, upper, sigma=sigma)))


# Orders near 1 and the largest; those at which the worse sign changes with the place; and those at
# which outcomes of equal weight put zeros of the sum near the real axis.
ALL_ORDERS = np.array(
    [1 + 1e-6, 1.01, 1.1, 1.15, 1.18, 1.2, 1.201, 1.25, 1.4, 1.5, 1.6, 1.8, 2, 8, 32, 1e3, 1e5]
)


@pytest.mark.parametrize("kind", ["rectified", "truncated", "sign"])
@pytest.mark.parametrize("half_width", [0.05, 1.0, 6.0])
def test_every_order_and_shift_without_the_arrays(rng, check_error, kind, half_width):
    """A fallback would be an error."""
    mechanism = make(kind, 1.0, 0.0, half_width)
    n = 400
    crowds = {
        "clipped": np.clip(rng.normal(0.0, half_width, n), -half_width, half_width),
        "narrow": rng.normal(0.0, 0.01 * half_width, n),
        "wide": rng.normal(0.0, half_width + 3.0, n),
        "one value": np.full(n, 0.7 * half_width),
        "float32 with outliers": np.where(
            rng.random(n) < 0.01, 12.0, rng.uniform(-half_width, half_width, n)
        ).astype(np.float32),
    }
    for name, theta in crowds.items():
        sketch = alone(theta, -half_width, half_width)
        for c in (1e-6, 1e-2, 1.0):
            wanted = exact_rdp(mechanism, theta, ALL_ORDERS, c)
            ratio = rdp_at(mechanism, sketch, ALL_ORDERS, c) / wanted
            assert np.all(ratio >= 1.0 - 1e-12), (name, c)
            check_error(f"{kind}: sketch without arrays, any order", ratio.max() - 1.0, 1e-9)


@pytest.mark.parametrize(
    ("kind", "order"), [("rectified", 1.18), ("rectified", 1.5), ("sign", 1.5)]
)
def test_elements_that_crowd_where_the_worse_sign_changes(rng, check_error, kind, order):
    mechanism = make(kind, 1.0, 0.0, 1.0)
    functions = getattr(tn._core, kind)
    for c in (1e-6, 1e-3, 1.0):
        t = np.linspace(0.05, 6.0, 4000)
        up, down = np.empty((2, t.size))
        for step, out in ((c, up), (-c, down)):
            place = np.full(t.size, order), t, np.ones(1), -np.ones(1), np.ones(1)
            functions.renyi(np.array([step]), *place, 2, out)
        kink = t[np.flatnonzero(np.diff(np.sign(up - down)))[0]]
        for spread in (0.0, 1e-7, 1e-4, 0.05):
            theta = kink + spread * rng.normal(size=4000)
            ratio = rdp_at(mechanism, alone(theta, -1.0, 1.0), [order], c) / exact_rdp(
                mechanism, theta, np.array([order]), c
            )
            assert ratio[0] >= 1.0 - 1e-12
            check_error(f"{kind}: elements at the kink", ratio[0] - 1.0, 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_proofs_end_when_they_are_good_enough(rng, check_error, monkeypatch, kind):
    """Answers as with the smallest interpolation errors that can be proven."""
    mechanism = make(kind, 1.0, 0.0, 1.0, 4)
    inside = rng.normal(0.0, 2.5, 3000)
    orders = np.array([1.01, 1.3, 2.0, 14.0, 950.0])
    for theta in (inside.clip(-1.0, 1.0), inside, np.append(inside, rng.uniform(-900, 900, 9))):
        sketch = alone(theta, -1.0, 1.0)
        for c in (1e-6, 1e-2, 0.86):
            found = {}
            for share in (sketch_module._INTERPOLATION_SHARE, 0.0):
                monkeypatch.setattr(sketch_module, "_INTERPOLATION_SHARE", share)
                found[share] = rdp_at(mechanism, sketch, orders, c)
            monkeypatch.undo()
            soon, late = found.values()
            assert np.all(np.abs(soon / late - 1.0) <= 8e-10)
            ratio = np.array(list(found.values())) / exact_rdp(mechanism, theta, orders, c)
            assert np.all(ratio >= 1.0 - 1e-12), c
            check_error(f"{kind}: proofs that are good enough", ratio.max() - 1.0, 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_all_panels_are_proven_at_once(rng, monkeypatch, kind):
    """Two signs, two directions, within the bounds and beyond: eight calls for some 40 panels."""
    theta = np.concatenate(
        [rng.normal(0.0, 2.5, 8000), np.zeros(2048), rng.uniform(-900, 900, 200)]
    )
    mechanism = make(kind, 1.0, 0.0, 1.0, 4)
    calls = []
    bounds = _analytic_bound.renyi_analytic_bound

    def counted(*arguments, **options):
        calls.append(arguments)
        return bounds(*arguments, **options)

    monkeypatch.setattr(_sketched, "renyi_analytic_bound", counted)
    for given in (tn.Sketch.of(theta, -1.0, 1.0, sigma=1.0), alone(theta, -1.0, 1.0)):
        calls.clear()
        support = _sketched.support_of(mechanism._law)
        _sketched._rdp_upper(support, given, np.array([2.0, 14.0]), float(rng.uniform(0.01, 0.02)))
        assert 4 <= len([call for call in calls if np.size(call[5])]) <= 20


def test_elements_far_apart_are_taken_one_by_one(rng, check_error):
    """Also where some are equal, in threes close together, or at the very ends of panels."""
    edges = 1.25 * np.arange(1, 12)
    crowd = np.concatenate(
        [
            rng.normal(0.0, 0.5, 20_000),
            rng.uniform(-700, 700, 60),
            edges,
            np.nextafter(edges, 0.0),
            np.full(5, 33.3),
            77.0 + 1e-13 * np.arange(3),
        ]
    )
    for centre, sigma in ((0.0, 1.0), (0.7, 0.3)):
        theta = centre + sigma * crowd
        sketch = alone(theta, centre - sigma, centre + sigma, sigma)
        zones = sketch._zones(loosened=True)
        panels = sum(part.moments[:, :, 0].sum() for part in zones.parts)
        assert panels + zones.loose.size == theta.size
        assert zones.loose.size > 50
        assert zones.cells.elements.sum() == panels
        distances = np.abs(theta - centre)
        far = np.sort(distances[distances > 20.0 * sigma])
        loose = np.sort(zones.loose)
        np.testing.assert_allclose(loose[loose > 20.0 * sigma], far, rtol=1e-14)
        for kind in KINDS if centre == 0.0 else ("rectified", "truncated", "quantized"):
            mechanism = make(kind, sigma, centre, sigma, 4)
            for c in (1e-4 * sigma, 0.4 * sigma):
                orders = np.array([1.01, 2.0, 300.0])
                ratio = rdp_at(mechanism, sketch, orders, c) / exact_rdp(
                    mechanism, theta, orders, c
                )
                assert np.all(ratio >= 1.0 - 1e-12), (kind, c)
                check_error(f"{kind}: elements far apart", ratio.max() - 1.0, 1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("half_width", [0.1, 1.0, 6.0])
def test_divergences_are_as_convex_as_is_said(check_error, kind, half_width):
    support = _sketched.support_of(make(kind, 1.0, 0.0, half_width)._law)
    orders = np.array([1.5, 8.0, 1e3, 1e5, np.inf])
    t, h = np.linspace(0.0, half_width + 8.0, 1500), 1e-2
    for c in (0.01, 0.3, 2.0):
        bend = _sketched.bend_of(support, orders, c)
        for away in (False, True):
            for start, step in _sketched.moves(c, away):
                left, middle, right = (
                    _sketched.renyi_at(support, tuple(orders), t + start + d, step)
                    for d in (-h, 0.0, h)
                )
                convex = (left + right - 2.0 * middle) / h**2 + 2.0 * bend[:, None]
                rounding = 1e-11 * middle / h**2
                assert np.all(convex >= -rounding), (c, away)


@pytest.mark.parametrize("kind", KINDS)
def test_fil_of_a_sketch(rng, check_error, kind):
    for half_width, spread in ((0.5, 0.5), (1.0, 1.0), (2.0, 2.0), (4.0, 10.0), (20.0, 20.0)):
        theta = rng.uniform(-spread, spread, 500)
        mechanism = make(kind, 1.0, 0.0, half_width)
        sketch = tn.Sketch.of(theta, -half_width, half_width, sigma=1.0)
        for arguments in ({"sensitivity": 0.3}, {}):
            ratio = mechanism.fil(sketch, **arguments) / mechanism.fil(theta, **arguments)
            assert ratio >= 1.0 - 2e-12
            check_error(f"{kind}: fil through a sketch", ratio - 1.0, 1e-9)
        jacobian = rng.normal(size=(500, 2))
        assert mechanism.fil(sketch, jacobian) == mechanism.fil(theta, jacobian)


def letters_data(rng: np.random.Generator, half_width: float) -> list[np.ndarray]:
    """Return inside, all at the centre, all elsewhere, clipped to the bounds, and with outliers."""
    inside = rng.normal(0.0, half_width / 3, 120)
    return [
        inside,
        np.zeros(120),
        np.full(120, 0.37 * half_width),
        np.clip(9.0 * inside, -half_width, half_width),
        np.concatenate([inside, rng.normal(0.0, 12.0, 5)]),
    ]


@pytest.mark.parametrize(
    ("levels", "half_width"),
    [(2, 0.3), (2, 5.0), (3, 1.0), (3, 20.0), (4, 0.3), (4, 1.0), (4, 5.0), (16, 2.3), (300, 1.0)],
)
def test_letters_need_no_arrays(rng, check_error, levels, half_width):
    """All orders above 1 and sensitivities from 1e-6 to 1 sigma, by sketches without sources."""
    orders = np.array([1.001, 1.3, 2.0, 64.0, 1e6])
    mechanism = make("quantized", 1.0, 0.0, half_width, levels)
    reach = min(half_width, 2.4)
    for theta in letters_data(rng, half_width):
        sketch = alone(theta, -reach, reach)
        for c in (1e-6, 1e-3, 0.1, 1.0):
            wanted = exact_rdp(mechanism, theta, orders, c)
            ratio = rdp_at(mechanism, sketch, orders, c) / wanted
            assert np.all(ratio >= 1.0 - 1e-12), (theta[0], c, ratio)
            check_error("quantized: a sketch alone, all data", ratio.max() - 1.0, 1e-9)


@pytest.mark.parametrize(
    ("levels", "half_width", "alpha", "c"),
    [(4, 1.0, 1.25, 0.01), (3, 2.0, 2.0, 0.3), (8, 0.5, 32.0, 1e-4), (5, 4.0, 1e3, 1.0)],
)
def test_letters_against_thirty_digits(check_error, levels, half_width, alpha, c):
    """The same sum by 30 digits: never below it, at most 1e-9 above."""
    theta = np.array([0.0, 0.125, -0.75, 0.5, 2.5]) * half_width

    def divergence(t: float, away: bool, shift: float) -> mp.mpf:
        place = mp.mpf(t) + mp.mpf(shift) if away else t
        case = Case("quantized", place, 1.0, -half_width, half_width, levels)
        return renyi(case, -shift if away else shift, alpha)

    wanted = max(
        mp.fsum(max(divergence(t, away, c), divergence(t, away, -c)) for t in theta.tolist())
        for away in (False, True)
    )
    mechanism = make("quantized", 1.0, 0.0, half_width, levels)
    reach = min(half_width, 2.4)
    sketch = alone(theta, -reach, reach)
    excess = float(rdp_at(mechanism, sketch, [alpha], c)[0] / wanted - 1)
    assert excess >= 0
    check_error("quantized: a sketch alone, above 30 digits", excess, 1e-9)


def test_large_arrays_are_sketched_on_the_way(rng, monkeypatch):
    theta = rng.uniform(-1, 1, 5000)
    mechanism = tn.TruncatedGaussian(1.0, -1.0, 1.0)
    wanted = exact_rdp(mechanism, theta, np.array([2.0, 8.0]), 0.01)

    def refuse(*_):
        raise AssertionError("the exact pass was taken")

    monkeypatch.setattr(CoordinateLaw, "rdp_sums", refuse)
    values = rdp_at(mechanism, theta.reshape(50, 100), [2.0, 8.0], 0.01)
    np.testing.assert_allclose(values, wanted, rtol=1e-9)
    assert np.all(values >= wanted)
    with pytest.raises(AssertionError, match="exact pass"):
        rdp_at(mechanism, theta[:100], [2.0], 0.01)
    with pytest.raises(AssertionError, match="exact pass"):
        rdp_at(mechanism, theta, [2.0], np.full(5000, 0.01))


@pytest.mark.parametrize("other", [(-1.0, 1.5), (0.0, 1.0)])
def test_a_sketch_for_another_centre_takes_the_exact_pass(rng, other):
    theta = rng.uniform(-1, 1, 300)
    mechanism = tn.TruncatedGaussian(1.0, -1.0, 1.0)
    sketch = tn.Sketch.of(theta, *other)
    wanted = exact_rdp(mechanism, theta, [2.0], 0.1)
    np.testing.assert_allclose(rdp_at(mechanism, sketch, [2.0], 0.1), wanted, rtol=1e-9)
    for alone in (
        pickle.loads(pickle.dumps(sketch)),
        tn.Sketch.from_buffers(*sketch.buffers()),
    ):
        for bound in ({"coordinate_sensitivity": 0.1}, {"sensitivity": 1.0}):
            with pytest.raises(ValueError, match=r"with the centre 0 of the mechanism's"):
                mechanism.cost_at(alone, **bound)


def test_one_sketch_serves_other_mechanisms_scales_and_shards(rng):
    theta = rng.uniform(-1, 1, 600)
    parts = [tn.Sketch.of(part, -1.0, 1.0, sigma=0.5) for part in np.array_split(theta, 3)]
    sketch = pickle.loads(pickle.dumps(parts[0] + parts[1] + parts[2]))
    for mechanism in (
        tn.RectifiedGaussian(0.5, -1.0, 1.0),
        tn.TruncatedGaussian(3.0, -0.8, 0.8),
        tn.TruncatedGaussian(0.7, -2.0, 2.0),
        tn.StochasticSign(1.0),
    ):
        wanted = exact_rdp(mechanism, theta, np.array([2.0, 4.0]), 0.05)
        values = rdp_at(mechanism, sketch, [2.0, 4.0], 0.05)
        assert np.all((values >= wanted) & (values <= wanted * (1 + 1e-9)))


def test_a_large_array_is_read_when_its_cost_is_made(rng):
    theta = rng.normal(size=120_000).astype(np.float32)
    orders, shards = [1.0, 2.0, 8.0, 1e7], np.array_split(theta.copy(), 2)
    for mechanism in (
        tn.TruncatedGaussian(1.0, -1.0, 1.0),
        tn.QuantizedGaussian(1.0, -1.0, 1.0, 4),
    ):
        here = mechanism.cost_at(theta, coordinate_sensitivity=0.01)
        sketch = tn.Sketch.of(shards[0], -1.0, 1.0) + tn.Sketch.of(shards[1], -1.0, 1.0)
        parts = mechanism.cost_at(sketch, coordinate_sensitivity=0.01)
        theta[:] = 0.0
        np.testing.assert_allclose(here.rdp(orders).values, parts.rdp(orders).values, rtol=1e-9)
        theta[:] = np.concatenate(shards)


def test_gaussian_noise_costs_as_much_on_a_sketch_as_on_its_arrays():
    """Once, only the first coordinate was charged, or the first shard."""
    mechanism, halves = tn.Gaussian(1.0), [np.zeros(600), np.ones(400)]
    sketch = tn.Sketch.of(halves[0], -1.0, 1.0) + tn.Sketch.of(halves[1], -1.0, 1.0)
    for c in (0.1, np.linspace(0.0, 0.2, 1000)):
        wanted = rdp_at(mechanism, np.concatenate(halves), [2.0, 3.0], c)
        np.testing.assert_allclose(rdp_at(mechanism, sketch, [2.0, 3.0], c), wanted, rtol=1e-12)
    alone = pickle.loads(pickle.dumps(sketch))  # the count is enough
    assert rdp_at(mechanism, alone, [2.0], 0.1) == rdp_at(mechanism, sketch, [2.0], 0.1)


def test_bad_arguments(rng):
    mechanism = tn.RectifiedGaussian(1.0, -1.0, 1.0)
    sketch = tn.Sketch.of(rng.uniform(-1, 1, 10), -1.0, 1.0)
    empty = tn.Sketch.of(np.empty(0), -1.0, 1.0)
    for cost in (
        lambda s: rdp_at(mechanism, s, [2.0], 0.1),
        lambda s: mechanism.fil(s, coordinate_sensitivity=0.1),
        lambda s: rdp_at(tn.Gaussian(1.0), s, [2.0], 0.1),
    ):
        with pytest.raises(ValueError, match="empty"):
            cost(empty)
    with pytest.raises(ValueError, match="sensitivity"):
        rdp_at(mechanism, sketch, [2.0], -0.1)
    with pytest.raises(ValueError, match="sensitivity"):
        rdp_at(mechanism, sketch, [2.0], np.nan)
    with pytest.raises(ValueError, match="theta must be finite"):
        rdp_at(mechanism, np.full(5000, np.nan), [2.0], 0.1)
    assert rdp_at(mechanism, sketch, [2.0], 0.0)[0] == 0.0
    assert mechanism.fil(sketch, coordinate_sensitivity=0.0) == 0.0


@pytest.mark.parametrize("sigma", [1e3, 1e8, 1e11, 1e12, 1e13, 1e20, 1e300])
def test_a_sketch_for_another_scale_altogether(sigma):
    """Its bins are far longer than the mechanism's sigma: proofs must fail, and not turn over."""
    theta = np.linspace(-2, 2, 5000)
    sketch = tn.Sketch.of(theta, -1, 1, sigma=sigma)
    for m in (tn.RectifiedGaussian(1, -1, 1), tn.TruncatedGaussian(1, -1, 1), tn.StochasticSign(1)):
        exact = rdp_at(m, theta[:, None], [2.0, 3.0], np.full((5000, 1), 0.1))
        cost = rdp_at(m, sketch, [2.0, 3.0], 0.1)
        np.testing.assert_allclose(cost, exact, rtol=1e-9)
        loss = m.fil(theta, coordinate_sensitivity=0.1)
        assert m.fil(sketch, coordinate_sensitivity=0.1) == pytest.approx(loss, rel=1e-9)
        assert rdp_at(m, pickle.loads(pickle.dumps(sketch)), [2.0], 0.1) == np.inf


def test_empty_shards_cost_nothing():
    sketch = tn.Sketch.of([], -1, 1) + tn.Sketch.of([0.5], -1, 1)
    for m in (tn.QuantizedGaussian(1, -1, 1, 3), tn.TruncatedGaussian(1, -1, 1), tn.Gaussian(1)):
        cost = rdp_at(m, sketch, [0.5, 2.0], 0.1)
        np.testing.assert_allclose(cost, rdp_at(m, [0.5], [0.5, 2.0], 0.1))
        assert m.fil(sketch) == pytest.approx(m.fil([0.5]))


def test_numbers_for_each_coordinate_are_for_all_shards_together():
    parts = [np.array([0.0, 0.5]), np.array([-0.5, 0.3])]
    sketch = tn.Sketch.of(parts[0], -1, 1) + tn.Sketch.of(parts[1], -1, 1)
    c, theta = np.array([0.1, 0.9, 0.2, 0.3]), np.concatenate(parts)
    for make in (tn.TruncatedGaussian, tn.RectifiedGaussian):
        for m in (make(1.0, -1, 1), make([1.0, 2.0, 3.0, 4.0], -1, 1)):
            cost = rdp_at(m, sketch, [2.0], c)
            np.testing.assert_allclose(cost, rdp_at(m, theta, [2.0], c))
            loss = m.fil(theta, coordinate_sensitivity=c)
            assert m.fil(sketch, coordinate_sensitivity=c) == pytest.approx(loss, rel=1e-12)
            with pytest.raises(ValueError, match="broadcast"):
                rdp_at(m, sketch, [2.0], [0.1, 0.9])
    for m in (tn.Gaussian(2.0), tn.Gaussian([1.0, 2.0, 3.0, 4.0])):
        for each in (c, 0.1, [0.1]):
            cost = rdp_at(m, sketch, [2.0], each)
            np.testing.assert_allclose(cost, rdp_at(m, theta, [2.0], each))
    m = tn.TruncatedGaussian(1.0, -1, 1)
    one = rdp_at(m, sketch, [2.0], [0.1])
    np.testing.assert_array_equal(one, rdp_at(m, sketch, [2.0], 0.1))


def test_sketches_of_tiny_and_huge_gradients():
    theta = np.linspace(-2, 2, 5000)
    unit = tn.RectifiedGaussian(1, -1, 1)
    for size in (1e-290, 1e290):
        m = tn.RectifiedGaussian(size, -size, size)
        sketch = tn.Sketch.of(theta * size, -size, size)
        cost = rdp_at(m, sketch, [2.0], 0.1 * size)
        np.testing.assert_allclose(cost, rdp_at(unit, theta, [2.0], 0.1), rtol=1e-9)
        loss = m.fil(sketch, coordinate_sensitivity=0.1 * size)
        assert loss == pytest.approx(unit.fil(theta, coordinate_sensitivity=0.1), rel=1e-9)
