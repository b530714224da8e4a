"""Chen and Hale (2024): a Gaussian that is truncated to the domain, and pure privacy.

The paper's bounded Gaussian mechanism draws from a Gaussian around the true value, conditioned on
the known domain, and gives a sigma at which that is epsilon-DP (Theorems 6 and 13).
"""

from tightnoise.reproduce._paper import Paper
from tightnoise.reproduce.bounded._figures import draw
from tightnoise.reproduce.bounded._generalized import generalized_gaussian_variance
from tightnoise.reproduce.bounded._table_one import TABLES as TABLE_ONE

__all__ = ["PAPER", "generalized_gaussian_variance"]

PAPER = Paper(
    title="The Bounded Gaussian Mechanism for Differential Privacy",
    authors="Bo Chen and Matthew Hale",
    year=2024,
    tables=(*TABLE_ONE,),
    draw=draw,
)
"""The paper, as `tightnoise reproduce` has it."""
