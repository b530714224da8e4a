"""Von Mises-Fisher noise for a budget: judged by what accounts for it."""

import math

import pytest
from mpmath import mp, mpf

import tightnoise as tn
from tightnoise.calibrate import von_mises_fisher

CLOSE = 1e-9  # how far above kappa is too much, relative


def test_one_release_is_private_and_more_kappa_is_not(rng):
    for _ in range(30):
        epsilon, delta = 10 ** rng.uniform(-2, 1.5), 10 ** rng.uniform(-12, -1)
        dim = int(2 + 10 ** rng.uniform(0, 5))
        angle = math.pi if rng.random() < 0.5 else rng.uniform(0.01, 3)
        noise = von_mises_fisher(epsilon, delta, dim=dim, angle=angle)
        assert noise.cost(angle=angle).epsilon(delta) <= epsilon
        more = tn.VonMisesFisher(noise.kappa * (1 + CLOSE), dim)
        assert more.cost(angle=angle).epsilon(delta) > epsilon


def test_many_are_private_and_more_kappa_is_not(rng):
    for _ in range(3):
        epsilon, delta = 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-9, -2)
        dim, count = int(2 + 10 ** rng.uniform(0, 5)), int(10 ** rng.uniform(0.5, 3))
        noise = von_mises_fisher(epsilon, delta, dim=dim, count=count)
        assert (noise.cost() * count).epsilon(delta) <= epsilon
        more = tn.VonMisesFisher(noise.kappa * (1 + CLOSE), dim)
        assert (more.cost() * count).epsilon(delta) > epsilon


def test_no_less_than_gaussian_noise_allows():
    sigma = tn.calibrate.gaussian(1.0, 1e-5, sensitivity=1.0).sigma
    kappa = von_mises_fisher(1.0, 1e-5, dim=1000).kappa
    assert math.sqrt(997) / (2 * sigma) <= kappa <= 1.01 * math.sqrt(999) / (2 * sigma)


@pytest.mark.parametrize("epsilon", [1e-8, 0.3, 2.0, 900.0])
@pytest.mark.parametrize("count", [1, 7])
def test_without_delta_no_loss_may_be_larger(epsilon, count):
    noise = von_mises_fisher(epsilon, dim=10, angle=2.0, count=count)
    with mp.workdps(40):
        each = 2 * mpf(noise.kappa) * mp.sin(1)
        assert epsilon * (1 - 1e-12) < count * each <= epsilon


@pytest.mark.parametrize("angle", [1e-300, 1e-280])
def test_a_target_so_small_that_many_kappas_meet_it(angle):
    kappa = von_mises_fisher(1e-320, dim=3, angle=angle).kappa
    assert 0 < 2 * mpf(kappa) * mp.sin(mpf(angle) / 2) <= mpf(1e-320)


def test_for_the_lifted_noise():
    angle = tn.LiftedVonMisesFisher(1.0, 100, anchor=5.0).max_angle(1.0)
    noise = von_mises_fisher(0.5, 1e-6, dim=101, angle=angle)
    lifted = tn.LiftedVonMisesFisher(noise.kappa, 100, 5.0).cost(sensitivity=1.0)
    assert 0.5 * (1 - 1e-6) < lifted.epsilon(1e-6) <= 0.5


def test_takes_few_evaluations(monkeypatch):
    calls = []
    answer = tn.Cost.epsilon
    monkeypatch.setattr(
        tn.Cost, "epsilon", lambda self, *a, **given: calls.append(1) or answer(self, *a, **given)
    )
    for epsilon in (1e-3, 1.0, 100.0):
        for dim in (2, 50, 10**6):
            calls.clear()
            von_mises_fisher(epsilon, 1e-6, dim=dim)
            assert len(calls) < 30


def test_any_kappa_where_delta_covers_everything():
    """At a tiny angle the loss is below epsilon for every kappa that there is."""
    assert von_mises_fisher(1.0, 0.5, dim=10, angle=1e-101).kappa == 1e100
    assert von_mises_fisher(1e308, 0.9, dim=100, angle=1e-300, count=10**9).kappa == 1e100


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"epsilon": 0.0}, "epsilon must be greater than 0"),
        ({"epsilon": math.nan}, "epsilon must be finite"),
        ({"delta": 1.0}, "delta must be at least 0 and below 1"),
        ({"delta": -1e-9}, "delta must be at least 0"),
        ({"dim": 1}, "dim must be between 2 and"),
        ({"angle": 0.0}, "angle must be greater than 0"),
        ({"angle": 3.2}, "angle must be between 0 and pi"),
        ({"count": 0}, "count must be between 1 and"),
    ],
)
def test_refuses(change, says):
    arguments = {"epsilon": 1.0, "delta": 1e-5, "dim": 10, **change}
    with pytest.raises(ValueError, match=says):
        von_mises_fisher(**arguments)


def test_refuses_types():
    with pytest.raises(TypeError, match="epsilon must be a real number"):
        von_mises_fisher("1", 1e-5, dim=10)
    with pytest.raises(TypeError, match="count must be an integer"):
        von_mises_fisher(1.0, 1e-5, dim=10, count=1.5)
