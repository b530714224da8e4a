"""A budget for everyday releases: a privacy filter, and what was released, by name and time."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, SupportsIndex, TypeVar

from numpy.typing import ArrayLike

from tightnoise._adjacency import require_adjacency
from tightnoise._files import FileError, locked, write_whole
from tightnoise._filter import PrivacyFilter
from tightnoise._ledger import cost_in, ledger_lock
from tightnoise._text import Parts, Printed
from tightnoise._validate import MAX_COUNT, integer, positive, require
from tightnoise.costs import Adjacency, Cost
from tightnoise.mechanisms._drawing import source_of
from tightnoise.random import NoiseStream
from tightnoise.release._bounded import BoundedRelease, release_bounded
from tightnoise.release._columns import Missing, Values
from tightnoise.release._counts import release_count, release_histogram
from tightnoise.release._plan import Drawing
from tightnoise.release._quantiles import release_median, release_quantile
from tightnoise.release._released import (
    HistogramRelease,
    QuantileRelease,
    Release,
    VectorRelease,
)
from tightnoise.release._sums import release_mean, release_sum
from tightnoise.release._vectors import release_vector

Own = TypeVar("Own")

_KIND = "tightnoise session"
_VERSION = 1
_LONGEST_NAME = 1000
# Costs are added rounding up: shares of a budget that fill it would else be a little too large.
_SHARE = 1.0 - 2.0**-40


class SessionEntry(NamedTuple):
    """What was released and when: nothing of the data.

    Examples
    --------
    >>> import tightnoise as tn
    >>> session = tn.Session(1.0, adjacency="add-remove")
    >>> _ = session.release_count([True] * 90, 0.5, name="patients")
    >>> session.releases[0].name
    'patients'
    """

    name: str
    time: str
    """In UTC, by ISO 8601."""


class Session(Printed):
    """A budget of (epsilon, delta), and the everyday releases that spend it.

    A session is a `PrivacyFilter` and a list of names and times, nothing else: it sees columns, and
    keeps none. Its releases are methods, named as the functions are; each is spent before its
    noise is drawn, and refused, with nothing spent, where too little is left, or an argument is
    wrong. What is asked next may be chosen by what was seen. Each release takes 1e-12 less than
    the epsilon that it is given, so that shares of a budget can fill it.

    `save` and `load` tie a session to a file: from then on every release is written there before
    its noise is drawn. A file that was edited, or that another session has written since, is
    refused.

    Threads may share a session. A copy has the same budget once more: only one may go on.

    Parameters
    ----------
    epsilon : float
        For all releases together, at least 0.
    delta : float
        At least 0 and below 1. With 0 their epsilons add up. With more that has room which adds up
        to less, their epsilons or their Renyi divergences: of these, many releases cost less
        together, and Gaussian noise can be spent.
    adjacency : {"add-remove", "replace-one"}
        Which data sets are neighbours.

    Raises
    ------
    ValueError, TypeError
        For values outside their domain.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> ages = np.random.default_rng(0).uniform(18, 90, 500)
    >>> session = tn.Session(1.0, adjacency="replace-one")
    >>> mean = session.release_mean(ages, 0.5, lower=0, upper=120, name="mean age")
    >>> old = session.release_count(ages >= 65, 0.5, name="65 and older")
    >>> [entry.name for entry in session.releases]
    ['mean age', '65 and older']
    >>> session.release_count(ages >= 80, 0.5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    tightnoise._spending.BudgetError: cost must be at most the ... left of 1; got 0.5 ...
    """

    _later = "left"

    def __init__(self, epsilon: float, delta: float = 0.0, *, adjacency: Adjacency) -> None:
        require_adjacency(adjacency)
        self._budget = PrivacyFilter(epsilon, delta, adjacency=adjacency)
        self._releases: tuple[SessionEntry, ...] = ()
        self._path: str | None = None
        self._digest = ""

    # --- what is left, and what was released

    @property
    def budget(self) -> PrivacyFilter:
        """The filter: `spent`, `remaining`, `admits(cost)`. Spend by the session's own methods."""
        return self._budget

    @property
    def releases(self) -> tuple[SessionEntry, ...]:
        """What was released, by name and time."""
        return self._releases

    @property
    def adjacency(self) -> str | None:
        """Which data sets are neighbours."""
        return self._budget.adjacency

    @property
    def path(self) -> str | None:
        """The file that releases are written to before they are drawn, if there is one."""
        return self._path

    def __repr__(self) -> str:
        count = len(self._releases)
        text = f"{count} release" + "s" * (count != 1)
        return f"Session({text}, {self.adjacency}; {self._budget!r})"

    def _parts(self) -> Parts:
        listed = [(time, name) for name, time in self._releases]
        return [repr(self), listed] if listed else [repr(self)]

    # --- releases

    def spend(self, cost: Cost | Any, count: SupportsIndex = 1, *, name: str) -> None:
        """Spend what `count` releases of another kind cost, before they are drawn.

        Parameters
        ----------
        cost : Cost, or anything with a property `cost`
            As for `PrivacyFilter.spend`.
        count : int
            At least 0.
        name : str
            What the list calls it.

        Raises
        ------
        BudgetError
            If too little is left; nothing is spent then.
        ValueError, TypeError
            As for `PrivacyFilter.spend`.

        Examples
        --------
        >>> import tightnoise as tn
        >>> session = tn.Session(1.0, adjacency="add-remove")
        >>> noise = tn.Laplace(4.0)
        >>> session.spend(noise.cost(sensitivity=1.0), name="a sum of mine")
        >>> round(session.budget.spent, 6)
        0.25
        """
        total = cost_in(cost) * integer("count", count, minimum=0, maximum=MAX_COUNT)
        self._spend(total, _checked_name(name))

    def release_count(
        self,
        values: Values,
        epsilon: float,
        delta: float = 0.0,
        *,
        missing: Missing = "refuse",
        name: str | None = None,
        rng: NoiseStream | None = None,
    ) -> Release:
        """Spend, then release as `tightnoise.release_count` does."""
        asked = {"delta": delta, "missing": missing}
        return self._drawn(release_count, name, rng, values, epsilon, **asked)

    def release_sum(
        self,
        values: Values,
        epsilon: float,
        delta: float = 0.0,
        *,
        lower: float | None = None,
        upper: float | None = None,
        missing: Missing = "refuse",
        name: str | None = None,
        rng: NoiseStream | None = None,
    ) -> Release:
        """Spend, then release as `tightnoise.release_sum` does."""
        asked = {"delta": delta, "lower": lower, "upper": upper, "missing": missing}
        return self._drawn(release_sum, name, rng, values, epsilon, **asked)

    def release_mean(
        self,
        values: Values,
        epsilon: float,
        delta: float = 0.0,
        *,
        lower: float | None = None,
        upper: float | None = None,
        missing: Missing = "refuse",
        name: str | None = None,
        rng: NoiseStream | None = None,
    ) -> Release:
        """Spend, then release as `tightnoise.release_mean` does."""
        asked = {"delta": delta, "lower": lower, "upper": upper, "missing": missing}
        return self._drawn(release_mean, name, rng, values, epsilon, **asked)

    def release_histogram(
        self,
        values: Values,
        epsilon: float,
        delta: float = 0.0,
        *,
        cells: Sequence[object] | None = None,
        edges: ArrayLike | None = None,
        missing: Missing = "refuse",
        name: str | None = None,
        rng: NoiseStream | None = None,
    ) -> HistogramRelease:
        """Spend, then release as `tightnoise.release_histogram` does."""
        asked = {"delta": delta, "cells": cells, "edges": edges, "missing": missing}
        return self._drawn(release_histogram, name, rng, values, epsilon, **asked)

    def release_quantile(
        self,
        values: Values,
        epsilon: float,
        *,
        quantile: float,
        lower: float | None = None,
        upper: float | None = None,
        missing: Missing = "refuse",
        name: str | None = None,
        rng: NoiseStream | None = None,
    ) -> QuantileRelease:
        """Spend, then release as `tightnoise.release_quantile` does."""
        asked = {"quantile": quantile, "lower": lower, "upper": upper, "missing": missing}
        return self._drawn(release_quantile, name, rng, values, epsilon, **asked)

    def release_median(
        self,
        values: Values,
        epsilon: float,
        *,
        lower: float | None = None,
        upper: float | None = None,
        missing: Missing = "refuse",
        name: str | None = None,
        rng: NoiseStream | None = None,
    ) -> QuantileRelease:
        """Spend, then release as `tightnoise.release_median` does."""
        asked = {"lower": lower, "upper": upper, "missing": missing}
        return self._drawn(release_median, name, rng, values, epsilon, **asked)

    def release_vector(
        self,
        values: ArrayLike,
        epsilon: float,
        delta: float = 0.0,
        *,
        bound: float | None = None,
        missing: Missing = "refuse",
        name: str | None = None,
        rng: NoiseStream | None = None,
    ) -> VectorRelease:
        """Spend, then release as `tightnoise.release_vector` does."""
        asked = {"delta": delta, "bound": bound, "missing": missing}
        return self._drawn(release_vector, name, rng, values, epsilon, **asked)

    def release_bounded(
        self,
        value: ArrayLike,
        epsilon: float,
        delta: float = 0.0,
        *,
        lower: ArrayLike,
        upper: ArrayLike,
        sensitivity: float | None = None,
        coordinate_sensitivity: ArrayLike | None = None,
        mechanism: str = "best",
        prior: ArrayLike | None = None,
        name: str | None = None,
        rng: NoiseStream | None = None,
    ) -> BoundedRelease:
        """Spend, then release as `tightnoise.release_bounded` does, one value."""
        asked = {
            "delta": delta,
            "lower": lower,
            "upper": upper,
            "sensitivity": sensitivity,
            "coordinate_sensitivity": coordinate_sensitivity,
            "mechanism": mechanism,
            "prior": prior,
        }
        return self._drawn(release_bounded, name, rng, value, epsilon, **asked)

    def _drawn(
        self,
        release: Drawing[..., Own],
        name: str | None,
        rng: NoiseStream | None,
        values: object,
        epsilon: float,
        **asked: Any,
    ) -> Own:
        share = positive("epsilon", epsilon) * _SHARE
        plan = release.plan(values, share, adjacency=self.adjacency, rng=rng, **asked)
        called = plan.statistic if name is None else _checked_name(name)
        source_of(rng)  # refuses what is no stream, before anything is spent
        self._spend(plan.cost, called)
        return plan.draw()

    def _spend(self, cost: Cost, name: str) -> None:
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        with ledger_lock:
            before, releases = self._budget.state_dict(), self._releases
            self._budget.spend(cost)
            self._releases = (*releases, SessionEntry(name, now))
            if self._path is None:
                return
            try:
                self._write_again(self._path)
            except BaseException:  # nothing was drawn, nor is anything spent
                self._budget.load_state_dict(before)
                self._releases = releases
                raise

    # --- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session to a new file, and keep to it.

        From now on every release is written there, in one step, before its noise is drawn.

        Parameters
        ----------
        path : str or path
            Ends in .json. There must be no such file, unless it is this session's own.

        Raises
        ------
        OSError
            If the file exists already or cannot be written.
        ValueError
            If it is this session's own, and was changed since.

        Examples
        --------
        >>> import tightnoise as tn
        >>> session = tn.Session(1.0, adjacency="add-remove")
        >>> session.save("budget.json")
        >>> tn.Session.load("budget.json")  # doctest: +ELLIPSIS
        Session(0 releases, add-remove; PrivacyFilter(epsilon=1, ...))
        """
        target = os.path.abspath(os.fspath(path))
        with ledger_lock:
            if target == self._path:
                self._write_again(target)
            else:
                if os.path.lexists(target):
                    raise FileExistsError(f"{target} exists already: Session.load goes on with it")
                self._digest = self._write(target, overwrite=False)
                self._path = target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Session:
        """Return the session that a file holds; it goes on being written there.

        Parameters
        ----------
        path : str or path
            What `save` wrote.

        Returns
        -------
        Session

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If it is not as it was saved: edited, damaged, or something else.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.Session(1.0, adjacency="add-remove").save("mine.json")
        >>> session = tn.Session.load("mine.json")
        >>> _ = session.release_count([True, False], 0.25)
        >>> len(tn.Session.load("mine.json").releases)
        1
        """
        target = os.path.abspath(os.fspath(path))
        state, digest = _read(target)
        try:
            session = cls._of(state)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{target} must be a session as it was saved: {error}") from None
        session._path, session._digest = target, digest
        return session

    @classmethod
    def _of(cls, state: dict[str, Any]) -> Session:
        require(state["version"] == _VERSION, "version", state["version"], str(_VERSION))
        rule = state["budget"]["rule"]
        session = cls(rule["epsilon"], rule["delta"], adjacency=rule["adjacency"])
        session._budget.load_state_dict(state["budget"])
        session._releases = tuple(
            SessionEntry(_checked_name(entry["name"]), str(entry["time"]))
            for entry in state["releases"]
        )
        return session

    def _write_again(self, path: str) -> None:
        """Write the file anew, unless it is not as this session has left it."""
        with locked(path):
            _, digest = _read(path)
            if digest != self._digest:
                raise ValueError(
                    f"{path} must be as this session left it, but another has written it since: "
                    "load it again"
                )
            self._digest = self._write(path, overwrite=True)

    def _write(self, path: str, *, overwrite: bool) -> str:
        state = {
            "kind": _KIND,
            "version": _VERSION,
            "budget": self._budget.state_dict(),
            "releases": [entry._asdict() for entry in self._releases],
        }
        digest = _digest_of(state)
        text = json.dumps({**state, "digest": digest}, indent=1, allow_nan=False)
        content = text.encode() + b"\n"
        try:
            write_whole(path, lambda file: file.write(content), suffix=".json", overwrite=overwrite)
        except FileError as error:
            raise OSError(str(error)) from error
        return digest


def _read(path: str) -> tuple[dict[str, Any], str]:
    """Return what a session's file holds, and its digest; ValueError unless they fit."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        state = json.loads(content)
        digest = state.pop("digest")
        good = state["kind"] == _KIND and digest == _digest_of(state)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise ValueError(f"{path} must be a session as it was saved, and is no such file") from None
    if not good:
        raise ValueError(
            f"{path} must be a session as it was saved, but it was edited since, or damaged: its "
            "digest does not fit"
        )
    return state, digest


def _digest_of(state: dict[str, Any]) -> str:
    """Return a digest by which an edited file is found out; whoever wants to can make another."""
    text = json.dumps(state, sort_keys=True, separators=(",", ":"), allow_nan=False)
    import hashlib  # of sessions in files alone: with OpenSSL, a fourth of what the package takes

    return hashlib.sha256(text.encode()).hexdigest()


def _checked_name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"name must be text; got {type(name).__name__}")
    good = 0 < len(name) <= _LONGEST_NAME
    require(good, "name", name, f"of 1 to {_LONGEST_NAME} characters, and not of the data")
    return name
