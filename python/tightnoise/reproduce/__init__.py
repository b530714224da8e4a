"""Tables and figures of papers, recomputed and printed beside what is expected.

One module a paper. `PAPERS` lists them by the names that `tightnoise reproduce` knows, and
`STUDIES` those experiments that are run on the user's data.
"""

from tightnoise.reproduce import bounded, conversion, mixtures, reconstruction, training, vmf
from tightnoise.reproduce._paper import Paper
from tightnoise.reproduce._study import Study

__all__ = ["PAPERS", "STUDIES", "Paper", "Study"]

PAPERS: dict[str, Paper] = {
    "bounded": bounded.PAPER,
    "conversion": conversion.PAPER,
    "mixtures": mixtures.PAPER,
    "vmf": vmf.PAPER,
}
"""The papers by name."""

STUDIES: dict[str, Study] = {
    "reconstruction": reconstruction.STUDY,
    "training": training.STUDY,
}
"""The studies by name."""
