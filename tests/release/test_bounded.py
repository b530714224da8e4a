"""Releasing a value of a known range in one call."""

from __future__ import annotations

import dataclasses
import math
import pickle
import warnings

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.random import NoiseStream

KINDS = {
    "truncated Gaussian": (tn.TruncatedGaussian, tn.calibrate.truncated_gaussian),
    "rectified Gaussian": (tn.RectifiedGaussian, tn.calibrate.rectified_gaussian),
    "bounded Laplace": (tn.BoundedLaplace, tn.calibrate.bounded_laplace),
}


def on_its_grid(release: tn.BoundedRelease) -> bool:
    """Whether what was drawn is a multiple of the step, or a bound."""
    noisy, step = np.asarray(release.noisy), np.asarray(release.grid)
    assert (np.frexp(step)[0] == 0.5).all()
    bounds = [getattr(release.mechanism, name, np.nan) for name in ("lower", "upper")]
    return bool(((noisy % step == 0) | np.isin(noisy, bounds)).all())


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_is_released_by_the_calibrated_mechanism(kind: str) -> None:
    mechanism, calibrate = KINDS[kind]
    release = tn.release_bounded(
        3, 0.7, lower=1, upper=9, sensitivity=2, mechanism=kind, rng=NoiseStream(seed=3)
    )
    expected = calibrate(0.7, lower=1, upper=9, sensitivity=2)
    assert type(expected) is mechanism
    assert release.mechanism == expected
    assert release.value == release.noisy == expected.sample(3.0, rng=NoiseStream(seed=3))
    least = min(expected._law.scale.item(), 8.0)  # the scale, or the width
    assert least / 128 < release.grid <= least / 64
    assert isinstance(release.value, float)
    assert 0.7 * (1 - 1e-9) <= release.cost.epsilon(0.0) <= 0.7


def test_the_default_is_the_least_error_for_one_release() -> None:
    """The mean age of 500 people: what was the default, a truncated Gaussian, errs 16 times."""
    ages = {"lower": 0, "upper": 120, "sensitivity": 120 / 500}
    release = tn.release_bounded(37.4, 1.0, **ages, rng=NoiseStream(seed=1))
    table = tn.compare_bounded(1.0, 0.0, lower=0, upper=120, sensitivity=120 / 500)
    assert release.choice == table.best
    assert release.choice.name == "staircase + clip"
    assert math.sqrt(release.choice.mse_average) == pytest.approx(0.3325, abs=1e-3)
    assert math.sqrt(table["truncated Gaussian"].mse_average) > 15 * 0.333
    # The middle is no release, though at little epsilon its error is least.
    assert tn.compare_bounded(0.1, 0.0, lower=0, upper=10, sensitivity=1).best.name == "middle"
    small = tn.release_bounded(3.0, 0.1, lower=0, upper=10, sensitivity=1)
    assert small.choice == tn.compare_bounded(0.1, 0.0, lower=0, upper=10, sensitivity=1)[1]
    assert small.cost.epsilon(0.0) <= 0.1 * (1 + 1e-12)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_every_row_of_the_table_can_be_named(delta: float) -> None:
    for row in tn.compare_bounded(1.0, delta, lower=0, upper=10, sensitivity=2, optimum=True):
        release = tn.release_bounded(
            9.5,
            1.0,
            lower=0,
            upper=10,
            sensitivity=2,
            delta=delta,
            mechanism=row.name,
            rng=NoiseStream(seed=8),
        )
        assert release.choice == row
        again = row.mechanism.sample(9.5, rng=NoiseStream(seed=8))
        assert (release.noisy, release.value) == (again, row.of(again, "value"))
        assert 0 <= release.value <= 10
        spends = row.name not in ("middle", "grid optimum")
        assert release.cost == row.cost
        assert release.cost.epsilon(delta if spends else 0.0) <= 1.0 + 1e-9
        assert (release.cost == tn.Cost()) == (row.name == "middle")
        if row.name in ("middle", "grid optimum"):
            assert release.grid is None
        else:
            assert on_its_grid(release)
            assert f"grid={release.grid}" in repr(release)


@pytest.mark.nightly
def test_what_is_best_once_is_not_best_a_hundred_times() -> None:
    """All 100 stay within (10, 1e-6); 100 staircases of epsilon 1 cost 78 at 1e-5."""
    once = tn.release_bounded(3.0, 1.0, lower=0, upper=10, sensitivity=1)
    assert once.choice.name == "staircase + clip"
    assert (once.cost * 100).epsilon(1e-5) == pytest.approx(78.25, abs=0.01)
    many = tn.release_bounded(3.0, 10.0, lower=0, upper=10, sensitivity=1, delta=1e-6, count=100)
    assert "Gaussian" in many.choice.name
    assert (many.cost * 100).epsilon(1e-6) <= 10.0
    table = tn.compare_bounded(10.0, 1e-6, lower=0, upper=10, sensitivity=1, count=100)
    assert table.releases == 100
    assert table.best.mse_average < 0.8 * table["staircase + clip"].mse_average
    for row in table:
        assert row.epsilon <= 10.0
        if row.clip:
            assert (row.cost * 100).epsilon(1e-6) <= 10.0 * (1 + 1e-4)  # the lattice's
    # With no delta, costs add up.
    pure = tn.release_bounded(
        3.0, 10.0, lower=0, upper=10, sensitivity=1, count=100, mechanism="truncated Gaussian"
    )
    assert 10.0 * (1 - 1e-9) <= (pure.cost * 100).epsilon(0.0) <= 10.0 * (1 + 1e-11)


