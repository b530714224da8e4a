"""Laplace and staircase noise against sums over merged pieces at 50 digits."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from reference import pieces

import tightnoise as tn
from tightnoise._arrays import elementwise

inf, nan = np.inf, np.nan

MECHANISMS = [
    tn.Laplace(0.7),
    tn.TruncatedLaplace(0.7, 3.3),
    tn.TruncatedLaplace(50.0, 0.4),
    tn.Tulap(1.3, 0.8),
    tn.Tulap(1.3, 0.8, 2.9),
    tn.Tulap(0.2, 3.0, 1.0),
    tn.Staircase(2.0, 1.5, 0.3),
    tn.Staircase(0.3, 1.5, 0.0),
    tn.Staircase(5.0, 1.5, 1.0),
]
every_mechanism = pytest.mark.parametrize("m", MECHANISMS, ids=str)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(50):
        yield


def reference(m):
    """The law in units of `unit`: what the core divides by the step is divided before."""
    if isinstance(m, tn.Laplace):
        return pieces.Laplace(m.scale), 1.0
    if isinstance(m, tn.TruncatedLaplace):
        return pieces.Laplace(m.scale, m.bound), 1.0
    gamma, bound = getattr(m, "gamma", 0.5), getattr(m, "bound", inf)
    return pieces.Staircase(m.epsilon, 1, gamma, mpf(bound) / m.sensitivity), m.sensitivity


def random_mechanism(rng):
    kind, unit = rng.integers(4), math.exp(rng.uniform(-3, 3))
    if kind == 0:
        return tn.Laplace(unit), unit
    if kind == 1:
        return tn.TruncatedLaplace(unit, unit * math.exp(rng.uniform(-5, 5))), unit
    own = math.exp(rng.uniform(0.5, 4.5))
    if kind == 2:
        bound = unit * rng.choice([inf, 0.3, 0.5, 1.5, rng.uniform(0.01, 3), rng.uniform(1, 40)])
        return tn.Tulap(own, unit, bound), unit
    gamma = rng.choice([0, 0.5, 1, rng.random(), 1 / (1 + math.exp(own / 2)), 1e-6])
    return tn.Staircase(own, unit, gamma), unit


def random_pair(rng, m, unit):
    """A shift and an epsilon, of all sizes and around the largest loss."""
    shift = unit * rng.choice(
        [1.0, rng.random(), 1e-6 * rng.random(), rng.uniform(0, 3), rng.uniform(0, 60)]
    )
    largest = shift / unit * getattr(m, "epsilon", 1.0)
    epsilon = rng.choice(
        [0.0, rng.random(), rng.uniform(0, largest), largest * (1 - 1e-9), rng.uniform(0, 30)]
    )
    return shift, epsilon


def relative(got, want):
    return float(abs(mpf(float(got)) - want) / want) if want else abs(float(got))


def delta_of(m, epsilon, sensitivity):
    """The greatest divergence of all shifts, elementwise."""
    arrays = {"epsilon": epsilon, "sensitivity": sensitivity}
    return elementwise(m._law.delta, **{k: np.asarray(v, float) for k, v in arrays.items()})


def test_divergences_and_costs(rng, check_error):
    worst = worst_cost = 0.0
    for _ in range(30):
        m, unit = random_mechanism(rng)
        shift, epsilon = random_pair(rng, m, unit)
        law, step = reference(m)
        exact = pieces.divergence(law, mpf(shift / step), epsilon)
        other_way = 1 - mp.exp(-mpf(epsilon)) + mp.exp(-mpf(epsilon)) * exact
        cost = float(delta_of(m, epsilon, shift))
        if exact < 1e-290:
            assert 0 <= m.hockey_stick(0.0, shift, epsilon) < 1e-289
            assert cost == 0.0 if exact == 0 else exact <= cost < 1e-289
            continue
        worst = max(worst, relative(m.hockey_stick(0.0, shift, epsilon), exact))
        worst = max(worst, relative(m.hockey_stick(shift, 0.0, -epsilon), other_way))
        above = (mpf(cost) - exact) / exact
        assert above > -1e-40  # 50 digits
        worst_cost = max(worst_cost, float(above))
    check_error("noise of pieces: hockey_stick", worst, 1e-12)
    check_error("noise of pieces: delta, above the truth", worst_cost, 1e-9)


@pytest.mark.parametrize("steps", [1.5, 2.5, 3.5, 4.5])
@pytest.mark.parametrize("unit", [3.0, 0.2297191618945895, 13.882151524284604])
def test_what_is_left_of_a_step_before_the_bound_counts(steps, unit):
    """An end less than a rounding before a step: next to all that is beyond the other's."""
    bound = steps * unit
    for _ in range(4):
        bound = math.nextafter(bound, 0.0)
        m = tn.Tulap(60.0, unit, bound)
        law, _ = reference(m)
        for shift in (1, 2):
            exact = pieces.divergence(law, mpf(shift), mpf(60))
            cost = m.cost(sensitivity=shift * unit).delta(60.0)
            assert exact <= cost <= exact * (1 + 1e-9)


