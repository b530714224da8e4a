"""The cost of a step of DP-SGD by its noise multiplier."""

from __future__ import annotations

from tightnoise._validate import fraction, positive
from tightnoise.costs._cost import Cost
from tightnoise.costs._gaussian_pair import GaussianPair
from tightnoise.costs._leaf_sum import Sampling
from tightnoise.costs._sampling import is_fixed_size


def training_step(noise_multiplier: float, sampling_rate: float, sampling: Sampling) -> Cost:
    """Return the cost of a noisy sum of clipped gradients of a batch.

    The noise multiplier is sigma / C for every way of sampling: a record that is there or not
    changes the sum by C, one that is replaced by 2 C.
    """
    multiplier = positive("noise_multiplier", noise_multiplier)
    rate = fraction("sampling_rate", sampling_rate)
    if is_fixed_size(sampling):
        pair = GaussianPair(0.5 * multiplier, adjacency="replace-one")
    else:
        pair = GaussianPair(multiplier)
    return Cost._of([(pair, 1)]).sampled(rate, sampling)
