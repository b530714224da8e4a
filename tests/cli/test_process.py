"""The command as a process of its own, and what it says without a command."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time

import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise.cli import main


@pytest.mark.parametrize("command", [[], ["calibrate"]])
def test_without_a_command_it_helps(command, capsys):
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert out.startswith(" ".join(["usage: tightnoise", *command]))
    assert err == ""


def run(*arguments, **options):
    command = [sys.executable, "-m", "tightnoise", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_subprocess(tmp_path):
    done = run("account", "--mechanism", "truncated-gaussian", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["costs"][0]["mechanism"] == "truncated-gaussian"
    options = ["--mechanism", "stochastic-sign", "--sigma", "1", "--sensitivity", "1"]
    done = run("account", "none.npy", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "tightnoise account: error: cannot read none.npy: No such file or directory\n"
    )
    assert run("--version").stdout == f"tightnoise {tn.__version__}\n"


def test_reader_that_goes_away(tmp_path):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        command = [sys.executable, "-m", "tightnoise", "account", "--mechanism", "gaussian"]
        done = subprocess.run(
            command, stdout=closed, stderr=subprocess.PIPE, timeout=120, cwd=tmp_path
        )
    assert done.returncode == 0
    assert done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk_is_an_error_not_a_traceback():
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "tightnoise", "account", "--mechanism", "gaussian"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode != 0
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


COUNT = ["release", "count", "people.csv", "--epsilon", "0.25", "--session", "budget.json"]


def test_a_release_is_printed_wherever_it_goes(tmp_path):
    """It was paid for: a name that the terminal has no letters for must not lose it."""
    (tmp_path / "people.csv").write_text("größe\n1\n2\n", encoding="utf-8")
    budget = ["--epsilon", "1", "--adjacency", "add-remove"]
    encoding = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert run("session", "budget.json", *budget, cwd=tmp_path).returncode == 0
    done = run(*COUNT, "--name", "Größe", cwd=tmp_path, env=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    assert "gr\\xf6\\xdfe" in done.stdout
    assert "cost" in done.stdout
    done = run("session", "budget.json", cwd=tmp_path, env=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Gr\\xf6\\xdfe" in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("json_too", [[], *by_night(["--json"])])
def test_a_release_that_stdout_does_not_take_is_on_stderr(tmp_path, json_too):
    (tmp_path / "people.csv").write_text("age\n1\n2\n", encoding="utf-8")
    tn.Session(1.0, adjacency="add-remove").save(tmp_path / "budget.json")

    def shell(outputs):
        command = shlex.join([sys.executable, "-m", "tightnoise", *COUNT, *json_too])
        return subprocess.run(
            f"{command} {outputs}", shell=True, capture_output=True, text=True, cwd=tmp_path
        )

    done = shell(">/dev/full")
    assert done.returncode == 3
    first, rest = done.stderr.split("\n", 1)
    assert first == (
        "tightnoise release: error: standard output: No space left on device; what was paid for:"
    )
    assert "value" in json.loads(rest) if json_too else "cost" in rest
    assert len(tn.Session.load(tmp_path / "budget.json").releases) == 1
    assert shell(">/dev/full 2>/dev/full").returncode == 3
    done = shell("--name '' 2>/dev/full")  # nothing is paid, and nobody told
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


@pytest.mark.skipif(os.name == "nt", reason="needs a shell that closes files")
def test_closed_outputs(tmp_path):
    (tmp_path / "people.csv").write_text("age\n1\n2\n", encoding="utf-8")
    tn.Session(1.0, adjacency="add-remove").save(tmp_path / "budget.json")

    def shell(closed):
        command = shlex.join([sys.executable, "-m", "tightnoise", *COUNT])
        return subprocess.run(
            f"{command} {closed}", shell=True, capture_output=True, text=True, cwd=tmp_path
        )

    done = shell(">&-")
    assert done.returncode == 2
    assert done.stderr == "tightnoise: error: standard output is closed\n"
    assert tn.Session.load(tmp_path / "budget.json").releases == ()  # nothing is spent
    done = shell("2>&-")
    assert done.returncode == 0
    assert "cost" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
@pytest.mark.parametrize(
    "arguments",
    [
        "best-noise --epsilon 1e-3 --delta 1e-9 --sensitivity 1 --count 1000000",
        "reproduce mixtures",  # on many threads at once
    ],
)
def test_ctrl_c_ends_with_one_line(arguments, tmp_path):
    # In the background of a shell SIGINT is ignored, and what starts there inherits that.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from tightnoise.cli import main; print(flush=True); raise SystemExit(main())"
    )
    command = [sys.executable, "-c", program, *arguments.split()]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # everything is imported
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        sent = time.perf_counter()
        out, err = process.communicate(timeout=60)
        assert time.perf_counter() - sent < 15.0  # a moment, on a machine that is not busy
    assert process.returncode == 130
    assert out == ""
    assert err == "tightnoise: interrupted\n"
