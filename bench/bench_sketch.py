"""The sketch: one pass over a gradient, questions to it, and both beside NumPy/SciPy.

The size of "DRAM" is TIGHTNOISE_BENCH_SIZE elements, 2e7 unless set; a gradient has a fourth of it.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import special

import tightnoise as tn
from tightnoise import _core
from tightnoise.mechanisms import _ball, _sketched
from tightnoise.sketch import Sketch

N = 1_000_000
LARGE = int(float(os.environ.get("TIGHTNOISE_BENCH_SIZE", 2e7)))
NUMPY_N = 20_000  # NumPy is timed on so many coordinates and scaled
ORDERS = np.concatenate([np.linspace(1.25, 10.0, 16), np.geomspace(12.0, 256.0, 16)])
SHIFT = 1e-2

DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f8", "f4"])


def gradient(n, spread=1.0, dtype=np.float64):
    return np.random.default_rng(1).uniform(-spread, spread, n).astype(dtype)


@DTYPES
@pytest.mark.parametrize("half_widths", [0.5, 1.0, 2.0, 4.0, 6.0])
def test_pass_over_the_interval(timed, half_widths, dtype) -> None:
    theta = gradient(N, half_widths, dtype)
    sketch = timed(
        "pass, 1e6",
        lambda: Sketch.of(theta, -half_widths, half_widths, sigma=1.0),
        N,
        theta.nbytes,
    )
    assert sketch.count == N


@DTYPES
@pytest.mark.parametrize("spread", ["uniform", "concentrated"])
def test_pass_into_bins(timed, spread, dtype) -> None:
    theta = gradient(N, 20.0, dtype) if spread == "uniform" else gradient(N, 1.5, dtype)
    sketch = timed(
        "pass into bins, 1e6", lambda: Sketch.of(theta, -1.0, 1.0, sigma=1.0), N, theta.nbytes
    )
    assert sketch.count == N


@DTYPES
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("half_widths", [1.0, 2.0])
def test_pass_over_dram(timed, half_widths, threads, dtype) -> None:
    theta = gradient(LARGE, half_widths, dtype)
    _core.set_num_threads(threads)
    sketch = timed(
        f"pass, DRAM, {LARGE:g} elements",
        lambda: Sketch.of(theta, -half_widths, half_widths, sigma=1.0),
        LARGE,
        theta.nbytes,
    )
    assert sketch.count == LARGE


MECHANISMS = [tn.RectifiedGaussian(1.0, -1.0, 1.0), tn.TruncatedGaussian(1.0, -1.0, 1.0)]


def costs(sketch):
    """RDP at 32 orders of two mechanisms, and their FIL."""
    return [
        cost
        for mechanism in MECHANISMS
        for cost in (
            mechanism.cost_at(sketch, coordinate_sensitivity=SHIFT).rdp(ORDERS).values,
            mechanism.fil(sketch, coordinate_sensitivity=SHIFT),
        )
    ]


QUESTIONS = "32 orders and FIL, rectified and truncated, d = 1e6"


def test_questions_to_a_sketch(timed) -> None:
    """From the second time on: values of the divergences and proven bounds are remembered."""
    sketch = Sketch.of(gradient(N), -1.0, 1.0, sigma=1.0)
    costs(sketch)
    timed(QUESTIONS, lambda: costs(sketch), N)


def test_first_questions_to_a_sketch(timed) -> None:
    sketch = Sketch.of(gradient(N), -1.0, 1.0, sigma=1.0)

    def first():
        for remembered in ("_renyi_values", "_fisher_values", "_renyi_bound", "_fisher_tail"):
            getattr(_sketched, remembered).cache_clear()
        return costs(sketch)

    timed(QUESTIONS, first, N)


def test_questions_without_bounds_or_mechanisms(timed) -> None:
    """What the query alone costs: two cheap functions, 32 orders."""
    sketch = Sketch.of(gradient(N), -1.0, 1.0, sigma=1.0)
    rate = np.linspace(0.5, 1.0, 32)[:, None]
    functions = [lambda t: np.exp(-rate * t), lambda t: np.exp(-rate * (t + 1e-3))]
    timed("query of two functions, 32 orders", lambda: sketch.sum_max(functions), N)


@DTYPES
def test_everything_in_one_go(timed, dtype) -> None:
    theta = gradient(N, dtype=dtype)
    found = timed(QUESTIONS, lambda: costs(Sketch.of(theta, -1.0, 1.0, sigma=1.0)), N)
    values = theta.astype(np.float64)
    for mechanism, rdp in zip(MECHANISMS, found[::2], strict=True):
        wanted = mechanism._law.rdp_sums(values[:2000], ORDERS[:2], np.array(SHIFT))[0]
        np.testing.assert_allclose(rdp[:2] / N, wanted / 2000, rtol=0.05)


GRADIENT = LARGE // 4
CHANGING = f"{GRADIENT:g} coordinates, an order where the worse sign changes with the place"


@pytest.mark.parametrize("shift", [1e-6, 1e-2, 1.0])
@pytest.mark.parametrize(
    ("mechanism", "order", "spread"),
    [
        (tn.RectifiedGaussian(1.0, -1.0, 1.0), 1.18, 0.3),
        (tn.RectifiedGaussian(1.0, -1.0, 1.0), 1.5, 2.5),
        (tn.StochasticSign(1.0), 1.5, 2.5),
    ],
    ids=["rectified-1.18", "rectified-1.5", "sign-1.5"],
)
@pytest.mark.parametrize("question", ["pass and first", "later"])
def test_worse_sign_changes(timed, question, mechanism, order, spread, shift) -> None:
    theta = np.random.default_rng(2).normal(0.0, spread, GRADIENT)
    if spread < 1.0:
        theta.clip(-1.0, 1.0, out=theta)
    kept = Sketch.of(theta, -1.0, 1.0, sigma=1.0)

    def ask():
        sketch = kept if question == "later" else Sketch.of(theta, -1.0, 1.0, sigma=1.0)
        return mechanism.cost_at(sketch, coordinate_sensitivity=shift).rdp([order]).values

    ask()
    found = timed(CHANGING, ask, GRADIENT)
    wanted = np.maximum(
        *mechanism._law.rdp_sums(theta[:20_000], np.array([order]), np.array(shift))
    )
    np.testing.assert_allclose(found / GRADIENT, wanted / 20_000, rtol=0.05)


def gradients(kind):
    rng = np.random.default_rng(3)
    theta = rng.normal(0.0, 0.5 if kind == "outliers" else 2.5, GRADIENT)
    if kind == "clipped":
        theta.clip(-1.0, 1.0, out=theta)
    if kind == "outliers":
        theta[::100_000] = rng.uniform(-1000.0, 1000.0, GRADIENT // 100_000)
    return theta


@pytest.mark.parametrize("data", ["clipped", "beyond", "outliers"])
@pytest.mark.parametrize(
    "mechanism",
    [*MECHANISMS, tn.StochasticSign(1.0), tn.QuantizedGaussian(1.0, -1.0, 1.0, 4)],
    ids=["rectified", "truncated", "sign", "quantized"],
)
def test_new_questions(timed, mechanism, data) -> None:
    """32 later questions, each with an order and a sensitivity that no other has had."""
    theta = gradients(data)
    sketch = Sketch.of(theta, -1.0, 1.0, sigma=1.0)
    mechanism.cost_at(sketch, coordinate_sensitivity=0.1).rdp([1.2, 1.4])  # sorts the elements
    rng = np.random.default_rng(4)

    def ask():
        return [
            mechanism.cost_at(sketch, coordinate_sensitivity=10.0 ** rng.uniform(-6, 0)).rdp(
                [1.0 + 10.0 ** rng.uniform(-2, 3)]
            )
            for _ in range(32)
        ]

    timed(f"one new question, {GRADIENT:g} coordinates", ask, 32)


L2_ORDERS = [1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0]


@pytest.mark.parametrize("question", ["table", "step"])
@pytest.mark.parametrize(
    "mechanism",
    [*MECHANISMS, tn.StochasticSign(1.0), tn.QuantizedGaussian(1.0, -1.0, 1.0, 8)],
    ids=["rectified", "truncated", "sign", "quantized"],
)
@pytest.mark.parametrize("orders", [[8.0], L2_ORDERS], ids=["1", "11"])
def test_l2_sensitivity(timed, mechanism, question, orders) -> None:
    """The table of a mechanism and its sensitivities, and a step once there is one."""
    theta = np.random.default_rng(1).normal(0.0, 5.0, N)
    sketch, side = Sketch.of(theta, -1.0, 1.0, sigma=1.0), 2e-3

    def ask():
        if question == "table":
            _ball._tables.cache_clear()
        cost = mechanism.cost_at(sketch, sensitivity=1.0, coordinate_sensitivity=side)
        return cost.rdp(orders).values

    found = timed(f"L2 sensitivity, {len(orders)} orders, {question}, d = 1e6", ask, 1)
    # The nearest coordinates, each by all that it may change: a lower bound.
    nearest = theta[np.argsort(np.abs(theta))[:250_000]]
    pairs = [(nearest, nearest + change) for change in (side, -side)]
    most = np.maximum(*(mechanism.renyi_divergence(*pair, 8.0) for pair in pairs)).sum()
    assert most <= found[orders.index(8.0)] <= 1.03 * most


def rectified_by_scipy(theta, order, shift):
    """The log-stable closed form, one order, one direction, worst of both signs."""
    worst = np.zeros(theta.shape)
    for c in (shift, -shift):
        below, above = -1.0 - theta, theta - 1.0
        low, high = below - (1.0 - order) * c, 1.0 - theta - (1.0 - order) * c
        terms = [
            order * special.log_ndtr(below) + (1.0 - order) * special.log_ndtr(below - c),
            order * special.log_ndtr(above) + (1.0 - order) * special.log_ndtr(above + c),
            0.5 * order * (order - 1.0) * c * c
            + special.log_ndtr(high)
            + np.log1p(-np.exp(special.log_ndtr(low) - special.log_ndtr(high))),
        ]
        total = np.logaddexp(np.logaddexp(terms[0], terms[1]), terms[2])
        np.maximum(worst, total / (order - 1.0), out=worst)
    return worst.sum()


def test_a_fourth_of_it_with_numpy_and_scipy(timed) -> None:
    """A fourth of the work above: one mechanism, one direction, and no FIL."""
    theta = gradient(NUMPY_N)
    found = timed(
        QUESTIONS,
        lambda: [rectified_by_scipy(theta, order, SHIFT) for order in ORDERS],
        NUMPY_N,
    )
    wanted = MECHANISMS[0]._law.rdp_sums(theta[:1000], ORDERS[:2], np.array(SHIFT))[0]
    np.testing.assert_allclose(np.array(found[:2]) / NUMPY_N, wanted / 1000, rtol=0.2)
