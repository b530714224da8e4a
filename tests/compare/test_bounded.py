"""`compare_bounded`: errors that hold, for mechanisms that are private, in an order to go by."""

import dataclasses
import itertools
import math
import pickle

import numpy as np
import pytest
from by_night import by_night
from mpmath import mp, mpf
from scipy import integrate

import tightnoise as tn
from tightnoise.compare._families import BOUNDED_FAMILIES
from tightnoise.compare.bounded import CRITERIA
from tightnoise.compare.bounded_errors import errors_of, utility_of
from tightnoise.random import NoiseStream

PURE = [
    "middle",
    "truncated Gaussian",
    "rectified Gaussian",
    "bounded Laplace",
    "Laplace + clip",
    "Tulap + clip",
    "staircase + clip",
]
NAMES = list(BOUNDED_FAMILIES)
SEARCHED = "grid optimum"
QUICK = [by for by in CRITERIA if by != "posterior_mean_worst"]


@pytest.fixture(scope="module")
def table():
    return tn.compare_bounded(1.0, 1e-3, lower=-2.0, upper=5.0, sensitivity=1.5, optimum=True)


# --- errors of one mechanism --------------------------------------------------------------------
def exact_errors(mechanism, width, s):
    """Return bias and mean squared error at `s` in [0, width], from the density, by mpmath."""
    s, top = mpf(s), mpf(width)
    scale = mpf(getattr(mechanism, "sigma", None) or mechanism.scale)
    is_normal = isinstance(mechanism, (tn.Gaussian, tn.RectifiedGaussian, tn.TruncatedGaussian))

    def part(power, low, high):
        """Return the integral of n^power times the density on low < n < high, noise n."""
        low, high = mp.mpf(low) / scale, mp.mpf(high) / scale
        reach = 10 if is_normal else 50
        low, high = max(low, -reach), min(high, reach)
        if low >= high:
            return mpf(0)
        density = (lambda n: mp.npdf(n)) if is_normal else (lambda n: mp.exp(-abs(n)) / 2)
        steps = [low] + [mpf(k) for k in range(-reach, reach + 1, 10) if low < k < high] + [high]
        return scale**power * mp.quad(lambda n: n**power * density(n), steps)

    moments = [part(power, -s, top - s) for power in range(3)]
    if isinstance(mechanism, (tn.TruncatedGaussian, tn.BoundedLaplace)):
        return moments[1] / moments[0], moments[2] / moments[0]
    below, above = part(0, -mp.inf, -s), part(0, top - s, mp.inf)
    bias = moments[1] - s * below + (top - s) * above
    return bias, moments[2] + s**2 * below + (top - s) ** 2 * above


@pytest.mark.parametrize("family", ["truncated", "rectified", "gaussian", "bounded", "laplace"])
@pytest.mark.parametrize("width", [*by_night(1e-6), 5.0, *by_night(1e5)])
def test_errors_are_those_of_the_density(family, width, check_error):
    mechanism = {
        "truncated": lambda: tn.TruncatedGaussian(1.0, 0.0, width),
        "rectified": lambda: tn.RectifiedGaussian(1.0, 0.0, width),
        "gaussian": lambda: tn.Gaussian(1.0),
        "bounded": lambda: tn.BoundedLaplace(1.0, 0.0, width),
        "laplace": lambda: tn.Laplace(1.0),
    }[family]()
    errors = errors_of(mechanism, 0.0, width)
    with mp.workdps(25):
        for share in (0.0, 1e-6, 0.13, 0.5):
            bias, square = errors.at(np.array([share * width]))
            exact_bias, exact_square = exact_errors(mechanism, width, share * width)
            size = min(1.0, width) * max(1.0, share * width)
            check_error("bias, by the scale", abs(bias[0] - exact_bias) / size, 1e-14)
            check_error("mean squared error", abs(square[0] / exact_square - 1), 1e-12)


