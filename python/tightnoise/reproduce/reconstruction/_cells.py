"""Cells of tables, from the numbers of several seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tightnoise.reproduce._table import Cell
from tightnoise.reproduce.reconstruction._scope import Scope

__all__ = ["column", "mean", "of_what", "spread"]


def mean(values: Sequence[float]) -> float:
    """Return the mean over the seeds."""
    return float(np.mean(values))


def spread(values: Sequence[float]) -> tuple[Cell, Cell]:
    """Return the mean over the seeds, and its standard error."""
    error = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else None
    return Cell(mean(values)), Cell(None if error is None else float(error))


def column(found: Sequence[dict[str, Any]], name: str) -> list[float]:
    """Return one number of each attack."""
    return [float(values[name]) for values in found]


def of_what(scope: Scope) -> str:
    """Return what the numbers are of."""
    plural = "s" * (scope.seeds > 1)
    what = f"{len(scope.task.train)} images of {scope.task.name}, {scope.seeds} seed{plural}"
    return f"{what} (printed: Fashion-MNIST)"
