"""What the package answers for a row of the golden table (`reference/golden.json`).

A row names what is released and what is asked, not how the package is called: only this file knows
that. A cost is the smallest one that any way of accounting proves.
"""

from __future__ import annotations

import functools
import math
import operator
import warnings
from typing import Any, NamedTuple

import numpy as np

import tightnoise as tn
from tightnoise import accounting, calibrate

__all__ = ["answer"]

Row = dict[str, Any]
Term = dict[str, Any]

GAUSSIANS = {"Gaussian", "RectifiedGaussian", "QuantizedGaussian", "StochasticSign"}
OF_GAUSSIAN = {*GAUSSIANS, "GaussianDP"}
DIRECTIONS = {"VonMisesFisher", "ProductVonMisesFisher"}
WITH_PROFILE = {
    "Gaussian", "Laplace", "TruncatedLaplace", "Tulap", "Staircase", "MultiGaussianMixture",
    "QuasiGaussianMixture", "GaussianScaleMixture", "VonMisesFisher", "LiftedVonMisesFisher",
}  # fmt: skip
WITHOUT_CURVE = {"TruncatedLaplace", "QuasiGaussianMixture"}
GUARANTEES = {"Pure", "Approximate", "ZeroConcentrated", "GaussianDP", "Renyi"}
POINTS = 10_000  # of a privacy profile
BEYOND = 1e-40  # the probability of privacy losses beyond its last point


