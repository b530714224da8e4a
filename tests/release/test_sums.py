"""Means and sums: the best noise, what they cost, and what is wrong with the input."""

import pickle

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.compare.bounded import best_choice, choice_of, question_of, ranking_of

AGES = {"lower": 0, "upper": 120}


@pytest.fixture
def ages(rng):
    return rng.uniform(0, 120, 500)


def test_a_mean_of_500_is_as_near_as_the_best_of_all_mechanisms(ages):
    best = tn.compare_bounded(1.0, lower=0, upper=120, sensitivity=120 / 500).best
    release = tn.release_mean(ages, 1.0, **AGES, adjacency="replace-one")
    asked = question_of(1.0, 0.0, *release._noise.domain, 120.0, 1, None)
    chosen = best_choice(asked)
    assert chosen.mechanism == release.mechanism
    # The error of what is released, with the grid's, in the units of the mean:
    square = (chosen.mse_average + release.grid**2 / 12) / 500**2
    assert (square / best.mse_average) ** 0.5 <= 1.0001


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize(
    ("epsilon", "delta", "n"),
    [
        (1.0, 0.0, 40),
        (0.2, 0.0, 3),
        (0.1, 1e-6, 2),
        (5.0, 1e-5, 9),
        (2.0, 0.1, 5),
        (0.02, 0.0, 400),
    ],
)
def test_the_best_choice_is_that_of_the_ranking(epsilon, delta, n, integer):
    asked = question_of(epsilon, delta, 0.0, 12.0 * n, 12.0, 1, None)._replace(integer=integer)
    ranking = [choice for choice in ranking_of(asked) if choice.name != "middle"]
    chosen = best_choice(asked)
    assert chosen.mse_average <= ranking[0].mse_average * (1 + (1e-4 if n == 400 else 0))


@pytest.mark.parametrize(("epsilon", "delta", "width", "count"), [(1.0, 1e-6, 60.0, 100)])
def test_the_best_for_many_is_that_of_all_calibrated(epsilon, delta, width, count):
    asked = question_of(epsilon, delta, 0.0, width, 1.0, count, None)
    names = ("truncated Gaussian", "rectified Gaussian", "bounded Laplace", "Gaussian + clip")
    least = min(choice_of(name, asked).mse_average for name in names)
    chosen = best_choice(asked)
    assert chosen.mse_average <= least
    assert chosen.mechanism == choice_of(chosen.name, asked).mechanism  # and it meets the budget
    assert (chosen.cost * count).epsilon(delta) <= epsilon


def test_a_mean_as_it_is_drawn(ages):
    """The root mean square error of 5,000: 5 standard deviations, false alarm 6e-7."""
    stream = tn.random.NoiseStream(seed=3)
    best = tn.compare_bounded(1.0, lower=0, upper=120, sensitivity=120 / 500).best
    errors = (
        np.array(
            [
                tn.release_mean(ages, 1.0, **AGES, adjacency="replace-one", rng=stream).value
                for _ in range(5000)
            ]
        )
        - np.clip(ages, 0, 120).mean()
    )
    square = (errors**2).mean()
    assert abs(square / best.mse_average - 1) < 5 * (errors**2).std() / square / 5000**0.5
    assert abs(errors.mean()) < 5 * errors.std() / 5000**0.5


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("function", [tn.release_sum, tn.release_mean])
def test_costs_are_within_the_budget_and_compose(function, delta, adjacency, ages):
    release = function(ages, 0.7, delta, **AGES, adjacency=adjacency)
    assert release.cost.epsilon(delta) <= 0.7 * (1 + 1e-9)
    assert release.cost.epsilon(delta) >= 0.7 * (1 - 1e-4)
    assert release.adjacency == release.cost.adjacency == adjacency
    accountant = tn.Accountant().compose(release).compose(release)
    assert accountant.epsilon(0.0 if delta == 0 else 2 * delta) <= 1.4 * (1 + 1e-9)
    assert tn.PrivacyFilter(2.0, 1e-5, adjacency=adjacency).admits(release)
    assert (release.n == 500) == (adjacency == "replace-one")


def test_two_noisy_sums_beat_a_noisy_sum_over_a_noisy_count():
    """What a mean of n rows that may come and go errs by, for small noise: by derivatives."""
    width, n, epsilon = 120.0, 1000, 1.0
    rows = np.full(n, 90.0)
    release = tn.release_mean(rows, epsilon, lower=0, upper=width, adjacency="add-remove")
    share = 90 / width
    ours = float(release.mechanism.var()) * (share**2 + (1 - share) ** 2) / n**2
    total = tn.best_noise(epsilon * 0.6, sensitivity=width / 2, loss="l2").best.variance
    count = tn.best_noise(epsilon * 0.4, sensitivity=1, loss="l2", integer=True).best.variance
    theirs = (total + (90 - 60) ** 2 * count) / n**2
    assert ours < 0.8 * theirs
    stream = tn.random.NoiseStream(seed=1)
    draw = [
        tn.release_mean(rows, epsilon, lower=0, upper=width, adjacency="add-remove", rng=stream)
        for _ in range(1500)
    ]
    errors = np.array([one.value for one in draw]) - 90
    spread = (errors**2).std() / 1500**0.5
    assert abs((errors**2).mean() - ours) < 5 * spread + 0.02 * ours  # false alarm 6e-7
    counts = np.array([one.noisy_count for one in draw])
    assert abs(counts.mean() - n) < 5 * counts.std() / 1500**0.5


