"""Write golden.json: what this package proved before all costs became one `Cost` object.

Run `python -m reference.make_golden` from tests/. Needs mpmath; takes minutes.

The table was made with the version before that change, by the `golden_answers` of that version. It
says how little each release was known to cost then, so do not make it anew to pass a test: an
answer may fall, to the truth, and not rise. One row a line: the `terms` that are released (each a
mechanism, its parameters and sensitivity, its sampling and count), the question, the answer, and a
lower bound of the right answer, `truth`, where one is known.

- epsilon, delta: what `terms` cost together at the other of the two.
- calibrate: the `measure` of the least noise (or of the most steps, kappa, sampling) that meets
  both. Searched mixtures are rounded up to 6 digits, for optimisers differ between machines.

A term with `theta` is of that value, one with `domain` of any value there, others of any value.
What is absent has its default: count 1, no sampling, angle pi.
`exact_composition.json` holds rows [[law, parameters, count]...], delta, epsilon, computed with 18
digits by contour inversion: "sgm" sigma and Poisson rate at sensitivity 1, "gauss" mu, "lap" the
shift at scale 1, "rr" the epsilon of randomised response, "vmf" dim, kappa and Poisson rate of
opposite directions.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from golden_answers import answer
from mpmath import mp, mpf

from reference.golden_truths import calibration_truth, truth

HERE = Path(__file__).parent
TABLE = HERE / "golden.json"

Row = dict[str, Any]
Term = dict[str, Any]

GIVEN = {"epsilon": "delta", "delta": "epsilon"}


def term(mechanism: str, /, count: int = 1, **rest: Any) -> Term:
    """Return a term: what `rest` says of the release, and the parameters of the mechanism."""
    of_release = {
        "sensitivity", "coordinate_sensitivity", "sampling", "angle", "theta", "domain",
    }  # fmt: skip
    found: Term = {
        "mechanism": mechanism,
        "parameters": {name: rest[name] for name in rest if name not in of_release},
        **{name: rest[name] for name in rest if name in of_release},
    }
    if "sampling" in found:
        found["adjacency"] = ADJACENCY[found["sampling"][0]]
    return found if count == 1 else {**found, "count": count}


ADJACENCY = {"poisson": "add-remove", "fixed-size": "replace-one"}


def costs(terms: Term | list[Term], epsilon: Any = (), delta: Any = ()) -> Iterator[Row]:
    """Return rows: the delta at each epsilon, and the epsilon at each delta."""
    terms = terms if isinstance(terms, list) else [terms]
    for given, question in ((delta, "epsilon"), (epsilon, "delta")):
        for value in given if isinstance(given, (tuple, list)) else [given]:
            yield {"terms": terms, "question": question, GIVEN[question]: value}


# --- additive noise -------------------------------------------------------------------------------

MULTI = {"sigma": 0.36, "epsilon": 1.0, "sensitivity": 1.0, "modes": 5}
MULTI_TWO = {"sigma": 0.6, "epsilon": 2.0, "sensitivity": 2.0, "modes": 3}
QUASI = {"sigma": 1.8, "epsilon": 1.0, "sensitivity": 1.0}
QUASI_TWO = {"sigma": 0.5, "epsilon": 2.0, "sensitivity": 0.5}
SCALES = {"locations": [0.0, 1.0], "weights": [0.8, 0.2], "sigmas": [0.5, 0.7]}
STAIRS = {"epsilon": 1.0, "sensitivity": 1.0, "gamma": 0.4}
STEEP_STAIRS = {"epsilon": 4.0, "sensitivity": 2.0, "gamma": 0.1}


def noise(mechanism: str, parameters: dict[str, Any], sensitivity: float, count: int = 1) -> Term:
    """Return a term whose parameters may be called as what a term says of the release."""
    return {**term(mechanism, count, sensitivity=sensitivity), "parameters": parameters}


def additive() -> Iterator[Row]:
    for sigma, c in ((1.0, 1.0), (5.0, 1.0), (0.3, 2.0)):
        yield from costs(noise("Gaussian", {"sigma": sigma}, c), [1.0], [1e-2, 1e-12])
    for scale, c in ((1.0, 1.0), (2.0, 1.0), (0.5, 3.0)):
        yield from costs(noise("Laplace", {"scale": scale}, c), [0.1], [0.0, 1e-2])
    for bound, c in ((10.0, 1.0), (4.0, 0.5)):
        cut = noise("TruncatedLaplace", {"scale": 1.0, "bound": bound}, c)
        yield from costs(cut, [0.1, 1.0, 3.0], [0.05])
    for tulap, c in (({"bound": 7.0}, 1.0), ({}, 1.0), ({}, 2.5)):
        law = noise("Tulap", {"epsilon": 1.0, "sensitivity": 1.0, **tulap}, c)
        yield from costs(law, [0.5], [1e-2])
    for stairs, c in ((STAIRS, 1.0), (STAIRS, 0.3), (STEEP_STAIRS, 3.0)):
        yield from costs(noise("Staircase", stairs, c), [0.5], [0.0, 1e-3])
    for multi, c in ((MULTI, 1.0), (MULTI, 0.5), (MULTI_TWO, 2.0)):
        yield from costs(noise("MultiGaussianMixture", multi, c), [0.5, 1.5], [1e-4])
    for quasi, c in ((QUASI, 1.0), (QUASI, 0.4), (QUASI_TWO, 0.5)):
        yield from costs(noise("QuasiGaussianMixture", quasi, c), [0.5, 1.5], [1e-4])
    for c in (1.0, 0.2):
        yield from costs(noise("GaussianScaleMixture", SCALES, c), [1.0], [1e-2, 1e-6])


def additive_composed() -> Iterator[Row]:
    for sigma, count, epsilon in ((5.0, 10, 1.0), (20.0, 100, 1.0), (1.0, 10_000, 5000.0)):
        yield from costs(noise("Gaussian", {"sigma": sigma}, 1.0, count), [epsilon], [1e-10])
    for scale, count in ((2.0, 10), (5.0, 10_000)):
        yield from costs(noise("Laplace", {"scale": scale}, 1.0, count), [], [1e-6])
    yield from costs(noise("Laplace", {"scale": 100.0}, 1.0, 10_000), [2.0], [])
    yield from costs(noise("Laplace", {"scale": 1.0}, 1.0, 100), [], [0.0])
    cut = noise("TruncatedLaplace", {"scale": 1.0, "bound": 20.0}, 0.5, 10)
    yield from costs(cut, [3.0], [])
    for bound, count in (({"bound": 40.0}, 10), ({}, 10)):
        law = noise("Tulap", {"epsilon": 0.5, "sensitivity": 1.0, **bound}, 1.0, count)
        yield from costs(law, [], [1e-4])
    yield from costs(noise("Staircase", STAIRS, 0.3, 10), [2.0], [])
    yield from costs(noise("Staircase", STAIRS, 0.3, 100), [], [1e-5])
    yield from costs(noise("Staircase", STAIRS, 1e-3, 10_000), [], [1e-5])
    for count in (10, 100):
        yield from costs(noise("MultiGaussianMixture", MULTI, 1.0, count), [], [1e-3])
        yield from costs(noise("QuasiGaussianMixture", QUASI, 0.5, count), [], [1e-3])
    yield from costs(noise("GaussianScaleMixture", SCALES, 0.1, 100), [], [1e-3])


# --- bounded support ------------------------------------------------------------------------------

LINE = {"sigma": 2.0, "lower": -1.0, "upper": 1.0}


def functions_of_gaussian() -> Iterator[Row]:
    for count in (1, 10, 1000):
        yield from costs(noise("RectifiedGaussian", LINE, 1.0, count), [], [1e-6])
    yield from costs(noise("QuantizedGaussian", {**LINE, "levels": 4}, 1.0, 100), [5.0], [])
    yield from costs(noise("StochasticSign", {"sigma": 8.0}, 2.0, 100), [], [1e-6])


def instances() -> Iterator[Row]:
    bounds = {"sigma": 1.0, "lower": -1.0, "upper": 1.0}
    laws = {
        "Gaussian": {"sigma": 1.0},
        "TruncatedGaussian": bounds,
        "RectifiedGaussian": bounds,
        "QuantizedGaussian": {**bounds, "levels": 3},
        "StochasticSign": {"sigma": 1.0},
        "BoundedLaplace": {"scale": 1.0, "lower": -1.0, "upper": 1.0},
    }
    for name, parameters in laws.items():
        few = term(name, theta=[0.2, -0.9, 0.5, 1.5], coordinate_sensitivity=0.1)
        one = term(name, theta=[0.3], coordinate_sensitivity=1.0)
        yield from costs({**few, "parameters": parameters}, [], [1e-5])
        yield from costs({**one, "parameters": parameters}, [0.5], [1e-3])


def domains() -> Iterator[Row]:
    intervals = [(0.0, 10.0, 1.0, 3.0), (0.0, 10.0, 1.0, 0.5), (-1.0, 1.0, 2.0, 0.5),
                 (0.0, 1.0, 1e-3, 0.1)]  # fmt: skip
    for low, high, c, scale in intervals:
        of = {"sensitivity": c, "domain": [low, high], "lower": low, "upper": high}
        for name in ("TruncatedGaussian", "RectifiedGaussian"):
            yield from costs(term(name, sigma=scale, **of), [], [0.0, 1e-4])
        yield from costs(term("BoundedLaplace", scale=scale, **of), [], [0.0])
    one = {"sensitivity": 1.0, "domain": [0.0, 10.0], "lower": 0.0, "upper": 10.0}
    for count in (10, 100):
        yield from costs(term("TruncatedGaussian", count, sigma=20.0, **one), [], [1e-6])
        yield from costs(term("RectifiedGaussian", count, sigma=20.0, **one), [], [1e-6])
        yield from costs(term("BoundedLaplace", count, scale=20.0, **one), [], [1e-6])
    low, high = [0.0, -1.0, 0.0], [1.0, 1.0, 5.0]
    box = {"lower": low, "upper": high, "domain": [low, high]}
    for name in ("TruncatedGaussian", "RectifiedGaussian"):
        yield from costs(term(name, sigma=2.0, **box, sensitivity=1.0), [], [0.0])
        yield from costs(term(name, sigma=2.0, **box, coordinate_sensitivity=[0.5] * 3), [], [0.0])
    by_each = {"sensitivity": 1.0, "lower": low, "upper": high, "domain": [low, high]}
    yield from costs(term("BoundedLaplace", scale=2.0, **by_each), [], [0.0])


# --- directions -----------------------------------------------------------------------------------


def directions() -> Iterator[Row]:
    for dim, kappa in ((3, 2.0), (100, 5.0), (784, 20.0), (13_700, 75.0)):
        for angle in (math.pi, 1.0, 0.1):
            turned = term("VonMisesFisher", kappa=kappa, dim=dim, angle=angle)
            yield from costs(turned, [0.1], [1e-5])
    for dim, kappa, count in ((3, 2.0, 10), (784, 20.0, 1000)):
        many = term("VonMisesFisher", count, kappa=kappa, dim=dim, angle=0.2)
        yield from costs(many, [], [1e-6])
    for dim, kappa, epsilon, delta in VMF_PROFILES:
        row = term("VonMisesFisher", kappa=kappa, dim=dim, angle=math.pi)
        yield {"terms": [row], "question": "delta", "epsilon": epsilon, "truth": float(delta)}
    for count in (1, 100):
        lifted = term(
            "LiftedVonMisesFisher", count, kappa=300.0, dim=13_700, anchor=8.0, sensitivity=1.0
        )
        yield from costs(lifted, [0.5] if count == 1 else [], [1e-5])
    blocks = {"kappas": [20.0, 4.1, 0.8], "dims": [12_800, 750, 150]}
    for count, angle in ((1, math.pi), (100, math.pi), (1, 0.5), (100, 0.5)):
        yield from costs(term("ProductVonMisesFisher", count, **blocks, angle=angle), [], [1e-5])


VMF_PROFILES = [
    (100, 4.618581037729466, 0.0, "0.35647171149879557838"),
    (1539, 1.9294668118513687, 0.18008203922470759, "0.0014172824867646983592"),
    (10, 0.3621459542924446, 0.6635138299877102, "5.8017052202472081144e-7"),
    (30, 9.960164334133633, 16.618878402642746, "5.3396229858323736604e-7"),
    (12, 0.268118984430253, 0.3253721624236014, "0.00059847839835057457308"),
]  # rows of vmf_profile.json


# --- samples --------------------------------------------------------------------------------------


def sampled_gaussian(sigma: float, rate: float, steps: int, method: str = "poisson") -> Term:
    # A record that is replaced changes a clipped sum by twice what one does that comes or goes.
    change = 1.0 if method == "poisson" else 2.0
    return term("Gaussian", steps, sigma=sigma, sensitivity=change, sampling=[method, rate])


def dp_sgd() -> Iterator[Row]:
    settings = [
        (0.5, 1e-4, 1000, 1e-5), (0.5, 0.01, 100, 1e-5), (0.5, 0.3, 10, 1e-3),
        (0.6, 1e-3, 10_000, 1e-6), (0.7, 0.01, 1, 1e-5), (0.7, 0.05, 100, 1e-8),
        (0.8, 1e-3, 100_000, 1e-6), (0.8, 0.004, 15_000, 1e-5), (0.9, 0.1, 1, 1e-4),
        (1.0, 0.01, 1, 1e-6), (1.0, 0.01, 1, 1e-3), (1.0, 0.01, 10, 1e-6), (1.0, 0.01, 100, 1e-6),
        (1.0, 0.01, 10_000, 1e-2), (1.0, 0.01, 10_000, 1e-12), (1.0, 0.5, 1, 1e-5),
        (1.0, 0.5, 100, 1e-5), (1.0, 1e-4, 1_000_000, 1e-8), (1.1, 0.004, 3000, 1e-5),
        (1.1, 256 / 60_000, 14_040, 1e-5), (1.3, 0.02, 2000, 1e-9), (1.5, 0.1, 300, 1e-5),
        (1.5, 1e-3, 100_000, 1e-10), (2.0, 0.01, 10_000, 1e-6), (2.0, 0.2, 1000, 1e-6),
        (2.0, 0.5, 10, 1e-2), (3.0, 0.03, 1, 1e-5), (3.0, 0.03, 5000, 1e-7),
        (4.0, 0.1, 10_000, 1e-6), (5.0, 0.5, 1000, 1e-5), (5.0, 0.05, 100_000, 1e-9),
        (8.0, 0.25, 2000, 1e-12), (10.0, 0.01, 1_000_000, 1e-8), (10.0, 0.5, 100, 1e-5),
        (15.0, 0.1, 100_000, 1e-6), (20.0, 0.5, 10_000, 1e-6), (20.0, 1e-3, 1_000_000, 1e-6),
    ]  # fmt: skip
    for sigma, rate, steps, delta in settings:
        yield from costs(sampled_gaussian(sigma, rate, steps), [], [delta])
    for sigma, rate, steps, epsilon in DELTAS_OF_TRAININGS:
        yield from costs(sampled_gaussian(sigma, rate, steps), [epsilon], [])
    fixed = [
        (0.5, 0.01, 10, 1e-5), (1.0, 0.01, 1, 1e-6), (1.0, 0.01, 1000, 1e-6), (1.0, 0.1, 10, 1e-3),
        (2.0, 0.01, 10_000, 1e-6), (2.0, 1e-3, 100_000, 1e-8), (2.0, 0.5, 10, 1e-5),
        (4.0, 0.05, 1000, 1e-5), (8.0, 0.1, 10_000, 1e-6), (20.0, 0.01, 1_000_000, 1e-9),
    ]  # fmt: skip
    for sigma, rate, steps, delta in fixed:
        yield from costs(sampled_gaussian(sigma, rate, steps, "fixed-size"), [], [delta])
    yield from costs(sampled_gaussian(2.0, 0.01, 1000, "fixed-size"), [1.0], [])


DELTAS_OF_TRAININGS = [
    (0.7, 0.01, 100, 3.0), (1.0, 0.01, 1, 0.5), (1.0, 0.01, 10_000, 8.0), (1.0, 0.1, 10, 2.0),
    (2.0, 0.05, 1000, 3.0), (5.0, 0.01, 100_000, 5.0), (10.0, 0.5, 100, 4.0),
    (20.0, 0.01, 10_000, 0.1),
]  # fmt: skip


def sampled_others() -> Iterator[Row]:
    for method, rate in itertools.product(("poisson", "fixed-size"), (1e-3, 0.05)):
        sampling = {"sampling": [method, rate]}
        for kappa, dim, angle in ((75.0, 13_700, math.pi), (5.0, 50, 1.0)):
            law = {"kappa": kappa, "dim": dim, "angle": angle}
            for count in (1, 1000):
                yield from costs(term("VonMisesFisher", count, **law, **sampling), [], [1e-6])
        lifted = {"kappa": 300.0, "dim": 13_700, "anchor": 8.0, "sensitivity": 1.0}
        yield from costs(term("LiftedVonMisesFisher", 1000, **lifted, **sampling), [], [1e-6])
        blocks = {"kappas": [20.0, 4.1], "dims": [12_800, 750]}
        yield from costs(term("ProductVonMisesFisher", 100, **blocks, **sampling), [], [1e-6])
        for count in (1, 1000):
            laplace = term("Laplace", count, scale=1.0, sensitivity=1.0, **sampling)
            yield from costs(laplace, [], [1e-6])
            pure = term("Pure", count, epsilon=1.0, **sampling)
            yield from costs(pure, [], [1e-6])
        rough = term("Approximate", 100, epsilon=1.0, delta=1e-8, **sampling)
        yield from costs(rough, [], [1e-5])
        gdp = term("GaussianDP", 1000, mu=0.5, **sampling)
        yield from costs(gdp, [], [1e-6])


# --- guarantees and sums --------------------------------------------------------------------------


def guarantees() -> Iterator[Row]:
    for epsilon, count in ((1.0, 1), (0.1, 10), (0.5, 100), (0.01, 1000), (0.1, 10_000)):
        yield from costs(term("Pure", count, epsilon=epsilon), [0.5], [1e-6])
    for epsilon, delta, count in ((1.0, 1e-6, 1), (0.5, 1e-8, 10), (0.1, 1e-9, 1000)):
        yield from costs(term("Approximate", count, epsilon=epsilon, delta=delta), [1.0], [1e-5])
    for rho, count in ((0.5, 1), (0.01, 100), (1e-4, 100)):
        yield from costs(term("ZeroConcentrated", count, rho=rho), [2.0], [1e-6])
    for mu, count in ((1.0, 1), (0.1, 100), (0.01, 10_000)):
        yield from costs(term("GaussianDP", count, mu=mu), [2.0], [1e-6])
    table = {"alphas": [1.5, 2.0, 4.0, 16.0], "values": [0.01, 0.013, 0.03, 0.14]}
    yield from costs(term("Renyi", 10, **table), [1.0], [1e-5])


def sums() -> Iterator[Row]:
    gaussian = noise("Gaussian", {"sigma": 5.0}, 1.0, 10)
    laplace = noise("Laplace", {"scale": 4.0}, 1.0, 5)
    pure = term("Pure", 20, epsilon=0.1)
    rough = term("Approximate", 10, epsilon=0.2, delta=1e-8)
    training = sampled_gaussian(1.0, 0.01, 1000)
    stairs = noise("Staircase", STAIRS, 0.3, 7)
    direction = term("VonMisesFisher", 10, kappa=20.0, dim=784, angle=0.5)
    together = [
        [gaussian, laplace, stairs], [pure, rough], [training, gaussian], [training, laplace],
        [training, pure], [training, sampled_gaussian(2.0, 0.1, 100)],
        [gaussian, noise("Gaussian", {"sigma": 1.0}, 0.5)],
        [gaussian, term("ZeroConcentrated", rho=0.01), pure],
    ]  # fmt: skip
    for terms in together:
        yield from costs(terms, [2.0], [1e-6])
    slow = [
        [gaussian, laplace], [gaussian, pure], [laplace, rough],
        [direction, gaussian], [direction, laplace],
        [noise("MultiGaussianMixture", MULTI, 0.5, 2), laplace],
    ]  # fmt: skip
    for terms in slow:
        yield from costs(terms, [], [1e-6])


def exact_compositions() -> Iterator[Row]:
    laws = {
        "sgm": lambda sigma, rate: sampled_gaussian(sigma, rate, 1),
        "gauss": lambda mu: noise("Gaussian", {"sigma": 1.0}, mu),
        "lap": lambda shift: noise("Laplace", {"scale": 1.0}, shift),
        "rr": lambda epsilon: term("Pure", epsilon=epsilon),
        "vmf": lambda dim, kappa, rate: term(
            "VonMisesFisher", kappa=kappa, dim=int(dim), sampling=["poisson", rate]
        ),
    }
    for parts, delta, epsilon in json.loads((HERE / "exact_composition.json").read_text()):
        terms = [{**laws[law](*numbers), "count": count} for law, numbers, count in parts]
        row = {"terms": terms, "question": "epsilon", "delta": float(delta)}
        yield {**row, "truth": float(epsilon)}
        if len(terms) == 1 and terms[0]["count"] <= 1000:
            row = {"terms": terms, "question": "delta", "epsilon": float(epsilon)}
            yield {**row, "truth": float(delta)}


# --- calibration ----------------------------------------------------------------------------------


def calibrations() -> Iterator[Row]:
    def best(of: Term, measure: str, epsilon: float, delta: float, **options: Any) -> Row:
        row = {"terms": [of], "question": "calibrate", "epsilon": epsilon, "delta": delta}
        return {**row, "measure": measure, **({"options": options} if options else {})}

    for epsilon, delta, count in ((1.0, 1e-5, 1), (0.1, 1e-10, 1), (8.0, 1e-6, 1), (1.0, 1e-6, 50)):
        yield best(term("Gaussian", count, sensitivity=1.0), "sigma", epsilon, delta)
    for epsilon, delta in ((1.0, 0.0), (0.1, 1e-6), (3.0, 0.05)):
        for name in ("Laplace", "Staircase", "Tulap"):
            yield best(term(name, sensitivity=2.0), "mean_abs", epsilon, delta)
    yield best(term("Staircase", sensitivity=1.0), "var", 1.0, 0.0, loss="l2")
    for epsilon, delta in ((1.0, 1e-5), (0.2, 1e-3), (4.0, 1e-6)):
        yield best(term("TruncatedLaplace", sensitivity=1.0), "mean_abs", epsilon, delta)
        for loss, measure in (("l1", "mean_abs"), ("l2", "var")):
            multi = term("MultiGaussianMixture", sensitivity=1.0)
            yield best(multi, measure, epsilon, delta, loss=loss)
    for epsilon, delta in ((1.0, 1e-5), (2.0, 1e-2), (4.0, 1e-6)):
        yield best(term("QuasiGaussianMixture", sensitivity=1.0), "mean_abs", epsilon, delta)
    scales = term("GaussianScaleMixture", sensitivity=1.0)
    yield best(scales, "mean_abs", 6.0, 1e-6, effort=1, components=2)
    for epsilon, delta, angle in (
        (1.0, 1e-5, math.pi), (1.0, 0.0, math.pi), (4.0, 1e-8, 1.0), (0.5, 1e-6, 0.1)
    ):  # fmt: skip
        yield best(term("VonMisesFisher", dim=784, angle=angle), "kappa", epsilon, delta)
    many = term("VonMisesFisher", 1000, dim=784, sampling=["poisson", 0.01])
    yield best(many, "kappa", 2.0, 1e-6)
    yield best({**many, "sampling": ["fixed-size", 0.01], "adjacency": "replace-one"}, "kappa", 2.0,
               1e-6)  # fmt: skip
    bounds = {"lower": 0.0, "upper": 10.0, "sensitivity": 1.0, "domain": [0.0, 10.0]}
    for epsilon in (0.1, 1.0, 5.0):
        yield best(term("TruncatedGaussian", **bounds), "sigma", epsilon, 0.0)
        yield best(term("RectifiedGaussian", **bounds), "sigma", epsilon, 0.0)
        yield best(term("BoundedLaplace", **bounds), "scale", epsilon, 0.0)
    yield best(term("TruncatedGaussian", **bounds), "sigma", 1.0, 1e-5)
    yield best(term("RectifiedGaussian", **bounds), "sigma", 1.0, 1e-5)
    trainings = [
        (2.503333, 0.01, 10_000, 2.0, 1e-6), (1.0, 0.01, 10_000, 8.0, 1e-6),
        (0.7, 0.001, 1000, 3.0, 1e-8),
    ]  # fmt: skip
    for sigma, rate, steps, epsilon, delta in trainings:
        yield from training_rows(sigma, rate, steps, epsilon, delta, {})
    for parts, delta, epsilon in json.loads((HERE / "exact_composition.json").read_text())[3:7]:
        ((_, (sigma, rate), steps),) = parts
        # What costs exactly this is the best that any accounting can find.
        truths = {"noise_multiplier": sigma, "steps": steps, "sampling_rate": rate}
        yield from training_rows(sigma, rate, steps, float(epsilon), float(delta), truths)


def training_rows(
    sigma: float, rate: float, steps: int, epsilon: float, delta: float, truths: dict[str, float]
) -> Iterator[Row]:
    """Return rows that ask for each of three numbers, given the other two."""
    whole = sampled_gaussian(sigma, rate, steps)
    for measure in ("noise_multiplier", "steps", "sampling_rate"):
        row = {"terms": [whole], "question": "calibrate", "measure": measure}
        known = {"truth": truths[measure]} if truths else {}
        yield {**row, "epsilon": epsilon, "delta": delta, **known}


# --- the table ------------------------------------------------------------------------------------

SEARCHED = ("MultiGaussianMixture", "GaussianScaleMixture", "Staircase")
GROUPS = (
    additive, additive_composed, functions_of_gaussian, instances, domains, directions, dp_sgd,
    sampled_others, guarantees, sums, exact_compositions, calibrations,
)  # fmt: skip


def completed(row: Row) -> Row:
    """Return the row with its answer and its truth."""
    found = answer(row)
    if row["question"] == "calibrate" and row["terms"][0]["mechanism"] in SEARCHED:
        with mp.workdps(30):
            digits = 5 - math.floor(math.log10(found))
            found = float(mp.ceil(mpf(found) * mpf(10) ** digits) / mpf(10) ** digits)
    below = row.pop("truth", None)
    if below is None:
        below = calibration_truth(row) if row["question"] == "calibrate" else truth(row)
    return {**row, "answer": found, "truth": below}


def main() -> None:
    """Ask, compute, write."""
    rows = [completed(row) for group in GROUPS for row in group()]
    TABLE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
