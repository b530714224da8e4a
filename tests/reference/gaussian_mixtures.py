"""Laws made of normal densities, and their hockey-stick divergence, with mpmath.

The divergence is found without derivatives: signs on a dense grid, bisection, and differences of
distribution functions with many digits to spare. Its derivatives are differences of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from mpmath import mp, mpf

from reference.normal import mass as between
from reference.normal import ndtr


class Mixture:
    """Normal densities at `centres`."""

    def __init__(
        self, centres: Sequence[mpf], weights: Sequence[mpf], sigmas: Sequence[mpf]
    ) -> None:
        self.parts = [
            (mpf(c), mpf(w), mpf(s)) for c, w, s in zip(centres, weights, sigmas, strict=True)
        ]
        self.marks = [(c, s) for c, _, s in self.parts]

    def pdf(self, x: mpf) -> mpf:
        return mp.fsum(w * mp.npdf(x, c, s) for c, w, s in self.parts)

    def mass(self, a: mpf, b: mpf) -> mpf:
        return mp.fsum(w * between((a - c) / s, (b - c) / s) for c, w, s in self.parts)

    def mean_abs(self) -> mpf:
        return mp.fsum(
            w * (s * mp.sqrt(2 / mp.pi) * mp.exp(-((c / s) ** 2) / 2) + c * (1 - 2 * ndtr(-c / s)))
            for c, w, s in self.parts
        )

    def variance(self) -> mpf:
        return mp.fsum(w * (s * s + c * c) for c, w, s in self.parts)


class QuasiGaussian:
    """A normal density at 0, and one at +-sensitivity on either side."""

    def __init__(self, sigma: mpf, epsilon: mpf, sensitivity: mpf) -> None:
        self.sigma, self.distance = mpf(sigma), mpf(sensitivity)
        self.centre = mp.exp(mpf(epsilon))
        self.total = self.centre + 2 * ndtr(self.distance / self.sigma)
        self.marks = [(c * self.distance, self.sigma) for c in (-1, 0, 1)]

    def pdf(self, x: mpf) -> mpf:
        side = mp.npdf(abs(x), self.distance, self.sigma)
        return (self.centre * mp.npdf(x, 0, self.sigma) + side) / self.total

    def mass(self, a: mpf, b: mpf) -> mpf:
        s, d = self.sigma, self.distance
        sum_ = self.centre * between(a / s, b / s)
        if a < 0:
            sum_ += between((a + d) / s, (min(b, 0) + d) / s)
        if b > 0:
            sum_ += between((max(a, 0) - d) / s, (b - d) / s)
        return sum_ / self.total

    def moment(self, power: int) -> mpf:
        ends = [0, self.distance, self.distance + 50 * self.sigma]
        ends += [self.distance + k * self.sigma for k in range(-8, 9, 2)]
        ends += [k * self.sigma for k in range(2, 40, 4)]
        return 2 * mp.quad(lambda x: x**power * self.pdf(x), sorted(x for x in ends if x >= 0))

    def mean_abs(self) -> mpf:
        return self.moment(1)

    def variance(self) -> mpf:
        return self.moment(2)


Law = Mixture | QuasiGaussian


def multi_gaussian(sigma: float, epsilon: float, sensitivity: float, modes: int) -> Mixture:
    ks = range(-modes, modes + 1)
    weights = [mp.exp(-abs(k) * mpf(epsilon)) for k in ks]
    total = mp.fsum(weights)
    return Mixture(
        [k * mpf(sensitivity) for k in ks], [w / total for w in weights], [mpf(sigma)] * len(ks)
    )


def scale_mixture(
    locations: Sequence[float], weights: Sequence[float], sigmas: Sequence[float]
) -> Mixture:
    total = mp.fsum(mpf(w) for w in weights)
    return Mixture(
        [sign * mpf(c) for c in locations for sign in (1, -1)],
        [mpf(w) / 2 / total for w in weights for _ in (1, -1)],
        [s for s in sigmas for _ in (1, -1)],
    )


def grid(law: Law, shift: mpf) -> list[mpf]:
    """Points among which no two roots of f(x + shift) = e^epsilon f(x) that count are missed."""
    points = {mpf(0), -shift, -shift / 2}
    for centre, sigma in law.marks:
        for start in (centre, centre - shift):
            points.update(start + mpf(k) / 5 * sigma for k in range(-50, 51))
    least = min(c for c, _ in law.marks) - shift
    widest = max(s for _, s in law.marks)
    points.update(least - mpf(k) / 2 * widest for k in range(16, 82))
    ordered = sorted(points)
    for a, b in pairwise(ordered):
        if b - a > widest:
            points.update(a + (b - a) * k / 12 for k in range(1, 12))
    return sorted(points)


def bisect(excess: Callable[[mpf], mpf], a: mpf, b: mpf) -> mpf:
    positive = excess(a) > 0
    for _ in range(170):
        middle = (a + b) / 2
        if (excess(middle) > 0) == positive:
            a = middle
        else:
            b = middle
    return (a + b) / 2


def positive_intervals(law: Law, shift: mpf, epsilon: mpf) -> list[tuple[mpf, mpf]]:
    """Return where f(x + shift) > e^epsilon f(x)."""
    factor = mp.exp(epsilon)

    def excess(x: mpf) -> mpf:
        return law.pdf(x + shift) - factor * law.pdf(x)

    points = grid(law, shift)
    signs = [excess(x) > 0 for x in points]
    ends = [points[0]] if signs[0] else []
    for (a, before), (b, after) in pairwise(zip(points, signs, strict=True)):
        if before != after:
            ends.append(bisect(excess, a, b))
    if len(ends) % 2:
        ends.append(points[-1])
    return list(zip(ends[::2], ends[1::2], strict=True))


def hockey_stick(law: Law, shift: mpf, epsilon: mpf, intervals: list[tuple[mpf, mpf]]) -> mpf:
    """Return the divergence, up to the square of errors of the intervals' ends."""
    factor = mp.exp(epsilon)
    return mp.fsum(law.mass(a + shift, b + shift) - factor * law.mass(a, b) for a, b in intervals)


def divergence(law: Law, shift: float, epsilon: float | mpf) -> mpf:
    """Return the divergence where nothing else is asked of the intervals."""
    by, e = mpf(shift), mpf(epsilon)
    return hockey_stick(law, by, e, positive_intervals(law, by, e))
