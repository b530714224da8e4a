"""Sampled von Mises-Fisher mechanisms: against mpmath and brute force, edges, and accountants."""

import json
import math
import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from by_night import by_night, rows_by_night
from mpmath import mp, mpf
from reference import sampled_von_mises_fisher as exact
from sampled_curves import poisson_subsampled, sampled_without_replacement
from simd_levels import assert_alike

import tightnoise as tn
from tightnoise.costs import DEFAULT_ORDERS, RdpCurve
from tightnoise.costs._direction_pair import VonMisesFisherRdp
from tightnoise.costs._sampled_gaussian import FixedSizeGaussianRdp, SampledGaussianRdp
from tightnoise.costs._sampled_von_mises_fisher import SampledVonMisesFisherRdp

inf, nan = math.inf, math.nan
CARD = 1e-11  # never below the truth, and at most this fraction above
LEAST = 2.3e-308  # or this much
HERE = Path(exact.__file__)
TABLE = json.loads(HERE.with_name("sampled_von_mises_fisher.json").read_text())
# Values with 30 digits, computed by others; rows of {argument: exact decimal or fraction}.
PUBLISHED = json.loads(HERE.with_name("von_mises_fisher.json").read_text())["vmf_poisson_rdp"]

SAMPLINGS = ("poisson", "fixed-size")
ORDERS = np.array([1.01, 1.5, 2.0, 3.0, 4.5, 8.0, 32.0])
STEP = (150.0, 13_700, 128 / 60_000)  # of "Comparing privacy notions"


def sampled(kappa, dim, rate, sampling="poisson", angle=math.pi):
    adjacency = {"poisson": "add-remove", "fixed-size": "replace-one"}[sampling]
    cost = tn.VonMisesFisher(kappa, dim).cost(angle=angle, adjacency=adjacency)
    return cost.sampled(rate, sampling)


def divergence(kappa, dim, rate, alpha, half_chord=1.0, fixed_size=False):
    function = SampledVonMisesFisherRdp(kappa, int(dim), rate, half_chord, bool(fixed_size))
    return float(function(np.array([alpha], dtype=np.float64))[0])


def excess(result, truth):
    """By how much a result is above the truth, relatively: not negative."""
    assert math.isfinite(result)
    with mp.workdps(30):
        error = float((mpf(result) - truth) / (truth + LEAST / CARD))
    assert error >= 0, (result, float(truth))
    return error


# --- accuracy -----------------------------------------------------------------------------------
@pytest.mark.parametrize("group", TABLE)
def test_error(group, check_error):
    """Made by reference.make_sampled_von_mises_fisher, which says what the groups are."""
    for kappa, dim, s, rate, fixed_size, alpha, value in TABLE[group]:
        with mp.workdps(30):
            truth = mpf(value)
        error = excess(divergence(kappa, dim, rate, alpha, s, fixed_size), truth)
        # Exponents are as large as alpha times the loss where e^(alpha l) is largest. They nearly
        # cancel where that weighs as much as where l is small.
        along = 2 * (2 * alpha - 1) * kappa * s
        loss = 2 * kappa * s * along / (dim - 1 + math.hypot(dim - 1, along))
        lost = 2e-14 * alpha * loss / max(1.0, (alpha - 1) * float(truth))
        check_error(f"sampled von Mises-Fisher, {group}", error / (1 + lost / CARD), CARD)


@pytest.mark.parametrize("row", PUBLISHED)
def test_published(row, check_error):
    q, alpha = float(Fraction(row["gamma"])), float(row["alpha"])
    result = divergence(float(row["kappa"]), int(row["p"]), q, alpha)
    # A rate that is a fraction was rounded: D is about as its square.
    error = abs(result / float(row["value"]) - 1)
    check_error("sampled von Mises-Fisher, published", error, CARD)


def test_integer_orders_are_the_binomial_sum(rng, check_error):
    for _ in range(20):
        dim, alpha = int(rng.choice([2, 3, 10, 300, 13_700])), int(rng.choice([2, 3, 4, 7, 16]))
        s = 1.0 if rng.random() < 0.5 else 10 ** rng.uniform(-3, 0)
        kappa = 10 ** rng.uniform(-1.5, 1) * math.sqrt(dim) / s
        rate = 10 ** rng.uniform(-7, 0)
        truth = exact.integer_order(kappa, dim, rate, alpha, s)
        error = excess(divergence(kappa, dim, rate, alpha, s), truth)
        check_error("sampled von Mises-Fisher, integer orders", error, CARD)


