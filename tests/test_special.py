"""Special functions: errors against mpmath, edges, array conventions, generated coefficients."""

import importlib.util
import inspect
import math
import re
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf
from reference import normal
from reference import special as special_reference
from simd_levels import LEVELS, printed_at

import tightnoise
from tightnoise import special
from tightnoise._core import special as core_special

inf, nan = np.inf, np.nan
NUMERIC = Path(__file__).parents[1] / "cpp" / "numeric"
TABLES = dict(np.load(Path(__file__).parent / "reference/special.npz"))

ELEMENTWISE = [
    "exp", "log", "log1p", "expm1", "expm1mx", "erfcx", "ndtr", "log_ndtr", "hazard", "mills",
    "ndtri", "ndtri_exp",
]  # fmt: skip


def card(name):
    """The error a function promises in its docstring."""
    text = " ".join(inspect.getdoc(getattr(special, name)).split())
    return float(re.search(r"[Rr]elative error at most ([0-9.e-]+[0-9])", text)[1])


def worst(y, references):
    """Largest relative error of y, the references being mpf."""
    assert np.isfinite(y).all()
    return max(float(abs((mpf(float(a)) - b) / b)) for a, b in zip(y, references, strict=True))


def exactly(x):
    return [mpf(float(v)) for v in x]


# --- accuracy -----------------------------------------------------------------------------------
def check_table(name, table, check_error):
    *arguments, value, rest = table
    y = getattr(special, name)(*arguments)
    assert np.isfinite(y).all()
    error = np.abs((y - value) / value - rest).max()  # y - value is exact
    check_error(f"special.{name}", error, card(name))


@pytest.mark.parametrize("name", special_reference.FUNCTIONS)
def test_error(name, check_error):
    check_table(name, TABLES[name], check_error)


@pytest.mark.nightly
@pytest.mark.parametrize("name", special_reference.FUNCTIONS)
def test_error_at_many_points(name, rng, check_error):
    check_table(name, special_reference.table(name, rng, 20_000), check_error)


def test_error_beyond_what_erfc_can_represent(rng, check_error):
    far = 10.0 ** rng.uniform(1.5, 150, 2000)
    with mp.workdps(35):
        x = exactly(far)
        references = {
            "log_ndtr": (-far, [normal.log_ndtr(-v) for v in x]),
            "hazard": (far, [normal.hazard(v) for v in x]),
            "mills": (far, [normal.mills(v) for v in x]),
        }
        for name, (at, reference) in references.items():
            check_error(f"special.{name}", worst(getattr(special, name)(at), reference), card(name))


def test_log_ndtr_diff_by_symmetry_and_against_an_integral():
    u, v, _, _ = TABLES["log_ndtr_diff"]
    np.testing.assert_array_equal(special.log_ndtr_diff(-v, -u), special.log_ndtr_diff(u, v))
    with mp.workdps(30):
        for a, b in [(-1.0, 0.25), (0.5, 0.5000001), (3.0, 5.0), (-7.0, -6.5)]:
            integral = mp.log(mp.quad(normal.phi, mp.linspace(a, b, 9)))
            assert special.log_ndtr_diff(a, b) == pytest.approx(float(integral), rel=1e-14)


def test_ndtri_exp_next_to_one_half(check_error):
    logp = math.log(0.5) * (1 + np.arange(-50, 50) * 2.0**-52)
    with mp.workdps(50):
        references = [
            mp.expm1(v + mp.log(2)) / 2 * mp.sqrt(2 * mp.pi) for v in exactly(logp)
        ]  # to first order: the next one is 1e-30 smaller
        check_error(
            "special.ndtri_exp", worst(special.ndtri_exp(logp), references), card("ndtri_exp")
        )


@pytest.mark.parametrize(
    ("name", "lower", "upper"),
    [
        # where SciPy 1.17 and PyTorch 2.13 lose digits, or return 0
        ("ndtr", -6, -1),
        ("ndtr", -8.3, -6),
        ("ndtr", -20, -8.3),
        ("ndtr", -37.5, -20),
        ("log_ndtr", -40, 1),
        ("log_ndtr", 1, 8),
        ("log_ndtr", 8, 37.5),
        ("erfcx", -20, 0),
        ("erfcx", 0, 30),
    ],
)
def test_ranges_where_others_lose_digits(name, lower, upper, rng, check_error):
    x = rng.uniform(lower, upper, 1000)
    with mp.workdps(35):
        references = [getattr(normal, name)(v) for v in exactly(x)]
        check_error(f"special.{name}", worst(getattr(special, name)(x), references), card(name))


