"""The accountant: what has been released so far, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._adjacency import common_adjacency
from tightnoise._hints import ACCOUNTANTS, missing
from tightnoise._ledger import cost_in, ledger_lock
from tightnoise._text import upper_text
from tightnoise._validate import MAX_COUNT, integer, require
from tightnoise.costs import Cost, Explanation
from tightnoise.costs._answers import proved_by
from tightnoise.costs._cost import By
from tightnoise.costs._leaf import Leaf
from tightnoise.costs._leaf_sum import Sampling
from tightnoise.costs._training import training_step

Array = NDArray[np.float64]

_PLAIN = (float, int)
_VERSION = 2
_REPR_DELTA = 1e-6
_MOST_IN_REPR = 100  # different leaves; more could take longer than a person notices


class _Entry:
    """A kind of release, and how often it was made."""

    __slots__ = ("count", "leaf")

    def __init__(self, leaf: Leaf, count: int) -> None:
        self.leaf, self.count = leaf, count


class Accountant:
    """A ledger of one `Cost`: releases are only ever added; reading an answer changes nothing.

    Equal releases are counted. What is asked may be chosen adaptively, each value in view of the
    outputs before it, as long as the mechanisms, their noise and their number are fixed beforehand;
    otherwise a `PrivacyFilter` is needed. Per-instance costs are not for this ledger, but for an
    `InstanceLedger`.

    Threads may share an accountant, no step is lost, and so may a child process that is forked
    meanwhile, which goes on with a copy.

    Examples
    --------
    DP-SGD with noise multiplier 1, sampling rate 0.01 and 1,000 steps, and a release beside it:

    >>> import tightnoise as tn
    >>> accountant = tn.Accountant()
    >>> for _ in range(1000):
    ...     accountant.step(noise_multiplier=1.0, sampling_rate=0.01)
    >>> print(f"{accountant.epsilon(1e-6):.3f}")
    2.125
    >>> accountant.compose(tn.Laplace(10.0).cost(sensitivity=1.0), 3).steps
    1003
    """

    def __getattr__(self, name: str) -> Any:
        raise missing(self, name, ACCOUNTANTS)

    def __init__(self) -> None:
        self._entries: dict[Leaf, _Entry] = {}
        self._quick: dict[tuple[float, float, str], _Entry] = {}
        self._steps = 0
        self._adjacency: str | None = None
        self._cost: Cost | None = Cost()

    # --- what is released

    def compose(self, cost: Cost | Any, count: SupportsIndex = 1) -> Accountant:
        """Add `count` releases.

        Parameters
        ----------
        cost : Cost, or anything with a property `cost`
            What one release costs: ``mechanism.cost(...)``, what `release_bounded` returns, a row
            of a ranking.
        count : int
            At least 0.

        Returns
        -------
        Accountant
            This one, so that calls can be chained.

        Raises
        ------
        ValueError
            For costs of different neighbours, or more than 2**53 releases in all; the accountant is
            then as it was.
        TypeError
            For anything else: a mechanism has a cost for a sensitivity, ``mechanism.cost(...)``.

        Examples
        --------
        >>> import tightnoise as tn
        >>> accountant = tn.Accountant().compose(tn.Gaussian(20.0).cost(sensitivity=1.0), 100)
        >>> print(f"{accountant.epsilon(1e-5):.4f}")
        1.9931
        """
        own = cost_in(cost)
        times = integer("count", count, minimum=0, maximum=MAX_COUNT)
        with ledger_lock:
            self._add(own * times)
        return self

    def _add(self, cost: Cost) -> None:
        adjacency = common_adjacency(self._adjacency, cost.adjacency)
        require(self._steps + cost.count <= MAX_COUNT, "count", cost.count, "at most 2**53 in all")
        for leaf, count in cost.terms:
            self._entries.setdefault(leaf, _Entry(leaf, 0)).count += count
        self._adjacency = adjacency
        self._steps += cost.count
        self._cost = None

    def step(
        self, noise_multiplier: float, sampling_rate: float = 1.0, sampling: Sampling = "poisson"
    ) -> None:
        """Add one step of DP-SGD: a sum of clipped gradients of sampled records, and noise.

        Parameters
        ----------
        noise_multiplier : float
            The standard deviation of the noise over the norm C that gradients are clipped to. In
            batches of a fixed size a replaced record changes the sum by 2 C, which is accounted.
        sampling_rate : float
            The share of the records in a batch, greater than 0 and at most 1.
        sampling : {"poisson", "fixed-size"}
            As for `Cost.sampled`.

        Raises
        ------
        ValueError
            For values outside their domain, or an accountant of costs of other neighbours. The
            accountant is then as it was.
        TypeError
            For anything but real numbers.

        Examples
        --------
        >>> import tightnoise as tn
        >>> accountant = tn.Accountant()
        >>> accountant.step(noise_multiplier=1.0, sampling_rate=0.01)
        >>> print(f"{accountant.epsilon(1e-6):.4f}")
        0.3639
        """
        # A training loop says the same thing over and over. (True equals 1.0, but is refused.)
        if type(noise_multiplier) in _PLAIN and type(sampling_rate) in _PLAIN:
            with ledger_lock:
                entry = self._quick.get((noise_multiplier, sampling_rate, sampling))
                if entry is not None and self._steps < MAX_COUNT:
                    entry.count += 1
                    self._steps += 1
                    self._cost = None
                    return
        cost = training_step(noise_multiplier, sampling_rate, sampling)
        with ledger_lock:
            self._add(cost)
            ((leaf, _),) = cost.terms
            key = float(noise_multiplier), float(sampling_rate), sampling
            self._quick[key] = self._entries[leaf]

    # --- what that costs

    @property
    def cost(self) -> Cost:
        """The cost of all releases together."""
        with ledger_lock:
            if self._cost is None:
                self._cost = Cost._of((entry.leaf, entry.count) for entry in self._entries.values())
            return self._cost

    @overload
    def epsilon(self, delta: float, *, by: By | None = ...) -> float: ...
    @overload
    def epsilon(self, delta: ArrayLike, *, by: By | None = ...) -> Array | float: ...
    def epsilon(self, delta: ArrayLike, *, by: By | None = None) -> Array | float:
        """Return the smallest proven epsilon of all releases together, as `Cost.epsilon`.

        Parameters
        ----------
        delta : array_like
            From 0 to 1.
        by : {None, "rdp", "losses", "profile"}
            One way only; None: the least of all.

        Returns
        -------
        float or ndarray of float64

        Raises
        ------
        ValueError, TypeError
            If delta is not from 0 to 1, for an unknown way.

        Examples
        --------
        >>> import tightnoise as tn
        >>> accountant = tn.Accountant().compose(tn.Gaussian(20.0).cost(sensitivity=1.0), 100)
        >>> print(f"{accountant.epsilon(1e-5, by='rdp'):.4f}")
        2.1657
        """
        return self.cost.epsilon(delta, by=by)

    @overload
    def delta(self, epsilon: float, *, by: By | None = ...) -> float: ...
    @overload
    def delta(self, epsilon: ArrayLike, *, by: By | None = ...) -> Array | float: ...
    def delta(self, epsilon: ArrayLike, *, by: By | None = None) -> Array | float:
        """Return the smallest proven delta of all releases together, as `Cost.delta`.

        Parameters
        ----------
        epsilon : array_like
            At least 0, finite.
        by : {None, "rdp", "losses", "profile"}
            One way only; None: the least of all.

        Returns
        -------
        float or ndarray of float64

        Raises
        ------
        ValueError, TypeError
            If epsilon is not finite and at least 0, for an unknown way.

        Examples
        --------
        >>> import tightnoise as tn
        >>> accountant = tn.Accountant().compose(tn.Gaussian(20.0).cost(sensitivity=1.0), 100)
        >>> print(f"{accountant.delta(2.0):.3e}")
        9.439e-06
        """
        return self.cost.delta(epsilon, by=by)

    def explain(self, delta: float) -> Explanation:
        """Return what each way proves at a delta, as `Cost.explain`.

        Parameters
        ----------
        delta : float
            From 0 to 1.

        Returns
        -------
        Explanation

        Raises
        ------
        ValueError, TypeError
            If delta is not from 0 to 1.

        Examples
        --------
        >>> import tightnoise as tn
        >>> accountant = tn.Accountant().compose(tn.Gaussian(20.0).cost(sensitivity=1.0), 100)
        >>> accountant.explain(1e-5).way
        'profile'
        """
        return self.cost.explain(delta)

    @property
    def steps(self) -> int:
        """The number of releases, counting repetitions."""
        return self._steps

    def __len__(self) -> int:
        return self._steps

    @property
    def adjacency(self) -> str | None:
        """The neighbours for which the costs hold; None: those of the declared sensitivities."""
        return self._adjacency

    def __repr__(self) -> str:
        kinds = len(self._entries)
        parts = [f"{self._steps} step" + "s" * (self._steps != 1)]
        if kinds:
            parts[0] += f" of {kinds} kind" + "s" * (kinds != 1)
        if self._adjacency is not None:
            parts.append(f"{self._adjacency} adjacency")
        summary = ""
        if 0 < kinds <= _MOST_IN_REPR:
            proof = proved_by("rdp", "epsilon", self.cost.terms, _REPR_DELTA)
            if proof is not None:
                summary = f"; epsilon at most {upper_text(proof.bound)} at delta {_REPR_DELTA:g}"
        return f"Accountant({', '.join(parts)}{summary})"

    # --- keeping and resuming

    def state_dict(self) -> dict[str, Any]:
        """Return all that has been added, as numbers, strings, lists and dicts: ready for JSON.

        Returns
        -------
        dict
            Infinity is the string 'inf', so that strict JSON can hold it. What is loaded from it
            has the same answers to the last bit.

        Examples
        --------
        >>> import json
        >>> import tightnoise as tn
        >>> accountant = tn.Accountant()
        >>> accountant.step(noise_multiplier=1.0, sampling_rate=0.01)
        >>> text = json.dumps(accountant.state_dict())
        >>> resumed = tn.Accountant()
        >>> resumed.load_state_dict(json.loads(text))
        >>> resumed.epsilon(1e-6) == accountant.epsilon(1e-6)
        True
        """
        cost = self.cost
        return {"version": _VERSION, "steps": cost.count, "cost": cost.to_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Put what `state_dict` returned in the place of all that has been added.

        Parameters
        ----------
        state : dict
            It is checked as input from a stranger: nothing in it is run.

        Raises
        ------
        ValueError
            If anything in it is missing, unknown, or outside its domain; the message names it. The
            accountant is then as it was.
        TypeError
            If it is not a mapping.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Accountant().load_state_dict({"version": 2})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: state must be that of an Accountant: it must hold version, steps and cost; ...
        """
        if not isinstance(state, Mapping):
            raise TypeError(f"state must be a dict; got {type(state).__name__}")
        try:
            if set(state) != {"version", "steps", "cost"}:
                raise ValueError(f"it must hold version, steps and cost; got {sorted(state)}")
            version, steps = state["version"], state["steps"]
            require(type(version) is int and version == _VERSION, "version", version, f"{_VERSION}")
            cost = Cost.from_dict(state["cost"])
            good = type(steps) is int and steps == cost.count
            require(good, "steps", steps, f"{cost.count}, the sum of all counts")
        except (TypeError, ValueError) as error:
            raise ValueError(f"state must be that of an Accountant: {error}") from None
        with ledger_lock:
            self._entries, self._quick, self._steps = {}, {}, 0
            self._adjacency = None
            self._add(cost)

    def __getstate__(self) -> dict[str, Any]:
        return {"cost": self.cost}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self._add(state["cost"])