@every_mechanism
def test_worst_shift_is_the_sensitivity(m, rng):
    """No shift up to the sensitivity costs more: brute force."""
    for sensitivity, epsilon in [(0.8, 0.0), (1.5, 0.9), (2.9, 1.7), (10.0, 6.0)]:
        shifts = np.append(np.linspace(0, sensitivity, 700), sensitivity * rng.random(300))
        largest = m.hockey_stick(0.0, shifts, epsilon).max()
        delta = m.cost(sensitivity=sensitivity).delta(epsilon)
        assert largest <= delta <= largest * (1 + 1e-9)
        assert m._law.worst_shift(epsilon, sensitivity) == (delta, sensitivity, "unimodal")


def test_losses_and_distribution(rng, check_error):
    worst_loss = worst_cdf = worst_density = 0.0
    for _ in range(40):
        m, unit = random_mechanism(rng)
        law, step = reference(m)
        mass = pieces.moment(law, 0)
        for power, loss in ((1, m.mean_abs()), (2, m.var())):
            exact = mpf(step) ** power * pieces.moment(law, power) / mass
            worst_loss = max(worst_loss, relative(loss, exact))
        x = unit * rng.choice([rng.random(), rng.uniform(0, 40), rng.uniform(0, 3)])
        tail = pieces.moment(law, 0, low=mpf(x / step)) / mass
        if x > getattr(m, "bound", inf):
            assert m.cdf(-x) == 0
            assert m.cdf(x) == 1
            assert m.logpdf(x) == -inf
            continue
        if tail > 1e-290:
            worst_cdf = max(worst_cdf, relative(m.cdf(-x), tail))
        else:
            assert m.cdf(-x) < 1e-289
        log = mp.log(law.weight(mpf(x / step)) / mass / step)
        worst_density = max(worst_density, float(abs(m.logpdf(x) - log) / max(1, abs(log))))
    check_error("noise of pieces: mean_abs, var", worst_loss, 2e-15)
    check_error("noise of pieces: cdf, smaller tail", worst_cdf, 1e-13)
    check_error("noise of pieces: logpdf", worst_density, 1e-14)


@every_mechanism
def test_quantiles(m, rng):
    q = np.concatenate([rng.random(400), 10.0 ** rng.uniform(-290, 0, 400)])
    x = m.ppf(q)
    assert (np.abs(x) <= getattr(m, "bound", inf)).all()
    wrong = np.abs(m.cdf(x) - q) / np.minimum(q, 1 - q)
    # Next to an end, what a float can be off by, times the density there.
    float_error = np.spacing(np.abs(x)) * m.pdf(x) / np.minimum(q, 1 - q)
    assert (wrong < 1e-12 + 4 * float_error).all()
    assert m.ppf(0.5) == 0.0
    assert m.ppf([0.0, 1.0]).tolist() == [-getattr(m, "bound", inf), getattr(m, "bound", inf)]


@every_mechanism
def test_epsilon_is_the_least(m):
    for sensitivity in (0.8, 1.5, 7.0):
        cost = m.cost(sensitivity=sensitivity)
        for delta in (0.0, 1e-250, 1e-6, 0.03, 0.5, 0.99, 1.0):
            epsilon = cost.epsilon(delta)
            if epsilon == inf:
                assert m.tails == "bounded"
                assert cost.delta(1e300) > delta
                continue
            assert cost.delta(epsilon) <= delta
            if epsilon > 0:
                assert cost.delta(epsilon * (1 - 1e-14)) > delta
    assert m.cost(sensitivity=0.0).epsilon(0.0) == 0.0


