"""Which noise for one number: every mechanism calibrated to a budget, ranked by what it loses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from tightnoise._progress import SHOWN_AFTER, progress
from tightnoise._text import Parts
from tightnoise._validate import MAX_COUNT, below_one, one_of, positive
from tightnoise._validate import integer as integer_between
from tightnoise.calibrate import CalibrationError
from tightnoise.compare._families import FAMILIES, Family
from tightnoise.compare._integers import integer_sensitivity, integers_of
from tightnoise.compare._ranking import Ranking
from tightnoise.costs import Cost
from tightnoise.random import NoiseStream

__all__ = ["NoiseChoice", "NoiseRanking", "best_noise"]

_LOSSES = {"l1": "mean_abs", "l2": "variance"}
_LEAST_OF_INTEGERS = ("Tulap", "staircase")  # the latter is the same without a delta
_SMALL = 0.01  # a delta
_BEST_OF_LARGE_DELTA = ("multi-Gaussian", "scale mixture")
_CLOSE = 1e-8  # as searches end
_ROOM = 1e-6  # for the rounding of a delta, and of what it falls by


@dataclass(frozen=True)
class NoiseChoice:
    """One way to answer within the budget.

    Parameters
    ----------
    name : str
        Of the family, such as "staircase".
    mechanism : Gaussian or AdditiveNoise
        Calibrated.
    mean_abs, variance : float
        The l1 and the l2 loss of one release, exact; of integers those of the rounded output.
    scale : str
        The parameter that sets the size of the noise, with its value.
    composes_as_gaussian : bool
        Whether many releases cost what those of a Gaussian of the same sigma would, at most (zCDP).
    sensitivity : float
        What one release is calibrated for.
    integer : bool
        Whether outputs are rounded to integers, which costs nothing.

    Examples
    --------
    >>> import tightnoise as tn
    >>> choice = tn.best_noise(epsilon=1.0, delta=0.0, sensitivity=1.0)[1]
    >>> choice.name, choice.scale, choice.tails
    ('Tulap', 'epsilon 1', 'exponential')
    """

    name: str
    mechanism: Any
    mean_abs: float
    variance: float
    scale: str
    composes_as_gaussian: bool
    sensitivity: float
    integer: bool = False

    def sample(self, theta: ArrayLike, *, rng: NoiseStream | None = None) -> Any:
        """Return what is released for true values theta.

        Parameters
        ----------
        theta : array_like
            The true values, any shape; each is a release of its own.
        rng : NoiseStream, optional
            Where the noise comes from; by default `tightnoise.random.default_stream()`.

        Returns
        -------
        ndarray or scalar
            As `mechanism.sample`; of integers int64.

        Raises
        ------
        ValueError, TypeError
            As `mechanism.sample`.
        """
        if self.integer:
            return integers_of(self.mechanism, theta, rng)[()]
        return self.mechanism.sample(theta, rng=rng)

    @property
    def cost(self) -> Cost:
        """What one release costs."""
        cost: Cost = self.mechanism.cost(sensitivity=self.sensitivity)
        return cost

    @property
    def tails(self) -> str:
        """How far the noise reaches: "gaussian", "exponential" or "bounded"."""
        return str(self.mechanism.tails)


@dataclass(frozen=True)
class NoiseRanking(Ranking[NoiseChoice]):
    """Choices by increasing loss; printed, a table.

    The fields are the arguments of `best_noise`, the sensitivity of integers rounded up, `releases`
    its `count`, and what it found.

    Examples
    --------
    >>> import tightnoise as tn
    >>> ranking = tn.best_noise(epsilon=1.0, delta=0.0, sensitivity=1.0)
    >>> [choice.name for choice in ranking]
    ['staircase', 'Tulap', 'Laplace']
    >>> ranking.left_out["Gaussian"][:30]
    'delta must be greater than 0 f'
    """

    epsilon: float
    delta: float
    sensitivity: float
    loss: str
    releases: int
    choices: tuple[NoiseChoice, ...]
    left_out: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The families that have no answer, each with the reason."""
    integer: bool = False
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What a reader of the table should know."""

    def loss_of(self, choice: NoiseChoice) -> float:
        """Return the loss that the ranking goes by."""
        return float(getattr(choice, _LOSSES[self.loss]))

    def _parts(self) -> Parts:
        head = ("mechanism", "E|noise|", "variance", "of the best", "scale", "tails", "composes")
        least = self.loss_of(self.best)
        rows = [
            (
                choice.name,
                f"{choice.mean_abs:.6g}",
                f"{choice.variance:.6g}",
                _times(self.loss_of(choice) / least),
                choice.scale,
                choice.tails,
                "as a Gaussian" if choice.composes_as_gaussian else "otherwise",
            )
            for choice in self
        ]
        return [[head, *rows], *self.notes]

    def _draw(self, left: object, right: object) -> None:
        from tightnoise.compare._figures import draw_noise  # which calibrates, too

        draw_noise(self, left, right)


def best_noise(
    epsilon: float,
    delta: float = 0.0,
    *,
    sensitivity: float,
    count: int = 1,
    loss: str = "l1",
    integer: bool = False,
) -> NoiseRanking:
    """Calibrate every mechanism for one number to the same budget and rank them by exact loss.

    Each is calibrated exactly (`tightnoise.calibrate`), never above the budget. The families:
    Gaussian, multi-Gaussian, quasi-Gaussian, Gaussian scale mixture, Laplace, truncated Laplace,
    Tulap and staircase. For one release the staircase, which is purely private, loses least at
    epsilon 2 up to a delta of 0.001, at 3 up to 0.03, at 4 up to 0.1 and at 8 up to 0.3; at larger
    deltas scale mixtures do, and at epsilon below 1 Tulap noise.

    Several releases (`count`) are calibrated to the budget of all of them together. Scale mixtures
    are then left out, and for one release, too, where the best that is found is the multi-Gaussian.

    With `integer`, for counts, every output is rounded to an integer, which costs nothing, and
    ranked by the exact loss of what is then released. Noise gains most whose steps end half way
    between integers: rounded Tulap noise is the geometric mechanism, and for epsilon of 3 and
    sensitivity 1 its loss is less than half of that of the best noise without rounding; the
    staircase is calibrated to such steps.

    Parameters
    ----------
    epsilon : float
        Greater than 0.
    delta : float
        From 0, where only pure mechanisms have an answer, to 1, exclusive.
    sensitivity : float
        The most that one person can change the number by, greater than 0. It is one number: only
        the Gaussian takes a vector's Euclidean norm (`tightnoise.mechanisms.AdditiveNoise`).
    loss : {"l1", "l2"}
        What to rank by, and to calibrate for where there is a choice: the mean of abs(noise), or
        the variance.
    count : int
        How many such numbers are released, each with independent noise of the same law.
    integer : bool
        Whether the number is an integer and an integer is released: losses are those of the rounded
        output, and a sensitivity that is no integer is rounded up.

    Returns
    -------
    NoiseRanking
        A sequence of `NoiseChoice`, the least loss first; `str` makes it a table.

    Raises
    ------
    ValueError
        If an argument is out of range.
    TypeError
        If an argument is not a number.

    Examples
    --------
    >>> import tightnoise as tn
    >>> ranking = tn.best_noise(epsilon=4.0, delta=1e-6, sensitivity=1.0)
    >>> ranking.best.name, ranking.best.tails
    ('staircase', 'exponential')
    >>> noisy = ranking.best.sample(42.0)
    >>> count = tn.best_noise(epsilon=3.0, delta=0.0, sensitivity=1, integer=True).best
    >>> count.name, round(count.mean_abs, 4)
    ('Tulap', 0.0998)
    """
    positive("epsilon", epsilon)
    below_one("delta", delta)
    positive("sensitivity", sensitivity)
    one_of("loss", loss, _LOSSES)
    releases = integer_between("count", count, minimum=1, maximum=MAX_COUNT)
    change, notes = integer_sensitivity(sensitivity) if integer else (float(sensitivity), ())
    asked = _Question(epsilon, delta, change, releases, loss, bool(integer))
    choices: list[NoiseChoice] = []
    left_out: dict[str, str] = {}
    for family in progress(FAMILIES, "families", delay=SHOWN_AFTER):
        if family.for_one and releases > 1:
            left_out[family.name] = "it has nothing of its own for several releases"
            continue
        try:
            mechanism = asked.calibrated(family)
        except CalibrationError as error:
            left_out[family.name] = str(error)
            continue
        same = [choice.name for choice in choices if choice.mechanism == mechanism]
        if same:
            left_out[family.name] = f"the best that was found is that of the {same[0]}"
            continue
        choices.append(_choice(family, mechanism, change, bool(integer)))
    choices.sort(key=lambda choice: getattr(choice, _LOSSES[loss]))
    return NoiseRanking(
        float(epsilon),
        float(delta),
        change,
        loss,
        releases,
        tuple(choices),
        left_out,
        bool(integer),
        notes,
    )


def least_variance(
    epsilon: float, delta: float, *, sensitivity: float, count: int, integer: bool
) -> NoiseChoice:
    """Return the best of `best_noise` by the variance, for arguments that were checked.

    Without the searches for noise that cannot be it, which take long. Of one integer that a person
    changes by 1 nothing is below rounded Tulap noise, with T_k the probability of k or more: T_1 is
    (1 - delta)/(1 + e^epsilon) or more, as T_0 = 1 - T_1 is no more than e^epsilon T_1 + delta, and
    so on, T_(k + 1) >= (T_k - delta)/e^epsilon; there all are equal, and the variance is the sum of
    2 (2 k - 1) T_k. Mixtures of Gaussians have the least variance of one number from deltas of some
    0.05 on; up to 0.01 none was below all others, of one number at 144 budgets, of two at 24.
    """
    change = integer_sensitivity(sensitivity)[0] if integer else float(sensitivity)
    question = _Question(epsilon, delta, change, count, "l2", integer)
    families = [family for family in FAMILIES if count == 1 or not family.for_one]
    if count == 1 and integer and change == 1:
        families = [family for family in families if family.name in _LEAST_OF_INTEGERS]
    elif count <= 2 and delta <= _SMALL:
        families = [family for family in families if family.name not in _BEST_OF_LARGE_DELTA]
    ordered = sorted((question.at_least(f), i) for i, f in enumerate(families))
    found: list[tuple[float, int, NoiseChoice]] = []
    left_out: dict[str, str] = {}
    for least, i in ordered:
        if found and least > min(found)[0] * (1 + _CLOSE):
            break
        try:
            choice = _choice(families[i], question.calibrated(families[i]), change, integer)
        except CalibrationError as error:
            left_out[families[i].name] = str(error)
        else:
            found.append((choice.variance, i, choice))
    if not found:
        why = "; ".join(f"{name}: {text}" for name, text in left_out.items())
        raise CalibrationError(f"no noise meets epsilon = {epsilon:g}, delta = {delta:g}: {why}")
    return min(found)[2]


class _Question(NamedTuple):
    """What is asked, of noise for numbers, after checking it."""

    epsilon: float
    delta: float
    change: float
    releases: int
    loss: str
    integer: bool

    def calibrated(self, family: Family) -> Any:
        """Return the noise of a family."""
        return family.calibrated(
            self.epsilon,
            self.delta,
            sensitivity=self.change,
            count=self.releases,
            loss=self.loss,
            integer=self.integer,
        )

    def at_least(self, family: Family) -> float:
        """Return a variance that noise of the family for several releases is not below.

        Such noise falls as the epsilon of its own grows, from an equal share of the budget's on: so
        it is not below that of an epsilon with which all of them cost more.
        """
        if self.releases == 1 or self.delta == 0:
            return 0.0  # nothing is known
        share, failure = self.epsilon / self.releases, 0.5 * self.delta / self.releases
        above = 2.0 * self.delta
        while True:
            own = min(share + above, self.epsilon)
            try:
                one = self._replace(epsilon=own, delta=failure, releases=1).calibrated(family)
            except CalibrationError:
                return 0.0
            if self._costs_more(one, share, own):
                return float((one.rounded() if self.integer else one).var())
            if own == self.epsilon:
                return 0.0
            above *= 2.0

    def _costs_more(self, noise: Any, share: float, own: float) -> bool:
        """Return whether so many releases are certain to cost more than the budget.

        With A where the loss of one exceeds the share, and P and Q what A has of either neighbour,
        all of them have P^n - e^epsilon Q^n of A^n, n releases, or more. Here P - e^share Q is the
        delta of one at the share, and e^share Q the slope at which that falls, no less than a chord
        of it, which is convex.
        """
        cost = noise.cost(sensitivity=self.change)
        here, there = cost.delta(share), cost.delta(own)
        falls = (here - there) / (own - share)
        return bool(
            (here + falls) ** self.releases - falls**self.releases > self.delta * (1 + _ROOM)
        )


def _times(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio < 1e6 else f"{ratio:.3g}"


def _choice(family: Family, mechanism: Any, sensitivity: float, integer: bool) -> NoiseChoice:
    noise = mechanism.rounded() if integer else mechanism
    size = getattr(mechanism, family.scale)
    shown = f"{min(size):.4g} to {max(size):.4g}" if isinstance(size, tuple) else f"{size:.6g}"
    return NoiseChoice(
        family.name,
        mechanism,
        float(noise.mean_abs()),
        float(noise.var()),
        f"{family.scale} {shown}",
        family.composes_as_gaussian,
        sensitivity,
        integer,
    )
