"""A session spends before it draws, spends nothing on an error, and keeps to its file."""

import errno
import json
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.release import _session

AGES = {"lower": 0, "upper": 120}


@pytest.fixture
def ages(rng):
    return rng.uniform(0, 120, 200)


def calls(session, rows):
    """Return every release of a session, each for a tenth of epsilon."""
    return {
        "count": lambda: session.release_count(rows > 60, 0.1),
        "sum": lambda: session.release_sum(rows, 0.1, **AGES),
        "mean": lambda: session.release_mean(rows, 0.1, **AGES),
        "histogram": lambda: session.release_histogram(rows, 0.1, edges=[0, 60, 120]),
        "quantile 0.25": lambda: session.release_quantile(rows, 0.1, quantile=0.25, **AGES),
        "median": lambda: session.release_median(rows, 0.1, **AGES),
        "sum of vectors": lambda: session.release_vector(np.c_[rows, rows], 0.1, bound=9),
        "value": lambda: session.release_bounded(3.0, 0.1, lower=0, upper=9, sensitivity=1),
    }


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_shares_of_a_budget_fill_it(adjacency, ages):
    session = tn.Session(1.0, adjacency=adjacency)
    for name, call in calls(session, ages).items():
        release = call()
        assert release.cost.adjacency == adjacency
        assert session.releases[-1].name == name
        assert release.cost.epsilon(0.0) == pytest.approx(0.1, rel=1e-9)
    session.release_mean(ages, 0.1, **AGES, name="again")
    session.spend(tn.Cost.of_pure(0.1 - 1e-12), name="by hand")
    assert session.budget.spent <= 1.0
    assert len(session.releases) == 10
    with pytest.raises(tn.BudgetError, match="that are left of 1"):
        session.release_mean(ages, 0.1, **AGES)
    assert len(session.releases) == 10


def test_it_is_spent_before_anything_is_drawn(ages, monkeypatch):
    session = tn.Session(1.0, adjacency="replace-one")
    spent = []

    def draw(self, theta, rng):
        spent.append(session.budget.spent)
        raise MemoryError

    monkeypatch.setattr("tightnoise.release._noise.Noise.draw", draw)
    with pytest.raises(MemoryError):
        session.release_mean(ages, 0.5, **AGES)
    assert spent == [session.budget.spent]
    assert spent[0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda s, x: s.release_mean(x, 0.5, lower=0),
        lambda s, x: s.release_mean([np.nan], 0.5, **AGES),
        lambda s, x: s.release_mean([], 0.5, **AGES),
        lambda s, x: s.release_mean(x, 0.5, **AGES, rng=3),
        lambda s, x: s.release_mean(x, 0.5, **AGES, name=""),
        lambda s, x: s.release_mean(x, 0.5, **AGES, name=5),
        lambda s, x: s.release_mean(x, -0.5, **AGES),
        lambda s, x: s.release_mean(x, 5.0, **AGES),
        lambda s, x: s.release_count(x, 0.5),
        lambda s, x: s.release_vector(x, 0.5, bound=1),
        lambda s, x: s.release_quantile(x, 0.5, quantile=2, **AGES),
        lambda s, x: s.release_bounded(5, 0.5, lower=0, upper=1, sensitivity=1),
        lambda s, x: s.release_histogram(x, 0.5),
        lambda s, x: s.release_sum(x, 0.5, lower=-1e300, upper=1e300),
        lambda s, x: s.spend(tn.Cost.of_pure(0.1, adjacency="add-remove"), name="x"),
        lambda s, x: s.spend(tn.Laplace(1.0), name="x"),
    ],
)
def test_an_error_spends_nothing(wrong, ages):
    session = tn.Session(1.0, adjacency="replace-one")
    with pytest.raises((ValueError, TypeError)):
        wrong(session, ages)
    assert session.budget.spent == 0
    assert session.releases == ()


