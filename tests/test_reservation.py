"""Parts of one array's noise: the bits of the whole, and never twice for different values."""

import copy
import pickle
import threading

import numpy as np
import pytest
from noise_laws import refined

import tightnoise as tn
from tightnoise._core import random as core
from tightnoise.random import NoiseStream, Reservation

MECHANISMS = [
    tn.Gaussian(1.0),
    tn.RectifiedGaussian(1.0, -1.0, 1.5),
    tn.TruncatedGaussian(1.0, -1.0, 1.5),
    tn.QuantizedGaussian(1.0, -1.0, 1.5, levels=5),
    tn.StochasticSign(1.0),
    tn.BoundedLaplace(1.0, -1.0, 1.5),
    tn.Laplace(1.0),
    tn.TruncatedLaplace(1.0, 3.0),
    tn.Tulap(1.0, sensitivity=1.0),
    tn.Staircase(1.0, 1.0, 0.4),
    tn.calibrate.multi_gaussian(1.0, 1e-3, sensitivity=1.0),
    tn.calibrate.quasi_gaussian(1.0, 1e-3, sensitivity=1.0),
    tn.GaussianScaleMixture([0.0, 1.0], [0.5, 0.5], [1.0, 2.0]),
]
PARTS = [(0, 256), (256, 1024), (1024, 1500)]
THETA = np.linspace(-2.0, 2.0, 1500)


@pytest.fixture
def _all_refined():
    with refined():
        yield


@pytest.mark.parametrize("grid", ["auto", None])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_parts_are_those_of_the_whole(mechanism, dtype, grid):
    theta = THETA.astype(dtype)
    whole = mechanism.sample(theta, rng=NoiseStream(3), grid=grid)
    one_array = NoiseStream(3).reserve()
    for begin, end in reversed(PARTS):
        part = mechanism.sample(theta[begin:end], rng=one_array, offset=begin, grid=grid)
        assert part.dtype == dtype
        assert part.tobytes() == whole[begin:end].tobytes()
        worker = NoiseStream(3)  # of another process, with the same secret
        part = mechanism.sample(theta[begin:end], rng=worker, offset=begin, grid=grid)
        assert part.tobytes() == whole[begin:end].tobytes()


@pytest.mark.usefixtures("_all_refined")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_bits_beyond_the_first_are_those_of_the_whole(mechanism, dtype):
    theta = THETA[:260].astype(dtype)
    whole = mechanism.sample(theta, rng=NoiseStream(3))
    part = mechanism.sample(theta[256:], rng=NoiseStream(3), offset=256)
    assert part.tobytes() == whole[256:].tobytes()


@pytest.mark.parametrize("mechanism", MECHANISMS[:3] + MECHANISMS[6:7], ids=repr)
def test_parts_of_integers_are_those_of_the_whole(mechanism):
    total = tn.exact_sum(np.linspace(-2.0, 2.0, 1500)[np.newaxis], bound=200.0, norm=np.inf)
    whole = mechanism.sample(total, rng=NoiseStream(3))
    counts = np.arange(1500) % 3 - 1
    of_counts = mechanism.sample(counts, rng=NoiseStream(3))
    for rows, released in ((counts, of_counts), (total.integers, whole)):
        one_array = NoiseStream(3).reserve()
        for begin, end in PARTS:
            part = rows[begin:end]
            if rows is total.integers:
                part = tn.exact_sum(THETA[np.newaxis, begin:end], bound=200.0, norm=np.inf)
            drawn = mechanism.sample(part, rng=one_array, offset=begin)
            assert drawn.tobytes() == released[begin:end].tobytes()


def test_far_parts_have_noise_of_their_own():
    m, zeros = tn.Gaussian(1.0), np.zeros(512, np.float32)
    one_array = NoiseStream(3).reserve()
    drawn = [
        m.sample(zeros, rng=one_array, offset=offset).tobytes()
        for offset in (0, 512, 2**31, 2**32, 2**33, 2**40, 2**56 - 512)
    ]
    assert len(set(drawn)) == len(drawn)


