"""Which mechanism for one number in a known range: all calibrated to a budget, by their errors."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from tightnoise._cached import cached_property
from tightnoise._progress import SHOWN_AFTER, progress
from tightnoise._text import Parts, upper_text
from tightnoise._validate import (
    MAX_COUNT,
    below_one,
    float_array,
    one_of,
    positive,
    real_scalar,
    require,
    require_all,
    shown,
)
from tightnoise._validate import integer as integer_between
from tightnoise.calibrate._parameter import roughly
from tightnoise.compare._estimates import ESTIMATES, Linear, PosteriorMean
from tightnoise.compare._families import BOUNDED_FAMILIES, BoundedFamily, Question
from tightnoise.compare._integer_errors import noise_of, reach_of
from tightnoise.compare._integers import integer_interval, integers_of
from tightnoise.compare._prior import weights_of
from tightnoise.compare._ranking import Ranking
from tightnoise.compare.bounded_errors import (
    Errors,
    Utility,
    average_square,
    errors_of,
    utility_of,
    whole,
)
from tightnoise.costs import Cost
from tightnoise.random import NoiseStream

__all__ = [
    "CRITERIA",
    "BoundedChoice",
    "BoundedRanking",
    "compare_bounded",
]

CRITERIA = {
    "mse_average": "average mean squared error",
    "mse_worst": "worst mean squared error",
    "variance_average": "average variance",
    "variance_worst": "worst variance",
    "bias_worst": "worst bias",
    "linear_average": "average mean squared error, shrunk linearly",
    "linear_worst": "worst mean squared error, shrunk linearly",
    "posterior_mean_average": "average mean squared error of the posterior mean",
    "posterior_mean_worst": "worst mean squared error of the posterior mean",
}
"""What a table can be sorted by, and what that is."""
_LEAST_WIDTH = 1e-150  # squares of less, or of more than its inverse, are no numbers
_FEW_INTEGERS = 4096  # that noise reaches
_NEVER_BEST = ("middle", "multi-Gaussian + clip")
_MAY_BE_BEST = 1.25  # times the least error, of what is calibrated roughly
_LEAST = 1e-100  # of epsilon and 1/epsilon, and of the sensitivity in the width: as to calibrate


@dataclass(frozen=True)
class BoundedChoice:
    """One way to answer within the budget and inside the domain.

    "Worst" is over all true values in the domain, "average" over the prior.

    What is released is a value, and beside it, free of cost, there are estimates, made of the
    mechanism's output (before any clip) and of the prior: "linear", a + b output with the a and b
    of least average squared error, which may lie outside the domain, and "posterior_mean", the mean
    of the true value given the output, than which no estimate has a smaller average. Their errors
    are exact as well, and computed when they are asked for.

    Parameters
    ----------
    name : str
        Of the family, such as "truncated Gaussian".
    mechanism : object
        Calibrated; its `sample` may be outside the domain where `clip` is true.
    question : NamedTuple
        What was asked: epsilon, delta, lower, upper, sensitivity, releases, weights, integer.

    Examples
    --------
    >>> import tightnoise as tn
    >>> table = tn.compare_bounded(epsilon=2.0, delta=0.0, lower=0, upper=10, sensitivity=10)
    >>> choice = table["bounded Laplace"]
    >>> choice.noise, round(choice.mse_average, 4), round(choice.posterior_mean_average, 4)
    ('scale 5', 9.9633, 7.1392)
    >>> bool(0 <= choice.sample(3.0) <= 10)
    True
    """

    name: str
    mechanism: Any
    question: Question

    @property
    def clip(self) -> bool:
        """Whether outputs are clipped to the domain, which costs no privacy."""
        return self._family.clip

    @property
    def lower(self) -> float:
        """The lower end of the domain."""
        return self.question.lower

    @property
    def upper(self) -> float:
        """The upper end of the domain."""
        return self.question.upper

    @property
    def noise(self) -> str:
        """The parameter that sets the size of the noise, with its value.

        It is no measure of the error: different families, and even one family at different widths,
        compare otherwise.
        """
        parameter = self._family.parameter
        return f"{parameter} {getattr(self.mechanism, parameter):.6g}" if parameter else ""

    @cached_property
    def cost(self) -> Cost:
        """What one release costs."""
        return self._family.cost(self.mechanism, self.question)

    @cached_property
    def epsilon(self) -> float:
        """What the releases cost together at the delta asked for: the budget, or less."""
        # Both the budget and the cost, which is rounded upwards, are at least the truth.
        asked = self.question
        return min((self.cost * asked.releases).epsilon(asked.delta), asked.epsilon)

    @property
    def bias_worst(self) -> float:
        """The greatest abs(mean of the output - truth)."""
        return self._utility.bias_worst

    @property
    def variance_average(self) -> float:
        """Variance of the output, averaged over the prior."""
        return self._utility.variance_average

    @property
    def variance_worst(self) -> float:
        """Greatest variance of the output."""
        return self._utility.variance_worst

    @property
    def mse_average(self) -> float:
        """Mean squared error of the output, averaged over the prior."""
        return self._utility.mse_average

    @property
    def mse_worst(self) -> float:
        """Greatest mean squared error of the output."""
        return self._utility.mse_worst

    @property
    def prior(self) -> tuple[float, ...] | None:
        """The weights of equally wide cells of the domain; None: all true values are alike."""
        return self.question.weights

    @property
    def note(self) -> str:
        """What a reader of the table should know about this row."""
        return self._family.note

    @property
    def integer(self) -> bool:
        """Whether true values are integers and outputs are rounded to some, before any clip.

        That costs nothing. "Worst" and "average" are then over integers.
        """
        return self.question.integer

    @property
    def _family(self) -> BoundedFamily:
        return BOUNDED_FAMILIES[self.name]

    @cached_property
    def _utility(self) -> Utility:
        return utility_of(self._errors, self.question.prior)

    @cached_property
    def _errors(self) -> Errors:
        return errors_of(self.mechanism, self.lower, self.upper, self.integer)

    def sample(
        self, theta: ArrayLike, *, estimate: str = "value", rng: NoiseStream | None = None
    ) -> Any:
        """Return what is released for true values theta, or an estimate made of it.

        Parameters
        ----------
        theta : array_like
            True values in the domain, float32 or float64, any shape.
        estimate : {"value", "linear", "posterior_mean"}
            "value": what the mechanism draws, inside the domain.
        rng : NoiseStream, optional
            Where the noise comes from; by default `tightnoise.random.default_stream()`.

        Returns
        -------
        ndarray or scalar
            Of the shape and dtype of theta; integers, if they are to be, and no estimates, int64.

        Raises
        ------
        ValueError
            If a value is outside the domain: what is promised does not hold there.
        TypeError
            If theta does not hold real numbers, or `rng` is not a NoiseStream.
        """
        one_of("estimate", estimate, {"value": None, **ESTIMATES})
        values = self._inside(theta)
        # In float64: a float32 that was clipped to the bounds may lie half a unit outside them,
        # where what is promised does not hold.
        inside = np.clip(values.astype(np.float64, copy=False), self.lower, self.upper)
        if self.integer:
            found = np.asarray(self.of(integers_of(self.mechanism, inside, rng), estimate))
            return found.astype(np.int64 if estimate == "value" else values.dtype)[()]
        return self.of(self.mechanism.sample(inside, rng=rng), estimate).astype(values.dtype)[()]

    def of(self, noisy: ArrayLike, estimate: str = "posterior_mean") -> Any:
        """Return an estimate of the truth by an output of the mechanism, or the value released.

        Parameters
        ----------
        noisy : array_like
            What `mechanism.sample` returned, or `mechanism.sample_integers`, before any clip.
        estimate : {"value", "linear", "posterior_mean"}
            "value": clipped to the domain, if it need be, and no more.

        Returns
        -------
        ndarray or scalar
            float64, of the shape of noisy.

        Raises
        ------
        ValueError, TypeError
            If `noisy` is not finite or does not hold real numbers, or `estimate` is none of these.

        Examples
        --------
        >>> import tightnoise as tn
        >>> table = tn.compare_bounded(epsilon=0.5, delta=0.0, lower=0, upper=10, sensitivity=1)
        >>> choice = table["Laplace + clip"]
        >>> [round(float(choice.of(12.0, kind)), 3) for kind in ("value", "linear")]
        [10.0, 8.571]
        >>> round(float(choice.of(12.0)), 3)
        8.068
        """
        one_of("estimate", estimate, {"value": None, **ESTIMATES})
        output = float_array("noisy", noisy).astype(np.float64)
        if estimate == "value":
            return np.clip(output, self.lower, self.upper)[()] if self.clip else output[()]
        return getattr(self, f"_{estimate}").of(output)[()]

    @property
    def linear_average(self) -> float:
        """Mean squared error of the linear estimate, averaged over the prior."""
        return self._linear.average()

    @cached_property
    def linear_worst(self) -> float:
        """Greatest mean squared error of the linear estimate."""
        return self._linear.worst()

    @cached_property
    def posterior_mean_average(self) -> float:
        """Mean squared error of the posterior mean, averaged over the prior."""
        return self._posterior_mean.average()

    @cached_property
    def posterior_mean_worst(self) -> float:
        """Greatest mean squared error of the posterior mean."""
        return self._posterior_mean.worst()

    @cached_property
    def _linear(self) -> Linear:
        return Linear(*self._known)

    @cached_property
    def _posterior_mean(self) -> PosteriorMean:
        return PosteriorMean(*self._known)

    @property
    def _known(self) -> tuple[Any, ...]:
        return self.mechanism, self.lower, self.upper, self.question.prior, self.integer

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}

    def bias(self, theta: ArrayLike) -> Any:
        """Return the mean of the output less the truth, within 1e-12 of the noise's scale."""
        return self._errors_at(theta)[0]

    def mse(self, theta: ArrayLike) -> Any:
        """Return the mean squared error of the output for true values theta."""
        return self._errors_at(theta)[1]

    def _errors_at(self, theta: ArrayLike) -> tuple[Any, Any]:
        values = self._inside(theta).astype(np.float64)
        if self.integer:
            require_all(np.asarray(values == np.rint(values)), "theta", values, "an integer")
        distances = (np.atleast_1d(values - self.lower), np.atleast_1d(self.upper - values))
        bias, square = whole(self._errors, *(np.maximum(distance, 0.0) for distance in distances))
        return bias.reshape(values.shape)[()], square.reshape(values.shape)[()]

    def _inside(self, theta: ArrayLike) -> Any:
        values = float_array("theta", theta, exact=True)
        most = float(np.finfo(values.dtype).max)
        if not -most <= self.lower < self.upper <= most:
            raise ValueError(
                f"theta must be float64 in a domain from {self.lower:g} to {self.upper:g}: outputs "
                f"may be too large for {values.dtype}"
            )
        low, high = (values.dtype.type(end) for end in (self.lower, self.upper))
        allowed = f"in the domain, from {self.lower:g} to {self.upper:g}"
        require_all(np.asarray((values >= low) & (values <= high)), "theta", values, allowed)
        return values


