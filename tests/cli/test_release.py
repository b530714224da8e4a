"""`tightnoise release` and `session`: columns of files, one row a person."""

import sys

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.cli import main
from tightnoise.cli._tables import read_column

BOUNDS = ["--lower", 0, "--upper", 120]
ONE = ["--epsilon", 1, "--adjacency", "replace-one"]
COLUMN = ["--column", "age"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"{number},{20 + number % 60},{'yes' if number % 3 else 'no'}" for number in range(300)]
    path.write_text("\ufeffid, age ,smoker\n" + "\n".join(rows) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture
def released(capsys):
    """Return released(*arguments): what is printed, with code 0 and no word on stderr."""

    def run(*arguments):
        assert main([str(argument) for argument in arguments]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return run


CASES = {
    "mean": [*COLUMN, *BOUNDS],
    "sum": [*COLUMN, *BOUNDS, "--integer"],
    "median": [*COLUMN, *BOUNDS],
    "quantile": [*COLUMN, *BOUNDS, "--quantile", 0.9, "--integer"],
    "count": ["--column", "smoker", "--equals", "yes"],
    "histogram": ["--column", "smoker", "--cells", "yes,no,never"],
}


@pytest.mark.parametrize("statistic", CASES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_statistic(statistic, kind, table, released, report):
    if kind == "parquet":
        pytest.importorskip("pyarrow")
        from pyarrow import csv, parquet

        text = table.read_text(encoding="utf-8-sig").replace(" age ", "age")
        table.write_text(text)
        table = table.with_suffix(".parquet")
        parquet.write_table(csv.read_csv(table.with_suffix(".csv")), table)
    options = [*CASES[statistic], *ONE]
    if kind == "parquet":
        options = [option for option in options if option != "--integer"]
    text = released("release", statistic, table, *options)
    assert "n              300 (public)" in text or "n             300" in text or "300" in text
    assert "replace-one: one person is another" in text
    found = report("release", statistic, table, *options)
    assert found["statistic"].startswith(statistic)
    assert found["n"] == 300
    assert found["adjacency"] == "replace-one"
    cost = tn.Cost.from_dict(found["cost"])
    assert cost.epsilon(0.0) <= 1 + 1e-9
    if statistic == "histogram":
        assert found["cells"] == ["yes", "no", "never"]
        assert len(found["value"]) == 3
        assert len(found["interval"]) == 2
    elif statistic in ("quantile", "median"):
        assert len(found["rank_interval"]) == 2
        assert isinstance(found["value"], int) == (statistic == "quantile" or kind == "parquet")
    else:
        low, high = found["interval"]
        assert low <= found["value"] <= high


def test_bins_by_edges_and_missing_fields(table, released, refused, report):
    with table.open("a") as file:
        file.write("300,,yes\n")
    options = [*COLUMN, "--edges", "0,30,120", *ONE]
    assert "1 of them are, first that of row 300" in refused(
        "release", "histogram", table, *options
    )
    found = report("release", "histogram", table, *options, "--missing", "drop")
    assert found["cells"] == [[0, 30], [30, 120]]
    assert found["n"] is None


def test_a_session_on_the_command_line(table, released, refused, tmp_path):
    budget = tmp_path / "budget.json"
    assert "0 releases" in released("session", budget, "--epsilon", 1, "--adjacency", "replace-one")
    spending = ["release", "mean", table, *COLUMN, *BOUNDS, "--session", budget]
    released(*spending, "--epsilon", 0.5)
    released(*spending, "--epsilon", 0.5, "--name", "again", "--json")
    text = released("session", budget)
    assert "mean of age" in text
    assert "again" in text
    before = budget.read_bytes()
    line = refused(*spending, "--epsilon", 0.5)
    assert "left of 1" in line
    wrong = refused(*spending, "--epsilon", 0.5, "--adjacency", "replace-one")
    assert "--adjacency must be left out with --session" in wrong
    assert "exists already" in refused(
        "session", budget, "--epsilon", 2, "--adjacency", "add-remove"
    )
    assert budget.read_bytes() == before
    budget.write_text(budget.read_text().replace("again", "never"))
    assert f"{budget} must be a session as it was saved" in refused(*spending, "--epsilon", 0.1)
    missing = tmp_path / "none.json"
    assert str(missing) in refused("session", missing)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["mean", "TABLE", "--column", "agee", *BOUNDS, *ONE],
            "its columns are 'id', 'age', 'smok",
        ),
        (["mean", "TABLE", *BOUNDS, *ONE], "choose one with --column"),
        (["mean", "TABLE", "--column", "smoker", *BOUNDS, *ONE], "row 0 must hold a number"),
        (["mean", "TABLE", *COLUMN, "--lower", 0, *ONE], "a bound taken from the data tells of"),
        (["mean", "TABLE", *COLUMN, *BOUNDS], "--epsilon and --adjacency must be given"),
        (["mean", "TABLE", *COLUMN, *BOUNDS, *ONE, "--cells", "a"], "--cells is for a histogram"),
        (["mean", "TABLE", *COLUMN, *BOUNDS, *ONE, "--equals", "a"], "--equals is for a count"),
        (["mean", "TABLE", *COLUMN, *BOUNDS, *ONE, "--edges", "1,2"], "--edges must be left out"),
        (["mean", "TABLE", *COLUMN, *BOUNDS, *ONE, "--name", "x"], "give --session, too"),
        (["count", "TABLE", *COLUMN, *ONE], "the number of all rows is public there"),
        (["quantile", "TABLE", *COLUMN, *BOUNDS, *ONE], "--quantile must be given"),
        (["mean", "none.csv", *BOUNDS, *ONE], "cannot read none.csv: No such file"),
        (["mean", "none.parquet", *BOUNDS, *ONE], "cannot read none.parquet: No such file"),
        (["variance", "TABLE", *BOUNDS, *ONE], "invalid choice"),
    ],
)
def test_bad_options(arguments, message, table, refused):
    line = refused("release", *(table if word == "TABLE" else word for word in arguments))
    assert message in line


def test_integers_stay_integers_whoever_reads_the_file(tmp_path, monkeypatch):
    pytest.importorskip("fastparquet")
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "ages.parquet"
    parquet.write_table(pyarrow.table({"age": [30, None, 50], "flag": [True, None, False]}), path)
    for hidden in (None, "pyarrow"):
        if hidden:
            monkeypatch.setitem(sys.modules, hidden, None)
        column = read_column(str(path), "age", "real")
        assert column.values.dtype == np.int64
        assert column.missing.tolist() == [False, True, False]
        assert column.values[[0, 2]].tolist() == [30, 50]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "its columns are none"),
        (b"age,x\n1\n", "row 0 has 1 fields, where the first line has 2"),
        (b"age,age\n1,2\n", "several columns called 'age'"),
        (b"age\n\xff\xfe\n", "as CSV in UTF-8"),
        (b'age\n"1\n', "as CSV in UTF-8"),
        (b"age\n1.5\n", "row 0 must hold an integer; got '1.5'"),
        (b"age\n123456789012345678901234567890\n", "integers must be below 2**63"),
    ],
)
def test_damaged_tables(content, message, tmp_path, refused):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    line = refused("release", "sum", path, "--column", "age", *BOUNDS, *ONE, "--integer")
    assert message in line
    broken = tmp_path / "bad.parquet"
    broken.write_bytes(content)
    assert "bad.parquet" in refused("release", "sum", broken, *COLUMN, *BOUNDS, *ONE)
