"""What one release costs each record in it: never below the divergences, and near them."""

from fractions import Fraction

import numpy as np
import pytest
from by_night import by_night

import tightnoise as tn

ORDERS = [1.01, 1.5, 2.0, 4.0, 8.0, 32.0]
MECHANISMS = [
    tn.Gaussian(0.7),
    tn.RectifiedGaussian(0.7, -1.0, 0.5),
    tn.TruncatedGaussian(0.7, -1.0, 0.5),
    tn.TruncatedGaussian(0.7, 3.0, 9.0),
    tn.StochasticSign(0.7),
    tn.QuantizedGaussian(0.7, -1.0, 1.0, 2),
    tn.QuantizedGaussian(0.7, -3.0, 1.0, 5),
    tn.QuantizedGaussian(0.7, -3.0, 1.0, 100),
]
each = pytest.mark.parametrize("m", MECHANISMS, ids=str)


def truth(m, theta, rows):
    """The greater of both sums of divergences, a row a record, a column an order."""
    sums = (
        [[np.sum(m.renyi_divergence(theta, theta - row, a)) for a in ORDERS] for row in rows],
        [[np.sum(m.renyi_divergence(theta - row, theta, a)) for a in ORDERS] for row in rows],
    )
    return np.maximum(*np.array(sums))


@each
@pytest.mark.parametrize("cases", [15, *by_night(60)])
def test_never_below_the_divergences(m, rng, cases):
    for _ in range(cases):
        d = int(rng.integers(1, 6))
        theta = rng.normal(size=d) * rng.choice([0.3, 2.0, 8.0])
        rows = rng.normal(size=(7, d)) * 10.0 ** rng.uniform(-4, 0.7, (7, 1))
        rows *= rng.random((7, d)) < 0.7
        bound = m.individual_cost_at(theta, rows, orders=ORDERS).individual
        exact = truth(m, theta, rows)
        assert (bound >= exact * (1 - 1e-12)).all()
        assert (bound[~rows.any(axis=1)] == 0).all()
        gaussian = 0.5 * np.multiply.outer((rows**2).sum(axis=1) / 0.49, ORDERS)
        assert (bound <= gaussian * (1 + 1e-8) + 1e-290).all()
        summed = m.individual_cost_at(theta, rows, orders=ORDERS, exact=True).individual
        assert (summed >= exact * (1 - 1e-12)).all()
        np.testing.assert_allclose(summed, np.maximum.accumulate(exact, axis=1), rtol=1e-6)


@each
@pytest.mark.parametrize("cases", [8, *by_night(57)])
def test_one_coordinate_on_a_grid(m, cases):
    changes = np.concatenate([-np.geomspace(1e-3, 3, 9), np.geomspace(1e-3, 3, 9)])
    for place in np.linspace(-6, 8, cases):
        rows = changes[:, np.newaxis]
        bound = m.individual_cost_at([place], rows, orders=ORDERS).individual
        assert (bound >= truth(m, np.array([place]), rows) * (1 - 1e-12)).all()


@pytest.mark.parametrize("m", [*MECHANISMS[:5], MECHANISMS[6]], ids=str)
def test_small_changes_cost_what_the_information_says(m, rng):
    theta, rows = rng.normal(size=50), 1e-5 * rng.normal(size=(3, 50))
    bound = m.individual_cost_at(theta, rows, orders=ORDERS).individual
    information = (rows**2 * m.fisher_information(theta)).sum(axis=1)
    expected = 0.5 * np.multiply.outer(information, ORDERS)
    np.testing.assert_allclose(bound, expected, rtol=3e-3)


@each
def test_outer_products_are_those_of_their_factors(m, rng):
    left, right = (
        rng.normal(size=(6, 3)),
        rng.normal(size=(6, 4)) * np.geomspace(1e-6, 1, 6)[:, None],
    )
    theta = rng.normal(size=(3, 4))
    whole = np.einsum("ik,ip->ikp", left, right)
    for exact in (False, True):
        one, two, three = (
            m.individual_cost_at(place, rows, exact=exact).individual
            for place, rows in (
                (theta, tn.RankOne(left, right)),
                (theta, whole),
                (theta.ravel(), whole.reshape(6, 12)),
            )
        )
        np.testing.assert_allclose(one, two, rtol=1e-8)
        assert (two == three).all()


UNITS = [
    lambda unit, at: tn.Gaussian(unit),
    lambda unit, at: tn.RectifiedGaussian(unit, at - unit, at + 0.5 * unit),
    lambda unit, at: tn.TruncatedGaussian(unit, at - unit, at + 0.5 * unit),
    lambda unit, at: tn.QuantizedGaussian(unit, at - unit, at + unit, 5),
]


