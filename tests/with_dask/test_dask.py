"""Dask arrays: one result whatever the chunks, nothing computed before it is asked for."""

import doctest
import importlib
import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import tightnoise as tn

dask = pytest.importorskip("dask", reason="Dask is not installed: extra dask")
da = pytest.importorskip("dask.array", reason="dask.array is not installed: extra dask")

M = tn.TruncatedGaussian(1.0, -1.0, 1.0)
SHAPE = (1501, 1000)  # a piece and a half
CHUNKS = [SHAPE, (400, 1000), (1501, 300), (700, 333)]


@pytest.fixture(scope="module")
def theta():
    return np.random.default_rng(0).normal(size=SHAPE).astype(np.float32)


def test_noise_does_not_depend_on_chunks(theta):
    whole = M.sample(theta, rng=tn.random.NoiseStream(5))
    for chunks, scheduler in itertools.product(CHUNKS, ("threads", "synchronous")):
        noisy = tn.dask.sample(M, da.from_array(theta, chunks=chunks), rng=tn.random.NoiseStream(5))
        assert noisy.chunks == da.core.normalize_chunks(chunks, SHAPE)
        assert noisy.dtype == np.float32
        found = noisy.compute(scheduler=scheduler)
        assert found.tobytes() == whole.tobytes()


def test_processes_draw_the_same():
    theta = da.zeros(2**20 + 1000, chunks=2**19)
    noisy = tn.dask.sample(tn.Gaussian(1.0), theta)
    threads = noisy.compute(scheduler="threads")
    assert noisy.compute(scheduler="processes", num_workers=2).tobytes() == threads.tobytes()


