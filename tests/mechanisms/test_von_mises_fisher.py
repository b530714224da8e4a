"""The von Mises-Fisher mechanism: its costs against mpmath, its law, its samples, its errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from mpmath import mpf

import tightnoise as tn
from tightnoise.mechanisms import _direction_pair as pair

REFERENCE = Path(__file__).parents[1] / "reference"
CARD = 1.5e-15  # of the divergence: cpp/mechanisms/vmf_divergence.hpp

# Rows of make_vmf_divergence.py: dim, kappa, half_chord, alpha, divergence.
TABLE = json.loads((REFERENCE / "vmf_divergence.json").read_text())


def divergence(row):
    dim, kappa, half_chord, alpha, _ = row
    return float(pair.renyi_divergence(kappa, dim, np.asarray(half_chord), np.asarray(alpha)))


# --- divergences --------------------------------------------------------------------------------
def test_divergence(check_error):
    errors = [abs(mpf(divergence(row)) / mpf(row[4]) - 1) for row in TABLE]
    check_error("von Mises-Fisher divergence", float(max(errors)), CARD)


def test_cost_is_above_the_divergence_and_close(check_error):
    worst = 0.0
    for dim, kappa, half_chord, alpha, expected in TABLE:
        cost = float(pair.VonMisesFisherRdp(kappa, dim, half_chord)([alpha])[0])
        assert mpf(cost) >= mpf(expected)
        worst = max(worst, float(mpf(cost) / mpf(expected) - 1))
    check_error("von Mises-Fisher cost", worst, 1e-13)


def test_accountant_keeps_it_exactly():
    accountant = tn.RdpAccountant().compose(tn.VonMisesFisher(300.0, 13_700).rdp(angle=0.3), 7)
    resumed = tn.RdpAccountant()
    resumed.load_state_dict(json.loads(json.dumps(accountant.state_dict())))
    assert resumed.epsilon(1e-6) == accountant.epsilon(1e-6)
    assert "epsilon" in repr(accountant)
