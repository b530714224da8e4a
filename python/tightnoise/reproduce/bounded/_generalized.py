"""The generalized Gaussian mechanism with bounded support, with which the paper compares."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["generalized_gaussian_variance"]


def generalized_gaussian_variance(
    epsilon: float, widths: Sequence[float], sensitivities: Sequence[float]
) -> float:
    """Return sigma^2 of a truncated Gaussian that Liu (2019), Definition 5, proves epsilon-DP.

    It is the sum of 2 L_i D_i + D_i^2, L_i the width and D_i the sensitivity of a coordinate, over
    epsilon: twice what bounds the exponent, which leaves room for the normaliser.

    Examples
    --------
    >>> from tightnoise.reproduce.bounded import generalized_gaussian_variance
    >>> generalized_gaussian_variance(1.0, widths=[10, 8], sensitivities=[4, 2])
    132.0
    """
    terms = (
        (2.0 * width + change) * change for width, change in zip(widths, sensitivities, strict=True)
    )
    return sum(terms) / epsilon
