"""The study of Biswas et al. (2025), as far as it goes without PyTorch: see tests/with_torch."""

import sys

import pytest

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


@pytest.mark.parametrize("of", [_printed.FASHION_MNIST, _printed.MNIST])
def test_the_printed_tables_belong_together(of):
    assert {k: float(PRINTED_SIGMA[k]) for k in _printed.SIGMA} == _printed.SIGMA
    for part in (*of.accuracy, *of.ssim, *of.mse):
        assert part.keys() == _printed.SIGMA.keys()
        assert all(len(row) == len(_printed.BATCHES) for row in part.values())
    # Table II says of batches of 128 what Table VI says.
    assert of.selected["directions 75"] == (of.ssim[0][75][-1], of.mse[0][75][-1])
    assert of.selected["gaussian 1.23"] == (of.ssim[1][75][-1], of.mse[1][75][-1])
    assert of.selected.keys() > of.dlg.keys()
