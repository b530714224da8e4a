"""Von Mises-Fisher noise on the direction of a vector beside a fixed anchor."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats, output
from tightnoise._kinds import keeps_kind
from tightnoise._validate import (
    MAX_COUNT,
    float_array,
    integer,
    not_negative,
    positive,
    require,
)
from tightnoise.costs import Adjacency, Cost
from tightnoise.mechanisms._direction_law import DirectionLaw
from tightnoise.mechanisms._grid import GridLike
from tightnoise.mechanisms._mechanism import Mechanism
from tightnoise.mechanisms.von_mises_fisher import VonMisesFisher, _normalised
from tightnoise.random import NoiseStream

__all__ = ["LiftedVonMisesFisher"]

Array = NDArray[np.float64]

_LEAST_FLOAT32 = float(np.finfo(np.float32).tiny)
_LARGEST_FLOAT32 = float(np.finfo(np.float32).max)

# Of an angle: a division and this product are off by 2^-53, an arc tangent by 2^-52.
_ROUNDING_UP = 1.0 + 2.0**-50
_UNDERFLOW = 2.0**-1070


@dataclass(frozen=True)
class LiftedVonMisesFisher(DirectionLaw, Mechanism):
    """Von Mises-Fisher noise on the direction of (S, anchor), one dimension up.

    `VonMisesFisher` releases the direction of a sum S of clipped vectors, and one record can turn
    that by any angle: S = -g/2 becomes g/2 when the record of g joins. However large the batch, the
    noise must hide a half turn. Here the direction of (S, a) in one more dimension is released, for
    a fixed a > 0, the anchor. If one record changes S by at most B (the `sensitivity` of all
    costs), it turns (S, a) by at most 2 atan(B/(2 a)), for every data set, and S = 0 has a
    direction too, (0, 1).

    The larger the anchor, the less one record turns, but the less of the direction is that of S:
    the mean of the cosine between the output and (S, 0) is r |S|/sqrt(|S|^2 + a^2), with r the
    `mean_resultant_length`. An anchor of the order of |S| loses little of it. At equal cosines the
    lifted noise costs a small part of what plain noise costs, and not much more than Gaussian
    noise: for |S| = 64, B = 1, dim = 13,700 and a mean cosine of 0.0219, epsilon at
    delta = 1/60,000 after 1,407 steps of sampling rate 128/60,000 is

        anchor         2        8        32       64       (plain)
        kappa        300.2    302.4    335.5    424.5    300.0
        epsilon      0.705    0.0770   0.0177   0.0105   109.

    Parameters
    ----------
    kappa : float
        The concentration, at least 0; at 0 the output is uniformly distributed.
    dim : int
        The length of S, at least 1; outputs are `dim + 1` long.
    anchor : float
        What stands beside S, greater than 0, in its units. It must not depend on the data.

    Raises
    ------
    ValueError, TypeError
        For numbers that are not finite or out of range.

    Notes
    -----
    The output y has mean r (S, a)/|(S, a)|. So ``y[..., :dim] / r`` is an unbiased estimate of
    S/sqrt(|S|^2 + a^2): a gradient step along it has the direction of S on average, and a length
    that shrinks with |S| below the anchor. Quotients such as ``a * y[:dim] / y[dim]`` are no
    estimates of S: y[dim] can be as small as one likes.

    *Which sensitivity.* B bounds the Euclidean norm of the change of the very S that is passed, as
    rounded. With vectors clipped to norm C, a record that is there or not (Poisson sampling)
    changes the sum by C, a record that is replaced (batches of fixed size) by 2 C. A sum that is
    divided by a fixed number changes by that much less, and takes an anchor that is smaller by as
    much. The size that a Poisson sample happens to have is no fixed number: one record changes it.

    *Proof of the angle.* (S, a) and (S', a) lie in a plane at distance a from the origin, so the
    line through both has some distance h >= a from it. Seen from the origin, a segment of length b
    on this line spans the angle atan((t + b)/h) - atan(t/h), the greatest for t = -b/2: at most
    2 atan(b/(2 h)) <= 2 atan(B/(2 a)).

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> m = tn.LiftedVonMisesFisher(kappa=300.0, dim=13700, anchor=8.0)
    >>> m.sample(np.zeros(13700)).shape
    (13701,)
    >>> round(m.cost(sensitivity=1.0).gdp_mu, 6)
    0.319784
    """

    kappa: float
    dim: int
    anchor: float
    _lifted: VonMisesFisher = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim = integer("dim", self.dim, minimum=1, maximum=MAX_COUNT - 1)
        lifted = VonMisesFisher(self.kappa, dim + 1)
        object.__setattr__(self, "kappa", lifted.kappa)
        object.__setattr__(self, "dim", dim)
        object.__setattr__(self, "anchor", positive("anchor", self.anchor))
        object.__setattr__(self, "_lifted", lifted)

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and unpickled mechanisms pass the same checks as this one.
        return type(self), (self.kappa, self.dim, self.anchor)

    # --- the output's distribution ----------------------------------------------------------------

    @keeps_kind
    def direction(self, value: ArrayLike) -> Floats:
        """Return the mean direction of the output, (S, a)/|(S, a)|: of shape (..., dim + 1).

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.LiftedVonMisesFisher(kappa=1.0, dim=2, anchor=12.0).direction([3.0, 4.0]).round(6)
        array([0.230769, 0.307692, 0.923077])
        """
        lifted = self._lift(value)
        unit, _ = _normalised(lifted)
        return unit.astype(lifted.dtype)

    @keeps_kind
    def sample(
        self,
        value: ArrayLike,
        *,
        rng: NoiseStream | None = None,
        out: Any = None,
        grid: GridLike = "auto",
    ) -> Floats:
        """Return a random direction about that of (S, a): what is released.

        As `VonMisesFisher.sample`, but for what follows.

        Parameters
        ----------
        value : array_like, shape (..., dim)
            S, float32 or float64; each row is a release of its own. It is left as it is.
        rng, grid
            As there.
        out : ndarray, optional
            Where to write, of shape (..., dim + 1) and the dtype of `value`, apart from it.

        Returns
        -------
        ndarray, shape (..., dim + 1)
            Unit vectors rounded to the grid, of the dtype of `value`.

        Raises
        ------
        ValueError
            Also for an anchor that a float32 cannot hold beside float32 values, and an `out` that
            overlaps `value`.
        TypeError
            As there.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.LiftedVonMisesFisher(kappa=1e9, dim=2, anchor=12.0).sample([3.0, 4.0]).round(2)
        array([0.23, 0.31, 0.92])
        """
        centre = self._lift(value, out)
        self._lifted.sample(centre, rng=rng, out=centre, grid=grid)
        return centre

    @keeps_kind
    def logpdf(self, y: ArrayLike, value: ArrayLike) -> Array | float:
        """Return the log density of the output at y: `VonMisesFisher.logpdf` about (S, a)."""
        return self._lifted.logpdf(y, self._lift(value))

    @keeps_kind
    def mean(self, value: ArrayLike) -> Any:
        """Return the mean of the output, the mean resultant length times `direction(value)`."""
        return self._lifted.mean(self._lift(value))

    def mean_resultant_length(self) -> float:
        """Return r, the mean cosine between the output and its mean direction."""
        return self._lifted.mean_resultant_length()

    def entropy(self) -> float:
        """Return the differential entropy of the output, that of the plain noise."""
        return self._lifted.entropy()

    # --- what it costs ----------------------------------------------------------------------------

    def max_angle(self, sensitivity: float) -> float:
        """Return the most that one record turns the mean direction: 2 atan(sensitivity/(2 anchor)).

        Parameters
        ----------
        sensitivity : float
            The most that one record changes S by, in Euclidean norm, at least 0.

        Returns
        -------
        float
            Rounded upwards; pi at most.

        Raises
        ------
        ValueError, TypeError
            If the sensitivity is not a finite number of at least 0.

        Examples
        --------
        >>> import tightnoise as tn
        >>> round(tn.LiftedVonMisesFisher(300.0, 13700, anchor=8.0).max_angle(1.0), 6)
        0.124838
        """
        change = not_negative("sensitivity", sensitivity)
        if change == 0:
            return 0.0
        # No relative error of a step is larger in the angle. A quotient that overflows is half a
        # turn; what underflows is less than the last term.
        angle = 2.0 * math.atan(0.5 * (change / self.anchor)) * _ROUNDING_UP
        return min(angle + _UNDERFLOW, math.pi)

    def cost(self, *, sensitivity: float, adjacency: Adjacency | None = None) -> Cost:
        """Return what a release costs whose value one record changes by `sensitivity` at most.

        That of plain noise one dimension up: `VonMisesFisher.cost` at `max_angle(sensitivity)`.

        Examples
        --------
        >>> import tightnoise as tn
        >>> m = tn.LiftedVonMisesFisher(300.0, 13700, anchor=8.0)
        >>> print(f"{m.cost(sensitivity=1.0).epsilon(1e-5):.4f}")
        1.2134
        """
        return self._lifted.cost(angle=self.max_angle(sensitivity), adjacency=adjacency)

    # --- the anchor -------------------------------------------------------------------------------

    def _lift(self, value: ArrayLike, out: Floats | None = None) -> Floats:
        """Return (S, anchor) in `out` or in a new array of the dtype of `value`."""
        vectors = float_array("value", value)
        fits = vectors.ndim > 0 and vectors.shape[-1] == self.dim
        require(fits, "value", vectors.shape, f"of shape (..., {self.dim})")
        lifted = output(out, (*vectors.shape[:-1], self.dim + 1), vectors.dtype)
        if out is not None and np.may_share_memory(vectors, lifted):
            raise ValueError("out must not overlap value: it is one longer")
        lifted[..., :-1] = vectors
        lifted[..., -1] = self._anchor_as(vectors.dtype)
        return lifted

    def _anchor_as(self, dtype: np.dtype[Any]) -> float:
        """Return the anchor, in float32 rounded upwards: a smaller one would let S turn further."""
        if dtype == np.float64:
            return self.anchor
        allowed = f"from {_LEAST_FLOAT32} to {_LARGEST_FLOAT32} for float32 values"
        fits = _LEAST_FLOAT32 <= self.anchor <= _LARGEST_FLOAT32
        require(fits, "anchor", self.anchor, allowed)
        nearest = np.float32(self.anchor)
        if float(nearest) < self.anchor:
            nearest = np.nextafter(nearest, np.float32(np.inf))
        return float(nearest)