def test_the_reference_is_the_binomial_sum():
    for kappa, dim, rate, alpha, s in [(150, 13_700, 0.01, 2, 1), (5, 10, 0.2, 3, 1)]:
        with mp.workdps(30):
            integral = exact.real_order(kappa, dim, rate, alpha, half_chord=s)
            assert abs(integral / exact.integer_order(kappa, dim, rate, alpha, s) - 1) < mpf(
                "1e-25"
            )


@pytest.mark.parametrize(("kappa", "dim", "s"), [(75.0, 13_700, 1.0), (9.0, 3, 0.2), (2.0, 2, 1.0)])
def test_it_is_what_poisson_subsampled_gives(kappa, dim, s):
    orders = np.arange(2.0, 65.0)
    whole = RdpCurve(orders, VonMisesFisherRdp(kappa, dim, s)(orders))
    bound = poisson_subsampled(whole, 0.01).values
    here = SampledVonMisesFisherRdp(kappa, dim, 0.01, s)(orders)
    np.testing.assert_allclose(here, bound, rtol=1e-9)


GAUSSIAN = [
    (0.7, 0.01, 2.5),
    (1.0, 0.3, 1.0),
    (0.2, 0.02, 1.2),
    *rows_by_night((5.0, 1e-3, 60.0), (30.0, 0.5, 9e3)),
]


@pytest.mark.parametrize(("sigma", "rate", "alpha"), GAUSSIAN)
def test_batches_of_a_fixed_size_with_gaussian_noise(sigma, rate, alpha, check_error):
    with mp.workdps(30):
        s, q, a = mpf(sigma), mpf(rate), mpf(alpha)

        def integrand(v):  # z = v + 1 / (2 s)
            ratio = 1 + q * mp.expm1(v / s)
            value = (
                ratio**a + ratio ** (1 - a) - ratio - 1 if a > 1 else mp.log(ratio) * (ratio - 1)
            )
            return value * mp.exp(-((v + 1 / (2 * s)) ** 2) / 2)

        bend = max(s * mp.log((1 - q) / q), mpf(0))
        ends = sorted({mpf(0), bend, *(bend + j for j in range(-12, 13, 2)), a / s, 2 / s})
        ends = [x for x in ends if x >= 0] + [ends[-1] + j for j in (3, 6, 10, 16)]
        total = mp.quad(integrand, ends) / mp.sqrt(2 * mp.pi)
        truth = mp.log1p(total) / (a - 1) if a > 1 else total
    result = FixedSizeGaussianRdp(sigma, rate)([alpha])[0]
    check_error("fixed-size Gaussian", excess(result, truth), CARD)


# --- brute force --------------------------------------------------------------------------------
def antipodal_law(kappa, dim, nodes=400_000):
    """The loss of P over Q and the masses of both, straight from the densities."""
    width = 40.0 / math.sqrt(dim)
    v = np.linspace(-width, width, nodes)
    log_q = -kappa * np.tanh(v) - (dim - 1) * np.log(np.cosh(v))
    mass = np.exp(log_q - log_q.max())
    mass /= mass.sum()
    return 2 * kappa * np.tanh(v), mass


@pytest.mark.parametrize(("kappa", "dim"), [(3.0, 10), (40.0, 1000)])
@pytest.mark.parametrize("fixed_size", [False, True])
def test_it_is_the_divergence_of_the_privacy_profile(kappa, dim, fixed_size):
    """M_a = 1 + a b int_0^inf (e^(b y) delta(y) + e^(-a y) delta'(y)) dy, by summing it up."""
    rate = 0.05
    loss, q_mass = antipodal_law(kappa, dim)
    ratio = 1 + rate * np.expm1(loss)
    y = np.linspace(0, np.log(ratio.max()), 60_001)
    # delta(y) = sum of Q (ratio - e^y)_+, and of the other order Q (1 - e^y ratio)_+.
    order = np.argsort(ratio)
    above_q = np.append(np.cumsum(q_mass[order][::-1])[::-1], 0)
    above_p = np.append(np.cumsum((q_mass * ratio)[order][::-1])[::-1], 0)
    at = np.searchsorted(ratio[order], np.exp(y))
    there = above_p[at] - np.exp(y) * above_q[at]
    below = np.searchsorted(ratio[order], np.exp(-y))
    back = (1 - above_q[below]) - np.exp(y) * (1 - above_p[below])
    if fixed_size:
        back = there
    for alpha in (1.5, 2.0, 3.7):
        b = alpha - 1
        integrand = np.exp(b * y) * there + np.exp(-alpha * y) * back
        step = y[1] - y[0]
        total = alpha * b * step * (integrand.sum() - (integrand[0] + integrand[-1]) / 2)
        here = divergence(kappa, dim, rate, alpha, fixed_size=fixed_size)
        assert here == pytest.approx(math.log1p(total) / b, rel=2e-5)


