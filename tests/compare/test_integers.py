"""Answers that are integers: ranked by the exact errors of what is released."""

import math

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.compare import _integer_posterior, bounded_errors
from tightnoise.compare._estimates import Linear, PosteriorMean
from tightnoise.compare._prior import prior_of
from tightnoise.compare.bounded import CRITERIA
from tightnoise.compare.bounded_errors import errors_of, utility_of


@pytest.fixture
def drawn(monkeypatch):
    """Let mechanisms draw integers by rounding their floats, and note how they are asked."""
    calls = []

    def sample_integers(self, theta, *, rng=None, grid="auto"):
        calls.append((self, grid))
        return np.floor(self.sample(theta, rng=rng) / grid + 0.5).astype(np.int64), grid

    for base in (tn.mechanisms.AdditiveNoise, tn.mechanisms.CoordinateMechanism):
        monkeypatch.setattr(base, "sample_integers", sample_integers, raising=False)
    return calls


# --- one number -----------------------------------------------------------------------------------
@pytest.mark.parametrize(("epsilon", "rounded", "without"), [
    (3.0, 0.0998, 0.2348), (5.0, 0.0135, 0.0826),
])  # fmt: skip
def test_rounding_halves_the_error_of_counts(epsilon, rounded, without):
    best = tn.best_noise(epsilon, 0.0, sensitivity=1.0, integer=True).best
    assert (best.name, round(best.mean_abs, 4)) == ("Tulap", rounded)
    assert round(tn.best_noise(epsilon, 0.0, sensitivity=1.0).best.mean_abs, 4) == without
    assert best.mean_abs == pytest.approx(1 / math.sinh(epsilon), rel=1e-13)
    assert best.variance == pytest.approx(1 / (math.cosh(epsilon) - 1), rel=1e-13)


@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_every_choice_is_private_and_ranked_by_what_is_released(loss, quick):
    ranking = tn.best_noise(2.0, 1e-4, sensitivity=3.0, loss=loss, integer=True)
    plain = tn.best_noise(2.0, 1e-4, sensitivity=3.0, loss=loss)
    assert sorted(choice.name for choice in ranking) == sorted(choice.name for choice in plain)
    losses = [ranking.loss_of(choice) for choice in ranking]
    assert losses == sorted(losses)
    k = np.arange(-3000, 3001)
    for choice in ranking:
        assert choice.integer
        assert choice.cost.delta(2.0) <= 1e-4
        probability = choice.mechanism.rounded().pmf(k)
        assert choice.mean_abs == pytest.approx(probability @ np.abs(k), rel=1e-12)
        assert choice.variance == pytest.approx(probability @ (k * k), rel=1e-12)
        if choice.name == "staircase":
            assert (choice.mechanism.gamma * 3.0) % 1 == pytest.approx(0.5)
        else:
            assert choice.mechanism == next(c.mechanism for c in plain if c.name == choice.name)


def test_a_sensitivity_that_is_no_integer_is_rounded_up(quick):
    ranking = tn.best_noise(1.0, 1e-5, sensitivity=1.5, integer=True)
    assert ranking == tn.best_noise(1.0, 1e-5, sensitivity=2.0, integer=True)
    assert (ranking.sensitivity, ranking.integer) == (2.0, True)
    *_, said, rounded = str(ranking).splitlines()
    assert said.startswith("outputs are rounded to integers")
    assert rounded == "sensitivity 1.5 is rounded up to 2"
    assert (
        len(str(tn.best_noise(1.0, 1e-5, sensitivity=2.0, integer=True)).splitlines())
        == len(ranking) + 2
    )
    assert tn.best_noise(1.0, 1e-5, sensitivity=2.0).notes == ()


def test_rows_draw_integers(drawn, quick):
    stream = tn.random.NoiseStream(seed=3)
    for choice in tn.best_noise(1.0, 1e-3, sensitivity=1.0, integer=True):
        found = choice.sample(np.array([3, 700]), rng=stream)
        assert (found.dtype, found.shape) == (np.int64, (2,))
        assert drawn[-1] == (choice.mechanism, 1.0)
        assert isinstance(choice.sample(3), np.int64)
    plain = tn.best_noise(1.0, 1e-3, sensitivity=1.0)[0]
    assert isinstance(plain.sample(3.0, rng=stream), float)


def test_integers_are_of_the_law_that_is_ranked(quick):
    # 8 laws, 9 letters each: a false alarm of 8 x 9 x 2 x Phi(-6.5) < 1e-8.
    n = 100_000
    for choice in tn.best_noise(1.0, 1e-3, sensitivity=1.0, integer=True):
        drawn = choice.sample(np.full(n, 7), rng=tn.random.NoiseStream(seed=5))
        k = np.arange(-4, 5)
        expected = n * choice.mechanism.rounded().pmf(k)
        counts = (drawn[:, np.newaxis] == 7 + k).sum(axis=0)
        assert (np.abs(counts - expected) < 6.5 * np.sqrt(expected) + 6.5).all()


