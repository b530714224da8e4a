"""Write the generated headers of this directory: python generate_coefficients.py.

Everything is computed by mpmath and rounded once to double, so the text is the same on every
machine; tests/test_special.py checks that the committed headers are what this script writes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mpmath import mp, mpf

HERE = Path(__file__).parent
GAUSS_LEGENDRE_POINTS = (8, 16, 32, 64)


def rows(values: list[mpf], indent: str) -> str:
    """Return lines of four doubles, each with 17 significant digits."""
    digits = [f"{float(value)!r}," for value in values]
    return "".join(f"{indent}{' '.join(digits[i : i + 4])}\n" for i in range(0, len(digits), 4))


def table(name: str, values: list[mpf]) -> str:
    """Return the C++ definition of a static array of doubles."""
    body = rows(values, 8 * " ")
    return f"    static constexpr double {name}[{len(values)}] = {{\n{body}    }};\n"


def legendre(n: int, x: mpf) -> tuple[mpf, mpf]:
    """Return P_n(x) and its derivative."""
    before, now = mpf(1), x
    for k in range(2, n + 1):
        before, now = now, ((2 * k - 1) * x * now - (k - 1) * before) / k
    return now, n * (x * now - before) / (x * x - 1)


def gauss_legendre(n: int) -> tuple[list[mpf], list[mpf]]:
    """Return nodes (ascending) and weights for the integral over [0, 1]; n is even."""
    lower = []
    for k in range(n // 2):
        x = mp.cos(mp.pi * (k + mpf(3) / 4) / (n + mpf(1) / 2))
        for _ in range(6):
            value, slope = legendre(n, x)
            x -= value / slope
        slope = legendre(n, x)[1]
        lower.append(((1 - x) / 2, 1 / ((1 - x * x) * slope * slope)))
    nodes = [x for x, _ in lower] + [1 - x for x, _ in reversed(lower)]
    weights = [w for _, w in lower] + [w for _, w in reversed(lower)]
    return nodes, weights


def render_gauss_legendre() -> str:
    """Return the text of gauss_legendre.hpp."""
    parts = [
        """\
// Gauss-Legendre quadrature on [0, 1]: integral_0^1 f(y) dy ~ sum_k weights[k] f(nodes[k]), exact
// for polynomials of degree 2 Points - 1. Nodes ascend and nodes[Points - 1 - k] = 1 - nodes[k];
// nodes and weights are the exact values rounded to double (those near 0 keep their relative
// accuracy). Kernel-side header: internal linkage.
//
// Written by generate_coefficients.py: do not edit.
// clang-format off
#pragma once

