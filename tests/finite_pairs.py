"""Pairs of distributions on a few outcomes, and their divergences by the sum over all of these."""

import mpmath as mp
import numpy as np


def random_pair(rng, size, concentration=0.5):
    """Some losses are beyond 5, and one may be infinite."""
    p, q = rng.dirichlet(np.full(size, concentration), 2) + 1e-9
    if rng.random() < 0.3:
        q[0] = 0.0
    return p / p.sum(), q / q.sum()


def random_partly_apart(rng, size, concentration):
    """In half of the pairs each has an outcome that the other has not."""
    p, q = rng.dirichlet(np.full(size, concentration), 2)
    if rng.random() < 0.5:
        q[0], p[1] = 0.0, 0.0
        p, q = p / p.sum(), q / q.sum()
    return p, q


def both_deltas(p, q, epsilons):
    """D(P||Q) and D(Q||P) at each epsilon."""
    scale = np.exp(np.minimum(epsilons, 700.0))[:, None]
    return np.maximum(p - scale * q, 0).sum(axis=1), np.maximum(q - scale * p, 0).sum(axis=1)


def divergence(p, q, epsilon):
    """D(P||Q), to 30 digits."""
    with mp.workdps(30):
        scale = mp.exp(mp.mpf(epsilon))
        return mp.fsum(max(a - scale * b, 0) for a, b in zip(p, q, strict=True))


def larger_divergence(p, q, epsilon):
    """That of the worse order of the two."""
    return max(divergence(p, q, epsilon), divergence(q, p, epsilon))


def product(*factors):
    """The distribution of independent outcomes, to 30 digits."""
    with mp.workdps(30):
        result = [mp.mpf(1)]
        for factor in factors:
            result = [a * mp.mpf(b) for a in result for b in factor]
        return result
