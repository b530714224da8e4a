"""Which mechanism answers a question with the least noise, or with the least error in a range."""

from tightnoise.compare.bounded import BoundedChoice, BoundedRanking, compare_bounded
from tightnoise.compare.noise_ranking import NoiseChoice, NoiseRanking, best_noise

__all__ = [
    "BoundedChoice",
    "BoundedRanking",
    "NoiseChoice",
    "NoiseRanking",
    "best_noise",
    "compare_bounded",
]