namespace tightnoise {
namespace {

template <int Points>
struct GaussLegendre;
"""
    ]
    for n in GAUSS_LEGENDRE_POINTS:
        nodes, weights = gauss_legendre(n)
        parts.append(
            f"\ntemplate <>\nstruct GaussLegendre<{n}> {{\n"
            f"{table('nodes', nodes)}{table('weights', weights)}}};\n"
        )
    parts.append("\n}  // namespace\n}  // namespace tightnoise\n")
    return "".join(parts)


def chebyshev_points(lower: mpf, upper: mpf, n: int) -> list[mpf]:
    """Return the n Chebyshev points of an interval."""
    return [
        (lower + upper) / 2 + (upper - lower) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * n))
        for k in range(n)
    ]


def horner(coefficients: list[mpf], x: mpf) -> mpf:
    """Return sum_k coefficients[k] x^k."""
    value = mpf(0)
    for c in reversed(coefficients):
        value = value * x + c
    return value


def polynomial(f: Callable[[mpf], mpf], lower: mpf, upper: mpf, degree: int) -> list[mpf]:
    """Return the polynomial that interpolates f in Chebyshev points, lowest power first."""
    points = chebyshev_points(lower, upper, degree + 1)
    matrix = mp.matrix([[x**j for j in range(degree + 1)] for x in points])
    return list(mp.lu_solve(matrix, mp.matrix([f(x) for x in points])))


def rational(
    f: Callable[[mpf], mpf], points: list[mpf], above: int, below: int
) -> tuple[list[mpf], list[mpf]]:
    """Return numerator and denominator (with constant term 1) that interpolate f in the points."""
    rows, values = [], []
    for x in points:
        y = f(x)
        rows.append([x**j for j in range(above + 1)] + [-y * x**j for j in range(1, below + 1)])
        values.append(y)
    solution = list(mp.lu_solve(mp.matrix(rows), mp.matrix(values)))
    return solution[: above + 1], [mpf(1), *solution[above + 1 :]]


def rounded(coefficients: list[mpf]) -> list[mpf]:
    """Return the coefficients as the doubles that the header holds."""
    return [mpf(float(c)) for c in coefficients]


def array(name: str, coefficients: list[mpf]) -> str:
    """Return the C++ definition of an array of coefficients, lowest power first."""
    body = rows(coefficients, 4 * " ")
    return f"constexpr double {name}[{len(coefficients)}] = {{\n{body}}};\n"


def worst(errors: list[mpf]) -> str:
    """Return the largest absolute value with two digits."""
    return mp.nstr(max(abs(e) for e in errors), 2)


def grid(lower: mpf, upper: mpf, n: int = 200) -> list[mpf]:
    """Return n + 1 equally spaced points strictly inside an interval."""
    return [lower + (upper - lower) * (k + mpf(1) / 2) / (n + 1) for k in range(n + 1)]


def exp_series() -> str:
    """Return the coefficients for exp and expm1 after argument reduction."""
    bound = mp.log(2) / 2

    def f(r: mpf) -> mpf:
        return mp.hyp1f1(1, 3, r) / 2

    c = polynomial(f, -bound, bound, 9)
    errors = [r * r * (horner(rounded(c), r) - f(r)) / mp.exp(r) for r in grid(-bound, bound)]
    return (
        f"// (e^r - 1 - r) / r^2 for |r| <= log(2) / 2; relative error in e^r {worst(errors)}.\n"
        + array("kExp", c)
    )


def expm1mx_series() -> str:
    """Return the coefficients of (e^t - 1 - t) / t^2 around 0."""

    def f(t: mpf) -> mpf:
        return mp.hyp1f1(1, 3, t) / 2

    c = polynomial(f, mpf(-1), mpf(1), 13)
    errors = [horner(rounded(c), t) / f(t) - 1 for t in grid(mpf(-1), mpf(1))]
    return f"// (e^t - 1 - t) / t^2 for |t| <= 1; relative error {worst(errors)}.\n" + array(
        "kExpm1mx", c
    )


def log_series() -> str:
    """Return the coefficients for log after argument reduction."""
    bound = (3 - 2 * mp.sqrt(2)) ** 2  # s = f / (2 + f) at 1 + f = sqrt(2) and sqrt(1/2)

    def f(z: mpf) -> mpf:
        s = mp.sqrt(z)
        return (2 * mp.atanh(s) / s - 2) / z

    c = polynomial(f, mpf(0), bound, 6)
    errors = [z * (horner(rounded(c), z) - f(z)) / 2 for z in grid(mpf(0), bound)]
    return (
        f"// (2 artanh(s) / s - 2) / s^2 in powers of s^2 <= {mp.nstr(bound, 4)}; "
        f"relative error in artanh {worst(errors)}.\n" + array("kLog", c)
    )


def erfcx_series() -> str:
    """Return the coefficients for erfcx on the positive axis."""
    centre = mpf(7) / 2

    def f(t: mpf) -> mpf:
        x = centre * (1 + t) / (1 - t)
        if x > 100:  # asymptotic series: erfc underflows nowhere in mpmath, but grows slow
            terms = [mp.fac2(2 * k - 1) / (-2 * x * x) ** k for k in range(16)]
            return (x + mpf(1) / 2) * mp.fsum(terms) / (x * mp.sqrt(mp.pi))
        return (x + mpf(1) / 2) * mp.exp(x * x) * mp.erfc(x)

    c = polynomial(f, mpf(-1), mpf(1), 23)
    errors = [horner(rounded(c), t) / f(t) - 1 for t in grid(mpf(-1), mpf(1))]
    return (
        "// (x + 1/2) erfcx(x) in powers of t = (x - 3.5) / (x + 3.5), x >= 0; "
        f"relative error {worst(errors)}.\n" + array("kErfcx", c)
    )


def mean_excess_series() -> str:
    """Return the coefficients of the mean excess of the normal tail."""

    def f(t: mpf) -> mpf:
        x = 4 * (1 + t) / (1 - t) - mpf(1) / 2
        if x > 100:  # asymptotic series of the Mills ratio
            mills = mp.fsum((-1) ** k * mp.fac2(2 * k - 1) / x ** (2 * k + 1) for k in range(24))
            return (1 / mills - x) * (x + mpf(3) / 2)
        density = mp.sqrt(2 / mp.pi) * mp.exp(-x * x / 2)
        return (density / mp.erfc(x / mp.sqrt(2)) - x) * (x + mpf(3) / 2)

    c = polynomial(f, mpf(-1), mpf(1), 31)
    errors = [horner(rounded(c), t) / f(t) - 1 for t in grid(mpf(-1), mpf(1))]
    return (
        "// (x + 3/2) (phi(x) / Phi(-x) - x) in powers of t = (x - 3.5) / (x + 4.5), x >= -1/2; "
        f"relative\n// error {worst(errors)}.\n" + array("kMeanExcess", c)
    )


def ndtri_centre() -> str:
    """Return the coefficients of Phi^-1 in the middle: the intervals of Wichura's AS241."""
    width = mpf(17) / 40
    far = mpf(1) / 4 - width**2

