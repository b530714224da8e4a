"""Special functions: errors against mpmath, edges, array conventions, generated coefficients."""

import inspect
import math
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import special_functions
from mpmath import mp
from reference import normal
from reference.two_floats import largest_error
from simd_levels import LEVELS, printed_at
from thread_counts import with_threads

from tightnoise import special
from tightnoise._core import special as core

inf, nan = np.inf, np.nan
NUMERIC = Path(__file__).parents[1] / "cpp" / "numeric"
TABLES = dict(np.load(Path(__file__).parent / "reference/special.npz"))  # of make_special.py

ELEMENTWISE = ["expm1mx", "erfcx", "ndtr", "log_ndtr", "hazard", "mills", "ndtri", "ndtri_exp"]
ELEMENTARY = {"exp": 2e-16, "log": 1.8e-16, "log1p": 2.3e-16, "expm1": 3.5e-16}  # and their errors


def function(name):
    """A public function, or an elementary one that only the core has."""
    return partial(special_functions.core, name) if name in ELEMENTARY else getattr(special, name)


def card(name):
    """The error that a function promises."""
    return ELEMENTARY[name] if name in ELEMENTARY else special_functions.card(name)


# --- accuracy -----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", TABLES)
def test_error(name, check_error):
    *arguments, value, rest = TABLES[name]
    y = function(name)(*arguments)
    check_error(f"special.{name}", largest_error(y, value, rest), card(name))


def test_log_ndtr_diff_by_symmetry_and_against_an_integral():
    u, v, _, _ = TABLES["log_ndtr_diff"]
    np.testing.assert_array_equal(special.log_ndtr_diff(-v, -u), special.log_ndtr_diff(u, v))
    with mp.workdps(30):
        for a, b in [(-1.0, 0.25), (0.5, 0.5000001), (3.0, 5.0), (-7.0, -6.5)]:
            integral = mp.log(mp.quad(normal.phi, mp.linspace(a, b, 9)))
            assert special.log_ndtr_diff(a, b) == pytest.approx(float(integral), rel=1e-14)


def test_narrow_interval_in_the_tail_is_not_minus_infinity():
    u = np.array([8.0, 20.0, 37.0, 1e3, 1e8])
    v = np.nextafter(u, inf)
    result = special.log_ndtr_diff(u, v)
    expected = -u * u / 2 + np.log(v - u) - 0.5 * math.log(2 * math.pi)
    np.testing.assert_allclose(result, expected, rtol=1e-8)


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


@pytest.mark.parametrize("name", EDGES)
def test_edges(name):
    x, expected = np.array([*EDGES[name], (nan, nan)]).T
    # 1e-15, and a unit of the last place of a subnormal result
    for copies in (1, 16):  # the vector loop and the remainder
        result = function(name)(np.repeat(x, copies))
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


@pytest.mark.parametrize("name", EDGES)
def test_bits_do_not_depend_on_position(name, rng):
    x = rng.uniform(0.001, 0.999, 67) * (-1 if name == "ndtri_exp" else 1)
    evaluate = function(name)
    whole = evaluate(x)
    np.testing.assert_array_equal(np.array([evaluate(v) for v in x]), whole)
    np.testing.assert_array_equal(evaluate(x[3:]), whole[3:])


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
    error = abs(core.sum(x) - exact) / abs(exact) if exact else core.sum(x)
    check_error("core.special.sum", error, 2.3e-16)
    assert core.sum(x.astype(np.float32)) == pytest.approx(
        math.fsum(x.astype(np.float32)), rel=2.3e-16
    )


def test_sum_that_cancels():
    x = np.array([1e16, 1.0, -1e16] * 1000 + [1e-3])
    assert core.sum(x) == math.fsum(x)


