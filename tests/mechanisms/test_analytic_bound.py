"""The bound of cpp/mechanisms/ANALYTIC_BOUND.md against mpmath, on and off the real axis."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night

from tightnoise import _core
from tightnoise.mechanisms import _analytic_bound
from tightnoise.mechanisms._analytic_bound import interpolation_error

Check = Callable[[str, float, float], None]
FEW_LETTERS, MORE_LETTERS = "quantized 3", "quantized 6"
KINDS = ("rectified", "truncated", "sign", FEW_LETTERS, MORE_LETTERS)


def levels_of(kind: str) -> int:
    return int(kind.partition(" ")[2] or 2)


def renyi_analytic_bound(kind: Any, *arguments: Any, **options: Any) -> Any:
    name = kind.partition(" ")[0]
    return _analytic_bound.renyi_analytic_bound(name, *arguments, levels=levels_of(kind), **options)


def fisher_analytic_bound(kind: Any, *arguments: Any, terms: int) -> Any:
    name = kind.partition(" ")[0]
    return _analytic_bound.fisher_analytic_bound(
        name, *arguments, terms=terms, levels=levels_of(kind)
    )


@pytest.fixture(autouse=True)
def forty_digits():
    with mp.workdps(40):  # D of order 1e-12 is the logarithm of 1 + D
        yield


def tail(t: Any) -> Any:
    return mp.erfc(t / mp.sqrt(2)) / 2


def mass(u: Any, v: Any) -> Any:
    """Mass of [u, v] as a difference of the smaller tails."""
    return tail(u) - tail(v) if mp.re(u) > 0 else tail(-v) - tail(-u)


def partition(kind: str, h: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """Return where the upper tail begins, and the cells between the tails."""
    if not kind.startswith("quantized"):
        return mp.mpf(0) if kind == "sign" else h, []
    width, cells = 2 * h / (levels_of(kind) - 1), levels_of(kind) - 2
    edges = [width * (i - mp.mpf(cells) / 2) for i in range(cells + 1)]
    return edges[-1], list(itertools.pairwise(edges))


def likelihood_terms(kind: str, h: Any, k: Any, alpha: Any, z: Any) -> list[Any]:
    """Return S = sum of exp(offset) * product of g^e as rows (offset, [(g, e), ...])."""
    beta = alpha - 1
    middle = mass(-h - z + beta * k, h - z + beta * k)
    gauss = alpha * beta * k * k / 2
    if kind == "truncated":
        p, q = mass(-h - z, h - z), mass(-h - z - k, h - z - k)
        return [(gauss, [(middle, 1), (p, -alpha), (q, beta)])]
    edge, cells = partition(kind, h)
    rows = [
        (0, [(tail(edge - z), alpha), (tail(edge - z - k), -beta)]),
        (0, [(tail(edge + z), alpha), (tail(edge + z + k), -beta)]),
    ]
    rows += [
        (0, [(mass(u - z, v - z), alpha), (mass(u - z - k, v - z - k), -beta)]) for u, v in cells
    ]
    return [*rows, (gauss, [(middle, 1)])] if kind == "rectified" else rows


def divergence(kind: str, h: float, k: float, alpha: float, path: list[Any]) -> Any:
    """D_alpha(M(t) || M(t + k)) at the end of a path from the real axis, continued along it."""
    h, k, alpha = mp.mpf(h), mp.mpf(k), mp.mpf(alpha)
    logs: list[Any] = []
    previous: list[Any] = []
    for step, z in enumerate(path):
        rows = likelihood_terms(kind, h, k, alpha, z)
        values = [g for _, factors in rows for g, _ in factors]
        if step == 0:
            logs = [mp.log(g) for g in values]
        else:
            logs = [
                log + mp.log(g / old) for log, g, old in zip(logs, values, previous, strict=True)
            ]
        previous = values
        remaining = iter(logs)
        exponents = [
            offset + mp.fsum(e * next(remaining) for _, e in factors) for offset, factors in rows
        ]
        top = max(mp.re(e) for e in exponents)
        log_sum = mp.log(mp.fsum(mp.exp(e - top) for e in exponents)) + top
        if step == 0:
            total = log_sum
        else:
            turns = mp.nint((mp.im(total) - mp.im(log_sum)) / (2 * mp.pi))
            total = log_sum + 2j * mp.pi * turns
    return total / (alpha - 1)


def value(kind: str, h: float, k: float, alpha: float, t: Any) -> Any:
    return mp.re(divergence(kind, h, k, alpha, [mp.mpf(t)]))


def straight_up(x: float, y: float, alpha: float) -> list[Any]:
    # Fine enough that no logarithm turns by pi in one step.
    steps = 8 + int(y * (1 + abs(x)) + 3 * min(y, 2.0) * alpha)
    return [mp.mpc(x, y * j / steps) for j in range(steps + 1)]


def random_setting(rng: np.random.Generator) -> tuple[float, float, float, float, float]:
    """Return half_width, shift, alpha, t0, t1, often where several outcomes matter equally."""
    h = float(np.exp(rng.uniform(np.log(0.1), np.log(5))))
    alpha = 1 + float(np.exp(rng.uniform(np.log(0.05), np.log(60))))
    k = float(np.exp(rng.uniform(np.log(1e-6), np.log(1.5)))) if rng.random() < 0.5 else 0.0
    if k == 0.0:  # S - 1 of order 1
        k = min(1.5, float(np.exp(rng.uniform(np.log(0.1), np.log(5)))) / alpha)
    k *= rng.choice([-1.0, 1.0])
    t0 = float(rng.uniform(-1.5, 0.9) * h)
    t1 = t0 + float(rng.uniform(0.05, 1.0) * min(h, 1.5))
    return h, k, alpha, t0, t1


def on_ellipse(t0: float, t1: float, size: float, angle: float) -> tuple[float, float]:
    """Return a point of the ellipse about an interval whose half axes have the sum `size`."""
    radius, centre = (t1 - t0) / 2, (t0 + t1) / 2
    x = centre + radius * (size + 1 / size) / 2 * math.cos(angle)
    return x, radius * (size - 1 / size) / 2 * math.sin(angle)


@pytest.mark.parametrize("share", [0.1, *by_night(1)])
@pytest.mark.parametrize("kind", KINDS)
def test_bound_holds_in_the_ellipse(
    kind: str, share: float, rng: np.random.Generator, check_error: Check
):
    worst, bounded = 0.0, 0
    # References of many letters take long.
    draws = round(share * (15 if kind.startswith("quantized") else 45))
    for draw in range(draws):
        h, k, alpha, t0, t1 = random_setting(rng)
        if kind != "truncated" and draw % 4 == 0:  # far outside
            t0, t1 = np.add((t0, t1), rng.choice([3.0, 8.0]))
        terms, enough = int(rng.choice([4, 8, 16, 32])), rng.choice([0.0, 1e-12, 1e-5])
        rho, bound = renyi_analytic_bound(
            kind, 1.0, h, k, [alpha], t0, t1, terms=terms, enough=enough
        )
        if not np.isfinite(bound[0]):
            continue
        bounded += 1
        angle = rng.choice([math.pi / 2, rng.uniform(0, math.pi)])
        size = 1 + (rho[0] - 1) * rng.choice([1 - 1e-6, rng.uniform(0.5, 1)])
        x, y = on_ellipse(t0, t1, size, angle)
        if y * (1 + abs(x)) > 60:  # a tiny interval: too many steps
            continue
        f = divergence(kind, h, k, alpha, straight_up(x, y, alpha))
        worst = max(worst, float(abs(f) / bound[0]))
    assert bounded >= 0.8 * draws
    check_error(f"analytic_bound {kind}: |f| / bound", worst, 1.0)


@pytest.mark.parametrize("cases", [30, *by_night(60)])
@pytest.mark.parametrize("kind", KINDS)
def test_interpolation_error_holds(
    kind: str, cases: int, rng: np.random.Generator, check_error: Check
):
    worst = 0.0
    for _ in range(cases):
        h, k, alpha, t0, t1 = random_setting(rng)
        terms = int(rng.choice([3, 5, 8, 12, 16]))
        rho, bound = renyi_analytic_bound(kind, 1.0, h, k, [alpha], t0, t1, terms=terms)
        error = interpolation_error(rho, bound, terms)[0]
        if not np.isfinite(error):
            continue
        radius, centre = mp.mpf(t1 - t0) / 2, mp.mpf(t0 + t1) / 2
        nodes = [mp.cos(mp.pi * (2 * j + 1) / (2 * terms)) for j in range(terms)]
        samples = [value(kind, h, k, alpha, centre + radius * x) for x in nodes]
        weights = [
            (-1) ** j * mp.sin(mp.pi * (2 * j + 1) / (2 * terms)) for j in range(terms)
        ]  # barycentric
        for x in (-1, 1, *rng.uniform(-1, 1, 4)):
            parts = [w / (mp.mpf(x) - node) for w, node in zip(weights, nodes, strict=True)]
            interpolant = mp.fdot(parts, samples) / mp.fsum(parts)
            wrong = abs(interpolant - value(kind, h, k, alpha, centre + radius * mp.mpf(x)))
            worst = max(worst, float(wrong / (error + 1e-25 * abs(samples[0]))))
    check_error(f"analytic_bound {kind}: interpolation error / bound", worst, 1.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("h", "terms"), [(0.6, 16), (1.0, 16), (2.4, 32), (4.5, 56)])
def test_bound_is_small_where_sketches_are_used(kind: str, h: float, terms: int):
    """Coordinates inside the support, sensitivities of 1e-6 to 1 sigma, orders up to 4096.

    For letters that are 4 sigma apart only in a panel of bins.
    """
    t1 = h
    if kind == FEW_LETTERS and h > 4:
        t1, terms = 1.25, 24
    alphas = np.array([1.001, 1.25, 2.0, 8.0, 64.0, 256.0, 4096.0])
    for k in (1e-6, 1e-3, 0.03, 0.3, 1.0):
        for shift in (k, -k):
            rho, bound = renyi_analytic_bound(kind, 1.0, h, shift, alphas, 0.0, t1, terms=terms)
            centre = [float(value(kind, h, shift, a, t1 / 2)) for a in alphas]
            assert np.all(interpolation_error(rho, bound, terms) <= 1e-9 * np.array(centre))


@pytest.mark.parametrize("kind", KINDS)
def test_bound_is_small_far_outside(kind: str):
    """Where the walk once needed thousands of steps; all intervals at once, as one by one."""
    t0 = np.array([0.0, 3.75, 8.75, 13.75, 40.0, 60.0])
    for alpha, k in ((13.91, 0.859), (531.6, 0.265), (950.5, 0.057), (3.0, -1e-3)):
        goal = 1e-11 * alpha * k**2
        given = kind, 1.0, 1.0, k, [alpha, 2.0]
        options = {"terms": 32, "enough": [goal, 1e-18]}
        rho, bound = renyi_analytic_bound(*given, t0, t0 + 1.25, **options)
        assert rho.shape == bound.shape == (2, t0.size)
        assert np.all(interpolation_error(rho[0], bound[0], 32) <= goal)
        each = [renyi_analytic_bound(*given, t, t + 1.25, **options) for t in t0.tolist()]
        np.testing.assert_array_equal(np.stack(each, axis=-1), [rho, bound])


def test_zeros_near_the_real_axis_are_seen():
    """Two outcomes of equal weight: S has zeros at distance pi / alpha; no ellipse may hold one."""
    k, alpha = 1.0, 12.0

    def log_tail(t: Any) -> Any:  # continuous where the plain logarithm would jump
        return mp.log(mp.exp(t * t / 2) * tail(t)) - t * t / 2

    def imbalance(t: Any) -> Any:
        up = alpha * mp.log(tail(-t)) - (alpha - 1) * mp.log(tail(-t - k))
        return up - alpha * log_tail(t) + (alpha - 1) * log_tail(t + k) - mp.pi * 1j

    zero = mp.findroot(imbalance, mp.mpc(2 * alpha - 2, 0.3))
    x, y = float(mp.re(zero)), abs(float(mp.im(zero)))
    assert y < 0.3
    for radius in (0.02, 0.1, 0.5):
        rho, bound = renyi_analytic_bound(
            "sign", 1.0, 1.0, k, [alpha], x - radius, x + radius, terms=8
        )
        assert not np.isfinite(bound[0]) or radius * (rho[0] - 1 / rho[0]) / 2 < y


def test_scale_and_reflection(rng: np.random.Generator):
    alphas = np.geomspace(1.3, 60, 5)
    for kind in KINDS:
        for k in (0.01, -0.4):
            one = renyi_analytic_bound(kind, 1.0, 1.2, k, alphas, 0.1, 0.9, terms=16)
            scaled = renyi_analytic_bound(kind, 4.0, 4.8, 4 * k, alphas, 0.4, 3.6, terms=16)
            mirror = renyi_analytic_bound(kind, 1.0, 1.2, -k, alphas, -0.9, -0.1, terms=16)
            for other in (scaled, mirror):
                np.testing.assert_allclose(other[0], one[0], rtol=1e-9)
                np.testing.assert_allclose(
                    other[1], one[1], rtol=0.5
                )  # the walk begins at the right end


def test_zero_shift_costs_nothing():
    for kind in KINDS:
        _, bound = renyi_analytic_bound(kind, 1.0, 1.0, 0.0, [2.0, 30.0], 0.0, 1.0, terms=8)
        assert np.all(bound == 0)


@pytest.mark.parametrize("kind", KINDS)
def test_extreme_arguments_give_a_bound_or_infinity(kind: str):
    orders = [0.5, 1.0, 1.000001, 1e5, 1e12, math.inf]
    for h in (1e-7, 1e-3, 50.0, 1e6):
        for k in (1e-9, -3.0, 100.0):
            for t0, t1 in ((-1e-9, 1e-9), (0.0, h), (1e4, 1e4 + 1), (-60.0, -20.0)):
                rho, bound = renyi_analytic_bound(kind, 1.0, h, k, orders, t0, t1, terms=9)
                assert np.all(rho >= 1)
                assert np.all(bound >= 0)
                assert bound[0] == math.inf


def test_complex_erfcx(rng: np.random.Generator, check_error: Check):
    worst = 0.0
    special = [0j, 1e-12j, 1e-9 + 0j, 0.2558j, 1e-7 + 0.5116j, 6.139 + 1j, 2j, 1.28j, 1.024j]
    points = rng.uniform(0, 1, 400) * 10.0 ** rng.uniform(-3, 3, 400)
    for z in [*special, *(points + 1j * rng.uniform(-2, 2, 400))]:
        exact = mp.exp(mp.mpc(z) ** 2) * mp.erfc(mp.mpc(z)) if abs(z) < 30 else None
        if exact is None:  # mpmath's erfc underflows; asymptotic series, 12 terms
            inverse = 1 / (2 * mp.mpc(z) ** 2)
            series = mp.fsum((-1) ** n * mp.fac2(2 * n - 1) * inverse**n for n in range(12))
            exact = series / (mp.mpc(z) * mp.sqrt(mp.pi))
        got = _core.analytic_bound.erfcx_right_half_plane(complex(z))
        worst = max(worst, float(abs(got - exact) / abs(exact)))
    check_error("complex erfcx, Re >= 0, |Im| <= 2", worst, 1e-13)


def fisher_information(kind: str, h: Any, z: Any) -> Any:
    """Sum of p (log p)'^2, as an analytic function of z."""

    def density(t: Any) -> Any:
        return mp.exp(-t * t / 2) / mp.sqrt(2 * mp.pi)

    if kind == "sign":
        return density(z) ** 2 / (tail(z) * tail(-z))
    if kind.startswith("quantized"):
        edge, cells = partition(kind, h)
        tails = (density(edge - z) ** 2 / tail(edge - z), density(edge + z) ** 2 / tail(edge + z))
        return mp.fsum(tails) + mp.fsum(
            (density(u - z) - density(v - z)) ** 2 / mass(u - z, v - z) for u, v in cells
        )
    u, v = -h - z, h - z
    p, first = mass(u, v), density(u) - density(v)
    second = p + u * density(u) - v * density(v)  # integral of s^2
    if kind == "truncated":
        return second / p - (first / p) ** 2
    return density(u) ** 2 / tail(-u) + density(v) ** 2 / tail(v) + second


