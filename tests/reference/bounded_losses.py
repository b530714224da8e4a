"""Privacy losses of noise for a number in [0, w], in units of its scale, in mpmath.

The log-ratio of the densities (or atoms) at the output 0 of the values that are the worst pair, and
its derivative by their distance k. From the definitions, so that digits cancel: hence more of them.
"""

from mpmath import mp

from reference.normal import phi, tail

DIGITS = 120


def mass(t, w):
    """Return the mass in [0, w] of a Gaussian about t in [0, w]."""
    return (mp.erf((w - t) / mp.sqrt(2)) + mp.erf(t / mp.sqrt(2))) / 2


def truncated(k, w):
    """Return log p_(w-k)(0)/p_w(0) of N(s, 1) in [0, w], and the mean at s = w - k."""
    a = w - k
    loss = (w * w - a * a) / 2 + mp.log(mass(w, w) / mass(a, w))
    return loss, a + (phi(a) - phi(k)) / mass(a, w)


def theorem(k, w):
    """Return log Delta C of Theorem 6: by how much normalisers differ that are k apart."""
    nearest = min(k, w / 2)
    slope = (phi(nearest) - phi(w - nearest)) / mass(nearest, w)
    return mp.log(mass(nearest, w) / mass(0, w)), slope


def rectified(k, w):
    """Return log P(s = w - k gives 0)/P(s = w gives 0) of N(s, 1) clipped to [0, w]."""
    a = w - k
    return mp.log(tail(a) / tail(w)), phi(a) / tail(a)


def bounded_laplace(k, w):
    """Return log p_0(0)/p_k(0) of the density e^-|x - s| in [0, w]."""
    normaliser = 2 - mp.exp(-k) - mp.exp(k - w)
    loss = k + mp.log(normaliser / (1 - mp.exp(-w)))
    return loss, 2 * (1 - mp.exp(k - w)) / normaliser


def theorem_bound(k, w):
    """Return the loss that Theorem 6 accounts for, and its derivative."""
    loss, slope = theorem(k, w)
    return k * (w + k / 2) + loss, w + k + slope


FAMILIES = {
    "truncated": truncated,
    "theorem": theorem,
    "rectified": rectified,
    "bounded_laplace": bounded_laplace,
}
