"""Liu, Selvi and Wiesemann (2026): mixtures of Gaussians for scalar queries, and their privacy.

The paper's multi-Gaussian mechanism adds noise with one Gaussian at each multiple of the
sensitivity, from -K to K times it; its quasi-Gaussian has three. Tables 1 and 4 print how much less
l1 and l2 loss the former has than the analytic Gaussian at the same (epsilon, delta), Tables 5 and
6 the same of the latter. The tables here compute both anew, with sigma calibrated exactly.

What differs from the paper, and why:

- **Tables 1 and 4 are mostly not private.** At the sigma behind the figure the true delta is more
  than twice the target in 86 of 150 cells, and more than a thousand times in 37. The published
  calibration integrates numerically over a long interval, and misses peaks that are much narrower
  than the sensitivity: where the density falls to nothing between its peaks, a shift of half the
  sensitivity is seen at once (for epsilon 3 and delta 1e-5, with a probability of 1).
- **At most 20 modes** are too few for small epsilon. With as many as help, 149 cells improve.
- **Tables 5 and 6** agree but for 6 and 5 figures. The paper's Algorithm 4 is not the least sigma
  where its second bound decides (large delta, or epsilon from 2 on): the exact one is beside it.
- **The means** of Table 5 are 9.64 and 17.62 (sd), where the text has 17.62 for both.
- **Composition** (Corollary 3.7) by zCDP is true and says next to nothing about few releases; the
  exact figures beside it are by privacy-loss distributions.

The paper's section D.7 trains a classifier with 800 scalar releases, and finds the mixtures ahead
of the Gaussian. At equal exact privacy they are not, as the example shows. There is a reason. With
many small releases a law of noise costs what its Fisher information says, and of all laws with the
same information the Gaussian has the least variance (Cramer-Rao).
"""

from tightnoise.reproduce._paper import Paper
from tightnoise.reproduce.mixtures._cells import multi_cell, printed_mixture, quasi_cell
from tightnoise.reproduce.mixtures._descent import coordinate_descent
from tightnoise.reproduce.mixtures._figures import draw
from tightnoise.reproduce.mixtures._tables import CELLS, TABLES

__all__ = ["PAPER", "multi_cell", "printed_mixture", "quasi_cell"]

PAPER = Paper(
    title="Mind the Gap: Mixtures of Gaussians in Approximate Differential Privacy",
    authors="Huikang Liu, Aras Selvi and Wolfram Wiesemann",
    year=2026,
    tables=TABLES,
    draw=draw,
    cells=CELLS,
    examples=(coordinate_descent,),
)
"""The paper, as `tightnoise reproduce` has it."""