    def f(u: mpf) -> mpf:
        q = mp.sqrt(max(width**2 - u, mpf(10) ** -40))
        return mp.sqrt(2) * mp.erfinv(2 * q) / q

    # The logarithmic singularity is at q = 1/2, u = -far: points that are Chebyshev in log(u + far)
    # level the error.
    points = [
        min(max(mp.exp(v) - far, mpf(0)), width**2)
        for v in chebyshev_points(mp.log(far), mp.log(mpf(1) / 4), 15)
    ]
    above, below = rational(f, points, 7, 7)
    a, b = rounded(above), rounded(below)
    errors = [horner(a, u) / horner(b, u) / f(u) - 1 for u in grid(mpf(0), width**2)]
    return (
        "// Phi^-1(1/2 + q) / q in powers of u = 0.425^2 - q^2 >= 0: numerator and denominator; "
        f"relative error {worst(errors)}.\n" + array("kNdtriCentreAbove", above)
    ) + array("kNdtriCentreBelow", below)


def upper_quantile(s: mpf) -> mpf:
    """Return the z with log(1 - Phi(z)) = -s^2, by Newton's method."""
    z = s
    while True:
        tail = mp.erfc(z / mp.sqrt(2)) / 2
        step = (mp.log(tail) + s * s) * tail / (mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi))
        z += step
        if abs(step) < mpf(10) ** -40:
            return z


def ndtri_tail() -> str:
    """Return the coefficients of Phi^-1 in the tails."""
    lower, upper, origin = mp.sqrt(-mp.log(mpf(3) / 40)), mp.sqrt(mpf(746)), mpf(3) / 2
    shift = mpf(1) / 2
    points = [
        mp.exp(v) - shift - origin
        for v in chebyshev_points(mp.log(lower + shift), mp.log(upper + shift), 22)
    ]
    above, below = rational(lambda w: upper_quantile(w + origin), points, 11, 10)
    a, b = rounded(above), rounded(below)
    errors = [
        horner(a, s - origin) / horner(b, s - origin) / upper_quantile(s) - 1
        for s in (mp.exp(v) for v in grid(mp.log(lower), mp.log(upper), 100))
    ]
    return (
        "// -Phi^-1(p) in powers of w = sqrt(-log p) - 1.5 for e^-746 <= p <= 0.075: numerator and "
        f"denominator;\n// relative error {worst(errors)}.\n"
        + array("kNdtriTailAbove", above)
        + array("kNdtriTailBelow", below)
    )


def log_gamma_series() -> str:
    """Return the coefficients of log Gamma between its zeros 1 and 2."""

    def f(u: mpf) -> mpf:
        x = u + mpf(1) / 2
        return -mp.loggamma(1 + x) / (x * (1 - x))

    c = polynomial(f, -mpf(1) / 2, mpf(1) / 2, 21)
    errors = [horner(rounded(c), u) / f(u) - 1 for u in grid(-mpf(1) / 2, mpf(1) / 2)]
    return (
        "// -log Gamma(1 + x) / (x (1 - x)) in powers of x - 1/2, 0 <= x <= 1; "
        f"relative error {worst(errors)}.\n" + array("kLogGamma", c)
    )


def render_coefficients() -> str:
    """Return the text of coefficients.hpp."""
    series = [
        exp_series(),
        expm1mx_series(),
        log_series(),
        erfcx_series(),
        mean_excess_series(),
        ndtri_centre(),
        ndtri_tail(),
        log_gamma_series(),
    ]
    return (
        """\
// Coefficients of the approximations in elementary.hpp, normal.hpp and bessel.hpp, lowest power
// first. Beside each: the argument, its range, and the largest error of the rounded coefficients in
// exact arithmetic.
//
// Written by generate_coefficients.py: do not edit.
// clang-format off
#pragma once

namespace tightnoise {
namespace {

"""
        + "\n".join(series)
        + "\n}  // namespace\n}  // namespace tightnoise\n"
    )


def headers() -> dict[str, str]:
    """Return the generated headers: file name to text."""
    with mp.workdps(50):
        return {
            "coefficients.hpp": render_coefficients(),
            "gauss_legendre.hpp": render_gauss_legendre(),
        }


if __name__ == "__main__":
    for name, text in headers().items():
        (HERE / name).write_text(text)
