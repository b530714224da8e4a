"""What tests of special functions share: the errors they promise, and those only the core has."""

from __future__ import annotations

import inspect
import re

import numpy as np

from tightnoise import _core, special


def card(name: str) -> float:
    """Return the error that a public function promises in its docstring."""
    text = " ".join(inspect.getdoc(getattr(special, name)).split())
    return float(re.search(r"[Ee]rror at most ([0-9.e-]+[0-9])", text)[1])


def core(name: str, *arguments: np.ndarray | float) -> np.ndarray:
    """Return the values of a function of the core."""
    arrays = np.broadcast_arrays(*(np.asarray(v, float) for v in arguments))
    out = np.empty(arrays[0].shape)
    getattr(_core.special, name)(*map(np.ascontiguousarray, arrays), out)
    return out
