"""Where something begins to hold, by bisection."""

from __future__ import annotations

from collections.abc import Callable

_TRIALS = 60


def bisected(
    is_below: Callable[[float], bool], low: float, high: float, close: float = 0.0
) -> tuple[float, float]:
    """Return ends, the first of which is below and the second not, as `low` and `high` are.

    They are `close` to each other, relatively, or as close as 60 halvings bring them.
    """
    for _ in range(_TRIALS):
        if high - low <= close * high:
            break
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low, high
