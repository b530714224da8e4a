"""Estimates beside a release: their errors against sums over fine grids, and the least there is."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import optimize

import tightnoise as tn
from tightnoise.compare import _grid_optimum
from tightnoise.compare._estimates import ESTIMATES, Linear, PosteriorMean
from tightnoise.compare._prior import prior_of
from tightnoise.random import NoiseStream

WIDTH = 4.0
MECHANISMS = [
    tn.Laplace(1.3),
    tn.Gaussian(0.9),
    tn.Staircase(1.2, 1.5, 0.3),
    tn.Staircase(0.3, 1.0, 0.45),
    tn.Tulap(0.8, 1.0, bound=4.3),
    tn.TruncatedLaplace(1.1, 2.7),
    tn.MultiGaussianMixture(sigma=0.3, epsilon=1.0, sensitivity=1.0, modes=5),
    tn.QuasiGaussianMixture(sigma=0.7, epsilon=1.0, sensitivity=1.0),
    tn.TruncatedGaussian(1.7, 0.0, WIDTH),
    tn.RectifiedGaussian(1.1, 0.0, WIDTH),
    tn.BoundedLaplace(1.4, 0.0, WIDTH),
]
PRIORS = [None, [1.0, 3.0, 3.0, 2.0, 0.5]]


def by_sums(mechanism, prior, lower=0.0):
    """Return the average errors of both estimates, by cells of the true value and the output."""
    count = 200
    theta = (np.arange(count) + 0.5) * (WIDTH / count)
    weights = np.ones(count) if prior is None else np.repeat(prior, count // len(prior))
    weights = weights / weights.sum()
    inside = isinstance(mechanism, (tn.TruncatedGaussian, tn.RectifiedGaussian, tn.BoundedLaplace))
    reach = 0.0 if inside else 40.0 if mechanism.var() > 1 else 20.0
    y = np.linspace(-reach, WIDTH + reach, 16_001 if reach else 2_001)
    below = mechanism.cdf(y, theta[:, np.newaxis])
    chance = np.diff(below, axis=1)
    at = 0.5 * (y[1:] + y[:-1])
    if isinstance(mechanism, tn.RectifiedGaussian):  # what was cut off
        chance[:, -1] -= 1.0 - mechanism.cdf(WIDTH * (1 - 1e-15), theta)
        ends = np.column_stack([below[:, 0], 1.0 - mechanism.cdf(WIDTH * (1 - 1e-15), theta)])
        chance, at = np.column_stack([chance, ends]), np.append(at, [0.0, WIDTH])
    total = weights @ chance
    used = total > 0
    mean = (weights * theta) @ chance[:, used] / total[used]
    error = chance[:, used] * (theta[:, np.newaxis] - mean) ** 2
    centre, prior_mean = total @ at, weights @ theta
    slope = (weights * (theta - prior_mean)) @ chance @ (at - centre) / (total @ (at - centre) ** 2)
    guess = prior_mean + slope * (at - centre)
    linear = chance * (theta[:, np.newaxis] - guess) ** 2
    # True values are spread within their cells, too.
    spread = (WIDTH / count) ** 2 / 12
    return (
        {"posterior_mean": weights @ error.sum(axis=1) + spread,
         "linear": weights @ linear.sum(axis=1) + spread},
        {"posterior_mean": error.sum(axis=1), "linear": linear.sum(axis=1)},
        np.array([at[used], mean])[:, np.abs(at[used] - WIDTH / 2) < WIDTH][:, ::37],
    )  # fmt: skip


OF_SUMS = [
    pytest.param(
        mechanism,
        prior,
        id=f"{mechanism!r:.24}-{'uniform' if prior is None else 'given'}",
        # The sums take a second each, and seconds where noise is without bounds.
        marks=pytest.mark.nightly if i == 3 or (prior and i != 9) else (),
    )
    for i, mechanism in enumerate(MECHANISMS)
    for prior in PRIORS
]


@pytest.mark.parametrize(("mechanism", "prior"), OF_SUMS)
def test_errors_are_those_of_sums(mechanism, prior):
    averages, errors, means = by_sums(mechanism, prior)
    for name, family in ESTIMATES.items():
        estimate = family(mechanism, 0.0, WIDTH, prior_of(prior, WIDTH))
        assert estimate.average() == pytest.approx(averages[name], rel=1e-3)
        assert estimate.worst() == pytest.approx(errors[name].max(), rel=0.02)
        assert estimate.worst() >= errors[name].max() * (1 - 1e-3)
    best = PosteriorMean(mechanism, 0.0, WIDTH, prior_of(prior, WIDTH))
    # Near a jump of the density the mean of a cell is that of both sides.
    assert np.quantile(np.abs(best.of(means[0]) - means[1]), 0.9) < 5e-3
    assert best.average() <= Linear(mechanism, 0.0, WIDTH, prior_of(prior, WIDTH)).average()


def test_errors_in_closed_form():
    """Laplace noise shrunk linearly: v w/(v + w); with noise that is all or nothing, the limits."""
    for scale in (1e-3, 1.0, 50.0):
        v, w = WIDTH**2 / 12, 2 * scale**2
        linear = Linear(tn.Laplace(scale), 0.0, WIDTH, prior_of(None, WIDTH))
        assert linear.average() == pytest.approx(v * w / (v + w), rel=1e-12)
        assert linear.slope == pytest.approx(v / (v + w), rel=1e-12)
    for noise in (tn.Laplace(1e-5), tn.Gaussian(1e-5), tn.Staircase(4.0, 1e-5, 0.2)):
        best = PosteriorMean(noise, 0.0, WIDTH, prior_of(None, WIDTH))
        assert best.average() == pytest.approx(float(noise.var()), rel=1e-4)
        assert best.worst() == pytest.approx(float(noise.var()), rel=0.5)
    for noise in (tn.Laplace(3e3), tn.Laplace(1e6), tn.TruncatedGaussian(1e3, 0, WIDTH)):
        best = PosteriorMean(noise, 0.0, WIDTH, prior_of(None, WIDTH))
        assert best.average() == pytest.approx(WIDTH**2 / 12, rel=2e-6)
        assert best.of(np.array([0.3]))[0] == pytest.approx(WIDTH / 2, rel=1e-2)


def test_many_small_steps_are_as_good_as_a_slope():
    steps = PosteriorMean(tn.Staircase(2e-3, 2e-3, 0.5), 0.0, WIDTH, prior_of(None, WIDTH))
    slope = PosteriorMean(tn.Laplace(1.0), 0.0, WIDTH, prior_of(None, WIDTH))
    fewer = PosteriorMean(tn.Staircase(1e-3, 1e-3, 0.5), 0.0, WIDTH, prior_of(None, WIDTH))
    assert steps.average() == pytest.approx(slope.average(), rel=1e-5)
    assert fewer.average() == slope.average()


@pytest.mark.parametrize(
    ("epsilon", "width", "sensitivity", "best", "laplace", "staircase"),
    [
        (0.05, 10, 1, 8.333, 8.247, 8.181),
        (0.33, 10, 1, 8.285, 5.732, 5.166),
        (1.0, 10, 1, 1.534, 1.613, 1.361),
        (1.0, 10, 10, 8.333, 8.000, 7.543),
        (3.0, 10, 10, 5.866, 6.061, 3.669),
        (3.3, 10, 10, 4.839, 5.732, 3.152),
    ],
)
def test_free_estimates_beat_the_middle(epsilon, width, sensitivity, best, laplace, staircase):
    table = tn.compare_bounded(epsilon, 0.0, lower=0, upper=width, sensitivity=sensitivity)
    assert table.best.mse_average == pytest.approx(best, abs=1e-3)
    assert table["Laplace + clip"].linear_average == pytest.approx(laplace, abs=1e-3)
    assert table["staircase + clip"].posterior_mean_average == pytest.approx(staircase, abs=1e-3)
    assert table["middle"].mse_average == pytest.approx(width**2 / 12)
    for row in table:
        if row.name != "middle":
            assert row.posterior_mean_average < table["middle"].mse_average
    assert table.sorted_by("posterior_mean_average").best.name == "staircase + clip"


@pytest.mark.parametrize("width", [1.0, 2.0, 10.0, 100.0])
def test_the_staircase_tells_most(width):
    for epsilon in (0.03, 0.33, 1.0, 4.0, 12.0):
        table = tn.compare_bounded(epsilon, 0.0, lower=0, upper=width, sensitivity=1.0)
        errors = {row.name: row.posterior_mean_average for row in table}
        middle, staircase = errors.pop("middle"), errors["staircase + clip"]
        assert staircase <= min(errors.values()) * (1 + 1e-6)
        assert max(errors.values()) < middle


@pytest.mark.parametrize(
    ("epsilon", "width", "ratio"),
    [
        (3.0, 1.0, 0.755),
        pytest.param(1.0, 2.0, 0.962, marks=pytest.mark.nightly),
        (1.0, 5.0, 0.988),
    ],
)
def test_what_the_optimum_gains(epsilon, width, ratio):
    table = tn.compare_bounded(epsilon, 0.0, lower=0, upper=width, sensitivity=1.0, optimum=True)
    staircase = table["staircase + clip"].posterior_mean_average
    assert table["grid optimum"].mse_average / staircase == pytest.approx(ratio, abs=1e-3)


# --- the optimum on a grid ------------------------------------------------------------------------
def is_private(counts, apart, epsilon):
    """Return whether all ratios are at most e^epsilon: by integers, and e^epsilon rounded down."""
    with mp.workdps(60):
        bound = mp.exp(mpf(epsilon)) * (1 - mpf(10) ** -50)
        numerator = int(mp.floor(bound * 2**180))
    factor = Fraction(numerator, 2**180)
    return all(
        counts[a][j] <= factor * counts[b][j]
        for a in range(len(counts))
        for b in range(max(a - apart, 0), min(a + apart + 1, len(counts)))
        for j in range(len(counts[a]))
    )


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"),
    [
        (3.0, 10.0),
        pytest.param(0.33, 1.0, marks=pytest.mark.nightly),
        pytest.param(1e-3, 4.0, marks=pytest.mark.nightly),
        (1e-9, 3.3),
        (60.0, 0.5),
    ],
)
def test_an_optimum_is_private_exactly(epsilon, sensitivity):
    row = tn.compare_bounded(
        epsilon, 0.0, lower=-3, upper=7, sensitivity=sensitivity, optimum=True
    )["grid optimum"]
    grid = row.mechanism
    assert {sum(counts) for counts in grid.counts} == {2**52}
    assert min(map(min, grid.counts)) >= 0
    apart = min(math.ceil(Fraction(sensitivity) / Fraction(grid.step)), grid.cells - 1)
    assert is_private(grid.counts, apart, epsilon)
    assert row.epsilon <= epsilon
    if 1e-3 <= epsilon <= 3:
        assert row.epsilon > epsilon * (1 - 1e-5)
    assert row.mse_average <= 100 / 12 * (1 + 1e-12)
    assert row.mse_average == pytest.approx(row.posterior_mean_average, rel=1e-9)
    assert row.mse_worst == pytest.approx(row.posterior_mean_worst, rel=1e-9)
    assert pickle.loads(pickle.dumps(grid)) == grid


@pytest.mark.nightly
def test_neighbours_are_never_more_cells_apart():
    rng = np.random.default_rng(0)
    for lower, width, sensitivity in ((-3.0, 10.0, 1.0), (1e9, 7.3, 0.61), (0.1, 1e-7, 9.9e-8)):
        row = tn.compare_bounded(
            1.0, 0.0, lower=lower, upper=lower + width, sensitivity=sensitivity, optimum=True
        )["grid optimum"]  # fmt: skip
        grid = row.mechanism
        apart = min(math.ceil(sensitivity / grid.step), grid.cells - 1)
        # Where cells begin, and all around, as floats go.
        ends = grid.lower + np.append(grid.edges, rng.uniform(0, width, 1000))
        one = np.concatenate([np.nextafter(ends, -np.inf), ends, np.nextafter(ends, np.inf)])
        one = np.clip(one, grid.lower, grid.upper)
        other = np.clip(one + sensitivity, grid.lower, grid.upper)
        other = np.where(other - one > sensitivity, np.nextafter(other, -np.inf), other)
        assert np.abs(grid.cell(other) - grid.cell(one)).max() <= apart


@pytest.mark.parametrize("kind", ["random", "one-hot"])
def test_no_solver_is_trusted(kind, monkeypatch):
    def lying(epsilon, apart, mass, mean, values):
        if kind == "random":
            return np.random.default_rng(1).random((mean.size, values.size))
        return np.eye(mean.size, values.size)

    monkeypatch.setattr(_grid_optimum, "_linear_program", lying)
    grid = _grid_optimum.grid_optimum(0.5, 0.0, 10.0, 4.0, prior_of(None, 10.0))
    apart = math.ceil(4.0 / grid.step)
    assert is_private(grid.counts, min(apart, grid.cells - 1), 0.5)
    assert grid.cost(sensitivity=4.0).epsilon(0.0) <= 0.5


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1.0, 10.0), (3.0, 5.0), (0.5, 2.5)])
def test_an_optimum_is_one(epsilon, sensitivity, monkeypatch):
    """Against a program with every pair of cells written out."""
    cells = 12
    monkeypatch.setattr(_grid_optimum, "_CELLS", cells)
    prior = prior_of(None, 10.0)
    grid = _grid_optimum.grid_optimum(epsilon, 0.0, 10.0, sensitivity, prior)
    step = 10.0 / cells
    apart = min(math.ceil(sensitivity / step - 1e-6), cells - 1)
    true = (np.arange(cells) + 0.5) * step
    rows = []
    for a in range(cells):
        for b in range(max(a - apart, 0), min(a + apart + 1, cells)):
            for j in range(cells):
                row = np.zeros((cells, cells))
                row[a, j] += 1
                row[b, j] -= math.exp(epsilon)
                rows.append(row.ravel())
    sums = np.kron(np.eye(cells), np.ones(cells))
    found = optimize.linprog(
        np.subtract.outer(true, true).ravel() ** 2 / cells,
        np.array(rows), np.zeros(len(rows)), sums, np.ones(cells),
    )  # fmt: skip
    limit = found.fun + step**2 / 12
    assert grid.average_square(prior) <= limit * (1 + 1e-6)


def test_the_optimum_where_all_values_are_neighbours():
    """There randomised response among the best intervals is the least of all that there is.

    With three of them, cut at -0.1396 and 0.1396 of a width of 1, epsilon = 3: 0.0277150.
    """
    row = tn.compare_bounded(3.0, 0.0, lower=0, upper=10, sensitivity=10, optimum=True).best
    assert row.name == "grid optimum"
    assert 2.77150 <= row.mse_average <= 2.7745
    assert len(row.mechanism.values) == 3
    staircase = tn.compare_bounded(3.0, 0.0, lower=0, upper=10, sensitivity=10)["staircase + clip"]
    assert row.mse_average < 0.76 * staircase.posterior_mean_average


def test_an_optimum_is_drawn_as_it_says():
    """False-alarm rate below 1e-6: 30 frequencies of 1e5 within 6.5 deviations, and one cell."""
    grid = tn.compare_bounded(1.0, 0.0, lower=0, upper=10, sensitivity=5, optimum=True)[
        "grid optimum"
    ].mechanism
    theta = np.tile([0.0, 4.99, 10.0], 100_000)
    drawn = grid.sample(theta, rng=NoiseStream(seed=4))
    for true in (0.0, 4.99, 10.0):
        mine = drawn[theta == true]
        for value, chance in zip(
            grid.values, grid.probabilities[grid.cell(np.array([true]))[0]], strict=True
        ):
            deviation = math.sqrt(chance * (1 - chance) / mine.size)
            assert abs(np.mean(mine == value) - chance) <= 6.5 * deviation + 1e-12
    assert set(drawn) <= set(grid.values)


def test_what_an_optimum_needs():
    table = tn.compare_bounded(1.0, 0.0, lower=0, upper=10, sensitivity=0.1, optimum=True)
    assert "sensitivity must be at least 1/30" in table.left_out["grid optimum"]
    with pytest.raises(tn.calibrate.CalibrationError, match="sensitivity must be at least 1/30"):
        tn.release_bounded(3.0, 1.0, lower=0, upper=10, sensitivity=0.1, mechanism="grid optimum")


def test_without_scipy_an_optimum_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.optimize", None)
    prior = prior_of(None, 1.0)
    with pytest.raises(tn.calibrate.CalibrationError, match=r"pip install 'tightnoise\[optimum\]'"):
        _grid_optimum.grid_optimum(1.25, 0.0, 1.0, 1.0, prior)


def test_a_prior_moves_the_optimum_and_the_averages():
    weights = [8.0, 4.0, 2.0, 1.0, 1.0]
    known = tn.compare_bounded(
        1.0, 0.0, lower=0, upper=10, sensitivity=10, optimum=True, prior=weights
    )
    prior = prior_of(weights, 10.0)
    mean, variance = prior.moments()
    assert known["middle"].mse_average == pytest.approx(variance + (5 - mean) ** 2)
    assert known["middle"].posterior_mean_average == pytest.approx(variance)
    for row in known:
        assert row.posterior_mean_average <= variance * (1 + 1e-9)
        # The average of the errors of the value, by sums.
        theta = (np.arange(2000) + 0.5) / 200
        errors = row.mse(theta)
        chance = np.repeat(np.array(weights) / sum(weights), 400) / 400
        assert row.mse_average == pytest.approx(chance @ errors, rel=1e-3)
    assert known.sorted_by("posterior_mean_average").best.name == "grid optimum"