@dataclass(frozen=True)
class BoundedRanking(Ranking[BoundedChoice]):
    """Choices by increasing error; printed, a table.

    The fields are the arguments of `compare_bounded`, those of integers made integers, `releases`
    its `count`, and what it found. An index is a position or a name.

    Examples
    --------
    >>> import tightnoise as tn
    >>> table = tn.compare_bounded(epsilon=1.0, delta=0.0, lower=0, upper=10, sensitivity=1)
    >>> [choice.name for choice in table[:2]]
    ['staircase + clip', 'Tulap + clip']
    >>> table.sorted_by("mse_worst").best.name
    'staircase + clip'
    >>> table.left_out["Gaussian + clip"][:30]
    'delta must be greater than 0 f'
    """

    epsilon: float
    delta: float
    lower: float
    upper: float
    sensitivity: float
    by: str
    releases: int
    choices: tuple[BoundedChoice, ...]
    left_out: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The families that have no answer, each with the reason."""
    integer: bool = False
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What a reader of the table should know."""

    def sorted_by(self, by: str) -> BoundedRanking:
        """Return the same choices by another criterion, one of those of `compare_bounded`."""
        one_of("by", by, CRITERIA)
        choices = sorted(self.choices, key=lambda choice: float(getattr(choice, by)))
        return dataclasses.replace(self, by=by, choices=tuple(choices))

    @overload
    def __getitem__(self, index: int | str) -> BoundedChoice: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[BoundedChoice, ...]: ...
    def __getitem__(self, index: int | str | slice) -> BoundedChoice | tuple[BoundedChoice, ...]:
        if isinstance(index, str):
            return one_of("name", index, {choice.name: choice for choice in self})
        return super().__getitem__(index)

    def _parts(self) -> Parts:
        head = ("", "", "", "bias", "squared", "error", "shrunk", "posterior")
        names = ("mechanism", "noise", "epsilon", "worst", "average", "worst", "linearly", "mean")
        errors = ("bias_worst", "mse_average", "mse_worst")
        shown = (*errors, "linear_average", "posterior_mean_average")
        rows = [
            (
                choice.name,
                choice.noise,
                self._cost_text(choice),
                *(f"{getattr(choice, by):.5g}" for by in shown),
            )
            for choice in self
        ]
        notes = [f"{choice.name}: {choice.note}" for choice in self if choice.note]
        return [[head, names, *rows], *notes, *self.notes]

    def _draw(self, left: object, right: object) -> None:
        from tightnoise.compare._figures import draw_bounded  # which calibrates, too

        draw_bounded(self, left, right)

    def _cost_text(self, choice: BoundedChoice) -> str:
        if choice.epsilon > self.epsilon * (1.0 - 1e-6):
            budget = f"{self.epsilon:.6g}"  # as it was given, unless that shows too little
            return budget if float(budget) >= self.epsilon else upper_text(self.epsilon, 6)
        return upper_text(choice.epsilon, 6)


