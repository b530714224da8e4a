"""Arrays of other libraries: in as NumPy sees them, and the same kind out.

CuPy, and tensors on a device, were never run here: no test machine has one.
"""

from __future__ import annotations

import numpy as np
import pytest

import tightnoise as tn

SEED = 7
LAWS = [tn.Gaussian(1.0), tn.Laplace(1.0), tn.TruncatedGaussian(1.0, -1.0, 1.0)]


def stream():
    return tn.random.NoiseStream(seed=SEED)


class Interfaced:
    """What has `__array_interface__` and nothing else."""

    def __init__(self, array):
        self._array = array
        self.__array_interface__ = array.__array_interface__


class Exchanged:
    """What has DLPack and nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class FromElsewhere(Exchanged):
    """What NumPy cannot read, as a tensor on a device."""

    def __dlpack__(self, **options):
        raise BufferError("not in the memory of the CPU")


@pytest.mark.parametrize("kind", [Interfaced, Exchanged])
@pytest.mark.parametrize("law", LAWS)
def test_protocols_alone_are_enough(kind, law):
    theta = np.array([0.5, -0.25, 0.125], np.float32)
    ours = law.sample(kind(theta), rng=stream())
    assert np.array_equal(ours, law.sample(theta, rng=stream()))
    assert ours.dtype == np.float32
    assert np.array_equal(law.cdf(kind(theta), kind(theta)), law.cdf(theta, theta))
    if not isinstance(law, tn.Laplace):
        assert law.cost_at(kind(theta), coordinate_sensitivity=0.1).epsilon(1e-5) > 0


def test_what_numpy_cannot_read_is_named():
    with pytest.raises(TypeError, match=r"theta must be an array that NumPy can read; got .*CPU"):
        tn.Gaussian(1.0).sample(FromElsewhere(np.zeros(3)))


def check_same_kind(make, law):
    theta = make(np.array([[0.5, -0.25], [0.125, 1.0]], np.float32))
    noisy = law.sample(theta, rng=stream())
    assert type(noisy) is type(theta)
    assert noisy.dtype == theta.dtype
    expected = law.sample(np.asarray(theta), rng=stream())
    np.testing.assert_array_equal(np.asarray(noisy), expected)
    assert type(law.cdf(theta, theta)) is type(theta)
    assert type(law.sf(0.25, theta=theta)) is type(theta)
    low, high = law.interval(0.5, theta)
    assert type(low) is type(high) is type(theta)
    if not isinstance(law, tn.TruncatedGaussian):
        integers, unit = law.sample_integers(theta)
        assert type(integers) is type(theta)
        assert isinstance(float(unit), float)
    vmf = tn.VonMisesFisher(3.0, 2)
    assert type(vmf.sample(theta, rng=stream())) is type(theta)
    assert type(vmf.mean(theta)) is type(theta)
    blocks = tn.ProductVonMisesFisher(3.0, [2, 2]).sample([theta, theta])
    assert [type(block) for block in blocks] == [type(theta), type(theta)]


@pytest.mark.parametrize("law", LAWS)
def test_the_array_api(law):
    strict = pytest.importorskip("array_api_strict")
    check_same_kind(strict.asarray, law)


@pytest.mark.parametrize("law", LAWS)
def test_jax(law):
    jax_numpy = pytest.importorskip("jax.numpy")
    theta = jax_numpy.asarray(np.array([0.5, -0.25], np.float32))
    check_same_kind(jax_numpy.asarray, law)
    with pytest.raises(TypeError, match=r"out must be a numpy array, a torch tensor.*got jax"):
        law.sample(theta, out=theta)


def test_a_pandas_column_keeps_its_index_and_name():
    pandas = pytest.importorskip("pandas")
    ages = pandas.Series([31, 45, 52], index=["a", "b", "c"], name="age")
    noisy = tn.Laplace(2.0).sample(ages, rng=stream())
    assert isinstance(noisy, pandas.Series)
    assert noisy.index.equals(ages.index)
    assert noisy.name == "age"
    assert np.array_equal(noisy, tn.Laplace(2.0).sample([31, 45, 52], rng=stream()))
    counts, unit = tn.Laplace(2.0).sample_integers(ages, grid=1)
    assert counts.index.equals(ages.index)
    assert counts.dtype == np.int64
    assert unit == 1.0
    table = pandas.DataFrame({"x": [0.5, 0.25], "y": [0.0, -0.5]}, index=[5, 9])
    noisy = tn.TruncatedGaussian(1.0, -1.0, 1.0).sample(table)
    assert noisy.columns.equals(table.columns)
    assert noisy.index.equals(table.index)
    assert isinstance(tn.Gaussian(1.0).sf(table), pandas.DataFrame)
    with pytest.raises(ValueError, match=r"theta must be finite; got nan at index \(1,\)"):
        tn.Laplace(1.0).sample(pandas.Series([1.0, np.nan]))
    with pytest.raises(TypeError, match="out must be a numpy array, a torch tensor"):
        tn.Laplace(1.0).sample(ages, out=ages)


def test_what_is_written_is_returned():
    out = np.empty(3)
    assert tn.Laplace(1.0).sample(Exchanged(np.zeros(3)), out=out) is out


def test_names_of_other_libraries_are_answered():
    gaussian = tn.Gaussian(1.0)
    with pytest.raises(TypeError, match=r"no argument 'seed': pass rng=tightnoise.random.Noise"):
        gaussian.sample([0.0], seed=1)
    with pytest.raises(TypeError, match=r"no argument 'size': pass .*rvs\(size=size\)"):
        tn.Laplace(1.0).sample(0.0, size=3)
    with pytest.raises(TypeError, match=r"no argument 'nonsense'$"):
        gaussian.sample([0.0], nonsense=1)
    with pytest.raises(TypeError, match=r"Laplace\(\) .*'loc': pass the value itself"):
        tn.Laplace(loc=0.0, scale=1.0)
    with pytest.raises(TypeError, match=r"noise_multiplier\(\) .*'target_epsilon': pass epsilon="):
        tn.calibrate.noise_multiplier(target_epsilon=1.0, target_delta=1e-6, sample_rate=0.1)
    with pytest.raises(AttributeError, match=r"no attribute 'randomise': here it is sample"):
        tn.Laplace(1.0).randomise(3.0)
    with pytest.raises(AttributeError, match=r"no attribute 'get_epsilon': here it is epsilon\("):
        tn.Accountant().get_epsilon(1e-5)
    with pytest.raises(AttributeError, match=r"here it is tightnoise\.Gaussian"):
        _ = tn.GaussianMechanism
    assert not hasattr(gaussian, "nothing")
