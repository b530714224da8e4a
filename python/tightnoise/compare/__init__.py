"""Which mechanism answers a question with the least noise."""

from tightnoise.compare.noise_ranking import NoiseChoice, NoiseRanking, best_noise

__all__ = ["NoiseChoice", "NoiseRanking", "best_noise"]
