"""Write (or with --check compare) the stubs of the compiled core, python/tightnoise/_core."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# What pybind11-stubgen writes, and what says as much.
SHORTER = {
    r"__version__: str = .*": "__version__: str",  # no interface
    r"__all__: list\[str\] = \[[^]]*\]\n": "",
    r"typing\.SupportsFloat \| typing\.SupportsIndex": "float",
    r"typing\.SupportsInt \| typing\.SupportsIndex": "typing.SupportsIndex",
    r"typing\.Annotated\[numpy\.typing\.ArrayLike, numpy\.float64\]": "FloatsLike",
    r"numpy\.typing\.NDArray\[numpy\.float64\]": "Floats",
    r"numpy\.ndarray\b": "Array",
}
ALIASES = {
    "Array": "numpy.typing.NDArray[typing.Any]",
    "Floats": "numpy.typing.NDArray[numpy.float64]",
    "FloatsLike": "typing.Annotated[numpy.typing.ArrayLike, numpy.float64]",
}
TARGET = Path(__file__).parents[2] / "python" / "tightnoise" / "_core"


def generate(directory: Path) -> dict[str, str]:
    """Return the stub texts of the installed core, formatted, by file name."""
    command = [sys.executable, "-m", "pybind11_stubgen", "tightnoise._core", "-o", str(directory)]
    subprocess.run(command, check=True)
    made = directory / "tightnoise" / "_core"
    for path in made.glob("*.pyi"):
        path.write_text(shortened(path.read_text()))
    config = TARGET.parents[2] / "pyproject.toml"
    for action in (["check", "--fix-only", "--quiet"], ["format", "--quiet"]):
        subprocess.run(["ruff", *action, "--config", str(config), str(made)], check=True)
    return {path.name: path.read_text() for path in sorted(made.glob("*.pyi"))}


def shortened(text: str) -> str:
    """Return a stub with short names, defined at its head, for the types that recur."""
    for pattern, short in SHORTER.items():
        text = re.sub(pattern, short, text)
    used = [name for name in ALIASES if re.search(rf"\b{name}\b", text)]
    aliases = "".join(f"{name}: typing.TypeAlias = {ALIASES[name]}\n" for name in used)
    imports = "import typing\n" if "import typing\n" not in text and used else ""
    head = re.search(r"^(class |def |@|\w+: )", text, re.M)
    begin = head.start() if head else len(text)
    return f"{text[:begin]}{imports}{aliases}{text[begin:]}"


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
