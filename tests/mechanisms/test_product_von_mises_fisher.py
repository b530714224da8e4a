"""Independent directions of blocks: laws, sums of costs, and the cost of a sampled product."""

import math
import pickle
from functools import partial

import numpy as np
import pytest
from mpmath import mp, mpf
from reference import vmf_divergence

import tightnoise as tn


def products(rng, n):
    for _ in range(n):
        blocks = int(rng.integers(1, 4))
        dims = (2 + 10 ** rng.uniform(0, 3, blocks)).astype(int).tolist()
        kappas = (np.array(dims) * 10 ** rng.uniform(-3, 2, blocks)).tolist()
        angles = np.where(rng.random(blocks) < 0.3, math.pi, rng.uniform(1e-3, 3, blocks)).tolist()
        yield tn.ProductVonMisesFisher(kappas, dims), angles


# --- what it is -----------------------------------------------------------------------------------


def test_fields():
    m = tn.ProductVonMisesFisher([1, 2.5], np.array([3, 4]))
    assert m.kappas == (1.0, 2.5)
    assert m.dims == (3, 4)
    assert m.dim == 7
    assert m.layers == (tn.VonMisesFisher(1.0, 3), tn.VonMisesFisher(2.5, 4))
    assert repr(m) == "ProductVonMisesFisher(kappas=(1.0, 2.5), dims=(3, 4))"
    assert m == pickle.loads(pickle.dumps(m)) == tn.ProductVonMisesFisher((1.0, 2.5), (3, 4))
    assert hash(m) == hash(tn.ProductVonMisesFisher((1.0, 2.5), (3, 4)))
    assert m != tn.ProductVonMisesFisher((1.0, 2.0), (3, 4))
    assert tn.ProductVonMisesFisher(2, [3, 4]).kappas == (2.0, 2.0)
    with pytest.raises(AttributeError):
        m.kappas = (1.0, 1.0)


@pytest.mark.parametrize(
    ("kappas", "dims", "error", "says"),
    [
        ([1.0], [3, 4], ValueError, "one length; got 1 kappas and 2 dims"),
        ([], [], ValueError, "dims must be not empty"),
        (1.0, 3, TypeError, "dims must be a sequence of numbers; got 3"),
        ("12", [3, 4], TypeError, "kappa must be a real number; got '12'"),
        ([1.0, -1.0], [3, 4], ValueError, "kappa must be at least 0; got -1.0"),
        ([1.0, math.nan], [3, 4], ValueError, "kappa must be finite; got nan"),
        (1.0, [3, 1], ValueError, "dim must be between 2 and"),
        (1.0, [3, 2.5], TypeError, "dim must be an integer; got 2.5"),
    ],
)
def test_refuses_parameters(kappas, dims, error, says):
    with pytest.raises(error, match=says):
        tn.ProductVonMisesFisher(kappas, dims)


# --- samples --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [(), (5,), (2, 3)])
def test_blocks_are_those_of_each_layer_with_noise_of_its_own(rng, dtype, rows):
    m = tn.ProductVonMisesFisher([3.0, 400.0, 3.0], [3, 200, 3])
    x = rng.standard_normal((*rows, m.dim)).astype(dtype)
    x[..., 203:] = x[..., :3]  # the first and last block differ by their noise only
    before = x.copy()
    y = m.sample(x, rng=tn.random.NoiseStream(seed=5))
    assert y.shape == x.shape
    assert y.dtype == dtype
    np.testing.assert_array_equal(x, before)

    parts = [x[..., :3], x[..., 3:203], x[..., 203:]]
    stream = tn.random.NoiseStream(seed=5)
    each = [layer.sample(part, rng=stream) for layer, part in zip(m.layers, parts, strict=True)]
    np.testing.assert_array_equal(y, np.concatenate(each, axis=-1))
    assert not np.isclose(y[..., :3], y[..., 203:]).all(axis=-1).any()

    as_list = m.sample(parts, rng=tn.random.NoiseStream(seed=5))
    assert isinstance(as_list, list)
    np.testing.assert_array_equal(y, np.concatenate(as_list, axis=-1))


def test_sample_writes_to_out_and_in_place(rng):
    m = tn.ProductVonMisesFisher([3.0, 4.0], [3, 2])
    for shape in [(5,), (4, 5)]:
        x = rng.standard_normal(shape)
        expected = m.sample(x, rng=tn.random.NoiseStream(seed=5))
        out = np.empty(shape)
        assert m.sample(x, rng=tn.random.NoiseStream(seed=5), out=out) is out
        np.testing.assert_array_equal(out, expected)
        assert m.sample(x, rng=tn.random.NoiseStream(seed=5), out=x) is x
        np.testing.assert_array_equal(x, expected)
    outs = [np.empty(3), np.empty(2)]
    found = m.sample([np.ones(3), np.ones(2)], out=outs)
    assert found[0] is outs[0]
    assert found[1] is outs[1]