@pytest.mark.parametrize("make", [*UNITS, lambda unit, at: tn.StochasticSign(unit)])
@pytest.mark.parametrize("power", [-900, -430, 430, 900])
def test_units_whose_squares_are_no_numbers(make, power, rng):
    """Neither what is measured in other units nor how a product is split makes a cost less."""
    unit = 2.0**power
    theta, left, right = rng.normal(size=(2, 3)), rng.normal(size=(5, 2)), rng.normal(size=(5, 3))
    right *= 2.0**-110 * np.geomspace(1e-5, 1, 5)[:, np.newaxis]
    rows = np.einsum("ik,ip->ikp", left, right)
    near, far = make(1.0, 0.0), make(unit, 0.0)
    least = near.individual_cost_at(theta, rows, orders=ORDERS).individual * (1 - 1e-8)
    for split in (2.0**-550, 1.0, 2.0**550):
        factors = tn.RankOne(left * split, right / split)
        assert (near.individual_cost_at(theta, factors, orders=ORDERS).individual >= least).all()
    for given in (rows * unit, tn.RankOne(left, right * unit), tn.RankOne(left * unit, right)):
        found = far.individual_cost_at(theta * unit, given, orders=ORDERS).individual
        assert (found >= least).all()
        if power == 430:
            np.testing.assert_allclose(found, least, rtol=1e-6)


