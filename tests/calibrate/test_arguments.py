"""What calibrations of noise for one number refuse, each by name."""

import math

import numpy as np
import pytest

import tightnoise as tn
from tightnoise import calibrate
from tightnoise.calibrate import CalibrationError

inf, nan = math.inf, math.nan
GOOD = {"epsilon": 1.0, "delta": 1e-5, "sensitivity": 1.0}
MIXTURES = ("gaussian_scale_mixture", "multi_gaussian", "quasi_gaussian")
KINDS = ("gaussian", "laplace", "staircase", "truncated_laplace", "tulap", *MIXTURES)
every_kind = pytest.mark.parametrize("kind", KINDS)


def calibrated(kind, **change):
    return getattr(calibrate, kind)(**{**GOOD, **change})


@every_kind
def test_numbers_out_of_range(kind):
    bad = {
        "epsilon": (nan, inf, -1.0),
        "delta": (nan, inf, -1.0, 1.0),
        "sensitivity": (nan, inf, -1.0, 0.0),
        "count": (0, -1),
    }
    if kind in MIXTURES:
        bad |= {"epsilon": (nan, inf, -1.0, 0.0, 701.0), "delta": (nan, inf, -1.0, 1.0, 1e-301)}
    for name, values in bad.items():
        for value in values:
            with pytest.raises(ValueError, match=f"^{name} must be"):
                calibrated(kind, **{name: value})


@every_kind
def test_what_is_no_number(kind):
    for name in GOOD:
        for value in ("1", [1.0, 2.0], np.ones(2), True):
            with pytest.raises(TypeError, match=f"^{name} must be a real number"):
                calibrated(kind, **{name: value})
    with pytest.raises(TypeError, match="count must be an integer"):
        calibrated(kind, count=1.5)
    with pytest.raises(TypeError, match="beside must be a Cost"):
        calibrated(kind, beside=1.0)
    with pytest.raises(CalibrationError, match="beside must cost less than the budget; it co"):
        calibrated(kind, beside=tn.Cost.of_pure(2.0))


@pytest.mark.parametrize("kind", ["gaussian", *MIXTURES])
def test_no_gaussian_is_pure(kind):
    with pytest.raises(CalibrationError, match="no sigma gives pure epsilon-DP"):
        calibrated(kind, delta=0.0)


OWN = "own epsilon must be from 1e-15 to 700"


@pytest.mark.parametrize(
    ("kind", "change", "error", "says"),
    [
        ("gaussian", {"epsilon": 0.0, "delta": 1e-300, "sensitivity": 1e300},
         CalibrationError, "no finite sigma"),
        ("laplace", {"epsilon": 0.0, "delta": 0.0}, CalibrationError, "must not both be 0"),
        ("laplace", {"delta": 0.0, "beside": tn.Cost.of_pure(1.0)}, CalibrationError,
         "leaves nothing of epsilon|beside must cost less"),
        ("truncated_laplace", {"delta": 0.0}, CalibrationError, "delta must be greater than 0"),
        ("truncated_laplace", {"epsilon": 0.0}, CalibrationError, "no finite noise is enough"),
        ("truncated_laplace", {"epsilon": 701.0}, ValueError, "epsilon must be at most 700"),
        ("tulap", {"epsilon": 0.0, "delta": 0.1}, CalibrationError, OWN),
        ("staircase", {"epsilon": 0.0, "delta": 0.0}, CalibrationError, OWN),
        ("staircase", {"epsilon": 701.0, "delta": 0.5}, CalibrationError, OWN),
        ("staircase", {"epsilon": 1e3, "delta": 0.5}, CalibrationError, OWN),
        ("multi_gaussian", {"modes": -1}, ValueError, "modes must be"),
        ("multi_gaussian", {"modes": 10**6 + 1}, ValueError, "modes must be"),
        ("multi_gaussian", {"modes": 1.5}, TypeError, "modes must be an integer"),
        ("multi_gaussian", {"epsilon": 0.001, "sensitivity": 1e308, "modes": 1},
         CalibrationError, "sensitivity 1e\\+308"),
        *((kind, {"loss": "l3"}, ValueError, "^loss must be one of 'l1', 'l2'; got 'l3'")
          for kind in ("staircase", "multi_gaussian", "gaussian_scale_mixture")),
    ],
)  # fmt: skip
def test_what_has_no_answer_says_why(kind, change, error, says):
    assert issubclass(CalibrationError, ValueError)
    with pytest.raises(error, match=says):
        calibrated(kind, **change)
