"""The lifted direction: the angle that one record can make, the law, and what it costs."""

import math
import pickle

import numpy as np
import pytest
from mpmath import mp, mpf

import tightnoise as tn

TINY, LARGEST = 5e-324, 1.7976931348623157e308


def lifted(kappa=30.0, dim=3, anchor=2.0):
    return tn.LiftedVonMisesFisher(kappa, dim, anchor)


# --- the angle ------------------------------------------------------------------------------------


def exact_angle(anchor, sensitivity):
    return 2 * mp.atan(mpf(sensitivity) / (2 * mpf(anchor)))


def test_max_angle_is_rounded_up_and_close(rng, check_error):
    worst = 0.0
    for _ in range(2000):
        anchor, change = (float(10 ** rng.uniform(-150, 150)) for _ in range(2))
        if rng.random() < 0.5:
            change = anchor * float(10 ** rng.uniform(-3, 3))
        found = mpf(lifted(anchor=anchor).max_angle(change))
        with mp.workdps(60):
            exact = exact_angle(anchor, change)
            assert found >= min(exact, mpf(math.pi))
            if found < math.pi:
                worst = max(worst, float(found / exact - 1))
    check_error("LiftedVonMisesFisher.max_angle", worst, 2e-15)


@pytest.mark.parametrize(
    ("anchor", "change"),
    [(LARGEST, LARGEST), (TINY, LARGEST), (LARGEST, TINY), (TINY, TINY), (1.0, TINY), (0.3, 1e17)],
)
def test_max_angle_at_the_ends_of_float64(anchor, change):
    found = lifted(anchor=anchor).max_angle(change)
    with mp.workdps(700):
        assert min(exact_angle(anchor, change), mpf(math.pi)) <= found <= math.pi


def test_no_angle_without_a_change():
    m = lifted()
    assert m.max_angle(0.0) == 0.0
    assert m.cost(sensitivity=0.0) == tn.Cost()


def test_no_two_values_are_further_apart_than_the_angle(rng):
    """Random pairs at every scale of S and of its change, in exact arithmetic."""
    with mp.workdps(60):
        for _ in range(400):
            dim = int(rng.integers(1, 5))
            anchor = float(10 ** rng.uniform(-3, 3))
            scale, change = anchor * 10 ** rng.uniform(-2, 2, 2)
            step = rng.standard_normal(dim) * change
            value = -step / 2 if rng.random() < 0.3 else rng.standard_normal(dim) * scale
            prime = value + step * rng.choice([1.0, 0.5])
            u, v = (
                mp.matrix([*map(mpf, vector.tolist()), mpf(anchor)]) for vector in (value, prime)
            )
            u, v = u / mp.norm(u), v / mp.norm(v)
            angle = 2 * mp.asin(mp.norm(u - v) / 2)
            moved = mp.norm(mp.matrix(prime.tolist()) - mp.matrix(value.tolist()))
            sensitivity = math.nextafter(float(moved), math.inf)
            assert angle <= lifted(dim=dim, anchor=anchor).max_angle(sensitivity)


def test_the_angle_is_reached():
    m = lifted(dim=2, anchor=0.7)
    ends = m.direction([[-0.15, 0.2], [0.15, -0.2]])
    assert math.isclose(math.acos(ends[0] @ ends[1]), m.max_angle(0.5), rel_tol=1e-12)


# --- what is released -----------------------------------------------------------------------------