@pytest.mark.parametrize(
    ("x", "expected"),
    [([inf, 1], inf), ([inf, -inf], nan), ([nan, 1], nan), ([-inf, 5], -inf), ([], 0.0),
     ([HUGE, HUGE], inf), (3.5, 3.5), ([[1, 2], [3, 4]], 10.0)],
)  # fmt: skip
def test_edges_of_sum(x, expected):
    assert core.sum(np.array(x, float)) == pytest.approx(expected, rel=0, nan_ok=True)


@pytest.mark.parametrize("n", [1, 2, 9, 1500, 120001])
def test_logsumexp(n, rng, check_error):
    x = rng.normal(scale=20, size=n)
    top = x.max()
    exact = top + math.log(math.fsum(np.exp(x - top)))  # terms below e^-60 are rounded more
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

    def sums():
        return core.sum(x), special.logsumexp(x), special.log_ndtr(x).tobytes()

    assert len(set(with_threads(sums, 1, 2, 5))) == 1


def test_sum_has_the_same_bits_at_every_level():
    program = (
        "import numpy as np; from tightnoise import _core;"
        "x = np.random.default_rng(1).standard_normal(123457); print(_core.special.sum(x).hex())"
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
        result = special.ndtr(np.array([0, 1, 2], dtype))
        assert result.dtype == np.float64
    assert special.ndtr([0, 1]).dtype == np.float64


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
    assert special.ndtr(1.0, out=zero_dimensional) is zero_dimensional
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


@pytest.mark.parametrize("name", [*ELEMENTWISE, "logsumexp"])
@pytest.mark.parametrize(
    "value",
    [np.array([True]), np.array([1j]), np.array([{}]), ["1.0"], None, "text", [None]],
    ids=repr,
)
def test_wrong_dtypes_are_refused_by_name(name, value):
    argument = next(iter(inspect.signature(getattr(special, name)).parameters))
    with pytest.raises(TypeError, match=f"^{argument} must hold"):
        getattr(special, name)(value)


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
            special.ndtr(x, out=out)
    with pytest.raises(TypeError, match="out must be a numpy array"):
        special.ndtr(x, out=[0.0, 0.0, 0.0])


@pytest.mark.parametrize("name", special.__all__)
def test_docstring_has_all_sections_and_arguments(name):
    text = inspect.getdoc(getattr(special, name))
    sections = re.findall(r"^(\w+)\n-+$", text, re.M)
    assert sections == ["Parameters", "Returns", "Raises", "Examples"]
    documented = re.findall(r"^(\w+) : ", text, re.M)
    assert documented == list(inspect.signature(getattr(special, name)).parameters)
    assert max(map(len, text.splitlines())) <= 100


# --- what is written twice ----------------------------------------------------------------------
needs_source = pytest.mark.skipif(not NUMERIC.is_dir(), reason="needs the source tree")


@needs_source
def test_generated_headers_are_up_to_date():
    subprocess.run([sys.executable, NUMERIC.parent / "generate", "--check"], check=True)


@needs_source
def test_cards_in_the_source_say_what_the_documentation_says():
    text = "".join(path.read_text() for path in sorted(NUMERIC.glob("*.hpp")))
    for name in TABLES:
        comment = re.search(rf"((?://[^\n]*\n)+)inline double {name}\(double", text)[1]
        assert float(re.search(r"Relative error: ([0-9.e-]+[0-9])", comment)[1]) == card(name)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 64, 1000, 200_001])
def test_magnitude_sees_every_element(dtype, size, rng):
    x = rng.normal(size=size).astype(dtype)
    assert core.magnitude(x) == np.abs(x).max()
    for position in {0, size // 2, size - 1}:
        for value in (np.nan, np.inf, -np.inf):
            spoilt = x.copy()
            spoilt[position] = value
            assert not np.isfinite(core.magnitude(spoilt))


def test_magnitude_of_extremes():
    assert core.magnitude(np.empty(0)) == 0.0
    assert core.magnitude(np.full(100, -1.7e308)) == 1.7e308
    assert core.magnitude(np.full(100, 5e-324)) == 5e-324
