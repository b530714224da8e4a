"""--plot of every command that has it: what cannot be drawn is refused before the work."""

import importlib.util

import pytest

from tightnoise.cli import main

NUMBER = ["--epsilon=1", "--sensitivity=2"]
COMMANDS = {
    "epsilon": ["epsilon", "--sigma=1", "--delta=1e-5"],
    "best-noise": ["best-noise", *NUMBER],
    "compare-bounded": ["compare-bounded", *NUMBER, "--lower=0", "--upper=9"],
    "reproduce": ["reproduce", "conversion"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_refused(command, tmp_path, refused, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    path = tmp_path / "figure.png"
    path.write_bytes(b"somebody's")
    assert "exists already; --force replaces it" in refused(*command, "--plot", path)
    assert path.read_bytes() == b"somebody's"
    (tmp_path / "folder.png").mkdir()
    for name, message in (
        ("figure.pdf", "must be a .png file"),
        ("figure", "must be a .png file"),
        ("folder.png", "Is a directory"),
        ("no/figure.png", "No such file or directory"),
    ):
        assert message in refused(*command, "--force", "--plot", tmp_path / name)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    line = refused(*command, "--force", "--plot", path)
    assert line == (
        f"tightnoise {command[0]}: error: cannot draw {path} without matplotlib: "
        "pip install 'tightnoise[plot]'"
    )
    assert path.read_bytes() == b"somebody's"


@pytest.mark.parametrize("command", list(COMMANDS.values())[:3], ids=list(COMMANDS)[:3])
def test_drawn(command, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "figure.png"
    path.write_bytes(b"mine")
    assert main([*command, "--plot", str(path), "--force"]) == 0
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("name", ["best-noise", "reproduce"])
def test_drawn_where_nothing_can_be_printed(name, tmp_path, monkeypatch):
    """Hours of work, of which the reader of the figures has gone."""
    pytest.importorskip("matplotlib")

    def fail(*_):
        raise OSError(28, "No space left on device")

    path = tmp_path / "figure.png"
    for module in ("rankings", "reproduce"):
        monkeypatch.setattr(f"tightnoise.cli.{module}.print_json", fail)
    assert main([*COMMANDS[name], "--json", "--plot", str(path)]) == 2
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