def test_more_noise_than_rows_still_is_between_the_bounds():
    for adjacency in ("add-remove", "replace-one"):
        for _ in range(50):
            release = tn.release_mean([50.0], 0.05, **AGES, adjacency=adjacency)
            low, high = release.confidence_interval()
            assert 0 <= low <= high <= 120
            assert 0 <= release.value <= 120


def test_missing_rows_are_refused_or_left_out(ages):
    ages[[3, 9]] = np.nan
    for function in (tn.release_sum, tn.release_mean):
        with pytest.raises(ValueError, match="2 of them are, first that of row 3"):
            function(ages, 1.0, **AGES, adjacency="replace-one")
        release = function(ages, 1.0, **AGES, adjacency="replace-one", missing="drop")
        assert release.n is None
    empty = np.full(4, np.nan)
    release = tn.release_mean(empty, 1.0, **AGES, adjacency="add-remove", missing="drop")
    assert 0 <= release.value <= 120


@pytest.mark.parametrize("function", [tn.release_sum, tn.release_mean])
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"lower": None}, TypeError, "a bound taken from the data tells of whoever is at it"),
        ({"upper": "max"}, TypeError, "upper must be a number that is known without these rows"),
        ({"lower": 120}, ValueError, "upper must be greater than lower, 120; got 120"),
        ({"upper": np.inf}, ValueError, "upper must be finite"),
        ({"upper": 1e308, "lower": -1e308}, ValueError, "must be"),
        ({"adjacency": None}, ValueError, "adjacency must be 'add-remove' or 'replace-one'"),
        ({"missing": "zero"}, ValueError, "missing must be one of 'refuse', 'drop'; got 'zero'"),
        ({"epsilon": 0}, ValueError, "epsilon must be greater than 0"),
        ({"epsilon": True}, TypeError, "epsilon must be a real number"),
        ({"delta": 1}, ValueError, "delta must be at least 0 and below 1"),
        ({"rng": 7}, TypeError, "rng must be a NoiseStream or None"),
        ({"values": []}, ValueError, "at least one row"),
        ({"values": ["a"]}, TypeError, "values must hold real numbers"),
        ({"values": 5.0}, TypeError, "values must be a column of values; got float"),
    ],
)
def test_bad_input(function, change, error, message, ages):
    given = {"values": ages, "epsilon": 1.0, **AGES, "adjacency": "replace-one"} | change
    with pytest.raises(error, match=message):
        function(given.pop("values"), given.pop("epsilon"), **given)


def test_adjacency_has_no_default(ages):
    with pytest.raises(TypeError, match="adjacency"):
        tn.release_mean(ages, 1.0, **AGES)


def test_a_release_prints_what_it_rests_on_and_can_be_kept(ages):
    stream = tn.random.NoiseStream(seed=2)
    release = tn.release_mean(ages, 1.0, **AGES, adjacency="replace-one", rng=stream)
    text = str(release)
    for part in (
        f"value          {release.value:.8g}",
        "n              500 (public)",
        "clipped to     0 to 120",
        "sensitivity    0.24 = (upper - lower)/n",
        "neighbours     replace-one: one person is another",
        "mechanism      staircase + clip, Staircase(epsilon=1.0, sensitivity=120.0",
        "cost           epsilon 1, delta 0",
    ):
        assert part in text
    again = pickle.loads(pickle.dumps(release))
    assert (again.value, str(again)) == (release.value, text)
    assert repr(release).startswith("<Release: mean ")


def test_wide_and_narrow_bounds():
    for low, high in ((-1e100, 1e100), (1e-100, 2e-100), (1e9, 1e9 + 1)):
        for adjacency in ("add-remove", "replace-one"):
            release = tn.release_mean([low, high], 5.0, lower=low, upper=high, adjacency=adjacency)
            assert low <= release.value <= high


def test_integers_far_below_the_noise_are_drawn_on_a_coarser_grid():
    release = tn.release_sum(np.arange(5), 1e-9, lower=0, upper=120, adjacency="add-remove")
    assert release.grid > 1
    assert release.cost.epsilon(0.0) <= 1e-9 * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [400.0, 1000.0])
def test_noise_that_a_sum_s_last_place_hides_is_refused_before_it_is_spent(epsilon):
    session = tn.Session(2000.0, adjacency="add-remove")
    with pytest.raises(ValueError, match="epsilon must be"):
        session.release_sum([0.3], epsilon, lower=0, upper=1)
    assert session.budget.spent == 0
