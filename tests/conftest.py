"""Shared fixtures: fixed seeds, and the table of worst errors that ends every test run."""

from __future__ import annotations

from collections.abc import Callable

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
        previous = _worst.get(name, (0.0, limit))[0]
        _worst[name] = (max(previous, float(worst)), limit)
        assert worst <= limit, f"{name}: worst error {worst:.3g} is above the limit {limit:.3g}"

    return check


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
