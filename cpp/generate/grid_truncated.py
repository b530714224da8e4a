"""grid_truncated_coefficients.hpp: truncated Gaussian noise in single precision.

kStart, for m the Mills ratio and y where exp(-x y - y^2 / 2) m(x + y) / m(x) = e^-L: with
r = 1 - x m(x), root = sqrt(1 + 2 L r) and v = 1 / (1 + root), y = 2 L m(x) v times the sum over
i, j of kStart[i][j] r^i v^j, up to the relative error written beside it, for x >= 0 and L up to
that of a share of 2^-65. By least squares, reweighted towards the least largest error, as are

kSquareTop, kSquareBottom: for z = -2 log(2 Q(x)), Q the mass of a normal beyond x,
x^2 = z^2 top(z) / bottom(z) up to x = FARTHEST, errors three times as large above x = 5;
kHazard, of 1 / m(x) - x in powers of v = 1 / (x + 4), for x >= FAR, from v on;
kFarOut: for the same x, y as for kStart and e = L r, of y / (L m(x)) in powers of e from e on, and
the error of y, up to L of a share of 2^-15.

Chebyshev fits, the relative errors in exact arithmetic beside them: kMills, sqrt(2 / pi) (x + 4)
m(x) in powers of t = (x - 4) / (x + 4); kPower, 2^r for abs(r) <= 1/2, from r on; kLog,
-2 log(1 + f) / f for sqrt(1/2) <= 1 + f <= sqrt(2).
"""

import numpy as np
from fits import array, chebyshev, header, horner, struct, table, worst
from mpmath import mp, mpf
from scipy import special

DEGREE = 3
LARGEST = 65 * np.log(2)
LARGEST_FLOAT = 15 * np.log(2)
MILLS_TERMS = 10
MILLS_CENTRE = 4.0
POWER_TERMS = 5
LOG_TERMS = 8
SQUARE_TERMS = 5
HAZARD_TERMS = 2
FAR_TERMS = 3
FAR = 12.0
FARTHEST = 13.3


def mills(x):
    """(1 - Phi(x)) / phi(x)."""
    return np.sqrt(np.pi / 2) * special.erfcx(x / np.sqrt(2))


def solved(x, log_mass, y):
    """Return y where exp(-x y - y^2 / 2) m(x + y) / m(x) = e^-log_mass, from a start."""
    m = mills(x)
    for _ in range(12):
        beyond = mills(x + y)
        y = y - (y * (x + y / 2) - np.log(beyond / m) - log_mass) * beyond
    return y


