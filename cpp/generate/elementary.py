"""coefficients.hpp: the approximations of elementary functions and of the normal distribution."""

from __future__ import annotations

from collections.abc import Callable

from fits import array, chebyshev_points, grid, header, horner, rational, worst
from mpmath import mp, mpf


def polynomial(f: Callable[[mpf], mpf], lower: mpf, upper: mpf, degree: int) -> list[mpf]:
    """Return the polynomial that interpolates f in Chebyshev points."""
    points = chebyshev_points(lower, upper, degree + 1)
    return rational(points, [f(x) for x in points], degree, 0)[0]


def exp_series() -> str:
    """Return the coefficients for exp and expm1 after argument reduction."""
    bound = mp.log(2) / 2

    def f(r: mpf) -> mpf:
        return mp.hyp1f1(1, 3, r) / 2

    c = polynomial(f, -bound, bound, 9)
    errors = [r * r * (horner(c, r) - f(r)) / mp.exp(r) for r in grid(-bound, bound)]
    return (
        f"// (e^r - 1 - r) / r^2 for |r| <= log(2) / 2; relative error in e^r {worst(errors)}.\n"
        + array("kExp", c)
    )


def expm1mx_series() -> str:
    """Return the coefficients of (e^t - 1 - t) / t^2 around 0."""

    def f(t: mpf) -> mpf:
        return mp.hyp1f1(1, 3, t) / 2

    c = polynomial(f, mpf(-1), mpf(1), 13)
    errors = [horner(c, t) / f(t) - 1 for t in grid(mpf(-1), mpf(1))]
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
    errors = [z * (horner(c, z) - f(z)) / 2 for z in grid(mpf(0), bound)]
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
    errors = [horner(c, t) / f(t) - 1 for t in grid(mpf(-1), mpf(1))]
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
    errors = [horner(c, t) / f(t) - 1 for t in grid(mpf(-1), mpf(1))]
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
    above, below = rational(points, [f(u) for u in points], 7, 7)
    errors = [horner(above, u) / horner(below, u) / f(u) - 1 for u in grid(mpf(0), width**2)]
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
    above, below = rational(points, [upper_quantile(w + origin) for w in points], 11, 10)
    errors = [
        horner(above, s - origin) / horner(below, s - origin) / upper_quantile(s) - 1
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
    errors = [horner(c, u) / f(u) - 1 for u in grid(-mpf(1) / 2, mpf(1) / 2)]
    return (
        "// -log Gamma(1 + x) / (x (1 - x)) in powers of x - 1/2, 0 <= x <= 1; "
        f"relative error {worst(errors)}.\n" + array("kLogGamma", c)
    )


def render() -> str:
    """Return the header."""
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
    return header(
        """\
Coefficients of the approximations in elementary.hpp, normal.hpp and bessel.hpp, lowest power
first. Beside each: the argument, its range, and the largest error of the rounded coefficients in
exact arithmetic.""",
        "\n".join(series),
    )
