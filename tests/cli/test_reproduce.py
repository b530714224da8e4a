"""`tightnoise reproduce`: tables that hold, a picture that is whole or not there."""

import dataclasses
import functools
import importlib.util
import io
import os
import sys
import time
import types

import pytest
from by_night import by_night

from tightnoise._progress import progress
from tightnoise.cli import main
from tightnoise.reproduce import PAPERS
from tightnoise.reproduce._table import Cell, Row, Table
from tightnoise.reproduce.vmf._tables import _paper_table

PNG = b"\x89PNG\r\n\x1a\n"


def table(ours):
    return Table("A table", "n", ("column",), (Row(1, (Cell(ours, "0.5"),)),))


@pytest.fixture
def paper(monkeypatch):
    """Return paper(ours, draw): put a small paper in the place of the one that takes a second."""

    def replace(ours=0.5, draw=lambda file: file.write(PNG), **fields):
        fields.setdefault("tables", (lambda: table(ours),))
        small = dataclasses.replace(PAPERS["conversion"], draw=draw, **fields)
        monkeypatch.setitem(PAPERS, "conversion", small)
        # As if matplotlib were there: the small paper draws without.
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)

    return replace


@pytest.fixture
def directions(monkeypatch):
    """Leave the paper on directional noise without most of its numbers, which take a minute."""
    tables = functools.partial(_paper_table, (75,)), *PAPERS["vmf"].tables[5:]
    small = dataclasses.replace(PAPERS["vmf"], cells=(), tables=tables)
    monkeypatch.setitem(PAPERS, "vmf", small)


def test_tables(capsys):
    assert main(["reproduce", "conversion"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "A Better Bound Gives a Hundred Rounds" in out
    assert out.count("expected") >= 20
    assert "not valid bounds" in out
    assert max(map(len, out.splitlines())) <= 120


def test_json(report):
    found = report("reproduce", "conversion")
    assert found["paper"]["year"] == 2020
    after = found["tables"][0]["rows"]
    assert [row["T"] for row in after] == [100, 600, 1000, 2000]
    exact = after[0]["figures"]["exact"]
    assert exact["ours"] == pytest.approx(1.99309140442, rel=1e-9)
    assert exact["expected"] == 1.9931
    assert exact["agrees"]


def test_a_figure_that_is_not_the_expected_one(capsys, paper):
    paper(0.7)
    assert main(["reproduce", "conversion"]) == 1
    out, err = capsys.readouterr()
    assert "A table" in out
    assert err == (
        "tightnoise reproduce: not as expected: A table: column, n 1: 0.7, expected 0.5\n"
    )


@pytest.mark.parametrize("arguments", [[], ["mixture"], ["conversion", "--plot"]])
def test_bad_arguments(arguments, refused):
    assert "reproduce: error: " in refused("reproduce", *arguments)


# Long work, and examples


def test_cells_are_computed_before_the_tables(paper):
    done = []
    cells = [functools.partial(done.append, k) for k in range(20)]
    paper(cells=cells, tables=(lambda: table(0.5 if sorted(done) == [*range(20)] else 0.0),))
    assert main(["reproduce", "conversion"]) == 0


def test_a_cell_that_fails_stops_the_others(paper):
    def fail():
        raise RuntimeError("no such cell")

    done = []
    paper(cells=[fail, *[lambda: done.append(time.sleep(0.01))] * 500])
    with pytest.raises(RuntimeError, match="no such cell"):
        main(["reproduce", "conversion"])
    assert len(done) < 500


def test_examples_are_in_place_of_the_tables(capsys, paper):
    paper(0.7, examples=(lambda: Table("Tried", "n", ("a",), (Row(1, (Cell(2.0),)),)),))
    assert main(["reproduce", "conversion", "--examples"]) == 0
    out, _ = capsys.readouterr()
    assert "Tried" in out
    assert "A table" not in out


def test_papers_without_examples(refused):
    line = refused("reproduce", "conversion", "--examples")
    assert line == "tightnoise reproduce: error: conversion has no examples"


@pytest.mark.parametrize(
    ("paper", "module", "name"),
    [("mixtures", "sklearn", "scikit-learn"), ("bounded", "networkx", "networkx")],
)
def test_examples_without_what_they_need(paper, module, name, refused, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    assert refused("reproduce", paper, "--examples") == (
        f"tightnoise reproduce: error: the examples need {name}: pip install 'tightnoise[examples]'"
    )


# The picture


@pytest.mark.parametrize("name", ["conversion", *by_night("vmf")])
def test_plot(name, tmp_path, capsys, directions):
    pytest.importorskip("matplotlib")
    path = tmp_path / "figures.png"
    assert main(["reproduce", name, "--plot", str(path)]) == 0
    assert capsys.readouterr().err == ""
    content = path.read_bytes()
    assert content.startswith(PNG)
    assert content.rstrip().endswith(b"IEND\xaeB`\x82")
    assert int.from_bytes(content[16:20], "big") >= 1200  # width in pixels
    assert os.listdir(tmp_path) == ["figures.png"]


def test_half_a_picture_is_never_left(tmp_path, paper):
    """As `test_sample` has it of every way to fail: no file, and none that was there is lost."""

    def draw(file):
        file.write(PNG)
        raise KeyboardInterrupt

    paper(draw=draw)
    path = tmp_path / "figures.png"
    path.write_bytes(b"precious")
    assert main(["reproduce", "conversion", "--force", "--plot", str(path)]) == 130
    assert os.listdir(tmp_path) == ["figures.png"]
    assert path.read_bytes() == b"precious"


# The progress bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Return terminal(): make stderr one that somebody looks at, and return it.

    To be called in the test: pytest sets stderr once more between fixtures and test.
    """

    def replace():
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    return replace


def fake_tqdm(calls):
    def tqdm(items, **options):
        calls.append(options)
        return iter(items)

    module = types.ModuleType("tqdm")
    module.tqdm = tqdm
    return module


def test_progress_bar_on_a_terminal(terminal, monkeypatch):
    calls, stderr = [], terminal()
    monkeypatch.setitem(sys.modules, "tqdm", fake_tqdm(calls))
    assert list(progress([1, 2], "tables")) == [1, 2]
    assert calls == [{"desc": "tables", "file": stderr, "leave": False, "delay": 0.0}]


def test_no_progress_bar_without_a_terminal(monkeypatch):
    calls = []
    monkeypatch.setitem(sys.modules, "tqdm", fake_tqdm(calls))
    assert list(progress([1, 2], "tables")) == [1, 2]
    assert calls == []


def test_no_progress_bar_without_tqdm(terminal, monkeypatch):
    stderr = terminal()
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert list(progress([1, 2], "tables")) == [1, 2]
    assert stderr.getvalue() == ""


def test_the_real_bar_leaves_nothing_behind(terminal):
    pytest.importorskip("tqdm")
    stderr = terminal()
    assert list(progress([1, 2], "tables")) == [1, 2]
    written = stderr.getvalue()
    assert "tables" in written
    assert not written.rstrip("\r").rsplit("\r", 1)[-1].strip()
