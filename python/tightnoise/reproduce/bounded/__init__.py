"""Chen and Hale (2024): a Gaussian that is truncated to the domain, and pure privacy.

The paper's bounded Gaussian mechanism draws from a Gaussian around the true value, conditioned on
the known domain, and gives a sigma at which that is epsilon-DP (Theorems 6 and 13). Its Table 1 is
here beside the least sigma. What differs from the paper, and why:

- **The theorems are not tight.** They are true, but bound the normaliser and the exponent at
  different pairs of values. The least sigma^2 is 2.2 to 2.9 times less in Table 1, which spends a
  third of its budget, and up to 3.25 times less for one number.
- **84.3** in Table 1 is 84.384. The other figures are right.
- **35 % less variance** is of the parameter sigma^2. That of the output falls by 0.1 %, because the
  output is all but uniform on the domain.
- **The middle of the domain**, released whatever the data, has less mean squared error than any
  mechanism at any epsilon in Table 1. Of those beside it, bounded Laplace noise does better at 3.
- **Two edges** change the algebraic connectivity by at most 3, not 4 (`--examples`).
- **Clipping** a Gaussian to a known domain gives pure privacy as well, at a greater sigma.

Beside it stand the figures of Hu, Mahloujifar, Smith, Chaudhuri and Guo (2024), "Privacy
Amplification for the Gaussian Mechanism via Bounded Support", which asks what rectified, truncated
and one-bit Gaussians tell of the very theta at hand:

- **Algorithm 1 is below the truth**, by any factor: it takes theta + c for the only
  neighbour, and one of two directions. Figure 1 is here by its rule and soundly.
- **Equations (4) and (6)** are misprinted; the losses and divergences of this package are right.
- **Mean estimation** (section 6.1): 30 % less cost with an error within 0.5 % is impossible.

Figures 3 and 4 are not here: they are accuracies of classifiers of images, trained on downloaded
data over a grid of hyperparameters.
"""

from tightnoise.reproduce._paper import Paper
from tightnoise.reproduce.bounded._errata import errata_table
from tightnoise.reproduce.bounded._estimation import TABLES as ESTIMATION
from tightnoise.reproduce.bounded._estimation import mean_estimation
from tightnoise.reproduce.bounded._figures import draw
from tightnoise.reproduce.bounded._graph import EXAMPLES as GRAPH
from tightnoise.reproduce.bounded._leakage import TABLES as LEAKAGE
from tightnoise.reproduce.bounded._table_one import TABLES as TABLE_ONE
from tightnoise.reproduce.bounded._univariate import TABLES as UNIVARIATE

__all__ = ["PAPER"]

PAPER = Paper(
    title="The Bounded Gaussian Mechanism for Differential Privacy",
    authors="Bo Chen and Matthew Hale",
    year=2024,
    tables=(*TABLE_ONE, *UNIVARIATE, *LEAKAGE, errata_table, *ESTIMATION),
    draw=draw,
    examples=(*GRAPH, mean_estimation),
)
"""The paper, as `tightnoise reproduce` has it."""
