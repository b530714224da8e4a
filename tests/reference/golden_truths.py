"""Numbers that no cost may be below, for rows of the golden table: from definitions, not from us.

Closed forms and binomials by mpmath, hockey-stick divergences of single pairs, and compositions by
the inversion of the characteristic function of the privacy loss. A divergence of any one pair of
neighbours is a lower bound of the truth, so the direction of the pair and its place may be simple.

`python -m reference.golden_truths`, from tests/, compares them with those of the table. It needs
mpmath, and takes minutes. Other truths of the table are a training's own parameters, rows of
vmf_profile.json, and those of exact_composition.json: rows [[law, parameters, count]...], delta,
epsilon, computed with 18 digits by contour inversion, where "sgm" is sigma and Poisson rate at
sensitivity 1, "gauss" mu, "lap" the shift at scale 1, "rr" the epsilon of randomised response, and
"vmf" dim, kappa and Poisson rate of opposite directions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mpmath import mp, mpf
from numpy.typing import NDArray

from reference.bounded_gaussian import Case, hockey_stick_at_once
from reference.bounded_losses import DIGITS, FAMILIES
from reference.gaussian_mixtures import QuasiGaussian, divergence, multi_gaussian
from reference.gaussian_profile import profile

Row = dict[str, Any]
Term = dict[str, Any]
Array = NDArray[np.float64]
Profile = Callable[[mpf], mpf]  # delta of epsilon

MIXTURES = {"MultiGaussianMixture", "QuasiGaussianMixture"}
FAMILY = {
    "TruncatedGaussian": "truncated",
    "RectifiedGaussian": "rectified",
    "QuantizedGaussian": "quantized",
    "StochasticSign": "sign",
    "BoundedLaplace": "bounded_laplace",
}


def truth(row: Row) -> float | None:
    """Return a lower bound of the right answer of a question for epsilon or delta, if one is known.

    Not above it by more than the rounding to a float; no one is known where the answer is 0.
    """
    if row["question"] == "epsilon" and row["terms"][0]["mechanism"] in MIXTURES:
        return None  # bisection takes too long
    with mp.workdps(40):
        delta_of = exact_profile(row["terms"])
        error = 0.0
        if delta_of is None:
            delta_of, error = inverted_profile(row), inversion_error(row["terms"])
        if delta_of is None:
            return None
        if row["question"] == "delta":
            value = delta_of(mpf(row["epsilon"]))
        else:
            value = epsilon_of(delta_of, mpf(row["delta"]))
    return float(value) * (1 - error) if value > 0 else None


def epsilon_of(delta_of: Profile, delta: mpf) -> mpf:
    """Return the smallest epsilon >= 0 with delta_of(epsilon) <= delta, by bisection."""
    low, high = mpf(0), mpf(1)
    if delta_of(low) <= delta:
        return low
    while delta_of(high) > delta:
        low, high = high, 2 * high
        if high > 1e6:
            return low
    while high - low > mpf(10) ** -18 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle) > delta else (low, middle)
    return low


# --- one release, or one that stands for all ------------------------------------------------------


def exact_profile(terms: list[Term]) -> Profile | None:
    """Return a lower bound of delta as a function of epsilon."""
    names = {term["mechanism"] for term in terms}
    plain = not any({"sampling", "theta", "domain"} & term.keys() for term in terms)
    if plain and names <= {"Gaussian", "GaussianDP", "ZeroConcentrated"}:
        mu = mp.sqrt(sum(term.get("count", 1) * mu_squared(term) for term in terms))
        return lambda epsilon: profile(epsilon, mu)[0]
    if len(terms) != 1:
        return None
    (term,) = terms
    count = term.get("count", 1)
    if plain and names <= {"Pure", "Approximate"} and count <= 2000:
        return responses(term["parameters"], count)
    if count != 1:
        return None
    if "sampling" in term:
        method, rate = term["sampling"][0], mpf(term["sampling"][1])
        whole = exact_profile([{k: v for k, v in term.items() if k != "sampling"}])
        if method != "poisson" or whole is None:
            return None
        return lambda epsilon: rate * whole(mp.log1p(mp.expm1(epsilon) / rate))
    return one_release(term)


def mu_squared(term: Term) -> mpf:
    parameters = term["parameters"]
    if term["mechanism"] == "Gaussian":
        return (mpf(term["sensitivity"]) / mpf(parameters["sigma"])) ** 2
    if term["mechanism"] == "GaussianDP":
        return mpf(parameters["mu"]) ** 2
    return 2 * mpf(parameters["rho"])  # the Gaussian is one that is rho-zCDP


def responses(parameters: dict[str, float], count: int) -> Profile:
    """Return the profile of responses that may fail, Kairouz, Oh and Viswanath (2017) 3.3."""
    each, failure = mpf(parameters["epsilon"]), mpf(parameters.get("delta", 0.0))
    true = 1 / (1 + mp.exp(-each))
    masses = [mp.binomial(count, k) * true**k * (1 - true) ** (count - k) for k in range(count + 1)]

    def delta_of(epsilon: mpf) -> mpf:
        beyond = mp.fsum(
            -mass * mp.expm1(epsilon - (2 * k - count) * each)
            for k, mass in enumerate(masses)
            if (2 * k - count) * each > epsilon
        )
        return 1 - (1 - failure) ** count * (1 - beyond)

    return delta_of


def one_release(term: Term) -> Profile | None:
    name, parameters = term["mechanism"], term["parameters"]
    if "theta" in term:
        return pair_profile(term)
    if "domain" in term:
        return domain_profile(term)
    if name in MIXTURES:
        return mixture_profile(term)
    c = mpf(term.get("sensitivity", 1.0))
    if name == "Laplace":
        b = mpf(parameters["scale"])
        return lambda epsilon: max(-mp.expm1((epsilon - c / b) / 2), mpf(0))
    if name == "TruncatedLaplace":
        b, bound = mpf(parameters["scale"]), mpf(parameters["bound"])
        return lambda epsilon: (
            (mp.exp((c - bound) / b) - mp.exp(-bound / b)) / (-2 * mp.expm1(-bound / b))
        )
    return None


def pair_profile(term: Term) -> Profile | None:
    """Return the largest divergence of one number's law and its neighbours' at either side."""
    parameters, name = term["parameters"], FAMILY.get(term["mechanism"])
    if len(term["theta"]) > 1 or name in (None, "bounded_laplace"):
        return None
    (theta,), c = term["theta"], term["coordinate_sensitivity"]
    case = Case(name, theta, **parameters)
    pairs = [(case, c), (case, -c)]
    pairs += [(case._replace(theta=theta + shift), -shift) for _, shift in pairs]
    return lambda epsilon: max(hockey_stick_at_once(*pair, epsilon, digits=60) for pair in pairs)


def domain_profile(term: Term) -> Profile | None:
    """Return the divergence of the values at and next to one end of an interval.

    From the loss of that pair on, at which the package answers for delta = 0, there is none.
    """
    parameters, name = term["parameters"], FAMILY[term["mechanism"]]
    if isinstance(parameters["lower"], list):
        return None
    scale = parameters.get("sigma", parameters.get("scale"))
    width, c = parameters["upper"] - parameters["lower"], term["sensitivity"]
    with mp.workdps(DIGITS):
        largest = FAMILIES[name](mpf(c) / mpf(scale), mpf(width) / mpf(scale))[0]
    if name == "bounded_laplace":
        return lambda epsilon: mpf(epsilon < largest) * mpf(10) ** -300
    pairs = [(Case(name, 0.0, scale, 0.0, width), c), (Case(name, c, scale, 0.0, width), -c)]

    def delta_of(epsilon: mpf) -> mpf:
        if epsilon >= largest:
            return mpf(0)
        found = max(hockey_stick_at_once(*pair, epsilon, digits=90) for pair in pairs)
        return max(found, mpf(10) ** -300)

    return delta_of


def mixture_profile(term: Term) -> Profile:
    """Return the divergence of two values that are as far apart as they may be."""
    parameters = term["parameters"]
    law = (multi_gaussian if "modes" in parameters else QuasiGaussian)(**parameters)
    return lambda epsilon: divergence(law, term["sensitivity"], epsilon)


# --- compositions ---------------------------------------------------------------------------------

TILTS = np.geomspace(1e-2, 400.0, 200)
NEGLIGIBLE = 38.0  # in exponents
MOST_FREQUENCIES, AT_ONCE = 16384, 256


def inversion_error(terms: list[Term]) -> float:
    """Return ten times the relative error that float64 leaves, measured against 18 digits."""
    return 1e-9 + 1e-11 * sum(term.get("count", 1) for term in terms)


def inverted_profile(row: Row) -> Profile | None:
    """Return delta by inversion along a line in the complex plane; None where that takes too long.

    With M(z) = E exp(z L) and any c > 0, delta(epsilon) is the integral over t > 0 of the real part
    of M(z) exp(-z epsilon)/(z (z + 1)) at z = c + i t, divided by pi: here by the trapezoidal rule,
    which adds the same of epsilon shifted by multiples of 2 pi/step.
    """
    terms = row["terms"]
    logs = [log_moments(term) for term in terms]
    if None in logs or row.get("delta") == 0:
        return None

    def exponent(z: Any) -> Any:
        total = sum(term.get("count", 1) * log(z) for term, log in zip(terms, logs, strict=True))
        return total - np.log(z) - np.log(z + 1)

    # exp(K(c) - c epsilon), about delta, is least at the saddle point.
    bounds = exponent(TILTS.astype(complex)).real
    if row["question"] == "delta":
        epsilon = row["epsilon"]
        best = int(np.argmin((bounds - TILTS * epsilon)[:-20]))
        failure = TILTS[best] * epsilon - bounds[best]
    else:
        failure = -math.log(row["delta"])
        best = int(np.argmin(((bounds + failure) / TILTS)[:-20]))
        epsilon = (bounds[best] + failure) / TILTS[best]
    tilt = float(TILTS[best])
    # Where delta shifted up by the span, times exp(c span), and exp(-c span) itself are negligible.
    above = TILTS[best + 1 :] - tilt
    rise = bounds[best + 1 :] - bounds[best] - above * epsilon
    span = max(((rise + NEGLIGIBLE) / above).min(), (NEGLIGIBLE + abs(failure)) / tilt)
    step = 2 * math.pi / span

    found: list[Any] = []
    for start in range(0, MOST_FREQUENCIES, AT_ONCE):
        found.append(exponent(tilt + 1j * step * np.arange(start, start + AT_ONCE)))
        if found[-1].real.max() < bounds[best] - NEGLIGIBLE:
            break
    else:
        return None
    exponents = np.concatenate(found)
    z = tilt + 1j * step * np.arange(exponents.size)
    weights = np.exp(exponents - bounds[best])
    weights[0] /= 2

    def delta_of(epsilon: mpf) -> mpf:
        e = float(epsilon)
        total = float(np.sum((weights * np.exp(-(z - tilt) * e)).real)) * step / math.pi
        return total * mp.exp(bounds[best] - tilt * e)

    return delta_of


def log_moments(term: Term) -> Callable[[Any], Any] | None:
    """Return log E exp(z L) of one release, as a function of an array of complex z."""
    method, rate = term.get("sampling", ["poisson", 1.0])
    if method != "poisson" or {"theta", "domain"} & term.keys():
        return None
    if term["mechanism"] == "Gaussian":
        sigma = term["parameters"]["sigma"] / term["sensitivity"]
        return lambda z: np.array([gaussian_log_moment(at, sigma, rate) for at in z])
    if term["mechanism"] == "Laplace" and rate == 1:
        loss = term["sensitivity"] / term["parameters"]["scale"]
        return lambda z: (
            z * loss
            + np.log(
                (1 + np.exp(-(1 + 2 * z) * loss)) / 2
                - np.expm1(-(1 + 2 * z) * loss) / (2 * (1 + 2 * z))
            )
        )
    if term["mechanism"] == "Pure" and rate == 1:  # randomised response
        each = term["parameters"]["epsilon"]
        return lambda z: (
            z * each + np.log((1 + np.exp(-(1 + 2 * z) * each)) / (1 + math.exp(-each)))
        )
    return None


def gaussian_log_moment(z: complex, sigma: float, rate: float) -> complex:
    """Return log E_Q r^(z + 1) of r = 1 - q + q exp((2 x - 1)/(2 sigma^2)), Q = N(0, sigma^2)."""
    if rate == 1:
        return z * (z + 1) / (2 * sigma**2)
    step = min(0.05, 0.5 * sigma / max(abs(z.imag), 1e-9))
    x = np.arange(-14.0, (z.real + 1) / sigma + 14.0, step)
    log_ratio = np.logaddexp(math.log1p(-rate), math.log(rate) + x / sigma - 0.5 / sigma**2)
    values = (z + 1) * log_ratio - 0.5 * x**2
    largest = values.real.max()
    total = np.sum(np.exp(values - largest)) * step / math.sqrt(2 * math.pi)
    return complex(np.log(total)) + largest


# --- calibration ----------------------------------------------------------------------------------


def calibration_truth(row: Row) -> float | None:
    """Return what is at most the least noise, or at least the largest kappa, if it is known."""
    (term,) = row["terms"]
    name, measure = term["mechanism"], row["measure"]
    epsilon, delta = mpf(row["epsilon"]), mpf(row["delta"])
    c = mpf(term.get("sensitivity", 1.0))
    with mp.workdps(40):
        if (name, measure) == ("Gaussian", "sigma"):
            unit = least(lambda sigma: profile(epsilon, 1 / sigma)[0] <= delta)
            return float(unit * c * mp.sqrt(term.get("count", 1)))
        if name == "Laplace":
            return float(c / (epsilon - 2 * mp.log1p(-delta)))
        if (name, measure) == ("Staircase", "mean_abs") and delta == 0:
            return float(c * mp.exp(epsilon / 2) / mp.expm1(epsilon))
        if name == "VonMisesFisher" and delta == 0:
            return float(epsilon / (2 * mp.sin(mpf(term["angle"]) / 2)))
    if name in FAMILY and delta == 0:
        width = mpf(term["parameters"]["upper"]) - mpf(term["parameters"]["lower"])
        loss = FAMILIES[FAMILY[name]]
        with mp.workdps(DIGITS):
            return float(least(lambda scale: loss(c / scale, width / scale)[0] <= epsilon))
    return None


def least(is_enough: Callable[[mpf], bool]) -> mpf:
    """Return the smallest number that is enough, by bisection of powers of 2."""
    low, high = mpf(2) ** -40, mpf(2) ** 40
    while high - low > mpf(10) ** -18 * high:
        middle = mp.sqrt(low * high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return low


def main() -> None:
    """Print the rows whose truth is another, and how many have one."""
    rows = json.loads(Path(__file__).with_name("golden.json").read_text())
    known = 0
    for row in rows:
        found = calibration_truth(row) if row["question"] == "calibrate" else truth(row)
        known += found is not None
        if found is not None and not math.isclose(found, row["truth"], rel_tol=2e-5):
            print(row, found)
    print(f"{known} of {len(rows)}")


if __name__ == "__main__":
    main()