NOISES = [
    tn.TruncatedLaplace(0.7, 2.0),
    tn.Staircase(0.8, 1.0, 0.3),
    tn.Staircase(6.0, 1.0, 0.05),
    tn.Tulap(0.8, 1.0),
    tn.Tulap(0.8, 1.0, 3.3),
    tn.MultiGaussianMixture(0.3, 1.0, 1.0, 6),
    tn.MultiGaussianMixture(0.01, 1.0, 1.0, 6),
    tn.QuasiGaussianMixture(0.2, 1.0, 1.0),
]


def kinks_of(noise):
    """Return where the density is not smooth, or too steep for quadrature to find by itself."""
    if isinstance(noise, tn.Staircase):
        return noise.sensitivity * (np.arange(30) + noise.gamma)
    if isinstance(noise, tn.Tulap):
        return np.append(noise.sensitivity * (np.arange(30) + 0.5), min(noise.bound, 1e3))
    if isinstance(noise, tn.TruncatedLaplace):
        return np.array([noise.bound])
    return np.concatenate([k + noise.sigma * np.arange(-8, 9) for k in np.arange(8.0)])


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("width", [0.01, *by_night(3.0), 17.0])
def test_errors_of_clipped_noise_are_those_of_its_density(noise, width, check_error):
    errors = errors_of(noise, 0.0, width)
    for s in (0.0, 0.003 * width, 0.21 * width, 0.5 * width):
        kinks = np.concatenate([-kinks_of(noise), [0.0], kinks_of(noise)])
        edges = np.unique(np.clip(np.append(kinks, [-s, width - s]), -s, width - s))
        parts = [
            sum(
                integrate.quad(lambda n, k=k: n**k * float(noise.pdf(n)), low, high, epsabs=1e-14)[
                    0
                ]
                for low, high in itertools.pairwise(edges)
            )
            for k in (1, 2)
        ]
        ends = float(noise.cdf(-s)), float(noise.cdf(s - width))
        exact_bias = parts[0] - s * ends[0] + (width - s) * ends[1]
        exact_square = parts[1] + s**2 * ends[0] + (width - s) ** 2 * ends[1]
        bias, square = errors.at(np.array([s]))
        check_error("bias of clipped noise, absolute", abs(bias[0] - exact_bias), 1e-12)
        check_error("mean squared error of clipped noise", abs(square[0] / exact_square - 1), 1e-9)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 0.03, 2.0])
@pytest.mark.parametrize("width", [0.3, 7.7, 1500.3])
def test_many_steps_are_summed_without_loss(epsilon, width, check_error):
    gamma, b = 0.4, math.exp(-epsilon)
    height = -math.expm1(-epsilon) / (2 * (gamma + b * (1 - gamma)))
    ends = [0.0, *(gamma + k for k in range(math.ceil(width - gamma))), width]
    steps = list(zip(itertools.pairwise(ends), itertools.count(), strict=False))
    inside = [height * b**k * (high**3 - low**3) / 3 for (low, high), k in steps]
    beyond = 0.5 - math.fsum(height * b**k * (high - low) for (low, high), k in steps)
    errors = errors_of(tn.Staircase(epsilon, 1.0, gamma), 0.0, width)
    square = errors.at(np.array([0.0]))[1][0]
    exact = math.fsum([*inside, max(beyond, 0.0) * width**2])
    check_error("staircase, clipped at an end", abs(square / exact - 1), 1e-12)


@pytest.mark.parametrize("width", [0.3, 1e4, 1e7])
def test_very_small_steps_are_as_good_as_none(width):
    fine = utility_of(errors_of(tn.Staircase(1e-5, 1.0, 0.4), 0.0, width))
    assert fine == pytest.approx(utility_of(errors_of(tn.Laplace(1e5), 0.0, width)), rel=2e-5)


