"""The cells of the paper's tables: a budget (epsilon, delta), sensitivity 1, and what it takes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import tightnoise.calibrate as calibrate
from tightnoise._core import additive as core
from tightnoise.mechanisms import Gaussian, MultiGaussianMixture, QuasiGaussianMixture
from tightnoise.mechanisms.additive import AdditiveNoise
from tightnoise.reproduce._bisection import bisected
from tightnoise.reproduce.mixtures._printed import MODES, MULTI_L1

LARGEST_MODES = 20
"""The paper's cap on the number of modes."""


class Improvement(NamedTuple):
    """How much less loss than the Gaussian's, in %, by l1 and by l2."""

    l1: float
    l2: float


class MultiCell(NamedTuple):
    """A cell of Tables 1 and 4."""

    capped: Improvement
    """Of the best multi-Gaussian of 1 to 20 modes, calibrated exactly."""
    free: Improvement
    """Of the best of any number of modes."""
    excess: float | None
    """The exact delta of what Table 1 prints, over the target; None where nothing is printed."""


class QuasiCell(NamedTuple):
    """A cell of Tables 5 and 6."""

    paper: Improvement
    """Of the quasi-Gaussian with the sigma of the paper's Algorithm 4."""
    exact: Improvement
    """With the least sigma that is private."""
    excess: float
    """The exact delta at the paper's sigma, over the target."""


def relative_gain(ours: float, theirs: float) -> float:
    """Return 100 (theirs - ours) / max(theirs, ours), as in the paper's tables."""
    return 100.0 * (theirs - ours) / max(theirs, ours)


@functools.cache
def _gaussian(epsilon: float, delta: float) -> Gaussian:
    return calibrate.gaussian(epsilon, delta, sensitivity=1.0)


def improvement(epsilon: float, delta: float, mixtures: Sequence[AdditiveNoise]) -> Improvement:
    """Return what the best of `mixtures` gains over the Gaussian, by either loss."""
    gaussian = _gaussian(epsilon, delta)
    return Improvement(
        relative_gain(min(m.mean_abs() for m in mixtures), gaussian.mean_abs()),
        relative_gain(min(float(m.var()) for m in mixtures), float(gaussian.var())),
    )


@functools.cache
def multi_cell(epsilon: float, delta: float) -> MultiCell:
    """Return the cell of Tables 1 and 4 for this budget.

    Examples
    --------
    Table 1 prints 54.42 for epsilon 1 and delta 0.001, and that is 227 times delta.

    >>> from tightnoise.reproduce.mixtures import multi_cell
    >>> cell = multi_cell(1.0, 0.001)
    >>> round(cell.capped.l1, 2), round(cell.excess)
    (52.52, 227)
    """
    modes = range(1, LARGEST_MODES + 1)
    capped = [calibrate.multi_gaussian(epsilon, delta, sensitivity=1.0, modes=k) for k in modes]
    free = [
        calibrate.multi_gaussian(epsilon, delta, sensitivity=1.0, loss="l1"),
        calibrate.multi_gaussian(epsilon, delta, sensitivity=1.0, loss="l2"),
    ]
    printed = printed_mixture(epsilon, delta)
    return MultiCell(
        improvement(epsilon, delta, capped),
        improvement(epsilon, delta, free),
        None if printed is None else printed.cost(sensitivity=1.0).delta(epsilon) / delta,
    )


@functools.cache
def quasi_cell(epsilon: float, delta: float) -> QuasiCell:
    """Return the cell of Tables 5 and 6 for this budget.

    Examples
    --------
    >>> from tightnoise.reproduce.mixtures import quasi_cell
    >>> cell = quasi_cell(5.0, 0.001)
    >>> round(cell.paper.l1, 2), round(cell.paper.l2, 2)
    (21.08, 37.14)
    """
    sigma = core.quasi_gaussian_sigma_of_paper(epsilon, delta, 1.0)
    paper = QuasiGaussianMixture(sigma, epsilon, 1.0)
    exact = calibrate.quasi_gaussian(epsilon, delta, sensitivity=1.0)
    return QuasiCell(
        improvement(epsilon, delta, [paper]),
        improvement(epsilon, delta, [exact]),
        paper.cost(sensitivity=1.0).delta(epsilon) / delta,
    )


def printed_mixture(epsilon: float, delta: float) -> MultiGaussianMixture | None:
    """Return the mixture behind Table 1; None where the table has no figure.

    Table 1 prints the gain and Table 3 the number of modes. The l1 loss grows with sigma, so that
    one sigma alone gives that gain.

    Examples
    --------
    >>> from tightnoise.reproduce.mixtures import printed_mixture
    >>> mixture = printed_mixture(3.0, 1e-5)
    >>> mixture.modes, round(mixture.sigma, 4)
    (18, 0.0526)
    """
    printed, modes = MULTI_L1[epsilon, delta], int(MODES[epsilon, delta] or 0)
    if printed is None:
        return None
    gaussian = _gaussian(epsilon, delta)
    loss: float = gaussian.mean_abs() * (1.0 - float(printed) / 100.0)

    def loses_less(sigma: float) -> bool:
        return MultiGaussianMixture(sigma, epsilon, 1.0, modes).mean_abs() < loss

    # At the Gaussian's sigma the loss is above the Gaussian's.
    _, sigma = bisected(loses_less, 0.0, float(gaussian.sigma))
    return MultiGaussianMixture(sigma, epsilon, 1.0, modes)
