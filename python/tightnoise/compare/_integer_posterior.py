"""The mean of a true value that is an integer given an integer that was released."""

from __future__ import annotations

import numpy as np

from tightnoise._cached import cached_property
from tightnoise.compare._integer_errors import (
    IntegerPrior,
    letters_of,
    noise_of,
    reach_of,
)
from tightnoise.compare._prior import Prior
from tightnoise.compare._tails import Array

_MOST_PAIRS = 2**18  # of a true value and an output, to be looked at one by one
_CHUNK = 2**18  # of them at a time
_MOST_OUTPUTS = 2**21  # of a convolution
_LEAST_SHARE = 1e-6
_LEAST = 1e-300


def is_countable(mechanism: object, width: float) -> bool:
    """Return whether true values and outputs are few enough to add up their probabilities.

    A convolution leaves errors of about 1e-15 reach^2: too much for noise that is rarely so large.
    """
    noise = noise_of(mechanism)
    reach = reach_of(noise, np.inf)
    if _pairs(reach, width) <= _MOST_PAIRS:
        return True
    is_large = noise.rounded().var() > _LEAST_SHARE * float(reach) ** 2
    return is_large and width + 2.0 * reach <= _MOST_OUTPUTS


def _pairs(reach: int, width: float) -> float:
    """Return how many there are where cells meet; elsewhere all outputs of a cell are alike."""
    window = min(width, 2.0 * reach)
    return window * (window + 2.0 * reach)


class IntegerPosterior:
    """The true value, a distance from the lower end, given what was released before any clip."""

    def __init__(self, mechanism: object, width: float, prior: Prior) -> None:
        self._noise, self.width = noise_of(mechanism), width
        self._letters = None if self._noise is mechanism else letters_of(mechanism, width)
        self._reach = reach_of(self._noise, np.inf if self._letters is None else width)
        self._inside: Array = self._noise.rounded().pmf(np.arange(self._reach + 1))
        beyond = self._reach if self._letters is None else 0
        self._first, self._last = -beyond, width + beyond
        self._prior = IntegerPrior(prior, width)

    def mean(self, y: Array) -> Array:
        """Return the mean of the true value given each output."""
        return self._given(np.clip(np.rint(y.ravel()), self._first, self._last))[0].reshape(y.shape)

    def average_square(self) -> float:
        """Return the mean squared error of that mean, averaged over the prior."""
        if self._is_wide:
            return float(self._all[1].sum())
        # Farther from where cells meet all outputs of a cell are alike.
        near = np.arange(-self._reach - 2.0, self._reach + 2.0)
        y = np.unique(np.add.outer(np.floor(self._prior.edges), near))
        y = y[(y >= self._first) & (y <= self._last)]
        alike = np.diff(np.append(y, self._last + 1.0))
        return float(alike @ self._given(y)[1])

    def square(self, theta: Array) -> Array:
        """Return the mean squared error for each true value."""
        return np.array([self._square(each) for each in np.rint(theta).tolist()])

    def places(self) -> Array:
        """Return true values among which the worst lies: the ends are where errors change."""
        near = np.rint(np.linspace(0.0, min(0.25 * self._reach, 0.5 * self.width), 9))
        middle = [np.floor(0.5 * self.width)]
        cells = np.clip(np.floor(self._prior.edges), 0.0, self.width)
        return np.unique(np.concatenate([near, self.width - near, middle, cells]))

    def _square(self, theta: float) -> float:
        low, high = max(theta - self._reach, self._first), min(theta + self._reach, self._last)
        y = np.arange(low, high + 1.0)
        first = int(low - self._first)
        mean = self._all[0][first : first + y.size] if self._is_wide else self.mean(y)
        return float(self._probability(y, np.full(y.shape, theta)) @ (mean - theta) ** 2)

    @property
    def _is_wide(self) -> bool:
        return _pairs(self._reach, self.width) > _MOST_PAIRS

    @cached_property
    def _all(self) -> tuple[Array, Array]:
        """What `_given` returns of all outputs, by convolution: in tails to 1e-15 of the whole."""
        theta = np.arange(self.width + 1.0)
        weight = self._prior.of(theta)
        if self._letters is not None:
            weight /= self._letters.total(theta)
        n = np.arange(-self._reach, self._reach + 1.0)
        probability = self._inside[np.abs(n).astype(np.intp)]
        size = 1 << (theta.size + n.size).bit_length()
        spectrum = np.fft.rfft(weight, size)
        moments = np.array(
            [np.fft.irfft(spectrum * np.fft.rfft(n**p * probability, size), size) for p in range(3)]
        )
        # Outputs from -reach on.
        moments = moments[:, : theta.size + n.size - 1]
        if self._letters is not None:
            moments = moments[:, self._reach : self._reach + theta.size]
            for end, away in ((0, theta), (-1, theta[::-1])):
                index = np.minimum(away, self._reach).astype(np.intp)
                at_end = weight * self._letters.at_end[index]
                side = -1.0 if end == 0 else 1.0
                moments[:, end] = [(at_end * (side * away) ** p).sum() for p in range(3)]
        y = np.arange(self._first, self._last + 1.0)
        total = np.maximum(moments[0], _LEAST)
        mean = np.clip(y - moments[1] / total, 0.0, self.width)
        square = np.maximum(moments[2], 0.0)
        return mean, np.clip(square - moments[1] ** 2 / total, 0.0, square)

    def _given(self, y: Array) -> tuple[Array, Array]:
        """Return the mean of the true value, and the spread about it times the probability."""
        window = np.arange(min(self.width, 2.0 * self._reach) + 1.0)
        found = np.empty((2, y.size))
        step = max(_CHUNK // window.size, 1)
        for start in range(0, y.size, step):
            part = y[start : start + step, np.newaxis]
            last = self.width - window[-1]
            theta = np.clip(part - self._reach, 0.0, last) + window
            weight = self._probability(part, theta)
            weight *= self._prior.of(theta)
            total = weight.sum(axis=1)
            mean = part[:, 0].clip(0.0, self.width)  # of what is never released
            np.divide((weight * theta).sum(axis=1), total, out=mean, where=total > 0.0)
            spread = (weight * (theta - mean[:, np.newaxis]) ** 2).sum(axis=1)
            found[:, start : start + step] = mean, spread
        return found[0], found[1]

    def _probability(self, y: Array, theta: Array) -> Array:
        away = np.abs(y - theta)
        index = np.minimum(away, self._reach).astype(np.intp)
        inside = np.where(away <= self._reach, self._inside[index], 0.0)
        if self._letters is None:
            return inside
        at_end = self._letters.at_end[index]
        return np.where((y == 0) | (y == self.width), at_end, inside) / self._letters.total(theta)
