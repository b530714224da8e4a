"""Confidence intervals hold what they say, by distribution functions and not by samples."""

import itertools
import math

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.release._noise import added_noise, below_half, bounded_noise
from tightnoise.release._released import ratio_mean

LEVELS = [0.5, 0.9, 0.95, 0.999]
BUDGETS = [(1.0, 0.0), (0.1, 0.0), (4.0, 1e-6), (0.5, 1e-3)]


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("level", LEVELS)
def test_integers_are_as_near_as_that_and_not_nearer(epsilon, delta, level):
    noise = added_noise(epsilon, delta, 3.0, True, "add-remove")
    half = noise.half_width(below_half(level))
    near = np.arange(-half, half + 1)
    pmf = noise.mechanism.rounded().pmf
    assert pmf(near).sum() >= level
    if half:
        assert pmf(near[1:-1]).sum() < level


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("level", LEVELS)
def test_numbers_on_the_grid_are_as_near_as_that_wherever_the_truth_is(epsilon, delta, level):
    noise = added_noise(epsilon, delta, 3.0, False, "add-remove")
    half, step = noise.half_width(below_half(level)), noise.step
    covered = []
    for fraction in np.linspace(-0.5, 0.5, 41):
        # theta = step * fraction; outputs k step with abs(k step - theta) <= half
        least = math.ceil((step * fraction - half) / step - 1e-9)
        most = math.floor((step * fraction + half) / step + 1e-9)
        ends = (np.array([least - 0.5, most + 0.5]) - fraction) * step
        covered.append(float(np.diff(noise.mechanism.cdf(ends))[0]))
    # No more than a step's probability above: the grid is fine.
    more = float(noise.mechanism.pdf(0.0)) * 2 * step
    assert level <= min(covered) + 1e-12
    assert max(covered) <= level + more


@pytest.mark.parametrize("integer", [True, False])
def test_intervals_of_noise_that_goes_by_the_value(integer):
    """A truncated Gaussian, the best of three rows: each true value by all its outputs."""
    noise = bounded_noise(0.1, 0.0, 0.0, 30.0, 10.0, integer, "replace-one")
    assert type(noise.mechanism).__name__ == "TruncatedGaussian"
    step = noise.step
    outputs = np.arange(0, round(30 / step) + 1) * step
    outputs = outputs if outputs.size < 200 else outputs[:: outputs.size // 60]
    for level in (0.5, 0.9):
        ends = np.array([noise.interval(y, level) for y in outputs])
        assert (ends[:, 0] <= ends[:, 1]).all()
        assert (np.diff(ends, axis=0) >= -1e-9).all()  # both ends go up with the output
        assert ends.min() == 0
        assert ends.max() == 30
        for theta in (0.0, 3.0, 14.5, 21.0, 30.0):
            holds = (ends[:, 0] <= theta) & (theta <= ends[:, 1])
            # Outputs with theta in their interval are one run: from the first to the last.
            first, last = outputs[holds][[0, -1]]
            below = float(noise.mechanism.cdf(first - step / 2, theta)) if first > 0 else 0.0
            upto = float(noise.mechanism.cdf(last + step / 2, theta)) if last < 30 else 1.0
            spacing = outputs[1] - outputs[0]
            if spacing == step:
                assert upto - below >= level
            assert upto - below >= level - 2 * spacing / 30


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_bounds_that_are_no_multiples_of_the_step(level):
    """The lower bound is written for more than half a step around it, or for less."""
    lower, upper = 1.6115931384552031, 2.01618566200656
    noise = bounded_noise(0.3734477651822195, 1e-3, lower, upper, 0.28, False, "replace-one")
    step = noise.step
    assert lower % step > step / 2
    places = np.arange(math.floor(lower / step + 0.5), math.floor(upper / step + 0.5) + 1) * step
    ends = np.array([noise.interval(y, level) for y in [lower, *places[1:-1], upper]])
    for theta in np.linspace(lower, upper, 9):
        cuts = [0.0, *noise.mechanism.cdf(places[:-1] + step / 2, theta).tolist(), 1.0]
        holds = (ends[:, 0] <= theta) & (theta <= ends[:, 1])
        assert level <= np.diff(cuts)[holds].sum() + 1e-12


def test_the_printed_interval_is_the_value_s(rng):
    ages = rng.uniform(0, 120, 500)
    bounds = {"lower": 0, "upper": 120, "adjacency": "replace-one"}
    release = tn.release_mean(ages, 1.0, **bounds)
    low, high = release.confidence_interval(0.95)
    half = release._noise.half_width(below_half(0.95)) / 500
    assert high - low == pytest.approx(2 * half, rel=1e-12)
    assert f"95 % interval  {low:.8g} to {high:.8g}" in str(release)
    with pytest.raises(ValueError, match="level must be greater than 0 and less than 1; got 1"):
        release.confidence_interval(1)


def test_a_mean_of_rows_that_may_come_and_go_is_between_the_ends_of_both_sums(rng):
    rows = rng.uniform(-1, 3, 400)
    release = tn.release_mean(rows, 0.5, lower=-1, upper=3, adjacency="add-remove")
    half = release._noise.half_width(below_half(0.9, 2))
    # Both sums at once, by the law on the grid:
    step = release.grid
    assert (1 - 2 * float(release.mechanism.cdf(-(half - step / 2)))) ** 2 >= 0.9
    low, high = release.confidence_interval(0.9)
    above, below = release.noisy
    for a, b in itertools.product((-half, 0, half), repeat=2):
        assert low <= ratio_mean(above + a, below + b, (-1, 3)) <= high


def test_all_cells_at_once_and_a_vector(rng):
    noise = added_noise(1.0, 0.0, 1.0, True, "add-remove")
    release = tn.release_histogram(
        rng.integers(0, 5, 300), 1.0, cells=range(5), adjacency="add-remove"
    )
    half = (release.confidence_interval(0.9, simultaneous=True).high - release.noisy).max()
    each = noise.mechanism.rounded().pmf(np.arange(-half, half + 1)).sum()
    fewer = noise.mechanism.rounded().pmf(np.arange(-half + 1, half)).sum()
    assert fewer**5 < 0.9 <= each**5
    vector = tn.release_vector(np.ones((9, 40)), 1.0, 1e-6, bound=1, adjacency="add-remove")
    low, high = vector.confidence_interval(0.9, simultaneous=True)
    half = (high - low).max() / 2 - vector.grid / 2
    assert (1 - 2 * float(vector.mechanism.cdf(-half, 0.0))) ** 40 == pytest.approx(0.9, abs=1e-9)
