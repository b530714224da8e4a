"""What the tests of rankings share."""

import pytest

from tightnoise.compare._families import FAMILIES


@pytest.fixture
def quick(monkeypatch):
    """Leave out scale mixtures, whose tests are those of their calibration; return the others."""
    few = tuple(family for family in FAMILIES if not family.for_one)
    monkeypatch.setattr("tightnoise.compare.noise_ranking.FAMILIES", few)
    return [family.name for family in few]