def answer(row: Row) -> float:
    """Return the cost, or the measure of what is calibrated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that other orders may prove less
        if row["question"] == "calibrate":
            return calibrated(row)
        given = row["delta" if row["question"] == "epsilon" else "epsilon"]
        asked = [getattr(way, row["question"], None) for way in ways(row["terms"])]
        return float(min(ask(given) for ask in asked if ask))


def ways(terms: list[Term]) -> list[Any]:
    """Return objects with a method `epsilon` or `delta`, or both."""
    pair, guarantees = by_gdp(terms), by_guarantees(terms)
    found: list[Any] = [by_renyi(terms), pair, guarantees]
    if is_one_release(terms):
        found.append(profile_of(terms[0]))
    elif not guarantees and not {term["mechanism"] for term in terms} <= OF_GAUSSIAN:
        found.append(by_losses(terms))  # which takes long; the others are exact
    if len(terms) == 1:
        found.append(by_amplification(terms[0]))
    return [way for way in found if way is not None]


def is_one_release(terms: list[Term]) -> bool:
    return len(terms) == 1 and terms[0].get("count", 1) == 1 and "sampling" not in terms[0]


def mechanism_of(term: Term) -> Any:
    return getattr(tn, term["mechanism"])(**term["parameters"])


def l2_sensitivity(term: Term) -> float:
    if "sensitivity" in term:
        return term["sensitivity"]
    return math.hypot(*term["coordinate_sensitivity"]) * (1 + 1e-15)


def sampling_of(term: Term) -> dict[str, Any]:
    sampling, rate = term.get("sampling", ["poisson", 1.0])
    return {"sampling_rate": rate, "sampling": sampling}


def is_whole_line(term: Term) -> bool:
    """Whether the release is of any value, on all records."""
    return not {"theta", "domain", "sampling"} & term.keys()


# --- by Renyi divergences -------------------------------------------------------------------------


class Renyi(NamedTuple):
    curve: tn.RdpCurve

    def epsilon(self, delta: float) -> float:
        return self.curve.epsilon(delta) if delta else float(self.curve.at([np.inf]).values[0])

    def delta(self, epsilon: float) -> float:
        return self.curve.delta(epsilon)


def by_renyi(terms: list[Term]) -> Renyi | None:
    curves = [curve_of(term) for term in terms]
    if None in curves:
        return None
    counts = [term.get("count", 1) for term in terms]
    parts = [curve * count for curve, count in zip(curves, counts, strict=True)]
    return Renyi(functools.reduce(operator.add, parts))


def curve_of(term: Term) -> tn.RdpCurve | None:
    name, parameters = term["mechanism"], term["parameters"]
    if name in GUARANTEES:
        if name == "Approximate":
            return None
        if name == "GaussianDP":
            return accounting.gaussian_dp(parameters["mu"], **sampling_of(term))
        make = {"Pure": accounting.pure, "ZeroConcentrated": accounting.zcdp, "Renyi": tn.RdpCurve}
        return accounting.cost_of(make[name](**parameters), **sampling_of(term))
    if "domain" in term and name not in GAUSSIANS:
        return accounting.pure(domain_epsilon(term, 0.0))
    mechanism = mechanism_of(term)
    if "theta" in term:
        return mechanism.rdp(term["theta"], sensitivity=term["coordinate_sensitivity"])
    if name == "VonMisesFisher":
        angle = term.get("angle", math.pi)
        return accounting.sampled_von_mises_fisher(**parameters, angle=angle, **sampling_of(term))
    if name == "ProductVonMisesFisher" and "angle" in term:
        return mechanism.rdp(angle=term["angle"])
    if name in WITHOUT_CURVE or (name == "Tulap" and "bound" in parameters):
        return None
    sensitivity = 1.0 if name in DIRECTIONS else l2_sensitivity(term)
    return accounting.cost_of(mechanism, sensitivity=sensitivity, **sampling_of(term))


# --- by privacy losses ----------------------------------------------------------------------------


def by_losses(terms: list[Term]) -> tn.PrivacyLossDistribution | None:
    releases = [losses_of(term) if is_whole_line(term) else None for term in terms]
    if None in releases:
        return None
    counts = [term.get("count", 1) for term in terms]
    parts = [losses * count for losses, count in zip(releases, counts, strict=True)]
    return functools.reduce(operator.add, parts)


def losses_of(term: Term) -> tn.PrivacyLossDistribution | None:
    name, parameters = term["mechanism"], term["parameters"]
    if name in ("Pure", "Approximate"):
        epsilon, delta = parameters["epsilon"], parameters.get("delta", 0.0)
        at_zero = (delta + (1 - delta) * math.tanh(epsilon / 2)) * (1 + 1e-15)
        return tn.PrivacyLossDistribution.of_profile(epsilon, [at_zero, delta])
    if name in ("VonMisesFisher", "LiftedVonMisesFisher"):
        pair = profile_of(term)
        epsilons = np.linspace(0.0, pair.epsilon(BEYOND), POINTS)
        return tn.PrivacyLossDistribution.of_profile(epsilons[1], pair.delta(epsilons))
    mu = mu_of(term)
    if mu is not None:
        return accounting.privacy_loss(tn.Gaussian(math.nextafter(1 / mu, 0.0)))
    if name in GUARANTEES:
        return None
    return accounting.privacy_loss(mechanism_of(term), sensitivity=term["sensitivity"])


# --- by Gaussian differential privacy -------------------------------------------------------------


class GaussianPair(NamedTuple):
    mu: float

    def epsilon(self, delta: float) -> float:
        return accounting.gaussian_epsilon(delta, self.mu)

    def delta(self, epsilon: float) -> float:
        return accounting.gaussian_delta(epsilon, self.mu)


def by_gdp(terms: list[Term]) -> GaussianPair | None:
    squares = 0.0
    for term in terms:
        mu = None if {"theta", "sampling"} & term.keys() else mu_of(term)
        if mu is None:
            return None
        squares += term.get("count", 1) * mu**2
    return GaussianPair(math.sqrt(squares) * (1 + 1e-15))


def mu_of(term: Term) -> float | None:
    name = term["mechanism"]
    if name in GAUSSIANS:
        return l2_sensitivity(term) / term["parameters"]["sigma"]
    if name == "GaussianDP":
        return term["parameters"]["mu"]
    if name in DIRECTIONS:
        return mechanism_of(term).gdp_mu(angle=term.get("angle", math.pi))
    if name == "LiftedVonMisesFisher":
        return mechanism_of(term).gdp_mu(sensitivity=term["sensitivity"])
    return None


# --- by (epsilon, delta) guarantees ---------------------------------------------------------------


class Guarantees(NamedTuple):
    epsilons: list[float]
    deltas: list[float]
    counts: list[int]

    def epsilon(self, delta: float) -> float:
        return accounting.kairouz_oh_viswanath(*self, delta)

    def delta(self, epsilon: float) -> float:
        return accounting.kairouz_oh_viswanath_delta(*self, epsilon)


def by_guarantees(terms: list[Term]) -> Guarantees | None:
    found = [guarantee_of(term) for term in terms]
    if None in found:
        return None
    epsilons, deltas = zip(*found, strict=True)
    return Guarantees(list(epsilons), list(deltas), [term.get("count", 1) for term in terms])


def guarantee_of(term: Term) -> tuple[float, float] | None:
    parameters = term["parameters"]
    if "domain" in term:
        return domain_epsilon(term, 0.0), 0.0
    if term["mechanism"] not in ("Pure", "Approximate"):
        return None
    guarantee = parameters["epsilon"], parameters.get("delta", 0.0)
    if "sampling" not in term:
        return guarantee
    rate = term["sampling"][1]
    return accounting.amplified(*guarantee, rate, adjacency=term["adjacency"])


# --- of one release, or of one kind of sampled releases -------------------------------------------


class Profile(NamedTuple):
    epsilon: Any
    delta: Any


def profile_of(term: Term) -> Profile | None:
    """Return what one release costs to the last digit."""
    name = term["mechanism"]
    if "domain" in term:
        return Profile(lambda delta: domain_epsilon(term, delta), None)
    if "theta" in term or name not in WITH_PROFILE:
        return None
    mechanism, sensitivity = mechanism_of(term), term.get("sensitivity")
    if name == "VonMisesFisher":
        angle = term.get("angle", math.pi)
        return Profile(
            lambda delta: mechanism.epsilon(delta, angle),
            lambda epsilon: mechanism.hockey_stick(angle, epsilon),
        )
    if name == "LiftedVonMisesFisher":
        return Profile(
            lambda delta: mechanism.epsilon(delta, sensitivity),
            lambda epsilon: mechanism.hockey_stick(sensitivity, epsilon),
        )
    return Profile(
        lambda delta: mechanism.epsilon_at(delta, sensitivity),
        lambda epsilon: mechanism.delta(epsilon, sensitivity),
    )


def domain_epsilon(term: Term, delta: float) -> float:
    """Return the epsilon of one release of a value that lies in the bounds of the output."""
    parameters = term["parameters"]
    if term["mechanism"] == "BoundedLaplace":
        return calibrate.bounded_laplace_epsilon(parameters["scale"], *bounds_of(term))
    of = {
        "TruncatedGaussian": calibrate.truncated_gaussian_epsilon,
        "RectifiedGaussian": calibrate.rectified_gaussian_epsilon,
    }
    is_box = isinstance(parameters["lower"], list)
    at = 0.0 if is_box else delta  # the package has no delta for a box
    return of[term["mechanism"]](parameters["sigma"], *bounds_of(term), delta=at)


def bounds_of(term: Term) -> tuple[Any, Any, Any]:
    sensitivity = term.get("coordinate_sensitivity", term.get("sensitivity"))
    return term["parameters"]["lower"], term["parameters"]["upper"], sensitivity


class Amplified(NamedTuple):
    term: Term

    def epsilon(self, delta: float) -> float:
        term, rate = self.term, self.term["sampling"][1]
        whole = {name: term[name] for name in term if name not in ("sampling", "adjacency")}
        adjacency, count = term["adjacency"], term.get("count", 1)
        if count == 1 and delta < rate:
            loss = min(way.epsilon(delta / rate) for way in ways([whole]))
            return accounting.amplified(loss, delta / rate, rate, adjacency=adjacency)[0]
        curve = curve_of(whole)
        return accounting.amplified_composition(curve, rate, count, delta, adjacency=adjacency)


def by_amplification(term: Term) -> Amplified | None:
    if "sampling" not in term or term["mechanism"] == "Approximate" or term.get("count", 1) > 100:
        return None
    return Amplified(term)


# --- calibration ----------------------------------------------------------------------------------


def calibrated(row: Row) -> float:
    """Return the measure of the best noise, or training, that meets the row's epsilon and delta."""
    (term,) = row["terms"]
    found = CALIBRATED[term["mechanism"]](row, term)
    measure = getattr(found, row["measure"], found)
    return float(measure() if callable(measure) else measure)


