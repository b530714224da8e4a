"""The study of Biswas et al. (2025), as far as it goes without PyTorch: see tests/with_torch."""

import sys

from tightnoise.cli import main
from tightnoise.reproduce.reconstruction import _printed
from tightnoise.reproduce.vmf._tables import PRINTED_SIGMA


def test_without_torch(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "tightnoise.torch", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["reproduce", "reconstruction"]) == 2
    assert capsys.readouterr() == (
        "",
        "tightnoise reproduce: error: tightnoise.torch needs PyTorch: "
        "python3 -m pip install 'tightnoise[torch]'\n",
    )


def test_the_printed_tables_belong_together():
    assert {k: float(PRINTED_SIGMA[k]) for k in _printed.SIGMA} == _printed.SIGMA
    assert _printed.ACCURACY.keys() == _printed.IGA.keys() == _printed.SIGMA.keys()
    for kappa, rows in _printed.IGA.items():
        assert [len(row) for row in rows] == [len(_printed.BATCHES)] * 2
        assert [len(row) for row in _printed.ACCURACY[kappa]] == [len(_printed.BATCHES)] * 2
    # Table II says of batches of 128 what Table VI says.
    assert _printed.SELECTED["directions 75"] == _printed.IGA[75][0][-1]
    assert _printed.SELECTED["gaussian 1.23"] == _printed.IGA[75][1][-1]