@pytest.mark.parametrize(
    "noise",
    [*NOISES, tn.Laplace(0.2), tn.Gaussian(2.0), tn.TruncatedGaussian(0.8, 0.0, 3.0)],
    ids=repr,
)
def test_averages_and_worst_cases_are_those_of_the_errors(noise):
    width = 3.0
    errors = errors_of(noise, 0.0, width)
    found = utility_of(errors)
    s = np.linspace(0.0, width, 12_001)
    bias, square = errors.at(np.minimum(s, width - s))
    variance = square - bias * bias
    assert found.mse_average == pytest.approx(integrate.simpson(square, x=s) / width, rel=1e-6)
    assert found.variance_average == pytest.approx(
        integrate.simpson(variance, x=s) / width, rel=1e-6
    )
    for worst, values in (
        (found.mse_worst, square),
        (found.variance_worst, variance),
        (found.bias_worst, np.abs(bias)),
    ):
        assert worst >= values.max() * (1 - 1e-13)
        assert worst == pytest.approx(values.max(), rel=1e-6)


def test_averages_in_closed_form():
    """Laplace noise, clipped; and the limits of no noise and of nothing but noise."""
    scale, width = 0.5, 3.0
    x = width / scale
    exact = 4 * scale**2 * (0.5 * (1 - math.exp(-x) * (1 + x)))
    exact -= 4 * scale**3 / width * 0.5 * (2 - math.exp(-x) * (2 + 2 * x + x * x))
    found = utility_of(errors_of(tn.Laplace(scale), 0.0, width))
    assert found.mse_average == pytest.approx(exact, rel=1e-13)
    for noise in (tn.Gaussian(1e9), tn.Laplace(1e9)):  # one end or the other
        found = utility_of(errors_of(noise, 0.0, 1.0))
        assert found == pytest.approx((0.5, 1 / 4, 1 / 4, 1 / 3, 1 / 2), rel=1e-8)
    for family in (tn.TruncatedGaussian, tn.BoundedLaplace):  # uniform
        found = utility_of(errors_of(family(1e9, 0.0, 1.0), 0.0, 1.0))
        assert found == pytest.approx((1 / 2, 1 / 12, 1 / 12, 1 / 6, 1 / 3), rel=1e-8)
    for mechanism, variance in ((tn.TruncatedGaussian, 1e-18), (tn.BoundedLaplace, 2e-18)):
        found = utility_of(errors_of(mechanism(1e-9, 0.0, 1.0), 0.0, 1.0))
        assert found.mse_average == pytest.approx(variance, rel=1e-6)


# --- the table ----------------------------------------------------------------------------------
def test_every_mechanism_takes_part(table):
    assert sorted(choice.name for choice in table) == sorted(NAMES)
    assert not table.left_out
    for choice in table:
        assert 0 <= choice.epsilon <= 1.0
        assert choice.mse_average <= choice.mse_worst
        assert choice.variance_average <= choice.variance_worst * (1 + 1e-12)
        assert choice.variance_average <= choice.mse_average
        assert choice.bias_worst**2 <= choice.mse_worst * (1 + 1e-12)
    spent = {choice.name: choice.epsilon for choice in table}
    assert spent.pop("middle") == 0
    # Pure releases cost a little less than their largest loss, at a delta.
    pure = ("grid optimum", "bounded Laplace")
    assert min(cost for name, cost in spent.items() if name not in pure) > 1 - 1e-6
    assert min(spent.values()) > 0.99


def test_clipped_mechanisms_and_the_costs_of_the_others(table):
    for choice in table:
        assert choice.clip == choice.name.endswith(" + clip")
        if choice.clip:
            assert choice.cost.delta(1.0) <= 1e-3
    domain = {"lower": -2.0, "upper": 5.0, "sensitivity": 1.5}
    for name, calibrated in (
        ("truncated Gaussian", tn.calibrate.truncated_gaussian(1.0, 1e-3, **domain)),
        ("rectified Gaussian", tn.calibrate.rectified_gaussian(1.0, 1e-3, **domain)),
        ("bounded Laplace", tn.calibrate.bounded_laplace(1.0, 1e-3, **domain)),
    ):
        assert table[name].mechanism == calibrated
    sigma = table["rectified Gaussian"].mechanism.sigma
    assert sigma <= table["Gaussian + clip"].mechanism.sigma
    assert "rectified" in table["Gaussian + clip"].note


