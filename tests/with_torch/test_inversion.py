"""Images rebuilt from gradients: without noise nearly all, with noise less."""

import itertools

import numpy as np
import pytest

import tightnoise as tn

torch = pytest.importorskip("torch", reason="PyTorch is not installed: extra torch")
SIDE = 16


@pytest.fixture(scope="module")
def leaked():
    """A network, an image and its gradient."""
    torch.manual_seed(0)
    sizes = [SIDE * SIDE, 50, 15, 10]
    layers = [torch.nn.Flatten(), torch.nn.Linear(sizes[0], sizes[1], bias=False)]
    for a, b in ((50, 15), (15, 10)):
        layers += [torch.nn.Sigmoid(), torch.nn.Linear(a, b, bias=False)]
    net = torch.nn.Sequential(*layers)
    rows, columns = np.mgrid[:SIDE, :SIDE] / (SIDE - 1.0)
    image = np.exp(-20 * ((rows - 0.4) ** 2 + (columns - 0.6) ** 2)) + (np.abs(rows - 0.8) < 0.1)
    image = torch.tensor(np.clip(image, 0, 1), dtype=torch.float32).view(1, 1, SIDE, SIDE)
    label = torch.tensor([3])
    loss = torch.nn.functional.cross_entropy(net(image), label)
    gradient = torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, list(net.parameters()))])
    return net, image, label, gradient


def error(found, image):
    return tn.attack.mse(found.reshape(SIDE, SIDE), image.reshape(SIDE, SIDE))


def test_without_noise_all_three_see_the_image(leaked):
    net, image, label, gradient = leaked
    seen = tn.attack.spectral(gradient[: 50 * SIDE * SIDE].reshape(50, -1).numpy(), (SIDE, SIDE))
    assert error(seen, image) < 1e-3
    assert tn.attack.ssim(seen, image[0, 0]) > 0.95
    cosine = tn.attack.invert(net, gradient, label, tuple(image.shape), iterations=250)
    assert cosine.loss < 1e-2
    assert error(cosine.inputs, image) < 0.01
    nearest = tn.attack.invert_l2(net, gradient, tuple(image.shape), 10, iterations=60)
    assert nearest.loss < 1e-3 * float(gradient.square().sum())


def test_with_noise_none_does(leaked):
    net, image, label, gradient = leaked
    direction = (gradient / gradient.norm()).double().numpy()
    noisy = tn.VonMisesFisher(500.0, direction.size).sample(direction, rng=tn.random.NoiseStream(3))
    seen = tn.attack.spectral(noisy[: 50 * SIDE * SIDE].reshape(50, -1), (SIDE, SIDE))
    found = tn.attack.invert(net, torch.from_numpy(noisy), label, tuple(image.shape), iterations=60)
    assert error(seen, image) > 0.05
    assert error(found.inputs, image) > 0.05


def test_what_is_not_inverted(leaked):
    net, image, label, gradient = leaked
    shape = tuple(image.shape)
    with pytest.raises(ValueError, match="13700 numbers, as the model; got 13699"):
        tn.attack.invert(net, gradient[1:], label, shape)
    with pytest.raises(ValueError, match="finite and not 0"):
        tn.attack.invert_l2(net, gradient * 0, shape, 10)
    with pytest.raises(ValueError, match="iterations"):
        tn.attack.invert(net, gradient, label, shape, iterations=0)
    with pytest.raises(ValueError, match="restarts"):
        tn.attack.invert_l2(net, gradient, shape, 10, restarts=0)


@pytest.mark.parametrize("attack", ["invert", "invert_l2"])
def test_restarts_return_the_best(leaked, attack):
    net, image, label, gradient = leaked
    shape = tuple(image.shape)
    arguments = (net, gradient, label, shape) if attack == "invert" else (net, gradient, shape, 10)
    invert = getattr(tn.attack, attack)
    losses = [invert(*arguments, iterations=4, restarts=count).loss for count in (1, 2, 4)]
    for fewer, more in itertools.pairwise(losses):
        assert more <= fewer * (1 + 1e-4)  # products of larger matrices are rounded otherwise
    assert losses[-1] < losses[0]