def circle(kappa, angle, nodes=4096):
    """The masses of a von Mises-Fisher distribution on a circle."""
    x = np.linspace(0, 2 * np.pi, nodes, endpoint=False)
    mass = np.exp(kappa * np.cos(x - angle))
    return mass / mass.sum()


@pytest.mark.parametrize("kappa", [0.5, 4.0, 20.0])
def test_no_batch_tells_neighbours_apart_better(kappa, rng):
    """All batches of m of n records whose sum has any direction; the neighbour's is any other."""
    worst = 0.0
    for _ in range(60):
        others, rate = int(rng.integers(0, 4)), float(rng.choice([0.05, 1 / 3, 0.5, 0.9]))
        angles = rng.uniform(0, 2 * np.pi, others + 2)
        if rng.random() < 0.5:
            angles[1] = angles[0] + np.pi  # opposite
        rest = [circle(kappa, angle) for angle in angles[2:]] or [circle(kappa, angles[1])]
        without = np.mean(rest, axis=0)
        one = (1 - rate) * without + rate * circle(kappa, angles[0])
        two = (1 - rate) * without + rate * circle(kappa, angles[1])
        for alpha in (1.2, 2.0, 6.0):
            here = divergence(kappa, 2, rate, alpha, fixed_size=True)
            for p, q in ((one, two), (two, one)):
                there = math.log(float((p**alpha * q ** (1 - alpha)).sum())) / (alpha - 1)
                assert there <= here + 1e-13
                worst = max(worst, there / here)
    assert worst > 0.3


@pytest.mark.parametrize("kappa", [0.5, 4.0, 20.0])
@pytest.mark.parametrize("angle", [0.3, 2.0, math.pi])
def test_poisson_sampling_in_both_directions(kappa, angle):
    s = math.sin(angle / 2)
    p, q = circle(kappa, angle), circle(kappa, 0.0)
    for rate in (0.01, 0.4):
        mixture = (1 - rate) * q + rate * p
        for alpha in (1.2, 2.0, 6.0):
            here = divergence(kappa, 2, rate, alpha, s)
            there = math.log(float((mixture**alpha * q ** (1 - alpha)).sum())) / (alpha - 1)
            back = math.log(float((q**alpha * mixture ** (1 - alpha)).sum())) / (alpha - 1)
            assert back <= there * (1 + 1e-9)
            assert here == pytest.approx(there, rel=1e-8)


# --- what must hold -----------------------------------------------------------------------------
def random_step(rng, **more):
    dim = int(rng.choice([2, 3, 10, 300, 13_700, 10**6, 10**9]))
    s = 1.0 if rng.random() < 0.5 else 10 ** rng.uniform(-3, 0)
    kappa = 10 ** rng.uniform(-3, 2) * math.sqrt(dim) / s
    rate, fixed_size = 10 ** rng.uniform(-8, 0), bool(rng.random() < 0.5)
    return {"kappa": kappa, "dim": dim, "sampling_rate": rate, "half_chord": s,
            "fixed_size": fixed_size, **more}  # fmt: skip


def test_it_grows_with_everything(rng):
    orders = np.concatenate([1 + np.geomspace(1e-9, 1e-3, 20), np.geomspace(1.001, 1e9, 150)])
    for _ in range(25):
        step = random_step(rng)
        here = SampledVonMisesFisherRdp(**step)(orders)
        assert (here[1:] >= here[:-1] * (1 - 1e-9)).all(), step
        factor = 1 + 10 ** rng.uniform(-9, 1)
        for name, most in (("kappa", inf), ("sampling_rate", 1.0), ("half_chord", 1.0)):
            more = step | {name: min(step[name] * factor, most)}
            assert (SampledVonMisesFisherRdp(**more)(orders) >= here * (1 - 1e-9)).all(), more
        whole = VonMisesFisherRdp(step["kappa"], step["dim"], step["half_chord"])(orders)
        assert (here <= whole * (1 + 1e-9)).all(), step
        assert (here <= SampledVonMisesFisherRdp(**step).max_divergence * (1 + 1e-9)).all(), step


@pytest.mark.parametrize("fixed_size", [False, True])
@pytest.mark.parametrize("kappa", [1e-3, 1.0, 50.0, 1e4, 1e9])
def test_it_is_continuous_where_sampling_ends(kappa, fixed_size):
    orders = np.concatenate([[1.0], DEFAULT_ORDERS])
    for dim in (2, 13_700):
        whole = VonMisesFisherRdp(kappa, dim, 1.0)(orders)
        for rate in (1.0, 1 - 2.0**-53):
            here = SampledVonMisesFisherRdp(kappa, dim, rate, fixed_size=fixed_size)(orders)
            np.testing.assert_allclose(here, whole, rtol=1e-9)


