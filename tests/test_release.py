"""Releasing a value of a known range in one call."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.random import NoiseStream

KINDS = {
    "truncated_gaussian": (tn.TruncatedGaussian, tn.calibrate.truncated_gaussian),
    "rectified_gaussian": (tn.RectifiedGaussian, tn.calibrate.rectified_gaussian),
    "bounded_laplace": (tn.BoundedLaplace, tn.calibrate.bounded_laplace),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_is_released_by_the_calibrated_mechanism(kind: str) -> None:
    mechanism, calibrate = KINDS[kind]
    release = tn.release_bounded(3, 0.7, 1, 9, 2, mechanism=kind, rng=NoiseStream(seed=3))
    expected = mechanism(calibrate(0.7, 1, 9, 2), 1, 9)
    assert release.mechanism == expected
    assert release.value == expected.sample(3.0, rng=NoiseStream(seed=3))
    assert isinstance(release.value, float)
    assert (release.epsilon, release.delta) == (0.7, 0.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sensitivity", [2.5, [4, 2]], ids=["norm", "entries"])
def test_an_array_is_released_in_its_box(kind: str, sensitivity: object) -> None:
    mechanism, calibrate = KINDS[kind]
    value = np.array([[3.0], [4.0]])
    lower, upper = [[0], [1]], [[10], [9]]
    per_entry = sensitivity if np.ndim(sensitivity) == 0 else np.reshape(sensitivity, (2, 1))
    stream = NoiseStream(seed=3)
    release = tn.release_bounded(value, 0.7, lower, upper, per_entry, mechanism=kind, rng=stream)
    scale = calibrate(0.7, [0, 1], [10, 9], sensitivity)
    expected = mechanism(scale, np.asarray(lower), np.asarray(upper))
    assert release.mechanism == expected
    assert np.array_equal(release.value, expected.sample(value, rng=NoiseStream(seed=3)))


def test_numbers_as_bounds_of_an_array_hold_for_each_entry() -> None:
    value = np.full(5, 0.25)
    release = tn.release_bounded(value, 1.0, 0, 1, 0.5)
    assert release.mechanism.sigma == tn.calibrate.truncated_gaussian(
        1.0, np.zeros(5), np.ones(5), 0.5
    )
    assert np.shape(release.value) == (5,)


@pytest.mark.parametrize("kind", ["truncated_gaussian", "rectified_gaussian"])
def test_delta_is_spent_where_it_helps(kind: str) -> None:
    release = tn.release_bounded(0.5, 1.0, 0, 10, 1.0, delta=1e-3, mechanism=kind)
    assert release.delta == 1e-3
    pure = tn.release_bounded(0.5, 1.0, 0, 10, 1.0, mechanism=kind)
    assert np.asarray(release.mechanism.sigma) < np.asarray(pure.mechanism.sigma)


def test_bounded_laplace_spends_no_delta() -> None:
    release = tn.release_bounded(0.5, 1.0, 0, 10, 1.0, delta=1e-3, mechanism="bounded_laplace")
    assert release.delta == 0.0


def test_values_at_the_bounds_and_float32_roundings_of_them_are_inside() -> None:
    assert 0.0 <= tn.release_bounded(0.0, 1.0, 0, 0.1, 0.1).value <= 0.1
    clipped = np.clip(np.array([5.0, 0.05], np.float32), 0, 0.1)
    assert float(clipped[0]) > 0.1
    noisy = tn.release_bounded(clipped, 1.0, 0, 0.1, 0.1).value
    assert np.all((noisy >= 0) & (noisy <= 0.1))


def test_a_float32_within_bounds_that_float32_cannot_hold() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = tn.release_bounded(np.float32(0.5), 1.0, -1e300, 1e300, 1e299)
    assert -1e300 <= release.value <= 1e300


def test_a_release_is_drawn_anew_each_time() -> None:
    values = {float(tn.release_bounded(3.0, 1.0, 0, 10, 1.0).value) for _ in range(5)}
    assert len(values) == 5  # equal by chance: below 1e-15


@pytest.mark.parametrize("value", [3.0, [3.0, 4.0]])
def test_a_release_can_be_pickled_and_hashed(value: object) -> None:
    release = tn.release_bounded(value, 1.0, 0, 10, 1.0)
    again = pickle.loads(pickle.dumps(release))
    assert np.array_equal(again.value, release.value)
    assert (again.epsilon, again.delta, again.mechanism) == (1.0, 0.0, release.mechanism)
    assert {release: "kept"}[release] == "kept"


@pytest.mark.parametrize("value", [-0.1, 10.5, [1.0, 11.0]])
def test_a_value_outside_is_refused_and_named(value: object) -> None:
    with pytest.raises(ValueError, match=r"value must lie between its bounds 0\.0 and 10\.0; got"):
        tn.release_bounded(value, 1.0, 0, 10, 1.0)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"value": float("nan")}, ValueError, "value must be finite; got nan"),
        ({"value": []}, ValueError, "value must be not empty"),
        ({"value": "3"}, TypeError, "value must hold"),
        ({"epsilon": 0.0}, ValueError, r"epsilon must be between 1e-100 and"),
        ({"epsilon": [1.0, 2.0]}, TypeError, "epsilon must be a real number"),
        ({"lower": 10}, ValueError, "lower must be less than upper"),
        ({"upper": float("inf")}, ValueError, "upper must be finite"),
        ({"lower": [0, 0, 0]}, ValueError, r"value must be of the shape \(3,\) of the bounds"),
        ({"sensitivity": 0.0}, ValueError, "sensitivity must be greater than 0"),
        ({"sensitivity": [1.0, 2.0]}, ValueError, r"sensitivity must be a number .* \(\) of value"),
        ({"delta": 1.0}, ValueError, r"delta must be at least 0 and less than 1; got 1\.0"),
        ({"delta": -1e-9}, ValueError, "delta must be at least 0 and less than 1"),
        ({"mechanism": "gaussian"}, ValueError, "mechanism must be one of 'truncated_gaussian'"),
        ({"rng": 3}, TypeError, "rng must be a NoiseStream or None; got int"),
    ],
)
def test_bad_arguments_are_named(
    changed: dict[str, object], error: type[Exception], message: str
) -> None:
    arguments: dict[str, object] = {
        "value": 3.0, "epsilon": 1.0, "lower": 0, "upper": 10, "sensitivity": 1.0
    }  # fmt: skip
    with pytest.raises(error, match=message):
        tn.release_bounded(**{**arguments, **changed})  # type: ignore[arg-type]


def test_an_array_with_delta_is_refused_with_advice() -> None:
    with pytest.raises(ValueError, match=r"delta must be 0 for a box: .* Calibrate for delta = 0"):
        tn.release_bounded([1.0, 2.0], 1.0, 0, 10, 1.0, delta=1e-5)
