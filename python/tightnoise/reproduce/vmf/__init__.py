"""Biswas et al. (2025): directional noise, Gaussian noise, and what their epsilons compare.

"Comparing privacy notions for protection against reconstruction attacks in machine learning" trains
a network of 13,700 parameters for 3 epochs, with batches of 128 out of 60,000 records, and with
noise on the sum of the clipped gradients: Gaussian, or von Mises-Fisher noise on its direction. It
derives an epsilon at delta = 1/60000 for concentrations kappa of the latter (Table I) and pairs
each with the sigma of a Gaussian that is to have the same (Table IV). The tables here recompute
both, and say what the figures would have to be.

What differs from the paper, and why:

- **Epochs for steps.** The paper composes 3 releases of the von Mises-Fisher mechanism, but 1407
  (3 epochs of 469 batches) of the Gaussian. All 1407 are made. The printed 0.49 is 1.4 by the exact
  Renyi divergence, 41.02 is 125 and 173 is 450: the pairs of Table IV are not equally private, and
  the von Mises-Fisher mechanism looks better than it is.
- **Theorem 2** (Kairouz, Oh and Viswanath) lacks the factor N epsilon_s in front of the second and
  the third term. `Cost.of_approximate(...) * n` has it.
- **Theorem 3** is printed with 1/alpha for 1/(alpha - 1), which gives half the bound at order 2,
  and less than the truth. The paper's numbers were computed with the right one. Its factor 3 is not
  needed.
- **Chords.** Between integer orders the paper interpolates the divergence, which may be above its
  chord. The printed epsilons for kappa 150 and 300 come from such orders. Other losses in the
  method make up for it; at some orders the chord is far below the exact divergence.
- **Neighbours.** Sampling is as if each record were drawn independently and added or removed, where
  the paper's algorithms draw batches of a fixed size and its neighbours differ in the value of one
  record. What such batches cost stands beside, and is a little more.
- **Theorem 5** (Bayes capacity of the Gaussian) has a factor 2 too many in its first term. Clipping
  each of 3 layers to norm 1 gives a product of balls, not a ball of radius 3, and the sum of 128
  clipped gradients, to which the noise is added, lies in a ball of radius 128 at least.

`approach_1` and `approach_2` are the paper's two ways to account for sampled releases, corrected;
`unsound_approach_2` is the second as the paper has it between integer orders, **not a valid
bound**, kept only to trace the printed figures. `exact_epsilon` is in place of either, and
`tight_epsilon_bounds`, by the distribution of all losses, encloses the least that can be proved.
"""

from tightnoise.reproduce._paper import Paper
from tightnoise.reproduce.vmf._costs import (
    approach_1,
    approach_2,
    equal_sigma,
    exact_epsilon,
    gaussian_capacity,
    gaussian_epsilon,
    tight_epsilon_bounds,
    unsound_approach_2,
    vmf_capacity,
)
from tightnoise.reproduce.vmf._figures import draw
from tightnoise.reproduce.vmf._tables import CELLS, TABLES

__all__ = [
    "PAPER",
    "approach_1",
    "approach_2",
    "equal_sigma",
    "exact_epsilon",
    "gaussian_capacity",
    "gaussian_epsilon",
    "tight_epsilon_bounds",
    "unsound_approach_2",
    "vmf_capacity",
]

PAPER = Paper(
    title="Comparing privacy notions for protection against reconstruction attacks in machine "
    "learning",
    authors="Sayan Biswas, Mark Dras, Pedro Faustini, Natasha Fernandes, Annabelle McIver, "
    "Catuscia Palamidessi and Parastoo Sadeghi",
    year=2025,
    tables=TABLES,
    draw=draw,
    cells=CELLS,
)
"""The paper, as `tightnoise reproduce` has it."""
