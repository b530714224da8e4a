"""Functions of the order whose weighted sums the core computes in one call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class CoreSum(ABC):
    """A function alpha -> cost, by a function of the core that adds up many of its class."""

    def __call__(self, orders: object) -> Array:
        """Return the divergences at `orders`, rounded upwards."""
        return self.weighted_sum([self], [1], orders)

    @classmethod
    def weighted_sum(cls, functions: Sequence[Any], counts: Sequence[int], orders: object) -> Array:
        """Return the sum of counts[i] functions[i](orders), rounded upwards, in one call."""
        alphas = np.ascontiguousarray(orders, dtype=np.float64)
        out = np.empty_like(alphas)
        columns = zip(*(function._core_arguments for function in functions), strict=True)
        parameters = (np.array(column, dtype=np.float64) for column in columns)
        cls._core_sum(*parameters, np.array(counts, dtype=np.float64), alphas, out)
        return out

    @property
    @abstractmethod
    def _core_arguments(self) -> tuple[float, ...]:
        """The parameters of this function, as the core takes them."""

    @staticmethod
    @abstractmethod
    def _core_sum(*arrays: Array) -> None:
        """Call the core with an array a parameter, the counts, the orders and where to write."""