# --- one number in a known range ------------------------------------------------------------------
def channel(mechanism, width, is_released):
    """Return P(output | truth) from distribution functions, and the outputs: all that count."""
    theta = np.arange(width + 1.0)
    inside = hasattr(mechanism, "lower")
    beyond = 0 if inside or is_released else 400
    y = np.arange(-beyond, width + beyond + 1.0)
    low, high = y - 0.5, y + 0.5
    if inside or is_released:
        low[0], high[-1] = -1e6, 1e6
    between = theta[:, np.newaxis]
    if inside:
        cdf = mechanism.cdf(np.clip(high, -1, width + 1), between)
        return cdf - np.where(low < 0, 0.0, mechanism.cdf(low, between)), y
    middle = np.abs(y - between)  # tails are exact below 0
    found = mechanism.cdf(-(middle - 0.5)) - mechanism.cdf(-(middle + 0.5))
    if is_released:
        found[:, 0], found[:, -1] = mechanism.cdf(0.5 - theta), mechanism.cdf(theta - width + 0.5)
    return found, y


def errors(mechanism, width, weights, estimate):
    """Return average and worst mean squared error of the value or of an estimate, and its bias."""
    table, y = channel(mechanism, width, estimate == "value")
    theta = np.arange(width + 1.0)
    given = y
    mean = weights @ theta
    if estimate == "linear":
        out = table @ y
        variance = weights @ (table @ (y * y)) - (weights @ out) ** 2
        given = mean + (weights @ (theta * out) - mean * (weights @ out)) / variance * (
            y - weights @ out
        )
    elif estimate == "posterior_mean":
        joint = weights[:, np.newaxis] * table
        total = joint.sum(axis=0)
        given = np.where(total > 0, theta @ joint / np.where(total > 0, total, 1), 0)
    square = (table * (given - theta[:, np.newaxis]) ** 2).sum(axis=1)
    return weights @ square, square.max(), np.abs(table @ given - theta).max()


MECHANISMS = [
    tn.TruncatedGaussian(0.7, 0.0, 9.0),
    tn.TruncatedGaussian(30.0, 0.0, 9.0),
    tn.RectifiedGaussian(1.3, 0.0, 9.0),
    tn.BoundedLaplace(0.9, 0.0, 9.0),
    tn.Gaussian(2.0),
    tn.Laplace(0.4),
    tn.Tulap(1.0, 1.0),
    tn.Tulap(1.0, 1.0, 6.3),
    tn.Staircase(0.7, 2.0, 0.3),
    tn.MultiGaussianMixture(0.3, 1.5, 2.0, 3),
    tn.QuasiGaussianMixture(0.6, 1.0, 1.0),
]
PRIORS = [None, np.arange(1.0, 11.0) ** 2]


def check_errors(mechanism, here, lower, width, weights, prior):
    """Compare with the sums of `errors`; `here` is the mechanism with its range from `lower` on."""
    found = utility_of(errors_of(here, lower, lower + width, integer=True), prior)
    average, worst, bias = errors(mechanism, width, weights, "value")
    # References of truncated laws are differences of probabilities.
    assert found.mse_average == pytest.approx(average, rel=1e-11)
    assert found.mse_worst == pytest.approx(worst, rel=1e-11)
    assert found.bias_worst == pytest.approx(bias, rel=1e-10)
    for estimate, kind in (("linear", Linear), ("posterior_mean", PosteriorMean)):
        rule = kind(here, lower, lower + width, prior, True)
        average, worst, _ = errors(mechanism, width, weights, estimate)
        assert rule.average() == pytest.approx(average, rel=1e-9)
        if estimate == "linear":
            assert rule.worst() == pytest.approx(worst, rel=1e-9)
        else:
            assert rule.worst() <= worst * (1 + 1e-9)  # the greatest of some


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize("weights", PRIORS, ids=["alike", "weighed"])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: repr(m)[:40])
def test_errors_are_those_of_every_output(mechanism, weights, is_long, monkeypatch):
    width, lower = 9, -4.0
    if is_long:
        monkeypatch.setattr(_integer_posterior, "_MOST_PAIRS", 0)
    here = mechanism
    if hasattr(mechanism, "lower"):
        scale = getattr(mechanism, "sigma", None) or mechanism.scale
        here = type(mechanism)(scale, lower, lower + width)
    mass = np.ones(10) if weights is None else weights
    prior = prior_of(None if weights is None else tuple(weights), width)
    check_errors(mechanism, here, lower, width, mass / mass.sum(), prior)


@pytest.mark.parametrize("cells", [None, (1.0, 4.0, 2.0)])
@pytest.mark.parametrize("mechanism", [tn.Laplace(0.6), tn.BoundedLaplace(0.5, 0.0, 200.0)])
def test_wide_ranges_are_summed_up_without_a_look_at_all_of_them(mechanism, cells):
    width = 200
    # 201 integers, 67 a cell.
    mass = np.repeat((1.0,) if cells is None else cells, 201 if cells is None else 67)
    prior = prior_of(cells, width)
    check_errors(mechanism, mechanism, 0.0, width, mass / mass.sum(), prior)