def samples(points):
    """Return r, v and the factor wanted, on a grid of x and L."""
    x = np.concatenate([np.linspace(0, 1, points // 4), np.geomspace(1.02, 100, points)])[:, None]
    log_mass = LARGEST * np.sin(np.pi / 2 * np.linspace(0.002, 1, points)) ** 2
    m = mills(x)
    r = 1 - x * m
    v = 1 / (1 + np.sqrt(1 + 2 * log_mass * r))
    first = 2 * log_mass * m * v
    y = solved(x, log_mass, first)
    shape = np.broadcast_shapes(r.shape, v.shape)
    return (np.broadcast_to(r, shape).ravel(), v.ravel(), (y / first).ravel())


def fitted(a, wanted, rounds):
    """Return x of the least largest abs(a x - wanted), rounded to float32, and that."""
    weight = np.ones(len(a))
    for _ in range(rounds):
        x = np.linalg.lstsq(a * weight[:, None], wanted * weight, rcond=None)[0]
        error = np.abs(a @ x - wanted)
        weight *= np.sqrt(error / error.max() + 1e-3)
        weight /= weight.max()
    x = x.astype(np.float32).astype(float)
    return x, np.abs(a @ x - wanted).max()


def start():
    """Return the coefficients of kStart, and their largest error."""
    powers = np.arange(DEGREE + 1)

    def columns(r, v):
        return (r[:, None, None] ** powers[:, None] * v[:, None, None] ** powers).reshape(
            len(r), -1
        )

    r, v, factor = samples(100)
    x, _ = fitted(columns(r, v), factor, 40)
    r, v, factor = samples(333)
    return x.reshape(DEGREE + 1, -1), np.abs(columns(r, v) @ x - factor).max()


def square():
    """Return the coefficients of kSquareTop and kSquareBottom, and the error of x below 5."""
    x = np.concatenate([np.linspace(0, 6, 1200)[1:], np.geomspace(6, FARTHEST, 400)])
    z = x * x - 2 * np.log(special.erfcx(x / np.sqrt(2)))
    wanted = x * x / z
    to_x = z / (2 * x) * np.where(x < 5, 1.0, 1.0 / 3)
    powers = z[:, None] ** np.arange(1, SQUARE_TERMS + 1)
    bottom = np.ones_like(x)
    weight = np.ones_like(x)
    least = np.inf
    for _ in range(200):
        # Linear in all coefficients, with the denominator before this one in the weights.
        w = weight * to_x / bottom
        a = np.hstack([powers, -powers * wanted[:, None]]) * w[:, None]
        size = np.abs(a).max(axis=0)
        c = np.linalg.lstsq(a / size, wanted * w, rcond=None)[0] / size
        top, below = np.split(c, 2)
        bottom = 1 + powers @ below
        error = np.abs(powers @ top / bottom - wanted) * to_x
        if error.max() < least:
            least, best = error.max(), (top, np.append(1.0, below))
        weight *= np.sqrt(error / error.max() + 1e-3)
        weight = np.maximum(weight / weight.max(), 1e-6)
    best = [c.astype(np.float32).astype(float) for c in best]
    values = powers @ best[0] / (1 + powers @ best[1][1:])
    return *best, (np.abs(values - wanted) * to_x).max()


def hazard():
    """Return the coefficients of kHazard, and their error."""
    x = np.geomspace(FAR - 0.01, 1000, 3000)
    v = 1 / (x + MILLS_CENTRE)
    return fitted(v[:, None] ** np.arange(1, HAZARD_TERMS + 1), 1 / mills(x) - x, 60)


def far_out():
    """Return the coefficients of kFarOut, and the error of y."""
    x = np.concatenate([np.linspace(FAR - 0.01, 14, 40), np.geomspace(14, 200, 150)])[:, None]
    log_mass = np.linspace(0.05, LARGEST_FLOAT + 0.05, 200)
    first = log_mass * mills(x)
    e = log_mass * (1 - x * mills(x))
    columns = np.stack([(first * e**k).ravel() for k in range(1, FAR_TERMS + 1)], axis=1)
    return fitted(columns, (solved(x, log_mass, first) - first).ravel(), 60)


def single(function, low, high, terms, relative):
    """Return the coefficients of a Chebyshev fit in float32, and its largest error."""
    found = chebyshev(function, low, high, terms, np.float32)
    points = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * k / 999) for k in range(1000)]
    return found, max(abs((horner(found, r) - function(r)) * relative(r)) for r in points)


def mills_float():
    """Return the coefficients of kMills, and their error."""
    c = mpf(MILLS_CENTRE)

    def wanted(t):
        if t == 1:
            return mp.sqrt(2 / mp.pi)
        x = c * (1 + t) / (1 - t)
        if x > 1000:
            return mp.sqrt(2 / mp.pi) * (x + c) * (1 / x - 1 / x**3 + 3 / x**5 - 15 / x**7)
        return (x + c) * mp.exp(x * x / 2) * mp.erfc(x / mp.sqrt(2))

    return single(wanted, mpf(-1), mpf(1), MILLS_TERMS, lambda t: 1 / wanted(t))


def power_float():
    """Return the coefficients of kPower, and the error of 2^r."""

    def wanted(r):
        return (mpf(2) ** r - 1) / r if r else mp.log(2)

    return single(wanted, -mpf(1) / 2, mpf(1) / 2, POWER_TERMS, lambda r: r / mpf(2) ** r)


def log_float():
    """Return the coefficients of kLog, and the error of the logarithm."""

    def wanted(f):
        return -2 * mp.log(1 + f) / f if f else -mpf(2)

    return single(wanted, mp.sqrt(0.5) - 1, mp.sqrt(2) - 1, LOG_TERMS, lambda f: 1 / wanted(f))


def render() -> str:
    """Return the header."""
    rows, error = start()
    arrays = f"// error {worst([error])}\n" + table("kStart", rows)
    top, bottom, error = square()
    arrays += f"// error {worst([error])}\n" + array("kSquareTop", top)
    arrays += array("kSquareBottom", bottom)
    for name, fit in [
        ("kHazard", hazard),
        ("kFarOut", far_out),
        ("kMills", mills_float),
        ("kPower", power_float),
        ("kLog", log_float),
    ]:
        found, error = fit()
        arrays += f"// error {worst([error])}\n" + array(name, found)
    return header(
        "Truncated Gaussian noise in float32: generate/grid_truncated.py says what each is.",
        struct("TruncatedCoefficients", arrays),
        "grid",
    )