def by_budget(function: Any) -> Any:
    """Return a call of `function(epsilon, delta, sensitivity)`, with the row's options."""

    def call(row: Row, term: Term) -> Any:
        budget = row["epsilon"], row["delta"], term["sensitivity"]
        return function(*budget, **row.get("options", {}))

    return call


def gaussian(row: Row, term: Term) -> float:
    count = term.get("count", 1)
    if "sampling" not in term:
        sensitivity = term["sensitivity"] * math.sqrt(count)
        return calibrate.gaussian(row["epsilon"], row["delta"], sensitivity=sensitivity)
    given = {
        "noise_multiplier": term["parameters"].get("sigma"),
        "sampling_rate": term["sampling"][1],
        "steps": count,
    }
    del given[row["measure"]]
    return getattr(calibrate, row["measure"])(row["epsilon"], row["delta"], **given)


def concentration(row: Row, term: Term) -> float:
    options = {"steps": term.get("count", 1), "angle": term.get("angle", math.pi)}
    dim = term["parameters"]["dim"]
    return calibrate.concentration(
        row["epsilon"], row["delta"], dim, **options, **sampling_of(term)
    )


def in_domain(function: Any) -> Any:
    """Return a call of one of the calibrations on bounded domains."""

    def call(row: Row, term: Term) -> float:
        options = {"delta": row["delta"]} if row["delta"] else {}
        return function(row["epsilon"], *bounds_of(term), **options)

    return call


CALIBRATED = {
    "Gaussian": gaussian,
    "Laplace": by_budget(calibrate.laplace),
    "TruncatedLaplace": by_budget(calibrate.truncated_laplace),
    "Tulap": by_budget(calibrate.tulap),
    "Staircase": by_budget(calibrate.staircase),
    "MultiGaussianMixture": by_budget(calibrate.multi_gaussian),
    "QuasiGaussianMixture": by_budget(calibrate.quasi_gaussian),
    "GaussianScaleMixture": by_budget(calibrate.gaussian_scale_mixture),
    "VonMisesFisher": concentration,
    "TruncatedGaussian": in_domain(calibrate.truncated_gaussian),
    "RectifiedGaussian": in_domain(calibrate.rectified_gaussian),
    "BoundedLaplace": in_domain(calibrate.bounded_laplace),
}