@every_mechanism
def test_pure_privacy_is_exact(m):
    if m.tails == "bounded":
        assert m.cost(sensitivity=1e-3).delta(700.0) > 0
        assert m.cost(sensitivity=0.0).delta(5.0) == 0.0
        return
    own, width = (m.epsilon, m.sensitivity) if not isinstance(m, tn.Laplace) else (1.0, m.scale)
    cost = m.cost(sensitivity=width)
    assert cost.delta(own) == 0.0
    assert cost.delta(math.nextafter(own, inf)) == 0.0
    assert 0 < cost.delta(math.nextafter(own, 0.0)) < 1e-15
    assert m.cost(sensitivity=width * (1 + 1e-15)).delta(own) > 0
    assert cost.epsilon(0.0) == own
    assert m.hockey_stick(0.0, width, inf) == 0.0


def test_pure_laplace_of_rounded_scales(rng):
    """A scale that is rounded down costs what it costs; one that is rounded up nothing."""
    for epsilon, sensitivity in rng.uniform(0.01, 10, (300, 2)):
        scale = sensitivity / epsilon
        delta = tn.Laplace(scale).cost(sensitivity=sensitivity).delta(epsilon)
        lost = (mpf(sensitivity) / mpf(scale) - mpf(epsilon)) / 2
        truth = max(mpf(0), -mp.expm1(-lost))
        assert truth <= delta <= truth * (1 + mpf("1e-9"))


@every_mechanism
def test_hockey_stick_is_elementwise(m):
    theta, prime = np.zeros((3, 1), np.float32), np.array([0.5, 1.0])
    epsilons = np.array([0.0, 0.4, -0.4])[:, None]
    table = m.hockey_stick(theta, prime, epsilons)
    assert table.shape == (3, 2)
    assert table[1, 1] == m.hockey_stick(3.0, 2.0, 0.4)
    assert m.hockey_stick(1.0, 1.0, [0.3, -inf]).tolist() == [0.0, 1.0]
    large = m.hockey_stick(np.zeros(5000), 1.0, 0.3)  # several blocks
    assert (large == m.hockey_stick(0.0, 1.0, 0.3)).all()


def test_tails():
    assert tn.Laplace(1).tails == tn.Staircase(1, 1, 0.5).tails == tn.Tulap(1, 1).tails
    assert tn.Tulap(1, 1).tails == "exponential"
    assert tn.Tulap(1, 1, 5).tails == tn.TruncatedLaplace(1, 2).tails == "bounded"
    assert tn.Tulap(1.2, 0.7).pdf([0.3, 2.0]).tolist() == pytest.approx(
        tn.Staircase(1.2, 0.7, 0.5).pdf([0.3, 2.0]).tolist(), rel=1e-15
    )


@pytest.mark.parametrize("unit", [2.0**-1074, 2.0**-1060, 2.0**-1022])
@pytest.mark.parametrize("bound", [12, 7000])
def test_lengths_next_to_0_cost_what_others_cost(unit, bound):
    """Whole numbers of units, each told exactly: rounding must not make them cheaper."""
    for scale, shift in ((40, 1), (3, 1), (1000, 7), (5, 13)):
        whole, small = (
            (tn.Laplace(scale * u), tn.TruncatedLaplace(scale * u, bound * u), shift * u)
            for u in (1.0, unit)
        )
        for one, other in zip(whole[:2], small[:2], strict=True):
            ours, theirs = (m.cost(sensitivity=s) for m, s in ((one, whole[2]), (other, small[2])))
            for epsilon in (0.0, 0.5 * shift / scale, 1e-3):
                assert ours.delta(epsilon) == theirs.delta(epsilon)
        ours, theirs = (m.cost(sensitivity=s) * 20 for m, _, s in (whole, small))
        assert theirs.epsilon(0.0) == ours.epsilon(0.0) >= 20 * shift / scale
        assert theirs.epsilon(1e-5) == pytest.approx(ours.epsilon(1e-5), rel=1e-12)


