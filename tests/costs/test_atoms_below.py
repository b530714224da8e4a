"""Laws on a lattice that a pair dominates: their curves against that of the pair."""

import numpy as np
import pytest
from finite_pairs import both_deltas, random_partly_apart
from lattices import below_of_profile

from tightnoise.costs._excess import Excess


@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-6, 1e-2])
def test_both_directions_of_random_pairs(noise, rng):
    """Below the true curves everywhere, also at epsilons below 0, whatever is rounded up."""
    for _ in range(100):
        p, q = random_partly_apart(rng, int(rng.integers(2, 8)), 0.4)

        def profile(epsilons, p=p, q=q):
            truth = both_deltas(p, q, epsilons * (1 - noise * rng.random(epsilons.size)))
            return tuple(d * (1 + noise * rng.random(d.size)) for d in truth)

        some = (p > 1e-300) & (q > 1e-300)
        losses = np.log(p[some] / q[some]) if some.any() else np.ones(1)
        ends = max(losses.max(), 0.1), max(-losses.min(), 0.1)
        spacing, points = max(ends) / rng.integers(2, 300), int(rng.integers(1, 6))
        both = below_of_profile(
            profile, ends, spacing, points, Excess(noise, noise), symmetric=False
        )
        if both is None:  # all is lost in so wide a cell
            continue
        at = np.append(rng.uniform(-1.2, 1.2, 60) * max(ends), [-40.0, -1e-9, 0.0])
        for below, (a, b) in zip(both, ((p, q), (q, p)), strict=True):
            gains = np.maximum(0, -np.expm1(np.subtract.outer(at, below.values)))
            got = below.infinite + gains @ np.exp(below.log_mass)
            truth, _ = both_deltas(a, b, at)
            assert (got <= truth * (1 + 2e-15) + 1e-17).all()
            assert np.exp(below.log_mass).sum() + below.infinite <= 1


@pytest.mark.parametrize("points", [1, 4])
def test_rare_losses_beyond_a_steep_end_are_kept(points):
    """Where nearly all losses end within a cell or two, what is left beyond is told, too."""
    bulk = np.linspace(-0.06, 0.06, 60)
    losses = np.append(bulk, [0.5, 1.0, 1.5])
    p = np.append(np.exp(-((bulk / 0.01) ** 2)), [1e-9, 1e-10, 1e-11])
    q = p * np.exp(-losses)
    p, q = p / p.sum(), q / q.sum()
    far = np.log(p / q).max()

    def profile(epsilons):
        return both_deltas(p, q, epsilons)

    both = below_of_profile(profile, (far, 0.06), far / 200, points, Excess(0.0), symmetric=False)
    at = np.array([0.3, 0.7, 1.2])
    gains = np.maximum(0, -np.expm1(np.subtract.outer(at, both[0].values)))
    got, truth = gains @ np.exp(both[0].log_mass), profile(at)[0]
    assert (got <= truth * (1 + 1e-12)).all()
    assert (got >= 0.5 * truth).all()