@pytest.mark.parametrize("kind", KINDS)
def test_fisher_bound_holds_in_the_ellipse(kind: str, rng: np.random.Generator, check_error: Check):
    worst = 0.0
    for _ in range(60):
        h, _, _, t0, t1 = random_setting(rng)
        rho, bound = fisher_analytic_bound(kind, 1.0, h, t0, t1, terms=int(rng.choice([8, 24])))
        angle, size = rng.uniform(0, math.pi), 1 + (rho - 1) * (1 - 1e-6)
        x, y = on_ellipse(t0, t1, size, angle)
        exact = fisher_information(kind, mp.mpf(h), mp.mpc(x, y))
        worst = max(worst, float(abs(exact) / bound))
    check_error(f"analytic_bound {kind}: |Fisher information| / bound", worst, 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_fisher_bound_is_small_where_sketches_are_used(kind: str):
    for h, terms in ((1.0, 20), (2.4, 32), (4.5, 56)):
        ellipse = fisher_analytic_bound(kind, 2.0, 2.0 * h, 0.0, 2.0 * h, terms=terms)
        error = interpolation_error(*ellipse, terms)
        exact = fisher_information(kind, mp.mpf(h), mp.mpf(h) / 2) / 4
        assert 0 < error <= 1e-9 * exact


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alpha", [1.0, math.inf])
def test_orders_one_and_infinity(kind: str, alpha: float, rng: np.random.Generator):
    """Between D of neighbouring orders; the bound off the axis, where the limits are analytic."""
    near = 1 + 1e-9 if alpha == 1.0 else 1e9
    for _ in range(20):
        h, k, _, t0, t1 = random_setting(rng)
        k = math.copysign(min(abs(k), 0.3), k)
        _, bound = renyi_analytic_bound(kind, 1.0, h, k, [alpha], t0, t1, terms=16)
        for t in rng.uniform(t0, t1, 3) if math.isfinite(bound[0]) else ():
            low = abs(k) * near < 1e6  # elsewhere the reference's powers are out of range
            exact = value(kind, h, k, near, t) if low else max_divergence(kind, h, k, t)
            assert exact <= bound[0]


def max_divergence(kind: str, h: float, k: float, t: float) -> Any:
    side = 1 if k < 0 else -1
    if kind == "truncated":
        ratio = mass(mp.mpf(-h) - t - k, mp.mpf(h) - t - k) / mass(mp.mpf(-h) - t, mp.mpf(h) - t)
        return mp.mpf(k) ** 2 / 2 - mp.mpf(k) * (side * mp.mpf(h) - t) + mp.log(ratio)
    edge, _ = partition(kind, mp.mpf(h))
    return mp.log(tail(edge - side * mp.mpf(t)) / tail(edge - side * (mp.mpf(t) + k)))
