"""The SIMD levels of this machine, for tests that run each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tightnoise import _core

LEVELS = [level for level in ("v1", "v3", "v4") if level <= _core.simd_level()]
TESTS = Path(__file__).parent


def digests_at_levels(program: str) -> set[str]:
    """Return what a program, which prints "level digest", has for digests at all levels."""
    printed = [printed_at(level, program).split() for level in LEVELS]
    assert [level for level, _ in printed] == LEVELS
    return {digest for _, digest in printed}


def printed_at(level: str, program: str, *arguments: object) -> str:
    """Return what a Python program prints at a level; it may import what tests do."""
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**os.environ, "TIGHTNOISE_SIMD": level, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