@pytest.mark.parametrize("make", UNITS)
def test_divergences_far_out(make, rng):
    """A neighbour of 2**40 is no number of 53 bits."""
    far, theta, rows = 2.0**40, rng.integers(-9, 9, 3) / 8, rng.normal(size=(5, 3)) / 99
    found = make(1.0, far).individual_cost_at(far + theta, rows, exact=True).individual
    wanted = make(1.0, 0.0).individual_cost_at(theta, rows, exact=True).individual
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_arrays_of_parameters_and_float32(rng):
    sigma = rng.uniform(0.5, 2, 9)
    m = tn.RectifiedGaussian(sigma, -rng.random(9), rng.random(9))
    theta, rows = rng.normal(size=9), (0.1 * rng.normal(size=(300_000 // 9, 9))).astype(np.float32)
    bound = m.individual_cost_at(theta, rows, orders=ORDERS).individual
    some = rng.integers(0, len(rows), 30)
    exact = truth(m, theta, rows[some].astype(np.float64))
    assert (bound[some] >= exact * (1 - 1e-12)).all()
    assert (bound[some] <= np.maximum.accumulate(exact, axis=1) * 20).all()


def test_epsilon_and_the_report():
    costs = tn.Gaussian(10.0).individual_cost_at([3.0], np.linspace(0, 1, 101)[:, np.newaxis])
    epsilon = costs.epsilon(1e-5)
    assert epsilon.shape == (101,)
    assert (np.diff(epsilon) >= 0).all()
    proved = tn.costs.rdp_to_epsilon
    own = min(proved(a, r, 1e-5) for a, r in zip(costs.orders, costs.individual[70], strict=True))
    assert epsilon[70] == own
    report = costs.report(1e-5)
    assert report.dearest.tolist() == list(range(100, 90, -1))
    assert report.quantiles[[0, 2, 5]].tolist() == epsilon[[0, 50, 100]].tolist()
    assert "dearest: record 100" in str(report)


def test_extremes_are_no_nan():
    m = tn.StochasticSign(1.0)
    found = m.individual_cost_at([0.0], [[1e200], [1e-200], [0.0]], orders=[2.0]).individual.ravel()
    assert found[0] == np.inf
    assert 0 < found[1] < 1e-200
    assert found[2] == 0


def test_sums_along_a_run_are_no_bound():
    """A coin shown first, then the sign of 100 or 0: the usual run costs nothing, all runs do."""
    m, chance, order = tn.StochasticSign(1.0), 0.01, 8.0
    usual = m.individual_cost_at([100.0], [[-2.8214]], orders=[order], exact=True)
    rare = float(m.renyi_divergence(0.0, 2.8214, order))
    assert usual.individual[0, 0] < 1e-150
    joint = np.log(1 - chance + chance * np.exp((order - 1) * rare)) / (order - 1)
    assert joint == pytest.approx(4.58612, abs=3e-5)
    ledger = tn.InstanceLedger(history="realised").compose(
        m.cost_at([100.0], coordinate_sensitivity=2.8214)
    )
    with pytest.raises(ValueError, match="along one run"):
        ledger.epsilon(1e-5)
    assert ledger.realised_epsilon(1e-5) < 1e-3 < tn.costs.rdp_to_epsilon(order, joint, 1e-5)


@pytest.mark.parametrize("history", ["fixed", "realised"])
def test_a_ledger_adds_up_the_costs_of_each_record(rng, history):
    m, rows = tn.RectifiedGaussian(1.0, -1.0, 1.0), rng.normal(size=(30, 4)) / 10
    costs = [m.individual_cost_at(theta, rows) for theta in rng.normal(size=(3, 4))]
    ledger = tn.InstanceLedger(history=history)
    for cost, count in zip(costs, (1, 5, 2), strict=True):
        ledger.compose(cost, count)
    exact = [
        [sum(Fraction(x) * n for x, n in zip(each, (1, 5, 2), strict=True)) for each in row]
        for row in np.stack([cost.individual for cost in costs], axis=-1).tolist()
    ]
    found = ledger.realised_individual
    assert ledger.steps == 8
    for row, expected in zip(found.individual.tolist(), exact, strict=True):
        for bound, truth in zip(row, expected, strict=True):
            assert truth <= Fraction(bound) <= truth * (1 + Fraction(1, 10**15))
    assert found.report(1e-5).count == 30
    if history == "fixed":
        assert (ledger.individual.epsilon(1e-5) == found.epsilon(1e-5)).all()
    else:
        with pytest.raises(ValueError, match="along one run"):
            _ = ledger.individual
    with pytest.raises(ValueError, match="of records ask"):
        ledger.realised_epsilon(1e-5)


def test_a_ledger_keeps_its_own_numbers():
    cost = tn.Gaussian(10.0).individual_cost_at([3.0], [[1.0]])
    ledger = tn.InstanceLedger(history="fixed").compose(cost)
    before = ledger.individual.individual.copy()
    cost.individual[:] = 0.0
    assert (ledger.individual.individual == before).all()


def test_what_a_ledger_of_records_refuses():
    m = tn.Gaussian(10.0)
    cost, box = m.individual_cost_at([3.0], [[1.0]]), m.cost_at([3.0], coordinate_sensitivity=1.0)
    ledger = tn.InstanceLedger(history="fixed").compose(cost)
    for other, says in [
        (box, "an IndividualCost, as those before"),
        (m.cost(sensitivity=1.0), "an IndividualCost, as those before"),
        (m.individual_cost_at([3.0], [[1.0], [2.0]]), "of the shape"),
        (m.individual_cost_at([3.0], [[1.0]], orders=np.linspace(2, 13, 12)), "at the orders"),
    ]:
        with pytest.raises(ValueError, match=says):
            ledger.compose(other)
    assert ledger.steps == 1
    with pytest.raises(ValueError, match="as those before"):
        tn.InstanceLedger(history="fixed").compose(box).compose(cost)
    with pytest.raises(ValueError, match="for each record"):
        _ = tn.InstanceLedger(history="fixed").compose(box).individual


def test_large_orders_prove_the_costs_of_small_contributions():
    m, usual = tn.RectifiedGaussian(1.0, -1.0, 1.0), [1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    rows = np.full((1, 10), 1e-3)
    least, before = (
        m.individual_cost_at(np.zeros(10), rows, orders=orders).epsilon(1e-5)[0]
        for orders in (None, usual)
    )
    exact = m.individual_cost_at(
        np.zeros(10), rows, orders=[128.0, 256.0, 512.0, 1024.0], exact=True
    )
    assert exact.epsilon(1e-5)[0] * (1 - 1e-9) <= least < 0.3 * before


M = tn.StochasticSign(1.0)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: M.individual_cost_at([0.0, 1.0], [1.0, 2.0]), ValueError, "contributions must be"),
        (lambda: M.individual_cost_at([0.0, 1.0], [[1.0]]), ValueError, "contributions must be"),
        (lambda: M.individual_cost_at([0.0], [[np.nan]]), ValueError, "contributions must be fin"),
        (lambda: M.individual_cost_at([0.0], [[1]], orders=[1.0]), ValueError, "orders must be"),
        (lambda: M.individual_cost_at([0.0], [[1]], orders=[3, 2]), ValueError, "orders must be"),
        (
            lambda: M.individual_cost_at([0.0] * 3, tn.RankOne([[1.0]], [[1.0, 2.0]])),
            ValueError,
            "contributions must be outer products",
        ),
        (
            lambda: M.individual_cost_at([0.0] * 2, tn.RankOne([[1.0]] * 2, [[1.0, 2.0]])),
            ValueError,
            "right must be of 2 rows",
        ),
        (
            lambda: tn.BoundedLaplace(1.0, 0.0, 1.0).individual_cost_at([0.5], [[0.1]]),
            TypeError,
            "Gaussian underneath",
        ),
        (lambda: M.individual_cost_at([0.0], [[1.0]]).epsilon(0.0), ValueError, "delta must be"),
    ],
)
def test_bad_arguments(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_what_is_printed_of_individual_costs_is_short_and_tells_nothing_of_a_record():
    costs = tn.Gaussian(10.0).individual_cost_at([3.0], [[1.0], [0.5]], orders=[2.0, 8.0])
    assert repr(costs) == str(costs) == "IndividualCost(2 records, orders 2 to 8)"
