"""Where a falling function of a positive number comes to 0: few evaluations, each dear."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

_TRIALS = 100
_HIGH = 1.0  # a logarithm of what is no longer taken for near 0
_FARTHER = 4.0  # times as far as before
_PATIENCE = 4  # trials between two ends before what is close enough grows with each, by 4
_MOST_GROWTH = 6
_BLURRED = 16.0  # ends are as close, in steps over which rounding let the function rise
_STALLED = 3  # trials in which the ends must come half as close


class Point(NamedTuple):
    """A number, what is left to 0 there, and the slope of that by the logarithm of the number."""

    x: float
    excess: float = math.nan
    """NaN: it is not known yet."""
    slope: float = -1.0


def least_point(
    excess: Callable[[float], float],
    low: float,
    high: float,
    near: Point,
    close: float,
) -> Point | None:
    """Return nearly the least point from `low` to `high` whose excess is at most 0; None: none is.

    The excess falls with x, as a logarithm does by the logarithm of x; it may be infinite, flat or
    jump. Where it comes to minus infinity, what it is the logarithm of falls to 0 like a line.
    Secants through the last two points find the next one: from where the search begins, `near.x`
    and with its slope, outwards until there is a point on either side, then between these, with
    bisection where that stalls. They aim at half of `close` below 0, the most that the excess of
    the answer is below, unless `low` itself is no more than 0, the function jumps (then the answer
    is a tenth as close to where it does), or trials are many: `_PATIENCE`.
    """
    below: Point | None = None  # the nearest ones known to either side
    above: Point | None = None
    last: Point | None = None
    x, slope, reach = near.x, near.slope, 0.0
    between, blur, gaps, falls_to_zero = 0, 0.0, [math.inf], False
    for _ in range(_TRIALS):
        value = near.excess if last is None and not math.isnan(near.excess) else excess(x)
        falls_to_zero = falls_to_zero or value == -math.inf
        height = _height(value) if falls_to_zero else value
        if last is not None and x != last.x and math.isfinite(value - last.excess):
            before = _height(last.excess) if falls_to_zero else last.excess
            secant = (height - before) / _log_ratio(x, last.x)
            slope = secant if secant < 0 else slope
            if secant > 0:
                blur = max(blur, abs(_log_ratio(x, last.x)))
        point = Point(x, value, slope)
        if value <= 0:
            above = point
            if value >= -close * _patience(between) or x == low:
                return above
        else:
            below = point
            if x == high:
                return None
        move = (-0.5 * close - height) / slope if math.isfinite(value) else math.inf
        is_nearer = last is None or 4 * abs(value) < abs(last.excess)  # by a good deal
        if below is None or above is None:
            # Outwards, at least twice as far as before unless that came nearer to 0.
            step = max(abs(move), 0.0 if is_nearer else 2.0 * reach)
            step = step if math.isfinite(step) else max(1.0, 2.0 * reach)
            if last is not None:  # not far beyond where the secant was
                step = min(step, max(1.0, _FARTHER * reach))
            trial = _moved(x, step if above is None else -step, low, high)
            if trial == x:
                trial = math.nextafter(x, high if above is None else low)
            reach = abs(_log_ratio(trial, x))
        else:
            between += 1
            gaps.append(_log_ratio(above.x, below.x))
            if gaps[-1] < max(0.1 * close, _BLURRED * blur):
                return above  # it jumps there, or rounding is all that is left
            trial = _moved(x, move, low, high) if math.isfinite(move) else x
            is_stalled = len(gaps) > _STALLED and gaps[-1] > 0.5 * gaps[-1 - _STALLED]
            if (is_stalled and not is_nearer) or not below.x < trial < above.x:
                trial = math.sqrt(below.x) * math.sqrt(above.x)
                gaps = [math.inf]
        last, x = point, trial
    return above


def _height(value: float) -> float:
    """Return e^value - 1, and beyond `_HIGH` what goes on from there in a line."""
    return math.expm1(min(value, _HIGH)) + math.exp(_HIGH) * max(value - _HIGH, 0.0)


def _patience(between: int) -> float:
    return float(4 ** min(max(0, between - _PATIENCE), _MOST_GROWTH))


def _log_ratio(x: float, y: float) -> float:
    ratio = x / y
    return math.log(ratio) if 0 < ratio < math.inf else math.log(x) - math.log(y)


def _moved(x: float, move: float, low: float, high: float) -> float:
    """Return x e^move, no farther than the ends."""
    if move >= _log_ratio(high, x):
        return high
    if move <= _log_ratio(low, x):
        return low
    return x * math.exp(move) if abs(move) < 1 else math.exp(math.log(x) + move)


def most_count(excess: Callable[[int], float], near: int, most: int) -> int:
    """Return the largest count from 0 to `most` whose excess is at most 0; it rises with the count.

    Secants by logarithms, as above, on whole numbers, with bisection where they take too long: one
    more than the answer is too many.
    """
    good, bad, slope = 0, most + 1, 0.5  # a cost in proportion to the root of the count
    count, last = min(max(near, 1), most), (1, math.inf)
    for trial in itertools.count():
        value = excess(count)
        if math.isfinite(value - last[1]):
            slope = min(max((value - last[1]) / _log_ratio(count, last[0]), 0.25), 4.0)
        good, bad = (count, bad) if value <= 0 else (good, count)
        if bad - good == 1:
            return good
        last = (count, value)
        if math.isfinite(value) and trial % 16 < 12:
            guess = math.floor(count * math.exp(min(-value / slope, 36.0)))
        else:
            guess = math.isqrt(max(good, 1) * bad)
        count = min(max(guess, good + 1), bad - 1)
    raise AssertionError  # there is always another trial
