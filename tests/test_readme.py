"""The Python in README.md runs as printed."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)


def test_readme_has_an_example():
    assert BLOCKS


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_example_runs(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], f"README.md, block {number + 1}", "exec"), {})
