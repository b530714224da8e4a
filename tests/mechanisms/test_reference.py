"""Every function of the mechanisms against mpmath: the reference file, 5,000 random points each.

The random points (reference/bounded_gaussian_cases.py) have |theta|/sigma up to 1e4, widths of
1e-6 to 1e6 sigma, steps of 1e-9 to 1e2 sigma, orders of 1e-6 to 1e5, 1 and infinity.
"""

import json
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from reference.bounded_gaussian import Case, hockey_stick_at_once
from reference.bounded_gaussian_cases import MECHANISMS, fingerprint, points

import tightnoise as tn
from tightnoise import _core

HERE = Path(__file__).parents[1] / "reference"
TABLE = np.load(HERE / "bounded_gaussian.npz")
ARGUMENTS = {
    "renyi": ("shift", "alpha"),
    "renyi_far": ("shift", "alpha"),
    "hockey_stick": ("shift", "epsilon"),
    "pdf": ("x",),
    "cdf": ("x",),
}
CORE_NAME = {"renyi_far": "renyi", "pdf": "log_pdf"}

# The cards: relative to what, and how much.
LIMITS = {
    "renyi": 1e-12,
    "renyi_far": 1e-12,
    "hockey_stick": 1e-12,
    "fisher_information": 1e-12,
    "mean": 1e-13,  # of the larger bound
    "variance": 1e-12,
    "pdf": 1e-12,
    "cdf": 1e-12,
}
UNDERFLOW = 1e-300


def computed(function, mechanism):
    """The function of the core at the random points: the shift is exact there."""
    data = points(function, mechanism)
    call = getattr(getattr(_core, mechanism), CORE_NAME.get(function, function))
    out = np.empty(data["theta"].shape)
    names = (*ARGUMENTS.get(function, ()), "theta", "sigma", "lower", "upper")
    for levels in np.unique(data["levels"]) if mechanism == "quantized" else [2]:
        chosen = data["levels"] == levels if mechanism == "quantized" else np.full(out.shape, True)
        part = np.empty(int(chosen.sum()))
        call(*(np.ascontiguousarray(data[name][chosen]) for name in names), int(levels), part)
        out[chosen] = part
    return data, np.exp(out) if function == "pdf" else out


# Discrete outputs have masses, which the reference file holds, and no density.
TABULATED = [
    (function, mechanism)
    for function in LIMITS
    for mechanism in MECHANISMS
    if function != "pdf" or mechanism not in ("quantized", "sign")
]


@pytest.mark.parametrize(("function", "mechanism"), TABULATED)
def test_random_points(function, mechanism, check_error):
    assert str(TABLE[f"fingerprint/{function}/{mechanism}"]) == fingerprint(function, mechanism)
    data, value = computed(function, mechanism)
    truth = TABLE[f"{function}/{mechanism}"]
    scale, floor = np.abs(truth), UNDERFLOW
    if function == "mean" and mechanism != "sign":
        scale = np.maximum(np.abs(data["lower"]), np.abs(data["upper"]))
    if function == "fisher_information":
        floor = UNDERFLOW / data["sigma"] ** 2
    if function == "variance" and mechanism != "sign":
        floor = UNDERFLOW * (data["upper"] - data["lower"]) ** 2
    assert np.isfinite(value).all()
    error = np.maximum(np.abs(value - truth) - floor, 0.0) / np.maximum(scale, floor)
    check_error(f"{mechanism} {function}", error.max(), LIMITS[function])
    if function != "mean":
        assert (value >= 0).all()
    if function == "hockey_stick":
        assert (value >= np.maximum(0.0, -np.expm1(data["epsilon"])) - 1e-16).all()
        assert (value <= 1).all()


KINDS = {"rect": "rectified", "trunc": "truncated", "sign": "sign", "quant": "quantized"}


def mechanism_of(inputs):
    sigma, a, b = (float(inputs.get(name, default)) for name, default in
                   (("sigma", 1), ("a", 0), ("b", 0)))  # fmt: skip
    kind = inputs["kind"]
    if kind == "gauss":
        return tn.Gaussian(sigma), 0.0
    if kind == "sign":  # its threshold is a; ours is 0
        return tn.StochasticSign(sigma), a
    if kind == "quant":
        return tn.QuantizedGaussian(sigma, a, b, int(inputs["k"]) + 1), 0.0
    cls = tn.RectifiedGaussian if kind == "rect" else tn.TruncatedGaussian
    return cls(sigma, a, b), 0.0