@pytest.mark.parametrize("shape", [(), (0,), (5, 0), (0, 5), (7,), (2, 3, 4), (1, 1)])
def test_every_shape(shape):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    theta = da.from_array(values, chunks=tuple((n + 1) // 2 for n in shape))
    m = tn.Laplace(1.0)
    noisy = tn.dask.sample(m, theta, rng=tn.random.NoiseStream(5))
    assert (noisy.shape, noisy.chunks, noisy.dtype) == (shape, theta.chunks, np.float64)
    assert noisy.compute().tolist() == m.sample(values, rng=tn.random.NoiseStream(5)).tolist()
    assert tn.dask.sketch(theta, -1.0, 1.0).compute().count == values.size
    if shape:
        total = tn.dask.exact_sum(theta, bound=1.0).compute()
        assert total.integers.tolist() == tn.exact_sum(values, bound=1.0).integers.tolist()


def test_what_is_computed_twice_is_one_release():
    theta = da.zeros((1500, 1000), chunks=(500, 400))
    noisy = tn.dask.sample(tn.Gaussian(1.0), theta)
    once = noisy.compute()
    assert noisy.compute().tobytes() == once.tobytes()
    assert noisy[700, 5:9].compute().tolist() == once[700, 5:9].tolist()
    assert bool((noisy - noisy).any().compute()) is False
    other = tn.dask.sample(tn.Gaussian(1.0), theta)
    both = dask.compute(noisy, other)
    assert not (both[0] == both[1]).all()


def test_data_that_changed_get_no_noise_twice():
    values = np.zeros(5000)

    def read(block_info=None):
        return values.copy()

    theta = da.map_blocks(read, chunks=((5000,),), dtype=np.float64, meta=np.empty(0))
    noisy = tn.dask.sample(tn.Gaussian(1.0), theta)
    noisy.compute()
    values[3] = 1.0
    with pytest.raises(ValueError, match="has drawn nothing else"):
        noisy.compute()


def test_nothing_is_computed_before_it_is_asked_for():
    asked = []

    def block(block_info=None):
        asked.append(1)
        return np.zeros((100, 10))

    theta = da.map_blocks(
        block, chunks=((100,) * 3, (10,)), dtype=np.float64, meta=np.empty((0, 0))
    )
    lazy = (
        tn.dask.sample(tn.Gaussian(1.0), theta),
        tn.dask.sketch(theta, -1.0, 1.0),
        tn.dask.exact_sum(theta, bound=1.0),
    )
    assert not asked
    for question in (
        lambda: tn.Gaussian(1.0).sample(theta),
        lambda: tn.Sketch.of(theta, -1.0, 1.0),
        lambda: tn.exact_sum(theta, bound=1.0),
        lambda: M.cost_at(theta, sensitivity=1.0),
        lambda: M.cost_at(lazy[1], sensitivity=1.0),
        lambda: M.individual_cost_at(theta[:, 0], theta[:, :1]),
    ):
        with pytest.raises(TypeError, match=r"must be in memory; got Dask's: see tightnoise\.dask"):
            question()
    assert not asked
    dask.compute(*lazy)
    assert asked


def test_sketches_do_not_depend_on_chunks(theta):
    found = [
        tn.dask.sketch(da.from_array(theta, chunks=chunks), -1.0, 1.0, sigma=1.0).compute()
        for chunks in CHUNKS
    ]
    assert len({b"".join(part.tobytes() for part in sketch.buffers()) for sketch in found}) == 1
    whole = M.cost_at(tn.Sketch.of(theta, -1.0, 1.0, sigma=1.0), sensitivity=1.0)
    here = M.cost_at(found[0], sensitivity=1.0)
    orders = [1.5, 2.0, 8.0, 64.0]
    assert here.rdp(orders).values == pytest.approx(whole.rdp(orders).values, rel=1e-15)


def test_exact_sums_do_not_depend_on_chunks(theta):
    whole = tn.exact_sum(theta, bound=3.0, norm=1)
    for chunks in CHUNKS:
        total = tn.dask.exact_sum(da.from_array(theta, chunks=chunks), bound=3.0, norm=1).compute()
        assert (total.integers == whole.integers).all()
        assert repr(total) == repr(whole)
    unknown = da.from_array(theta, chunks=CHUNKS[1])
    unknown = unknown[unknown[:, 0] > 0]
    some = tn.exact_sum(theta[theta[:, 0] > 0], bound=3.0)
    assert (tn.dask.exact_sum(unknown, bound=3.0).compute().integers == some.integers).all()


def test_what_is_refused():
    theta = da.zeros((6, 2), chunks=(4, 2))
    for function in (
        lambda x: tn.dask.sample(tn.Gaussian(1.0), x),
        lambda x: tn.dask.sketch(x, -1.0, 1.0),
        lambda x: tn.dask.exact_sum(x, bound=1.0),
    ):
        with pytest.raises(TypeError, match="must be a Dask array; got list"):
            function([[1.0]])
    for function in (
        lambda x: tn.dask.sample(tn.Gaussian(1.0), x),
        lambda x: tn.dask.sketch(x, -1.0, 1.0),
    ):
        with pytest.raises(ValueError, match=r"known chunk sizes.*\(nan,\)"):
            function(theta[theta >= 0])
    with pytest.raises(TypeError, match="mechanism must be for coordinates"):
        tn.dask.sample(tn.VonMisesFisher(5.0, 2), theta)
    with pytest.raises(ValueError, match="mechanism must have numbers"):
        tn.dask.sample(tn.Gaussian([1.0, 2.0]), theta)
    with pytest.raises(TypeError, match="rng must be"):
        tn.dask.sample(tn.Gaussian(1.0), theta, rng=5)
    with pytest.raises(ValueError, match="grid must be"):
        tn.dask.sample(tn.Gaussian(1.0), theta, grid=0.3)
    with pytest.raises(TypeError, match="dtype complex128"):
        tn.dask.sample(tn.Gaussian(1.0), theta.astype(complex))
    with pytest.raises(ValueError, match="lower must be less"):
        tn.dask.sketch(theta, 1.0, -1.0)
    with pytest.raises(ValueError, match="bound must be"):
        tn.dask.exact_sum(theta, bound=0.0)
    with pytest.raises(ValueError, match="rows must be at most capacity, 5; got 6"):
        tn.dask.exact_sum(theta, bound=1.0, capacity=5)
    with pytest.raises(ValueError, match="rows must be an array of rows"):
        tn.dask.exact_sum(theta.sum(), bound=1.0)
    bad = theta.map_blocks(lambda x: x + np.nan, dtype=np.float64)
    for lazy in (tn.dask.sample(tn.Gaussian(1.0), bad), tn.dask.sketch(bad, -1.0, 1.0)):
        with pytest.raises(ValueError, match="theta must be finite; got nan"):
            lazy.compute()


def test_examples():
    result = doctest.testmod(importlib.import_module("tightnoise.dask"))
    assert result.attempted
    assert not result.failed


def test_the_guide_prints_what_it_says(capsys):
    text = (Path(__file__).parents[2] / "docs" / "many-workers.md").read_text(encoding="utf-8")
    parts = re.findall(r"^```python\n(import dask.*?)^```\n\n```text\n(.*?)^```", text, re.M | re.S)
    assert len(parts) == text.count("import dask") > 0
    for code, printed in parts:
        exec(compile(code, "many-workers.md", "exec"), {})
        assert capsys.readouterr().out == printed
