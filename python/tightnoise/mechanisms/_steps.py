"""Noise with a staircase for a density."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tightnoise._validate import real_scalar, require
from tightnoise.mechanisms._panels import sum_rule
from tightnoise.mechanisms.additive import AdditiveNoise

# Beyond, one step is a factor that no float holds; below, floats cannot count the steps.
SMALLEST_EPSILON = 1e-15
LARGEST_EPSILON = 700.0


class StepNoise(AdditiveNoise):
    """Noise whose density falls in steps."""

    _is_unimodal = True
    _law_name = "staircase"

    @property
    def _entropy(self) -> float:
        """That of the step at 0, and epsilon for each step that the noise is further out.

        A step is as far from 0, on average, as its number and a half and what comes before it, but
        for the last one where the bound cuts it short.
        """
        epsilon, width, gamma, bound = self._law_parameters
        end = bound / width
        if end <= gamma:
            return math.log(2.0 * bound)
        if gamma > 0:
            at_centre = -float(self.logpdf(0.0))
            centre = float(self._mass(np.asarray(-gamma * width), np.asarray(gamma * width)))
        else:
            at_centre, centre = -float(self.logpdf(0.0)) - epsilon, 0.0
        steps = self.mean_abs() / width - 0.5 * gamma * centre - (gamma - 0.5) * (1.0 - centre)
        if bound < math.inf:
            last = math.floor(end - gamma)
            missing = 1.0 - (end - gamma - last)
            ends = (np.asarray((gamma + last) * width), np.asarray(bound))
            steps += missing * float(self._mass(*ends))  # half of it, on both sides
        return float(at_centre + epsilon * steps)

    @property
    def _fourth_moment(self) -> float:
        """That of the steps, one by one, or of e^-1 or less of them together, by Gauss's rule.

        From a to a + f, in steps, x^4 has the integral f (a^4 + 2 a^3 f + 2 a^2 f^2 + a f^3 +
        f^4/5).
        """
        epsilon, width, gamma, bound = self._law_parameters
        end = min(bound, -float(self.ppf(1e-30))) / width
        if end <= gamma:
            return float(bound) ** 4 / 5.0

        def powers(a: Any, f: float) -> Any:
            return f * (a**4 + 2 * a**3 * f + 2 * a**2 * f**2 + a * f**3 + f**4 / 5.0)

        full = math.floor(end - gamma)
        together = max(1, int(1.0 / epsilon))
        total = math.exp(epsilon) * powers(0.0, gamma) if gamma > 0 else 0.0
        for start in range(0, full, together):
            nodes, weights = sum_rule(min(together, full - start))
            k = start + nodes
            total += float(weights @ (np.exp(-epsilon * k) * powers(k + gamma, 1.0)))
        total += math.exp(-epsilon * full) * powers(full + gamma, end - gamma - full)
        first = gamma + 0.5 * min(1.0, end - gamma)  # the middle of the first step
        return float(2.0 * width**5 * total * self.pdf(first * width))

    @property
    def _grid_scale(self) -> float:
        # Of steps and their parts some may be too rare to matter. This does for all: rounding to
        # 1/64 of it moves no abs(noise) by more than 1/128 of their mean, no variance by more than
        # 2.1e-5 of itself on average.
        return self.mean_abs()


def step_epsilon(epsilon: object) -> float:
    """Return epsilon as a float after checking it."""
    number = real_scalar("epsilon", epsilon)
    good = SMALLEST_EPSILON <= number <= LARGEST_EPSILON
    require(good, "epsilon", epsilon, f"from {SMALLEST_EPSILON} to {LARGEST_EPSILON:g}")
    return number