def evaluate(function, inputs):
    m, threshold = mechanism_of(inputs)
    theta = float(inputs["theta"]) - threshold
    if function == "renyi":
        prime = float(inputs["theta_prime"]) - threshold
        return m.renyi_divergence(theta, prime, float(inputs["alpha"]))
    if function == "delta":
        return m.hockey_stick(theta, float(inputs["theta_prime"]) - threshold, float(inputs["eps"]))
    if function == "eta2":
        return m.fisher_information(theta)
    if function in ("mean", "var"):
        return getattr(m, function)(theta)
    if function in ("pdf", "cdf"):
        return getattr(m, function)(float(inputs["x"]) - threshold, theta)
    if function == "quantile":
        return m.ppf(float(inputs["p"]), theta)
    if function in ("atom_a", "atom_b"):
        return m.pdf(m.lower if function == "atom_a" else m.upper, theta)
    assert function == "pmf"
    letter = int(inputs["i"])
    if inputs["kind"] == "sign":
        return m.pdf(2.0 * letter - 1.0, theta)
    return m.pdf(np.linspace(m.lower, m.upper, m.levels)[letter], theta)


def standardised(function, inputs):
    """theta = 0, sigma = 1, support [x, x + w]; sign: threshold x."""
    case = dict(inputs, theta="0", sigma="1", a=inputs["x"])
    if inputs["kind"] != "sign":
        case["b"] = repr(float(inputs["x"]) + float(inputs["w"]))
    if function == "renyi_std":
        case["theta_prime"] = inputs["c"]
    return evaluate(function.removesuffix("_std"), case)


# Two entries, at theta = -24 sigma, lost their digits in the file's making. The truth, by order:
LOST_DIGITS = {"kind": "sign", "theta": "-12", "theta_prime": "-12.5", "sigma": "0.5"}
TRUTH = {"0.5": 1.3903790801647077719e-127, "1": 3.2730785676767242121e-126}

ELSEWHERE = ("sigma2", "eps_exact", "lambda_bounded")  # tests/calibrate
REFERENCES = [
    reference
    for reference in json.loads((HERE / "bounded_gaussian.json").read_text())["refs"]
    if not reference["fn"].startswith(ELSEWHERE)
]


def test_reference_file(check_error):
    assert len(REFERENCES) > 700
    errors = []
    for reference in REFERENCES:
        function, inputs = reference["fn"], reference["inputs"]
        value = float((standardised if function.endswith("_std") else evaluate)(function, inputs))
        truth = float(reference["value"])
        if function == "renyi" and inputs.items() >= LOST_DIGITS.items():
            truth = TRUTH.get(inputs["alpha"], truth)
        scale = max(abs(truth), UNDERFLOW)
        if function == "mean":  # an absolute error: 0 in the middle
            scale = max(scale, abs(float(inputs["a"])), abs(float(inputs["b"])))
        errors.append(abs(value - truth) / scale)
        assert errors[-1] < 1e-12, (function, inputs, value, truth)
    check_error("bounded_gaussian.json", max(errors), 1e-12)


def test_truncated_hockey_stick_in_supports_of_any_width(rng, check_error):
    """Epsilon at 0, and as close as 1e-9 to the greatest loss.

    Relative to 1e-12, or to what a relative change of epsilon by 1e-14 makes.
    """
    narrow, step = 1.2714772134252743e-07, -0.6179652789143819
    cases = [
        (1.0, 0.0, 1.5961651497394748e-06, narrow, step - narrow, 4.931874224504662e-07),
        (0.0830122, -6.97263994949e-09, 7.6039552907e-08, 0.0, 0.72796306332, 0.0),
    ]
    for _ in range(100):
        width = 10 ** rng.uniform(-6, 1)
        lower = rng.choice([0.0, -width * rng.random(), 10 ** rng.uniform(-3, 2)])
        theta = rng.choice([0.0, lower + width * rng.random()])
        shift = 10 ** rng.uniform(-4, 1)
        top = tn.TruncatedGaussian(1.0, lower, lower + width)
        loss = top.renyi_divergence(theta, theta + shift, np.inf)
        share = rng.choice([0.0, rng.random(), -rng.random(), 1 - 10 ** rng.uniform(-9, -1)])
        cases.append((1.0, lower, lower + width, theta, shift, share * loss))
    worst = 0.0
    for sigma, lower, upper, theta, shift, epsilon in cases:
        prime = theta + shift
        delta = tn.TruncatedGaussian(sigma, lower, upper).hockey_stick(theta, prime, epsilon)
        case = Case("truncated", theta, sigma, lower, upper)
        exact, other = (
            hockey_stick_at_once(case, prime - theta, epsilon * factor, digits=60)
            for factor in (1.0, 1 - mp.mpf("1e-14"))
        )
        if exact >= 1e-290:
            allowed = 1e-12 * exact + abs(other - exact)
            worst = max(worst, float(abs(delta - exact) / allowed))
    check_error("truncated hockey stick, beyond its conditioning", worst, 1.0)


def test_gaussian_hockey_stick_far_beyond_any_loss():
    m = tn.Gaussian(65.81745598492425)
    assert m.hockey_stick(-29.133709946380414, -29.133709946380417, 1.7615370859367836) == 0.0
