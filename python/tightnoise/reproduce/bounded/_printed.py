"""What the paper prints: Table 1, as in its text."""

from __future__ import annotations

__all__ = ["BOUNDED", "GENERALIZED", "REDUCTION"]

GENERALIZED = {
    0.1: "1320.0",
    0.5: "264.0",
    1.0: "132.0",
    1.5: "88",
    2.0: "66",
    2.5: "52.8",
    3.0: "44",
}
"""epsilon: sigma^2 of the generalized Gaussian mechanism."""

BOUNDED = {
    0.1: "857.5",
    0.5: "170.3",
    1.0: "84.3",
    1.5: "55.8",
    2.0: "41.5",
    2.5: "32.9",
    3.0: "27.2",
}
"""epsilon: sigma^2 of the bounded Gaussian mechanism."""

REDUCTION = {
    0.1: "35.0",
    0.5: "35.5",
    1.0: "36.1",
    1.5: "36.6",
    2.0: "37.2",
    2.5: "37.7",
    3.0: "38.2",
}
"""epsilon: how much less the latter is than the former, in %."""
