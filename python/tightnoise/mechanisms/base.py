"""What all mechanisms with independent noise on each coordinate have in common."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise import _core
from tightnoise._arrays import Floats, broadcast_shape, operand
from tightnoise._cached import cached_property
from tightnoise._core.random import NoiseSource
from tightnoise._validate import (
    float_array,
    not_negative,
    number_array,
    require,
    require_finite,
)
from tightnoise.costs import Adjacency, Cost, InstanceCost, RdpCurve
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._lesser import Lesser
from tightnoise.costs._margins import COST_MARGIN, COST_UNDERFLOW
from tightnoise.costs._zcdp import ZcdpRdp
from tightnoise.mechanisms import _sketched
from tightnoise.mechanisms._coordinate_cost import CoordinateLaw, coordinate_cost
from tightnoise.mechanisms._drawing import LARGEST_FLOAT32, Grid, OnIntegers, draw, read_theta
from tightnoise.mechanisms._grid import GridLike, automatic_steps, check_between, steps_of
from tightnoise.mechanisms._mechanism import Mechanism
from tightnoise.mechanisms._rdp_function import MechanismRdp
from tightnoise.mechanisms.analytic_bound import Kind
from tightnoise.random import NoiseStream
from tightnoise.sketch import Sketch
from tightnoise.sums import ExactSum

__all__ = ["CoordinateMechanism", "Parameter"]

Array = NDArray[np.float64]
Parameter = float | Array
"""A parameter of a mechanism: one number, or a read-only array with one for each coordinate."""

_SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)

# Beyond this many sigma squares overflow; 1e4 is what the error bounds are promised for.
_FARTHEST = 1e100


class CoordinateMechanism(OnIntegers, Mechanism):
    """Noise on each coordinate of theta, independently; the base of the mechanisms here.

    Equal parameters make equal mechanisms. Everything is computed in float64, whatever the dtype
    of theta; only samples have the dtype of theta.

    Examples
    --------
    >>> import tightnoise as tn
    >>> m = tn.StochasticSign(sigma=1)
    >>> isinstance(m, tn.mechanisms.Mechanism)
    True
    >>> m == tn.StochasticSign(sigma=1.0)
    True
    """

    _functions: ClassVar[Any]
    _analytic_kind: ClassVar[Kind | None] = None  # for sketches: whose bound on D holds here
    _sampler: ClassVar[str]
    _scale_name: ClassVar[str] = "sigma"  # the field that holds the scale of the noise
    # How far apart neighbours may be, in scales, for a finite cost. Likelihoods are then within
    # e^(5e15), of which double-double keeps 1e-14; far beyond, whole sigmas would be lost.
    _reach: ClassVar[float] = 1e8
    _noise_is_added: ClassVar[bool] = False  # the same noise whatever theta is
    _has_grid: ClassVar[bool] = True  # else a few fixed outputs
    _law_name: ClassVar[str]  # as the core has it
    _is_below_gaussian: ClassVar[bool] = True  # or exactly that

    # --- parameters -------------------------------------------------------------------------------

    @property
    def _scale(self) -> Array:
        return np.asarray(getattr(self, self._scale_name))

    @property
    def _bounds(self) -> tuple[Parameter, Parameter]:
        """What the core takes as lower and upper."""
        return 0.0, 0.0

    @property
    def _levels(self) -> int:
        return 2

    @property
    def _parameters(self) -> tuple[Array, Array, Array]:
        """Scale, lower, upper as float64 arrays."""
        lower, upper = self._bounds
        return self._scale, np.asarray(lower), np.asarray(upper)

    def _freeze_parameter(self, name: str, *, positive: bool = False) -> None:
        """Check one field and keep it as a float or as a read-only float64 array."""
        array = float_array(name, getattr(self, name))
        if positive and not (array > 0).all():
            raise ValueError(f"{name} must be greater than 0; got {array[~(array > 0)].flat[0]}")
        if positive and not (array >= _SMALLEST_NORMAL).all():
            raise ValueError(
                f"{name} must be at least {_SMALLEST_NORMAL}; got {float(array.min())}"
            )
        # A copy, as the caller's array may change later. -0.0 becomes 0.0: they are equal, and
        # equal mechanisms have equal hashes.
        array = np.asarray(array.astype(np.float64) + 0.0)
        array.flags.writeable = False
        object.__setattr__(self, name, array if array.ndim else float(array))

    def _freeze_bounds(self) -> None:
        self._freeze_parameter("lower")
        self._freeze_parameter("upper")
        lower, upper = (np.asarray(bound) for bound in self._bounds)
        broadcast_shape(**{self._scale_name: self._scale, "lower": lower, "upper": upper})
        ordered = lower < upper
        if not ordered.all():
            low, high = (
                np.broadcast_to(bound, ordered.shape)[~ordered].flat[0] for bound in (lower, upper)
            )
            raise ValueError(f"lower must be less than upper; got lower {low} and upper {high}")
        if upper.size and not float(upper.max()) - float(lower.min()) < np.inf:
            raise ValueError("upper - lower must be less than 1.8e308")

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and unpickled mechanisms pass the same checks and are as read-only as this one.
        return type(self), self._fields()

    def _fields(self) -> tuple[Any, ...]:
        return tuple(
            getattr(self, field.name)
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
        )

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        pairs = zip(self._fields(), other._fields(), strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def __hash__(self) -> int:
        fields = ((np.shape(field), np.asarray(field).tobytes()) for field in self._fields())
        return hash((type(self).__name__, *fields))

    # --- calls of the core ------------------------------------------------------------------------

    def _check_shape(self, shape: tuple[int, ...], **others: Floats) -> None:
        """Refuse parameters that would blow `shape` up: (d, 1) against (d,) is a mistake."""
        scale, lower, upper = self._parameters
        arrays = {self._scale_name: scale, "lower": lower, "upper": upper, **others}
        for name, array in arrays.items():
            try:
                fits = np.broadcast_shapes(array.shape, shape) == shape
            except ValueError:
                fits = False
            if not fits:
                raise ValueError(
                    f"{name} must be a number or broadcast to the shape {shape} of the other "
                    f"arguments; got shape {array.shape}"
                )

    def _check_scale(self, **arrays: Floats) -> None:
        """Refuse NaN, infinities and what is too many sigma away for its square to be a number."""
        scale, lower, upper = self._parameters
        if not scale.size:
            return
        largest = _FARTHEST * float(scale.min())
        for name, array in {**arrays, "lower": lower, "upper": upper}.items():
            if not _core.special.magnitude(array) < largest:
                require_finite(name, array)
                unit = self._scale_name
                raise ValueError(
                    f"{name} must be within 1e100 {unit} of 0; {unit} is too small for it"
                )

    @property
    def _float32_bounds(self) -> tuple[Parameter, Parameter]:
        """The bounds that float32 samples are clipped to."""
        return self._bounds

    def _check_float32(self) -> None:
        """Refuse parameters that float32 samples cannot have."""
        if np.any(self._scale > LARGEST_FLOAT32):
            raise ValueError(
                f"{self._scale_name} must be at most {LARGEST_FLOAT32} for float32 theta"
            )

    def _operands(self, shape: tuple[int, ...]) -> tuple[Floats, ...]:
        return tuple(operand(array, shape) for array in self._parameters)

    def _map(self, function: str, theta: Floats, *arguments: Floats) -> Any:
        """Call an elementwise function of the core: `arguments`, then theta and the parameters."""
        names = {f"argument {i}": array for i, array in enumerate(arguments)}
        shape = broadcast_shape(theta=theta, **names)
        self._check_shape(shape)
        self._check_scale(theta=theta)
        out = np.empty(shape)
        first = (operand(array, shape) for array in arguments)
        getattr(self._functions, function)(
            *first, operand(theta, shape), *self._operands(shape), self._levels, out
        )
        return out[()]

    def _pair(self, theta: ArrayLike, theta_prime: ArrayLike) -> tuple[Floats, Floats]:
        """Return theta, and what leads from it to theta_prime."""
        values, prime = float_array("theta", theta), float_array("theta_prime", theta_prime)
        broadcast_shape(theta=values, theta_prime=prime)
        shift = np.asarray(np.subtract(prime, values, dtype=np.float64))
        self._check_scale(theta=values, theta_prime=prime)
        return values, shift

    def _rdp_sums(self, theta: Floats, alphas: Array, sensitivity: Floats) -> tuple[Array, Array]:
        """Sum the worst divergences over coordinates: D(theta || theta') and D(theta' || theta)."""
        forward, backward = np.empty(alphas.shape), np.empty(alphas.shape)
        self._functions.rdp_sums(
            alphas,
            operand(sensitivity, theta.shape),
            theta,
            *self._operands(theta.shape),
            self._levels,
            theta.size,
            forward,
            backward,
        )
        return forward, backward

    def _fisher_sum(self, theta: Floats, sensitivity: Floats) -> float:
        """Sum (sensitivity_j eta_j)^2 over coordinates."""
        total: float = self._functions.fisher_sum(
            operand(sensitivity, theta.shape),
            theta,
            *self._operands(theta.shape),
            self._levels,
            theta.size,
        )
        return max(total, 0.0)  # millions of sigma outside, a 0 can come back as -1e-300

    def _theta_to_account(self, theta: ArrayLike) -> Floats:
        array = float_array("theta", theta, check_finite=False)
        require(array.size > 0, "theta", array.shape, "not empty")
        self._check_shape(array.shape)
        self._check_scale(theta=array)
        return array

    def _sensitivity(self, sensitivity: ArrayLike, theta: Floats) -> Floats:
        array = float_array("sensitivity", sensitivity)
        if not (array >= 0).all():
            raise ValueError(f"sensitivity must be at least 0; got {float(array.min())}")
        self._check_shape(theta.shape, sensitivity=array)
        self._check_scale(sensitivity=array)
        return array

    def _points(self, x: ArrayLike) -> Floats:
        """Return x as float64, with what stands for the bounds in float32 taken for the bounds."""
        points = float_array("x", x)
        if points.dtype == np.float64:
            return points
        exact = points.astype(np.float64)
        for bound, sampled in zip(self._bounds, self._float32_bounds, strict=True):
            with np.errstate(over="ignore"):
                rounded = np.asarray(bound).astype(np.float32)
            exact = np.where((points == rounded) | (points == sampled), bound, exact)
        return np.require(exact, requirements="C")  # a number stays one

    # --- the output's distribution ----------------------------------------------------------------

    def sample(
        self,
        theta: ArrayLike | ExactSum,
        *,
        rng: NoiseStream | None = None,
        out: Floats | None = None,
        grid: GridLike = "auto",
    ) -> Any:
        """Return theta with noise: what is released.

        The sample is a multiple of a step, the nearest one to a sample of the mechanism as it is
        accounted: of real numbers, with no rounding of theta, and with random bits without end. So
        every cost holds for the very bits that are returned (docs/threat-model.md).

        Parameters
        ----------
        theta : array_like or ExactSum
            The true values, float32 or float64, any shape. Integers are exact up to 2**62; so is
            what `tightnoise.exact_sum` returns.
        rng : NoiseStream, optional
            Where the noise comes from; by default `tightnoise.random.default_stream()`, whose key
            comes from the operating system.
        out : ndarray, optional
            Where to write, of the shape and dtype of theta.
        grid : "auto", float or array_like, optional
            The step: a power of two, from 2**-32 to 2**10 times the scale of the noise, which must
            not depend on the data. "auto" is the power of two between 1/128 and 1/64 of the scale
            of the noise, or of the distance of the bounds where that is less. Bounds are outputs of
            their own, on the grid or not. Mechanisms with a few fixed outputs have no grid: "auto".
            None returns theta + noise in float arithmetic, whose last bits give theta away:
            no cost covers those.

        Returns
        -------
        ndarray or scalar
            Of the shape and dtype of theta (float64 for integers, float32 for float16).

        Raises
        ------
        ValueError
            If theta holds NaN or an infinity, or integers beyond 2**62, a parameter does not
            broadcast to its shape, theta is float32 and the scale of the noise or the bounds do not
            fit that, `out` overlaps theta without being theta, `grid` is not as above, or leaves
            nothing between the bounds.
        TypeError
            If theta does not hold real numbers or is a masked array, or `rng` is not a NoiseStream.
        """
        given = read_theta(theta, check_finite=False)
        values = given.floats
        self._check_shape(values.shape)
        self._check_scale(theta=values)
        if values.dtype == np.float32:
            self._check_float32()
        step = self._steps(grid)
        if step is not None and step.ndim and not isinstance(grid, str):
            self._check_shape(values.shape, grid=step)
        return draw(
            self._draw,
            given,
            rng,
            out,
            step,
            scale=self._scale,
            bounds=self._float32_bounds if self._has_bounds else None,
            moves=self._noise_is_added,
        )

    def _draw(self, theta: Floats, out: Any, source: NoiseSource, *grid: Grid) -> None:
        sigma, lower, upper = self._operands(theta.shape)
        sampler = getattr(_core.random, self._sampler)
        sampler(theta, sigma, lower, upper, out, source, *grid)

    @property
    def _has_bounds(self) -> bool:
        return hasattr(self, "lower")

    @cached_property
    def _automatic_steps(self) -> Array:
        if not self._has_bounds:
            return automatic_steps(self._scale, self._scale_name)
        lower, upper = (np.asarray(bound) for bound in self._bounds)
        name = f"the lesser of {self._scale_name} and upper - lower"
        return automatic_steps(np.minimum(self._scale, upper - lower), name)

    def _steps(self, grid: GridLike) -> Array | None:
        """Return the steps of a grid, or None."""
        lower, upper = self._bounds
        if not self._has_grid:
            require(grid is None or grid == "auto", "grid", grid, "'auto' or None: there is none")
            grid = None if grid is None else "auto"  # a step that says how large sigma is
        step = steps_of(grid, self._scale, self._scale_name, lambda: self._automatic_steps)
        if step is not None and not isinstance(grid, str) and self._has_bounds:
            check_between(step, np.asarray(lower), np.asarray(upper))
        return step

    def pdf(self, x: ArrayLike, theta: ArrayLike) -> Any:
        """Return the density of the output at x, `exp(logpdf(x, theta))`."""
        return np.exp(self.logpdf(x, theta))

    def logpdf(self, x: ArrayLike, theta: ArrayLike) -> Any:
        """Return the log density of the output at x.

        Where the output has atoms, the log of the atom's probability: at the bounds of the
        rectified mechanism, and everywhere for discrete outputs.
        """
        return self._map("log_pdf", float_array("theta", theta), self._points(x))

    def cdf(self, x: ArrayLike, theta: ArrayLike) -> Any:
        """Return the probability of an output of at most x."""
        return self._map("cdf", float_array("theta", theta), self._points(x))

    def ppf(self, q: ArrayLike, theta: ArrayLike) -> Any:
        """Return the smallest x with `cdf(x, theta) >= q`, the quantile function."""
        probability = float_array("q", q)
        if not ((probability >= 0) & (probability <= 1)).all():
            raise ValueError("q must be between 0 and 1")
        return self._map("quantile", float_array("theta", theta), probability)

    def mean(self, theta: ArrayLike) -> Any:
        """Return the mean of the output."""
        return self._map("mean", float_array("theta", theta))

    def var(self, theta: ArrayLike) -> Any:
        """Return the variance of the output."""
        return self._map("variance", float_array("theta", theta))

    # --- costs, coordinate by coordinate ----------------------------------------------------------

    def renyi_divergence(self, theta: ArrayLike, theta_prime: ArrayLike, alpha: ArrayLike) -> Any:
        """Return the Renyi divergence of order alpha between M(theta) and M(theta_prime).

        Parameters
        ----------
        theta, theta_prime : array_like
            Two values of each coordinate.
        alpha : array_like
            Orders greater than 0: 1 is the Kullback-Leibler divergence, infinity the
            max-divergence.

        Returns
        -------
        float or ndarray of float64
            D_alpha(M(theta) || M(theta_prime)), elementwise, of the shape the arguments broadcast
            to. The nearest value, with a relative error of at most 1e-12 over the range given in
            the documentation; `rdp` adds coordinates up and rounds upwards.

        Raises
        ------
        ValueError
            For NaN, infinite theta, alpha <= 0, or shapes that do not broadcast.
        TypeError
            If an argument does not hold real numbers.
        """
        values, shift = self._pair(theta, theta_prime)
        orders = number_array("alpha", alpha)
        if not (orders > 0).all():
            raise ValueError(f"alpha must be greater than 0; got {float(orders.min())}")
        return self._map("renyi", values, shift, orders)

    def hockey_stick(self, theta: ArrayLike, theta_prime: ArrayLike, epsilon: ArrayLike) -> Any:
        """Return delta(epsilon): the largest P(S) - exp(epsilon) Q(S) over all sets S.

        P = M(theta) and Q = M(theta_prime), elementwise; epsilon may be any real number, also
        negative or infinite. The nearest value, between max(0, 1 - exp(epsilon)) and 1, over the
        range given in the documentation: its relative error is at most 1e-12, or what a relative
        change of epsilon by 1e-14 makes where that is more (epsilon next to a loss of the output).

        Raises
        ------
        ValueError
            For NaN, infinite theta, or shapes that do not broadcast.
        TypeError
            If an argument does not hold real numbers.
        """
        values, shift = self._pair(theta, theta_prime)
        return self._map("hockey_stick", values, shift, number_array("epsilon", epsilon))

    def fisher_information(self, theta: ArrayLike) -> Any:
        """Return the Fisher information eta^2 that the output carries about each theta."""
        return self._map("fisher_information", float_array("theta", theta))

    # --- what a release costs ---------------------------------------------------------------------

    def cost(
        self,
        *,
        sensitivity: float | None = None,
        coordinate_sensitivity: ArrayLike | None = None,
        domain: tuple[ArrayLike, ArrayLike] | None = None,
        adjacency: Adjacency | None = None,
    ) -> Cost:
        """Return what one release costs, for all neighbouring data sets.

        Without a domain that of Gaussian noise: a function of its output tells no more than the
        output, and the truncated Gaussian is no easier to tell apart either (its density is that of
        N(theta, sigma^2) on an interval: Caffarelli 2000, as in `von_mises_fisher`).

        Parameters
        ----------
        sensitivity : float, optional
            The most that one record changes theta by in Euclidean norm. Of this and the next one
            must be given; with both, both are used.
        coordinate_sensitivity : array_like, optional
            The most that one record changes each coordinate: an array of the shape of theta
            (``numpy.broadcast_to(c, d)`` for one number).
        domain : tuple of array_like, optional
            ``(low, high)``: the caller's promise that theta lies there, within the bounds of the
            output, whatever the data are. If parameters, domain and sensitivity are all numbers,
            theta is ONE number, and truncated, rectified or Laplace noise on it is accounted by the
            worst pair of the interval between the bounds, exactly. Of several, with arrays, the
            largest loss in the box counts, and the noise without bounds beside it.
        adjacency : {None, "add-remove", "replace-one"}
            The neighbours that the sensitivity is declared for; None: those of what the cost is
            added to.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError
            For a sensitivity that is negative, infinite or NaN, a number for coordinates, a domain
            that is not within the bounds, an unknown adjacency.
        TypeError
            If no sensitivity is given, or an argument does not hold real numbers.

        Examples
        --------
        >>> import tightnoise as tn
        >>> m = tn.TruncatedGaussian(5.0, 0.0, 8.0)
        >>> print(f"{m.cost(sensitivity=2.0, domain=(0, 8)).epsilon(0.0):.6f}")
        0.366304
        >>> print(f"{m.cost(sensitivity=2.0).epsilon(1e-5):.6f}")
        1.554982
        """
        law = CoordinateLaw(self._law_name, self._scale_name, *self._parameters)
        return coordinate_cost(law, sensitivity, coordinate_sensitivity, domain, adjacency)

    def cost_at(
        self,
        theta: ArrayLike | Sketch,
        *,
        sensitivity: float | None = None,
        coordinate_sensitivity: ArrayLike | None = None,
        adjacency: Adjacency | None = None,
    ) -> InstanceCost:
        """Return what releasing ``sample(theta)`` costs, for the neighbours of this theta.

        The supremum of D_alpha(M(theta) || M(theta')) and D_alpha(M(theta') || M(theta)) over every
        theta' with |theta'_j - theta_j| <= c_j: D does not decrease with the distance and adds up
        over coordinates, so it is, for each direction, the sum over coordinates of the worse of
        theta_j + c_j and theta_j - c_j. (Proposition 5.1 and Algorithm 1 of "Privacy Amplification
        for the Gaussian Mechanism via Bounded Support" take one sign and one direction only, which
        is up to 20 times too low.)

        Parameters
        ----------
        theta : array_like or Sketch
            The true values, any shape, read now; or a sketch of them made for the centre of this
            mechanism's support, which makes the cost independent of their number.
        sensitivity : float, optional
            The most that one record changes theta by in Euclidean norm: the lesser of the cost of
            the box with that side and of `cost` is taken, which is sound, not tight.
        coordinate_sensitivity : array_like, optional
            The most that one record changes each coordinate: a number, or one for each.
        adjacency : {None, "add-remove", "replace-one"}
            As for `cost`.

        Returns
        -------
        InstanceCost
            Never below the truth, and at most 1e-9 of it above for a coordinate sensitivity. (As a
            function: at orders from 1 + 1e-6 to 1e6; below, the bound at the first of these holds,
            above, that at infinity.)

        Raises
        ------
        ValueError
            For NaN or infinite theta, an empty theta, a negative sensitivity, shapes that do not
            broadcast to that of theta.
        TypeError
            If no sensitivity is given, or an argument does not hold real numbers.

        Examples
        --------
        >>> import tightnoise as tn
        >>> m = tn.RectifiedGaussian(0.5, -1, 1)
        >>> m.cost_at([0.5, 0.0], coordinate_sensitivity=1.0).rdp([2]).values.round(5)
        array([7.732])
        """
        if sensitivity is None and coordinate_sensitivity is None:
            raise TypeError("sensitivity or coordinate_sensitivity must be given, or both")
        functions: list[RdpFunction] = []
        if coordinate_sensitivity is not None:
            functions.append(self._cost_function(theta, coordinate_sensitivity))
        if sensitivity is not None:
            change = not_negative("sensitivity", sensitivity)
            if coordinate_sensitivity is None:
                functions.append(self._cost_function(theta, change))
            if self._is_below_gaussian:
                functions.append(ZcdpRdp(self.cost(sensitivity=change).zcdp_rho))
        function = functions[0] if len(functions) == 1 else Lesser(tuple(functions))
        return InstanceCost(function, adjacency=adjacency)

    def _cost_function(self, theta: ArrayLike | Sketch, sensitivity: ArrayLike) -> RdpFunction:
        """Return the cost in a box as a function of the order."""
        return MechanismRdp(self, theta, sensitivity)

    def rdp(
        self,
        theta: ArrayLike | Sketch,
        alphas: ArrayLike | None = None,
        *,
        sensitivity: ArrayLike,
    ) -> RdpCurve:
        """Return what releasing `sample(theta)` costs: its per-instance Renyi-DP curve.

        The cost is the supremum of D_alpha(M(theta) || M(theta')) and D_alpha(M(theta') ||
        M(theta)) over every neighbour theta' with |theta'_j - theta_j| <= sensitivity_j. D does not
        decrease with the distance and adds up over coordinates, so that is, for each direction, the
        sum over coordinates of the worse of theta_j + sensitivity_j and theta_j - sensitivity_j.
        (Proposition 5.1 and Algorithm 1 of "Privacy Amplification for the Gaussian Mechanism via
        Bounded Support" take one sign and one direction only, which is up to 20 times too low.)

        A per-instance cost depends on theta and must not itself be published unprotected. It adds
        up with others only where no theta depends on earlier outputs (see the notes of
        `RdpAccountant`); in training, where each does, compose the mechanism itself.

        Parameters
        ----------
        theta : array_like or Sketch
            The true values, any shape; or a sketch of them made for the centre of this mechanism's
            support, which makes the cost independent of their number.
        alphas : array_like, shape (n,), optional
            Orders, increasing, greater than 0; the last may be infinity. Without them, the curve is
            a function of any real order, and its epsilon is that of the best order; it keeps a copy
            of theta (not of a sketch), and an epsilon takes the time of some 40 to 70 orders.
        sensitivity : array_like
            The most that one person changes each coordinate: a number, or one for each.

        Returns
        -------
        RdpCurve
            Never below the truth, and at most 1e-9 of it above. (As a function: at orders from 1 +
            1e-6 to 1e6; below, the bound at the first of these holds, above, that at infinity.)

        Raises
        ------
        ValueError
            For NaN or infinite theta, an empty theta, a negative sensitivity, orders outside their
            domain, shapes that do not broadcast to that of theta.
        TypeError
            If an argument does not hold real numbers.
        """
        if alphas is None:
            return RdpCurve.of_function(MechanismRdp(self, theta, sensitivity), per_instance=True)
        orders = np.atleast_1d(number_array("alphas", alphas))
        RdpCurve(orders, np.zeros(orders.shape))  # refuses bad orders before the work
        return RdpCurve(orders, self._rdp_costs(theta, orders, sensitivity), per_instance=True)

    def _rdp_costs(
        self,
        theta: ArrayLike | Sketch,
        orders: Array,
        sensitivity: ArrayLike,
        *,
        partial: bool = False,
    ) -> Array:
        """Return the bounds at increasing orders; see `_sketched.rdp_sums` about `partial`."""
        sketch = _sketched.sketch_for(self, theta, orders, sensitivity)
        if sketch is None:
            values = self._theta_to_account(cast(ArrayLike, theta))
            count = values.size
            bound = self._sensitivity(sensitivity, values)
            forward, backward = self._rdp_sums(values, orders, bound)
        else:
            count = sketch.count
            require(count > 0, "theta", theta, "not empty")
            forward, backward = _sketched.rdp_sums(
                self, sketch, orders, sensitivity, partial=partial
            )
        underflow = count * COST_UNDERFLOW if np.any(sensitivity) else 0.0
        # Millions of sigma outside the support, a 0 can come back as -1e-250.
        worst = np.maximum(np.maximum(forward, backward), 0.0)
        costs = worst * (1.0 + COST_MARGIN) + underflow
        too_far = bool(np.any(np.abs(sensitivity) > self._reach * self._scale))
        costs[np.isnan(costs) | too_far] = np.inf  # nothing is known, so no bound
        # D does not decrease with the order: a bound holds at all smaller orders too.
        least: Array = np.minimum.accumulate(costs[::-1])[::-1]
        return least

    def fil(
        self,
        theta: ArrayLike | Sketch,
        jacobian: ArrayLike | None = None,
        *,
        coordinate_sensitivity: ArrayLike | None = None,
        sensitivity: float | None = None,
    ) -> float:
        """Return the Fisher information loss eta of releasing `sample(theta)`.

        Parameters
        ----------
        theta : array_like or Sketch
            The true values, d of them; or a sketch of them (with a Jacobian, or for the largest
            eta_j of a quantised output: only one whose arrays are still there).
        jacobian : array_like, shape (d, m), optional
            How theta changes with the m numbers of one person's data. The loss is the spectral norm
            of diag(eta_j) J, the square root of the largest Fisher information about any direction
            of the data. (Algorithm 1 of "Privacy Amplification for the Gaussian Mechanism via
            Bounded Support" prints ||eta^T J||^2, which adds coordinates up before squaring.)
        coordinate_sensitivity : array_like, optional
            Instead of a Jacobian, a bound c_j on the norm of each row: sqrt(sum (c_j eta_j)^2).
        sensitivity : float, optional
            Instead of a Jacobian, a bound C on its spectral norm: C times the largest eta_j. With
            both bounds the lesser answer.

        Returns
        -------
        float
            eta, never below the truth, and at most 1e-9 of it above (unless eta is less than 1e-140
            times c / sigma, where its square leaves the range of floats). With neither argument
            the Jacobian is the identity: the largest eta_j.

        Raises
        ------
        ValueError
            For NaN or infinities, an empty theta, both `jacobian` and a sensitivity, a negative
            sensitivity, a shape that does not fit theta.
        TypeError
            If an argument does not hold real numbers.
        """
        if sensitivity is not None:
            if jacobian is not None:
                raise ValueError("give jacobian or sensitivity, not both")
            change = not_negative("sensitivity", sensitivity)
            by_norm = change * self.fil(theta) * (1.0 + COST_MARGIN)
            if coordinate_sensitivity is None:
                return by_norm
            return min(by_norm, self.fil(theta, coordinate_sensitivity=coordinate_sensitivity))
        if jacobian is not None and coordinate_sensitivity is not None:
            raise ValueError("give jacobian or coordinate_sensitivity, not both")
        if isinstance(theta, Sketch):
            require(theta.count > 0, "theta", theta, "not empty")
            if jacobian is None:
                if coordinate_sensitivity is None:
                    eta = math.sqrt(_sketched.greatest_fisher(self, theta))
                else:
                    eta = math.sqrt(_sketched.fisher_sum(self, theta, coordinate_sensitivity))
                return self._fil_upper(
                    eta,
                    1.0 if coordinate_sensitivity is None else coordinate_sensitivity,
                    theta.count,
                )
            theta = np.concatenate(theta.sources(), axis=None)
        values = self._theta_to_account(theta)
        if coordinate_sensitivity is not None:
            bound = self._sensitivity(coordinate_sensitivity, values)
            return self._fil_upper(math.sqrt(self._fisher_sum(values, bound)), bound, values.size)
        if jacobian is not None:
            matrix = float_array("jacobian", jacobian)
            information = np.maximum(self.fisher_information(values), 0.0).ravel()
            return self._fil_upper(
                _spectral_norm(np.sqrt(information), matrix), matrix, matrix.size
            )
        greatest = max(float(np.max(self.fisher_information(values))), 0.0)
        return self._fil_upper(math.sqrt(greatest), 1.0, 1)

    def _fil_upper(self, eta: float, weights: ArrayLike, count: int) -> float:
        """Return eta with its margins: it was made of `count` numbers of at most max |weights|.

        What underflows to 0 is below COST_UNDERFLOW before the division by sigma^2, or below the
        smallest normal number after it.
        """
        largest = float(np.max(np.abs(weights)))
        if largest == 0.0:
            return 0.0
        in_sigmas = largest / float(np.min(self._scale))
        lost = math.sqrt(COST_UNDERFLOW) * in_sigmas + math.sqrt(_SMALLEST_NORMAL)
        return eta * (1.0 + COST_MARGIN) + math.sqrt(count) * lost


def _spectral_norm(eta: Array, jacobian: Floats) -> float:
    if jacobian.ndim != 2 or jacobian.shape[0] != eta.size or jacobian.shape[1] == 0:
        raise ValueError(
            f"jacobian must have shape ({eta.size}, m), m at least 1; got shape {jacobian.shape}"
        )
    entry = float(np.abs(jacobian).max())
    if entry == 0.0:
        return 0.0
    if not np.isfinite(eta).all():
        return math.inf
    scaled = eta[:, np.newaxis] * np.divide(jacobian, entry, dtype=np.float64)
    largest = float(np.abs(scaled).max())
    if not 0.0 < largest < np.inf:
        return largest
    scaled /= largest  # no square can overflow, nor all of them underflow
    gram = scaled.T @ scaled if jacobian.shape[1] <= eta.size else scaled @ scaled.T
    return entry * largest * math.sqrt(float(np.linalg.eigvalsh(gram)[-1]))