def test_log_ndtr_to_minus_1e20():
    x = -(10.0 ** np.arange(2, 21))
    with mp.workdps(50):
        assert worst(special.log_ndtr(x), [normal.log_ndtr(v) for v in exactly(x)]) < 1e-15


def test_narrow_interval_in_the_tail_is_not_minus_infinity():
    u = np.array([8.0, 20.0, 37.0, 1e3, 1e8])
    v = np.nextafter(u, inf)
    result = special.log_ndtr_diff(u, v)
    expected = -u * u / 2 + np.log(v - u) - 0.5 * math.log(2 * math.pi)
    np.testing.assert_allclose(result, expected, rtol=1e-8)


@pytest.mark.parametrize(
    ("name", "reference", "lower", "upper"),
    [
        ("exp", mp.exp, -745.2, -708.4),
        ("ndtr", normal.ndtr, -38.4, -37.5),
        ("log_ndtr", normal.log_ndtr, 37.5, 38.4),
        ("hazard", normal.hazard, -38.4, -37.5),
    ],
)
def test_subnormal_results(name, reference, lower, upper, rng):
    x = rng.uniform(lower, upper, 500)
    y = getattr(special, name)(x)
    with mp.workdps(50):
        for at, result in zip(exactly(x), exactly(y), strict=True):
            exact = reference(at)
            assert abs(result - exact) <= 1.01 * mpf(2) ** -1074 + card(name) * abs(exact)


