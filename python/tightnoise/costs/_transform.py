"""Distributions of sums on a lattice by one FFT, with a bound on all that rounding does."""

from __future__ import annotations

import math

import numpy as np
from numpy import fft  # now: NumPy loads it when first used
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]

_UNIT = 2.0**-53
_NEGLIGIBLE = 1e-34  # of a characteristic function; all frequencies together add as much to a mass
_MOST = 0.1
_FEW = 8  # so many places are summed up one by one,
_DIGITS = 1e-11  # if the factors' errors would be more than this


class Transform:
    """The characteristic function of a sum of losses on a lattice, and how wrong it may be.

    Nothing that is dropped, or rounded off, is forgotten: `masses` says by how much they may be too
    small. If factors f_i are off by at most e_i, their product is off by at most

        prod (|f_i| + e_i) - prod |f_i| = prod |f_i| (prod (1 + e_i/|f_i|) - 1).
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._log = np.zeros(size // 2 + 1, dtype=np.complex128)
        self._log_error = np.zeros(size // 2 + 1)  # of prod (1 + e_i/|f_i|)
        self._live = np.arange(size // 2 + 1)  # frequencies at which it is not negligible
        self._peak, self._log_peak = 0, 0.0  # where each loss is at its most probable place

    def multiply(self, offsets: NDArray[np.int64], weights: Array, times: float) -> None:
        """Add `times` losses, each with such weights, 1 in sum, at such different places."""
        largest = int(np.argmax(weights))
        self._peak += int(times) * int(offsets[largest])
        self._log_peak += times * math.log(float(weights[largest]))
        g, error = self._all_at_once(offsets, weights)
        left = self._left(g, error, times)
        self._live = live = self._live[left]
        if offsets.size <= _FEW and times * error > _DIGITS:  # what is left may be little
            g, errors = self._one_by_one(offsets, weights)
        else:
            g, errors = g[left], np.full(live.size, error)
        errors += 4 * _UNIT * np.abs(g)  # of its logarithm
        self._log[live] += times * _log1p(g)
        self._log_error[live] += times * np.log1p(errors / _size(g))

    def _left(self, g: Complexes, error: float, times: float) -> NDArray[np.bool_]:
        """Return at which frequencies all factors and these are not negligible, or may not be.

        No factor is above 1, so what is this small stays so.
        """
        so_far = self._log.real[self._live] + self._log_error[self._live]
        left = so_far + times * np.log(_size(g) + error) > math.log(_NEGLIGIBLE)
        return np.asarray(left)

    def _one_by_one(self, offsets: NDArray[np.int64], weights: Array) -> tuple[Complexes, Array]:
        """Return the factor less 1, of which small ones keep their digits, and its error."""
        g = np.zeros(self._live.size, dtype=np.complex128)
        size_of_terms = np.zeros(self._live.size)
        for offset, weight in zip(offsets.tolist(), weights.tolist(), strict=True):
            angle = self._angle(offset)
            half = np.sin(0.5 * angle)
            g += weight * (-2 * half**2 + 1j * np.sin(angle))
            size_of_terms += weight * 2 * np.abs(half)
        return g, 24 * _UNIT * size_of_terms

    def _all_at_once(self, offsets: NDArray[np.int64], weights: Array) -> tuple[Complexes, float]:
        """Return the same by an FFT: of weights less what would be 1 if all were at place 0."""
        folded = np.bincount(offsets % self._size, weights, minlength=self._size)
        folded[0] -= 1.0
        # An output of the FFT is a sum over all inputs; on its way each is multiplied and added
        # log2 n times, with less than 8 units of error each time.
        error = 8 * _UNIT * math.log2(self._size) * float(np.abs(folded).sum())
        return fft.rfft(folded)[self._live].conj(), error

    def masses(self, places: int) -> tuple[Array, float, float]:
        """Return the masses, moved by so many places, and how wrong they may be.

        What each may be too small by, and the root of the sum of the squares of all errors: what an
        FFT rounds off is bounded in that norm (Higham 2002, "Accuracy and Stability of Numerical
        Algorithms", Theorem 24.2), and what its input lacks is known in it (Parseval).
        """
        size, live = self._size, self._live
        magnitude = np.exp(self._log.real[live])
        spectrum = np.zeros(size // 2 + 1, dtype=np.complex128)
        spectrum[live] = magnitude * np.exp(-1j * (self._log.imag[live] + self._angle(places)))
        # An atom that is most of all is put in after the FFT, which rounds off shares of its input.
        peak, known = self._peak + places, math.exp(self._log_peak)
        known = known if known > _MOST and live.size == spectrum.size else 0.0
        if known > 0:
            spectrum -= known * np.exp(-1j * self._angle(peak))
        mass = fft.irfft(spectrum, size)
        norm = math.sqrt(float((mass * mass).sum())) + known / (4 * math.log2(size))
        mass[peak % size] += known
        wrong = magnitude * (np.expm1(self._log_error[live]) + 32 * _UNIT) + 24 * _UNIT * known
        rounding = 16 * _UNIT * math.log2(size) * norm + 2 * _NEGLIGIBLE  # of the FFT itself
        extra = 2 / size * float(wrong.sum()) + rounding
        error = math.sqrt(2 / size * float((wrong * wrong).sum())) + rounding
        return np.maximum(mass, 0.0), extra, error

    def _angle(self, places: int) -> Array:
        """Return 2 pi times frequency times places, less whole turns: from -pi to pi.

        Turns are taken off exactly, so that a small angle of either sign has all its digits.
        """
        half = self._size // 2
        turns = (self._live * (places % self._size) + half) % self._size - half
        return turns.astype(np.float64) * (2 * math.pi / self._size)


def _size(g: Complexes) -> Array:
    """Return |1 + g|, or what is negligible, if that is more."""
    size: Array = np.sqrt((1 + g.real) ** 2 + g.imag**2)
    return np.maximum(size, _NEGLIGIBLE)


def _log1p(g: Complexes) -> Complexes:
    """Return log(1 + g): without loss for small g, nor where 1 + g is small."""
    near = np.where(np.abs(g) < 0.5, g, 0.0)
    real = np.where(
        near == g,
        0.5 * np.log1p(2 * near.real + near.real**2 + near.imag**2),
        np.log(_size(g)),
    )
    result: Complexes = real + 1j * np.arctan2(g.imag, 1 + g.real)
    return result
