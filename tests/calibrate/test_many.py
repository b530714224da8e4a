"""Noise for several releases, beside others, and the least parameter of any cost."""

import math

import pytest
from by_night import by_night, rows_by_night

import tightnoise as tn
from tightnoise import calibrate
from tightnoise.calibrate import CalibrationError

PLAN = tn.Gaussian(8.0).cost(sensitivity=1.0) * 3 + tn.Cost.of_pure(0.05)
ALL = {"gaussian", "laplace", "truncated_laplace", "tulap", "staircase", "quasi_gaussian"}
PURE = {"laplace", "tulap", "staircase"}


@pytest.mark.parametrize(
    ("kind", "count", "beside"),
    [
        *((kind, 100, tn.Cost()) for kind in sorted(ALL)),
        ("laplace", 1, PLAN),
        *rows_by_night(*((kind, 1, PLAN) for kind in sorted(ALL - {"laplace"}))),
        ("gaussian", 40, PLAN),
        *rows_by_night(("tulap", 40, PLAN)),
    ],
)
def test_private_and_as_good_as_the_budget(kind, count, beside):
    noise = getattr(calibrate, kind)(2.0, 1e-6, sensitivity=3.0, count=count, beside=beside)
    total = noise.cost(sensitivity=3.0) * count + beside
    assert 2.0 * (1 - 1e-9) <= total.epsilon(1e-6) <= 2.0


@pytest.mark.parametrize("kind", sorted(PURE))
def test_pure_releases_share_epsilon(kind):
    one = getattr(calibrate, kind)(0.25, sensitivity=2.0)
    noise = getattr(calibrate, kind)(1.0, sensitivity=2.0, count=4)
    assert noise.mean_abs() == pytest.approx(one.mean_abs(), rel=1e-12)
    assert (noise.cost(sensitivity=2.0) * 4).epsilon(0.0) <= 1.0
    beside = getattr(calibrate, kind)(1.5, sensitivity=2.0, count=4, beside=tn.Cost.of_pure(0.5))
    assert beside.mean_abs() == pytest.approx(one.mean_abs(), rel=1e-12)


def test_less_laplace_noise_is_not_private():
    scale = calibrate.laplace(1.0, 1e-6, sensitivity=1.0, count=500).scale
    less = tn.Laplace(scale * (1 - 1e-6)).cost(sensitivity=1.0) * 500
    assert less.epsilon(1e-6) > 1.0
    assert scale < 500.0


def test_many_gaussians_are_one():
    noise = calibrate.gaussian(1.0, 1e-6, sensitivity=1.0, count=10)
    assert noise.sigma == pytest.approx(13.359608, rel=1e-7)
    assert (noise.cost(sensitivity=1.0) * 10).epsilon(1e-6) <= 1.0
    less = tn.Gaussian(noise.sigma * (1 - 1e-13)).cost(sensitivity=1.0) * 10
    assert less.epsilon(1e-6) > 1.0
    planned = noise.cost(sensitivity=1.0) * 4
    rest = calibrate.gaussian(1.0, 1e-6, sensitivity=1.0, count=6, beside=planned)
    assert rest.sigma == pytest.approx(noise.sigma, rel=1e-9)


def test_the_best_of_multi_gaussians_is_no_worse_than_a_gaussian():
    gaussian = calibrate.gaussian(4.0, 1e-4, sensitivity=1.0, count=2)
    noise = calibrate.multi_gaussian(4.0, 1e-4, sensitivity=1.0, count=2)
    assert (noise.cost(sensitivity=1.0) * 2).epsilon(1e-4) <= 4.0
    assert noise.mean_abs() <= gaussian.mean_abs() * (1 + 1e-5)


@pytest.mark.parametrize("kind", ["truncated_gaussian", "rectified_gaussian", "bounded_laplace"])
@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("box", [False, *by_night(True)])
def test_bounded_noise(kind, delta, box):
    if box:
        where = {"lower": [0.0, 1.0], "upper": 10.0, "coordinate_sensitivity": [1.0, 2.0]}
        change = {"coordinate_sensitivity": [1.0, 2.0]}
    else:
        where = {"lower": 0.0, "upper": 10.0, "sensitivity": 1.0}
        change = {"sensitivity": 1.0}
    domain = (where["lower"], where["upper"])
    planned = tn.Cost.of_pure(0.25) if box else tn.Cost()
    noise = getattr(calibrate, kind)(1.0, delta, count=10, beside=planned, **where)
    found = (noise.cost(**change, domain=domain) * 10 + planned).epsilon(delta)
    assert 1.0 - 1e-9 <= found <= 1.0


