"""Sketch: moments against longdouble, sums of plain functions within the returned bound."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from by_night import by_night
from simd_levels import LEVELS, printed_at
from thread_counts import with_threads

from tightnoise import _core
from tightnoise._sketch_panels import count_edges
from tightnoise.sketch import Sketch

FUNCTIONS = {
    "1": lambda t: np.ones_like(t),
    "t": lambda t: t,
    "exp(-t)": lambda t: np.exp(-t),
    "exp(-t^2/2)": lambda t: np.exp(-0.5 * t * t),
    "1/(1+t)^2": lambda t: 1.0 / (1.0 + t) ** 2,
    "1+cos": lambda t: 1.0 + np.cos(t),
    "exp(t)": lambda t: np.exp(np.minimum(t, 500.0)),
}


def distances(theta: np.ndarray, lower: float, upper: float) -> np.ndarray:
    centre = 0.5 * np.longdouble(lower) + 0.5 * np.longdouble(upper)
    return np.abs(theta.astype(np.longdouble) - centre).reshape(-1)


def exact_sum(function, t: np.ndarray) -> float:
    return float(np.sum(function(t)))


def draw(rng: np.random.Generator) -> tuple[np.ndarray, float, float, float]:
    """Return a random array (spread, concentrated or with outliers), lower, upper, sigma."""
    half_width = 10.0 ** rng.uniform(-2, 2)
    centre = half_width * rng.choice([0.0, 0.0, rng.normal()])
    sigma = half_width / rng.uniform(0.05, 20.0)
    n = int(10 ** rng.uniform(0, 4.3))
    kind = rng.integers(5)
    if kind == 0:
        theta = rng.uniform(-half_width, half_width, n)
    elif kind == 1:
        theta = rng.normal(0.0, half_width * 10.0 ** rng.uniform(-6, -1), n)
    elif kind == 2:
        theta = rng.normal(0.0, 20.0 * sigma, n)
    elif kind == 3:
        theta = rng.uniform(-half_width, half_width, n)
        theta[rng.random(n) < 1e-3] *= 10.0 ** rng.uniform(0, 3)
    else:
        theta = np.full(n, half_width * rng.uniform(-1, 1)) + rng.normal(0, 1e-3 * sigma, n)
    theta = theta + centre
    if rng.random() < 0.3:
        theta = theta.astype(np.float32)
    return theta, centre - half_width, centre + half_width, sigma


@pytest.mark.parametrize("half_width", [0.4, 1.1, 2.4, 3.4, 4.0, 6.4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments_of_the_interval(rng, check_error, half_width, dtype):
    theta = rng.uniform(-half_width, half_width, 10_007).astype(dtype)
    theta = np.clip(theta, -half_width, half_width).astype(dtype) * dtype(0.999)
    sketch = Sketch.of(theta, -half_width, half_width, sigma=1.0)
    x = 2 * distances(theta, -half_width, half_width) / half_width - 1
    moments = sketch._moments.interval
    wanted = np.array([np.sum(np.cos(k * np.arccos(x))) for k in range(moments.size)])
    assert not sketch._moments.bins.any()
    check_error(
        "sketch: interval moments, per element",
        np.abs(moments - wanted.astype(np.float64)).max() / theta.size,
        1e-14,
    )


def test_moments_of_bins(rng, check_error):
    theta = rng.normal(0.0, 30.0, 10_007)
    sketch = Sketch.of(theta, -1.0, 1.0, sigma=1.0)
    y = 1 + np.abs(theta) / 20.0
    octave = np.floor(np.log2(y))
    place = (y / 2**octave - 1) * 128
    index = (128 * octave + np.floor(place)).astype(int)
    x = 2 * (place - np.floor(place)) - 1
    wanted = np.zeros((1536, 8))
    for k in range(8):
        np.add.at(wanted[:, k], index, np.cos(k * np.arccos(x)))
    assert sketch.count == 10_007
    assert np.array_equal(sketch._moments.bins[:, 0], wanted[:, 0])
    worst = np.abs(sketch._moments.bins - wanted).max(axis=1) / np.maximum(wanted[:, 0], 1)
    check_error("sketch: bin moments, per element", worst.max(), 2e-11)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("spread", [0.2, 40.0])
def test_counts(rng, spread, dtype):
    theta = rng.normal(1.0, spread, 200_003).astype(dtype)
    sketch = Sketch.of(theta, 0.0, 2.0, sigma=0.5)
    t, edges = np.abs(theta.astype(np.float64) - 1.0), 0.5 * count_edges()
    assert edges[:3] == pytest.approx([0.0, 0.5 / 64, 1.0 / 64])
    assert edges[-1] == 63.0
    assert np.array_equal(sketch.counts, np.histogram(t, [*edges, np.inf])[0])
    halves = Sketch.of(theta[:70_000], 0.0, 2.0, sigma=0.5) + pickle.loads(
        pickle.dumps(Sketch.of(theta[70_000:], 0.0, 2.0, sigma=0.5))
    )
    assert np.array_equal(halves.counts, sketch.counts)


@pytest.mark.parametrize("half_width", [0.3, 1.0, 2.0, 4.0, 6.0, 12.0])
@pytest.mark.parametrize("name", ["exp(-t)", "exp(-t^2/2)", "1+cos"])
def test_sums_of_smooth_functions(rng, check_error, half_width, name):
    theta = 3.0 + rng.uniform(-half_width, half_width, 20_011)
    sketch = Sketch.of(theta, 3.0 - half_width, 3.0 + half_width, sigma=1.0)
    function = FUNCTIONS[name]
    wanted = exact_sum(function, distances(theta, 3.0 - half_width, 3.0 + half_width))
    sums, errors = sketch.sum_max([function], relative_error=1e-15)
    assert abs(sums[0] - wanted) <= errors[0]
    check_error("sketch: sums of smooth functions", abs(sums[0] / wanted - 1), 1e-11)
    check_error("sketch: error bounds of smooth functions", errors[0] / wanted, 1e-9)


@pytest.mark.parametrize("cases", [400, *by_night(1500)])
def test_bound_holds_for_random_functions_ranges_and_data(cases, rng, check_error):
    worst = 0.0
    for _ in range(cases):
        theta, lower, upper, sigma = draw(rng)
        sketch = Sketch.of(theta, lower, upper, sigma=sigma)
        t = distances(theta, lower, upper)
        chosen = rng.choice(list(FUNCTIONS), size=rng.integers(1, 4), replace=False)
        length = sigma * 10.0 ** rng.uniform(-0.7, 1)
        functions = [FUNCTIONS[name] for name in chosen]
        weights = 10.0 ** rng.uniform(-1, 1, len(functions))
        with np.errstate(over="ignore"):
            sums, errors = sketch.sum_max(
                [
                    lambda t, f=f, w=w, s=length: np.stack([w * f(t / s), f(t / s)])
                    for f, w in zip(functions, weights, strict=True)
                ],
                relative_error=1e-14,
            )
            values = np.stack([f(t / length) for f in functions])
        wanted = np.array([(weights[:, None] * values).max(axis=0).sum(), values.max(axis=0).sum()])
        wanted = wanted.astype(np.float64)
        error = np.abs(sums - wanted)
        finite = np.isfinite(errors) & np.isfinite(wanted)
        assert np.all(error[finite] <= errors[finite]), (chosen, lower, upper, sigma, theta.size)
        if finite.any():
            worst = max(worst, float((error[finite] / np.maximum(errors[finite], 1e-300)).max()))
    check_error("sketch: error / error bound, random settings", worst, 1.0)


def test_max_is_decided_where_functions_meet_at_zero(rng):
    theta = rng.uniform(-2.0, 2.0, 5000)
    t = np.abs(theta)
    shift = 1e-6
    for sigma in (1.0, 0.1):
        sketch = Sketch.of(theta, -2.0, 2.0, sigma=sigma)
        sums, errors = sketch.sum_max(
            [lambda t: np.exp(-0.5 * (t - shift) ** 2), lambda t: np.exp(-0.5 * (t + shift) ** 2)],
            relative_error=1e-15,
        )
        wanted = np.exp(-0.5 * (t - shift) ** 2).sum()
        assert abs(sums[0] - wanted) <= errors[0] <= 1e-9 * wanted


CROWDS = {
    "even": lambda rng, n: rng.uniform(-2.0, 2.0, n),
    "at the kink": lambda rng, n: 1.0 + 1e-5 * rng.normal(size=n),
    "on all scales": lambda rng, n: 1.0 + rng.choice([-1, 1], n) * np.exp(-rng.uniform(0, 25, n)),
    "one value": lambda rng, n: np.full(n, 1.0 - 1e-9),
    "outliers": lambda rng, n: rng.normal(0.0, 0.7, n) * np.where(rng.random(n) < 1e-3, 30, 1),
    "mostly beyond": lambda rng, n: (
        np.where(rng.random(n) < 1e-3, 1.0, 6.0) + rng.normal(0, 0.1, n)
    ),
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_max_that_changes_sides(rng, check_error, crowd):
    """From moments alone, the bound would be of the order of the change of slope."""
    theta = CROWDS[crowd](rng, 100_000)
    functions = [lambda t: 1.0 + t, lambda t: 3.0 - t, lambda t: np.sin(t) + 1.16]
    sketch = Sketch.of(theta, -2.0, 2.0, sigma=1.0)
    wanted = np.max([f(distances(theta, -2.0, 2.0)) for f in functions], axis=0).sum()
    for each in (sketch, pickle.loads(pickle.dumps(sketch)), sketch + sketch):
        sums, errors = each.sum_max(functions, relative_error=1e-15)
        truth = wanted * (each.count / theta.size)
        assert abs(sums[0] - truth) <= errors[0]
        check_error("sketch: error bounds of a maximum with a kink", errors[0] / truth, 4e-10)


def test_cells_hold_all_elements_and_are_narrow_where_there_are_many(rng):
    unit, cuts = 1e-6, np.array([0.3, 1.0])
    for draw_crowd in CROWDS.values():
        theta = draw_crowd(rng, 20_000)
        left, mean, right, count = _core.sketch.cells(theta, 0.0, cuts, unit)
        t = np.sort(np.abs(theta))
        ends = np.cumsum(count).astype(int)
        assert ends[-1] == t.size
        assert np.array_equal(left, t[ends - count.astype(int)])
        assert np.array_equal(right, t[ends - 1])
        np.testing.assert_allclose(mean, np.add.reduceat(t, ends - count.astype(int)) / count)
        assert np.all(count * (right - left) <= unit * ends)
        assert not np.any((left[:, None] < cuts) & (right[:, None] >= cuts))
    assert all(column.size == 0 for column in _core.sketch.cells(np.empty(0), 0.0, cuts, unit))


def test_sketches_whose_arrays_are_gone_have_no_finer_answer(rng):
    theta = rng.uniform(-2.0, 2.0, 5000)
    sketch = Sketch.of(theta, -2.0, 2.0, sigma=1.0)
    wanted = np.maximum(1.0 + np.abs(theta), 3.0 - np.abs(theta)).sum()
    theta[0] += 1e-3
    sums, errors = sketch.sum_max([lambda t: 1.0 + t, lambda t: 3.0 - t])
    assert 1e-4 * wanted < abs(sums[0] - wanted) <= errors[0]
    assert pickle.loads(pickle.dumps(sketch))._cells() is None


def test_proven_tail_is_used(rng):
    theta = rng.uniform(-1.0, 1.0, 5000)
    sketch = Sketch.of(theta, -1.0, 1.0, sigma=1.0)
    rho = 8.0

    def tail(left, right, nodes, _):
        # On the Bernstein ellipse the real part of t is at least centre - half (rho + 1/rho) / 2.
        half = 0.5 * (right - left)
        greatest = np.exp(half * (rho + 1.0 / rho) / 2.0 - 0.5 * (left + right))
        return (4.0 * greatest * rho ** (1.0 - nodes) / (rho - 1.0))[None]

    wanted = np.exp(-np.abs(theta)).sum()
    sums, errors = sketch.sum_max([lambda t: np.exp(-t)], relative_error=1e-15, tails=[tail])
    assert abs(sums[0] - wanted) <= errors[0] <= 1e-11 * wanted


def test_functions_with_a_kink_are_not_trusted(rng):
    theta = rng.uniform(-1.0, 1.0, 5000)
    sketch = Sketch.of(theta, -1.0, 1.0, sigma=1.0)
    sums, errors = sketch.sum_max([lambda t: np.abs(t - 0.37)])
    assert errors[0] > 0.1 * sums[0]


def test_elements_beyond_all_bins_are_refused_not_lost():
    sketch = Sketch.of([0.0, 1e9], -1.0, 1.0, sigma=1.0)
    sums, errors = sketch.sum_max([lambda t: np.ones((3, t.size))])
    assert sums.shape == errors.shape == (3,)
    assert np.all(np.isinf(errors))


@pytest.mark.parametrize("spread", [0.9, 30.0])
def test_shards_add_up(rng, spread):
    theta = rng.normal(0.0, spread / 3, 30_000).clip(-spread, spread)
    whole = Sketch.of(theta, -1.0, 1.0, sigma=0.5)
    shards = [Sketch.of(part, -1.0, 1.0, sigma=0.5) for part in np.array_split(theta, 7)]
    both = shards[0]
    for shard in shards[1:]:
        both = both + shard
    assert (both.count, both.nearest, both.farthest) == (30_000, whole.nearest, whole.farthest)
    f = FUNCTIONS["exp(-t)"]
    wanted = f(np.abs(theta)).sum()
    for sketch in (whole, both):
        sums, errors = sketch.sum_max([f])
        assert abs(sums[0] - wanted) <= errors[0] <= 1e-9 * wanted
    assert [a.size for a in both.sources()] == [s.count for s in shards]


def test_shards_of_other_resolution_are_refused():
    a = Sketch.of([0.1], -1.0, 1.0, sigma=0.5)
    for other in (Sketch.of([0.1], -1.0, 1.0), Sketch.of([0.1], -1.0, 1.1, sigma=0.5)):
        with pytest.raises(ValueError, match="same"):
            a + other
    with pytest.raises(TypeError):
        a + 1.0


def test_pickling_drops_sources(rng):
    sketch = Sketch.of(rng.normal(size=1000), -1.0, 1.0)
    copy = pickle.loads(pickle.dumps(sketch))
    f = FUNCTIONS["exp(-t)"]
    assert np.array_equal(copy.sum_max([f]), sketch.sum_max([f]))
    assert repr(copy) == repr(sketch)
    with pytest.raises(ValueError, match="pickling"):
        copy.sources()
    with pytest.raises(ValueError, match="pickling"):
        (copy + sketch).sources()


def test_sources_are_checked(rng):
    theta = rng.normal(size=(300, 10))
    sketch = Sketch.of(theta, -1.0, 1.0) + Sketch.of([0.5, 0.25], -1.0, 1.0)
    first, second = sketch.sources()
    assert np.shares_memory(first, theta)
    assert second.tolist() == [0.5, 0.25]
    theta[17, 3] += 1e-9
    with pytest.raises(ValueError, match="changed"):
        sketch.sources()


@pytest.mark.parametrize("n", [0, 1, 7, 2047, 2049, 131_071, 131_073, 400_003])
@pytest.mark.parametrize("spread", [1.0, 40.0])
def test_any_number_of_threads_gives_the_same_bits(rng, n, spread):
    theta = rng.uniform(-spread, spread, n)
    results = with_threads(lambda: Sketch.of(theta, -1.0, 1.0, sigma=0.7), 1, 2, 3)
    assert results[0]._moments.same_bits(results[1]._moments)
    assert results[0]._moments.same_bits(results[2]._moments)
    f = FUNCTIONS["exp(-t)"]
    sums, errors = results[0].sum_max([f])
    assert abs(sums[0] - f(np.abs(theta)).sum()) <= errors[0] <= 1e-9 * max(sums[0], 1e-9)


def test_every_simd_level_agrees(rng, tmp_path):
    theta = rng.normal(0.0, 2.0, 50_001)
    np.save(tmp_path / "theta.npy", theta)
    code = (
        "import numpy as np, sys; from tightnoise.sketch import Sketch\n"
        "theta = np.load(sys.argv[1])\n"
        "for lower in (-9.9, -1.0):\n"
        "    s = Sketch.of(theta, lower, -lower, sigma=2.0)\n"
        "    print(s.sum_max([lambda t: np.exp(-t)])[0][0].hex())\n"
    )
    wanted = np.exp(-np.abs(theta)).sum()
    for level in LEVELS:
        for line in printed_at(level, code, tmp_path / "theta.npy").split():
            assert float.fromhex(line) == pytest.approx(wanted, rel=1e-12)


def test_shapes_types_and_memory_order(rng):
    theta = rng.normal(size=(40, 50))
    f = FUNCTIONS["exp(-t)"]
    wanted = f(np.abs(theta)).sum()
    views = [theta, theta.T, np.asfortranarray(theta), theta[::-1], theta.tolist()]
    for view in views:
        sketch = Sketch.of(view, -8.0, 8.0, sigma=2.0)
        assert sketch.count == 2000
        assert sketch.sum_max([f])[0][0] == pytest.approx(wanted, rel=1e-12)
        assert sketch.sources()[0].size == 2000
    half = theta.astype(np.float32)
    sums = Sketch.of(half, -8.0, 8.0, sigma=2.0).sum_max([f])[0]
    assert sums[0] == pytest.approx(f(np.abs(half.astype(np.float64))).sum(), rel=1e-12)
    assert Sketch.of(0.5, -1.0, 1.0).count == 1
    assert Sketch.of(np.arange(-2, 3), -1.0, 1.0).farthest == 2.0


def test_empty_array():
    sketch = Sketch.of(np.empty((0, 3)), -1.0, 1.0)
    assert (sketch.count, sketch.nearest, sketch.farthest) == (0, np.inf, 0.0)
    sums, errors = sketch.sum_max([lambda t: np.ones((4, t.size))])
    assert sums.tolist() == errors.tolist() == [0.0] * 4
    assert "empty" in repr(sketch)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [0, 5000, 9999])
@pytest.mark.parametrize("sigma", [1.0, 0.01])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bad_numbers_are_refused(rng, bad, at, sigma, dtype):
    theta = rng.uniform(-1, 1, 10_000).astype(dtype)
    theta[at] = bad
    with pytest.raises(ValueError, match=rf"theta must be finite.*at index \({at},\)"):
        Sketch.of(theta, -1.0, 1.0, sigma=sigma)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="lower must be less than upper"):
        Sketch.of([0.0], 1.0, 1.0)
    with pytest.raises(ValueError, match="lower must be finite"):
        Sketch.of([0.0], -np.inf, 1.0)
    with pytest.raises(ValueError, match="sigma"):
        Sketch.of([0.0], -1.0, 1.0, sigma=0.0)
    for bad in ([True], ["a"], [1j], [None]):
        with pytest.raises(TypeError, match="theta"):
            Sketch.of(bad, -1.0, 1.0)
    with pytest.raises(TypeError, match=r"Sketch\.of"):
        Sketch()


@pytest.mark.parametrize("interval", [(-1.0, 1.0), (0.5, 4.0), (-30.0, 30.0)])
def test_buffers_add_up_as_sketches_do(interval):
    rng = np.random.default_rng(5)
    parts = [rng.normal(size=n) * s for n, s in ((5000, 0.3), (1, 1.0), (0, 1.0), (300, 1e9))]
    sketches = [Sketch.of(part, *interval, sigma=1.0) for part in parts]
    sums, least = zip(*(sketch.buffers() for sketch in sketches), strict=True)
    added = Sketch.from_buffers(np.sum(sums, axis=0), np.min(least, axis=0))
    joined = sketches[0] + sketches[1] + sketches[2] + sketches[3]
    assert (added.count, added.nearest, added.farthest) == (5301, joined.nearest, joined.farthest)
    assert (added.counts == joined.counts).all()
    assert (added.lower, added.upper, added.sigma) == (*interval, 1.0)
    assert not added.has_sources
    for mine, its in zip(added.buffers(), joined.buffers(), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-13)
    once = Sketch.from_buffers(*sketches[0].buffers())
    answers = [sketch.sum_max([FUNCTIONS["1+cos"]]) for sketch in (once, sketches[0])]
    for mine, its in zip(*answers, strict=True):
        assert np.asarray(mine).tobytes() == np.asarray(its).tobytes()
    with pytest.raises(ValueError, match="no longer has the arrays"):
        once.sources()


def test_what_are_no_buffers():
    sums, least = Sketch.of([0.5, 2.0], -1.0, 1.0).buffers()
    others = [
        Sketch.of([0.5], *bounds, sigma=sigma).buffers()[1]
        for bounds, sigma in (((-2.0, 1.0), None), ((-1.0, 2.0), None), ((-1.0, 1.0), 2.0))
    ]
    for other in others:
        with pytest.raises(ValueError, match="the same lower, upper and sigma"):
            Sketch.from_buffers(2 * sums, np.minimum(least, other))
    with pytest.raises(ValueError, match="least must be of 8 numbers"):
        Sketch.from_buffers(sums, least[1:])
    for bad in (sums[1:], np.where(np.arange(sums.size) == 20, np.inf, sums)):
        with pytest.raises(ValueError, match="finite numbers"):
            Sketch.from_buffers(bad, least)
    with pytest.raises(ValueError, match="sums must be a number; got nan"):
        Sketch.from_buffers(sums * np.nan, least)
    for place, value in ((0, 3.0), (0, 1.5), (1, -1.0), (2, 0.5), (-1, -1.0)):
        bad = sums.copy()
        bad[place] = value
        with pytest.raises(ValueError, match="counts that agree"):
            Sketch.from_buffers(bad, least)


def test_buffers_that_do_not_agree():
    # Each was taken, and some cost less than the elements do: the last of "sums" nothing at all.
    sums, least = Sketch.of(np.linspace(-0.9, 1.3, 5000), -1.0, 1.0, sigma=0.5).buffers()
    moments = 3 + 16  # and then bins
    bins = moments + 8 * np.flatnonzero(sums[moments:-769].reshape(-1, 8)[:, 0])
    for place, value in ((bins[0], 0.0), (bins[0], -500.0), (bins[0] + 1, 1e6), (3, -1e5), (1, 0)):
        bad = sums.copy()
        bad[place] = value
        with pytest.raises(ValueError, match="moments that agree"):
            Sketch.from_buffers(bad, least)
    for place, value in ((0, 1.2), (0, -0.1), (0, np.inf), (1, -1.0), (1, -np.inf), (1, 1.0)):
        bad = least.copy()
        bad[place] = value
        with pytest.raises(ValueError, match="distances that agree"):
            Sketch.from_buffers(sums, bad)
    with pytest.raises(ValueError, match="distances that agree"):
        Sketch.from_buffers(sums, [*least[:4], 0.45, *least[5:7], -0.45])
    for dtype in (np.float32, np.float16, np.int64):
        with pytest.raises(TypeError, match="sums must hold float64"):
            Sketch.from_buffers(sums.astype(dtype), least)
    empty = Sketch.of([], -1.0, 1.0).buffers()
    assert Sketch.from_buffers(*empty).count == 0
    with pytest.raises(ValueError, match="distances that agree"):
        Sketch.from_buffers(empty[0], [0.0, *empty[1][1:]])
