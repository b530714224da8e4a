"""gauss_legendre.hpp: nodes and weights."""

from fits import array, header, struct
from mpmath import mp

POINTS = (8, 16, 32, 64)


def render() -> str:
    """Return the header."""
    rules = ["template <int Points>\nstruct GaussLegendre;\n"]
    for n in POINTS:
        nodes, weights = mp.gauss_quadrature(n, "legendre01")
        arrays = array("nodes", nodes) + array("weights", weights)
        rules.append("template <>\n" + struct(f"GaussLegendre<{n}>", arrays))
    return header(
        """\
Gauss-Legendre quadrature on [0, 1]: integral_0^1 f(y) dy ~ sum_k weights[k] f(nodes[k]), exact
for polynomials of degree 2 Points - 1. Nodes ascend and nodes[Points - 1 - k] = 1 - nodes[k];
nodes and weights are the exact values rounded to double (those near 0 keep their relative
accuracy). Kernel-side header: internal linkage.""",
        "\n".join(rules),
    )
