"""Write (or with --check compare) the stubs of the compiled core, python/tightnoise/_core."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

VERSION = re.compile(r"__version__: str = .*")  # no interface
TARGET = Path(__file__).parents[2] / "python" / "tightnoise" / "_core"


def generate(directory: Path) -> dict[str, str]:
    """Return the stub texts of the installed core, formatted, by file name."""
    command = [sys.executable, "-m", "pybind11_stubgen", "tightnoise._core", "-o", str(directory)]
    subprocess.run(command, check=True)
    made = directory / "tightnoise" / "_core"
    config = TARGET.parents[2] / "pyproject.toml"
    for action in (["check", "--fix-only", "--quiet"], ["format", "--quiet"]):
        subprocess.run(["ruff", *action, "--config", str(config), str(made)], check=True)
    texts = {path.name: path.read_text() for path in sorted(made.glob("*.pyi"))}
    return {name: VERSION.sub("__version__: str", text) for name, text in texts.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as directory:
        made = generate(Path(directory))
    if check:
        kept = {path.name: path.read_text() for path in sorted(TARGET.glob("*.pyi"))}
        stale = sorted(name for name in made.keys() | kept if made.get(name) != kept.get(name))
        if stale:
            print(f"stale stubs: {', '.join(stale)}; run python3 {Path(__file__).name}")
        return int(bool(stale))
    TARGET.mkdir(exist_ok=True)
    for old in TARGET.glob("*.pyi"):
        old.unlink()
    for name, text in made.items():
        (TARGET / name).write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
