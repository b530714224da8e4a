"""Tensors in, tensors out, and written in place; of the CPU (test_cuda.py: of a GPU)."""

from __future__ import annotations

import numpy as np
import pytest

import tightnoise as tn

torch = pytest.importorskip("torch", reason="PyTorch is not installed: extra torch")


def stream():
    return tn.random.NoiseStream(seed=7)


LAWS = [tn.Gaussian(1.0), tn.Laplace(1.0), tn.TruncatedGaussian(1.0, -1.0, 1.0)]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_tensor_comes_back(law, dtype):
    theta = torch.tensor([[0.5, -0.25], [0.125, 1.0]], dtype=dtype)
    noisy = law.sample(theta, rng=stream())
    assert isinstance(noisy, torch.Tensor)
    assert noisy.dtype == dtype
    assert noisy.shape == theta.shape
    expected = law.sample(theta.numpy(), rng=stream())
    assert np.array_equal(noisy.numpy(), expected)
    assert isinstance(law.cdf(theta, theta), torch.Tensor)
    assert isinstance(law.sample(theta[0, 0]), torch.Tensor)
    turned = law.sample(theta.T, rng=stream())  # not contiguous
    assert np.array_equal(turned.numpy(), law.sample(theta.numpy().T, rng=stream()))


@pytest.mark.parametrize("law", LAWS)
def test_a_tensor_is_written_in_place(law):
    theta = torch.tensor([0.5, -0.25, 0.125])
    expected = law.sample(theta.numpy(), rng=stream())
    place = theta.data_ptr()
    assert law.sample(theta, rng=stream(), out=theta) is theta
    assert theta.data_ptr() == place
    assert np.array_equal(theta.numpy(), expected)
    apart = torch.empty(3)
    assert law.sample(np.zeros(3, np.float32), out=apart) is apart
    assert tn.VonMisesFisher(3.0, 3).sample(apart, out=apart) is apart
    assert abs(float(apart @ apart) - 1) < 0.02
    assert tn.random.NoiseStream().standard_normal(out=apart) is apart


def test_blocks_of_a_model_in_place():
    layers = [torch.ones(4, 3), torch.ones(4, 2)]
    product = tn.ProductVonMisesFisher(10.0, [3, 2])
    assert product.sample(layers, out=layers) is layers
    assert all(float((row @ row - 1).abs()) < 0.05 for layer in layers for row in layer)


def test_what_is_refused():
    law = tn.Gaussian(1.0)
    needing = torch.zeros(3, requires_grad=True)
    with pytest.raises(TypeError, match=r"theta must not require a gradient: pass theta\.detach"):
        law.sample(needing)
    with pytest.raises(TypeError, match=r"theta must not require a gradient"):
        law.cost_at(needing, sensitivity=1.0)
    with pytest.raises(TypeError, match=r"out must not require a gradient"):
        law.sample(torch.zeros(3), out=needing)
    with pytest.raises(TypeError, match=r"not bfloat16: pass theta\.float\(\)"):
        law.sample(torch.zeros(3, dtype=torch.bfloat16))
    with pytest.raises(TypeError, match=r"theta must be dense"):
        law.sample(torch.zeros(3).to_sparse())
    with pytest.raises(ValueError, match=r"out must have shape \(3,\) and dtype float32; got \(3,"):
        law.sample(torch.zeros(3), out=torch.zeros(3, dtype=torch.float64))
    with pytest.raises(ValueError, match="out must be writeable, aligned and C-contiguous"):
        law.sample(torch.zeros(2, 3), out=torch.zeros(3, 2).T)
    with pytest.raises(TypeError, match=r"theta must be an array that NumPy can read.*meta"):
        law.sample(torch.zeros(3, device="meta"))
    with pytest.raises(TypeError, match=r"out must be in the memory of the CPU; got .* meta"):
        law.sample(torch.zeros(3), out=torch.zeros(3, device="meta"))
    with pytest.raises(ValueError, match=r"theta must be finite; got nan at index \(1,\)"):
        law.sample(torch.tensor([0.0, torch.nan]))
