"""What every mechanism is: something that knows what its releases cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from tightnoise._hints import MECHANISMS, missing
from tightnoise.costs import Cost


class Mechanism(ABC):
    """Turns a value into a noisy value, and says what that costs.

    A mechanism of another package takes part by a subclass whose `cost` returns a `Cost`: all that
    composes, explains and saves costs takes it as it is.

    Examples
    --------
    >>> import math
    >>> import tightnoise as tn
    >>> class Response(tn.Mechanism):
    ...     def cost(self, *, epsilon: float = 1.0) -> tn.Cost:
    ...         p = 1 / (1 + math.exp(-epsilon))
    ...         return tn.Cost.of_losses([epsilon, -epsilon], [p, 1 - p])
    >>> print(f"{(Response().cost(epsilon=0.1) * 100).epsilon(1e-6):.4f}")
    4.7746
    """

    def __getattr__(self, name: str) -> Any:
        raise missing(self, name, MECHANISMS)

    @abstractmethod
    def cost(self, *args: Any, **kwargs: Any) -> Cost:
        """Return what one release costs, for all neighbouring data sets."""
