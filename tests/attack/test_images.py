"""How near images are."""

import numpy as np
import pytest
from scipy.ndimage import uniform_filter

import tightnoise as tn


def test_ssim_is_that_of_a_filter(rng):
    """As scikit-image has it: valid windows of its uniform filter."""
    for _ in range(5):
        a, b = rng.random((2, 12, 17))
        b = 0.5 * a + 0.5 * b
        at, bt = uniform_filter(a, 7), uniform_filter(b, 7)
        aa, bb, ab = (
            49 / 48 * (uniform_filter(x, 7) - y)
            for x, y in ((a * a, at * at), (b * b, bt * bt), (a * b, at * bt))
        )
        whole = (2 * at * bt + 1e-4) * (2 * ab + 9e-4) / ((at**2 + bt**2 + 1e-4) * (aa + bb + 9e-4))
        assert tn.attack.ssim(a, b) == pytest.approx(whole[3:-3, 3:-3].mean(), rel=1e-10)


def test_a_spectrum_shows_an_image_through_some_noise(rng):
    image = rng.random((9, 9))
    gradient = np.outer(rng.normal(size=20), image) + 0.01 * rng.normal(size=(20, 81))
    assert (
        tn.attack.mse(tn.attack.spectral(gradient, (9, 9)), image / np.quantile(image, 0.99)) < 0.01
    )


def test_bad_images():
    for function, arguments, message in [
        (tn.attack.mse, ([1.0], [1.0, 2.0]), "other must be of the shape"),
        (tn.attack.mse, ([np.nan], [1.0]), "image"),
        (tn.attack.ssim, (np.ones((6, 9)), np.ones((6, 9))), "7 x 7 or more"),
        (tn.attack.spectral, (np.ones((3, 5)), (2, 2)), r"of shape \(outputs, 4\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            function(*arguments)
