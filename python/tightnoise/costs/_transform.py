"""Distributions of sums on a lattice by one FFT, with a bound on all that rounding does."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy import fft  # now: NumPy loads it when first used
from numpy.typing import NDArray

Array = NDArray[np.float64]

_UNIT = 2.0**-53
_NEGLIGIBLE = 1e-34  # of a characteristic function; all frequencies together add as much to a mass
_MOST = 0.1
_FEW = 8  # so many places are summed up one by one,
_DIGITS = 1e-11  # if the factors' errors would be more than this
_BLOCK = 2**13  # frequencies at a time: what is worked on stays near the processor


class Transform:
    """The characteristic function of a sum of losses on a lattice, and how wrong it may be.

    Nothing that is dropped, or rounded off, is forgotten: `masses` says by how much they may be too
    small. If factors f_i are off by at most e_i, their product is off by at most

        prod (|f_i| + e_i) - prod |f_i| = prod |f_i| (prod (1 + e_i/|f_i|) - 1).
    """

    def __init__(self, size: int) -> None:
        self._size = size
        count = size // 2 + 1
        self._log_size = np.zeros(count)  # -infinity where it is negligible,
        self._turn = np.zeros(count)  # and its argument
        self._log_error = np.zeros(count)  # of prod (1 + e_i/|f_i|)
        self._blocks = [slice(at, min(at + _BLOCK, count)) for at in range(0, count, _BLOCK)]
        self._peak, self._log_peak = 0, 0.0  # where each loss is at its most probable place

    def multiply(self, offsets: NDArray[np.int64], weights: Array, times: int) -> None:
        """Add `times` losses, each with such weights, 1 in sum, at such different places."""
        largest = int(np.argmax(weights))
        self._peak += times * int(offsets[largest])
        self._log_peak += times * math.log(float(weights[largest]))
        folded = np.bincount(offsets % self._size, weights, minlength=self._size)
        folded[0] -= 1.0  # so that the factor less 1, of which small ones keep their digits, is g
        # An output of the FFT is a sum over all inputs; on its way each is multiplied and added
        # log2 n times, with less than 8 units of error each time.
        error = 8 * _UNIT * math.log2(self._size) * float(np.abs(folded).sum())
        factor = fft.rfft(folded)
        is_few = offsets.size <= _FEW and times * error > _DIGITS  # what is left may be little
        remaining = []
        for block in self._blocks:
            g = _Number(factor.real[block], -factor.imag[block])
            left = self._left(block, g, error, times)
            if not left.any():
                self._log_size[block] = -np.inf
                continue
            remaining.append(block)
            at = np.arange(block.start, block.stop)
            if not left.all():
                self._log_size[at[~left]] = -np.inf
                at, g = at[left], _Number(g.real[left], g.imag[left])
            errors = np.full(at.size, error)
            if is_few:
                g, errors = self._one_by_one(offsets, weights, at)
            errors += 8 * _UNIT * g.size  # of its logarithm
            self._log_size[at] += times * g.log_beside_one
            self._turn[at] += times * np.arctan2(g.imag, 1 + g.real)
            self._log_error[at] += times * np.log1p(errors / g.beside_one)
        self._blocks = remaining

    def _left(self, block: slice, g: _Number, error: float, times: int) -> NDArray[np.bool_]:
        """Return at which frequencies all factors and these are not negligible, or may not be.

        No factor is above 1, so what is this small stays so.
        """
        so_far = self._log_size[block] + self._log_error[block]
        return np.asarray(so_far + times * np.log(g.beside_one + error) > math.log(_NEGLIGIBLE))

    def _one_by_one(
        self, offsets: NDArray[np.int64], weights: Array, at: NDArray[np.int64]
    ) -> tuple[_Number, Array]:
        """Return the factor less 1 at these frequencies, and its error."""
        real, imag, size_of_terms = np.zeros(at.size), np.zeros(at.size), np.zeros(at.size)
        for offset, weight in zip(offsets.tolist(), weights.tolist(), strict=True):
            angle = self._angle(offset, at)
            half = np.sin(0.5 * angle)
            real -= 2 * weight * half**2
            imag += weight * np.sin(angle)
            size_of_terms += weight * 2 * np.abs(half)
        return _Number(real, imag), 24 * _UNIT * size_of_terms

    def masses(self, places: int) -> tuple[Array, float, float]:
        """Return the masses, moved by so many places, and how wrong they may be.

        What each may be too small by, and the root of the sum of the squares of all errors: what an
        FFT rounds off is bounded in that norm (Higham 2002, "Accuracy and Stability of Numerical
        Algorithms", Theorem 24.2), and what its input lacks is known in it (Parseval).
        """
        size = self._size
        spectrum = np.zeros(size // 2 + 1, dtype=np.complex128)
        # An atom that is most of all is put in after the FFT, which rounds off shares of its input.
        peak, known = self._peak + places, math.exp(self._log_peak)
        is_whole = float(self._log_size.min()) > -math.inf
        known = known if known > _MOST and is_whole else 0.0
        total = squares = 0.0
        for block in self._blocks:
            at = np.arange(block.start, block.stop)
            magnitude = np.exp(self._log_size[block])
            angle = self._turn[block] + self._angle(places, at)
            real, imag = magnitude * np.cos(angle), -magnitude * np.sin(angle)
            if known > 0:
                angle = self._angle(peak, at)
                real -= known * np.cos(angle)
                imag += known * np.sin(angle)
            spectrum.real[block], spectrum.imag[block] = real, imag
            wrong = magnitude * (np.expm1(self._log_error[block]) + 48 * _UNIT)
            wrong += 32 * _UNIT * known
            total += float(wrong.sum())
            squares += float((wrong * wrong).sum())
        mass = fft.irfft(spectrum, size)
        norm = math.sqrt(float((mass * mass).sum())) + known / (4 * math.log2(size))
        mass[peak % size] += known
        rounding = 16 * _UNIT * math.log2(size) * norm + 2 * _NEGLIGIBLE  # of the FFT itself
        extra = 2 / size * total + rounding
        error = math.sqrt(2 / size * squares) + rounding
        return np.maximum(mass, 0.0, out=mass), extra, error

    def _angle(self, places: int, at: NDArray[np.int64]) -> Array:
        """Return 2 pi times frequency times places, less whole turns: from -pi to pi.

        Turns are taken off exactly, so that a small angle of either sign has all its digits.
        """
        half = self._size // 2
        turns = (at * (places % self._size) + half) % self._size - half
        return turns.astype(np.float64) * (2 * math.pi / self._size)


class _Number(NamedTuple):
    """Complex numbers g."""

    real: Array
    imag: Array

    @property
    def size(self) -> Array:
        return np.sqrt(self.real**2 + self.imag**2)

    @property
    def beside_one(self) -> Array:
        """|1 + g|, or what is negligible, if that is more."""
        size: Array = np.sqrt((1 + self.real) ** 2 + self.imag**2)
        return np.maximum(size, _NEGLIGIBLE)

    @property
    def log_beside_one(self) -> Array:
        """The logarithm of that: without loss for small g, nor where 1 + g is small."""
        square = self.real**2 + self.imag**2
        near = square < 0.25
        return np.where(
            near,
            0.5 * np.log1p(np.where(near, 2 * self.real + square, 0.0)),
            np.log(self.beside_one),
        )