def test_it_keeps_names_and_times_and_nothing_of_the_data(ages, tmp_path):
    session = tn.Session(2.0, 1e-6, adjacency="replace-one")
    session.save(tmp_path / "budget.json")
    session.release_mean(ages, 0.1, **AGES, name="mean age")
    text = (tmp_path / "budget.json").read_text()
    state = json.loads(text)
    assert set(state) == {"kind", "version", "budget", "releases", "digest"}
    assert [set(entry) for entry in state["releases"]] == [{"name", "time"}]
    assert set(state["budget"]) == {"version", "rule", "spent"}
    again = tn.Session.load(tmp_path / "budget.json")
    assert again.releases == session.releases
    assert again.budget.spent == session.budget.spent
    assert str(again) == str(session)
    assert again.releases[0].name in str(again)


def test_a_session_goes_on_where_it_was(ages, tmp_path):
    path = tmp_path / "budget.json"
    tn.Session(1.0, adjacency="replace-one").save(path)
    for number in range(10):
        session = tn.Session.load(path)
        assert len(session.releases) == number
        session.release_mean(ages, 0.1, **AGES)
    with pytest.raises(tn.BudgetError):
        tn.Session.load(path).release_mean(ages, 0.1, **AGES)
    assert os.listdir(tmp_path) == ["budget.json"]


