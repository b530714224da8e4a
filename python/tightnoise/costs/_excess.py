"""How far a privacy profile that is rounded up may exceed the truth."""

from __future__ import annotations

from typing import NamedTuple

LOST = 1e-280
"""Heights below this are rounded up by more than a part of themselves: 0 from below."""


class Excess(NamedTuple):
    """profile(x) <= (1 + height) truth(x (1 - argument)) + absolute, of heights from `LOST` on.

    At x up to about the largest finite loss, and at those that are as good as infinite. Where the
    truth falls to 0, an error of its argument is no small part of it any more.
    """

    height: float
    argument: float = 0.0
    absolute: float = 0.0
