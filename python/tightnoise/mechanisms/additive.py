"""What all mechanisms have in common that add noise with a density of its own to each number."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats, elementwise
from tightnoise._cached import cached_property
from tightnoise._core import random as core
from tightnoise._core.random import NoiseSource
from tightnoise._validate import (
    MAX_COUNT,
    float_array,
    integer,
    not_negative,
    number_array,
    require,
)
from tightnoise.costs import Adjacency, Cost
from tightnoise.costs._additive_pair import AdditivePair, law_of
from tightnoise.costs._leaf import Leaf
from tightnoise.mechanisms._drawing import LARGEST_FLOAT32, Sampled, Theta, read_theta
from tightnoise.mechanisms._entropy import entropy_of_panels
from tightnoise.mechanisms._grid import GridLike, automatic_steps, steps_of
from tightnoise.mechanisms._higher_moments import fourth_moment_of_panels
from tightnoise.mechanisms._mechanism import Mechanism
from tightnoise.mechanisms._panels import Tails
from tightnoise.mechanisms._scalar_law import ScalarLaw
from tightnoise.mechanisms.rounded import RoundedNoise
from tightnoise.sums import ExactSum

__all__ = ["AdditiveNoise"]

Array = NDArray[np.float64]

_LARGEST = float(np.finfo(np.float64).max)


class AdditiveNoise(Sampled, ScalarLaw, Mechanism):
    """Noise with a density, symmetric about 0, added to each number by itself.

    The base of the mechanisms for scalar queries. What `cost` and the calibrations say is what
    *one* number costs. An array may be sampled, and each element gets its own noise; but where one
    person can change several elements, each of them is a release, with the most that this one
    changes by as its sensitivity (`changed`). Noise for epsilon 1, delta 1e-5 and one number of
    sensitivity 1 costs epsilon 39 (staircase), 5.7 (multi-Gaussian) or 4.3 (Laplace) on 784 numbers
    that one person changes by 1/28 each, 1 in Euclidean norm. On vectors, Gaussian noise goes by
    the Euclidean norm of the change (`calibrate.gaussian`), Laplace noise of pure epsilon by the
    sum of all changes.

    Equal parameters make equal mechanisms.
    Everything is computed in float64, whatever the dtype of theta; only samples have the dtype of
    theta.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.Laplace(scale=2)
    >>> isinstance(m, tn.mechanisms.AdditiveNoise)
    True
    >>> m == tn.Laplace(scale=2.0)
    True
    """

    _noise_is_added: ClassVar[bool] = True

    tails: ClassVar[Tails]
    """How the density ends: "gaussian", "exponential" or "bounded"."""
    _is_unimodal: ClassVar[bool] = False

    @property
    def _repeats(self) -> tuple[float, float, float] | None:
        """From where on the tail falls by e^-epsilon from step to step: start, step, epsilon."""
        return None

    # --- what a subclass says ---------------------------------------------------------------------

    _law_name: ClassVar[str]  # what `AdditivePair` calls it

    @property
    def _law_parameters(self) -> tuple[Any, ...]:
        """What the core makes the law of: the fields, in their order."""
        return self._values()

    @property
    @abstractmethod
    def _least_scale(self) -> float:
        """What a grid is measured by: the width of the law's narrowest feature."""

    @abstractmethod
    def _panels(self, end: float, least: float = 0.0) -> Array:
        """Return the edges of panels from 0 to `end`, in each a tail that is a polynomial to 1e-15.

        What is narrower than `least` need not be told apart.
        """

    _sampler: ClassVar[str]  # what draws the noise, in `core`
    _has_grid: ClassVar[bool] = True

    @property
    def _sampled(self) -> tuple[Any, ...]:
        """What that takes to draw: the fields, in their order."""
        return self._values()

    # --- parameters -------------------------------------------------------------------------------

    @cached_property
    def _law(self) -> Any:
        return law_of(self._law_name, self._law_parameters)

    # --- the output's distribution ----------------------------------------------------------------

    def _read(self, theta: ArrayLike | ExactSum) -> Theta:
        given = read_theta(theta)
        if given.floats.dtype == np.float32 and self.mean_abs() > LARGEST_FLOAT32:
            raise ValueError(
                f"the noise must be at most {LARGEST_FLOAT32} for float32 theta; its mean_abs() is "
                f"{self.mean_abs()}"
            )
        return given

    @property
    def _noise_scale(self) -> Array:
        return np.asarray(self._grid_scale)

    def _draw(self, theta: Floats, out: object, source: NoiseSource, *place: Any) -> None:
        sampler = getattr(core, self._sampler)
        sampler(theta, *self._sampled, out, source, *place)

    @property
    def _grid_scale(self) -> float:
        """What the steps of a grid go by."""
        return self._least_scale

    @cached_property
    def _automatic_steps(self) -> Array:
        return automatic_steps(self._grid_scale, "the scale of the noise")

    def _steps(self, grid: GridLike, shape: tuple[int, ...] | None = None) -> Array | None:
        name = "the scale of the noise"
        step = steps_of(grid, self._noise_scale, name, lambda: self._automatic_steps)
        require(step is None or step.ndim == 0, "grid", grid, "one number")
        return step

    def _of_points(self, function: str, x: ArrayLike, theta: ArrayLike) -> Any:
        distance = _distance("x", x, theta)
        if function == "log_pdf":
            return self._map(self._law.log_pdf, x=distance)
        if function == "cdf":
            return self._map(self._law.cdf, x=distance)
        if function == "sf":  # by symmetry, as all that follows
            return self._map(self._law.cdf, x=np.asarray(-distance))
        above = distance if function == "log_sf" else -distance
        tail = self._map(self._law.log_tail, x=np.asarray(np.abs(distance)))
        return np.where(above >= 0, tail, np.log1p(-np.exp(tail)))[()]

    def _of_shares(self, function: str, q: Array, theta: ArrayLike) -> Any:
        quantile = self._map(self._law.quantile, q=q)
        signed = quantile if function == "quantile" else -quantile
        return np.add(float_array("theta", theta), signed, dtype=np.float64)

    def _of_theta(self, function: str, theta: ArrayLike) -> Any:
        values = float_array("theta", theta).astype(np.float64)
        if function == "mean":
            return values[()]
        if function == "skewness":
            return np.zeros(values.shape)[()]
        if function == "kurtosis":
            found = self._fourth_moment / self._law.variance() ** 2 - 3.0
        else:
            found = self._law.variance() if function == "variance" else self._entropy
        return np.full(values.shape, found)[()]

    @cached_property
    def _fourth_moment(self) -> float:
        return fourth_moment_of_panels(self)

    @cached_property
    def _entropy(self) -> float:
        return entropy_of_panels(self)

    def mean_abs(self) -> float:
        """Return the mean of abs(noise), the l1 loss."""
        return float(self._law.mean_abs())

    def _mass(self, lower: Array, upper: Array) -> Array:
        """Return the probability of noise between two ends, exact in tails, too."""
        return np.asarray(self._map(self._law.mass, lower=lower, upper=upper))

    def rounded(self, grid: float = 1.0) -> RoundedNoise:
        """Return the law of the noise once outputs are rounded to multiples of `grid`, for free.

        Parameters
        ----------
        grid : float
            A power of two, at most 1024 times the scale of the noise.

        Returns
        -------
        RoundedNoise
            Its probabilities, its mean size and its variance.

        Raises
        ------
        ValueError
            If grid is no power of two, or too coarse.
        TypeError
            If grid is not a real number.

        Examples
        --------
        >>> import tightnoise as tn
        >>> noise = tn.Tulap(epsilon=3.0, sensitivity=1.0)
        >>> round(noise.mean_abs(), 4), round(noise.rounded().mean_abs(), 4)
        (0.3261, 0.0998)
        """
        return RoundedNoise(self, grid)

    # --- what it costs ----------------------------------------------------------------------------

    def hockey_stick(self, theta: ArrayLike, theta_prime: ArrayLike, epsilon: ArrayLike) -> Any:
        """Return delta(epsilon): the largest P(S) - exp(epsilon) Q(S) over all sets S.

        P = M(theta) and Q = M(theta_prime), elementwise; epsilon may be any real number, also
        negative or infinite. The nearest value, not rounded upwards; `cost` is what a release
        costs.

        Raises
        ------
        ValueError
            For NaN, infinite theta, or shapes that do not broadcast.
        TypeError
            If an argument does not hold real numbers.
        """
        shift = _distance("theta_prime", theta_prime, theta)
        # As good as infinite: no density here spans so many powers of e.
        losses = _finite(number_array("epsilon", epsilon))
        return self._map(self._law.hockey_stick, shift=shift, epsilon=losses)

    def cost(
        self, *, sensitivity: float, changed: SupportsIndex = 1, adjacency: Adjacency | None = None
    ) -> Cost:
        """Return what a release costs, for all neighbouring data sets.

        Its delta is the greatest hockey-stick divergence over all shifts up to the sensitivity,
        with a proof that no shift costs more (cpp/worst/worst_shift.hpp).

        Parameters
        ----------
        sensitivity : float
            The most that one record changes a number by, at least 0.
        changed : int
            How many numbers of an array one record changes at most, each by that. Where changes are
            spread over a vector, Gaussian noise goes by their Euclidean norm.
        adjacency : {None, "add-remove", "replace-one"}
            The neighbours that the sensitivity is declared for; None: those of what the cost is
            added to.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError
            For a sensitivity that is negative, infinite or NaN, a count below 1, an unknown
            adjacency.
        TypeError
            If an argument is not a real number.

        Examples
        --------
        >>> import tightnoise as tn
        >>> cost = tn.Laplace(20.0).cost(sensitivity=1.0)
        >>> print(f"{cost.epsilon(0.0):.4f} {(cost * 100).epsilon(1e-5):.3f}")
        0.0500 1.948
        """
        change = not_negative("sensitivity", sensitivity)
        times = integer("changed", changed, minimum=1, maximum=MAX_COUNT)
        if change == 0:
            return Cost()
        return Cost.of_leaf(self._pair(change, adjacency)) * times

    def _pair(self, sensitivity: float, adjacency: Adjacency | None) -> Leaf:
        """Return the leaf of one number."""
        return AdditivePair(self._law_name, self._law_parameters, sensitivity, adjacency=adjacency)

    def _map(self, function: Any, **arguments: Array) -> Any:
        """Call an elementwise function of the law."""
        return elementwise(function, **arguments)[()]


def _distance(name: str, x: ArrayLike, theta: ArrayLike) -> Array:
    """Return x - theta, finite: what would overflow is as far as a float can be."""
    to, origin = float_array(name, x), float_array("theta", theta)
    with np.errstate(over="ignore"):
        distance = np.subtract(to, origin, dtype=np.float64)
    return _finite(np.asarray(distance))


def _finite(array: Array) -> Array:
    return np.asarray(np.clip(array, -_LARGEST, _LARGEST))
