"""Laplace and staircase noise at 50 digits: every integral is a sum over merged pieces."""

import itertools

from mpmath import mp, mpf

DIGITS = 50


class Laplace:
    """Density proportional to e^(-|x|/scale) for |x| < bound."""

    def __init__(self, scale, bound=mp.inf):
        self.scale, self.bound = mpf(scale), mpf(bound)

    def weight(self, x):
        return mp.exp(-abs(x) / self.scale) if abs(x) < self.bound else mpf(0)

    def corners(self, reach):
        end = min(self.bound, 720 * self.scale + reach)
        return [-end, mpf(0), end]

    def pieces(self, corners):
        """(a, b, c, slope): e^(c + slope x) from a to b."""
        for a, b in itertools.pairwise(corners):
            middle = (a + b) / 2
            if abs(middle) < self.bound:
                yield a, b, mpf(0), -mp.sign(middle) / self.scale


class Staircase:
    """Density e^(-epsilon n), n = floor(|x|/step + 1 - gamma) or 0, for |x| < bound."""

    def __init__(self, epsilon, step, gamma, bound=mp.inf):
        self.epsilon, self.step, self.gamma, self.bound = map(mpf, (epsilon, step, gamma, bound))

    def drops(self, x):
        return max(0, int(mp.floor(abs(x) / self.step - self.gamma)) + 1)

    def weight(self, x):
        return mp.exp(-self.epsilon * self.drops(x)) if abs(x) < self.bound else mpf(0)

    def corners(self, reach):
        end = min(self.bound, 720 * self.step / self.epsilon + self.step + reach)
        count = int(mp.ceil(end / self.step)) + 1
        steps = [(self.gamma + n) * self.step for n in range(count)]
        right = [x for x in steps if 0 < x < end] + [end]
        return [-x for x in reversed(right)] + right

    def pieces(self, corners):
        for a, b in itertools.pairwise(corners):
            middle = (a + b) / 2
            if abs(middle) < self.bound:
                yield a, b, -self.epsilon * self.drops(middle), mpf(0)


def _integral(a, b, c, slope):
    """The integral of e^(c + slope x) from a to b."""
    if slope == 0:
        return mp.exp(c) * (b - a)
    return (mp.exp(c + slope * b) - mp.exp(c + slope * a)) / slope


def moment(law, power, low=None):
    """The integral of |x|^power times the weight over x > low."""
    total = mpf(0)
    for a, b, c, slope in law.pieces(sorted({*law.corners(mpf(0)), mpf(0)})):
        if low is not None and b <= low:
            continue
        a = a if low is None else max(a, low)
        a, b, slope = (a, b, slope) if a >= 0 else (-b, -a, -slope)
        if slope == 0:
            total += mp.exp(c) * (b ** (power + 1) - a ** (power + 1)) / (power + 1)
        else:
            rate = -slope
            total += (mp.gammainc(power + 1, rate * a) - mp.gammainc(power + 1, rate * b)) * (
                mp.exp(c) / rate ** (power + 1)
            )
    return total


def divergence(law, shift, epsilon):
    """The integral of (f(x + shift) - e^epsilon f(x))_+."""
    with mp.workdps(DIGITS + 20):
        shift, factor = mpf(shift), mp.exp(mpf(epsilon))
        corners = law.corners(shift)
        merged = sorted({*corners, *(x - shift for x in corners)})
        total = mpf(0)
        for a, b in itertools.pairwise(merged):
            middle = (a + b) / 2
            upper, lower = law.weight(middle + shift), factor * law.weight(middle)
            if upper == 0:
                continue
            (piece,) = law.pieces([a + shift, b + shift])
            c, slope = piece[2] + piece[3] * shift, piece[3]
            if lower == 0:
                total += _integral(a, b, c, slope)
                continue
            (other,) = law.pieces([a, b])
            d, other_slope = mpf(epsilon) + other[2], other[3]
            ends = [a, b]
            if slope != other_slope:
                root = (d - c) / (slope - other_slope)
                ends = [a, root, b] if a < root < b else ends
            for left, right in itertools.pairwise(ends):
                point = (left + right) / 2
                if c + slope * point > d + other_slope * point:
                    total += _integral(left, right, c, slope)
                    total -= _integral(left, right, d, other_slope)
        return total / moment(law, 0)