def test_many_releases_in_a_domain_cost_what_is_said() -> None:
    """The truncated Gaussian, against the pair at the lower end, composed by itself."""
    domain = {"lower": 0, "upper": 10, "sensitivity": 1}
    sigma = tn.calibrate.truncated_gaussian(3.0, 1e-6, **domain, count=20).sigma
    x = np.linspace(0, 10, 501)
    one, two = (np.diff(tn.TruncatedGaussian(sigma, 0, 10).cdf(x, theta)) for theta in (0.0, 1.0))
    # Cells of the output, of which the loss is an average: so much is lost at least.
    loss = np.log(one / two)
    lower = (tn.Cost.of_losses(loss, one) * 20).epsilon(1e-6)
    assert 2.0 < lower <= 3.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sensitivity", [2.5, [4, 2]], ids=["norm", "entries"])
def test_an_array_is_released_in_its_box(kind: str, sensitivity: object) -> None:
    mechanism, calibrate = KINDS[kind]
    value = np.array([[3.0], [4.0]])
    lower, upper = [[0], [1]], [[10], [9]]
    change = {"sensitivity": sensitivity}
    if np.ndim(sensitivity):
        change = {"coordinate_sensitivity": np.reshape(sensitivity, (2, 1))}
    stream = NoiseStream(seed=3)
    release = tn.release_bounded(
        value, 0.7, lower=lower, upper=upper, **change, mechanism=kind, rng=stream
    )
    assert 0.7 * (1 - 1e-9) <= release.cost.epsilon(0.0) <= 0.7 * (1 + 1e-9)
    change = {name: np.ravel(size) if np.ndim(size) else size for name, size in change.items()}
    scale = calibrate(0.7, lower=[0, 1], upper=[10, 9], **change)._law.scale.item()
    expected = mechanism(scale, np.asarray(lower), np.asarray(upper))
    assert release.mechanism == expected
    assert np.array_equal(release.value, expected.sample(value, rng=NoiseStream(seed=3)))
    assert on_its_grid(release)
    # Estimates are those of the coordinates, one by one.
    row = tn.compare_bounded(1.0, 0.0, lower=1, upper=9, sensitivity=2)[kind]
    alone = dataclasses.replace(row, mechanism=mechanism(float(scale), 1.0, 9.0))
    for estimate in ("linear", "posterior_mean"):
        found = release.estimate(estimate)
        assert found.shape == value.shape
        assert found[1, 0] == pytest.approx(float(alone.of(release.value[1, 0], estimate)))


def test_the_best_for_an_array_has_the_least_error() -> None:
    for width in (1.0, 30.0):
        rows = tn.compare_bounded(1.0, 0.0, lower=0, upper=width, sensitivity=1.0)
        best = min((rows[kind] for kind in KINDS), key=lambda row: row.mse_average)
        release = tn.release_bounded([0.25], 1.0, lower=0, upper=width, sensitivity=1.0)
        assert type(release.mechanism) is KINDS[best.name][0]
    with pytest.raises(ValueError, match=r"mechanism must be one of 'best', 'trunc.* for an array"):
        tn.release_bounded(
            [0.25], 1.0, lower=0, upper=1, sensitivity=1.0, mechanism="staircase + clip"
        )


def test_an_estimate_is_that_of_the_choice() -> None:
    release = tn.release_bounded(
        3.0, 0.33, lower=0, upper=10, sensitivity=1, rng=NoiseStream(seed=5)
    )
    assert release.estimate() == float(release.choice.of(release.noisy))
    assert 0 <= release.estimate() <= 10
    with pytest.raises(ValueError, match="kind must be one of 'linear', 'posterior_mean'; got 'x'"):
        release.estimate("x")


def test_numbers_as_bounds_of_an_array_hold_for_each_entry() -> None:
    value = np.full(5, 0.25)
    release = tn.release_bounded(
        value, 1.0, lower=0, upper=1, sensitivity=0.5, mechanism="truncated Gaussian"
    )
    alike = tn.calibrate.truncated_gaussian(
        1.0, lower=np.zeros(5), upper=np.ones(5), sensitivity=0.5
    )
    assert release.mechanism.sigma == alike.sigma
    assert np.shape(release.value) == (5,)