def compare_bounded(
    epsilon: float,
    delta: float = 0.0,
    *,
    lower: float,
    upper: float,
    sensitivity: float,
    by: str = "mse_average",
    count: int = 1,
    prior: ArrayLike | None = None,
    optimum: bool = False,
    integer: bool = False,
) -> BoundedRanking:
    """Calibrate every mechanism for a number in a known range to a budget; compare their errors.

    The range [lower, upper] is known without the data: the guarantee is for all true values in it,
    and every output is in it. The rows are the truncated and the rectified Gaussian and the bounded
    Laplace mechanism, calibrated to the range; every noise of `best_noise` that needs no search,
    calibrated without the range, added and clipped, which costs nothing, being done to what is
    already public; the middle of the range, which needs no data at all; and, if asked for, the
    optimum on a grid: of all that is epsilon-DP and goes by the cell of the true value alone, 30 to
    the range or less, what a linear program finds to have the least average squared error. Its
    epsilon is that of the probabilities that are drawn with, whatever the solver did.

    Beside the value, each row has the errors of two estimates made of it, which cost nothing: see
    `BoundedChoice`.

    Go by the error, not by sigma: a truncated Gaussian with 78% less sigma^2 can have 2% less
    error. Of one value on average the staircase, clipped, mostly has the least; for epsilon below
    about 3.3 sensitivity/(upper - lower) the middle, which the posterior mean always beats. The
    optimum pays where the sensitivity is much of the range. docs/bounded-domains.md has figures.

    Parameters
    ----------
    epsilon : float
        From 1e-100 to 1e100.
    delta : float
        From 0, where only pure mechanisms have an answer, to 1, exclusive.
    lower, upper : float
        The range of the true value: numbers, from 1e-150 to 1e150 apart.
    sensitivity : float
        The most that one person can change the true value by, greater than 0, at least 1e-100 of
        upper - lower; beyond upper - lower it means that.
    by : {"mse_average", "mse_worst", "variance_average", "variance_worst", "bias_worst", \
"linear_average", "linear_worst", "posterior_mean_average", "posterior_mean_worst"}
        What to sort by.
    count : int
        How many such values are released, each by itself with the same mechanism; the budget is for
        all of them together, by exact composition (of what needs no delta, Kairouz, Oh and
        Viswanath's). The errors are those of one.
    prior : array_like, optional
        What is known of the true value beforehand, without the data: weights, greater than 0, of
        equally wide cells of the range. By default all values of it are alike. Averages and
        estimates go by it; privacy does not.
    optimum : bool
        Whether to look for the optimum on a grid: a second or so, and needs SciPy
        (`pip install 'tightnoise[optimum]'`).
    integer : bool
        Whether the true value is an integer, and an integer is released: outputs are rounded, which
        costs nothing, and errors are those of the rounded output for true values that are integers.
        The range is that of the integers in it, and a sensitivity that is none is rounded up. A
        prior's cells are of the range with half an integer more at both ends: as many weights as
        integers are one each. The optimum on a grid is left out: its values are no integers.

    Returns
    -------
    BoundedRanking
        A sequence of `BoundedChoice`, the least error first; `str` makes it a table. Errors are
        within 1e-8 of the truth; with `integer` those of the posterior mean are those without
        rounding where the noise reaches a million integers, or hundreds, but hardly ever.

    Raises
    ------
    ValueError
        If an argument is out of range.
    TypeError
        If an argument is not a number: boxes of several coordinates are calibrated, by
        `tightnoise.calibrate`, but not compared.

    Examples
    --------
    >>> import tightnoise as tn
    >>> table = tn.compare_bounded(epsilon=1.0, delta=1e-5, lower=0, upper=10, sensitivity=1)
    >>> table.best.name, round(table.best.mse_average, 4)
    ('staircase + clip', 1.5341)
    >>> noisy = table.best.sample(7.2)
    >>> counts = tn.compare_bounded(3.0, 0.0, lower=0, upper=20, sensitivity=1, integer=True)
    >>> counts.best.name, round(counts.best.mse_average, 4)
    ('Tulap + clip', 0.1042)
    """
    one_of("by", by, CRITERIA)
    ends = (_number("lower", lower), _number("upper", upper), _number("sensitivity", sensitivity))
    asked = question_of(epsilon, delta, *ends, count, prior)
    notes: tuple[str, ...] = ()
    if integer:
        (low, high, change), notes = integer_interval(*ends)
        asked = asked._replace(lower=low, upper=high, sensitivity=change, integer=True)
    ranking = ranking_of(asked, bool(optimum))
    return dataclasses.replace(ranking, notes=notes).sorted_by(by)


