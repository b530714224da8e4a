"""Compile the core for machines that are not here: python check_targets.py BUILD TARGET...

BUILD is a build by Ninja for this machine. Each file of it, but for the bindings, is compiled by
Zig's Clang, which brings headers of every target and libc++ (pip install ziglang), with the same
warnings as errors. Targets are Zig's: aarch64-macos, x86_64-windows-gnu, x86_64-linux-musl, ...
Nothing is linked or run: for that see check_seeds.py.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# What is kept: not what GCC alone knows, the machine, nor what names files.
KEPT = re.compile(r"-(D|I|W|std=|f(?!no-thread-jumps$|openmp$|lto))")
OPTIONS = ["-O1", "-Wno-pass-failed", "-Wno-unused-command-line-argument"]
LEVELS = {"-march=x86-64-v3": "-march=x86_64_v3", "-march=x86-64-v4": "-march=x86_64_v4"}


def commands(build: Path, target: str) -> Iterator[tuple[str, list[str]]]:
    """Yield what is compiled, and how."""
    text = subprocess.run(
        ["ninja", "-C", build, "-t", "compdb"], check=True, capture_output=True, text=True
    ).stdout
    for entry in json.loads(text[text.index("[") :]):
        source = entry["file"]
        if not source.endswith(".cpp") or "/bindings/" in source:
            continue
        words = shlex.split(entry["command"])
        level = next((word for word in words if word in LEVELS), None)
        if level and not target.startswith("x86_64"):
            continue
        kept = list(filter(KEPT.match, words))
        kept += [f"-isystem{words[at + 1]}" for at, word in enumerate(words) if word == "-isystem"]
        if "windows" in target:
            kept.remove("-fPIC")
        if not target.startswith("x86_64"):
            kept = [word for word in kept if word != "-DTIGHTNOISE_X86_LEVELS"]
        kept += [LEVELS[level]] if level else []
        yield f"{Path(source).name} {level or ''}", [*kept, *OPTIONS, source]


def fault(target: str, command: list[str]) -> str:
    """Return what the compiler says."""
    zig = [sys.executable, "-m", "ziglang", "c++", "-target", target]
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [*zig, *command, "-c", "-o", Path(folder) / "object"], capture_output=True, text=True
        )
    return result.stderr if result.returncode else ""


def main() -> int:
    """Print what does not compile; 0 if all does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("targets", nargs="+", metavar="TARGET")
    options = parser.parse_args()
    wrong = 0
    for target in options.targets:
        jobs = list(commands(options.build, target))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            faults = list(pool.map(lambda job, target=target: fault(target, job[1]), jobs))
        for (name, _), text in zip(jobs, faults, strict=True):
            if text:
                print(f"{target}: {name}\n{text}")
        failed = sum(map(bool, faults))
        print(f"{target}: {len(jobs) - failed} of {len(jobs)} compile", flush=True)
        wrong += failed or not jobs
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