def test_samples_err_as_is_said(table):
    """False-alarm rate below 1e-6: 72 averages of 2e4 bounded errors, each within 6.5 deviations.

    8e-11 a normal average; the skewness of squares does not make it 100 times as much.
    """
    count = 20_000
    for index, choice in enumerate(table):
        for theta in (-2.0, -1.0, 3.5):
            rng = NoiseStream(bytes([index]) * 32)
            noisy = choice.sample(np.full(count, theta), rng=rng)
            assert noisy.min() >= -2.0
            assert noisy.max() <= 5.0
            for errors, expected in (
                (noisy - theta, choice.bias(theta)),
                ((noisy - theta) ** 2, choice.mse(theta)),
            ):
                deviation = errors.std() / math.sqrt(count)
                assert abs(errors.mean() - expected) <= 6.5 * deviation + 1e-12


def test_order_and_what_it_goes_by(table):
    for by in CRITERIA:
        again = table.sorted_by(by)
        values = [getattr(choice, by) for choice in again]
        assert values == sorted(values)
        assert again.best is again[0]
        assert table.sorted_by(by).best is again[0]
    assert again == tn.compare_bounded(
        1.0, 1e-3, lower=-2.0, upper=5.0, sensitivity=1.5, by=by, optimum=True
    )
    assert table.by == "mse_average"
    assert table.sorted_by("variance_worst").best.name == "middle"
    assert table[1:3] == table.choices[1:3]
    assert table["middle"].name == "middle"
    assert len(table) == len(NAMES) == len(list(table))


def test_a_table_to_read_and_to_keep(table):
    lines = str(table).splitlines()
    assert lines[1].split()[:3] == ["mechanism", "noise", "epsilon"]
    assert lines[2].startswith(table.best.name)
    assert max(map(len, lines)) <= 110
    assert any(line.startswith("Gaussian + clip: a rectified Gaussian") for line in lines)
    again = pickle.loads(pickle.dumps(table))
    assert again == table
    assert again["staircase + clip"].mechanism == table["staircase + clip"].mechanism


def test_no_cost_is_shown_too_low():
    for epsilon, shown in [(1.2345644, "1.23457"), (0.1, "0.1"), (1.0, "1")]:
        rows = str(
            tn.compare_bounded(epsilon, 0.0, lower=0.0, upper=10.0, sensitivity=3.0)
        ).splitlines()
        row = next(row for row in rows if row.startswith("truncated Gaussian"))
        assert row.split()[4] == shown


def test_both_ends_of_the_domain_are_alike(table):
    x = np.linspace(0.0, 3.5, 9)
    for choice in table[:]:
        if choice.name == SEARCHED:  # the least error may be that of several tables
            continue
        assert choice.mse(-2.0 + x) == pytest.approx(choice.mse(5.0 - x), rel=1e-12)
        assert choice.bias(-2.0 + x) == pytest.approx(-choice.bias(5.0 - x), abs=1e-14)
        assert choice.mse(-2.0 + x).max() <= choice.mse_worst * (1 + 1e-12)
        assert np.ndim(choice.mse(1.0)) == np.ndim(choice.bias(1.0)) == 0


@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_errors_scale_with_the_domain(delta):
    one = tn.compare_bounded(0.7, delta, lower=0.0, upper=4.0, sensitivity=1.0)
    far = tn.compare_bounded(0.7, delta, lower=3e6, upper=7e6, sensitivity=1e6)
    assert [choice.name for choice in one] == [choice.name for choice in far]
    for small, large in zip(one, far, strict=True):
        for name in QUICK:
            factor = 1e6 if name == "bias_worst" else 1e12
            assert getattr(large, name) == pytest.approx(factor * getattr(small, name), rel=1e-8)


