"""The exact privacy profile of the von Mises-Fisher mechanism, and its inverse."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from mechanisms.test_von_mises_fisher import CASES, PUBLISHED
from mpmath import mp, mpf
from simd_levels import LEVELS, printed_at
from thread_counts import with_threads

import tightnoise as tn
from tightnoise.costs import _direction_pair as pair

inf, nan = np.inf, np.nan
PROMISED = 1e-10  # in the documentation, with UNDERFLOW
UNDERFLOW = 1e-289
CARD = 2e-11  # what is measured: 1e-13, and 2e-14 an exponent

# Rows of make_vmf_profile.py: dim, kappa, half_chord, epsilon, delta.
TABLE_PATH = Path(__file__).parents[1] / "reference" / "vmf_profile.json"
TABLE = json.loads(TABLE_PATH.read_text())
ANGLES = [1e-6, 0.01, 0.5, 2.0, math.pi - 1e-6, math.pi]


def delta_at(kappa, dim, half_chord, epsilon):
    chord, at = np.asarray(half_chord), np.asarray(epsilon)
    return pair.hockey_stick_upper(kappa, dim, chord, at)


half_chords = np.vectorize(pair.half_chord_upper, otypes=[np.float64])


def delta_of(vmf, angle, epsilon):
    at = np.asarray(epsilon, np.float64)
    return pair.hockey_stick_upper(vmf.kappa, vmf.dim, half_chords(angle), at)


def epsilon_of(vmf, delta, angle=math.pi):
    at = np.asarray(delta, np.float64)
    return pair.epsilon_upper(vmf.kappa, vmf.dim, half_chords(angle), at)


def excess(found, exact):
    """Return how far a cost is above the truth, relative."""
    return float((mpf(float(found)) - exact) / exact)


# --- against many digits ------------------------------------------------------------------------
OF_TABLE = """
import json, sys
import numpy as np
from tightnoise.costs._direction_pair import hockey_stick_upper
rows = json.load(open(sys.argv[1]))
print(json.dumps([
    float(hockey_stick_upper(kappa, dim, np.asarray(half_chord), np.asarray(epsilon)))
    for dim, kappa, half_chord, epsilon, _ in rows
]))
"""


@pytest.mark.parametrize("level", LEVELS)
def test_table(level, check_error):
    values = json.loads(printed_at(level, OF_TABLE, TABLE_PATH))
    above = [
        excess(found, mpf(row[4]))
        for found, row in zip(values, TABLE, strict=True)
        if float(row[4]) > 1e-275
    ]
    assert len(above) >= 300
    assert min(above) >= 0
    check_error("VonMisesFisher.hockey_stick", max(above), CARD)


def test_published():
    for row in PUBLISHED["vmf_hockeystick"]:
        vmf = tn.VonMisesFisher(float(row["kappa"]), int(row["p"]))
        above = excess(delta_of(vmf, math.pi, float(row["eps"])), mpf(row["value"]))
        assert 0 <= above <= 1e-12


def test_three_dimensions(rng, check_error):
    # t is exponential on [-1, 1] where the directions are opposite: both integrals are elementary.
    worst = 0.0
    with mp.workdps(700):
        for _ in range(400):
            kappa = 10 ** rng.uniform(-8, 2.8)
            share = [rng.uniform(), 1 - 10 ** rng.uniform(-15, 0), 10 ** rng.uniform(-9, 0)]
            epsilon = 2 * kappa * share[rng.integers(3)]
            k, e = mpf(kappa), mpf(epsilon)
            above_p = mp.exp(k) - mp.exp(e / 2)
            above_q = mp.exp(-e / 2) - mp.exp(-k)
            exact = (above_p - mp.exp(e) * above_q) / (2 * mp.sinh(k))
            if exact < 1e-275:
                continue
            above = excess(delta_at(kappa, 3, 1.0, epsilon), exact)
            assert above >= 0 or exact > 1 - 1e-15  # delta is 1 at most
            worst = max(worst, above)
    check_error("VonMisesFisher.hockey_stick, dim = 3", worst, CARD)


def test_high_dimensions_are_gaussian():
    # 2 z t is normal with standard deviation 2 z/sqrt(dim) up to terms of 1/dim.
    dim, mu = 10**12, 1.5
    epsilon = np.array([0.0, 1.0, 5.0])
    found = delta_of(tn.VonMisesFisher(0.5 * mu * math.sqrt(dim), dim), math.pi, epsilon)
    gaussian = np.empty(3)
    tn._core.cost.gaussian_delta(epsilon, np.asarray(mu), gaussian)
    np.testing.assert_allclose(found, gaussian, rtol=1e-10)


# --- edges --------------------------------------------------------------------------------------
def test_nothing_to_tell_apart():
    assert delta_of(tn.VonMisesFisher(0.0, 5), math.pi, 0.0) == 0
    assert epsilon_of(tn.VonMisesFisher(0.0, 5), 0.0) == 0
    assert delta_of(tn.VonMisesFisher(1e5, 5), 0.0, [0.0, 1.0]).tolist() == [0.0, 0.0]
    assert epsilon_of(tn.VonMisesFisher(1e5, 5), [0.0, 1.0], angle=0.0).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("kappa", "dim"), CASES)
def test_greatest_loss(kappa, dim):
    vmf = tn.VonMisesFisher(kappa, dim)
    greatest = 2 * kappa
    assert delta_of(vmf, math.pi, [greatest, math.nextafter(greatest, inf), inf]).max() == 0
    assert delta_of(vmf, math.pi, math.nextafter(greatest, 0)) > 0
    assert epsilon_of(vmf, 0.0) == greatest
    assert epsilon_of(vmf, 1.0) == 0


def test_greatest_loss_between_two_floats():
    # 2 kappa half_chord is not a float: delta is 0 from the one above it on.
    kappa, half_chord = 3.3, 0.7
    below = 2 * kappa * half_chord
    if Fraction(below) >= 2 * Fraction(kappa) * Fraction(half_chord):
        below = math.nextafter(below, 0)
    assert delta_at(kappa, 2, half_chord, below) > 0
    assert delta_at(kappa, 2, half_chord, math.nextafter(below, inf)) == 0


@pytest.mark.parametrize("dim", [2, 3, 4, 60, 10**9, 2**53])
@pytest.mark.parametrize("kappa", [5e-324, 1e-300, 1e-290, 1e-150, 1e-9, 1e20, 1e100])
def test_extreme_concentrations(kappa, dim):
    vmf = tn.VonMisesFisher(kappa, dim)
    for angle in (1e-300, 1e-20, 1.0, math.pi):
        half_chord = pair.half_chord_upper(angle)
        at = np.array([0.0, 0.1, 0.9, 1 - 1e-15]) * kappa * half_chord * 2
        delta = delta_of(vmf, angle, at)
        assert ((delta > 0) & (delta <= 1)).all()
        assert (np.diff(delta) <= 0).all()
        # A loss of at most 2 z proves so much.
        bound = math.tanh(min(kappa * half_chord, 50.0))
        assert delta[0] <= bound * (1 + PROMISED) + UNDERFLOW
        epsilon = epsilon_of(vmf, [1e-200, 1e-9, 0.5], angle=angle)
        assert ((epsilon >= 0) & np.isfinite(epsilon)).all()
        assert (np.diff(epsilon) <= 0).all()
        assert (delta_of(vmf, angle, epsilon) <= [1e-200, 1e-9, 0.5]).all()


def test_tiny_losses_scale():
    # For kappa -> 0, delta(2 kappa f) is kappa times a function of f.
    small, tiny = (delta_at(k, 5, 1.0, k) / k for k in (1e-20, 1e-270))
    assert small == pytest.approx(tiny, rel=1e-12)


@pytest.mark.parametrize("kappa", [3.3e-300, 7.1e-292, 9.999e-291, 1.00001e-290])
def test_tiny_losses_are_covered(kappa):
    for half_chord in (0.7, 0.123, 1 / 3):
        loss = 2 * Fraction(kappa) * Fraction(half_chord)
        without_delta = float(pair.epsilon_upper(kappa, 3, np.asarray(half_chord), np.zeros(())))
        assert loss <= Fraction(without_delta) <= loss * (1 + Fraction(2, 2**51))


# --- order --------------------------------------------------------------------------------------
@pytest.mark.parametrize(("kappa", "dim"), CASES)
def test_increases_with_angle_and_concentration(kappa, dim):
    # Neighbours on these grids are further apart than the margins.
    vmf = tn.VonMisesFisher(kappa, dim)
    epsilon = epsilon_of(vmf, 10.0 ** -np.arange(1, 60, 7), angle=1.0)
    by_angle = delta_of(vmf, np.linspace(0.5, math.pi, 40)[:, None], epsilon)
    assert (np.diff(by_angle, axis=0) >= -PROMISED * by_angle[1:]).all()
    grid = np.sort(np.concatenate([epsilon, np.linspace(0, 2 * kappa, 50)]))
    by_epsilon = delta_of(vmf, 2.0, grid)
    assert (np.diff(by_epsilon) <= PROMISED * by_epsilon[1:]).all()
    by_kappa = np.array(
        [
            delta_of(tn.VonMisesFisher(kappa * factor, dim), 1.0, epsilon)
            for factor in np.linspace(1, 1.5, 20)
        ]
    )
    assert (np.diff(by_kappa, axis=0) >= -PROMISED * by_kappa[1:]).all()


@pytest.mark.parametrize(("kappa", "dim"), CASES)
@pytest.mark.filterwarnings("ignore:the best order is the largest")
def test_below_other_bounds(kappa, dim):
    vmf = tn.VonMisesFisher(kappa, dim)
    for angle in ANGLES:
        delta = 10.0 ** -np.arange(1.0, 40, 6)
        epsilon = epsilon_of(vmf, delta, angle=angle)
        cost = vmf.cost(angle=angle)
        for d, e in zip(delta[:3], epsilon[:3], strict=True):
            assert e <= cost.epsilon(d, by="rdp") * (1 + 1e-12)
        bound = np.empty(epsilon.shape)
        mu = np.asarray(cost.gdp_mu)
        tn._core.cost.gaussian_delta(epsilon, mu, bound)
        found = delta_of(vmf, angle, epsilon)
        assert (found <= bound * (1 + PROMISED) + UNDERFLOW).all()


def test_total_variation_of_a_circle():
    # kappa s -> inf on the circle: P(t > 0) - Q(t > 0) -> 1; kappa -> 0: the mean of |t| kappa.
    assert delta_of(tn.VonMisesFisher(1e6, 2), math.pi, 0.0) == 1.0
    small = delta_of(tn.VonMisesFisher(1e-9, 2), math.pi, 0.0)
    assert small == pytest.approx(1e-9 * 2 / math.pi, rel=1e-12)


# --- the inverse --------------------------------------------------------------------------------
@pytest.mark.parametrize(("kappa", "dim"), CASES)
def test_inverse(kappa, dim):
    vmf = tn.VonMisesFisher(kappa, dim)
    for angle in ANGLES:
        total_variation = delta_of(vmf, angle, 0.0)
        share = np.concatenate([10.0 ** np.linspace(-250, 0, 60), [0.999, 1 - 1e-9]])
        delta = total_variation * share
        delta = delta[delta > 1e-275]
        epsilon = epsilon_of(vmf, delta, angle=angle)
        assert (delta_of(vmf, angle, epsilon) <= delta).all()
        assert epsilon_of(vmf, total_variation, angle=angle) == 0
        # Not private a little below, unless that is what the largest loss proves.
        positive = epsilon > 0
        below = np.nextafter(epsilon[positive] * (1 - 1e-10), 0)
        assert (delta_of(vmf, angle, below) > delta[positive] * (1 - PROMISED)).all()


def test_costs_answer_by_it():
    vmf = tn.VonMisesFisher(10.0, 6)
    for angle in (0.5, 2.0, math.pi):
        cost, deltas = vmf.cost(angle=angle), np.array([1e-3, 1e-6])
        for epsilon in (0.0, 1.0, 3.0, 30.0):
            assert cost.delta(epsilon) == delta_of(vmf, angle, epsilon)
        np.testing.assert_array_equal(cost.epsilon(deltas), epsilon_of(vmf, deltas, angle))


def test_results_do_not_depend_on_threads():
    vmf = tn.VonMisesFisher(10.0, 6)
    angles = np.linspace(0.1, math.pi, 1000)
    one, four = with_threads(lambda: delta_of(vmf, angles, 1.0), 1, 4)
    assert (one == four).all()