@pytest.mark.parametrize(
    ("x", "out", "error", "says"),
    [
        (np.zeros(6), None, ValueError, r"mean_directions must be of shape \(..., 5\), or a list"),
        (1.0, None, ValueError, r"mean_directions must be of shape"),
        ([np.zeros(5)], None, ValueError, "a list of 2 blocks; got '1 items'"),
        ([np.zeros(3), np.zeros(3)], None, ValueError, r"mean_directions\[1\] must be of shape"),
        ([np.zeros(3), 0.0], None, ValueError, r"mean_directions\[1\] must be of shape"),
        ([np.zeros(3), [1, math.nan]], None, ValueError, r"mean_directions\[1\] must be finite"),
        (np.full(5, math.inf), None, ValueError, "mean_directions must be finite"),
        (np.zeros(5, complex), None, TypeError, "mean_directions must hold"),
        (np.zeros(5), np.zeros(4), ValueError, r"out must have shape \(5,\)"),
        ([np.zeros(3), np.zeros(2)], np.zeros(5), TypeError, "out must be a list"),
        ([np.zeros(3), np.zeros(2)], [np.zeros(3)], ValueError, "out must be a list of 2 blocks"),
    ],
)
def test_sample_refuses(x, out, error, says):
    with pytest.raises(error, match=says):
        tn.ProductVonMisesFisher(1.0, [3, 2]).sample(x, out=out)


def test_sample_refuses_an_overlap_and_another_rng():
    m = tn.ProductVonMisesFisher(1.0, [3, 2])
    buffer = np.ones(6)
    with pytest.raises(ValueError, match="overlap"):
        m.sample(buffer[:5], out=buffer[1:])
    with pytest.raises(TypeError, match="NoiseStream"):
        m.sample(np.ones(5), rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("blocks", "out"),
    [
        (((0, 3), (3, 6)), ((3, 6), (0, 3))),  # the second would be read after it was written
        (((0, 3), (3, 6)), ((6, 9), (2, 5))),
        (((0, 3), (3, 6)), ((6, 9), (8, 11))),
        (((0, 3), (3, 6)), ((6, 9), (6, 9))),
        (((0, 3), (0, 3)), ((0, 3), (6, 9))),
    ],
)
def test_sample_refuses_lists_that_overlap(blocks, out):
    buffer = np.arange(12.0)
    given, places = ([buffer[i:j] for i, j in spans] for spans in (blocks, out))
    with pytest.raises(ValueError, match="out must not overlap"):
        tn.ProductVonMisesFisher(1.0, [3, 3]).sample(given, out=places)
    np.testing.assert_array_equal(buffer, np.arange(12.0))


def test_sample_refuses_an_overlap_with_another_blocks_buffer():
    buffer = np.arange(9.0)
    with pytest.raises(ValueError, match="out must not overlap"):
        tn.ProductVonMisesFisher(1.0, [3, 3]).sample(memoryview(buffer[:6]), out=buffer[3:])


def test_lists_may_be_in_place_and_share_inputs():
    m = tn.ProductVonMisesFisher(5.0, [3, 3])
    buffer = np.arange(6.0)
    blocks = [buffer[:3], buffer[3:]]
    expected = m.sample(blocks, rng=tn.random.NoiseStream(seed=1))
    m.sample(blocks, rng=tn.random.NoiseStream(seed=1), out=blocks)
    np.testing.assert_array_equal(blocks, expected)
    same = m.sample([np.ones(3)] * 2, out=[np.empty(3), np.empty(3)])
    assert not np.array_equal(*same)


def test_a_list_that_is_refused_leaves_out_as_it_was():
    m = tn.ProductVonMisesFisher(1.0, [3, 3])
    out = [np.zeros(3), np.zeros(2)]
    with pytest.raises(ValueError, match="out must have shape"):
        m.sample([np.ones(3), np.ones(3)], out=out)
    assert not out[0].any()
    with pytest.raises(ValueError, match="one shape but for the last axis"):
        m.sample([np.ones(3), np.ones((2, 3))])


