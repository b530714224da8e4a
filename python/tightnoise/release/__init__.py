"""Everyday releases: counts, sums, means, histograms, quantiles, vectors, values in a range."""

from tightnoise.release._bounded import BoundedRelease, release_bounded
from tightnoise.release._counts import release_count, release_histogram
from tightnoise.release._quantiles import release_median, release_quantile
from tightnoise.release._released import (
    HistogramRelease,
    Interval,
    QuantileRelease,
    RatioRelease,
    Release,
    VectorRelease,
)
from tightnoise.release._session import Session, SessionEntry
from tightnoise.release._sums import release_mean, release_sum
from tightnoise.release._vectors import release_vector

__all__ = [
    "BoundedRelease",
    "HistogramRelease",
    "Interval",
    "QuantileRelease",
    "RatioRelease",
    "Release",
    "Session",
    "SessionEntry",
    "VectorRelease",
    "release_bounded",
    "release_count",
    "release_histogram",
    "release_mean",
    "release_median",
    "release_quantile",
    "release_sum",
    "release_vector",
]
