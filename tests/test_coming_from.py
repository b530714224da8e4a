"""Every call in the tables of docs/coming-from.md runs: ours, and theirs where it is installed."""

import re
from pathlib import Path

import numpy as np
import pytest

import tightnoise as tn

PAGE = Path(__file__).resolve().parents[1] / "docs" / "coming-from.md"
SECTIONS = re.findall(
    r"^## (\S+)\n\n`(.+?)`\n\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S
)
ROW = re.compile(r"^\| [^|`]+ \| `(.+?)` \| `(.+?)` \|$", re.M)
LESS_IS_BETTER = ("epsilon(", "delta(", "noise_multiplier(", ".sigma", ".scale", "zcdp_rho")


def value(call, names):
    """Run a statement, or return what an expression is."""
    try:
        code = compile(call, "cell", "eval")
    except SyntaxError:
        exec(call, names)
        return None
    return eval(code, names)


def test_every_row_is_read():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert sum(len(ROW.findall(s[2])) for s in SECTIONS) == len(rows) - len(SECTIONS) > 25


@pytest.mark.parametrize(("library", "imports", "table"), SECTIONS, ids=[s[0] for s in SECTIONS])
@pytest.mark.filterwarnings("ignore")  # theirs
def test_calls_run_and_ours_costs_no_more(library, imports, table):
    theirs = {}
    try:
        exec(imports, theirs)
    except ImportError:  # not there, or not beside what else is there
        theirs = None
    ours = {"tn": tn, "np": np}
    for their_call, our_call in ROW.findall(table):
        if "tn.torch" in our_call and theirs is None:
            continue  # it needs what they need
        answer = value(our_call, ours)
        other = None if theirs is None else value(their_call, theirs)
        if isinstance(other, float) and any(word in our_call for word in LESS_IS_BETTER):
            assert 0 < answer <= other * (1 + 1e-9), our_call