def test_parameter_is_the_least():
    def plan(scale):
        return PLAN + tn.Laplace(scale).cost(sensitivity=1.0)

    scale = calibrate.parameter(plan, 3.0, 1e-6, bracket=(0.1, 1e6))
    assert 3.0 * (1 - 1e-9) <= plan(scale).epsilon(1e-6) <= 3.0
    assert plan(scale * (1 - 1e-6)).epsilon(1e-6) > 3.0


def test_parameter_of_few_evaluations(monkeypatch):
    calls = []
    answer = tn.Cost.epsilon

    def counted(self, delta, *, by=None):
        calls.append(by)
        return answer(self, delta, by=by)

    monkeypatch.setattr(tn.Cost, "epsilon", counted)
    calibrate.parameter(
        lambda s: tn.Gaussian(s).cost(sensitivity=1.0).sampled(0.05, "poisson") * 100,
        1.0,
        1e-6,
        bracket=(1e-3, 1e6),
    )
    assert calls.count(None) <= 8


def test_parameter_without_renyi_divergences():
    def plan(scale):  # bounded noise: losses may be infinite
        return tn.TruncatedLaplace(scale, 60 * scale).cost(sensitivity=1.0) * 100

    scale = calibrate.parameter(plan, 2.0, 1e-5, bracket=(1.0, 1e4))
    assert 2.0 * (1 - 1e-9) <= plan(scale).epsilon(1e-5) <= 2.0


def test_parameter_at_the_ends_of_its_bracket():
    def plan(sigma):
        return tn.Gaussian(sigma).cost(sensitivity=1.0)

    assert calibrate.parameter(plan, 100.0, 1e-5, bracket=(2.0, 10.0)) == 2.0
    with pytest.raises(CalibrationError, match=r"at its upper end, 10, epsilon is 0\.34"):
        calibrate.parameter(plan, 0.1, 1e-5, bracket=(2.0, 10.0))
    with pytest.raises(CalibrationError, match="at its upper end"):  # it costs more, not less
        calibrate.parameter(lambda x: plan(1 / x), 1.0, 1e-5, bracket=(0.01, 10.0))


def test_a_jump_is_found():
    def plan(x):
        return tn.Cost.of_pure(2.0 if x < 3.0 else 0.5)

    assert 3.0 <= calibrate.parameter(plan, 1.0, bracket=(1.0, 10.0)) <= 3.0 * (1 + 1e-10)


def test_what_is_no_question():
    with pytest.raises(TypeError, match="cost_of must return a Cost; got 1"):
        calibrate.parameter(lambda x: 1.0, 1.0, 1e-6, bracket=(1.0, 2.0))
    with pytest.raises(TypeError, match="cost_of must be callable, of one number; got None"):
        calibrate.parameter(None, 1.0, bracket=(1.0, 2.0))
    with pytest.raises(TypeError, match="bracket must be two numbers"):
        calibrate.parameter(tn.Cost.of_pure, 1.0, bracket=2.0)
    with pytest.raises(ValueError, match="bracket must be two increasing numbers"):
        calibrate.parameter(tn.Cost.of_pure, 1.0, bracket=(2.0, 1.0))
    with pytest.raises(ValueError, match="bracket must be greater than 0"):
        calibrate.parameter(tn.Cost.of_pure, 1.0, bracket=(0.0, 1.0))
    for calibrated in (calibrate.tulap, calibrate.truncated_laplace, calibrate.staircase):
        with pytest.raises(ValueError, match="epsilon must be greater than 0 for several releases"):
            calibrated(0.0, 1e-6, sensitivity=1.0, count=10)


def test_the_least_sensitivity_of_all():
    """Scales are whole numbers of it: of steps that get nowhere no slope is taken."""
    least = calibrate.laplace(0.5, 1e-6, sensitivity=1.0, count=100).scale
    noise = calibrate.laplace(0.5, 1e-6, sensitivity=5e-324, count=100)
    assert noise.scale / 5e-324 == math.ceil(least) == 80
