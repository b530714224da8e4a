"""Rows of the golden table as questions to today's package."""

from __future__ import annotations

import inspect
from typing import Any

import tightnoise as tn
from tightnoise import calibrate

Row = dict[str, Any]
Term = dict[str, Any]

PARAMETERS_OF = {
    "Pure": tn.Cost.of_pure,
    "Approximate": tn.Cost.of_approximate,
    "ZeroConcentrated": tn.Cost.of_zcdp,
    "GaussianDP": tn.Cost.of_gdp,
    "Renyi": tn.Cost.of_rdp,
}
BOUNDED = {"TruncatedGaussian", "RectifiedGaussian", "BoundedLaplace"}
CALIBRATED = {
    "Gaussian": "gaussian",
    "Laplace": "laplace",
    "TruncatedLaplace": "truncated_laplace",
    "Tulap": "tulap",
    "Staircase": "staircase",
    "MultiGaussianMixture": "multi_gaussian",
    "QuasiGaussianMixture": "quasi_gaussian",
    "GaussianScaleMixture": "gaussian_scale_mixture",
    "VonMisesFisher": "von_mises_fisher",
    "TruncatedGaussian": "truncated_gaussian",
    "RectifiedGaussian": "rectified_gaussian",
    "BoundedLaplace": "bounded_laplace",
}


def answer(row: Row) -> float:
    """Return the cost, or the measure of what is calibrated."""
    if row["question"] == "calibrate":
        return calibrated(row)
    asked, given = row["question"], row["delta" if row["question"] == "epsilon" else "epsilon"]
    terms = row["terms"]
    if len(terms) == 1 and "theta" in terms[0]:
        return float(getattr(instance_of(terms[0]), asked)(given))
    return float(getattr(sum(map(cost_of, terms), tn.Cost()), asked)(given))


def changes_of(term: Term) -> dict[str, Any]:
    return {name: term[name] for name in ("sensitivity", "coordinate_sensitivity") if name in term}


def mechanism_of(term: Term) -> Any:
    return getattr(tn, term["mechanism"])(**term["parameters"])


def instance_of(term: Term) -> tn.InstanceCost:
    once = mechanism_of(term).cost_at(term["theta"], **changes_of(term))
    return once * term.get("count", 1)


def cost_of(term: Term) -> tn.Cost:
    """Return the cost of all releases that a term stands for."""
    sampling, rate = term.get("sampling", ["poisson", 1.0])
    adjacency = term["adjacency"] if rate < 1 and sampling == "fixed-size" else None
    if term["mechanism"] in PARAMETERS_OF:
        once = PARAMETERS_OF[term["mechanism"]](**term["parameters"], adjacency=adjacency)
    else:
        given = {**changes_of(term), "adjacency": adjacency}
        given |= {name: term[name] for name in ("angle", "domain") if name in term}
        once = mechanism_of(term).cost(**given)
    return (once.sampled(rate, sampling) if rate < 1 else once) * term.get("count", 1)


def calibrated(row: Row) -> float:
    """Return the measure of the best noise, or training, that meets the row's epsilon and delta."""
    (term,) = row["terms"]
    measure, budget, count = row["measure"], (row["epsilon"], row["delta"]), term.get("count", 1)
    sampling, rate = term.get("sampling", ["poisson", 1.0])
    if "sampling" in term and term["mechanism"] == "Gaussian":
        given = {
            "noise_multiplier": term["parameters"]["sigma"],
            "sampling_rate": rate,
            "steps": count,
        }
        del given[measure]
        return float(getattr(calibrate, measure)(*budget, **given))
    if "sampling" in term:  # directions on samples have no function of their own
        pair = {name: term[name] for name in ("angle",) if name in term}

        def training(noise: float) -> tn.Cost:
            once = tn.VonMisesFisher(1 / noise, **term["parameters"]).cost(**pair)
            return once.sampled(rate, sampling) * count

        return 1 / calibrate.parameter(training, *budget, bracket=(1e-3, 1e3))
    function = getattr(calibrate, CALIBRATED[term["mechanism"]])
    given = {**changes_of(term), **row.get("options", {}), **term["parameters"]}
    given |= {"angle": term["angle"]} if "angle" in term else {}
    given |= {"count": count} if count > 1 else {}
    known = inspect.signature(function).parameters
    found = function(*budget, **{name: value for name, value in given.items() if name in known})
    value = getattr(found, measure)
    return float(value() if callable(value) else value)
