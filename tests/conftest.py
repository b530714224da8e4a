"""Shared fixtures: fixed seeds, and the table of worst errors that ends every test run.

With `-n 2` (pytest-xdist) each process hands its part of the table to the one that prints it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

# Processes that share the cores: a thread that waits for more work by trying again and again takes
# the time of another process, half of all that tests take. Read as NumPy and the core are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest

import tightnoise

_worst: dict[str, tuple[float, float]] = {}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240501)


@pytest.fixture
def check_error() -> Callable[[str, float, float], None]:
    """Return check(name, worst, limit): assert worst <= limit, and list both after the run."""

    def check(name: str, worst: float, limit: float) -> None:
        _note(name, worst, limit)
        assert worst <= limit, f"{name}: worst error {worst:.3g} is above the limit {limit:.3g}"

    return check


def _note(name: str, worst: float, limit: float) -> None:
    previous = _worst.get(name, (0.0, limit))[0]
    _worst[name] = (max(previous, float(worst)), limit)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    for name, (worst, limit) in getattr(node, "workeroutput", {}).get("worst", {}).items():
        _note(name, worst, limit)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["worst"] = {
            name: (float(worst), float(limit)) for name, (worst, limit) in _worst.items()
        }


def pytest_report_header() -> str:
    core = tightnoise._core
    level, threads = core.simd_level(), core.num_threads()
    return f"tightnoise {tightnoise.__version__}: SIMD level {level}, {threads} threads"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _worst:
        return
    terminalreporter.section("worst errors (relative unless named otherwise)")
    for name, (worst, limit) in sorted(_worst.items()):
        terminalreporter.write_line(f"{name:<60} {worst:9.2e}   limit {limit:8.1e}")
