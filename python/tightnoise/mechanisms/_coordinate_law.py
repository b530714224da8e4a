"""The law of the noise on each coordinate: its parameters, and what the core says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise import _core
from tightnoise._arrays import Floats, broadcast_shape, operand
from tightnoise._validate import float_array, require, require_all, require_finite

Array = NDArray[np.float64]
Parameter = float | Array
"""A parameter of a mechanism: one number, or a read-only array with one for each coordinate."""

_SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)

# Beyond this many sigma squares overflow; 1e4 is what the error bounds are promised for.
_FARTHEST = 1e100


def parameter(name: str, value: object, *, positive: bool = False) -> Parameter:
    """Return a parameter after checking it: a float or a read-only float64 array."""
    array = float_array(name, value)
    if positive:
        require_all(array > 0, name, array, "greater than 0")
        require_all(array >= _SMALLEST_NORMAL, name, array, f"at least {_SMALLEST_NORMAL}")
    # A copy, as the caller's array may change later. -0.0 becomes 0.0: they are equal, and equal
    # mechanisms have equal hashes.
    frozen: Array = np.asarray(array.astype(np.float64) + 0.0)
    frozen.flags.writeable = False
    return frozen if frozen.ndim else float(frozen)


def first_of(where: NDArray[np.bool_], *arrays: Array) -> list[float]:
    """Return the elements of arrays, broadcast, in the first place that is meant."""
    return [float(np.broadcast_to(array, where.shape)[where].flat[0]) for array in arrays]


@dataclass(frozen=True, eq=False)
class CoordinateLaw:
    """A law with its parameters, each a number or one for each coordinate, float64 arrays."""

    name: str  # as the core has it
    scale_name: str
    scale: Array
    lower: Array
    upper: Array
    levels: int = 2

    @property
    def shape(self) -> tuple[int, ...]:
        """What the parameters broadcast to."""
        return np.broadcast_shapes(self.scale.shape, self.lower.shape, self.upper.shape)

    @property
    def is_below_gaussian(self) -> bool:
        """Whether no two outputs are easier to tell apart than those of Gaussian noise."""
        return self.name != "bounded_laplace"

    @cached_property
    def farthest_step(self) -> Array:
        """How far apart neighbours may be for a finite cost.

        Likelihoods are then within e^(5e15), of which double-double keeps 1e-14; far beyond, whole
        sigmas would be lost. Losses of Laplace noise are linear.
        """
        return (1e8 if self.is_below_gaussian else math.inf) * self.scale

    @property
    def functions(self) -> Any:
        """The core's functions of this law."""
        return getattr(_core, self.name)

    def __str__(self) -> str:
        return f"{self.name} noise, {self.scale_name} {self.scale.flat[0]:g}"

    # --- arguments --------------------------------------------------------------------------------

    def require_interval(self) -> None:
        """Refuse bounds that are not in order, or too far apart."""
        broadcast_shape(**{self.scale_name: self.scale, "lower": self.lower, "upper": self.upper})
        ordered = self.lower < self.upper
        if not ordered.all():
            low, high = first_of(~ordered, self.lower, self.upper)
            raise ValueError(f"lower must be less than upper; got lower {low} and upper {high}")
        some = self.upper.size > 0 and self.lower.size > 0
        if some and not float(self.upper.max()) - float(self.lower.min()) < np.inf:
            raise ValueError("upper - lower must be less than 1.8e308")

    def require_shape(self, shape: tuple[int, ...], **others: Floats) -> None:
        """Refuse parameters that would blow `shape` up: (d, 1) against (d,) is a mistake."""
        own = {self.scale_name: self.scale, "lower": self.lower, "upper": self.upper}
        for name, array in {**own, **others}.items():
            try:
                fits = np.broadcast_shapes(array.shape, shape) == shape
            except ValueError:
                fits = False
            if not fits:
                raise ValueError(
                    f"{name} must be a number or broadcast to the shape {shape} of the other "
                    f"arguments; got shape {array.shape}"
                )

    def require_near(self, **arrays: Floats) -> None:
        """Refuse NaN, infinities and what is too many sigma away for its square to be a number."""
        if not self.scale.size:
            return
        self._require_near(arrays)
        if not self._has_near_bounds:
            self._require_near({"lower": self.lower, "upper": self.upper})

    def _require_near(self, arrays: Mapping[str, Floats]) -> None:
        for name, array in arrays.items():
            if not _core.special.magnitude(array) < self._farthest:
                require_finite(name, array)
                unit = self.scale_name
                raise ValueError(
                    f"{name} must be within 1e100 {unit} of 0; {unit} is too small for it"
                )

    @cached_property
    def _farthest(self) -> float:
        return _FARTHEST * float(self.scale.min())

    @cached_property
    def _has_near_bounds(self) -> bool:
        bounds = self.lower, self.upper
        return all(_core.special.magnitude(array) < self._farthest for array in bounds)

    def theta(self, theta: ArrayLike) -> Floats:
        """Return values that are released, after checking them."""
        array = float_array("theta", theta, check_finite=False)
        require(array.size > 0, "theta", array.shape, "not empty")
        self.require_shape(array.shape)
        self.require_near(theta=array)
        return array

    def changes(
        self, coordinate_sensitivity: ArrayLike, shape: tuple[int, ...] | None = None
    ) -> Floats:
        """Return the most that each coordinate changes, after checking it; shape: of theta."""
        array = float_array("coordinate_sensitivity", coordinate_sensitivity)
        require_all(array >= 0, "coordinate_sensitivity", array, "at least 0")
        if shape is not None:
            self.require_shape(shape, coordinate_sensitivity=array)
        self.require_near(coordinate_sensitivity=array)
        return array

    # --- calls of the core ------------------------------------------------------------------------

    def operands(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the parameters as the core takes them: scale, lower, upper, levels."""
        arrays = (self.scale, self.lower, self.upper)
        return (*(operand(array, shape) for array in arrays), self.levels)

    def map(self, function: str, theta: Floats, *arguments: Floats) -> Any:
        """Return an elementwise function of the core: of `arguments`, theta and the parameters."""
        names = {f"argument {i}": array for i, array in enumerate(arguments)}
        shape = broadcast_shape(theta=theta, **names)
        self.require_shape(shape)
        self.require_near(theta=theta)
        return self.call(function, shape, *arguments, theta)[()]

    def call(self, function: str, shape: tuple[int, ...], *arrays: Floats) -> Array:
        """Return an elementwise function of the core, of arrays that were checked."""
        out = np.empty(shape)
        operands = (operand(array, shape) for array in arrays)
        getattr(self.functions, function)(*operands, *self.operands(shape), out)
        return out

    def rdp_sums(self, theta: Floats, alphas: Array, changes: Floats) -> tuple[Array, Array]:
        """Sum the worst divergences over coordinates: D(theta || theta') and D(theta' || theta)."""
        sums = np.empty(alphas.shape), np.empty(alphas.shape)
        steps, parameters = operand(changes, theta.shape), self.operands(theta.shape)
        self.functions.rdp_sums(alphas, steps, theta, *parameters, theta.size, *sums)
        return sums

    def fisher_sum(self, theta: Floats, changes: Floats) -> float:
        """Sum (c_j eta_j)^2 over coordinates."""
        steps, parameters = operand(changes, theta.shape), self.operands(theta.shape)
        total: float = self.functions.fisher_sum(steps, theta, *parameters, theta.size)
        return max(total, 0.0)  # millions of sigma outside, a 0 can come back as -1e-300