def test_bounds_for_any_mechanism_are_larger(rng):
    orders = np.arange(2.0, 33.0)
    for _ in range(10):
        step = random_step(rng, fixed_size=True)
        whole = VonMisesFisherRdp(step["kappa"], step["dim"], step["half_chord"])
        sample = max(1, round(step["sampling_rate"] * 10**6))
        bound = sampled_without_replacement(RdpCurve(orders, whole(orders)), sample, 10**6)
        here = SampledVonMisesFisherRdp(**step | {"sampling_rate": sample / 10**6})(orders)
        assert (here <= bound.values).all(), step


def test_a_gaussian_pair_is_dominated_too(rng):
    for _ in range(10):
        sigma, rate = 10 ** rng.uniform(-1, 2), 10 ** rng.uniform(-4, 0)
        fixed = FixedSizeGaussianRdp(sigma, rate)(DEFAULT_ORDERS)
        assert (fixed <= SampledGaussianRdp(sigma, 1.0)(DEFAULT_ORDERS) * (1 + 1e-9)).all()
        assert (fixed[1:] >= fixed[:-1] * (1 - CARD)).all()
        orders = np.arange(2.0, 33.0)
        whole = RdpCurve(orders, orders / (2 * sigma**2))
        bound = sampled_without_replacement(whole, max(1, int(rate * 10**6)), 10**6).values
        assert (FixedSizeGaussianRdp(sigma, int(rate * 10**6) / 10**6)(orders) <= bound).all()


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("kappa", [*by_night(25.0), 75.0, *by_night(300.0)])
def test_gaussian_dp_costs_a_little_more(kappa, sampling):
    _, dim, rate = STEP
    here = sampled(kappa, dim, rate, sampling)
    mu = tn.VonMisesFisher(kappa, dim).cost().gdp_mu
    bound = tn.Cost.of_gdp(mu, adjacency=here.adjacency).sampled(rate, sampling)
    assert (here.rdp().values <= bound.rdp().values * (1 + CARD)).all()
    for by in ("rdp", None):
        exact_epsilon = (here * 1407).epsilon(1 / 60_000, by=by)
        assert exact_epsilon < (bound * 1407).epsilon(1 / 60_000, by=by) < 1.02 * exact_epsilon


def test_gaussian_dp_of_next_to_nothing_and_of_anything():
    def epsilon(mu):
        return tn.Cost.of_gdp(mu).sampled(0.1, "poisson").epsilon(1e-9)

    assert epsilon(0.0) == 0
    assert epsilon(5e-324) < 1e-100
    assert epsilon(1e300) == inf


@pytest.mark.parametrize(
    ("kappa", "epsilon"), [(75.0, 1.513), (150.0, 14.044), (300.0, 124.896), (500.0, 449.823)]
)
def test_three_epochs(kappa, epsilon):
    """With 1407 steps, by a search over a grid of orders: the best real order can only be less."""
    training = (sampled(kappa, *STEP[1:]) * 1407).rdp()
    found = training.epsilon(1 / 60_000, "canonne")
    assert epsilon * (1 - 4e-4) < found < epsilon * (1 + 4e-4)
    assert training.epsilon(1 / 60_000) < found


def test_every_level_and_number_of_threads_gives_the_same():
    """To rounding between levels; exactly between numbers of threads."""
    code = (
        "import sys, numpy as np, tightnoise; from tightnoise.costs import DEFAULT_ORDERS;"
        "from tightnoise.costs._sampled_von_mises_fisher import SampledVonMisesFisherRdp;"
        "tightnoise.set_num_threads(int(sys.argv[1]));"
        "k = np.geomspace(1, 1000, 20);"
        "f = [SampledVonMisesFisherRdp(x, 100, 0.01, 0.3, bool(x > 30)) for x in k];"
        "x = SampledVonMisesFisherRdp.weighted_sum(f, range(20), DEFAULT_ORDERS);"
        "print(*(float(v).hex() for v in x))"
    )
    assert_alike(code, 1e-11)