def question_of(
    epsilon: float,
    delta: float,
    lower: float,
    upper: float,
    sensitivity: float,
    count: int,
    prior: ArrayLike | None,
) -> Question:
    """Return what `ranking_of` and `choice_of` take, after checking it."""
    loss = positive("epsilon", epsilon)
    require(_LEAST <= loss <= 1.0 / _LEAST, "epsilon", epsilon, f"from {_LEAST} to {1.0 / _LEAST}")
    failure = below_one("delta", delta)
    releases = integer_between("count", count, minimum=1, maximum=MAX_COUNT)
    if not lower < upper:
        raise ValueError(f"lower must be less than upper; got lower {lower} and upper {upper}")
    width = upper - lower
    good = _LEAST_WIDTH <= width <= 1.0 / _LEAST_WIDTH
    require(good, "upper - lower", width, f"from {_LEAST_WIDTH} to {1.0 / _LEAST_WIDTH}")
    good = positive("sensitivity", sensitivity) >= _LEAST * width
    require(good, "sensitivity", sensitivity, f"at least {_LEAST} of upper - lower, {width}")
    weights = None if prior is None else weights_of(prior)
    return Question(loss, failure, lower, upper, sensitivity, releases, weights)


@functools.lru_cache(maxsize=128)
def ranking_of(asked: Question, optimum: bool = False) -> BoundedRanking:
    """Return the ranking for a checked question; it depends on no data, and is kept."""
    choices: list[BoundedChoice] = []
    left_out: dict[str, str] = {}
    families = tuple(BOUNDED_FAMILIES.values())
    for family in progress(families, "families", delay=SHOWN_AFTER):
        if family.searched and not optimum:
            continue
        if family.searched and asked.integer:
            left_out[family.name] = "its values are no integers"
            continue
        try:
            choice = choice_of(family.name, asked)
            choice.mse_average, choice.epsilon  # noqa: B018  # they take the time, and may be refused
            choices.append(choice)
        except ValueError as error:  # also of a range that is narrower than this function's
            left_out[family.name] = str(error)
    by = "mse_average"
    found = BoundedRanking(
        *asked[:5], by, asked.releases, tuple(choices), left_out, integer=asked.integer
    )
    return found.sorted_by(by)


