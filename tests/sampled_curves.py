"""The curves of mechanisms on random samples, of which no more than their curve is known."""

from tightnoise.costs import RdpCurve
from tightnoise.costs._subsampling import subsampled


def poisson_subsampled(curve, rate):
    """Return the bounds on Poisson samples at the orders of the curve."""
    return _sampled(curve, rate, fixed_size=False)


def sampled_without_replacement(curve, size, population):
    """Return the bounds on samples of a fixed size at the orders of the curve."""
    return _sampled(curve, size / population, fixed_size=True)


def _sampled(curve, rate, *, fixed_size):
    alphas = curve.alphas
    if rate in (0, 1):
        return RdpCurve(alphas, curve.values * rate)
    return RdpCurve(alphas, subsampled(curve, alphas, rate, fixed_size=fixed_size))
