"""What is run, with which settings."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

from tightnoise._validate import require
from tightnoise.reproduce._images import read_images
from tightnoise.reproduce._study import Plan, Settings
from tightnoise.reproduce.training._cells import ALL, SOME, Grid, cell
from tightnoise.reproduce.training._descent import STEPS, Clip
from tightnoise.reproduce.training._features import Task, task_of
from tightnoise.reproduce.training._figures import draw
from tightnoise.reproduce.training._results import SHARES, Found, cell_name, shares_of
from tightnoise.reproduce.training._tables import tables

_RATES = (0.2, 0.4, 0.8, 1.6)
_CLIPS = {"linf": (0.01,), "l2": (0.2,)}
_CLIPS_FULL = {"linf": (0.005, 0.02), "l2": (0.1, 0.4)}
_LEAST, _MOST = 400, 5_000  # examples to learn from; with --full all
_WATCHED = 300


def plan(settings: Settings) -> Plan:
    """Return the study on the data of the settings; ValueError for too few examples."""
    if settings.batches:
        raise ValueError("training has no --batches: each step takes all examples")
    images = read_images(settings.data)
    task = task_of(images, len(images.train) if settings.full else _MOST)
    count = len(task.train.labels)
    require(count >= _LEAST, "examples to learn from", count, f"at least {_LEAST}")
    noises = ALL if settings.full else SOME
    clips = _CLIPS_FULL if settings.full else _CLIPS
    cells: dict[str, Callable[[], Any]] = {}
    for norm in SHARES:
        grid = Grid([Clip(norm, bound) for bound in clips[norm]], _RATES, _WATCHED)
        for name, noise in noises.items():
            for share in shares_of(norm, count):
                cells[cell_name(norm, name, share)] = functools.partial(
                    cell, task, noise, share, grid, settings.seeds
                )
    about = {
        "study": "training",
        "data": _digest(task),
        "seeds": settings.seeds,
        "steps": STEPS,
        "learning rates": _RATES,
        "clips": clips,
        "cells": [*cells],
        "examples whose costs are computed": _WATCHED,
    }

    def found(results: Any) -> Found:
        features = task.train.features
        numbers, watched = task.classes * features.shape[1], min(len(features), _WATCHED)
        return Found(task.name, len(features), numbers, settings.seeds, watched, [*noises], results)

    return Plan(
        about,
        cells,
        lambda results: tables(found(results)),
        lambda results, file: draw(found(results), file),
    )


def _digest(task: Task) -> str:
    digest = hashlib.sha256()
    for examples in (task.train, task.held_out, task.test):
        for array in examples:
            digest.update(str(array.shape).encode() + array.tobytes())
    return digest.hexdigest()[:16]