@functools.lru_cache(maxsize=1024)
def best_choice(asked: Question) -> BoundedChoice:
    """Return the row of least average error that looks at the data and needs no search.

    The multi-Gaussian is not looked at, which takes long to calibrate: at 1,764 budgets and widths
    it was never the best (tests/release/test_sums.py has some). Noise that reaches many integers
    is judged before it is rounded: at 120 settings no other's squared error was 1e-4 less.
    """
    names = [
        family.name
        for family in BOUNDED_FAMILIES.values()
        if not family.searched and family.name not in _NEVER_BEST
    ]
    if asked.releases > 1 and asked.delta > 0:
        with roughly():
            about = _judged(names, asked, _choice_of)
        least = min((error for error, _ in about), default=0.0)
        names = [choice.name for error, choice in about if error <= _MAY_BE_BEST * least]
    found = _judged(names, asked, choice_of)
    if not found:
        return choice_of("staircase + clip", asked)  # says why not
    return min(found, key=lambda pair: pair[0])[1]


def _judged(
    names: list[str], asked: Question, of: Callable[[str, Question], BoundedChoice]
) -> list[tuple[float, BoundedChoice]]:
    """Return rows with their errors, without those that there are not."""
    found = []
    for name in names:
        with contextlib.suppress(ValueError):
            choice = of(name, asked)
            found.append((average_square(_errors_about(choice), asked.prior), choice))
    return found


def _errors_about(choice: BoundedChoice) -> Errors:
    """Return the errors of a row; of many integers without rounding."""
    width = choice.upper - choice.lower
    few = choice.integer and reach_of(noise_of(choice.mechanism), width) <= _FEW_INTEGERS
    return errors_of(choice.mechanism, choice.lower, choice.upper, few)


@functools.lru_cache(maxsize=1024)
def choice_of(name: str, asked: Question) -> BoundedChoice:
    """Return the row of that name for a checked question; CalibrationError without an answer."""
    return _choice_of(name, asked)


def _choice_of(name: str, asked: Question) -> BoundedChoice:
    family = BOUNDED_FAMILIES[name]
    return BoundedChoice(family.name, family.calibrated(asked), asked)


def _number(name: str, value: Any) -> float:
    if np.ndim(value) > 0:
        raise TypeError(
            f"{name} must be one number: mechanisms are compared in one dimension; got "
            f"{shown(value)}"
        )
    return real_scalar(name, value)
