"""What all mechanisms with independent noise on each coordinate have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats, broadcast_shape
from tightnoise._cached import cached_property
from tightnoise._core import random as core
from tightnoise._core.random import NoiseSource
from tightnoise._validate import float_array, not_negative, number_array, require, require_all
from tightnoise.costs import Adjacency, Cost, IndividualCost, InstanceCost
from tightnoise.costs._functions import RdpFunction
from tightnoise.costs._lesser import Lesser
from tightnoise.costs._zcdp import ZcdpRdp
from tightnoise.mechanisms._ball import ball_rdp
from tightnoise.mechanisms._coordinate_cost import coordinate_cost
from tightnoise.mechanisms._coordinate_law import CoordinateLaw, Parameter, parameter
from tightnoise.mechanisms._drawing import LARGEST_FLOAT32, Sampled, Theta, read_theta
from tightnoise.mechanisms._entropy import entropy
from tightnoise.mechanisms._fisher_loss import loss_of_box, loss_of_jacobian, loss_of_norm
from tightnoise.mechanisms._grid import GridLike, automatic_steps, check_between, steps_of
from tightnoise.mechanisms._higher_moments import central_moments
from tightnoise.mechanisms._individual import RankOne, individual_cost
from tightnoise.mechanisms._mechanism import Mechanism
from tightnoise.mechanisms._per_instance import per_instance_rdp
from tightnoise.mechanisms._sampled_instance import sampled_instance_cost
from tightnoise.mechanisms._scalar_law import ScalarLaw
from tightnoise.sketch import Sketch
from tightnoise.sums import ExactSum

__all__ = ["CoordinateMechanism", "Parameter"]

Array = NDArray[np.float64]


class CoordinateMechanism(Sampled, ScalarLaw, Mechanism):
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

    _law_name: ClassVar[str]  # as the core has it
    _scale_name: ClassVar[str] = "sigma"  # the field that holds the scale of the noise
    _sampler: ClassVar[str]  # of the core; it takes as many parameters as there are fields
    _noise_is_added: ClassVar[bool] = False  # the same noise whatever theta is
    _has_grid: ClassVar[bool] = True  # else a few fixed outputs

    # --- parameters -------------------------------------------------------------------------------

    def __post_init__(self) -> None:
        for name in (self._scale_name, *(("lower", "upper") if self._has_bounds else ())):
            value = parameter(name, getattr(self, name), positive=name == self._scale_name)
            object.__setattr__(self, name, value)
        if self._has_bounds:
            self._law.require_interval()

    @property
    def _has_bounds(self) -> bool:
        return hasattr(self, "lower")

    @cached_property
    def _law(self) -> CoordinateLaw:
        names = (self._scale_name, "lower", "upper")
        scale, lower, upper = (np.asarray(getattr(self, name, 0.0)) for name in names)
        levels = getattr(self, "levels", 2)
        return CoordinateLaw(self._law_name, self._scale_name, scale, lower, upper, levels)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        pairs = zip(self._values(), other._values(), strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def __hash__(self) -> int:
        fields = ((np.shape(field), np.asarray(field).tobytes()) for field in self._values())
        return hash((type(self).__name__, *fields))

    # --- the output's distribution ----------------------------------------------------------------

    def _read(self, theta: ArrayLike | ExactSum) -> Theta:
        given = read_theta(theta, check_finite=False)
        values = given.floats
        self._law.require_shape(values.shape)
        self._law.require_near(theta=values)
        if values.dtype == np.float32:
            self._check_float32()
        return given

    @property
    def _noise_scale(self) -> Array:
        return self._law.scale

    @property
    def _clipped_to(self) -> tuple[Array, Array] | None:
        return self._float32_bounds if self._has_bounds else None

    def _draw(self, theta: Floats, out: object, source: NoiseSource, *place: Any) -> None:
        parameters = self._law.operands(theta.shape)[: len(self._values())]
        getattr(core, self._sampler)(theta, *parameters, out, source, *place)

    @property
    def _float32_bounds(self) -> tuple[Array, Array]:
        """The bounds that float32 samples are clipped to."""
        return self._law.lower, self._law.upper

    def _check_float32(self) -> None:
        """Refuse parameters that float32 samples cannot have."""
        fits = self._law.scale <= LARGEST_FLOAT32
        allowed = f"at most {LARGEST_FLOAT32} for float32 theta"
        require_all(fits, self._scale_name, self._law.scale, allowed)

    @cached_property
    def _automatic_steps(self) -> Array:
        law = self._law
        if not self._has_bounds:
            return automatic_steps(law.scale, law.scale_name)
        name = f"the lesser of {law.scale_name} and upper - lower"
        return automatic_steps(np.minimum(law.scale, law.upper - law.lower), name)

    def _steps(self, grid: GridLike, shape: tuple[int, ...] | None = None) -> Array | None:
        law = self._law
        if not self._has_grid:
            require(grid is None or grid == "auto", "grid", grid, "'auto' or None: there is none")
            grid = None if grid is None else "auto"  # a step that says how large sigma is
        step = steps_of(grid, law.scale, law.scale_name, lambda: self._automatic_steps)
        if step is not None and not isinstance(grid, str) and self._has_bounds:
            check_between(step, law.lower, law.upper)
        if shape is not None and step is not None and step.ndim and not isinstance(grid, str):
            law.require_shape(shape, grid=step)
        return step

    def _points(self, x: ArrayLike) -> Floats:
        """Return x as float64, with what stands for the bounds in float32 taken for the bounds."""
        points = float_array("x", x)
        if points.dtype == np.float64:
            return points
        exact = points.astype(np.float64)
        bounds = self._law.lower, self._law.upper
        for bound, sampled in zip(bounds, self._float32_bounds, strict=True):
            with np.errstate(over="ignore"):
                rounded = bound.astype(np.float32)
            exact = np.where((points == rounded) | (points == sampled), bound, exact)
        return np.require(exact, requirements="C")  # a number stays one

    def _map(self, function: str, theta: ArrayLike, *arguments: Floats) -> Any:
        return self._law.map(function, float_array("theta", theta), *arguments)

    def _of_points(self, function: str, x: ArrayLike, theta: ArrayLike) -> Any:
        points = self._points(x)
        if function == "sf":
            return np.exp(self._map("log_sf", theta, points))
        return self._map(function, theta, points)

    def _of_shares(self, function: str, q: Array, theta: ArrayLike) -> Any:
        return self._map(function, theta, q)

    def _of_theta(self, function: str, theta: ArrayLike) -> Any:
        if function in ("mean", "variance"):
            return self._map(function, theta)
        values = float_array("theta", theta)
        self._law.require_shape(values.shape)
        self._law.require_near(theta=values)
        if function == "entropy":
            return entropy(self._law, values)[()]
        mean, variance = (self._law.call(m, values.shape, values) for m in ("mean", "variance"))
        order = 3 if function == "skewness" else 4
        with np.errstate(all="ignore"):
            moment = central_moments(self._law, values, mean, order)
            ratio = moment / np.sqrt(variance) ** order - (3.0 if order == 4 else 0.0)
        # One output is all but certain: the other ones are on that side where there are more.
        other = np.where(values > 0.5 * self._law.lower + 0.5 * self._law.upper, -1.0, 1.0) ** order
        return np.where(np.isnan(ratio), other * np.inf, ratio)[()]

    # --- two values, coordinate by coordinate -----------------------------------------------------

    def _pair(self, theta: ArrayLike, theta_prime: ArrayLike) -> tuple[Floats, Floats]:
        """Return theta, and what leads from it to theta_prime."""
        values, prime = float_array("theta", theta), float_array("theta_prime", theta_prime)
        broadcast_shape(theta=values, theta_prime=prime)
        shift = np.asarray(np.subtract(prime, values, dtype=np.float64))
        self._law.require_near(theta=values, theta_prime=prime)
        return values, shift

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
            the documentation; `cost_at` adds coordinates up and rounds upwards.

        Raises
        ------
        ValueError
            For NaN, infinite theta, alpha <= 0, or shapes that do not broadcast.
        TypeError
            If an argument does not hold real numbers.
        """
        values, shift = self._pair(theta, theta_prime)
        orders = number_array("alpha", alpha)
        require_all(orders > 0, "alpha", orders, "greater than 0")
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
        return self._map("fisher_information", theta)

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
        N(theta, sigma^2) on an interval: Caffarelli 2000, as in `von_mises_fisher`). Its Renyi
        divergences are less for every theta: those of Gaussian noise times the variance of its
        output at the centre, in units of sigma^2 (0.291 for bounds one sigma from there, 0.774 for
        two; proof in costs/_gaussian_pair.py). The lesser of both is taken.

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
        0.695569
        """
        return coordinate_cost(self._law, sensitivity, coordinate_sensitivity, domain, adjacency)

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
            The most that one record changes theta by in Euclidean norm. With both, theta' is in the
            ball and in the box.
        coordinate_sensitivity : array_like, optional
            The most that one record changes each coordinate: a number, or one for each.
        adjacency : {None, "add-remove", "replace-one"}
            As for `cost`.

        Returns
        -------
        InstanceCost
            Never below the truth, and at most 1e-9 of it above for a coordinate sensitivity alone,
            at orders from 1 + 1e-6 to 1e6: below, the bound at the first of these holds, above,
            that at infinity. Infinite at orders where a sketch needs its arrays, and has them no
            more.

            For an L2 sensitivity an upper bound, never above that of the box nor above `cost`: the
            dual of the worst change in the ball. It is above the truth by at most what one
            coordinate can make, about c^2/C^2 of it (with a ball alone, 12 % where many coordinates
            are alike; 55 % was seen for two; `explain` of the cost says how much), and by about 2 %
            for what is rounded: changes, distances from the centre (in a sketch, and above 512
            coordinates) and, between the orders 1.05, 1.1 ... 2, 2.25, 2.5, 3, 3.5, 4, 4.5, 5, 6,
            7, 8, 10, 12, 14, 16 ... 3584, the order. Coordinates of more than 126 sigma from the
            centre are taken for the worst.
            In a sketch for bounded Laplace noise places cost more: 3 to 30 %, and up to 80 % at
            large orders. Beyond the last order, and of more than 8192 coordinates with parameters
            or sides of their own, the lesser of the box and `cost`. The proof is
            cpp/sketch/BALL.md.

        Raises
        ------
        ValueError
            For NaN or infinite theta, an empty theta, a negative sensitivity, shapes that do not
            broadcast to that of theta, a sketch for another centre that has no arrays.
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
        anywhere = None
        if sensitivity is not None:
            sensitivity = not_negative("sensitivity", sensitivity)
            if self._law.is_below_gaussian:
                anywhere, bound = self._anywhere(sensitivity, adjacency)
                functions.append(bound)
        box: Any = sensitivity if coordinate_sensitivity is None else coordinate_sensitivity
        known = per_instance_rdp(self._law, theta, box)
        if sensitivity is not None:
            known = ball_rdp(known, sensitivity)
        functions.append(known)
        function = functions[0] if len(functions) == 1 else Lesser(tuple(functions))
        return InstanceCost(function, adjacency=adjacency, anywhere=anywhere)

    def _anywhere(self, sensitivity: float, adjacency: Adjacency | None) -> tuple[Cost, ZcdpRdp]:
        """Return what a release costs with any theta: kept, for each step of training asks."""
        asked = sensitivity, adjacency
        known = self._latest_anywhere[:]  # at once: another thread may ask for another cost
        if known and known[0][0] == asked:
            return known[0][1]
        cost = self.cost(sensitivity=sensitivity, adjacency=adjacency)
        answer = cost, ZcdpRdp(cost.zcdp_rho)
        self._latest_anywhere[:] = [(asked, answer)]
        return answer

    @cached_property
    def _latest_anywhere(self) -> list[tuple[tuple[float, Adjacency | None], tuple[Cost, ZcdpRdp]]]:
        return []

    def individual_cost_at(
        self,
        theta: ArrayLike,
        contributions: ArrayLike | RankOne,
        *,
        orders: ArrayLike | None = None,
        exact: bool = False,
    ) -> IndividualCost:
        r"""Return what releasing ``sample(theta)`` costs each record, from what it adds to theta.

        For record i, the greater of the Renyi divergences between M(theta) and M(theta - delta_i)
        in both directions, from above: the record is removed, or was not there. The proof stands in
        mechanisms/_individual.py; memory is linear in the contributions. Not for bounded Laplace.

        Parameters
        ----------
        theta : array_like
            The sum that is released, with all records in it.
        contributions : array_like, shape (n, \*theta.shape) or (n, theta.size); or RankOne
            What each record adds, in the units of theta; float32 stays so in memory.
        orders : array_like, shape (m,), optional
            Increasing, from 1 + 1e-6 to 1e6; by default 1.5, 2, 3, 4, 8 ... 1024.
        exact : bool
            Add up the divergences instead, within 1e-9: some 0.1 microseconds a number and order.
            The bound tends to it as order times largest change falls below a tenth of sigma.

        Returns
        -------
        IndividualCost
            Secret; for one release, or values that do not depend on outputs.

        Raises
        ------
        ValueError
            For NaN or infinity, shapes that do not fit, orders outside their domain.
        TypeError
            If an argument does not hold real numbers, or for bounded Laplace noise.

        Examples
        --------
        >>> import numpy as np
        >>> import tightnoise as tn
        >>> rows = np.random.default_rng(0).normal(size=(1000, 20)) / 20
        >>> theta = rows.sum(axis=0) + 3.0
        >>> m = tn.RectifiedGaussian(1.0, -1.0, 1.0)
        >>> costs = m.individual_cost_at(theta, rows)
        >>> costs.individual.shape, costs.epsilon(1e-5).shape
        ((1000, 12), (1000,))
        """
        return individual_cost(self._law, theta, contributions, orders, exact)

    def sampled_cost_at(
        self,
        rows: ArrayLike,
        rate: float,
        sampling: Literal["poisson"],
        *,
        sensitivity: float | None = None,
        coordinate_sensitivity: ArrayLike | None = None,
        adjacency: Literal["add-remove"] | None = None,
    ) -> InstanceCost:
        """Return what releasing the noisy sum of a random sample of `rows` costs their neighbours.

        Each record is in the sample with probability `rate`, independently, and theta is the sum of
        the contributions of those that are: a random theta, of which all but a rare one lies in
        known intervals (Bernstein's inequality; what is rare is charged at the cost for all data).
        Neighbours have one record more, any within the sensitivity, or one less. For bounded
        Gaussians: "Privacy Amplification for the Gaussian Mechanism via Bounded Support" leaves
        sampling open in section 5.3; the proof is in cpp/cost/SUBSAMPLING.md, section 5.

        Parameters
        ----------
        rows : array_like, shape (n, d)
            What each record contributes to theta, read now. Zeros for a theta known to be 0.
        rate : float
            Greater than 0, at most 1: then this is `cost_at` of the sum.
        sampling : {"poisson"}
            No bound is known for samples of a fixed size.
        sensitivity : float, optional
            The most that one record contributes in Euclidean norm. Alone, each coordinate may
            change by all of it: sound, not tight.
        coordinate_sensitivity : array_like, optional
            The most that one record contributes to each coordinate: a number, or one for each.
        adjacency : {None, "add-remove"}
            The neighbours.

        Returns
        -------
        InstanceCost
            ``cost * n``: n releases of the same rows, each from a sample of its own. Never below
            the truth, never above what ``cost(...).sampled(rate, "poisson")`` proves for all data.
            With theta known, D(with || without) is attained at integer orders (but for corners of
            the box that are worst at some orders only); the other direction is an upper bound.

        Raises
        ------
        ValueError
            For rows of another shape, NaN or infinities, a contribution beyond the sensitivity, a
            rate outside (0, 1], another sampling or adjacency, shapes that do not broadcast to
            (d,).
        TypeError
            If no sensitivity is given, an argument does not hold real numbers, or the mechanism is
            not rectified, truncated, sign or quantised Gaussian.

        Examples
        --------
        >>> import numpy as np
        >>> import tightnoise as tn
        >>> m = tn.RectifiedGaussian(1.0, -0.5, 0.5)
        >>> rows = np.zeros((60, 1000))
        >>> here = m.sampled_cost_at(rows, 0.01, "poisson", coordinate_sensitivity=1000**-0.5)
        >>> print(f"{(here * 1000).epsilon(1e-5):.3f}")
        1.736
        """
        return sampled_instance_cost(
            self, self._law, rows, rate, sampling, sensitivity, coordinate_sensitivity, adjacency
        )

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
        bounds = sensitivity is not None or coordinate_sensitivity is not None
        if jacobian is not None:
            if bounds:
                raise ValueError("give jacobian or a sensitivity, not both")
            return loss_of_jacobian(self._law, theta, jacobian)
        losses = []
        if coordinate_sensitivity is not None:
            losses.append(loss_of_box(self._law, theta, coordinate_sensitivity))
        if sensitivity is not None or not bounds:
            change = not_negative("sensitivity", 1.0 if sensitivity is None else sensitivity)
            losses.append(loss_of_norm(self._law, theta, change))
        return min(losses)