@pytest.mark.parametrize("mechanism", [
    tn.Gaussian(3000.0), tn.Tulap(1e-3, 1.0), tn.TruncatedGaussian(3000.0, 0.0, 2e4),
])  # fmt: skip
def test_of_very_wide_noise_rounding_is_a_uniform_error(mechanism, monkeypatch):
    theta = np.array([0.0, 17.0, 9000.0])
    exact = errors_of(mechanism, 0.0, 2e4, integer=True).at(theta)
    monkeypatch.setattr(bounded_errors, "_MOST_INTEGERS", 10)
    near = errors_of(mechanism, 0.0, 2e4, integer=True).at(theta)
    for one, other in zip(exact, near, strict=True):
        # 1/(12 x 1000^2), and as much of what an end adds.
        assert np.allclose(one, other, rtol=3e-7, atol=1e-3)


def test_noise_that_hardly_ever_goes_far_has_no_answer_for_millions():
    narrow = tn.Staircase(50.0, 1e7, 0.5e-7)
    with pytest.raises(ValueError, match="but hardly ever"):
        errors_of(narrow, 0.0, 1e8, integer=True)
    table = tn.compare_bounded(50.0, 0.0, lower=0, upper=1e8, sensitivity=1e7, integer=True)
    assert "hardly ever" in table.left_out["staircase + clip"]


def test_rows_are_sorted_by_the_errors_of_integers():
    table = tn.compare_bounded(3.0, 1e-6, lower=0, upper=20, sensitivity=1, integer=True)
    assert table.best.name == "Tulap + clip"
    assert all(choice.integer for choice in table)
    squares = [choice.mse_average for choice in table]
    assert squares == sorted(squares)
    assert table["staircase + clip"].mechanism.gamma == 0.5
    row = table["Tulap + clip"]
    assert row.mse(10.0) == pytest.approx(row.mechanism.rounded().var(), rel=1e-7)
    assert row.bias([0, 20]).tolist() == pytest.approx([row.bias_worst, -row.bias_worst])
    with pytest.raises(ValueError, match=r"^theta must be an integer; got 0\.5"):
        row.mse(0.5)
    for by in CRITERIA:
        assert all(math.isfinite(getattr(choice, by)) for choice in table)


def test_what_was_made_integers_is_told():
    table = tn.compare_bounded(1.0, 0.0, lower=-0.5, upper=9.7, sensitivity=1.5, integer=True)
    assert (table.lower, table.upper, table.sensitivity) == (0.0, 9.0, 2.0)
    assert table == tn.compare_bounded(1.0, 0.0, lower=0, upper=9, sensitivity=2, integer=True)
    assert str(table).splitlines()[-3:] == [
        "outputs are rounded to integers; errors are those of true values that are integers",
        "sensitivity 1.5 is rounded up to 2",
        "the integers are those from 0 to 9",
    ]
    assert tn.compare_bounded(1.0, 0.0, lower=0, upper=9, sensitivity=2).notes == ()
    assert (
        tn.compare_bounded(1.0, 0.0, lower=0, upper=3, sensitivity=70, integer=True).sensitivity
        == 3
    )
    with pytest.raises(ValueError, match="must have two integers between them"):
        tn.compare_bounded(1.0, 0.0, lower=0.2, upper=1.9, sensitivity=1, integer=True)


def test_wide_ranges_and_small_budgets_take_no_time_and_no_digits():
    for epsilon, upper in ((1.0, 2.0**53), (1e-9, 1e12)):
        table = tn.compare_bounded(epsilon, 1e-9, lower=0, upper=upper, sensitivity=1, integer=True)
        for row in table:
            assert row.posterior_mean_average <= row.linear_average * (1 + 1e-9)
            assert row.linear_average <= row.mse_worst * (1 + 1e-9)
        row = table["Laplace + clip"]
        ends = 4.0 * row.mse_worst / upper  # what the ends are an exception by, and more
        assert row.mse_average == pytest.approx(row.mechanism.rounded().var(), rel=ends + 1e-9)
    with pytest.raises(ValueError, match=r"^upper must be at most 2\^53 in size"):
        tn.compare_bounded(1.0, 0.0, lower=0, upper=1e17, sensitivity=1, integer=True)


def test_the_optimum_on_a_grid_is_left_out():
    table = tn.compare_bounded(
        1.0, 0.0, lower=0, upper=4, sensitivity=1, integer=True, optimum=True
    )
    assert table.left_out["grid optimum"] == "its values are no integers"


def test_rows_in_a_range_draw_integers_in_it(drawn):
    stream = tn.random.NoiseStream(seed=3)
    theta = np.array([[0, 5], [9, 2]])
    for choice in tn.compare_bounded(0.3, 1e-6, lower=0, upper=9, sensitivity=1, integer=True):
        found = choice.sample(theta, rng=stream)
        assert (found.dtype, found.shape) == (np.int64, (2, 2))
        assert ((found >= 0) & (found <= 9)).all()
        if choice.name != "middle":
            assert drawn[-1] == (choice.mechanism, 1.0)
        estimate = choice.sample(theta, estimate="posterior_mean", rng=stream)
        assert estimate.dtype == np.float64
        assert ((estimate >= 0) & (estimate <= 9)).all()
        assert isinstance(choice.sample(3), np.int64)
