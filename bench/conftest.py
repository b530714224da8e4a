"""One way to time: `timed`. After a run with --benchmark-enable the figures stand side by side.

Every figure is the minimum over the rounds, of one thread unless the name says otherwise. Ratios
are against the other ways of the same group: the fastest of NumPy and SciPy, and every package that
is compared with. GB/s are against the machine's own bandwidth, probed in the same run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's products too are of one thread

import numpy as np
import pytest

from tightnoise import _core

_BASELINES = {  # by what the name of a benchmark holds
    "careful": "NumPy, projecting twice",
    "numpy": "NumPy/SciPy",
    "scipy": "NumPy/SciPy",
    "opacus": "Opacus",
    "dp_accounting": "dp-accounting",
    "opendp": "OpenDP",
}


@dataclass
class Figure:
    group: str
    name: str
    seconds: float
    elements: int
    nbytes: int

    @property
    def baseline(self) -> str | None:
        """Whose way this is, if not ours."""
        return next((owner for way, owner in _BASELINES.items() if way in self.name), None)

    @property
    def each(self) -> float:
        return self.seconds / self.elements


_figures: list[Figure] = []


@pytest.fixture(autouse=True)
def one_thread():
    before = _core.num_threads()
    _core.set_num_threads(1)
    yield
    _core.set_num_threads(before)


@pytest.fixture
def timed(benchmark, request) -> Callable[..., object]:
    """Return run(group, function, elements, nbytes=0): time function(), return its result."""

    def run(group: str, function: Callable[[], object], elements: int, nbytes: int = 0) -> object:
        benchmark.group = group
        result = benchmark(function)
        benchmark.extra_info["simd_level"] = _core.simd_level()
        if benchmark.stats is not None:
            figure = Figure(group, request.node.name, benchmark.stats.stats.min, elements, nbytes)
            benchmark.extra_info["ns_per_element"] = round(figure.seconds / elements * 1e9, 4)
            if nbytes:
                benchmark.extra_info["GB_per_s"] = round(nbytes / figure.seconds / 1e9, 2)
            _figures.append(figure)
        return result

    return run


def probe_bandwidth(data: np.ndarray) -> dict[str, float]:
    """Return GB/s of reading `data` (one thread) and of copying it (bytes read and written)."""
    copy = np.empty_like(data)
    ways = {
        "read": (data.nbytes, lambda: data.sum()),
        "copy": (2 * data.nbytes, lambda: np.copyto(copy, data)),
    }
    return {name: nbytes / fastest(function) / 1e9 for name, (nbytes, function) in ways.items()}


def fastest(function: Callable[[], object], repeats: int = 7) -> float:
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _figures:
        return
    terminalreporter.section(f"time an element, SIMD level {_core.simd_level()}")
    write = terminalreporter.write_line
    for megabytes in (0.5, 8, 400):
        probe = probe_bandwidth(np.ones(int(megabytes * 131072)))
        write(
            f"bandwidth of this machine, {megabytes:g} MB: read {probe['read']:.1f} GB/s, "
            f"copy {probe['copy']:.1f} GB/s"
        )
    groups = dict.fromkeys(figure.group for figure in _figures)
    for group in groups:
        write("")
        write(group)
        members = [figure for figure in _figures if figure.group == group]
        baselines: dict[str, float] = {}
        for figure in members:
            if figure.baseline:
                fastest_so_far = baselines.get(figure.baseline, np.inf)
                baselines[figure.baseline] = min(fastest_so_far, figure.each)
        for figure in members:
            text = f"  {figure.name:<52} {duration(figure.each)}"
            if figure.nbytes:
                text += f" {figure.nbytes / figure.seconds / 1e9:7.2f} GB/s"
            if not figure.baseline:
                for owner, each in baselines.items():
                    text += f" {each / figure.each:9.2f}x"
                    if owner != "NumPy/SciPy":
                        text += f" ({owner})"
            write(text)


def duration(seconds: float) -> str:
    return f"{seconds * 1e3:10.4f} ms" if seconds >= 1e-5 else f"{seconds * 1e9:10.3f} ns"
