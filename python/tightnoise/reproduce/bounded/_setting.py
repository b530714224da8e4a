"""The paper's numerical example: two numbers of a graph with 10 nodes, and what they may change by.

The query is the algebraic connectivity, in [0, 10], and the degree of one node, in [1, 9]. Graphs
are neighbours if they differ in `EDGES` edges. An edge changes the connectivity by at most 2 and
the degree by at most 1.
"""

from __future__ import annotations

import math

LOWER = (0.0, 1.0)
UPPER = (10.0, 9.0)
WIDTHS = (10.0, 8.0)

EDGES = 2
SENSITIVITIES = (2.0 * EDGES, 1.0 * EDGES)
SENSITIVITY = math.hypot(*SENSITIVITIES)
"""Of both together, by the L2 norm: the square root of 5, times `EDGES`."""

EPSILONS = (0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
"""The rows of Table 1."""

MIDDLE = sum(width * width for width in WIDTHS) / 12.0
"""The mean squared error of a release that is always the middle of the domain, and costs nothing.

Over true values that are uniform on the domain, both coordinates together.
"""
