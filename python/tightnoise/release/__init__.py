"""Everyday releases: counts, sums, means, histograms, quantiles, vectors, values of a known range."""

from tightnoise.release._bounded import BoundedRelease, release_bounded

__all__ = ["BoundedRelease", "release_bounded"]
