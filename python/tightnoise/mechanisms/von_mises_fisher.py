"""Noise on a direction: the von Mises-Fisher distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats, broadcast_shape, number_or_array, output
from tightnoise._core import random, special
from tightnoise._kinds import keeps_kind
from tightnoise._validate import float_array, number_array, require, require_all
from tightnoise.costs import Adjacency, Cost
from tightnoise.costs import _direction_pair as pair
from tightnoise.mechanisms._direction_law import DirectionLaw
from tightnoise.mechanisms._drawing import source_of
from tightnoise.mechanisms._grid import GridLike, automatic_steps, steps_of
from tightnoise.mechanisms._mechanism import Mechanism
from tightnoise.random import NoiseStream
from tightnoise.special import iv_ratio, log_sphere_mean

__all__ = ["VonMisesFisher"]

Array = NDArray[np.float64]

# How far the norm of a point may be from 1: rounding to the default grid leaves 1/128 at most.
_UNIT_NORM = 0.008

_FINEST_GRID = 2.0**-32


@dataclass(frozen=True)
class VonMisesFisher(DirectionLaw, Mechanism):
    """Release a random direction near the true one: density proportional to e^(kappa y . mu).

    y is on the unit sphere of R^dim and mu is the true vector divided by its norm, of which nothing
    is released. The cost depends on the angle between the directions of neighbours alone. Without
    a bound on that angle it is pi: opposite directions, the default everywhere.

    What is released is a point y of a grid: each coordinate is the multiple of a power of two that
    is nearest to that of a point x on the sphere, which has exactly this density, for the direction
    of exactly those numbers that are passed. x is made of random numbers of 256 bits, which leave
    open what is nearest with a probability below 2**-140. So the bits of y tell no more than the
    costs say: y is a function of x, which does not know the direction. On the default grid the norm
    of y is 1 within 1/128; the density, the mean and the entropy are those of x.

    A vector of zeros has no direction: its release is uniform on the sphere. That is kappa = 0 in
    the family e^(h y . mu), whose pairs are the easier to tell apart the further apart their h are
    (monotone likelihood ratio). So it costs less beside any direction, h = 0 and kappa, than
    opposite directions do, h = -kappa and kappa; an angle below pi does not cover it.

    Parameters
    ----------
    kappa : float
        Concentration, from 0 (uniform on the sphere, costs nothing) to 1e100. The mean of y . mu is
        about kappa/dim for kappa much less than dim.
    dim : int
        Number of coordinates, from 2 to 2**53.

    Raises
    ------
    ValueError
        If kappa or dim is out of range.
    TypeError
        If kappa is not a real number, or dim not an integer.

    Examples
    --------
    >>> import tightnoise as tn
    >>> vmf = tn.VonMisesFisher(kappa=300.0, dim=13_700)
    >>> round(vmf.mean_resultant_length(), 6)
    0.021887
    >>> round(vmf.cost(angle=0.1).epsilon(1e-5), 4)
    0.9511
    >>> y = vmf.sample([1.0] * 13_700)
    >>> abs(float(y @ y) - 1) < 1e-3
    True
    """

    kappa: float
    dim: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "kappa", pair.concentration(self.kappa))
        object.__setattr__(self, "dim", pair.dimension(self.dim))

    # --- the output's distribution ----------------------------------------------------------------

    @keeps_kind
    def sample(
        self,
        mean_direction: ArrayLike,
        *,
        rng: NoiseStream | None = None,
        out: object = None,
        grid: GridLike = "auto",
    ) -> Floats:
        """Return noisy directions: what is released.

        Two passes over memory, whatever dim is. Rows are independent, and a row does not depend on
        how many there are, nor, on a grid, on the dtype.

        Parameters
        ----------
        mean_direction : array_like, shape (dim,) or (..., dim)
            The true vectors, float32 or float64, of any norm; zeros give a uniform direction.
        rng : NoiseStream, optional
            Where the noise comes from; by default `tightnoise.random.default_stream()`, whose key
            comes from the operating system.
        out : ndarray, optional
            Where to write, of the shape and dtype of `mean_direction`, which it may be.
        grid : "auto", float or None
            Coordinates are multiples of this power of two, from 2**-32 to 1; it must not depend on
            data. "auto" is the largest that is at most ``1/sqrt(max(dim, kappa))/64``, a small part
            of the noise on a coordinate, but 2**-32 at least. None leaves coordinates where float
            arithmetic puts them, on unit vectors: *the costs do not cover what those bits tell*.

        Returns
        -------
        ndarray
            Of the shape and dtype of `mean_direction` (float64 for integers, float32 for float16).

        Notes
        -----
        The time of a call depends on `mean_direction` only by how often doubles cannot tell which
        point of the grid is nearest, so that a row takes more digits: for the default grid one row
        in 30,000 for dim = 10**6, where that takes a second or two, and in proportion to dim fewer
        for less. Without a grid, float32 vectors of more than 128 coordinates are made of float32
        normals, of at most 6.76 in absolute value.

        Raises
        ------
        ValueError
            If `mean_direction` holds NaN or an infinity or its last axis is not dim long, `out`
            overlaps it without being it, or `grid` is no power of two in its range.
        TypeError
            If `mean_direction` does not hold real numbers or is a masked array, `rng` is not a
            NoiseStream, or `grid` is no number, "auto" or None.

        Examples
        --------
        >>> import tightnoise as tn
        >>> vmf = tn.VonMisesFisher(kappa=1e6, dim=3)
        >>> vmf.sample([[0.0, 2.0, 0.0], [0.0, 0.0, -7.0]]).round(1) + 0.0
        array([[ 0.,  1.,  0.],
               [ 0.,  0., -1.]])
        """
        directions = self._vectors("mean_direction", mean_direction)
        noisy = output(out, directions.shape, directions.dtype)
        step = self._step(grid)
        source = source_of(rng)
        rows = (-1, self.dim) if directions.size else (0, self.dim)
        random.sample_von_mises_fisher(
            directions.reshape(rows), self.kappa, noisy.reshape(rows), source, step
        )
        return noisy

    @keeps_kind
    def pdf(self, y: ArrayLike, mean_direction: ArrayLike) -> Array | float:
        """Return the density of the output at y, `exp(logpdf(y, mean_direction))`."""
        with np.errstate(over="ignore"):
            density: Array | float = np.exp(self.logpdf(y, mean_direction))
        return density

    @keeps_kind
    def logpdf(self, y: ArrayLike, mean_direction: ArrayLike) -> Array | float:
        """Return the log density of the output at y, with respect to area on the sphere.

        kappa y . mu - L(kappa) - log(area), where L = `special.log_sphere_mean` at order dim/2 - 1
        and the area of the sphere is 2 pi^(dim/2)/Gamma(dim/2).

        Parameters
        ----------
        y : array_like, shape (..., dim)
            Points on the unit sphere: of norm 1 up to 0.008, as rounding to the default grid leaves
            it. The density is taken where they are at norm 1.
        mean_direction : array_like, shape (..., dim)
            The true vectors, as for `sample`; broadcast with y.

        Returns
        -------
        float or ndarray of float64
            Of the shape that the arguments broadcast to, without the last axis. Accurate to 1e-13
            of the largest of |log(area)| and the rest of the sum, plus what the coordinates'
            roundings make of kappa y . mu.

        Raises
        ------
        ValueError
            If y is not on the sphere, for NaN, infinities, a last axis that is not dim long, or
            shapes that do not broadcast.
        TypeError
            If an argument does not hold real numbers.

        Examples
        --------
        >>> import tightnoise as tn
        >>> round(tn.VonMisesFisher(kappa=2.0, dim=3).logpdf([0.0, 0.0, 1.0], [0.0, 0.0, 5.0]), 6)
        -1.126244
        """
        points = self._vectors("y", y)
        directions = self._vectors("mean_direction", mean_direction)
        broadcast_shape(y=points, mean_direction=directions)
        unit, norms = _normalised(points)
        require_all(np.abs(norms - 1) <= _UNIT_NORM, "y", norms, f"of norm 1 within {_UNIT_NORM}")
        mean, lengths = _normalised(directions)
        kappa = np.where(lengths > 0, self.kappa, 0.0)
        if self.kappa <= self.dim:
            exponent = kappa * (unit * mean).sum(axis=-1) - self._log_mean(kappa)
        else:
            # Next to the mode y . mu = 1 - |y - mu|^2/2 keeps its digits, and kappa - L(kappa) is
            # much less than either.
            distance = unit - mean
            square = (distance * distance).sum(axis=-1)
            exponent = self._log_peak(kappa) - 0.5 * kappa * square
        return number_or_array(np.asarray(exponent - self._log_area()))

    @keeps_kind
    def mean(self, mean_direction: ArrayLike) -> Any:
        """Return the mean of the output, the mean resultant length times the unit vector mu.

        Zeros have no direction, and a mean of zeros.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.VonMisesFisher(kappa=2.0, dim=3).mean([0.0, 0.0, 5.0]).round(6)
        array([0.      , 0.      , 0.537315])
        """
        unit, _ = _normalised(self._vectors("mean_direction", mean_direction))
        return self.mean_resultant_length() * unit

    def mean_resultant_length(self) -> float:
        """Return the mean of y . mu, I_(dim/2)(kappa)/I_(dim/2 - 1)(kappa), within 1e-15 of it.

        The mean of y is that times mu.

        Returns
        -------
        float

        Examples
        --------
        >>> import tightnoise as tn
        >>> round(tn.VonMisesFisher(kappa=2.0, dim=3).mean_resultant_length(), 6)
        0.537315
        """
        return float(iv_ratio(self._order, self.kappa))

    def entropy(self) -> float:
        """Return the differential entropy with respect to area, the mean of -logpdf.

        log(area) - (kappa r - L(kappa)), r the mean resultant length; the second part is the
        divergence from the uniform distribution. Accurate to 1e-13 of the larger of the two: in a
        high dimension, log(area) is about -(dim/2) log(dim) and hides the other.

        Returns
        -------
        float

        Examples
        --------
        >>> import tightnoise as tn
        >>> round(tn.VonMisesFisher(kappa=2.0, dim=3).entropy(), 6)
        2.051615
        """
        kappa = np.asarray(self.kappa)
        if self.kappa <= self.dim:
            information = self.kappa * self.mean_resultant_length() - float(self._log_mean(kappa))
        else:
            # kappa r and L(kappa) are both next to kappa: take what is left of it.
            short = np.empty(())
            special.iv_ratio_complement(np.asarray(self._order), kappa, short)
            information = float(self._log_peak(kappa)) - self.kappa * float(short)
        return self._log_area() - information

    # --- what it costs ----------------------------------------------------------------------------

    def cost(self, *, angle: float = math.pi, adjacency: Adjacency | None = None) -> Cost:
        """Return what a release costs whose direction one record turns by `angle` at most.

        Parameters
        ----------
        angle : float
            The largest angle between the true directions of neighbours, in radians, from 0 to pi,
            which also covers vectors of zeros. One record can turn a sum of clipped gradients
            around, however large the batch is: pi, unless what is released guarantees less.
        adjacency : {None, "add-remove", "replace-one"}
            The neighbours that the angle is declared for; None: those of what the cost is added to.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError
            For an angle outside [0, pi], an unknown adjacency.
        TypeError
            If the angle is not a real number.

        Examples
        --------
        >>> import tightnoise as tn
        >>> vmf = tn.VonMisesFisher(kappa=75.0, dim=13_700)
        >>> print(f"{vmf.cost().epsilon(1e-5):.4f} {(vmf.cost(angle=0.2) * 10).epsilon(1e-6):.4f}")
        5.8463 1.7876
        """
        leaf = pair.DirectionPair(
            self.kappa, self.dim, pair.half_chord_upper(angle), adjacency=adjacency
        )
        return Cost.of_leaf(leaf) if leaf.max_loss > 0 else Cost()

    def renyi_divergence(self, *, angle: ArrayLike = math.pi, alpha: ArrayLike) -> Array | float:
        """Return the Renyi divergence of order alpha between two releases.

        D = (L(c kappa) - L(kappa))/(alpha - 1), c^2 = 1 + 4 alpha (alpha - 1) sin(angle/2)^2 and
        L = `special.log_sphere_mean` at order dim/2 - 1; the same in both directions (Kitagawa and
        Rowley 2022, "von Mises-Fisher distributions and their statistical divergence", arXiv
        2202.05192, Proposition 3.1).

        Parameters
        ----------
        angle : array_like
            Between the two true directions, in radians, from 0 to pi.
        alpha : array_like
            Orders greater than 0: 1 is the Kullback-Leibler divergence, infinity the
            max-divergence 2 kappa sin(angle/2).

        Returns
        -------
        float or ndarray of float64
            Elementwise, of the shape the arguments broadcast to: the nearest value, with a relative
            error of at most 1e-13 (where above 1e-300). `cost` rounds upwards.

        Raises
        ------
        ValueError
            For an angle outside [0, pi], alpha <= 0, NaN, or shapes that do not broadcast.
        TypeError
            If an argument does not hold real numbers.

        Examples
        --------
        >>> import tightnoise as tn
        >>> vmf = tn.VonMisesFisher(kappa=75.0, dim=13_700)
        >>> vmf.renyi_divergence(angle=[0.5, 3.0], alpha=2.0).round(6)
        array([0.100522, 1.633874])
        """
        angles = pair.radians(angle)
        orders = number_array("alpha", alpha)
        require_all(orders > 0, "alpha", orders, "greater than 0")
        opposite = angles >= math.pi
        half_chord = np.where(opposite, 1.0, np.sin(0.5 * angles))
        half_cosine = np.where(opposite, 0.0, np.cos(0.5 * angles))
        broadcast_shape(angle=angles, alpha=orders)
        return number_or_array(
            pair.renyi_divergence(self.kappa, self.dim, half_chord, orders, half_cosine)
        )

    # --- parts ------------------------------------------------------------------------------------

    @property
    def _grid_scale(self) -> float:
        """Return what the default grid follows: about the size of the noise on a coordinate."""
        return max(1.0 / math.sqrt(max(self.dim, self.kappa)), 64 * _FINEST_GRID)

    def _step(self, grid: GridLike) -> float:
        """Return the step of a grid, 0 for none."""
        scale = np.asarray(self._grid_scale)
        name = "the noise on a coordinate"
        step = steps_of(grid, scale, name, lambda: automatic_steps(scale, name))
        if step is None:
            return 0.0
        require(step.ndim == 0, "grid", grid, "one number")
        require(_FINEST_GRID <= float(step) <= 1.0, "grid", grid, f"from {_FINEST_GRID} to 1")
        return float(step)

    @property
    def _order(self) -> float:
        return 0.5 * self.dim - 1.0

    def _log_area(self) -> float:
        """Return the log of the area of the sphere, 2 pi^(dim/2)/Gamma(dim/2)."""
        half = 0.5 * self.dim
        return math.log(2.0) + (half * math.log(math.pi) - math.lgamma(half))

    def _log_mean(self, kappa: Array) -> Array:
        return np.asarray(log_sphere_mean(self._order, kappa))

    def _log_peak(self, kappa: Array) -> Array:
        """Return kappa - L(kappa)."""
        result = np.empty(kappa.shape)
        special.log_peak_to_mean(np.asarray(self._order), np.ascontiguousarray(kappa), result)
        return result

    def _vectors(self, name: str, value: ArrayLike) -> Floats:
        vectors = float_array(name, value)
        good = vectors.ndim > 0 and vectors.shape[-1] == self.dim
        require(good, name, vectors.shape, f"of shape ({self.dim},) or (..., {self.dim})")
        return vectors


def _normalised(vectors: Floats) -> tuple[Array, Array]:
    """Return vectors divided by their norms, and the norms, which may be infinite; zeros stay."""
    wide = vectors.astype(np.float64)
    largest = np.max(np.abs(wide), axis=-1, keepdims=True)
    scaled = wide / np.where(largest > 0, largest, 1.0)  # no square overflows
    norms = np.sqrt(np.sum(scaled * scaled, axis=-1, keepdims=True))
    unit = scaled / np.where(norms > 0, norms, 1.0)
    with np.errstate(over="ignore"):
        return unit, np.asarray((norms * largest)[..., 0])
