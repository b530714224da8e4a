"""The mechanisms by their names on the command line, and the options that make one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import tightnoise as tn
from tightnoise.cli._options import Options, finite, whole

__all__ = ["KINDS", "add_noise"]


class Kind(NamedTuple):
    """A mechanism by its name on the command line."""

    bounded: bool
    make: Callable[[Options], Any]


KINDS = {
    "gaussian": Kind(False, lambda o: tn.Gaussian(o.sigma)),
    "rectified": Kind(True, lambda o: tn.RectifiedGaussian(o.sigma, o.lower, o.upper)),
    "truncated": Kind(True, lambda o: tn.TruncatedGaussian(o.sigma, o.lower, o.upper)),
    "quantized": Kind(True, lambda o: tn.QuantizedGaussian(o.sigma, o.lower, o.upper, o.levels)),
    "sign": Kind(False, lambda o: tn.StochasticSign(o.sigma)),
}


def add_noise(command: argparse.ArgumentParser, *, sigma_required: bool) -> None:
    command.add_argument(
        "--sigma", type=finite, required=sigma_required, metavar="S", help="standard deviation"
    )
    bound = "of the support (rectified, truncated, quantized)"
    command.add_argument("--lower", type=finite, metavar="A", help=f"lower end {bound}")
    command.add_argument("--upper", type=finite, metavar="B", help=f"upper end {bound}")
    command.add_argument(
        "--levels", type=whole, default=4, metavar="L", help="values of quantized; default: 4"
    )