@pytest.mark.parametrize("kind", ["truncated Gaussian", "rectified Gaussian", "bounded Laplace"])
def test_delta_is_spent_where_it_helps(kind: str) -> None:
    release = tn.release_bounded(
        0.5, 1.0, lower=0, upper=10, sensitivity=1.0, delta=1e-3, mechanism=kind
    )
    assert release.cost.epsilon(1e-3) <= 1.0 < release.cost.epsilon(0.0)
    pure = tn.release_bounded(0.5, 1.0, lower=0, upper=10, sensitivity=1.0, mechanism=kind)
    assert np.all(release.mechanism.var(5.0) < pure.mechanism.var(5.0))


def test_values_at_the_bounds_and_float32_roundings_of_them_are_inside() -> None:
    assert 0.0 <= tn.release_bounded(0.0, 1.0, lower=0, upper=0.1, sensitivity=0.1).value <= 0.1
    clipped = np.clip(np.array([5.0, 0.05], np.float32), 0, 0.1)
    assert float(clipped[0]) > 0.1
    noisy = tn.release_bounded(clipped, 1.0, lower=0, upper=0.1, sensitivity=0.1).value
    assert np.all((noisy >= 0) & (noisy <= 0.1))


def test_a_float32_within_bounds_that_float32_cannot_hold() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = tn.release_bounded(
            np.float32(0.5), 1.0, lower=-1e149, upper=1e149, sensitivity=1e148
        )
    assert -1e149 <= release.value <= 1e149


def test_integers_that_float64_would_round_are_refused() -> None:
    # Rounded, neighbours 1 apart could be 2 apart.
    with pytest.raises(ValueError, match=r"value must be at most 2\*\*53 in magnitude"):
        tn.release_bounded(2**53 + 1, 1.0, lower=0, upper=2**60, sensitivity=1)


def test_a_release_is_drawn_anew_each_time() -> None:
    values = {
        float(tn.release_bounded(3.0, 1.0, lower=0, upper=10, sensitivity=1.0).value)
        for _ in range(5)
    }
    assert len(values) > 1  # all equal by chance: below 1e-9; some may be, on a grid


@pytest.mark.parametrize("value", [3.0, [3.0, 4.0]])
def test_a_release_can_be_pickled_and_hashed(value: object) -> None:
    release = tn.release_bounded(value, 1.0, lower=0, upper=10, sensitivity=1.0)
    again = pickle.loads(pickle.dumps(release))
    assert np.array_equal(again.value, release.value)
    assert (again.cost, again.mechanism) == (release.cost, release.mechanism)
    assert {release: "kept"}[release] == "kept"


@pytest.mark.parametrize("value", [-0.1, 10.5, [1.0, 11.0]])
def test_a_value_outside_is_refused_and_named(value: object) -> None:
    with pytest.raises(ValueError, match=r"value must lie between its bounds 0\.0 and 10\.0; got"):
        tn.release_bounded(value, 1.0, lower=0, upper=10, sensitivity=1.0)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"value": float("nan")}, ValueError, "value must be finite; got nan"),
        ({"value": []}, ValueError, "value must be not empty"),
        ({"value": "3"}, TypeError, "value must hold"),
        ({"epsilon": 0.0}, ValueError, "epsilon must be greater than 0"),
        ({"epsilon": [1.0, 2.0]}, TypeError, "epsilon must be a real number"),
        ({"lower": 10}, ValueError, "lower must be less than upper"),
        ({"upper": float("inf")}, ValueError, "upper must be finite"),
        ({"lower": [0, 0, 0]}, ValueError, r"value must be of the shape \(3,\) of the bounds"),
        ({"sensitivity": 0.0}, ValueError, "sensitivity must be greater than 0"),
        ({"sensitivity": [1.0, 2.0]}, TypeError, "sensitivity must be a real number"),
        ({"sensitivity": None}, TypeError, "sensitivity or coordinate_sensitivity must be given"),
        ({"adjacency": "neighbours"}, ValueError, "adjacency must be None, 'add-remove'"),
        ({"delta": 1.0}, ValueError, r"delta must be at least 0 and below 1; got 1\.0"),
        ({"delta": -1e-9}, ValueError, "delta must be at least 0 and below 1"),
        ({"mechanism": "gaussian"}, ValueError, "mechanism must be one of 'best', 'middle'"),
        ({"count": 0}, ValueError, "count must be between 1 and"),
        ({"prior": [1.0, 0.0]}, ValueError, "prior must be greater than 0 and finite.*; got 0"),
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


@pytest.mark.parametrize("count", [1, 3])
def test_an_array_spends_its_delta(count: int) -> None:
    release = tn.release_bounded(
        [1.0, 2.0], 1.0, 1e-5, lower=0, upper=10, sensitivity=1.0, count=count
    )
    assert (release.cost * count).epsilon(1e-5) <= 1.0