def test_extremes_are_numbers():
    for m in [
        tn.Laplace(5e-324),
        tn.Laplace(1.7e308),
        tn.TruncatedLaplace(1e300, 1e-300),
        tn.TruncatedLaplace(1e-300, 1e300),
        tn.Tulap(1e-15, 1.0),
        tn.Tulap(1e-15, 1e-3, 1e9),
        tn.Tulap(700.0, 1e-300, 1e300),
        tn.Tulap(3.0, 1.0, 1e-100),
        tn.Staircase(700.0, 1e300, 0.0),
        tn.Staircase(1e-15, 1e-300, 1.0),
        tn.Staircase(700.0, 5e-324, 1e-300),
    ]:
        epsilons = np.array([0.0, 1e-300, 1e-9, 1.0, 699.0, 700.0, 1e4, 1e300])[:, None]
        shifts = np.array([0.0, 5e-324, 1e-200, 1.0, 1e9, 1e200, 1.7e308])
        costs = delta_of(m, epsilons, shifts)
        assert ((costs >= 0) & (costs <= 1)).all()
        assert (np.diff(costs, axis=0) <= 0).all()
        assert (np.diff(costs, axis=1) >= 0).all()
        plain = m.hockey_stick(0.0, shifts, np.concatenate([epsilons, -epsilons]))
        assert ((plain >= 0) & (plain <= 1)).all()
        assert m.mean_abs() >= 0
        assert m.var() >= 0
        x = np.concatenate([shifts, -shifts])
        assert not np.isnan(m.logpdf(x)).any()
        assert not np.isnan(m.cdf(x)).any()
        assert not np.isnan(m.ppf([0.0, 5e-324, 1e-300, 0.3, 0.5, 0.7, 1 - 2**-53, 1.0])).any()
        for delta in (0.0, 1e-300, 0.5):
            assert m.cost(sensitivity=1.0).epsilon(delta) >= 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tn.Laplace(0.0), "scale must be greater than 0; got 0.0"),
        (lambda: tn.Laplace(nan), "scale must be finite; got nan"),
        (lambda: tn.TruncatedLaplace(1.0, inf), "bound must be finite; got inf"),
        (lambda: tn.Tulap(0.0, 1.0), "epsilon must be from 1e-15 to 700; got 0.0"),
        (lambda: tn.Tulap(1.0, 1.0, -1.0), "bound must be greater than 0; got -1.0"),
        (lambda: tn.Staircase(701.0, 1.0, 0.5), "epsilon must be from 1e-15 to 700; got 701.0"),
        (lambda: tn.Staircase(1.0, 1.0, 1.5), "gamma must be between 0 and 1; got 1.5"),
        (lambda: tn.Laplace(1.0).cost(sensitivity=inf), "sensitivity must be finite; got inf"),
        (lambda: tn.Laplace(1.0).hockey_stick(0, 1, nan), "epsilon must be a number; got nan"),
        (lambda: tn.Laplace(1.0).hockey_stick(0, inf, 1), "theta_prime must be finite; got inf"),
        (lambda: tn.Laplace(1.0).ppf(1.1), "q must be between 0 and 1; got 1.1"),
        (lambda: tn.Laplace(1.0).cdf([0.0, 1.0], [1, 2, 3]), "shapes|broadcast"),
        (lambda: tn.Laplace(1.0).sample([0.0, nan]), "theta must be finite; got nan"),
        (lambda: tn.Laplace(1e300).sample(np.zeros(2, np.float32)), "for float32 theta"),
    ],
)
def test_bad_values_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_bad_types_are_named():
    with pytest.raises(TypeError, match="scale must be a real number; got 'wide'"):
        tn.Laplace("wide")
    with pytest.raises(TypeError, match="rng must be a NoiseStream or None; got int"):
        tn.Laplace(1.0).sample(0.0, rng=1)
    with pytest.raises(TypeError, match="sensitivity must be a real number"):
        tn.Laplace(1.0).cost(sensitivity="1")


def test_quantiles_where_a_step_ends():
    # The first step outside ends with a tail of b = e^-50 of its own; just before, tails are
    # multiples of 1e-16 of it.
    noise = tn.Staircase(50.0, 1e7, 0.5e-7)
    for q in (1e-30, 1e-33, 1.9e-35, 1e-36):
        assert noise.ppf(q) == pytest.approx(-10_000_000.5, rel=1e-12)
