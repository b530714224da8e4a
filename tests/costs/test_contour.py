"""epsilon and delta by contour inversion: certified bounds must hold what closed forms say."""

from __future__ import annotations

import json
import math
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from tightnoise._core import cost

REFERENCES = json.loads(
    (Path(__file__).parents[1] / "reference" / "exact_composition.json").read_text()
)
DIRECTIONS = ["remove", "add"]
# Nothing is lost and nothing gained: but with it, a release is a composition.
NOTHING = (cost.atoms(np.array([0.0]), np.array([1.0])), 1)


def randomised_response(epsilon):
    p = 1 / (1 + math.exp(-epsilon))
    return cost.atoms(np.array([epsilon, -epsilon]), np.array([p, 1 - p]))


LAWS = {
    "sgm": cost.sampled_gaussian,
    "gauss": lambda mu, _: cost.gaussian(mu),
    "lap": lambda epsilon, _: cost.laplace(epsilon),
    "rr": lambda epsilon, _: randomised_response(epsilon),
}


def composed(*terms):
    return cost.Composition(list(terms))


@pytest.mark.parametrize(
    ("parts", "delta", "epsilon"),
    [row for row in REFERENCES if all(part[0] in LAWS for part in row[0])],
)
def test_references(parts, delta, epsilon):
    # The references of more than one law, the first one sampled Gaussian, are those of "add".
    direction = "add" if len(parts) > 1 and parts[0][0] == "sgm" else "remove"
    terms = [(LAWS[law](*numbers, direction), count) for law, numbers, count in parts]
    lower, upper = composed(*terms).epsilon(float(delta))
    truth = mp.mpf(epsilon)
    assert lower <= truth * (1 + mp.mpf("1e-15"))
    assert upper >= truth * (1 - mp.mpf("1e-15"))
    assert upper - lower <= 2e-8 * upper


def test_sampled_gaussian_once(rng):
    # A contour against the closed form: what finds false certificates.
    for i in range(300):
        sigma, rate = math.exp(rng.uniform(-1.5, 4)), 10 ** rng.uniform(-4, -0.01)
        law = cost.sampled_gaussian(sigma, rate, DIRECTIONS[i % 2])
        epsilon = abs(rng.normal()) * min(3, 1 / sigma) * rate ** rng.uniform(0, 1)
        lower, upper = composed((law, 1), NOTHING).delta(epsilon)
        below, above = composed((law, 1)).delta(epsilon)
        assert lower <= above * (1 + 1e-15), (sigma, rate, i % 2, epsilon)
        assert upper >= below * (1 - 1e-15), (sigma, rate, i % 2, epsilon)
