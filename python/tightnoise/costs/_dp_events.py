"""The events of dp-accounting and the histories of Opacus as costs, and back.

A noise multiplier is the noise over what one record contributes, as in both packages: with batches
of a fixed size a replaced record changes a sum by twice that.
"""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from typing import Any

from tightnoise._validate import MAX_COUNT, fraction, integer, positive, require
from tightnoise.costs._additive_pair import AdditivePair
from tightnoise.costs._gaussian_pair import GaussianPair
from tightnoise.costs._leaf import Leaf, Terms
from tightnoise.costs._sampled import Sampled

_REPLACED = 2.0  # what a replaced record changes a sum by, in units of one record


def cost_of_event(event: Any, cost: Any, *, replaced: bool = False) -> Any:
    """Return the cost of an event; `cost` is the class Cost."""
    change = _REPLACED if replaced else 1.0
    adjacency = "replace-one" if replaced else None
    name = type(event).__name__
    if name == "NoOpDpEvent":
        return cost()
    if name == "GaussianDpEvent":
        return cost.of_leaf(
            GaussianPair(
                positive("noise_multiplier", event.noise_multiplier) / change, adjacency=adjacency
            )
        )
    if name == "LaplaceDpEvent":
        law = ("laplace", (positive("noise_multiplier", event.noise_multiplier), math.inf))
        return cost.of_leaf(AdditivePair(*law, change, adjacency=adjacency))
    if name == "ZCDpEvent":
        require(event.xi == 0, "xi", event.xi, "0")
        require(
            not replaced, "event", name, "one whose sensitivity is known, in a fixed-size batch"
        )
        return cost.of_zcdp(event.rho)
    if name == "RandomizedResponseDpEvent":
        share = Fraction(fraction("noise_parameter", event.noise_parameter))
        options = integer("num_buckets", event.num_buckets, minimum=2, maximum=MAX_COUNT)
        return cost._of_response(1 - share + share / options, options, adjacency)
    if name == "ComposedDpEvent":
        parts = [cost_of_event(part, cost, replaced=replaced) for part in event.events]
        return sum(parts, cost())
    if name == "SelfComposedDpEvent":
        return cost_of_event(event.event, cost, replaced=replaced) * event.count
    if name == "PoissonSampledDpEvent" and not replaced:
        return cost_of_event(event.event, cost).sampled(event.sampling_probability, "poisson")
    if name == "SampledWithoutReplacementDpEvent" and not replaced:
        records = integer(
            "source_dataset_size", event.source_dataset_size, minimum=1, maximum=MAX_COUNT
        )
        batch = integer("sample_size", event.sample_size, minimum=0, maximum=records)
        rate = min(math.nextafter(batch / records, 1.0), 1.0) if batch else 0.0
        return cost_of_event(event.event, cost, replaced=True).sampled(rate, "fixed-size")
    raise ValueError(f"event must be one that a Cost knows; got {name}")


def event_of_terms(terms: Terms) -> Any:
    """Return an event of dp-accounting with the same cost."""
    for leaf, _ in terms:
        _require_known(leaf)
    package = importlib.import_module("dp_accounting")
    if not terms:
        return package.NoOpDpEvent()
    events = []
    for leaf, count in terms:
        event = _event(leaf, package)
        events.append(event if count == 1 else package.SelfComposedDpEvent(event, count))
    return events[0] if len(events) == 1 else package.ComposedDpEvent(events)


def _is_laplace(leaf: Leaf) -> bool:
    return (
        isinstance(leaf, AdditivePair) and leaf.law == "laplace" and math.isinf(leaf.parameters[1])
    )


def _require_known(leaf: Leaf) -> None:
    if isinstance(leaf, Sampled) and leaf.sampling == "poisson" and not leaf.is_replaced:
        for inner, _ in leaf.terms:
            _require_known(inner)
    elif not (isinstance(leaf, GaussianPair) or leaf.kind == "zcdp" or _is_laplace(leaf)):
        allowed = "of Gaussian or Laplace noise, zCDP and Poisson samples of them"
        raise ValueError(f"leaves must be {allowed} to be events; got {leaf.describe()}")


def _event(leaf: Leaf, package: Any) -> Any:
    if isinstance(leaf, GaussianPair):
        return package.GaussianDpEvent(leaf.noise_multiplier)
    if isinstance(leaf, AdditivePair):
        return package.LaplaceDpEvent(leaf.parameters[0] / leaf.sensitivity)
    if isinstance(leaf, Sampled):
        return package.PoissonSampledDpEvent(leaf.rate, event_of_terms(leaf.terms))
    return package.ZCDpEvent(leaf.zcdp_rho)
