"""Tables and figures of papers, recomputed and printed beside what is expected.

One module a paper. `PAPERS` lists them by the names that `tightnoise reproduce` knows.
"""

from tightnoise.reproduce import bounded, conversion, mixtures, vmf
from tightnoise.reproduce._paper import Paper

__all__ = ["PAPERS", "Paper"]

PAPERS: dict[str, Paper] = {
    "bounded": bounded.PAPER,
    "conversion": conversion.PAPER,
    "mixtures": mixtures.PAPER,
    "vmf": vmf.PAPER,
}
"""The papers by name."""