# --- edges --------------------------------------------------------------------------------------
@pytest.mark.parametrize("fixed_size", [False, True])
@pytest.mark.parametrize("kappa", [1e-300, 1e-150, 1e-9, 1.0, 1e9, 1e16, 1e100])
@pytest.mark.parametrize("dim", [2, 3, 13_700, 2**53])
def test_far_from_anything_useful_it_is_a_number(kappa, dim, fixed_size):
    orders = np.array([1.0, 1 + 2.0**-52, 1.5, 2.0, 1e3, 1e9, 1e13, 1e100, 1e300, inf])
    for rate in (5e-324, 1e-100, 1e-3, 1 - 2.0**-53):
        for s in (1e-12, 0.4, 1.0):
            values = SampledVonMisesFisherRdp(kappa, dim, rate, s, fixed_size)(orders)
            assert (values > 0).all()
            whole = VonMisesFisherRdp(kappa, dim, s)(orders)
            assert (values <= whole * (1 + 1e-9) + LEAST).all(), (rate, s)
            # Next to underflow bounds come from quotients of what is left.
            assert (values[1:] + 1e-290 >= values[:-1] * (1 - 1e-9)).all(), (rate, s)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_nothing_costs_nothing(sampling):
    assert sampled(0.0, 5, 0.1, sampling).epsilon(1e-9) == 0
    assert sampled(9.0, 5, 0.1, sampling, angle=0.0).epsilon(1e-9) == 0
    assert SampledVonMisesFisherRdp(0.0, 5, 0.1).max_divergence == 0


def test_infinite_order():
    function = SampledVonMisesFisherRdp(2.0, 50, 0.01, 0.5)
    truth = math.log1p(0.01 * math.expm1(2.0))
    assert function.max_divergence == pytest.approx(truth, rel=1e-13)
    assert truth < function.max_divergence
    assert function([inf])[0] == pytest.approx(truth, rel=1e-13)
    assert function([1e12])[0] == pytest.approx(truth, rel=1e-6)


# --- arguments ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "value"),
    [("kappa", -1.0), ("kappa", nan), ("kappa", 1e101), ("dim", 1), ("dim", 2**53 + 1),
     ("sampling_rate", 0.0), ("sampling_rate", 1.5), ("sampling_rate", nan),
     ("half_chord", -0.1), ("half_chord", 1.5), ("half_chord", nan)],
)  # fmt: skip
def test_bad_values(name, value):
    arguments = {"kappa": 2.0, "dim": 5, "sampling_rate": 0.1, name: value}
    with pytest.raises(ValueError, match=f"{name} must be"):
        SampledVonMisesFisherRdp(**arguments)


def test_bad_types():
    with pytest.raises(TypeError, match="kappa"):
        SampledVonMisesFisherRdp("2", 5, 0.1)
    with pytest.raises(TypeError, match="dim"):
        SampledVonMisesFisherRdp(2.0, 5.5, 0.1)
    with pytest.raises(TypeError, match="fixed_size must be True or False; got 1"):
        SampledVonMisesFisherRdp(2.0, 5, 0.1, 1.0, 1)


def test_curves():
    once, fixed = sampled(*STEP), sampled(*STEP, "fixed-size")
    assert (once.adjacency, fixed.adjacency) == ("add-remove", "replace-one")
    many = (once * 3 + sampled(*STEP)).rdp()
    assert many.terms == ((SampledVonMisesFisherRdp(*STEP), 4),)
    assert pickle.loads(pickle.dumps(many)).terms == many.terms
    with pytest.raises(ValueError, match="neighbours"):
        once + fixed


def test_sums_round_upwards():
    function = SampledVonMisesFisherRdp(*STEP)
    once = [mpf(float(v)) for v in function(ORDERS)]
    total = SampledVonMisesFisherRdp.weighted_sum([function] * 2, [1, 2**53 - 1], ORDERS)
    assert all(mpf(float(t)) >= v * 2**53 for t, v in zip(total, once, strict=True))


@pytest.mark.parametrize("dim", [2, 4, 1000])
@pytest.mark.parametrize("kappa", [1e22, 1e26, 1e27, 1e54, 1e100])
def test_concentrated_and_close_directions_are_gaussian(kappa, dim):
    # A sample is at about kappa^(-1/2) from its direction then: a density of 1e13 and more.
    rate, alphas = 0.9, np.array([1.0, 1 + 1e-12, 1.5, 2.0, 10.0])
    for sigma in (0.5, 50.0, 1e20):
        half_chord = 0.5 / sigma / math.sqrt(kappa)
        for fixed, gaussian in ((False, SampledGaussianRdp), (True, FixedSizeGaussianRdp)):
            function = SampledVonMisesFisherRdp(kappa, dim, rate, half_chord, fixed)
            expected = gaussian(sigma, rate)(alphas)
            np.testing.assert_allclose(function(alphas), expected, rtol=3e-11)