# --- edges --------------------------------------------------------------------------------------
TINY, HUGE = 5e-324, 1.7976931348623157e308
EDGES = {
    "exp": [(0.0, 1), (-0.0, 1), (TINY, 1), (-TINY, 1), (inf, inf), (-inf, 0), (710, inf),
            (-746, 0), (HUGE, inf), (-HUGE, 0), (709.782712893384, 1.797693134862273e308)],
    "log": [(1.0, 0), (0.0, -inf), (-0.0, -inf), (-1.0, nan), (-TINY, nan), (-inf, nan),
            (inf, inf), (TINY, -744.4400719213812), (HUGE, 709.782712893384),
            (1e-310, -713.8013788281542)],
    "log1p": [(0.0, 0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (-1.0, -inf), (-1.1, nan),
              (-inf, nan), (inf, inf), (HUGE, 709.782712893384), (1e154, 354.598104321083)],
    "expm1": [(0.0, 0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (-inf, -1), (inf, inf),
              (-HUGE, -1), (HUGE, inf), (-50, -1)],
    "expm1mx": [(0.0, 0), (-0.0, 0), (TINY, 0), (-inf, inf), (inf, inf), (HUGE, inf),
                (-HUGE, HUGE), (-1e154, 1e154)],
    "erfcx": [(0.0, 1), (-0.0, 1), (TINY, 1), (inf, 0), (-inf, inf),
              (1e154, 5.641895835477563e-155),
              (-1e154, inf), (HUGE, 3.138408733985445e-309), (-27, inf)],
    "ndtr": [(0.0, 0.5), (-0.0, 0.5), (TINY, 0.5), (inf, 1), (-inf, 0), (1e154, 1), (-1e154, 0),
             (40, 1), (-40, 0), (HUGE, 1), (-HUGE, 0)],
    "log_ndtr": [(0.0, -0.6931471805599453), (-0.0, -0.6931471805599453), (inf, 0), (-inf, -inf),
                 (1e154, 0), (-1e154, -5e307), (40, 0), (-HUGE, -inf), (HUGE, 0)],
    "hazard": [(0.0, 0.7978845608028654), (inf, inf), (-inf, 0), (1e154, 1e154), (-1e154, 0),
               (1e300, 1e300), (-HUGE, 0)],
    "mills": [(0.0, 1.2533141373155003), (inf, 0), (-inf, inf), (1e154, 1e-154), (-1e154, inf),
              (1e300, 1e-300), (-HUGE, inf)],
    "ndtri": [(0.0, -inf), (-0.0, -inf), (1.0, inf), (0.5, 0), (-0.1, nan), (1.1, nan),
              (-TINY, nan), (inf, nan), (-inf, nan), (TINY, -38.46740561714434),
              (1 - 2.0**-53, 8.209536151601387)],
    "ndtri_exp": [(0.0, inf), (-0.0, inf), (-inf, -inf), (0.1, nan), (TINY, nan), (inf, nan),
                  (-TINY, 38.46740561714434), (-1e300, -1.4142135623730951e150),
                  (-HUGE, -1.8961503816218353e154)],
}  # fmt: skip


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_edges(name):
    x, expected = np.array([*EDGES[name], (nan, nan)]).T
    # 1e-15, and a unit of the last place of a subnormal result
    for copies in (1, 16):  # the vector loop and the remainder
        result = getattr(special, name)(np.repeat(x, copies))
        wanted = np.repeat(expected, copies)
        np.testing.assert_allclose(result, wanted, rtol=2e-15, atol=TINY)
        zero = wanted == 0
        if name in ("log1p", "expm1"):
            np.testing.assert_array_equal(np.signbit(result[zero]), np.signbit(wanted[zero]))


def test_edges_of_log_ndtr_diff():
    cases = [
        (0.0, 0.0, -inf), (inf, inf, -inf), (-inf, -inf, -inf), (1e300, 1e300, -inf),
        (1.0, 0.5, nan), (inf, -inf, nan), (0.0, -TINY, nan), (nan, 1.0, nan), (1.0, nan, nan),
        (nan, nan, nan), (nan, inf, nan), (-inf, inf, 0.0), (-HUGE, HUGE, 0.0), (-40.0, inf, 0.0),
        (-inf, 0.0, math.log(0.5)), (0.0, inf, math.log(0.5)), (-0.0, HUGE, math.log(0.5)),
        (1e150, inf, -5e299), (-inf, -1e150, -5e299), (1e154, HUGE, -5e307),
        (0.0, TINY, -745.3590104545859), (-TINY, TINY, -744.665863274026), (1e200, 2e200, -inf),
        (1e300, inf, -inf), (-HUGE, -1e200, -inf),
    ]  # fmt: skip
    u, v, expected = np.array(cases).T
    for copies in (1, 16):
        result = special.log_ndtr_diff(np.repeat(u, copies), np.repeat(v, copies))
        np.testing.assert_allclose(result, np.repeat(expected, copies), rtol=1e-12)


def test_log_ndtr_diff_is_log_ndtr_where_one_end_is_infinite(rng):
    x = np.concatenate([rng.uniform(-37, 37, 2000), -(10.0 ** rng.uniform(0, 150, 500))])
    for result in (special.log_ndtr_diff(-inf, x), special.log_ndtr_diff(-x, inf)):
        np.testing.assert_allclose(result, special.log_ndtr(x), rtol=4e-15)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_bits_do_not_depend_on_position(name, rng):
    x = rng.uniform(0.001, 0.999, 67) * (-1 if name == "ndtri_exp" else 1)
    function = getattr(special, name)
    whole = function(x)
    np.testing.assert_array_equal(np.array([function(v) for v in x]), whole)
    np.testing.assert_array_equal(function(x[3:]), whole[3:])


def test_bits_of_log_ndtr_diff_do_not_depend_on_position(rng):
    u = rng.uniform(-3, 3, 501)
    v = u + 10.0 ** rng.uniform(-2, 1, 501)
    whole = special.log_ndtr_diff(u, v)
    single = [special.log_ndtr_diff(a, b) for a, b in zip(u, v, strict=True)]
    np.testing.assert_array_equal(np.array(single), whole)


def test_expm1mx_is_never_negative(rng):
    x = np.concatenate([rng.uniform(-3, 3, 5000), 10.0 ** rng.uniform(-320, 2, 5000)])
    assert (special.expm1mx(np.concatenate([x, -x])) >= 0).all()


# --- sums ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [0, 1, 7, 8, 1023, 1025, 99999, 250001])
def test_sum_is_exact_to_a_rounding(n, rng, check_error):
    x = rng.standard_normal(n) * 10.0 ** rng.integers(-15, 15, n)
    exact = math.fsum(x)
    error = abs(special.sum(x) - exact) / abs(exact) if exact else special.sum(x)
    check_error("special.sum", error, 2.3e-16)
    assert special.sum(x.astype(np.float32)) == pytest.approx(
        math.fsum(x.astype(np.float32)), rel=2.3e-16
    )


def test_sum_that_cancels():
    x = np.array([1e16, 1.0, -1e16] * 1000 + [1e-3])
    assert special.sum(x) == math.fsum(x)


@pytest.mark.parametrize(
    ("x", "expected"),
    [([inf, 1], inf), ([inf, -inf], nan), ([nan, 1], nan), ([-inf, 5], -inf), ([], 0.0),
     ([HUGE, HUGE], inf), (3.5, 3.5), ([[1, 2], [3, 4]], 10.0)],
)  # fmt: skip
def test_edges_of_sum(x, expected):
    assert special.sum(x) == expected or (math.isnan(expected) and math.isnan(special.sum(x)))


@pytest.mark.parametrize("n", [1, 2, 9, 1500, 120001])
def test_logsumexp(n, rng, check_error):
    x = rng.normal(scale=20, size=n)
    top = float(x.max())
    with mp.workdps(30):
        terms = [mp.exp(v - mpf(top)) for v in exactly(x) if v > top - 60]
        exact = float(top + mp.log(mp.fsum(terms)))
    error = abs(special.logsumexp(x) - exact) / max(abs(exact), abs(top))
    check_error("special.logsumexp", error, 1e-15)


@pytest.mark.parametrize(
    ("x", "expected"),
    [([], -inf), ([-inf, -inf], -inf), ([-inf, 3.0], 3.0), ([inf, 1.0], inf), ([inf, -inf], inf),
     ([inf, inf], inf), ([nan, 1.0], nan), ([nan, inf], nan), ([nan], nan), (2.5, 2.5),
     ([HUGE, HUGE], HUGE), ([-HUGE, HUGE], HUGE), ([-1e4, -1e4], -1e4 + math.log(2)),
     ([0.0, -50.0], 1.928749847963918e-22), ([1e5] * 8, 1e5 + math.log(8))],
)  # fmt: skip
def test_edges_of_logsumexp(x, expected):
    result = special.logsumexp(x)
    assert result == pytest.approx(expected, rel=1e-15, nan_ok=True)


def test_sums_do_not_depend_on_the_number_of_threads(rng):
    x = rng.standard_normal(400003) * 10.0 ** rng.integers(-8, 8, 400003)
    before = tightnoise._core.num_threads()
    results = []
    try:
        for threads in (1, 2, 5):
            tightnoise._core.set_num_threads(threads)
            results.append((special.sum(x), special.logsumexp(x), special.log_ndtr(x).tobytes()))
    finally:
        tightnoise._core.set_num_threads(before)
    assert results[0] == results[1] == results[2]


def test_sum_has_the_same_bits_at_every_level():
    program = (
        "import numpy as np; from tightnoise import special;"
        "x = np.random.default_rng(1).standard_normal(123457); print(special.sum(x).hex())"
    )
    assert len({printed_at(level, program) for level in LEVELS}) == 1


# --- arrays -------------------------------------------------------------------------------------
def test_numbers_give_floats():
    for value in (1, 1.0, np.float64(1), np.float32(1), np.int8(1), np.array(1.0)):
        result = special.log_ndtr(value)
        assert type(result) is float
        assert result == pytest.approx(-0.17275377902344988, rel=1e-7)
    assert type(special.log_ndtr_diff(0, 1)) is float


@pytest.mark.parametrize("shape", [(0,), (0, 3), (1,), (5,), (2, 3, 4), (1, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shape_and_dtype_are_kept(shape, dtype, rng):
    x = rng.standard_normal(shape).astype(dtype)
    result = special.ndtr(x)
    assert result.shape == shape
    assert result.dtype == dtype
    np.testing.assert_allclose(result, special.ndtr(x.astype(np.float64)), rtol=6e-8)


def test_float32_is_computed_in_float64(rng):
    x = rng.uniform(-30, 5, 3000).astype(np.float32)
    expected = special.log_ndtr(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(special.log_ndtr(x), expected)


def test_integers_count_as_float64():
    for dtype in (np.int8, np.uint16, np.int64):
        result = special.exp(np.array([0, 1, 2], dtype))
        assert result.dtype == np.float64
    assert special.exp([0, 1]).dtype == np.float64


def test_any_memory_layout(rng):
    x = rng.standard_normal((6, 8))
    expected = special.erfcx(x)
    read_only = x.copy()
    read_only.flags.writeable = False
    for view in (np.asfortranarray(x), read_only, x.astype(">f8")):
        np.testing.assert_array_equal(special.erfcx(view), expected)
    np.testing.assert_array_equal(special.erfcx(x.T), expected.T)
    np.testing.assert_array_equal(special.erfcx(x[::2, ::-3]), expected[::2, ::-3])
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64).reshape(6, 8)
    np.testing.assert_array_equal(special.erfcx(unaligned), expected)


def test_two_arguments_broadcast(rng):
    u, v = rng.uniform(-3, 0, (4, 1)), rng.uniform(0, 3, 5)
    result = special.log_ndtr_diff(u, v)
    assert result.shape == (4, 5)
    assert result[2, 3] == special.log_ndtr_diff(u[2, 0], v[3])
    assert special.log_ndtr_diff(np.float32([-1.0]), 1.0).dtype == np.float32
    assert special.log_ndtr_diff(np.float32([-1.0]), np.array([1.0])).dtype == np.float64
    with pytest.raises(ValueError, match=r"shapes must broadcast together; got u \(2,\), v \(3,\)"):
        special.log_ndtr_diff([0.0, 0.0], [1.0, 1.0, 1.0])


def test_out(rng):
    x = rng.standard_normal(5000)
    expected = special.ndtr(x)
    out = np.empty_like(x)
    assert special.ndtr(x, out=out) is out
    np.testing.assert_array_equal(out, expected)
    zero_dimensional = np.empty(())
    assert special.exp(1.0, out=zero_dimensional) is zero_dimensional
    assert special.ndtr(x, out=x) is x
    np.testing.assert_array_equal(x, expected)


def test_out_may_overlap_the_input(rng):
    buffer = rng.standard_normal(5001)
    expected = special.ndtr(buffer[:-1])
    special.ndtr(buffer[:-1], out=buffer[1:])
    np.testing.assert_array_equal(buffer[1:], expected)
    ends = rng.uniform(0, 1, (2, 3000))
    expected = special.log_ndtr_diff(0.0, ends[1])
    special.log_ndtr_diff(0.0, ends[1], out=ends[1])
    np.testing.assert_array_equal(ends[1], expected)


@pytest.mark.parametrize("name", [*ELEMENTWISE, "sum", "logsumexp"])
@pytest.mark.parametrize(
    "value",
    [np.array([True]), np.array([1j]), np.array([{}]), ["1.0"], None, "text", [None]],
    ids=repr,
)
def test_wrong_dtypes_are_refused_by_name(name, value):
    function = getattr(special, name)
    argument = next(iter(inspect.signature(function).parameters))
    with pytest.raises(TypeError, match=f"^{argument} must hold"):
        function(value)


def test_wrong_out_is_refused():
    x = np.zeros(3)
    read_only = np.zeros(3)
    read_only.flags.writeable = False
    for out in (
        np.zeros(2),
        np.zeros(3, np.float32),
        np.zeros((3, 1)),
        read_only,
        np.zeros(6)[::2],
    ):
        with pytest.raises(ValueError, match="out must"):
            special.exp(x, out=out)
    with pytest.raises(TypeError, match="out must be a numpy array"):
        special.exp(x, out=[0.0, 0.0, 0.0])


# --- what is written twice ----------------------------------------------------------------------
needs_source = pytest.mark.skipif(not NUMERIC.is_dir(), reason="needs the source tree")


@needs_source
def test_generated_headers_are_up_to_date():
    path = NUMERIC / "generate_coefficients.py"
    spec = importlib.util.spec_from_file_location("generate_coefficients", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, text in module.headers().items():
        assert (NUMERIC / name).read_text() == text, f"run {path.name}"


@needs_source
def test_cards_in_the_source_say_what_the_documentation_says():
    text = "".join(path.read_text() for path in sorted(NUMERIC.glob("*.hpp")))
    for name in [*ELEMENTWISE, "log_ndtr_diff"]:
        comment = re.search(rf"((?://[^\n]*\n)+)inline double {name}\(double", text)[1]
        assert float(re.search(r"Relative error: ([0-9.e-]+[0-9])", comment)[1]) == card(name)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 64, 1000, 200_001])
def test_magnitude_sees_every_element(dtype, size, rng):
    x = rng.normal(size=size).astype(dtype)
    assert core_special.magnitude(x) == np.abs(x).max()
    for position in {0, size // 2, size - 1}:
        for value in (np.nan, np.inf, -np.inf):
            spoilt = x.copy()
            spoilt[position] = value
            assert not np.isfinite(core_special.magnitude(spoilt))


def test_magnitude_of_extremes():
    assert core_special.magnitude(np.empty(0)) == 0.0
    assert core_special.magnitude(np.full(100, -1.7e308)) == 1.7e308
    assert core_special.magnitude(np.full(100, 5e-324)) == 5e-324
