"""truncated_inside_coefficients.hpp: the quantile of a normal within 2 sigma."""

from fits import array, chebyshev_points, header, horner, rational, worst
from mpmath import mp, mpf

Z_MAX = mpf(2)
DEGREE = 11
NODES = 10


def share(z):
    """Phi(z) - 1/2."""
    return mp.ncdf(z) - mpf(1) / 2


def render() -> str:
    """Return the header."""
    edge_square = mpf(float(share(Z_MAX) ** 2))
    z = chebyshev_points(mpf(0), Z_MAX, 2 * DEGREE + 1)
    points = [edge_square - share(x) ** 2 for x in z]
    above, below = rational(points, [x / share(x) for x in z], DEGREE, DEGREE)
    assert min(above + below) > 0
    errors = []
    for k in range(1, 1001):
        x = Z_MAX * k / 1000
        v = edge_square - share(x) ** 2
        errors.append(share(x) * horner(above, v) / horner(below, v) - x)
    return header(
        """\
Phi^-1(1/2 + q) = q above(v) / below(v) for |q| <= Q = Phi(2) - 1/2, v = Q^2 - q^2: the rational
function that interpolates at Chebyshev points of Phi^-1. In v both polynomials have positive
coefficients (the poles lie at v < 0), so no digits cancel. The error is absolute, with the
rounded coefficients in exact arithmetic.""",
        f"""\
constexpr double kEdgeSquare = {float(edge_square)!r};  // (Phi(2) - 1/2)^2

// error {worst(errors)}
{array("kQuantileAbove", above)}
{array("kQuantileBelow", below)}
// The Chebyshev points cos(pi (2 k + 1) / (2 n)).
{array("kChebyshevPoints", chebyshev_points(mpf(-1), mpf(1), NODES))}""",
        "truncated",
    )
