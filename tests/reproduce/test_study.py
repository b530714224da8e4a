"""Studies: cells that are computed once, and a file that is theirs or refused."""

import os

import pytest

from tightnoise._files import FileError
from tightnoise.reproduce._study import Plan, run


def plan(done, *, about=None, failing=()):
    def cell(name):
        if name in failing:
            raise KeyboardInterrupt
        done.append(name)
        return {"number": len(name)}

    cells = {name: (lambda name=name: cell(name)) for name in ("one", "three", "seven")}
    return Plan(about or {"study": "small", "seeds": 2}, cells, lambda _: [], lambda *_: None)


def test_cells_without_a_file():
    done = []
    assert run(plan(done)) == {"one": {"number": 3}, "three": {"number": 5}, "seven": {"number": 5}}
    assert done == ["one", "three", "seven"]


def test_an_interrupted_study_goes_on(tmp_path):
    path = str(tmp_path / "state.json")
    before, after = [], []
    with pytest.raises(KeyboardInterrupt):
        run(plan(before, failing=("three",)), path)
    assert before == ["one"]
    assert os.listdir(tmp_path) == ["state.json"]
    shown = []
    results = run(plan(after), path, lambda names, kind: shown.append((names, kind)) or names)
    assert after == ["three", "seven"]
    assert shown == [(["three", "seven"], "cells")]
    assert results == run(plan([]))
    assert run(plan([], failing=("one", "three", "seven")), path) == results


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-5], "as the state of a study"),
        (lambda text: "[]", "is not the state of a study"),
        (lambda text: "", "as the state of a study"),
        (lambda text: "\xff", "as the state of a study"),
        (lambda text: '{"about": {}}', "is not the state of a study"),
        (lambda text: text.replace('"number": 5', '"number": 6'), "is damaged"),
        (lambda text: text.replace('"seeds": 2', '"seeds": 3'), "its seeds is 3, and here 2"),
        (lambda text: text.replace('"small"', '"large"'), "its study is 'large', and here 'small'"),
        (lambda text: text.replace('"seeds": 2', '"seeds": 2, "b": 1'), "of another study"),
    ],
)
def test_files_that_are_no_state_of_the_study(tmp_path, change, message):
    path = tmp_path / "state.json"
    run(plan([]), str(path))
    content = change(path.read_text(encoding="utf-8")).encode("latin-1")
    path.write_bytes(content)
    done = []
    with pytest.raises(FileError, match=message) as refused:
        run(plan(done), str(path))
    assert str(path) in str(refused.value)
    assert done == []
    assert path.read_bytes() == content


def test_a_state_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    with pytest.raises(KeyboardInterrupt):
        run(plan([], failing=("three",)), str(path))
    content = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError, match="No space left on device"):
        run(plan([]), str(path))
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["state.json"]
