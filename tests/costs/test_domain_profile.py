"""The worst delta of truncated and rectified Gaussians on a bounded domain."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf
from reference.bounded_gaussian import Case, hockey_stick
from reference.gaussian_profile import profile
from reference.worst_pairs import delta_of_pair, places, pure_epsilon

from tightnoise import _core

DOMAIN = _core.domain
WORST_PAIRS = json.loads(
    (Path(__file__).parents[1] / "reference" / "worst_pairs.json").read_text(encoding="utf-8")
)
MECHANISMS = {"truncated": DOMAIN.truncated_worst_delta, "rectified": DOMAIN.rectified_worst_delta}
every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS)


def test_truncated_worst_pairs(check_error):
    above = below = 0.0
    for sigma, width, sensitivity, epsilon, delta, _ in WORST_PAIRS:
        upper = DOMAIN.truncated_worst_delta(sigma, width, sensitivity, epsilon)
        error = float(mpf(upper) / mpf(delta) - 1)
        # Next to the pure epsilon delta is as uncertain as the difference of the two.
        pure = DOMAIN.truncated_epsilon(sigma, width, sensitivity)
        below = max(below, -error)
        above = max(above, error - 2e-14 / (1 - epsilon / pure))
    assert below == 0.0
    check_error("certified worst delta of the truncated Gaussian, above", above, 1e-10)


def random_problem(rng):
    """sigma, width, sensitivity and an epsilon below the pure one."""
    width = rng.choice([10 ** rng.uniform(-1, 1.5), 10 ** rng.uniform(-9, 9)])
    sensitivity = width * rng.choice([1.0, rng.random(), 10 ** rng.uniform(-9, 0)])
    pure = DOMAIN.truncated_epsilon(1.0, width, sensitivity)
    within = sensitivity * (0.5 * sensitivity + rng.uniform(0, 8))  # of a Gaussian
    return 1.0, width, sensitivity, min(0.999 * pure, within) * rng.choice([0.0, 1.0, rng.random()])


@every_mechanism
def test_no_pair_is_worse(mechanism):
    rng = random.Random(3)
    for _ in range(6):
        problem = random_problem(rng)
        upper = MECHANISMS[mechanism](*problem)
        for value in places(*problem[:3], 5):
            assert delta_of_pair(mechanism, *problem, value) <= upper


@every_mechanism
def test_worst_of_all_pairs_and_outputs(mechanism):
    # Values closer than the sensitivity, both orders, and all thresholds, in float64.
    rng = random.Random(4)
    for _ in range(6):
        width = 10 ** rng.uniform(-0.5, 1.0)
        sensitivity = width * rng.uniform(0.1, 1.0)
        epsilon = rng.choice([0.0, 0.3, 1.0]) * sensitivity
        upper = MECHANISMS[mechanism](1.0, width, sensitivity, epsilon)
        at = np.linspace(0.0, width, 97)
        # cdf[i, j]: that the output for the value i is below threshold j; of the rectified one the
        # first is the atom.
        cdf = np.vectorize(math.erf)((at[None, :] - at[:, None]) / math.sqrt(2.0)) / 2.0
        if mechanism == "truncated":
            cdf = (cdf - cdf[:, :1]) / (cdf[:, -1:] - cdf[:, :1])
        else:
            cdf = cdf + 0.5
            cdf[:, -1] = 1.0
        worst = 0.0
        for first in range(len(at)):
            near = np.abs(at - at[first]) <= sensitivity * (1 + 1e-12)
            below = cdf[first] - math.exp(epsilon) * cdf[near]
            above = (1 - cdf[first]) - math.exp(epsilon) * (1 - cdf[near])
            worst = max(worst, below.max(), above.max())
        assert worst <= upper * (1 + 1e-12)
        assert worst >= 0.9 * upper - 1e-3  # what the grid cannot see


def test_rectified_closed_form(check_error):
    rng = random.Random(5)
    above = 0.0
    for _ in range(120):
        width = rng.choice([10 ** rng.uniform(-3, 1.5), 10 ** rng.uniform(-9, 6)])
        sensitivity = width * rng.choice([1.0, rng.random(), 10 ** rng.uniform(-6, 0)])
        loss = DOMAIN.rectified_epsilon(1.0, width, sensitivity)
        gaussian = sensitivity * (width - 0.5 * sensitivity)
        epsilon = rng.choice([0.0, gaussian * rng.random(), gaussian])
        epsilon = rng.choice([epsilon, gaussian + (loss - gaussian) * rng.uniform(0.0, 0.99)])
        with mp.workdps(60):
            k, w, e = mpf(sensitivity), mpf(width), mpf(epsilon)
            if e <= k * (w - k / 2):
                if (e / k - k / 2) > 36:
                    continue
                exact, _ = profile(e, k)
            else:
                exact = (mp.erfc((w - k) / mp.sqrt(2)) - mp.exp(e) * mp.erfc(w / mp.sqrt(2))) / 2
            if exact < 1e-300:
                continue
            upper = DOMAIN.rectified_worst_delta(1.0, width, sensitivity, epsilon)
            error = float(mpf(upper) / exact - 1)
        assert error >= 0.0
        above = max(above, error)
    check_error("worst delta of the rectified Gaussian, above", above, 3e-12)


def test_rectified_is_what_the_last_pair_costs():
    rng = random.Random(6)
    for _ in range(15):
        width = 2.0 ** rng.randint(-2, 3)
        sensitivity = width * rng.choice([0.25, 0.5, 1.0])
        epsilon = pure_epsilon("rectified", 1.0, width, sensitivity) * mpf(rng.random())
        case = Case("rectified", width - sensitivity, 1.0, 0.0, width)
        exact = hockey_stick(case, sensitivity, float(epsilon))
        upper = DOMAIN.rectified_worst_delta(1.0, width, sensitivity, float(epsilon))
        assert exact <= upper <= exact * (1 + mpf(1e-12))


@every_mechanism
def test_vanishes_at_the_pure_epsilon(mechanism):
    # delta falls like (pure - epsilon)^2 or (pure - epsilon), and is never below the truth.
    pure_upper = getattr(DOMAIN, f"{mechanism}_epsilon")
    for width, sensitivity in [(8.0, 1.0), (2.0**-10, 2.0**-13), (1.0, 1.0), (64.0, 0.5)]:
        given = (1.0, width, sensitivity)
        pure = pure_epsilon(mechanism, *given)
        assert MECHANISMS[mechanism](*given, pure_upper(*given)) == 0.0
        for share in (1e-3, 1e-6, 1e-9, 1e-12):
            epsilon = float(pure * (1 - mpf(share)))
            exact = delta_of_pair(mechanism, *given, epsilon, width - sensitivity)
            upper = MECHANISMS[mechanism](*given, epsilon)
            assert exact <= upper
            if exact > 1e-300:
                assert upper <= exact * (1 + mpf(2e-10) + mpf(2e-14) / mpf(share))


def test_wide_domains_cost_what_the_gaussian_does(check_error):
    worst = 0.0
    for width in (1e2, 1e4, 1e9, 1e15, 1e100):
        for sensitivity, epsilon in [(1.0, 0.0), (1.0, 2.0), (3.0, 10.0), (1e-3, 0.02)]:
            exact, _ = profile(mpf(epsilon), mpf(sensitivity))
            for worst_delta in MECHANISMS.values():
                upper = worst_delta(1.0, width, sensitivity, epsilon)
                assert upper >= exact * (1 - mpf(1e-15))
                worst = max(worst, float(upper / exact - 1))
    check_error("worst delta on a wide domain against the Gaussian's", worst, 1e-10)


def test_narrow_domains():
    # The densities are linear: delta = (k w/2 - epsilon)^2/(2 k w).
    for width in (1e-6, 1e-30, 1e-100):
        for share in (1.0, 0.5, 1e-9):
            kw = width * width * share
            for part in (0.0, 0.3, 0.9):
                upper = DOMAIN.truncated_worst_delta(1.0, width, width * share, 0.5 * kw * part)
                assert upper == pytest.approx(kw / 8 * (1 - part) ** 2, rel=2e-10, abs=0)


@every_mechanism
def test_falls_with_epsilon_and_sigma(mechanism):
    rng = random.Random(7)
    for _ in range(40):
        sigma, width, sensitivity, epsilon = random_problem(rng)
        at = MECHANISMS[mechanism](sigma, width, sensitivity, epsilon)
        assert MECHANISMS[mechanism](sigma, width, sensitivity, 1.001 * epsilon + 1e-12) <= at * (
            1 + 1e-10
        )
        assert MECHANISMS[mechanism](1.001 * sigma, width, sensitivity, epsilon) <= at * (1 + 1e-10)


@every_mechanism
def test_only_ratios_matter(mechanism):
    rng = random.Random(8)
    for _ in range(20):
        sigma, width, sensitivity, epsilon = random_problem(rng)
        unit = 2.0 ** rng.randint(-300, 300)
        scaled = MECHANISMS[mechanism](unit * sigma, unit * width, unit * sensitivity, epsilon)
        assert scaled == MECHANISMS[mechanism](sigma, width, sensitivity, epsilon)


@every_mechanism
def test_ratios_of_subnormal_lengths(mechanism):
    least = 5e-324
    for sigma, width, sensitivity in [(1237, 37475, 374), (7, 2**40, 2**21 + 1), (3, 100, 20)]:
        k, w = sensitivity / sigma, width / sigma
        for epsilon in (0.5 * k * k + 9.0 * k, k * (w - 0.49 * k)):
            at = MECHANISMS[mechanism](sigma, width, sensitivity, epsilon)
            tiny = MECHANISMS[mechanism](sigma * least, width * least, sensitivity * least, epsilon)
            assert tiny == at


@every_mechanism
def test_beyond_the_width(mechanism):
    at_width = MECHANISMS[mechanism](1.0, 2.0, 2.0, 0.5)
    assert MECHANISMS[mechanism](1.0, 2.0, 50.0, 0.5) == at_width
    assert MECHANISMS[mechanism](1e-160, 1.0, 1.0, 1.0) == 1.0
    assert 0.0 < MECHANISMS[mechanism](1e200, 1.0, 1.0, 0.0) < 1e-100
