"""What the tests of all commands share."""

import json

import numpy as np
import pytest

from tightnoise.cli import main


@pytest.fixture
def gradient(tmp_path, rng):
    path = tmp_path / "gradient.npy"
    np.save(path, rng.normal(size=(4, 25)))
    return path


@pytest.fixture
def refused(capsys):
    """Return refused(*arguments): run what must fail, with code 2 and nothing on stdout.

    It returns the one line on stderr, which says what is wrong.
    """

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as error:  # from argparse
            code = error.code
        out, err = capsys.readouterr()
        assert code == 2
        assert out == ""
        (line,) = err.splitlines()
        return line

    return run


@pytest.fixture
def report(capsys):
    """Return report(*arguments): run a command with --json, and return what it prints."""

    def run(*arguments):
        assert main([*map(str, arguments), "--json"]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return json.loads(out, parse_constant=pytest.fail)

    return run
