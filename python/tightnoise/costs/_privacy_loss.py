"""Exact composition by distributions of the privacy loss."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._validate import (
    integer,
    not_negative,
    number_array,
    positive,
    real_scalar,
    require,
    require_all,
)
from tightnoise.costs._connected_dots import connect_dots
from tightnoise.costs._discrete_losses import DiscreteLosses, Release
from tightnoise.costs._lattice import MAX_LATTICE_COUNT

__all__ = ["PrivacyLossDistribution"]

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_SUM = 1e-9  # probabilities may be off by so much in sum
_HIDDEN = 1e-12  # outputs that P never has: more than this is never taken for rounding
_INPUT = 16 * _UNIT  # losses and log-probabilities are rounded by the caller: a few units of each


class PrivacyLossDistribution:
    """How much a mechanism's releases give away: the distribution of log(P(output)/Q(output)).

    P and Q are what the mechanism does for two neighbouring data sets, and the output comes from P.
    (Or from Q, with losses log(Q/P): both directions are composed, and the larger answer counts.)
    The losses of independent releases add up, so that with L the sum, infinity included,

        delta(epsilon) = E max(0, 1 - exp(epsilon - L))

    is the smallest delta with which all of them together are (epsilon, delta)-DP (Sommer, Meiser
    and Mohammadi 2019, "Privacy Loss Classes: The Central Limit Theorem in Differential Privacy";
    Koskela, Jaelkoe and Honkela 2020, "Computing Tight Differential Privacy Guarantees Using FFT").
    It holds for releases that are chosen after seeing those before, too, if P and Q dominate each
    pair of neighbours (Zhu, Dong and Wang 2022, "Optimal Accounting of Differential Privacy via
    Characteristic Function", Theorem 10).

    Make one by `accounting.privacy_loss(mechanism, sensitivity=...)`, `of_profile` or `of_losses`.
    `a + b` stands for both releases, `a * n` for n of the same. Immutable.

    Everything is rounded towards less privacy. Losses between points of a lattice are split among
    the two next to them, which adds divergence, but no more than rounding all of them up would:
    with spacing h (that of a profile added to it, if its points are no points of the lattice),
    after T releases,

        exact epsilon <= reported epsilon <= exact epsilon + T h,

    and in fact the error is of second order: the variance of each loss grows by h^2/6 or so. The
    lattice is that of the losses up to where the sum of all needs more than 2^20 points; beyond, it
    is as fine as those allow. What the FFT rounds off is bounded and added, too. As measured,
    epsilons of up to 1000 releases of Gaussian noise are within 1e-6 of the exact ones, of 100,000
    within 1e-5 and of a million within 1e-4, relatively.

    Examples
    --------
    >>> import tightnoise as tn
    >>> once = tn.accounting.privacy_loss(tn.Gaussian(20.0), sensitivity=1.0)
    >>> round((once * 100).epsilon(1e-5), 4)
    1.9931
    >>> round(tn.accounting.gaussian_epsilon(1e-5, 10.0 / 20.0), 4)
    1.9931
    """

    __slots__ = ("_both", "_releases")

    _both: tuple[_Direction, ...] | None
    _releases: dict[Release, int]

    def __init__(self) -> None:
        raise TypeError(
            "make a PrivacyLossDistribution by of_profile, of_losses or accounting.privacy_loss"
        )

    @classmethod
    def of_profile(cls, spacing: float, delta_upper: ArrayLike) -> PrivacyLossDistribution:
        """Return the distribution of a mechanism of which the privacy profile is known.

        The profile is delta as a function of epsilon >= 0, here at multiples of `spacing`, and the
        same for both orders of the neighbours (as it is where noise is symmetric). Between the
        points the curve is taken for straight lines in exp(epsilon), above which it cannot be
        (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022, "Connect the Dots: Tighter Discrete
        Approximations of Privacy Loss Distributions"): the losses are multiples of `spacing`.

        Parameters
        ----------
        spacing : float
            Greater than 0; a hundredth of the losses' deviation costs 1e-5 of epsilon.
        delta_upper : array_like, shape (n,)
            No less than delta at epsilon = 0, spacing, ..., (n - 1) spacing: from 0 to 1, n >= 2.
            They need not form a convex curve, as a true profile does. With the probability
            `delta_upper[-1]` the loss is taken for infinite, so that is to be far below the delta
            that is asked for in the end, by the number of releases or more.

        Returns
        -------
        PrivacyLossDistribution

        Raises
        ------
        ValueError, TypeError
            For a spacing that is not positive, values outside [0, 1] or fewer than two.

        Examples
        --------
        Of a mechanism that is (0.5, 0)-DP nothing else is known: its delta at 0 is at most
        tanh(1/4), in between straight lines do.

        >>> import numpy as np
        >>> import tightnoise as tn
        >>> once = tn.costs.PrivacyLossDistribution.of_profile(0.5, [np.tanh(0.25), 0.0])
        >>> round((once * 100).epsilon(1e-5), 4)
        31.1729
        >>> round(tn.accounting.kairouz_oh_viswanath(0.5, 0.0, 100, 1e-5), 4)
        31.1729
        """
        step, heights = positive("spacing", spacing), number_array("delta_upper", delta_upper)
        require(
            heights.ndim == 1 and heights.size >= 2, "delta_upper", heights, "a list of two or more"
        )
        require_all((heights >= 0) & (heights <= 1), "delta_upper", heights, "between 0 and 1")
        require(step * heights.size <= 1e100, "spacing", spacing, "at most 1e100 in sum")
        return cls._of({connect_dots(step * np.arange(heights.size, dtype=np.float64), heights): 1})

    @classmethod
    def of_losses(cls, values: ArrayLike, probabilities: ArrayLike) -> PrivacyLossDistribution:
        """Return the distribution with these losses: of a mechanism with discrete outputs.

        The losses are log(P/Q) of its outputs, their probabilities those of P. The other order of
        the two neighbours follows: Q has an output with the probability of P times exp(-loss). What
        is then missing to 1 are outputs that P never has. So little that it may come from rounding,
        some 1e-15 or, beside a probability of exp(-epsilon), up to 1e-12, is taken for none, as it
        would be an infinite loss.

        Parameters
        ----------
        values : array_like, shape (n,)
            The losses; infinity is allowed.
        probabilities : array_like, shape (n,)
            Greater than 0; 1 in sum, but for rounding.

        Returns
        -------
        PrivacyLossDistribution

        Raises
        ------
        ValueError
            For shapes that do not fit, values out of range, probabilities that are not 1 in sum,
            losses that no Q has: the sum of probabilities times exp(-values) is 1 at most.
        TypeError
            For anything but real numbers.

        Examples
        --------
        Randomised response, the truth with probability 3/4, a hundred times:

        >>> import math
        >>> import tightnoise as tn
        >>> e = math.log(3)
        >>> once = tn.costs.PrivacyLossDistribution.of_losses([e, -e], [0.75, 0.25])
        >>> f"{(once * 100).delta(75.0):.2e}"
        '1.02e-02'
        """
        losses, masses = (
            number_array("values", values),
            number_array("probabilities", probabilities),
        )
        if losses.ndim != 1 or losses.size == 0 or losses.shape != masses.shape:
            raise ValueError(
                "values and probabilities must be lists of one length, 1 or more; "
                f"got shapes {losses.shape} and {masses.shape}"
            )
        require_all(losses > -np.inf, "values", losses, "greater than -infinity")
        finite = losses < np.inf
        require_all(np.abs(losses[finite]) <= 1e100, "values", losses[finite], "at most 1e100")
        require_all(masses > 0, "probabilities", masses, "greater than 0")
        total = float(masses.sum())
        require(abs(total - 1) <= _SUM, "probabilities", total, "1 in sum")
        with np.errstate(over="ignore", under="ignore"):
            other = np.exp(np.log(masses[finite]) - losses[finite])
        other_total = math.fsum(other.tolist())
        allowed = "losses log(P/Q), for which probabilities times exp(-values) are up to 1 in sum"
        require(other_total <= 1 + _SUM, "values", other_total, allowed)
        # Losses are rounded, and a probability that is 1 less the others is so to a unit of 1.
        noise = _INPUT * (1 + float(other @ np.abs(losses[finite])))
        with np.errstate(over="ignore"):
            noise += min(_HIDDEN, 2 * _UNIT * float(np.exp(-losses[finite]).sum()))
        infinite, missing = float(masses[~finite].sum()), 1 - other_total
        if missing <= noise:
            hidden = 0.0
        elif abs(missing - infinite) <= noise:
            hidden = infinite
        else:
            hidden = missing + noise
        return cls._of({release_of(losses[finite], masses[finite], infinite, hidden): 1})

    @classmethod
    def _of(cls, releases: dict[Release, int]) -> PrivacyLossDistribution:
        distribution = cls.__new__(cls)
        distribution._releases = {release: n for release, n in releases.items() if n > 0}
        distribution._both = None
        return distribution

    # --- composition

    @property
    def releases(self) -> dict[Release, int]:
        """The distributions, each with its count."""
        return dict(self._releases)

    @property
    def count(self) -> int:
        """How many releases there are."""
        return sum(self._releases.values())

    def __add__(self, other: PrivacyLossDistribution) -> PrivacyLossDistribution:
        if not isinstance(other, PrivacyLossDistribution):
            return NotImplemented
        releases = dict(self._releases)
        for release, n in other._releases.items():
            releases[release] = releases.get(release, 0) + n
        return self._of(_limited(releases))

    def __mul__(self, count: int) -> PrivacyLossDistribution:
        times = integer("count", count, minimum=0, maximum=MAX_LATTICE_COUNT)
        return self._of(_limited({release: n * times for release, n in self._releases.items()}))

    __rmul__ = __mul__

    def compose(self, other: PrivacyLossDistribution, count: int = 1) -> PrivacyLossDistribution:
        """Return what this and `count` releases of the other lose together, `self + other * count`.

        Parameters
        ----------
        other : PrivacyLossDistribution
            Of a release that is independent of the ones here, given what it is made from.
        count : int
            From 0 to 2**30.

        Returns
        -------
        PrivacyLossDistribution

        Raises
        ------
        ValueError
            For more than 2**30 releases in all.
        TypeError
            If other is not a PrivacyLossDistribution.

        Examples
        --------
        >>> import tightnoise as tn
        >>> first = tn.accounting.privacy_loss(tn.Gaussian(3.0), sensitivity=1.0)
        >>> second = tn.accounting.privacy_loss(tn.Gaussian(20.0), sensitivity=1.0)
        >>> first.compose(second, 100)
        PrivacyLossDistribution(101 releases, 2 different)
        >>> round(first.compose(second, 100).epsilon(1e-5), 4)
        2.4492
        """
        if not isinstance(other, PrivacyLossDistribution):
            name = type(other).__name__
            raise TypeError(f"other must be a PrivacyLossDistribution; got {name}")
        return self + other * count

    def __repr__(self) -> str:
        return f"PrivacyLossDistribution({self.count} releases, {len(self._releases)} different)"

    def __reduce__(self) -> tuple[object, ...]:
        return PrivacyLossDistribution._of, (self._releases,)

    # --- what it means

    def delta(self, epsilon: float) -> float:
        """Return a delta with which the releases together are (epsilon, delta)-DP.

        Parameters
        ----------
        epsilon : float
            At least 0.

        Returns
        -------
        float
            From 0 to 1: no less than the exact value, no more than that at epsilon - T h (see the
            class) but for rounding, a part in 1e9 or, for a million releases, 1e7.

        Raises
        ------
        ValueError, TypeError
            If epsilon is not a finite number of at least 0.

        Examples
        --------
        >>> import tightnoise as tn
        >>> once = tn.accounting.privacy_loss(tn.Gaussian(20.0), sensitivity=1.0)
        >>> f"{(once * 100).delta(2.0):.3e}"
        '9.439e-06'
        """
        loss = not_negative("epsilon", epsilon)
        largest = 0.0
        for direction in self._directions:
            largest = direction.delta(loss, largest)
        return largest

    def epsilon(self, delta: float) -> float:
        """Return an epsilon with which the releases together are (epsilon, delta)-DP.

        Parameters
        ----------
        delta : float
            From 0 to 1.

        Returns
        -------
        float
            At least 0 and no less than the exact value; infinity if the loss is infinite with a
            probability of more than delta. Above the exact value by no more than T h (see the
            class) but for rounding.

        Raises
        ------
        ValueError, TypeError
            If delta is not a number from 0 to 1.

        Examples
        --------
        >>> import tightnoise as tn
        >>> once = tn.accounting.privacy_loss(tn.Gaussian(20.0), sensitivity=1.0)
        >>> round((once * 10**6).epsilon(1e-5), 2)
        1462.37
        """
        target = real_scalar("delta", delta)
        require(0 <= target <= 1, "delta", delta, "between 0 and 1")
        largest = 0.0
        for direction in self._directions:
            largest = direction.epsilon(target, largest)
        return largest

    @property
    def _directions(self) -> tuple[_Direction, ...]:
        """The losses of P over Q, and of Q over P if they differ."""
        if self._both is None:
            counts = tuple(self._releases.values())
            forward = tuple(self._releases)
            backward = tuple(release.swapped for release in forward)
            different = (forward,) if forward == backward else (forward, backward)
            self._both = tuple(_Direction(releases, counts) for releases in different)
        return self._both


class _Direction:
    """The losses of all releases, from P or from Q."""

    def __init__(self, releases: tuple[Release, ...], counts: tuple[int, ...]) -> None:
        self._losses = DiscreteLosses(releases, counts)

    def delta(self, epsilon: float, least: float) -> float:
        """Return at least the divergence, and `least`."""
        if least > 0:
            bound = math.exp(min(0.0, self._losses.chernoff_log_slack(epsilon)))
            if self._total(bound) <= least:
                return least
        return max(least, min(1.0, self._total(self._losses.slack_upper(epsilon))))

    def epsilon(self, delta: float, least: float) -> float:
        """Return an epsilon of which the divergence is at most `delta`, no less than `least`."""
        slack = (delta - self._losses.infinite) * (1 - 4 * _UNIT)
        if slack < 0:
            return math.inf
        if slack == 0:
            return max(least, self._losses.highest * (1 + 16 * _UNIT))
        log_slack = math.log(slack)
        if least > 0 and self._losses.chernoff_epsilon(log_slack) <= least:
            return least
        return max(least, self._losses.epsilon_upper(log_slack))

    def _total(self, slack: float) -> float:
        return (self._losses.infinite + slack) * (1 + 4 * _UNIT)


def release_of(values: Array, masses: Array, infinite: float, infinite_swapped: float) -> Release:
    """Return the losses with these probabilities, not sorted."""
    if not values.size:
        values, masses = np.zeros(1), np.full(1, _UNIT)
    order = np.argsort(values)
    values, log_mass = values[order] + 0.0, np.log(masses[order])
    sizes = np.abs(values[values != 0])
    # Symmetric but for rounding: the larger of both masses dominates both.
    mirrored = (log_mass - values)[::-1]
    noise = _INPUT * (1 + np.abs(values))
    is_symmetric = (
        bool((values == -values[::-1]).all() and (np.abs(log_mass - mirrored) <= noise).all())
        and infinite == infinite_swapped
    )
    if is_symmetric:
        log_mass = np.maximum(log_mass, mirrored)
    return Release(
        values=values,
        log_mass=log_mass,
        infinite=min(infinite, 1.0),
        infinite_swapped=min(infinite_swapped, 1.0),
        is_symmetric=is_symmetric,
        grid=float(sizes.min()) if sizes.size else 0.0,
    )


def _limited(releases: dict[Release, int]) -> dict[Release, int]:
    count = sum(releases.values())
    allowed = f"at most {MAX_LATTICE_COUNT} releases in all"
    require(count <= MAX_LATTICE_COUNT, "count", count, allowed)
    return releases
