"""
The compiled core of tightnoise. Private: use the Python API.
"""

from __future__ import annotations

import typing

from . import (
    accounting,
    additive,
    analytic_bound,
    bounded_laplace,
    domain,
    gaussian,
    leakage,
    quantized,
    random,
    rectified,
    sign,
    sketch,
    special,
    truncated,
    von_mises_fisher,
)

__all__: list[str] = [
    "accounting",
    "additive",
    "analytic_bound",
    "bounded_laplace",
    "domain",
    "end_long_work",
    "gaussian",
    "leakage",
    "num_threads",
    "quantized",
    "random",
    "rectified",
    "set_num_threads",
    "sign",
    "simd_level",
    "sketch",
    "special",
    "truncated",
    "von_mises_fisher",
]

def end_long_work(end: bool) -> None: ...
def num_threads() -> int: ...
def set_num_threads(threads: typing.SupportsInt | typing.SupportsIndex) -> None: ...
def simd_level() -> str: ...

__version__: str = "0.1.0"