@pytest.mark.parametrize("width", [pytest.param(1e-150, marks=pytest.mark.nightly), 1e150])
@pytest.mark.parametrize("epsilon", [pytest.param(1e-9, marks=pytest.mark.nightly), 1.0])
def test_squares_that_are_hardly_numbers(epsilon, width):
    one = tn.compare_bounded(epsilon, 0.1, lower=0.0, upper=1.0, sensitivity=1.0)
    for choice in tn.compare_bounded(epsilon, 0.1, lower=0.0, upper=width, sensitivity=width):
        for name in CRITERIA:
            unit = width if name == "bias_worst" else width**2
            expected = getattr(one[choice.name], name)
            assert getattr(choice, name) / unit == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_float32_cannot_hold_what_a_vast_domain_may_answer():
    choice = tn.compare_bounded(1.0, 0.0, lower=0.0, upper=1e100, sensitivity=1e100).best
    with pytest.raises(ValueError, match=r"theta must be float64 .* too large for float32"):
        choice.sample(np.float32(1.0))
    assert 0 <= choice.sample(1.0) <= 1e100


def test_a_sensitivity_beyond_the_width_is_the_width():
    exact = tn.compare_bounded(2.0, 0.0, lower=0.0, upper=1.0, sensitivity=1.0)
    beyond = tn.compare_bounded(2.0, 0.0, lower=0.0, upper=1.0, sensitivity=50.0)
    for choice in exact:
        twin = beyond[choice.name]
        assert [getattr(twin, by) for by in CRITERIA] == pytest.approx(
            [getattr(choice, by) for by in CRITERIA], rel=1e-9
        )


def test_without_delta_only_pure_mechanisms_answer():
    table = tn.compare_bounded(1.0, 0.0, lower=0.0, upper=10.0, sensitivity=1.0)
    assert sorted(choice.name for choice in table) == sorted(PURE)
    assert sorted([*table.left_out, *PURE, SEARCHED]) == sorted(NAMES)
    assert all("delta must be greater than 0" in why for why in table.left_out.values())


@pytest.mark.parametrize("epsilon", [1e-9, *by_night(0.02), 1e3])
@pytest.mark.parametrize(("delta", "width"), [(0.0, 1.0), (0.0, 1e9), (1e-300, 1e9), (0.5, 1.0)])
def test_extremes(epsilon, delta, width):
    table = tn.compare_bounded(epsilon, delta, lower=0.0, upper=width, sensitivity=1.0)
    assert {"middle", "Laplace + clip", "bounded Laplace"} <= {choice.name for choice in table}
    assert sorted([*table.left_out, *(choice.name for choice in table), SEARCHED]) == sorted(NAMES)
    for choice in table:
        assert 0 <= choice.epsilon <= epsilon
        values = [getattr(choice, by) for by in QUICK]
        assert all(0 <= value < math.inf for value in values)
        assert choice.mse_average <= choice.mse_worst * (1 + 1e-9) <= width**2
    assert str(table)


# --- what the docstring says ----------------------------------------------------------------------


def test_where_which_mechanism_is_best():
    """Of pure mechanisms, on average: the middle, and beyond some epsilon the staircase."""
    for width, turn in ((1.0, 2.44), (2.0, 1.50), (10.0, 0.328), (1000.0, 0.0033)):
        for epsilon, best in ((0.9 * turn, "middle"), (1.1 * turn, "staircase + clip")):
            assert (
                tn.compare_bounded(epsilon, 0.0, lower=0.0, upper=width, sensitivity=1.0).best.name
                == best
            )
    # Bounded Laplace against truncated Gaussian.
    for width, turn in ((2.0, 0.953), (10.0, 0.398), (100.0, 0.052)):
        for epsilon, is_better in ((0.95 * turn, False), (1.05 * turn, True)):
            table = tn.compare_bounded(epsilon, 0.0, lower=0.0, upper=width, sensitivity=1.0)
            laplace, gaussian = table["bounded Laplace"], table["truncated Gaussian"]
            assert (laplace.mse_average < gaussian.mse_average) == is_better
    for epsilon in (0.1, 1.0, 10.0):
        table = tn.compare_bounded(epsilon, 0.0, lower=0.0, upper=1.0, sensitivity=1.0)
        laplace, gaussian = table["bounded Laplace"], table["truncated Gaussian"]
        assert laplace.mse_average < gaussian.mse_average


