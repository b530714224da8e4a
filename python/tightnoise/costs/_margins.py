"""What every cost is raised by, so that rounding cannot bring it below the truth."""

from __future__ import annotations

# Added relatively to every cost that is a sum over coordinates: each divergence and Fisher
# information is within 1e-12 of the truth (the card of its kernel, checked by the tests), the
# compensated sums add 1e-15, a spectral norm the rounding of its matrix products. With a wide
# reserve, and well inside the promised 1e-9.
COST_MARGIN = 1e-10

# A divergence, or a Fisher information in units of 1 / sigma^2, below this may come back as 0 (the
# kernels' card): added once a coordinate.
COST_UNDERFLOW = 1e-300
