"""The SIMD levels of this machine, for tests that run programs at each, in a process of its own."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from tightnoise import _core

LEVELS = [level for level in ("v1", "v3", "v4") if level <= _core.simd_level()]
TESTS = Path(__file__).parent

# Runs one program after another: to start costs more than most of them.
RUNS = """
import contextlib, io, json, sys, traceback
for line in sys.stdin:
    program, sys.argv[1:] = json.loads(line)
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(program, {"__name__": "__main__"})
        answer = [out.getvalue(), None]
    except Exception:
        answer = [None, traceback.format_exc()]
    print(json.dumps(answer), flush=True)
"""


def digests_at_levels(program: str) -> set[str]:
    """Return what a program, which prints "level digest", has for digests at all levels."""
    printed = [printed_at(level, program).split() for level in LEVELS]
    assert [level for level, _ in printed] == LEVELS
    return {digest for _, digest in printed}


def printed_at(level: str, program: str, *arguments: object) -> str:
    """Return what a Python program prints at a level; it may import what tests do."""
    process = _process(level)
    process.stdin.write(json.dumps([program, [*map(str, arguments)]]) + "\n")
    process.stdin.flush()
    printed, failure = json.loads(process.stdout.readline())
    assert failure is None, failure
    return printed


def assert_alike(program: str, rtol: float) -> None:
    """Assert that numbers, printed in hexadecimal, are the same for 1 and 2 threads, and alike.

    The program gets the number of threads; `rtol` is what rounding may differ by between levels.
    """
    one = {level: printed_at(level, program, 1) for level in LEVELS}
    for level in LEVELS:
        assert printed_at(level, program, 2) == one[level]
        values, first = (
            [float.fromhex(word) for word in one[at].split()] for at in (level, LEVELS[0])
        )
        np.testing.assert_allclose(values, first, rtol=rtol)


@functools.cache
def _process(level: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-c", RUNS],
        env={**os.environ, "TIGHTNOISE_SIMD": level, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.kill)
    return process
