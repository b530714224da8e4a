"""Modified Bessel functions: errors against mpmath, published values, inequalities."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from bessel_errors import TABLES, rise
from mpmath import mp, mpf
from reference import bessel
from reference.two_floats import largest_error
from simd_levels import LEVELS, printed_at
from special_functions import card, core

from tightnoise import special

inf, nan = np.inf, np.nan
HERE = Path(__file__).parent
NUMERIC = HERE.parent / "cpp" / "numeric"
FUNCTIONS = ["iv_ratio", "log_iv", "log_sphere_mean"]
# What the cards of functions say that only the core has.
RISE_ERROR, PEAK_ERROR, COMPLEMENT_ERROR, SETTLED_ERROR = 8e-16, 6e-15, 6e-14, 1e-15
SETTLED_ORDER, SETTLED_ARGUMENT, FAR = 24.0, 50.0, 1e21  # where bessel.hpp changes its formula

# Values with 30 digits, computed by others; rows of {argument: exact decimal}.
PUBLISHED = json.loads((HERE / "reference" / "von_mises_fisher.json").read_text())


def worst(values, references, scales=None):
    """Largest error of the values, relative to the references (mpf) or to scales."""
    assert np.isfinite(values).all()
    scales = references if scales is None else scales
    return max(
        float(abs((mpf(float(a)) - b) / c))
        for a, b, c in zip(values, references, scales, strict=True)
    )


# --- accuracy -----------------------------------------------------------------------------------
@pytest.mark.parametrize("level", LEVELS)
def test_errors(level, check_error):
    program = "import json, bessel_errors; print(json.dumps(bessel_errors.errors()))"
    for name, error in json.loads(printed_at(level, program)).items():
        limit = RISE_ERROR if name == "log_sphere_mean_rise" else card(name)
        check_error(f"special.{name}", error, limit)


def test_errors_of_differences_from_the_limit(check_error):
    # x - log M and 1 - ratio: where they are small, and where the formula changes
    nu, x, *values = TABLES["limit"]
    settled = (nu >= SETTLED_ORDER) | (x >= SETTLED_ARGUMENT)
    for name, limit, expected in [
        ("log_peak_to_mean", PEAK_ERROR, values[:2]),
        ("iv_ratio_complement", COMPLEMENT_ERROR, values[2:]),
    ]:
        y = core(name, nu, x)
        check_error(name, largest_error(y, *expected), limit)
        error = largest_error(y[settled], *(part[settled] for part in expected))
        check_error(f"{name}, settled", error, SETTLED_ERROR)


def test_edges_of_differences_from_the_limit():
    nu, x, peak, complement = np.array([
        (0, 0, 0, 1), (24, 0, 0, 1), (1e9, inf, inf, 0), (0, inf, inf, 0), (inf, 1, 1, 1),
        (inf, 0, 0, 1), (1, TINY, TINY, 1), (0, 1e-300, 1e-300, 1), (30, 1e-310, 1e-310, 1),
        (0, 1e300, 346.30670331214663, 5e-301), (24, HUGE, 17319.07010178763, 1.36e-307),
        (0, HUGE, 355.8103, 2.8e-309), *((*pair, nan, nan) for pair in REFUSED),
    ]).T  # fmt: skip
    for copies in (1, 16):
        for name, expected in [("log_peak_to_mean", peak), ("iv_ratio_complement", complement)]:
            result = core(name, np.repeat(nu, copies), np.repeat(x, copies))
            np.testing.assert_allclose(result, np.repeat(expected, copies), rtol=0.01)


def test_errors_far_out(check_error):
    # log M_nu(x) = x - (nu + 1/2) log x + nu log 2 + log Gamma(nu + 1) - log(2 pi) / 2 - O(1 / x)
    nu = np.repeat([0.0, 0.5, 7.25, 23.9, 24.0, 25.0], 7)
    x = np.tile([1e13, 1e16, np.nextafter(FAR, 0), FAR, 1e22, 1e100, 1e300], 6)
    with mp.workdps(60):
        expected = []
        for a, b in zip(nu, x, strict=True):
            a, b = mpf(a), mpf(b)
            constant = a * mp.log(2) + mp.loggamma(a + 1) - mp.log(2 * mp.pi) / 2
            expected.append(b - (a + mpf(1) / 2) * mp.log(b) + constant - (4 * a * a - 1) / (8 * b))
        check_error(
            "special.log_sphere_mean",
            worst(special.log_sphere_mean(nu, x), expected),
            card("log_sphere_mean"),
        )
        near = x < 1e150
        top = [v for v, is_near in zip(expected, near, strict=True) if is_near]
        for lower in [1e-3, 3.0, 49.5, 50.5, 300.0]:
            start = {a: bessel.mean_and_ratio(a, lower, 30)[0] for a in np.unique(nu)}
            values = rise(nu[near], lower, x[near] ** 2 - lower**2)  # the increase is rounded
            differences = [a - start[b] for a, b in zip(top, nu[near], strict=True)]
            check_error("special.log_sphere_mean_rise", worst(values, differences), RISE_ERROR)


def test_orders_beyond_all_need(check_error):
    nu = 10.0 ** np.repeat([20.0, 60.0, 150.0, 250.0], 6)
    x = nu * 10.0 ** np.tile([-40.0, -10.0, -1.0, 0.0, 2.0, 15.0], 4)
    with mp.workdps(400):
        ratio, log_mean, log_iv, scale = [], [], [], []
        for a, b in zip(nu, x, strict=True):
            a, b = mpf(a), mpf(b)
            h = mp.hypot(a, b)
            rest = b * b / (a + h)  # the first terms of Debye's expansion: the next is 1 / nu
            log_mean.append(rest - a * mp.log1p(rest / (2 * a)))
            log_iv.append(h - a * mp.asinh(a / b))
            scale.append(abs(log_iv[-1]) + h)
            ratio.append(b / (a + h))
        check_error("special.iv_ratio", worst(special.iv_ratio(nu, x), ratio), card("iv_ratio"))
        check_error("special.log_iv", worst(special.log_iv(nu, x), log_iv, scale), card("log_iv"))
        means = special.log_sphere_mean(nu, x)
        check_error("special.log_sphere_mean", worst(means, log_mean), card("log_sphere_mean"))


# --- published values ---------------------------------------------------------------------------
def arguments(name, *keys):
    """Columns of the published rows as mpf; p becomes nu = p/2 - 1."""
    with mp.workdps(40):
        found = [[mpf(row[key]) for row in PUBLISHED[name]] for key in keys]
        if keys[0] == "p":
            found[0] = [p / 2 - 1 for p in found[0]]
        return found


def doubles(values):
    return np.array([float(v) for v in values])


@pytest.mark.parametrize(
    ("name", "keys"),
    [("log_sphere_mean", ("p", "kappa")), ("log_iv", ("nu", "x")), ("iv_ratio", ("nu", "x"))],
)
def test_published_values(name, keys, check_error):
    nu, x = arguments(name, *keys)
    (expected,) = arguments(name, "value")
    with mp.workdps(40):
        scale = expected
        if name == "log_iv":
            scale = [abs(v) + mp.hypot(a, b) for v, a, b in zip(expected, nu, x, strict=True)]
        values = getattr(special, name)(doubles(nu), doubles(x))
        # more than the card: some arguments are no doubles
        check_error(f"special.{name}, published", worst(values, expected, scale), 1e-15)


def test_the_reference_by_two_ways():
    with mp.workdps(35):
        for nu, x in [(0, 1), (0.5, 30), (3.75, 3000), (100, 2000), (30.25, 3000), (1e6, 5e4)]:
            series = bessel.by_series(mpf(nu), mpf(x))
            integral = bessel.by_integral(mpf(nu), mpf(x))
            assert worst([1.0], [series[0] / integral[0]]) < 1e-15
            for a, b in zip(series, integral, strict=True):
                assert abs(a / b - 1) < mpf(10) ** -32
        for nu, x in [(0, 3), (2.5, 40), (60, 20)]:
            direct = mp.log(mp.besseli(nu, x))
            assert abs(bessel.log_iv(nu, x) - direct) < mpf(10) ** -32


# --- inequalities -------------------------------------------------------------------------------
def points(rng, n=20000):
    """All orders and arguments of practical use, and some more."""
    nu = np.where(rng.random(n) < 0.5, rng.uniform(0, 60, n), 10.0 ** rng.uniform(0, 12, n))
    x = np.where(rng.random(n) < 0.5, 10.0 ** rng.uniform(-8, 9, n), nu * rng.uniform(0.1, 10, n))
    return nu, x


def test_monotonicity(rng):
    nu, x = points(rng)
    ratio = special.iv_ratio(nu, x)
    assert (ratio > 0).all()
    assert (ratio <= 1).all()
    slack = 1 + 2 * card("iv_ratio")
    assert (special.iv_ratio(nu, x * 1.001) * slack >= ratio).all()
    assert (special.iv_ratio(nu * 1.001, x) <= ratio * slack).all()
    mean = special.log_sphere_mean(nu, x)
    assert (mean > 0).all()
    assert (special.log_sphere_mean(nu, x * 1.001) > mean).all()
    assert (special.log_sphere_mean(nu * 1.001 + 1e-3, x) < mean * slack).all()
    assert (mean <= x * x / (4 * (nu + 1)) * slack).all()  # concave in x^2
    value = special.log_iv(nu, x)
    error = 2 * card("log_iv") * (np.abs(value) + np.hypot(nu, x))
    assert (special.log_iv(nu, x * 1.001) > value).all()
    assert (special.log_iv(nu * 1.001 + 1e-3, x) < value + error).all()


# --- edges --------------------------------------------------------------------------------------
TINY, HUGE = 5e-324, 1.7976931348623157e308
EDGES = {
    "iv_ratio": [
        (0, 0, 0), (3.5, 0, 0), (0, inf, 1), (1e9, inf, 1), (inf, 0, 0), (inf, 1, 0),
        (0, HUGE, 1), (23.9, HUGE, 1), (0, 1e-300, 5e-301), (1, TINY, 0), (24, 1e-200, 2e-202),
        (-0.0, 1, 0.4463899658965345), (0, -0.0, 0),
    ],
    "log_iv": [
        (0, 0, 0), (3.5, 0, -inf), (TINY, 0, -inf), (0, inf, inf), (1e9, inf, inf), (inf, 1, -inf),
        (inf, 0, -inf), (0, HUGE, HUGE), (23.9, HUGE, HUGE), (24, HUGE, HUGE), (0, 1e-200, 0),
        (-0.0, 1, 0.23591435850717862), (5, TINY, -3730.4535872524875), (0, -0.0, 0),
        (1e-300, 1, 0.23591435850717862),
    ],
    "log_sphere_mean": [
        (0, 0, 0), (3.5, 0, 0), (0, inf, inf), (1e9, inf, inf), (inf, 1, 0), (inf, 0, 0),
        (0, HUGE, HUGE), (23.9, HUGE, HUGE), (24, HUGE, HUGE), (1, 1e-200, 0), (0, -0.0, 0),
        (0, TINY, 0), (1e-300, 1, 0.23591435850717862),
    ],
}  # fmt: skip
REFUSED = [(nan, 1), (1, nan), (nan, nan), (-1, 1), (-TINY, 1), (1, -TINY), (1, -inf), (-inf, 1)]
REFUSED += [
    (-1, 60), (30, -1), (-inf, 60), (30, -inf), (nan, 60), (30, nan), (-30, 60), (inf, inf),
    (nan, inf), (nan, 0), (-1, 0), (inf, nan), (0, nan), (-inf, inf),
]  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_edges(name):
    nu, x, expected = np.array(EDGES[name] + [(*pair, nan) for pair in REFUSED]).T
    for copies in (1, 16):  # the vector loop and the remainder
        result = getattr(special, name)(np.repeat(nu, copies), np.repeat(x, copies))
        np.testing.assert_allclose(result, np.repeat(expected, copies), rtol=1e-15, atol=0)


def test_edges_of_rise():
    cases = [
        (1, 0, 0, 0), (1, 7, 0, 0), (1, 1, inf, inf), (1, 0, inf, inf), (1, 1, -1.0000001, nan),
        (nan, 1, 1, nan), (1, nan, 1, nan), (1, 1, nan, nan), (-1, 1, 1, nan), (1, -1, 1, nan),
        (0, 0, 1e300, 1e150), (1e150, 1, 1e290, 2.5e139), (0, 49, 1e60, 1e30), (0, 50, 1e60, 1e30),
        (0, 1e150, 1e280, 5e129), (0, 0, 1e-300, 2.5e-301), (30, 1e150, 1e280, 5e129),
    ]  # fmt: skip
    *given, expected = np.array(cases, float).T
    for copies in (1, 16):
        result = rise(*(np.repeat(v, copies) for v in given))
        np.testing.assert_allclose(result, np.repeat(expected, copies), rtol=1e-9, atol=0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bits_do_not_depend_on_position(name, rng):
    function = getattr(special, name)
    nu, x = points(rng, 3001)
    whole = function(nu, x)
    single = [function(a, b) for a, b in zip(nu[:100], x[:100], strict=True)]
    np.testing.assert_array_equal(np.array(single), whole[:100])
    np.testing.assert_array_equal(function(nu[3:], x[3:]), whole[3:])
    # nor on the neighbours, which decide whether a chunk needs the recurrence
    settled = (nu >= SETTLED_ORDER) | (x >= SETTLED_ARGUMENT)
    assert 0.1 < settled.mean() < 0.9
    np.testing.assert_array_equal(function(nu[settled], x[settled]), whole[settled])


# --- arrays -------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays(name, rng):
    function = getattr(special, name)
    nu, x = rng.uniform(0, 40, (4, 1)), rng.uniform(0, 90, 5)
    result = function(nu, x)
    assert result.shape == (4, 5)
    assert result[2, 3] == function(nu[2, 0], x[3])
    assert type(function(1, 2)) is float
    assert function(np.float32([1.5]), 2.0).dtype == np.float32
    assert function(np.float32([1.5]), np.array([2.0])).dtype == np.float64
    single = function(nu.astype(np.float32), x.astype(np.float32))
    assert single.dtype == np.float32
    wide = function(nu.astype(np.float32).astype(float), x.astype(np.float32).astype(float))
    np.testing.assert_array_equal(single, wide.astype(np.float32))
    out = np.empty((4, 5))
    assert function(nu, x, out=out) is out
    np.testing.assert_array_equal(out, result)
    line = x.copy()
    assert function(2.5, line, out=line) is line
    np.testing.assert_array_equal(line, function(2.5, x))
    assert function(np.empty((0, 3)), 1.0).shape == (0, 3)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bad_arrays_are_refused_by_name(name):
    function = getattr(special, name)
    with pytest.raises(TypeError, match=r"^nu must hold"):
        function("1", 2.0)
    with pytest.raises(TypeError, match=r"^x must hold"):
        function(1.0, [1j])
    with pytest.raises(ValueError, match=r"shapes must broadcast together; got nu \(2,\), x \(3,"):
        function([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="out must"):
        function([1.0, 2.0], 1.0, out=np.empty(3))


# --- what is written twice ----------------------------------------------------------------------
needs_source = pytest.mark.skipif(not NUMERIC.is_dir(), reason="needs the source tree")


@needs_source
def test_cards_in_the_source_say_what_the_documentation_says():
    text = (NUMERIC / "bessel.hpp").read_text()
    promised = {name: card(name) for name in FUNCTIONS} | {
        "log_sphere_mean_rise": RISE_ERROR,
        "log_peak_to_mean": PEAK_ERROR,
        "iv_ratio_complement": COMPLEMENT_ERROR,
    }
    for name, error in promised.items():
        function = rf"inline [^\n]*double {name}(_settled)?\(double"
        comment = re.search(rf"((?://[^\n]*\n)+){function}", text)[1]
        assert float(re.search(r"rror: ([0-9.e-]+[0-9])", comment)[1]) == error
    for name, value in [("kDebyeOrder", 24), ("kDebyeArgument", 50), ("kFarArgument", 1e21)]:
        assert float(re.search(rf"{name} = ([0-9.e]+);", text)[1]) == value