def test_sample_is_that_of_the_plain_noise_at_the_centre(rng):
    m = lifted(kappa=70.0, dim=200, anchor=3.0)
    x = rng.standard_normal((4, 200))
    centre = np.concatenate([x, np.full((4, 1), 3.0)], axis=-1)
    plain = tn.VonMisesFisher(70.0, 201)
    found = m.sample(x, rng=tn.random.NoiseStream(seed=1))
    np.testing.assert_array_equal(found, plain.sample(centre, rng=tn.random.NoiseStream(seed=1)))
    np.testing.assert_allclose(m.logpdf(found, x), plain.logpdf(found, centre))
    assert m.mean_resultant_length() == plain.mean_resultant_length()
    assert m.entropy() == plain.entropy()
    unit = centre / np.linalg.norm(centre, axis=-1, keepdims=True)
    np.testing.assert_allclose(m.direction(x), unit, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_shapes_dtypes_and_out(rng, dtype):
    m = lifted()
    for shape in [(3,), (5, 3), (2, 4, 3), (0, 3)]:
        x = rng.standard_normal(shape).astype(dtype)
        before = x.copy()
        out = np.empty((*shape[:-1], 4), dtype)
        assert m.sample(x, out=out) is out
        assert m.sample(x).shape == m.direction(x).shape == out.shape
        assert m.sample(x).dtype == m.direction(x).dtype == dtype
        np.testing.assert_array_equal(x, before)
    assert m.sample([1, 2, 3]).dtype == np.float64
    assert m.sample(np.ones((2, 3), order="F")[::-1]).shape == (2, 4)


def test_anchor_is_not_lost_beside_huge_values_nor_tiny_ones(rng):
    m = lifted(kappa=1e40, dim=2, anchor=1.0)
    for size in (1e200, 1e308, LARGEST):
        x = np.array([size, size])
        expected = [math.sqrt(0.5), math.sqrt(0.5), 1 / size * math.sqrt(0.5)]
        np.testing.assert_allclose(m.direction(x), expected, rtol=1e-14)
        np.testing.assert_allclose(m.sample(x, grid=None), expected, rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(m.sample(x), expected, rtol=0, atol=2.0**-33)
    np.testing.assert_allclose(m.direction([1e-200, 0.0]), [1e-200, 0.0, 1.0])
    np.testing.assert_allclose(m.direction(np.float32([3e38, -3e38]))[:2], [0.5**0.5, -(0.5**0.5)])
    uniform = lifted(kappa=0.0, dim=300, anchor=1e-300).sample(np.full(300, 1e200))
    assert np.abs(uniform).max() < 0.6


def test_anchor_is_rounded_up_to_float32(rng):
    """A smaller anchor would let one record turn the direction further than is accounted for."""
    lower = 0
    for anchor in 10 ** rng.uniform(-30, 30, 200):
        held = lifted(anchor=float(anchor))._lift(np.zeros(3, np.float32))[-1]
        lower += np.float32(anchor) < anchor
        assert held.dtype == np.float32
        assert anchor <= float(held) <= anchor * (1 + 2**-23)
    assert lower > 50  # it is a matter of rounding


@pytest.mark.parametrize("anchor", [1e-38, 3.5e38, 1e-300, 1e300])
def test_refuses_an_anchor_beyond_float32(anchor):
    m = lifted(anchor=anchor)
    assert m.sample(np.ones(3)).shape == (4,)
    for use in (m.sample, m.direction, lambda x: m.logpdf(np.eye(4)[0], x)):
        with pytest.raises(ValueError, match=r"anchor must be from 1\.17.*e-38 to .* for float32"):
            use(np.ones(3, np.float32))


def test_refuses_an_out_that_overlaps():
    buffer = np.ones(4)
    with pytest.raises(ValueError, match="out must not overlap value"):
        lifted().sample(buffer[:3], out=buffer)
    assert (buffer == 1).all()


@pytest.mark.parametrize(
    ("value", "error", "says"),
    [
        (np.zeros(4), ValueError, r"value must be of shape \(\.\.\., 3\); got \(4,\)"),
        (0.0, ValueError, "value must be of shape"),
        ([1.0, math.nan, 0.0], ValueError, r"value must be finite; got nan at index \(1,\)"),
        ([1.0, math.inf, 0.0], ValueError, "value must be finite"),
        (np.zeros(3, complex), TypeError, "value must hold"),
        (np.ma.zeros(3), TypeError, "value must not be a masked array"),
    ],
)
def test_refuses_values(value, error, says):
    m = lifted()
    for use in (m.sample, m.direction, lambda x: m.logpdf(np.eye(4)[0], x)):
        with pytest.raises(error, match=says):
            use(value)
    with pytest.raises(TypeError, match="rng must be a NoiseStream"):
        m.sample(np.zeros(3), rng=7)


@pytest.mark.parametrize(
    ("fields", "error", "says"),
    [
        ((-1.0, 3, 1.0), ValueError, "kappa must be at least 0"),
        ((math.inf, 3, 1.0), ValueError, "kappa must be finite"),
        ((1.0, 0, 1.0), ValueError, "dim must be between 1 and"),
        ((1.0, 2**53, 1.0), ValueError, "dim must be between 1 and"),
        ((1.0, 3.5, 1.0), TypeError, "dim must be an integer"),
        ((1.0, 3, 0.0), ValueError, "anchor must be greater than 0"),
        ((1.0, 3, math.nan), ValueError, "anchor must be finite"),
        ((1.0, 3, [1.0]), TypeError, "anchor must be a real number"),
    ],
)
def test_refuses_parameters(fields, error, says):
    with pytest.raises(error, match=says):
        tn.LiftedVonMisesFisher(*fields)


def test_fields():
    m = tn.LiftedVonMisesFisher(kappa=30, dim=np.int64(3), anchor=2)
    assert repr(m) == "LiftedVonMisesFisher(kappa=30.0, dim=3, anchor=2.0)"
    assert m == lifted() == pickle.loads(pickle.dumps(m))
    assert hash(m) == hash(lifted())
    assert m != lifted(anchor=2.5)
    assert m != lifted(dim=4)
    with pytest.raises(AttributeError):
        m.anchor = 3.0
    assert lifted(dim=1).sample([0.5]).shape == (2,)


# --- what it costs --------------------------------------------------------------------------------


def test_costs_are_those_of_the_plain_noise_at_the_angle():
    m = lifted(kappa=300.0, dim=13700, anchor=8.0)
    plain, angle = tn.VonMisesFisher(300.0, 13701), m.max_angle(1.0)
    s = 1 / math.hypot(16, 1)
    cost = m.cost(sensitivity=1.0)
    assert cost == plain.cost(angle=angle)
    assert math.isclose(cost.epsilon(0.0), 2 * 300 * s, rel_tol=1e-14)
    assert math.isclose(cost.gdp_mu, 2 * 300 * s / math.sqrt(13698), rel_tol=1e-14)
    # Exact is less than what any curve proves, and than Gaussian noise.
    assert cost.epsilon(1e-6) < cost.epsilon(1e-6, by="rdp")
    assert cost.epsilon(1e-6) < tn.Cost.of_gdp(cost.gdp_mu).epsilon(1e-6)


@pytest.mark.parametrize("sensitivity", [-1.0, math.nan, math.inf, "1", [1.0]])
def test_costs_refuse_sensitivities(sensitivity):
    m = lifted()
    for cost in (m.max_angle, lambda b: m.cost(sensitivity=b)):
        with pytest.raises((ValueError, TypeError), match="sensitivity"):
            cost(sensitivity)
