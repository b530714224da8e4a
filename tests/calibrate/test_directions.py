"""The concentration that a budget allows: judged by what accounts for it."""

import math

import pytest
from mpmath import mp, mpf

import tightnoise as tn
from tightnoise.calibrate import concentration

CLOSE = 1e-9  # how far above kappa is too much, relative


def test_one_release_is_private_and_more_kappa_is_not(rng):
    for _ in range(30):
        epsilon, delta = 10 ** rng.uniform(-2, 1.5), 10 ** rng.uniform(-12, -1)
        dim = int(2 + 10 ** rng.uniform(0, 5))
        angle = math.pi if rng.random() < 0.5 else rng.uniform(0.01, 3)
        kappa = concentration(epsilon, delta, dim, angle=angle)
        assert tn.VonMisesFisher(kappa, dim).epsilon(delta, angle) <= epsilon
        assert tn.VonMisesFisher(kappa * (1 + CLOSE), dim).epsilon(delta, angle) > epsilon


def sampled_cost(kappa, dim, delta, *, steps, sampling_rate, **options):
    step = tn.accounting.sampled_von_mises_fisher(kappa, dim, sampling_rate, **options)
    return (step * steps).epsilon(delta)


@pytest.mark.filterwarnings("ignore:the best order is:UserWarning")
def test_sampled_releases_are_private_and_more_kappa_is_not(rng):
    for sampling in ["poisson", "fixed-size"] * 40:
        epsilon = 10 ** rng.uniform(-6, 3)
        delta = 10 ** rng.uniform(-300 if rng.random() < 0.2 else -12, -0.01)
        dim = int(2 + 10 ** rng.uniform(0, 9))
        options = {
            "angle": math.pi if rng.random() < 0.5 else 10 ** rng.uniform(-6, 0.4),
            "sampling_rate": 1.0 if rng.random() < 0.2 else 10 ** rng.uniform(-6, 0),
            "sampling": sampling,
            "steps": int(10 ** rng.uniform(0.5, 6)),
        }
        kappa = concentration(epsilon, delta, dim, **options)
        assert sampled_cost(kappa, dim, delta, **options) <= epsilon
        assert sampled_cost(kappa * (1 + CLOSE), dim, delta, **options) > epsilon


def test_no_less_than_gaussian_noise_allows():
    sigma = tn.calibrate.gaussian(1.0, 1e-5, sensitivity=1.0)
    assert concentration(1.0, 1e-5, 1000) >= math.sqrt(997) / (2 * sigma)
    assert concentration(1.0, 1e-5, 1000) <= 1.01 * math.sqrt(999) / (2 * sigma)


@pytest.mark.parametrize("epsilon", [1e-8, 0.3, 2.0, 900.0])
@pytest.mark.parametrize(("rate", "steps"), [(1.0, 1), (1.0, 7), (1e-3, 1), (0.2, 50)])
def test_without_delta_no_loss_may_be_larger(epsilon, rate, steps):
    kappa = concentration(epsilon, 0.0, 10, angle=2.0, sampling_rate=rate, steps=steps)
    with mp.workdps(40):
        each = mp.log1p(mpf(rate) * mp.expm1(2 * mpf(kappa) * mp.sin(1)))
        assert epsilon * (1 - 2 * CLOSE) < steps * each <= epsilon


@pytest.mark.parametrize("angle", [1e-300, 1e-280])
def test_a_target_so_small_that_many_kappas_meet_it(angle):
    kappa = concentration(1e-320, 0.0, 3, angle=angle)
    assert 0 < 2 * mpf(kappa) * mp.sin(mpf(angle) / 2) <= mpf(1e-320)


def test_for_the_lifted_noise():
    m = tn.LiftedVonMisesFisher(1.0, 100, anchor=5.0)
    angle = m.max_angle(1.0)
    kappa = concentration(0.5, 1e-6, 101, angle=angle)
    assert tn.LiftedVonMisesFisher(kappa, 100, 5.0).epsilon(1e-6, 1.0) <= 0.5
    kappa = concentration(0.5, 1e-6, 101, angle=angle, sampling_rate=0.1, steps=10)
    accountant = tn.RdpAccountant().compose(
        tn.LiftedVonMisesFisher(kappa, 100, 5.0), 10, sensitivity=1.0, sampling_rate=0.1
    )
    assert 0.5 * (1 - 1e-6) < accountant.epsilon(1e-6) <= 0.5


def test_takes_few_evaluations(monkeypatch):
    calls = []
    exact = tn.VonMisesFisher.epsilon
    monkeypatch.setattr(
        tn.VonMisesFisher, "epsilon", lambda self, *given: calls.append(1) or exact(self, *given)
    )
    for epsilon in (1e-3, 1.0, 100.0):
        for dim in (2, 50, 10**6):
            calls.clear()
            concentration(epsilon, 1e-6, dim)
            assert len(calls) < 30


def test_any_kappa_where_delta_covers_everything():
    """At a tiny angle the loss is below epsilon for every kappa that there is."""
    assert concentration(1.0, 0.5, 10, angle=1e-101) == 1e100


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"epsilon": 0.0}, "epsilon must be greater than 0"),
        ({"epsilon": math.nan}, "epsilon must be finite"),
        ({"delta": 1.0}, "delta must be at least 0 and less than 1"),
        ({"delta": -1e-9}, "delta must be at least 0"),
        ({"dim": 1}, "dim must be between 2 and"),
        ({"angle": 0.0}, "angle must be greater than 0"),
        ({"angle": 3.2}, "angle must be between 0 and pi"),
        ({"sampling_rate": 0.0}, "sampling_rate must be greater than 0"),
        ({"steps": 0}, "steps must be between 1 and"),
        ({"sampling": "shuffled"}, "sampling must be one of"),
    ],
)
def test_refuses(change, says):
    arguments = {"epsilon": 1.0, "delta": 1e-5, "dim": 10, **change}
    with pytest.raises(ValueError, match=says):
        concentration(**arguments)


def test_epsilon_that_no_order_proves():
    with pytest.raises(tn.CalibrationError, match="no kappa from 1e-100 on meets epsilon = 1e-08"):
        concentration(1e-8, 1e-300, 10, steps=2)
    assert concentration(1e-8, 0.0, 10, steps=2) > 0


def test_refuses_types():
    with pytest.raises(TypeError, match="epsilon must be a real number"):
        concentration("1", 1e-5, 10)
    with pytest.raises(TypeError, match="steps must be an integer"):
        concentration(1.0, 1e-5, 10, steps=1.5)