EDITS = {
    "spent": lambda text: text.replace('"spent": [\n   0.', '"spent": [\n   0.0'),
    "epsilon": lambda text: text.replace('"epsilon": 1.0', '"epsilon": 9.0'),
    "name": lambda text: text.replace('"count"', '"nothing"'),
    "no digest": lambda text: text.replace("digest", "digests"),
    "cut off": lambda text: text[:-40],
    "empty": lambda text: "",
    "list": lambda text: "[]",
    "not UTF-8": lambda text: text.replace("tight", "\udcff"),
    "null": lambda text: '{"digest": null, "kind": "tightnoise session"}',
    "NaN": lambda text: text.replace('"version": 1,', '"version": NaN,', 1),
    "deep": lambda text: "[" * 100_000,
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_file_is_refused_by_name_and_stays_as_it_is(edit, ages, tmp_path):
    path = tmp_path / "budget.json"
    session = tn.Session(1.0, adjacency="replace-one")
    session.save(path)
    session.release_count(ages > 60, 0.25)
    edited = EDITS[edit](path.read_text()).encode(errors="surrogateescape")
    assert edited != path.read_bytes()
    path.write_bytes(edited)
    with pytest.raises(ValueError, match=r"budget\.json must be a session as it was saved"):
        tn.Session.load(path)
    before = session.budget.spent
    with pytest.raises(ValueError, match=r"budget\.json must be"):
        session.release_count(ages > 60, 0.25)
    assert session.budget.spent == before
    assert len(session.releases) == 1
    assert path.read_bytes() == edited


def test_a_file_with_a_right_digest_and_wrong_content(tmp_path):
    """Whoever makes a digest of his own meets the checks of the filter."""
    path = tmp_path / "budget.json"
    tn.Session(1.0, adjacency="replace-one").save(path)
    for change in (
        lambda state: state["budget"].update(spent=[-1.0]),
        lambda state: state["budget"]["rule"].update(order=3.0),
        lambda state: state["budget"]["rule"].pop("epsilon"),
        lambda state: state.update(version=2),
        lambda state: state.update(releases=[{"name": 3, "time": ""}]),
        lambda state: state.update(releases=5),
        lambda state: state.pop("budget"),
    ):
        state = json.loads(path.read_text())
        del state["digest"]
        change(state)
        other = tmp_path / "other.json"
        other.write_text(json.dumps({**state, "digest": _session._digest_of(state)}))
        with pytest.raises(ValueError, match=r"other\.json must be a session as it was saved: "):
            tn.Session.load(other)


def test_two_sessions_of_one_file_cannot_both_go_on(ages, tmp_path):
    path = tmp_path / "budget.json"
    first = tn.Session(1.0, adjacency="replace-one")
    first.save(path)
    second = tn.Session.load(path)
    second.release_mean(ages, 0.5, **AGES)
    with pytest.raises(ValueError, match="another has written it since: load it again"):
        first.release_mean(ages, 0.5, **AGES)
    assert first.budget.spent == 0
    with pytest.raises(FileExistsError, match=r"budget\.json exists already"):
        tn.Session(1.0, adjacency="replace-one").save(path)
    with pytest.raises(FileNotFoundError):
        tn.Session.load(tmp_path / "none.json")
    with pytest.raises(OSError, match=r"must be a \.json file"):
        first.save(tmp_path / "budget.txt")
    assert first.path == str(path)


def test_what_cannot_be_written_is_not_drawn(ages, tmp_path, monkeypatch):
    path = tmp_path / "budget.json"
    session = tn.Session(1.0, adjacency="replace-one")
    session.save(path)

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    drawn = []
    monkeypatch.setattr("tightnoise.release._noise.Noise.draw", lambda *_: drawn.append(1))
    with pytest.raises(OSError, match="No space left"):
        session.release_mean(ages, 0.5, **AGES)
    assert not drawn
    assert session.budget.spent == 0
    assert session.releases == ()
    monkeypatch.undo()
    session.release_mean(ages, 1.0, **AGES)
    assert len(tn.Session.load(path).releases) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such call")
def test_a_crash_of_the_machine_does_not_take_back_what_is_spent(ages, tmp_path, monkeypatch):
    """The name is in the folder, which has to be on the disk as well before anything is drawn."""
    session = tn.Session(1.0, adjacency="replace-one")
    session.save(tmp_path / "budget.json")
    done = []
    fsync, replace = os.fsync, os.replace

    def synced(file):
        done.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")
        fsync(file)

    def replaced(*names):
        done.append("replace")
        replace(*names)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    monkeypatch.setattr("tightnoise.release._noise.Noise.draw", lambda *_: done.append("draw") or 0)
    session.release_mean(ages, 0.5, **AGES)
    assert done == ["file", "replace", "folder", "draw"]


def test_threads_spend_once_each(ages, tmp_path):
    session = tn.Session(1.0, adjacency="replace-one")
    session.save(tmp_path / "budget.json")
    refused = []

    def work():
        for _ in range(4):
            try:
                session.release_mean(ages, 0.1, **AGES)
            except tn.BudgetError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(session.releases) == 10
    assert len(refused) == 6
    assert len(tn.Session.load(tmp_path / "budget.json").releases) == 10


WORKER = """
import sys
import tightnoise as tn

done = 0
while done < 3:
    try:
        tn.Session.load(sys.argv[1]).release_count([True], 0.01)
        done += 1
    except tn.BudgetError:
        raise
    except ValueError:  # another was faster
        continue
"""


def test_processes_that_share_a_file_lose_nothing(tmp_path):
    """Each loads and releases until it is through: no write of another is lost."""
    path = tmp_path / "budget.json"
    tn.Session(1.0, adjacency="add-remove").save(path)
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(path)]) for _ in range(3)]
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0, 0]
    assert len(tn.Session.load(path).releases) == 9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"epsilon": -1}, "epsilon must be at least 0"),
        ({"delta": 1}, "delta must be at least 0 and below 1"),
        ({"adjacency": None}, "adjacency must be 'add-remove' or 'replace-one'"),
    ],
)
def test_bad_budgets(given, message):
    with pytest.raises(ValueError, match=message):
        tn.Session(**{"epsilon": 1.0, "adjacency": "add-remove"} | given)


def test_files_are_locked_as_network_file_systems_allow(monkeypatch, tmp_path):
    """NFS takes locks only of files that are open for writing, and may take none."""
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / "budget.json"
    session = tn.Session(1.0, adjacency="add-remove")
    session.save(path)

    def flock(file, _):
        if not file.writable():
            raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(fcntl, "flock", flock)
    session.release_count([True, False], 0.25)
    assert len(tn.Session.load(path).releases) == 1

    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match=r"cannot lock it: No locks available: '.*budget\.json'"):
        session.release_count([True, False], 0.25)
    assert len(tn.Session.load(path).releases) == 1 == len(session.releases)
