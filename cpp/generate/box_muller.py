"""box_muller_coefficients.hpp: sine and cosine of a quarter turn, and a logarithm."""

import numpy as np
from fits import array, chebyshev, header, horner, struct, worst
from mpmath import mp, mpf

HALF_PI = mp.pi / 2
S_MAX = 3 - 2 * mp.sqrt(2)  # (m - 1)/(m + 1) at m = sqrt(2)


def sine(z):
    """sin(pi/2 f) / f, with z = f^2."""
    f = mp.sqrt(z)
    return mp.sin(HALF_PI * f) / f


def cosine(z):
    """(cos(pi/2 f) - 1) / f^2, with z = f^2."""
    return (mp.cos(HALF_PI * mp.sqrt(z)) - 1) / z


def logarithm(z):
    """(-4 atanh(s) / s + 4) / s^2, with z = s^2: what -2 log m = -4 atanh(s) needs beyond -4 s."""
    s = mp.sqrt(z)
    return (4 - 4 * mp.atanh(s) / s) / z


# name, function of z, largest z, error of the whole from the error of the polynomial
SERIES = [
    ("kSin", sine, mpf(1) / 4, lambda z, error: error * mp.sqrt(z)),
    ("kCos", cosine, mpf(1) / 4, lambda z, error: error * z),
    ("kLog", logarithm, S_MAX**2, lambda z, error: error * z / 4),
]
TERMS = {"double": (7, 7, 7), "float": (4, 4, 3)}


def render() -> str:
    """Return the header."""
    parts = ["template <class Real>\nstruct Coefficients;\n"]
    for real, counts in TERMS.items():
        arrays = ""
        for (name, function, z_max, weight), terms in zip(SERIES, counts, strict=True):
            round_to = float if real == "double" else np.float32
            found = chebyshev(function, mpf(10) ** -30, z_max, terms, round_to)
            points = [z_max * k / 2000 for k in range(1, 2001)]
            error = worst(weight(z, horner(found, z) - function(z)) for z in points)
            arrays += f"// error {error}\n" + array(name, found)
        parts.append("template <>\n" + struct(f"Coefficients<{real}>", arrays))
    return header(
        """\
Coefficients of z^0, z^1, ...: Chebyshev fits, rounded to the type they are used in. The error
beside each array is that of the whole function with the rounded coefficients, in exact
arithmetic: absolute for sine and cosine, relative for the logarithm.""",
        "\n".join(parts),
        "box_muller",
    )
