"""The conversions between RDP and (epsilon, delta): on the safe side of the truth, and next to it.

The truth is mpmath's, by the formulas as printed; for the optimal conversion it is the least
divergence of a pair that breaks a budget, found by minimising as Theorem 3 is printed, while the
core searches along the curve of extremal pairs.
"""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from by_night import by_night
from mpmath import mp, mpf
from reference import conversions as reference

from tightnoise.costs import budget_to_rdp, rdp_to_delta, rdp_to_epsilon

CLOSED = ["classic", "canonne", "closed_form"]
NAMES = [*CLOSED, "optimal"]  # from the largest epsilon to the smallest
CARD = 5e-15  # of the closed forms
CARD_OF_SEARCH = 1e-14
INF = math.inf
NEXT_TO_ONE = math.nextafter(1, 2)
FUNCTIONS = {"epsilon": rdp_to_epsilon, "delta": rdp_to_delta, "rdp": budget_to_rdp}
ARGUMENTS = {
    "epsilon": ("alpha", "rdp", "delta"),
    "delta": ("alpha", "rdp", "epsilon"),
    "rdp": ("alpha", "epsilon", "delta"),
}

EXAMPLES = json.loads(
    (Path(__file__).parents[1] / "reference" / "conversions.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e['what']}-{e['conversion']}")
def test_reference_values(example, check_error):
    what = example["what"]
    arguments = [float(example[name]) for name in ARGUMENTS[what]]
    got = FUNCTIONS[what](*arguments, conversion=example["conversion"])
    error = float(mpf(got) / mpf(example["value"]) - 1)
    check_error("conversions: reference values", -error if what == "rdp" else error, 1e-13)
    assert (error <= 1e-15) if what == "rdp" else (error >= -1e-15)  # given to so many digits


# Closed forms


@pytest.fixture(params=[600, *by_night(1500)])
def points(request, rng):
    n = request.param
    alpha = 1 + 10 ** rng.uniform(-12, 6, n)
    rdp = 10 ** rng.uniform(-12, 4, n)
    delta = 10 ** rng.uniform(-300, -1e-9, n)
    delta[: n // 2] = 10 ** rng.uniform(-15, -1, n // 2)
    return alpha, rdp, delta


def magnitude(alpha, rdp, epsilon, delta, name):
    """What the card relates an error to: the terms of the branch that is the smallest."""
    if name == "closed_form" and mpf(alpha) * mpf(delta) > 1:
        return mpf(max(rdp, epsilon)) - mp.log1p(-mpf(delta))
    formula = "canonne" if name == "closed_form" else name
    size = sum(abs(term) for term in reference.terms(alpha, rdp, delta, formula)) + mpf(epsilon)
    return size if name != "closed_form" else max(size, mpf(rdp) + mpf(epsilon))


@pytest.mark.parametrize("name", CLOSED)
def test_epsilon_is_the_formula_rounded_up(name, points, check_error):
    worst = 0.0
    got = rdp_to_epsilon(*points, conversion=name)
    with mp.workdps(50):
        for alpha, rdp, delta, epsilon in zip(*points, got, strict=True):
            excess = mpf(epsilon) - reference.epsilon(alpha, rdp, delta, name)
            assert excess >= 0, (alpha, rdp, delta)
            if epsilon > 0:
                size = magnitude(alpha, rdp, epsilon if name == "closed_form" else 0, delta, name)
                worst = max(worst, float(excess / size))
    check_error(f"rdp_to_epsilon {name} (of the terms)", worst, CARD)


@pytest.mark.parametrize("name", CLOSED)
def test_delta_is_the_formula_rounded_up(name, points, rng, check_error):
    alpha, rdp, _ = points
    # Half the points where delta is neither 0 nor 1, half anywhere.
    epsilon = rdp + 10 ** rng.uniform(-2, 2.5, alpha.size) / (alpha - 1)
    epsilon[::2] = 10 ** rng.uniform(-12, 4, epsilon[::2].size)
    epsilon[::16] = 0.0
    got = rdp_to_delta(alpha, rdp, epsilon, conversion=name)
    worst = 0.0
    with mp.workdps(50):
        for *point, delta in zip(alpha, rdp, epsilon, got, strict=True):
            truth = reference.delta(*point, name)
            assert delta >= truth, point
            assert delta <= 1
            if truth > 1e-300:
                worst = max(worst, float(mpf(float(delta)) / truth - 1))
    check_error(f"rdp_to_delta {name}", worst, 1e-11)


@pytest.mark.parametrize("name", CLOSED)
def test_rdp_is_the_formula_rounded_down(name, points, check_error):
    alpha, epsilon, delta = points
    got = budget_to_rdp(alpha, epsilon, delta, conversion=name)
    worst = 0.0
    with mp.workdps(350):
        for a, e, d, rdp in zip(alpha, epsilon, delta, got, strict=True):
            shortfall = reference.rdp(a, e, d, name) - mpf(rdp)
            assert shortfall >= 0, (a, e, d)
            if rdp > 0:
                worst = max(worst, float(shortfall / magnitude(a, 0, e, d, name)))
    check_error(f"budget_to_rdp {name} (of the terms)", worst, CARD)


@pytest.mark.parametrize("name", ["canonne", "classic"])
@pytest.mark.parametrize("delta", [5e-324, 1e-300, 1e-5, 0.5, math.nextafter(1, 0)])
@pytest.mark.parametrize("alpha", [NEXT_TO_ONE, 1 + 1e-9, 2.0, 1e6, 1e300])
@pytest.mark.parametrize("rdp", [5e-324, 1.0, 1e300, 1.7e308])
def test_epsilon_at_the_edges(name, delta, alpha, rdp):
    got = rdp_to_epsilon(alpha, rdp, delta, conversion=name)
    with mp.workdps(400):
        terms = reference.terms(alpha, rdp, delta, name)
        truth = max(mp.fsum(terms), 0)
        assert got >= truth
        assert got == INF or got <= truth + CARD * sum(abs(term) for term in terms) + 3e-308
        assert got < INF or truth > 1.7e308


@pytest.mark.parametrize("name", ["canonne", "classic"])
@pytest.mark.parametrize("alpha", [NEXT_TO_ONE, 1 + 1e-9, 2.0, 1e6, 1e300])
@pytest.mark.parametrize("rdp", [5e-324, 1.0, 1e10, 1.7e308])
@pytest.mark.parametrize("epsilon", [0.0, 5e-324, 1.0, 1e10, 1.7e308])
def test_delta_at_the_edges(name, alpha, rdp, epsilon):
    got = rdp_to_delta(alpha, rdp, epsilon, conversion=name)
    with mp.workdps(400):
        truth = reference.delta(alpha, rdp, epsilon, name)
    assert truth <= got <= truth * (1 + 1e-11) + 5e-324


# The optimal conversion


def optimal_points(rng, n):
    """Orders, divergences and deltas that give epsilons above 0 (most of the time)."""
    for i in range(n):
        alpha = 1 + 10 ** rng.uniform(-12, 6)
        delta = [
            10 ** rng.uniform(-300, -1e-9),
            10 ** rng.uniform(-15, -1e-9),
            (1 - 10 ** rng.uniform(-9, -0.01)) / alpha,  # alpha delta next to 1
        ][i % 3]
        rdp = 10 ** rng.uniform(-12, 4)
        if i % 2:  # just above what epsilon = 0 allows
            least = float(reference.gamma(alpha, 0, delta)) * 10 ** rng.uniform(0, 3)
            rdp = min(max(least, 1e-12), 1e4)
        yield alpha, rdp, delta


@pytest.mark.parametrize("cases", [30, *by_night(200)])
def test_optimal_epsilon(rng, check_error, cases):
    worst = 0.0
    zeros = 0
    for alpha, rdp, delta in optimal_points(rng, cases):
        epsilon = rdp_to_epsilon(alpha, rdp, delta)
        at_answer = reference.gamma(alpha, epsilon, delta)
        assert at_answer >= rdp, (alpha, rdp, delta)
        if epsilon == 0:
            zeros += 1
            continue
        with mp.workdps(60):
            size = mpf(epsilon) + mp.log(mpf(alpha) / (mpf(alpha) - 1))
            nearer = max(mpf(epsilon) - size * mpf("1e-16"), mpf(0))
            slope = (at_answer - reference.gamma(alpha, nearer, delta)) / (mpf(epsilon) - nearer)
            worst = max(worst, float((at_answer - mpf(rdp)) / slope / size))
    assert zeros < cases / 2
    check_error("rdp_to_epsilon optimal (of epsilon + log(1/(1 - 1/alpha)))", worst, CARD_OF_SEARCH)


@pytest.mark.parametrize("cases", [50, *by_night(100)])
def test_optimal_delta(cases, rng, check_error):
    worst, worst_usual, used = 0.0, 0.0, 0
    for i in range(cases):
        alpha = 1 + 10 ** rng.uniform(-12, 6)
        rdp = 10 ** rng.uniform(-12, 4)
        epsilon = min(rdp + 10 ** rng.uniform(-2, 2.5) / (alpha - 1), 1e4)
        if i % 2:
            epsilon = [0.0, 10 ** rng.uniform(-12, 4)][i % 4 == 1]
        delta = rdp_to_delta(alpha, rdp, epsilon)
        if not 1e-300 < delta < 1:
            continue
        at_answer = reference.gamma(alpha, epsilon, delta)
        assert at_answer >= rdp, (alpha, rdp, epsilon)
        used += 1
        with mp.workdps(60):
            nearer = mpf(delta) * (1 - mpf("1e-16"))
            slope = (at_answer - reference.gamma(alpha, epsilon, nearer)) / (mpf(delta) - nearer)
            excess = float((at_answer - mpf(rdp)) / slope / mpf(delta))
            log_ratio = epsilon + float(mp.log(mpf(alpha) / (mpf(alpha) - 1)))
            worst = max(worst, excess / (1 + (alpha - 1) * log_ratio))
            if (alpha - 1) * log_ratio < 100:
                worst_usual = max(worst_usual, excess)
    assert used > 0.4 * cases
    check_error("rdp_to_delta optimal (of 1 + (alpha - 1) log ratio)", worst, CARD_OF_SEARCH)
    check_error("rdp_to_delta optimal", worst_usual, 1e-12)


@pytest.mark.parametrize("cases", [80, *by_night(300)])
def test_optimal_rdp(rng, check_error, cases):
    worst = worst_usual = 0.0
    for i, (alpha, epsilon, delta) in enumerate(optimal_points(rng, cases)):
        if i % 2 and i % 8 != 1:
            continue
        if i % 8 == 1:
            epsilon = 0.0
        rdp = budget_to_rdp(alpha, epsilon, delta)
        truth = reference.gamma(alpha, epsilon, delta)
        if truth < 1e-290:
            assert 0 <= rdp <= truth
            continue
        assert rdp <= truth, (alpha, epsilon, delta)
        with mp.workdps(60):
            h = mpf(alpha) - 1
            log_ratio = mpf(epsilon) + mp.log(mpf(alpha) / h)
            size = truth + log_ratio * min(h * truth, 1)
            worst = max(worst, float((truth - rdp) / size))
            if h * log_ratio < 50:
                worst_usual = max(worst_usual, float(1 - rdp / truth))
    check_error("budget_to_rdp optimal (of its scale)", worst, CARD_OF_SEARCH)
    check_error("budget_to_rdp optimal", worst_usual, 1e-12)


def divergence_and_best_delta(alpha, p, q):
    """Of the pair (p, 1-p), (q, 1-q): its divergence, and where it is extremal (p > q).

    Moving along the contour of the divergence, (p, q) -> p - e^epsilon q has its maximum where the
    contour is normal to it: e^epsilon = -F_q/F_p.
    """
    a, p, q = mpf(alpha), mpf(p), mpf(q)
    x, y = p / q, (1 - p) / (1 - q)
    total = p * x ** (a - 1) + (1 - p) * y ** (a - 1)
    grown = (a - 1) / a * (x**a - y**a) / (x ** (a - 1) - y ** (a - 1))
    return mp.log(total) / (a - 1), mp.log(grown), p - grown * q


def test_some_pair_attains_the_optimal_bound(rng):
    found = 0
    with mp.workdps(60):
        for _ in range(1000):
            alpha = 1 + 10 ** rng.uniform(-3, 2)
            p, q = 10 ** rng.uniform(-8, 0, 2)
            if p <= q * (1 + 1e-9):
                continue
            rdp, epsilon, delta = divergence_and_best_delta(alpha, p, q)
            if epsilon < 1e-6 or alpha * delta > 1:
                continue
            found += 1
            got = rdp_to_epsilon(alpha, float(rdp), float(delta))
            assert got == pytest.approx(float(epsilon), rel=1e-9)
            assert rdp_to_delta(alpha, float(rdp), float(epsilon)) == pytest.approx(
                float(delta), rel=1e-9
            )
            assert budget_to_rdp(alpha, float(epsilon), float(delta)) == pytest.approx(
                float(rdp), rel=1e-9
            )
    assert found > 100


@pytest.mark.parametrize("outcomes", [2, 3])
def test_no_pair_of_distributions_beats_a_bound(outcomes, rng):
    """Against the definition: the largest delta over all sets, for random pairs."""
    n = 20_000
    p, q = rng.dirichlet([0.3] * outcomes, (2, n)) + 1e-12
    p, q = p / p.sum(1, keepdims=True), q / q.sum(1, keepdims=True)
    alpha = 1 + 10 ** rng.uniform(-2, 2, n)
    logs = alpha[:, None] * np.log(p) + (1 - alpha[:, None]) * np.log(q)
    largest = logs.max(1)
    rdp = (largest + np.log(np.exp(logs - largest[:, None]).sum(1))) / (alpha - 1)
    epsilon = 10 ** rng.uniform(-3, 1, n)
    delta = np.maximum(p - np.exp(epsilon)[:, None] * q, 0).sum(1)
    kept = (rdp > 1e-6) & (delta > 1e-9)
    assert kept.sum() > n / 10
    alpha, rdp, epsilon, delta = (x[kept] for x in (alpha, rdp, epsilon, delta))
    ratios = []
    for name in NAMES:
        bound = rdp_to_delta(alpha, rdp, epsilon, conversion=name)
        assert (bound >= delta * (1 - 1e-9)).all()
        assert (rdp_to_epsilon(alpha, rdp, delta, name) >= epsilon * (1 - 1e-9) - 1e-9).all()
        assert (budget_to_rdp(alpha, epsilon, delta, name) <= rdp * (1 + 1e-9)).all()
        ratios.append((bound / delta).min())
    assert ratios[-1] < 1.01  # some pair comes close


# All of them


ORDERS = [NEXT_TO_ONE, 1 + 1e-12, 1.001, 1.5, 2.0, 3.7, 64.0, 2000.0, 1e6, 1e15, 1e300, INF]
COSTS = [5e-324, 1e-300, 1e-100, 1e-12, 1e-6, 0.01, 1.0, 30.0, 1e4, 1e100, 1.7e308]
DELTAS = [5e-324, 1e-300, 1e-100, 1e-15, 1e-6, 1e-3, 0.1, 0.5, 0.999, math.nextafter(1, 0)]


@pytest.mark.parametrize(
    ("what", "second", "third"),
    [
        ("epsilon", COSTS, DELTAS),
        ("delta", COSTS, [0.0, *COSTS]),
        ("rdp", [0.0, *COSTS], DELTAS),
    ],
)
def test_order_of_the_bounds_and_of_their_arguments(what, second, third, rng):
    convert = FUNCTIONS[what]
    dense = np.geomspace(1e-9, 1e6, 50)
    axes = [
        np.sort(np.concatenate([ORDERS, 1 + dense])),
        np.sort(np.concatenate([second, dense])),
        np.sort(np.concatenate([third, np.geomspace(1e-30, 0.9, 30)])),
    ]
    results = [convert(*np.meshgrid(*axes, indexing="ij"), name) for name in NAMES]
    for result in results:
        assert not np.isnan(result).any()
        assert (result >= 0).all()
    assert what != "delta" or all((result <= 1).all() for result in results)
    for worse, better in itertools.pairwise(results):
        assert ((better >= worse) if what == "rdp" else (better <= worse)).all()
    subnormal = 1e-300  # the branch that is the smallest may be out of range where delta is
    # Up to rounding, all increase with the second argument; with the third, budgets increase too.
    for result in results:
        finite = np.minimum(result, 1e300)
        assert (np.diff(finite, axis=1) >= -1e-9 * finite[:, :-1] - subnormal).all()
        change = np.diff(finite, axis=2) * (1 if what == "rdp" else -1)
        assert (change >= -1e-9 * finite[..., :-1] - subnormal).all()


@pytest.mark.parametrize("name", NAMES)
def test_round_trips(name, points, check_error):
    alpha, rdp, delta = (x[: x.size // 2] for x in points)
    epsilon = rdp_to_epsilon(alpha, rdp, delta, conversion=name)
    usable = (epsilon > 1e-3 * rdp) & ((alpha - 1) * epsilon < 1e3) & (rdp < 1e3)
    assert usable.sum() > usable.size / 4
    alpha, rdp, delta, epsilon = (x[usable] for x in (alpha, rdp, delta, epsilon))
    back = rdp_to_delta(alpha, rdp, epsilon, conversion=name)
    # epsilon was rounded up, so delta may come back smaller, by the slope times that rounding
    check_error(f"delta -> epsilon -> delta, {name}", np.abs(back / delta - 1).max(), 1e-10)
    back = budget_to_rdp(alpha, epsilon, delta, conversion=name)
    scale = rdp + epsilon + np.log(alpha / (alpha - 1)) - np.log(delta) / (alpha - 1)
    check_error(f"rdp -> epsilon -> rdp, {name}", (np.abs(back - rdp) / scale).max(), 1e-13)


def test_where_the_second_branch_of_lemma_1_matters():
    """Tiny costs: canonne and Theorem 21 of Balle et al. are not all that Lemma 1 says."""
    epsilons = [rdp_to_epsilon(10.0, 1e-4, 1e-4, name) for name in NAMES[1:]]
    assert epsilons == pytest.approx([0.662, 0.0713, 0.0396], rel=2e-3)


def test_one_direction_is_bounded_and_no_more():
    """A bound of both directions allows less, where alpha delta is not small: not claimed here."""
    assert rdp_to_delta(10.0, 0.2, 0.1) == pytest.approx(0.09529, abs=5e-6)
    assert rdp_to_delta(30.0, 0.5, 0.4) == pytest.approx(0.09516, abs=5e-6)


def test_no_negative_epsilon_and_no_nan_where_others_have_them():
    assert rdp_to_epsilon(2.0, 1e-9, 0.5) == 0
    for name in NAMES:
        assert 0 <= rdp_to_epsilon(2000.0, 0.01, 0.5, name) < 0.011
        assert 0.9 < rdp_to_epsilon(2000.0, 1.0, 1e-5, name) < 1.01


@pytest.mark.parametrize("name", NAMES)
def test_infinite_order_is_pure_privacy(name):
    assert rdp_to_epsilon(INF, 0.5, 0.1, name) == pytest.approx(0.5 + math.log(0.9), rel=1e-14)
    assert rdp_to_epsilon(INF, 0.05, 0.1, name) == 0
    assert rdp_to_delta(INF, 0.5, 0.2, name) == pytest.approx(-math.expm1(-0.3), rel=1e-14)
    assert rdp_to_delta(INF, 0.5, 0.5, name) == 0
    assert budget_to_rdp(INF, 0.5, 0.1, name) == pytest.approx(0.5 - math.log(0.9), rel=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_no_cost_and_infinite_cost(name):
    assert rdp_to_epsilon(2.0, [0.0, INF], 1e-6, name).tolist() == [0, INF]
    assert rdp_to_delta(2.0, [0.0, INF], 0.5, name).tolist() == [0, 1]
    assert rdp_to_epsilon(INF, [0.0, INF], 1e-6, name).tolist() == [0, INF]


def test_divergences_below_the_range_of_the_search_are_bounded_all_the_same():
    for alpha, rdp, delta in [(1.0016, 1.6e-319, 1.6e-160), (2.0, 5e-324, 1e-162)]:
        epsilon = rdp_to_epsilon(alpha, rdp, delta)
        assert reference.gamma(alpha, epsilon, delta) >= rdp
        assert budget_to_rdp(alpha, 0.0, delta) <= reference.gamma(alpha, 0, delta)
        delta = rdp_to_delta(alpha, rdp, 0.0)
        assert reference.gamma(alpha, 0, delta) >= rdp


def test_arrays_are_converted_one_by_one(rng):
    alpha, rdp = 1 + 10 ** rng.uniform(-2, 3, 1000), 10 ** rng.uniform(-3, 1, 1000)
    many = rdp_to_epsilon(alpha, rdp, 1e-5)
    assert many.tolist() == [rdp_to_epsilon(a, r, 1e-5) for a, r in zip(alpha, rdp, strict=True)]
    assert budget_to_rdp(np.ones((3, 1)) + 1, 1.0, [0.1, 0.2]).shape == (3, 2)
    assert isinstance(budget_to_rdp(2.0, 1.0, 0.1), float)


@pytest.mark.parametrize("bad", [math.nan, -1.0, INF])
def test_bad_epsilon_is_refused(bad):
    with pytest.raises(ValueError, match="epsilon must be"):
        budget_to_rdp(2.0, [1.0, bad], 0.1)


@pytest.mark.parametrize("bad", [math.nan, 0.0, 1.0, -0.1, INF])
def test_bad_delta_is_refused(bad):
    with pytest.raises(ValueError, match="delta must be"):
        budget_to_rdp(2.0, 1.0, [0.1, bad])


@pytest.mark.parametrize("bad", [math.nan, 1.0, 0.5, -INF])
def test_bad_order_is_refused(bad):
    with pytest.raises(ValueError, match="alpha must be"):
        budget_to_rdp(bad, 1.0, 0.1)


def test_unknown_conversion_is_refused():
    with pytest.raises(ValueError, match="conversion must be"):
        budget_to_rdp(2.0, 1.0, 0.1, "best")