def test_a_reservation_takes_one_number():
    m = tn.Gaussian(1.0)
    stream, other = NoiseStream(3), NoiseStream(3)
    first, one_array = m.sample(THETA, rng=stream), stream.reserve()
    drawn = [first, m.sample(THETA, rng=one_array), m.sample(THETA, rng=stream)]
    for array in drawn:
        assert array.tobytes() == m.sample(THETA, rng=other).tobytes()


def test_a_part_is_drawn_again_for_the_same_values_alone():
    m, one_array = tn.Gaussian(1.0), tn.random.default_stream().reserve()
    theta = THETA[:512].copy()
    once = m.sample(theta, rng=one_array, offset=256)
    assert m.sample(theta.reshape(2, 256), rng=one_array, offset=256).tobytes() == once.tobytes()
    assert tn.Gaussian(1.0).sample(theta, rng=one_array, offset=256).tobytes() == once.tobytes()

    def refused(mechanism=m, values=theta, offset=256, **options):
        with pytest.raises(ValueError, match="has drawn nothing else"):
            mechanism.sample(values, rng=one_array, offset=offset, **options)

    changed = theta.copy()
    changed[-1] = np.nextafter(changed[-1], 3.0)
    refused(values=changed)
    refused(mechanism=tn.Gaussian(2.0))
    refused(mechanism=tn.Laplace(1.0))
    refused(grid=2.0**-9)
    refused(grid=None)
    refused(values=theta.astype(np.float32))
    refused(values=theta[:-1])
    refused(offset=0)
    refused(offset=512)
    refused(values=THETA, offset=0)
    m.sample(theta[:256], rng=one_array)
    m.sample(theta, rng=one_array, offset=768)
    m.sample(np.empty(0), rng=one_array, offset=256)  # nothing is drawn
    refused(values=theta[:1], offset=1024)
    m.sample(theta, rng=one_array, out=theta, offset=768)
    refused(offset=768)  # theta is noisy now


def test_threads_claim_a_part_once():
    one_array, refusals = tn.random.default_stream().reserve(), []
    start = threading.Barrier(8)

    def draw(number):
        start.wait()
        try:
            tn.Gaussian(1.0).sample(np.full(1000, float(number)), rng=one_array)
        except ValueError:
            refusals.append(number)

    threads = [threading.Thread(target=draw, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refusals) == 7


@pytest.mark.parametrize("seed", [None, 3])
def test_a_pickled_reservation_draws_the_same(seed):
    m, one_array = tn.TruncatedGaussian(1.0, -1.0, 1.0), NoiseStream(seed).reserve()
    whole = m.sample(THETA, rng=one_array)
    again = pickle.loads(pickle.dumps(one_array))
    assert m.sample(THETA[256:], rng=again, offset=256).tobytes() == whole[256:].tobytes()
    for copied in (copy.copy(one_array), copy.deepcopy([one_array])[0]):
        assert copied is one_array  # which knows what it drew
    assert repr(one_array) == "<Reservation, 1 parts drawn here>"


def test_what_is_refused():
    m = tn.Gaussian(1.0)
    with pytest.raises(TypeError, match=r"NoiseStream.reserve\(\)"):
        Reservation()
    for offset in (1, 255, 257, -256, 2**56):
        with pytest.raises(ValueError, match="offset must be"):
            m.sample(THETA, rng=NoiseStream(3), offset=offset)
    for offset in ("0", np.array([])):
        with pytest.raises(TypeError, match="offset must be an integer"):
            m.sample(THETA, offset=offset)
    direction = tn.VonMisesFisher(5.0, 4)
    with pytest.raises(TypeError, match="rng must be a NoiseStream or None; got Reservation"):
        direction.sample([1.0, 0.0, 0.0, 0.0], rng=NoiseStream(3).reserve())
    with pytest.raises(ValueError, match="first must be a multiple of 256"):
        core.sample_gaussian(
            np.zeros(2), np.ones(1), np.zeros(2), NoiseStream(3)._source, None, None, 255
        )
    with pytest.raises(RuntimeError, match="not the source of one array"):
        NoiseStream(3)._source.reserved()
