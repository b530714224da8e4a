"""The losses of one coordinate of a bounded domain, beside 120 digits, and their shape."""

from pathlib import Path

import numpy as np
import pytest

from tightnoise import _core

TABLE = np.load(Path(__file__).parent.parent / "reference" / "bounded_losses.npz")

# Relative errors of loss and slope; of the theorem's slope, which has a zero, in units of w.
LIMITS = {
    "truncated": (1.5e-15, 1.5e-15),
    "theorem": (2.5e-15, 1e-15),
    "rectified": (1.5e-15, 1.2e-15),
    "bounded_laplace": (1e-15, 1e-15),
}


def loss_and_slope(name, k, w):
    k, w = (np.ascontiguousarray(a, float) for a in np.broadcast_arrays(k, w))
    loss, slope = np.empty(k.shape), np.empty(k.shape)
    getattr(_core.domain, f"{name}_loss")(k, w, loss, slope)
    return loss, slope


@pytest.mark.parametrize("name", LIMITS)
def test_against_120_digits(name, check_error):
    k, w = TABLE["k"], TABLE["w"]
    loss, slope = loss_and_slope(name, k, w)
    exact_loss, exact_slope = TABLE[name]
    unit = w if name == "theorem" else np.where(exact_slope > 0, exact_slope, 1.0)
    loss_limit, slope_limit = LIMITS[name]
    positive = exact_loss > 0
    assert (loss[~positive] == 0).all()
    errors = np.abs(loss - exact_loss)[positive] / exact_loss[positive]
    check_error(f"domain: {name} loss", errors.max(), loss_limit)
    check_error(f"domain: {name} slope", (np.abs(slope - exact_slope) / unit).max(), slope_limit)


@pytest.mark.parametrize("name", LIMITS)
def test_shape(name):
    """Rises with k, concave, rises as the scale falls; to within rounding."""
    share = np.linspace(0.0, 1.0, 401)
    w = np.geomspace(1e-3, 1e3, 200)[:, np.newaxis]
    loss, slope = loss_and_slope(name, share * w, np.broadcast_to(w, (200, 401)))
    room = 1e-14 * loss.max(axis=1, keepdims=True)
    assert (loss[:, 0] == 0).all()
    assert (np.diff(loss, axis=1) >= -room).all()
    assert (slope >= 0).all()
    assert (np.diff(slope, axis=1) <= 1e-14 * slope[:, :1]).all()
    assert (np.diff(loss, axis=0)[:, 1:] > -1e-15).all()
    if name != "theorem":
        assert (np.diff(loss, axis=0)[:, 1:] > 0).all()


def test_all_of_the_domain():
    """Where neighbours may be at opposite ends, w^2/2 and w."""
    w = np.geomspace(1e-10, 1e10, 500)
    assert loss_and_slope("truncated", w, w)[0] == pytest.approx(w * w / 2, rel=1e-15)
    assert loss_and_slope("bounded_laplace", w, w)[0] == pytest.approx(w, rel=1e-15)


@pytest.mark.parametrize("name", LIMITS)
def test_nothing_and_nan(name):
    loss, slope = loss_and_slope(name, [0.0, np.nan, 0.5], [2.0, 2.0, np.nan])
    assert loss[0] == 0
    assert slope[0] > 0
    assert np.isnan(loss[1:]).all()
    assert np.isnan(slope[1:]).all()
