"""The Python in README.md runs as printed."""

import math
import re
from pathlib import Path

import pytest

from tightnoise.cli import main

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)


def test_readme_has_an_example():
    assert BLOCKS


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_example_runs(number, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], f"README.md, block {number + 1}", "exec"), {})
    printed = [float(word) for word in capsys.readouterr().out.split()]
    assert printed
    assert all(0 < cost < math.inf for cost in printed)


def test_printed_costs_are_those_of_the_command(capsys):
    """The table in README.md is what `tightnoise account` prints."""
    assert main(["account"]) == 0
    assert capsys.readouterr().out.strip() in README.read_text(encoding="utf-8")
