"""Hu et al. (2024), section 6: training with bounded Gaussian noise, on the user's data.

"Privacy Amplification for the Gaussian Mechanism via Bounded Support" trains linear models on
features with the whole data set at each step, and compares rectified and truncated with plain
Gaussian noise at equal accuracy (its figures 3 and 4, hyperparameters in appendix G). Here:
multinomial logistic regression on gradients' orientations or pixels, with NumPy.

What differs from the paper, and why:

- **The baseline** is an L2 clip with plain Gaussian noise. The paper clips the largest coordinate
  for all mechanisms, which multiplies what Gaussian noise costs.
- **Learning rate and clip** are searched for each mechanism and each noise by itself, on examples
  that are held out.
- **Costs are named as what they are.** The sum of per-instance costs along a run of training is
  realised, no bound: `tightnoise.InstanceLedger` says so. The Gaussian's, which is the same for all
  data, is proven, and exact (the paper's Renyi divergences are converted).
- **Both signs and both directions** of the change are covered (erratum to its Algorithm 1).
- **Eta** is an upper bound with the Jacobian of the clip; power iteration is a lower one.

The noise has fixed seeds, and sums of float32 are rounded: the weights of these runs are not
private, and costs are those of exact sums with noise from the operating system.
"""

from tightnoise.reproduce._study import Study
from tightnoise.reproduce.training._study import plan

__all__ = ["STUDY"]

STUDY = Study(
    title="Privacy Amplification for the Gaussian Mechanism via Bounded Support",
    authors="Shengyuan Hu, Saeed Mahloujifar, Virginia Smith, Kamalika Chaudhuri and Chuan Guo",
    year=2024,
    seeds=8,
    plan=plan,
)
"""The study, as `tightnoise reproduce` has it."""
