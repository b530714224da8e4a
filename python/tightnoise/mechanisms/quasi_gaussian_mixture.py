"""A Gaussian with shoulders a sensitivity to its left and right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tightnoise._validate import positive, require
from tightnoise.mechanisms._panels import Array, Tails, lattice
from tightnoise.mechanisms._steps import LARGEST_EPSILON
from tightnoise.mechanisms.additive import AdditiveNoise

__all__ = ["QuasiGaussianMixture"]


@dataclass(frozen=True)
class QuasiGaussianMixture(AdditiveNoise):
    """Add noise from a Gaussian mixed with one whose two halves are moved out by the sensitivity.

    With Delta the sensitivity and Phi the standard normal distribution, the density is (Liu, Selvi
    and Wiesemann 2026, "Mind the Gap: Mixtures of Gaussians in Approximate Differential Privacy",
    arXiv 2605.28078, Definition 4.1)

        f(x) = (e^epsilon e^(-x^2/(2 sigma^2)) + e^(-(|x| - Delta)^2/(2 sigma^2))) / c,
        c = sqrt(2 pi) sigma (e^epsilon + 2 Phi(Delta/sigma)).

    `calibrate.quasi_gaussian` finds the smallest private sigma. The paper's, the larger of two
    closed forms, is up to a third too large for great epsilon or delta, and rests on a lemma (4.5)
    that is false for epsilon below 0.195, though no case is known where the sigma is too small.

    It has no zero-concentrated cost: the density has a kink at 0 and is no mixture of Gaussians
    that move with theta. Its losses compose.

    Parameters
    ----------
    sigma : float
        Standard deviation of the Gaussians, greater than 0; in the units of theta.
    epsilon : float
        Logarithm of the height of the middle peak by that of the others, greater than 0 and at most
        700.
    sensitivity : float
        How far out the other peaks are, greater than 0; in the units of theta.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    TypeError
        If a parameter is not a real number.

    Examples
    --------
    >>> import tightnoise as tn
    >>> noise = tn.QuasiGaussianMixture(sigma=0.45, epsilon=2.0, sensitivity=1.0)
    >>> round(noise.cost(sensitivity=1.0).delta(2.0), 6)
    0.091634
    >>> round(noise.mean_abs(), 6)
    0.497411
    >>> noisy = noise.sample([10.0, 20.0])
    """

    sigma: float
    epsilon: float
    sensitivity: float

    tails: ClassVar[Tails] = "gaussian"
    _sampler = "sample_quasi_gaussian"
    _law_name = "quasi-gaussian"

    def __post_init__(self) -> None:
        for name in ("sigma", "epsilon", "sensitivity"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        allowed = f"at most {LARGEST_EPSILON:g}"
        require(self.epsilon <= LARGEST_EPSILON, "epsilon", self.epsilon, allowed)

    @property
    def _least_scale(self) -> float:
        return self.sigma

    def _panels(self, end: float, least: float = 0.0) -> Array:
        return lattice(self.sigma, self.sensitivity, 1, end, least)
