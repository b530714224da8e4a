"""Laplace, truncated Laplace, Tulap and staircase noise for an (epsilon, delta)."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf
from reference import pieces

import tightnoise as tn
from tightnoise.calibrate import CalibrationError, laplace, staircase, truncated_laplace, tulap

REFERENCES = json.loads(
    (Path(__file__).parents[1] / "reference" / "pieces.json").read_text(encoding="utf-8")
)["references"]

KINDS = [laplace, truncated_laplace, tulap, staircase]
every_kind = pytest.mark.parametrize("calibrate", KINDS, ids=lambda kind: kind.__name__)


def calibrated(name, epsilon, delta):
    kind, value = name.split("_")
    if kind == "staircase":
        noise = staircase(epsilon, 0.0, sensitivity=1.0, loss=value)
    else:
        noise = {"trunclap": truncated_laplace, "tulap": tulap}[kind](
            epsilon, delta, sensitivity=1.0
        )
    values = {"l1": noise.mean_abs, "l2": lambda: noise.var(), "A": None, "halfwidth": None}
    return values[value]() if values[value] else noise.bound


def test_losses_of_the_literature(check_error):
    worst = 0.0
    for reference in REFERENCES:
        inputs = {name: float(value) for name, value in reference["inputs"].items()}
        got = calibrated(reference["fn"], inputs["eps"], inputs.get("delta", 0.0))
        # 2e-11 of delta are left for rounding.
        worst = max(worst, abs(got / float(reference["value"]) - 1))
    check_error("scalar noise: losses and bounds, calibrated", worst, 1e-10)


def random_budget(rng):
    epsilon = math.exp(rng.uniform(-4, 3))
    delta = rng.choice([10 ** rng.uniform(-250, 0), 10 ** rng.uniform(-10, 0), rng.random()])
    return epsilon, delta, math.exp(rng.uniform(-5, 5))


def with_less_noise(noise, share):
    """The same kind of noise, a little narrower."""
    if isinstance(noise, tn.Laplace):
        return tn.Laplace(noise.scale * (1 - share))
    if isinstance(noise, tn.TruncatedLaplace):
        return tn.TruncatedLaplace(noise.scale, noise.bound * (1 - share))
    if isinstance(noise, tn.Tulap):
        return tn.Tulap(noise.epsilon, noise.sensitivity, noise.bound * (1 - share))
    return tn.Staircase(noise.epsilon * (1 + share), noise.sensitivity, noise.gamma)


@every_kind
def test_private_and_no_larger_than_needed(calibrate, rng):
    for _ in range(60):
        epsilon, delta, sensitivity = random_budget(rng)
        noise = calibrate(epsilon, delta, sensitivity=sensitivity)
        assert noise.cost(sensitivity=sensitivity).delta(epsilon) <= delta
        assert with_less_noise(noise, 1e-9).cost(sensitivity=sensitivity).delta(epsilon) > delta


@every_kind
def test_private_by_definition(calibrate, rng):
    """Exactly, at 50 digits, for shifts up to the sensitivity."""
    with mp.workdps(50):
        for epsilon, delta in [(1.7, 1e-6), (3.5, 0.03), (2.2, 0.6)]:
            noise = calibrate(epsilon, delta, sensitivity=1.0)
            if isinstance(noise, tn.Laplace | tn.TruncatedLaplace):
                law = pieces.Laplace(noise.scale, getattr(noise, "bound", math.inf))
            else:
                gamma = getattr(noise, "gamma", 0.5)
                bound = getattr(noise, "bound", math.inf)
                law = pieces.Staircase(noise.epsilon, 1, gamma, bound)
            worst = max(pieces.divergence(law, mpf(x), epsilon) for x in (1.0, 0.9, rng.random()))
            assert mpf(delta) * (1 - mpf("1e-9")) < worst <= delta


@pytest.mark.parametrize("calibrate", [laplace, tulap, staircase], ids=lambda kind: kind.__name__)
def test_pure(calibrate, rng):
    for epsilon, sensitivity in np.exp(rng.uniform([-10, -9], [6, 9], (100, 2))):
        noise = calibrate(epsilon, 0.0, sensitivity=sensitivity)
        assert noise.cost(sensitivity=sensitivity).delta(epsilon) == 0.0
        assert noise.cost(sensitivity=sensitivity * (1 + 1e-12)).delta(epsilon) > 0.0
        assert (
            with_less_noise(noise, 1e-12).cost(sensitivity=sensitivity).delta(epsilon) > 0.0
            or calibrate is tulap
        )


@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_best_gamma(loss):
    """No staircase of a grid of gammas has less loss: with delta = 0 and without."""
    measure = {"l1": lambda m: m.mean_abs(), "l2": lambda m: m.var()}[loss]
    gammas = np.concatenate([1 / (1 + np.exp(np.linspace(0, 15, 30))), np.linspace(0.5, 1, 8)])
    for epsilon, delta in [
        (0.1, 0.0),
        (3, 0.0),
        (20, 0.0),
        (0.01, 0.01),
        (1, 0.25),
        (2, 0.5),
        (8, 0.9),
    ]:
        best = measure(staircase(epsilon, delta, sensitivity=1.0, loss=loss))
        for gamma in gammas:
            own = largest_own_epsilon(gamma, epsilon, delta)
            assert best <= measure(tn.Staircase(own, 1.0, gamma)) * (1 + 1e-6)


def largest_own_epsilon(gamma, epsilon, delta):
    low, high = epsilon, 700.0
    for _ in range(45):
        middle = 0.5 * (low + high)
        good = tn.Staircase(middle, 1.0, gamma).cost(sensitivity=1.0).delta(epsilon) <= delta
        low, high = (middle, high) if good else (low, middle)
    return low


def test_staircase_beats_pure_noise():
    for epsilon in (0.5, 2.0, 6.0):
        best = staircase(epsilon, 0.0, sensitivity=1.0)
        assert best.mean_abs() < laplace(epsilon, 0.0, sensitivity=1.0).mean_abs()
        assert best.mean_abs() < tulap(epsilon, 0.0, sensitivity=1.0).mean_abs()
        assert staircase(epsilon, 0.1, sensitivity=1.0).mean_abs() < best.mean_abs()
        assert staircase(epsilon, 0.0, sensitivity=1.0, loss="l2").var() < best.var()


@every_kind
def test_extreme_budgets(calibrate):
    for epsilon in (1e-12, 1e-3, 1.0, 600.0):
        for delta in (1e-300, 1e-9, 0.5, 1 - 1e-12):
            for sensitivity in (1e-200, 1.0, 1e200):
                try:
                    noise = calibrate(epsilon, delta, sensitivity=sensitivity)
                except CalibrationError:
                    continue
                assert noise.cost(sensitivity=sensitivity).delta(epsilon) <= delta


@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("sensitivity", [1, 2, 7])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (3.0, 0.0), (3.0, 0.01), (6.0, 1e-6)])
def test_staircases_on_the_integers_are_the_best_of_all_of_these(epsilon, delta, sensitivity, loss):
    def lost(noise):
        rounded = noise.rounded()
        return rounded.mean_abs() if loss == "l1" else rounded.var()

    found = tn.calibrate.staircase(epsilon, delta, sensitivity=sensitivity, loss=loss, integer=True)
    assert found.cost(sensitivity=sensitivity).delta(epsilon) <= delta
    best = lost(found)
    assert best <= lost(tn.calibrate.staircase(epsilon, delta, sensitivity=sensitivity, loss=loss))
    for end in range(sensitivity):
        gamma = (end + 0.5) / sensitivity
        # The largest epsilon of its own that is private.
        low, high = epsilon, epsilon + 2.0
        for _ in range(60 if delta else 0):
            middle = 0.5 * (low + high)
            noise = tn.Staircase(middle, float(sensitivity), gamma)
            low, high = (
                (middle, high)
                if noise.cost(sensitivity=sensitivity).delta(epsilon) <= delta
                else (low, middle)
            )
        assert best <= lost(tn.Staircase(low, float(sensitivity), gamma)) * (1 + 1e-9)


def test_staircases_on_the_integers_have_an_integer_for_a_sensitivity():
    with pytest.raises(ValueError, match=r"^sensitivity must be an integer, for noise that is"):
        tn.calibrate.staircase(1.0, 0.0, sensitivity=1.5, integer=True)
