"""Noise on the tensors of a network, beside Opacus' noise; skipped without PyTorch and Opacus."""

import warnings

import pytest

import tightnoise as tn

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    optimizers = pytest.importorskip("opacus.optimizers.optimizer", reason="no Opacus")

WIDTHS = [(1000, 784), (1000,), (200, 1000), (200,), (10, 200), (10,)]  # 1e6 parameters
MECHANISMS = {
    "gaussian": tn.Gaussian(1.0),
    "rectified": tn.RectifiedGaussian(1.0, -3.0, 3.0),
    "sign": tn.StochasticSign(1.0),
    "truncated": tn.TruncatedGaussian(1.0, -1.0, 1.0),
}


@pytest.fixture
def sums():
    torch.manual_seed(0)
    return [torch.randn(shape) for shape in WIDTHS]


@pytest.mark.benchmark(group="noise on a network of 1e6 parameters")
@pytest.mark.parametrize("name", MECHANISMS)
def test_release(benchmark, sums, name):
    benchmark(tn.torch.release, sums, MECHANISMS[name])


@pytest.mark.benchmark(group="noise on a network of 1e6 parameters")
@pytest.mark.parametrize("secure", [False, True], ids=["opacus", "opacus, secure mode"])
def test_opacus(benchmark, sums, secure):
    def noisy():
        for part in sums:
            noise = optimizers._generate_noise(std=1.0, reference=part, secure_mode=secure)
            part + noise

    benchmark(noisy)
