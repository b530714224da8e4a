"""No printed cost is below the cost, no lower bound above, and a delta is the one asked for."""

import re

import numpy as np
import pytest

import tightnoise as tn
from tightnoise.cli import main

DELTA = 1.0000004e-5  # which six digits make too small


def after(words, text):
    return float(re.search(words + r"\s*([-+.e\d]*\d)", text)[1])


@pytest.mark.parametrize("scale", np.linspace(3.0, 4.0, 12))
def test_costs_are_rounded_up(scale):
    cost = tn.Gaussian(scale).cost(sensitivity=1.0)
    odometer = tn.PrivacyOdometer(DELTA).spend(cost)
    assert after("epsilon", repr(odometer)) >= odometer.epsilon
    budget = tn.PrivacyFilter(2.0000001, DELTA).spend(cost)
    assert after("epsilon=", repr(budget)) == 2.0000001
    noise = tn.RectifiedGaussian(scale, -1.0, 1.0)
    here = noise.cost_at([0.3, 0.1], coordinate_sensitivity=1.0)
    assert after("epsilon", here.explain(DELTA)) >= here.epsilon(DELTA)
    each = tn.Gaussian(scale).individual_cost_at([3.0], [[0.5], [1.0]])
    report = each.report(DELTA)
    assert after("most", str(report)) >= report.quantiles[-1]
    assert after("record 1", str(report)) >= report.epsilons[0]
    for text in (repr(odometer).replace("delta=", "delta "), here.explain(DELTA), str(report)):
        assert after("delta", text) == DELTA
    assert after("delta", str(cost.explain(DELTA))) == DELTA


def test_what_an_audit_shows_is_rounded_down_and_what_is_proved_up():
    text = str(tn.attack.Audit(1.23456, DELTA, 0.99, 1000, 0.5, 0.1, 1.23444, 2.0))
    assert after("at least", text) == 1.234
    assert after("proved:", text) == 1.235
    assert after("delta", text) == DELTA


@pytest.mark.parametrize("epsilon", [0.12345678901234, 1.0, 3.0000499])
def test_a_release_prints_no_less_than_it_was_given(epsilon):
    release = tn.release_count([True] * 9, epsilon, adjacency="add-remove")
    assert after("cost +epsilon", str(release)) >= release.cost.epsilon(0.0) * (1 - 1e-15)


def test_the_command_names_the_delta_that_was_asked(capsys):
    asked = ["--epsilon", "1", "--delta", str(DELTA), "--sensitivity", "1"]
    assert main(["calibrate", "gaussian", *asked]) == 0
    assert after("at delta", capsys.readouterr().out) == DELTA