def test_density_and_entropy_are_sums(rng):
    m = tn.ProductVonMisesFisher([0.5, 40.0], [2, 30])
    y = m.sample(rng.standard_normal((4, 32)))
    x = rng.standard_normal((4, 32))
    each = m.layers[0].logpdf(y[:, :2], x[:, :2]) + m.layers[1].logpdf(y[:, 2:], x[:, 2:])
    np.testing.assert_allclose(m.logpdf(y, x), each, rtol=1e-14)
    np.testing.assert_allclose(m.logpdf([y[:, :2], y[:, 2:]], [x[:, :2], x[:, 2:]]), each)
    assert np.shape(m.logpdf(y[0], x[0])) == ()
    assert math.isclose(m.entropy(), m.layers[0].entropy() + m.layers[1].entropy())


# --- costs ----------------------------------------------------------------------------------------


def test_divergence_and_cost_are_sums(rng, check_error):
    worst = excess = 0.0
    for m, angles in products(rng, 12):
        alpha = float(1 + 10 ** rng.uniform(-3, 3))
        orders = np.array([1.0, alpha, math.inf])
        with mp.workdps(50):
            sines = [mpf(1) if a == math.pi else mp.sin(mpf(a) / 2) for a in angles]
            each = list(zip(m.dims, m.kappas, sines, strict=True))
            exact = [
                mp.fsum(vmf_divergence.renyi(*block, order) for block in each)
                for order in orders[:2]
            ]
            exact += [mp.fsum(2 * k * s for _, k, s in each)]
            nearest = m.renyi_divergence(angle=angles, alpha=orders)
            bound = m.cost(angle=angles).rdp([alpha, math.inf]).values
            worst = max(worst, *(abs(n / e - 1) for n, e in zip(nearest, exact, strict=True)))
            excess = max(excess, *(b / e - 1 for b, e in zip(bound, exact[1:], strict=True)))
            assert all(b >= e for b, e in zip(bound.tolist(), exact[1:], strict=True))
    check_error("ProductVonMisesFisher.renyi_divergence", worst, 2e-15)
    check_error("ProductVonMisesFisher.cost, above the truth", excess, 1e-13)


def test_equal_layers_are_evaluated_once():
    m = tn.ProductVonMisesFisher(1.5, [256] * 3000)
    one = tn.VonMisesFisher(1.5, 256)
    assert m.cost() == one.cost() * 3000
    assert math.isclose(m.renyi_divergence(alpha=3.0), 3000 * one.renyi_divergence(alpha=3.0))
    angles = [1.0] * 1000 + [2.0] * 2000
    assert sorted(count for _, count in m.cost(angle=angles).terms) == [1000, 2000]


def test_gdp_and_zcdp_round_up(rng):
    for m, angles in products(rng, 100):
        leaves = [leaf for leaf, count in m.cost(angle=angles).terms for _ in range(count)]
        assert len(leaves) == len(m.layers)
        with mp.workdps(40):
            mu = mp.sqrt(mp.fsum(mpf(leaf.gdp_mu) ** 2 for leaf in leaves))
            rho = mp.fsum(mpf(leaf.zcdp_rho) for leaf in leaves)
            total = m.cost(angle=angles)
            assert mu <= total.gdp_mu <= mu * (1 + mpf("1e-14"))
            assert rho <= total.zcdp_rho <= rho * (1 + mpf("1e-14"))


def test_split_does_not_matter_at_equal_cosines():
    """Finding E9: tau_2 of R blocks with the mean cosine of kappa = 75 in 13,700 dimensions."""
    target = tn.VonMisesFisher(75.0, 13700).mean_resultant_length()
    for blocks in (1, 2, 4, 10, 25, 50, 100):
        dim = 13700 // blocks
        low, high = 0.5 * target * dim, 2.0 * target * dim
        for _ in range(60):
            kappa = 0.5 * (low + high)
            below = tn.VonMisesFisher(kappa, dim).mean_resultant_length() < target
            low, high = (kappa, high) if below else (low, kappa)
        m = tn.ProductVonMisesFisher(low, [dim] * blocks)
        assert round(m.renyi_divergence(alpha=2.0), 4) == 1.6421


@pytest.mark.parametrize("angle", [[1.0], [1.0, 2.0, 3.0], -0.1, 3.2, math.nan, [[1.0, 2.0]]])
def test_refuses_angles(angle):
    m = tn.ProductVonMisesFisher(1.0, [3, 4])
    for cost in (m.cost, partial(m.renyi_divergence, alpha=2)):
        with pytest.raises(ValueError, match="angle"):
            cost(angle=angle)
