"""The accountant: what has been released so far, and what that costs."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._text import upper_text
from tightnoise._validate import MAX_COUNT, integer, require
from tightnoise.accounting import _state
from tightnoise.accounting._ledger import Entry, Ledger
from tightnoise.accounting.mechanism_costs import cost_of
from tightnoise.costs import RdpCurve
from tightnoise.costs._sampled_gaussian import sampled_gaussian
from tightnoise.costs._sampling import is_fixed_size

__all__ = ["RdpAccountant"]

Array = NDArray[np.float64]

_PLAIN = (float, int)
_REPR_DELTA = 1e-6
_MOST_IN_REPR = 100  # different functions; more could take longer than a person notices

# Held where a ledger changes, or must not. One for all accountants: a fork waits until no ledger is
# half changed, and leaves the lock free in the child.
_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


class RdpAccountant:
    """Adds up what releases cost, by Renyi differential privacy.

    Steps are only ever added; reading an answer changes nothing. Equal steps are counted, so that
    the work for an answer is linear in the number of different steps, and every answer is an upper
    bound. What is asked may be chosen adaptively, each step in view of the outputs before it
    (Mironov 2017, "Renyi Differential Privacy", Proposition 1), as long as each step's cost holds
    for every data set and the costs and their number are fixed beforehand: those chosen in view of
    outputs need a budget that was fixed first.

    Threads may share an accountant, no step is lost, and so may a child process that is forked
    meanwhile, which goes on with a copy.

    Parameters
    ----------
    alphas : array_like, optional
        Orders to keep to. By default the best real order is searched, as long as each step's cost
        is a function of the order; with curves that are tables, their orders are used.

    Raises
    ------
    ValueError
        For orders that are not strictly increasing and greater than 0, or of which none is above 1.

    Notes
    -----
    *Per-instance costs* (`mechanism.rdp(theta, sensitivity=...)`) are added to others only with
    `history="fixed"`: where no value that is released depends on earlier outputs. Where theta does,
    the sum along one run is **no bound**, for other runs may cost more. A coin that shows heads
    once in a hundred times costs nothing. Let it choose the value whose sign is released, one that
    a person changes by 2.82: 60 after tails, 0 after heads. Of all runs 99 % report next to
    nothing, and coin and sign together cost 4.586 at order 8, whatever the coin shows:

    >>> import math
    >>> import tightnoise as tn
    >>> sign = tn.StochasticSign(1.0)
    >>> costs = [sign.rdp([theta], [8.0], sensitivity=2.8214) for theta in (60.0, 0.0)]
    >>> tails, heads = (float(cost.values[0]) for cost in costs)
    >>> print(f"{tails:.0e} {heads:.3f}")
    5e-211 5.244
    >>> both = math.log(0.99 * math.exp(7 * tails) + 0.01 * math.exp(7 * heads)) / 7
    >>> round(both, 3)
    4.586

    Values that are computed from outputs, as in training, are accounted by `compose(mechanism)`.

    Examples
    --------
    DP-SGD with noise multiplier 1, sampling rate 0.01 and 10,000 steps:

    >>> import tightnoise as tn
    >>> accountant = tn.accounting.RdpAccountant()
    >>> for _ in range(10_000):
    ...     accountant.step(noise_multiplier=1.0, sampling_rate=0.01)
    >>> round(accountant.epsilon(1e-6), 4)
    7.4137
    >>> accountant.compose(tn.Gaussian(10.0), count=3, adjacency="add-remove").steps
    10003
    """

    def __init__(self, alphas: ArrayLike | None = None) -> None:
        self._ledger = Ledger(alphas)
        self._quick: dict[tuple[float, float], Entry] = {}

    # --- what is released -------------------------------------------------------------------------

    def compose(
        self,
        mechanism: Any,
        count: int = 1,
        *,
        sampling_rate: float = 1.0,
        sampling: str = "poisson",
        sensitivity: float = 1.0,
        adjacency: str | None = None,
        history: str | None = None,
    ) -> RdpAccountant:
        """Add `count` releases of one mechanism.

        Parameters
        ----------
        mechanism : Mechanism or RdpCurve
            What is released, or what releasing it costs. `tightnoise.accounting.cost_of` says how a
            mechanism becomes a cost and takes further mechanisms. For the per-instance cost
            `mechanism.rdp(theta, sensitivity=...)` see `history`; with orders it is a table, which
            is added up, without them a function, which is kept with its theta.
        count : int
            How many times, at least 0.
        sampling_rate : float
            The share, in (0, 1], of the records that takes part in a release.
        sampling : {"poisson", "fixed-size"}
            "poisson": each record takes part with this probability, independently of all else, and
            the cost is for add-remove. "fixed-size": each release has a fresh batch of a fixed
            number of records, drawn without replacement, `sampling_rate` is that number by the
            number of all records, and the cost is for replace-one. For batches from shuffling the
            records once, neither holds.
        sensitivity : float
            The most that one record changes the value by, in Euclidean norm; 1 for a curve. With
            "fixed-size" that is by a record that is replaced: 2 C for a sum of vectors of norm C.
        adjacency : {None, "add-remove", "replace-one"}
            The neighbours for which `sensitivity`, or the curve, was declared. For sampled releases
            it is known without saying so.
        history : {None, "fixed"}
            "fixed" says that no value released at a per-instance cost depends on earlier outputs,
            neither on those accounted here nor on others. Without that, such a cost must be the
            accountant's first and `count` 1: the sum along a run is no bound (see the notes of the
            class). Other costs need not be told.

        Returns
        -------
        RdpAccountant
            This accountant, so that calls can be chained.

        Raises
        ------
        ValueError
            For values outside their domain, costs of different adjacencies, tables of different
            orders, a per-instance cost beside others without `history="fixed"`. The accountant is
            then as it was.
        TypeError
            If the mechanism has no cost that holds for every value (`TruncatedGaussian` and
            `BoundedLaplace`: pass `mechanism.rdp(theta, sensitivity=...)`, and `history` if there
            is more), or `count` is not an integer.

        Examples
        --------
        >>> import tightnoise as tn
        >>> accountant = tn.accounting.RdpAccountant()
        >>> _ = accountant.compose(tn.Gaussian(2.0), count=5, sensitivity=0.5)
        >>> _ = accountant.compose(tn.StochasticSign(8.0), sensitivity=2.0)
        >>> round(accountant.epsilon(1e-6), 4)
        3.0216
        """
        times = integer("count", count, minimum=0, maximum=MAX_COUNT)
        is_known = history is None or (isinstance(history, str) and history == "fixed")
        require(is_known, "history", history, "None or 'fixed'")
        # What others have registered may know Poisson sampling only.
        more = {"sampling": sampling} if is_fixed_size(sampling) else {}
        curve = cost_of(mechanism, sampling_rate=sampling_rate, sensitivity=sensitivity, **more)
        with _lock:
            self._ledger.add(curve, times, adjacency, history)
        return self

    def step(self, noise_multiplier: float, sampling_rate: float = 1.0) -> None:
        """Add one step of DP-SGD: a sum of clipped gradients of sampled records, and noise.

        Parameters
        ----------
        noise_multiplier : float
            The standard deviation of the noise over the norm that gradients are clipped to.
        sampling_rate : float
            The probability, in (0, 1], with which each record is in the batch, independently.

        Raises
        ------
        ValueError
            For values outside their domain, or an accountant of replace-one costs. The accountant
            is then as it was.
        TypeError
            For anything but real numbers.

        Examples
        --------
        >>> import tightnoise as tn
        >>> accountant = tn.accounting.RdpAccountant()
        >>> accountant.step(noise_multiplier=1.0, sampling_rate=0.01)
        >>> round(accountant.epsilon(1e-6), 4)
        0.7895
        """
        # A training loop says the same thing over and over. (True equals 1.0, but is refused.)
        if type(noise_multiplier) in _PLAIN and type(sampling_rate) in _PLAIN:
            with _lock:
                entry = self._quick.get((noise_multiplier, sampling_rate))
                if entry is not None:
                    self._ledger.repeat(entry)
                    return
        curve = sampled_gaussian(noise_multiplier, sampling_rate)
        with _lock:
            self._ledger.add(curve, 1)
            entry = self._ledger.entry(curve)
            self._quick[float(noise_multiplier), float(sampling_rate)] = entry

    # --- what that costs --------------------------------------------------------------------------

    def epsilon(self, delta: float, conversion: str = "optimal") -> float:
        """Return the smallest epsilon that any order proves at `delta` for all steps together.

        Parameters
        ----------
        delta : float
            The probability that is given up, between 0 and 1, exclusive.
        conversion : str
            As in `tightnoise.rdp_to_epsilon`.

        Returns
        -------
        float
            Never negative, rounded upwards, 0 if there is no step; infinity where no order has a
            finite cost. If `per_instance`, it depends on the data and must not itself be published
            unprotected.

        Raises
        ------
        ValueError
            For a delta outside (0, 1), an unknown conversion.

        Warns
        -----
        UserWarning
            As `RdpCurve.epsilon`, if other orders would prove less.

        Examples
        --------
        >>> import tightnoise as tn
        >>> accountant = tn.accounting.RdpAccountant().compose(tn.Gaussian(20.0), count=100)
        >>> round(accountant.epsilon(1e-5), 4)
        2.1657
        """
        return self.curve.epsilon(delta, conversion)

    def delta(self, epsilon: float, conversion: str = "optimal") -> float:
        """Return the smallest delta that any order proves at `epsilon` for all steps together.

        Parameters
        ----------
        epsilon : float
            The privacy loss that is tolerated, at least 0.
        conversion : str
            As in `tightnoise.rdp_to_delta`.

        Returns
        -------
        float
            In [0, 1], rounded upwards, 0 if there is no step. See `epsilon` for errors and
            warnings.

        Examples
        --------
        >>> import tightnoise as tn
        >>> accountant = tn.accounting.RdpAccountant().compose(tn.Gaussian(20.0), count=100)
        >>> f"{accountant.delta(2.1657):.2e}"
        '1.00e-05'
        """
        return self.curve.delta(epsilon, conversion)

    def best_order(self, delta: float, conversion: str = "optimal") -> float:
        """Return the order that proves `epsilon(delta, conversion)`; same errors and warning.

        Parameters
        ----------
        delta : float
            The probability that is given up, between 0 and 1, exclusive.
        conversion : str
            As in `tightnoise.rdp_to_epsilon`.

        Returns
        -------
        float

        Examples
        --------
        >>> import tightnoise as tn
        >>> accountant = tn.accounting.RdpAccountant().compose(tn.Gaussian(20.0), count=100)
        >>> round(accountant.best_order(1e-5), 1)
        9.6
        """
        return self.curve.best_order(delta, conversion)

    @property
    def curve(self) -> RdpCurve:
        """The cost of all steps together."""
        with _lock:
            return self._ledger.total()

    @property
    def alphas(self) -> Array | None:
        """The orders that answers keep to: as asked for, or those of the tables; else None."""
        table = self._ledger.table
        return self._ledger.alphas if table is None else table.alphas

    @property
    def steps(self) -> int:
        """The number of releases, counting repetitions."""
        return self._ledger.steps

    def __len__(self) -> int:
        return self.steps

    @property
    def adjacency(self) -> str | None:
        """The neighbours for which the costs hold; None: those of the declared sensitivities."""
        return self._ledger.adjacency

    @property
    def per_instance(self) -> bool:
        """Whether any of the costs holds for one data set only."""
        return self._ledger.per_instance

    def __repr__(self) -> str:
        ledger = self._ledger
        kinds = len(ledger.entries)
        parts = [f"{ledger.steps} step" + "s" * (ledger.steps != 1)]
        if kinds:
            parts[0] += f" of {kinds} kind" + "s" * (kinds != 1)
        if ledger.table is not None:
            parts[0] += f"{' and' if kinds else ''} by tables of {ledger.table.alphas.size} orders"
        parts += [f"{ledger.adjacency} adjacency"] * (ledger.adjacency is not None)
        parts += ["per-instance"] * ledger.per_instance
        return f"RdpAccountant({', '.join(parts)}{self._summary()})"

    def _summary(self) -> str:
        """Return the cost at a common delta, if that takes no longer than a person notices."""
        entries = self._ledger.entries
        if not self.steps or len(entries) > _MOST_IN_REPR:
            return ""
        if not all(map(_state.is_known, entries)):
            return ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            epsilon, order = self.epsilon(_REPR_DELTA), self.best_order(_REPR_DELTA)
        return f"; epsilon {upper_text(epsilon)} at delta {_REPR_DELTA:g}, best order {order:.4g}"

    # --- keeping and resuming ---------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return all that has been added, as numbers, strings, lists and dicts: ready for JSON.

        Functions of the package are kept by name with their parameters and tables by their values,
        so that `load_state_dict` gives an accountant with the same answers to the last bit. Any
        other function is kept as a table of its values, at `alphas` or the default orders: answers
        may then be slightly larger after loading, never smaller. (Pickling keeps such functions
        themselves. `Mechanism.rdp(theta, sensitivity=...)` is one, and takes its theta along; so is
        the cost of a sampled `ProductVonMisesFisher`.)

        Returns
        -------
        dict
            Infinity is the string 'inf', so that strict JSON can hold it.

        Examples
        --------
        >>> import json
        >>> import tightnoise as tn
        >>> accountant = tn.accounting.RdpAccountant()
        >>> accountant.step(noise_multiplier=1.0, sampling_rate=0.01)
        >>> text = json.dumps(accountant.state_dict())
        >>> resumed = tn.accounting.RdpAccountant()
        >>> resumed.load_state_dict(json.loads(text))
        >>> resumed.epsilon(1e-6) == accountant.epsilon(1e-6)
        True
        """
        with _lock:
            ledger = self._ledger.copy()
        return _state.encode(ledger)

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
        >>> accountant = tn.accounting.RdpAccountant()
        >>> accountant.load_state_dict({"version": 1})
        Traceback (most recent call last):
        ...
        ValueError: state must be that of an RdpAccountant: alphas is missing from state
        """
        ledger = _state.decode(state)
        with _lock:
            self._ledger, self._quick = ledger, {}

    def __getstate__(self) -> dict[str, Any]:
        with _lock:
            return {**self.__dict__, "_ledger": self._ledger.copy(), "_quick": {}}
