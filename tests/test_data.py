"""The shipped gradient is what its documentation says, and so is the script that made it."""

import importlib.util

import make_digits_gradient as script
import numpy as np
import pytest

from tightnoise.data import digits_gradient


def test_shipped_gradient():
    gradient, sensitivity = digits_gradient()
    assert gradient.dtype == np.float32
    assert gradient.shape == (64 * 32 + 32 + 32 * 10 + 10,)
    assert np.isfinite(gradient).all()
    assert sensitivity == script.CLIP
    # 1,797 examples, each at most one clip; multiples of the grid
    assert np.abs(gradient).max() <= 1797 * sensitivity
    assert not np.fmod(gradient.astype(np.float64), script.GRID).any()
    # neither all noise nor all clipped: a quarter and more on either side of 48 clips
    assert 0.25 < np.mean(np.abs(gradient) < 48 * sensitivity) < 0.75
    gradient[:] = 0
    assert digits_gradient()[0].any()


@pytest.fixture
def toy(rng):
    labels = rng.integers(3, size=60)
    images = rng.normal(size=(3, 5))[labels] + 0.1 * rng.normal(size=(60, 5))
    return images, labels


def loss(network, images, labels):
    logits = np.tanh(images @ network.w1 + network.b1) @ network.w2 + network.b2
    return np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(labels.size), labels]


def test_gradients_are_the_derivatives_of_the_loss(toy, rng):
    images, labels = toy
    network = script.initial(rng, 5, 4, 3)
    gradients = script.per_example_gradients(network, images, labels)
    step = 1e-6
    for j in range(gradients.shape[1]):
        direction = np.zeros(gradients.shape[1])
        direction[j] = step
        up, down = (script.descend(network, direction, sign) for sign in (-1, 1))
        slope = (loss(up, images, labels) - loss(down, images, labels)) / (2 * step)
        np.testing.assert_allclose(gradients[:, j], slope, atol=1e-8)


def test_one_example_changes_no_coordinate_by_more_than_the_clip(toy, rng):
    images, labels = toy
    network = script.initial(rng, 5, 4, 3)
    gradients = 10 * script.per_example_gradients(network, images, labels)
    everyone = script.clipped_sum(gradients)
    changes = [np.abs(everyone - script.clipped_sum(np.delete(gradients, i, 0))) for i in range(60)]
    assert np.max(changes) == script.CLIP


def test_the_network_learns(toy):
    images, labels = toy
    size = {"hidden": 4, "classes": 3, "batch": 20}
    before, after = (script.make(images, labels, steps=steps, **size) for steps in (0, 200))
    assert np.abs(after).sum() < np.abs(before).sum()
    assert np.array_equal(after, script.make(images, labels, steps=200, **size))


def test_script_reproduces_the_file():
    if importlib.util.find_spec("sklearn") is None:
        return  # scikit-learn is needed to make the file, not to test the package
    made = script.make(*script.digits())
    # Rounding in the matrix products may move a term to the next multiple of the grid.
    np.testing.assert_allclose(made, digits_gradient()[0], rtol=0, atol=1797 * script.GRID)