# --- bad arguments ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("epsilon", 0.0, ValueError, "epsilon must be greater than 0; got 0.0"),
        ("epsilon", math.nan, ValueError, "epsilon must be finite; got nan"),
        ("epsilon", 1e101, ValueError, "epsilon must be from 1e-100 to 1e\\+100; got 1e\\+101"),
        ("delta", -1e-9, ValueError, "delta must be at least 0 and below 1; got -1e-09"),
        ("delta", 1.0, ValueError, "delta must be at least 0 and below 1; got 1.0"),
        ("lower", 1.0, ValueError, "lower must be less than upper; got lower 1.0 and upper 1.0"),
        ("lower", math.inf, ValueError, "lower must be finite; got inf"),
        ("lower", [0.0, 0.0], TypeError, "lower must be one number: .* one dimension"),
        ("upper", np.ones(3), TypeError, "upper must be one number: .* one dimension"),
        ("upper", "x", TypeError, "upper must be a real number; got 'x'"),
        ("upper", 1e200, ValueError, "upper - lower must be from 1e-150 to 1e\\+150; got 1e\\+200"),
        ("sensitivity", 0.0, ValueError, "sensitivity must be greater than 0; got 0.0"),
        ("sensitivity", 5e-324, ValueError, "sensitivity must be at least 1e-100 of upper - lower"),
        ("sensitivity", math.nan, ValueError, "sensitivity must be finite; got nan"),
        ("sensitivity", [1.0], TypeError, "sensitivity must be one number"),
        ("by", "sigma", ValueError, "by must be one of 'mse_average', .*; got 'sigma'"),
    ],
)
def test_bad_arguments(name, value, error, message):
    good = {"epsilon": 1.0, "delta": 1e-5, "lower": 0.0, "upper": 1.0, "sensitivity": 1.0}
    with pytest.raises(error, match=message):
        tn.compare_bounded(**{**good, name: value})


def test_bad_arguments_of_a_table(table):
    with pytest.raises(ValueError, match=r"name must be one of .*; got 'sigma'"):
        table["sigma"]
    with pytest.raises(ValueError, match="by must be one of"):
        table.sorted_by("sigma")
    for method in (table[0].sample, table[0].bias, table[0].mse):
        with pytest.raises(
            ValueError, match=r"theta must be in the domain, from -2 to 5; got 5\.1"
        ):
            method([1.0, 5.1])
        with pytest.raises(TypeError, match="theta"):
            method("x")


def test_samples_keep_shape_and_dtype(table):
    theta = np.array([[-2.0, 0.5, 5.0]], dtype=np.float32)
    for choice in table:
        noisy = choice.sample(theta)
        assert noisy.shape == theta.shape
        assert noisy.dtype == np.float32
        assert ((noisy >= -2) & (noisy <= 5)).all()
        assert np.ndim(choice.sample(1.0)) == 0


def test_true_values_of_less_precision_are_inside():
    # 0.7 in float32 lies below 0.7: as far outside, the noise would not hide it.
    seen = []

    class Recorder:
        def sample(self, theta, *, rng=None):
            seen.append(np.asarray(theta, dtype=np.float64))
            return theta

    table = tn.compare_bounded(1.0, 0.0, lower=0.7, upper=1.1, sensitivity=0.1)
    choice = dataclasses.replace(table["truncated Gaussian"], mechanism=Recorder())
    ends = np.array([0.7, 1.1], dtype=np.float32)
    assert float(ends[0]) < 0.7
    assert choice.sample(ends).dtype == np.float32
    assert choice.sample(ends[0]).dtype == np.float32
    assert all(np.all((theta >= 0.7) & (theta <= 1.1)) for theta in seen)


def test_a_wrong_source_of_noise_is_refused_by_every_row():
    for choice in tn.compare_bounded(1.0, 0.0, lower=0, upper=10, sensitivity=1):
        with pytest.raises(TypeError, match="rng must be a NoiseStream or None; got int"):
            choice.sample(3.0, rng=4)
