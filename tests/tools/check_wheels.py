"""Check wheels and source distributions in a folder: python check_wheels.py DIST.

Wheels: below 4 MB, no tests, the licence and that of the data, a core without symbols to debug it.
Source distributions: below 4 MB, all that a build needs, and no tests: their tables are large, and
are in a checkout.
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

MOST = 4_000_000  # bytes
NEEDED = ("CMakeLists.txt", "pyproject.toml", "LICENSE", "README.md", "cpp/bindings/module.cpp")


def wheel_faults(path: Path) -> list[str]:
    """Return what is wrong with a wheel."""
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        core = [name for name in names if name.startswith("tightnoise/_core.")]
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        text = wheel.read(metadata).decode()
        binary = wheel.read(core[0]) if core else b""
    faults = []
    if len(core) != 1:
        faults.append(f"one compiled core expected; got {core}")
    if b".debug_info" in binary:
        faults.append("the core is not stripped")
    if any(name.split("/")[0] in ("tests", "bench") for name in names):
        faults.append("tests are in it")
    if "License-Expression: Apache-2.0 AND CC-BY-4.0" not in text:
        faults.append("the licence expression is missing")
    if sum("/licenses/" in name for name in names) < 2:
        faults.append("licence files are missing")
    required = [line for line in text.splitlines() if line.startswith("Requires-Dist: ")]
    if [line for line in required if "extra ==" not in line] != ["Requires-Dist: numpy>=1.26"]:
        faults.append(f"NumPy alone expected; got {required}")
    return faults


def sdist_faults(path: Path) -> list[str]:
    """Return what is wrong with a source distribution."""
    with tarfile.open(path) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    missing = [f"{name} is missing" for name in NEEDED if name not in names]
    return missing + ["tests are in it"] * any(name.startswith("tests") for name in names)


def main() -> int:
    """Print a line a file; 0 if nothing is wrong."""
    folder = Path(sys.argv[1])
    kinds = [(path, wheel_faults) for path in sorted(folder.glob("*.whl"))]
    kinds += [(path, sdist_faults) for path in sorted(folder.glob("*.tar.gz"))]
    wrong = not kinds
    for path, faults_of in kinds:
        size = path.stat().st_size
        faults = faults_of(path) + [f"more than {MOST:,} bytes"] * (size > MOST)
        print(f"{path.name}: {size / 1e6:.2f} MB, {'; '.join(faults) or 'as it should be'}")
        wrong |= bool(faults)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
