"""Certified costs of mixtures of Gaussians against dense scans of shifts, and against mpmath."""

import math

import numpy as np
import pytest

from tightnoise import _core
from tightnoise.costs._shifted_pair import worst_shifts_below

laws = _core.additive

# Computed with 50 digits: the smallest sigma at which a multi-Gaussian has one mode.
SIGMA_UNIMODAL = [
    (1.0, 4, 0.358959967063009090702623964656),
    (10.0, 2, 0.186868675376508315759294179308),
    (0.1, 30, 0.495960851950088662020937965434),
    (5.0, 2, 0.2382502135880750489451026354),
    (0.25, 20, 0.445874011251342505731194747447),
]
# And the sigma at which the cost is delta, with the worst shift where it is below the sensitivity.
SIGMA_EXACT = [
    (1.0, 2, 0.01, 1.61019162195804892704191722888, 1.0),
    (0.5, 5, 1e-4, 5.51479635959042290407254237893, 1.0),
    (0.1, 20, 1e-6, 35.2966769435266436910178130773, 1.0),
    (2.0, 1, 1e-3, 1.3500072114214953654479147614, 1.0),
    (1.0, 9, 1e-5, 2.62730709478769732560464522894, 1.0),
    (1.0, 4, 0.01, 0.334427486544659335879874080141, 0.767819384678074261701468893397),
    (0.5, 7, 0.01, 0.371608481933635771783520328908, 0.744409043852246538823483276328),
    (1.0, 11, 1e-5, 0.358153707597365739937315517334, 0.961882148231658076067967943709),
    (10.0, 9, 0.25, 0.148955599989639132959716708585, None),
    (3.0, 2, 0.02, 0.255983920932620846139479333959, None),
]
WORST_QUASI_GAUSSIAN = [  # at the sensitivity
    (1.0, 0.3, 0.211504637610739988304472049367),
    (2.0, 0.5, 0.0821574595754892956967233467591),
    (0.5, 1.2, 0.118980973183858694798157242618),
]


def scale_mixture(rng):
    """Return a law: a component at 0, and some pairs about it."""
    n = int(rng.integers(1, 4))
    locations = np.concatenate([[0.0], rng.uniform(0.0, 2.0, n)])
    weights = np.concatenate([[1.0], np.exp(-rng.uniform(0.5, 6.0, n))])
    sigmas = np.exp(rng.uniform(math.log(0.08), math.log(1.5), n + 1))
    return make_scale_mixture(locations, weights, sigmas)


def make_scale_mixture(locations, weights, sigmas):
    return laws.ScaleMixture(list(locations), list(weights), list(sigmas))


def random_case(rng, kind):
    """Return a law, an epsilon and a sensitivity."""
    epsilon = float(np.exp(rng.uniform(math.log(0.1), math.log(8.0))))
    sigma = float(np.exp(rng.uniform(math.log(0.08), math.log(1.5))))
    if kind == "multi-Gaussian":
        law = laws.MultiGaussian(sigma, epsilon, 1.0, int(rng.integers(0, 15)))
    elif kind == "quasi-Gaussian":
        law = laws.QuasiGaussian(sigma, epsilon, 1.0)
    else:
        law = scale_mixture(rng)
    asked = epsilon * float(rng.choice([1.0, 0.0, rng.uniform(0.2, 2.0)], p=[0.6, 0.1, 0.3]))
    return law, asked, float(rng.choice([1.0, rng.uniform(0.2, 3.0)], p=[0.7, 0.3]))


def divergence(law, shifts, epsilon):
    out = np.empty(len(shifts))
    law.hockey_stick(np.asarray(shifts, float), np.full(len(shifts), float(epsilon)), out)
    return out


def refined_maximum(law, epsilon, sensitivity, points=240):
    """Return the greatest divergence on a grid, and near its best point."""
    shifts = np.linspace(0.0, sensitivity, points)
    values = divergence(law, shifts, epsilon)
    best, step = float(values.max()), sensitivity / points
    at = float(shifts[values.argmax()])
    for _ in range(12):
        near = np.linspace(max(at - step, 0.0), min(at + step, sensitivity), 9)
        found = divergence(law, near, epsilon)
        at = float(near[found.argmax()])
        best, step = max(best, float(found.max())), step / 4
    return values, best


@pytest.mark.parametrize("kind", ["multi-Gaussian", "quasi-Gaussian", "scale mixture"])
def test_never_below_any_shift_and_next_to_the_worst(rng, check_error, kind):
    excess, least = 0.0, 1.0
    for _ in range(70):
        law, epsilon, sensitivity = random_case(rng, kind)
        delta, shift, _ = law.worst_shift(epsilon, sensitivity)
        values, best = refined_maximum(law, epsilon, sensitivity)
        assert np.all(values <= delta)
        assert best <= delta
        assert 0 <= shift <= sensitivity
        at_shift = float(divergence(law, [shift], epsilon)[0])
        excess = max(excess, delta / max(best, at_shift) - 1)
        least = min(least, delta)
    assert least < 1e-4
    check_error(f"cost of a {kind}: above the worst shift", excess, 1e-9)


@pytest.mark.parametrize(("epsilon", "modes", "sigma"), SIGMA_UNIMODAL)
def test_proof_of_one_mode_holds_and_reaches_far(epsilon, modes, sigma):
    def proof(factor):
        return laws.MultiGaussian(sigma * factor, epsilon, 1.0, modes).worst_shift(epsilon, 1.0)[2]

    for below in (1 - 1e-9, 1 - 1e-6, 0.999, 0.9, 0.5):
        assert proof(below) == "semiconvex"
    for above in (1 + 1e-4, 1.01, 1.5, 5.0):
        assert proof(above) == "unimodal"


def test_proof_of_one_mode_agrees_with_the_density(rng):
    proven = 0
    for _ in range(100):
        law = random_case(rng, "scale mixture")[0]
        x = np.linspace(0.0, 8.0, 4001)
        log_density = np.empty_like(x)
        law.log_pdf(x, log_density)
        falls = bool(np.all(np.diff(log_density) <= 1e-12))
        if law.worst_shift(1.0, 0.5)[2] == "unimodal":
            assert falls
            proven += 1
        else:
            # The proof may give up, but only next to a density that rises.
            assert not np.all(np.diff(log_density)[1:] < -1e-6)
    assert 10 < proven < 90


def test_quasi_gaussian_is_never_unimodal():
    # Its density has a dip at 0, however wide it is.
    for sigma in (0.2, 1.0, 5.0, 50.0):
        assert laws.QuasiGaussian(sigma, 1.0, 1.0).worst_shift(1.0, 1.0)[2] == "semiconvex"


@pytest.mark.parametrize(("epsilon", "modes", "delta", "sigma", "worst"), SIGMA_EXACT)
@pytest.mark.parametrize("sensitivity", [1.0, 1e-9, 3e12])
def test_multi_gaussian_against_50_digits(epsilon, modes, delta, sigma, worst, sensitivity):
    law = laws.MultiGaussian(sigma * sensitivity, epsilon, sensitivity, modes)
    cost, shift, _ = law.worst_shift(epsilon, sensitivity)
    # Sigma itself is rounded to a double, and delta is some ten times as steep.
    assert delta * (1 - 1e-13) <= cost <= delta * (1 + 1e-9)
    if worst is not None:
        assert shift == pytest.approx(worst * sensitivity, abs=2e-4 * sensitivity)


@pytest.mark.parametrize(("epsilon", "sigma", "delta"), WORST_QUASI_GAUSSIAN)
def test_quasi_gaussian_against_50_digits(epsilon, sigma, delta):
    cost, shift, _ = laws.QuasiGaussian(sigma, epsilon, 1.0).worst_shift(epsilon, 1.0)
    assert delta <= cost <= delta * (1 + 1e-9)
    assert shift == 1.0


def test_no_shift_costs_nothing():
    for law in (laws.MultiGaussian(0.3, 1.0, 1.0, 4), laws.QuasiGaussian(0.3, 1.0, 1.0)):
        assert law.worst_shift(0.0, 0.0)[:2] == (0.0, 0.0)
        assert law.worst_shift(1.0, 0.0)[0] == 0.0


def test_cost_that_underflows_is_not_zero():
    law = laws.MultiGaussian(0.3, 1.0, 1.0, 4)
    for epsilon in (150.0, 1e3, 1e6):
        assert 0.0 < law.worst_shift(epsilon, 1.0)[0] < 1e-300


def test_sensitivity_far_beyond_sigma():
    # Spikes: the supports of all shifts between lattice points are apart.
    law = laws.MultiGaussian(1e-3, 1.0, 1.0, 4)
    assert law.worst_shift(1.0, 1.0)[0] == 1.0
    # Flat between its steps, where the search is slowest.
    law = laws.MultiGaussian(1e-2, 3.0, 1.0, 2)
    delta = law.worst_shift(2000.0, 2.5)[0]
    assert np.all(divergence(law, np.linspace(0, 2.5, 500), 2000.0) <= delta)
    assert delta <= 1.0
    # Longer than all of the noise.
    law = laws.MultiGaussian(0.4, 1.0, 1.0, 4)
    assert np.allclose(divergence(law, [20.0, 50.0, 100.0, 1e6], 1.0), 1.0, atol=1e-12)
    assert law.worst_shift(1.0, 50.0)[0] == 1.0
    # Beyond what is searched: an upper bound all the same, and soon.
    assert law.worst_shift(1e9, 1e7)[0] <= 1.0


def test_one_epsilon_for_many_costs_as_for_one():
    for law in (laws.MultiGaussian(0.354, 1.0, 1.0, 11), laws.QuasiGaussian(0.2, 5.0, 1.0)):
        epsilon = np.linspace(0.0, 12.0, 60)
        out = np.empty_like(epsilon)
        law.worst_shift_curve(1.0, epsilon, 1e-6, out)
        exact = np.array([law.worst_shift(e, 1.0)[0] for e in epsilon])
        assert np.all(out >= exact * (1 - 1e-9))
        assert np.all(out <= exact * (1 + 1e-6))


@pytest.mark.parametrize("kind", ["multi", "unimodal", "quasi", "scales"])
def test_epsilon_at_is_the_least(kind):
    law = {
        "multi": lambda: laws.MultiGaussian(0.33, 1.0, 1.0, 4),
        "unimodal": lambda: laws.MultiGaussian(0.7, 0.5, 1.0, 8),
        "quasi": lambda: laws.QuasiGaussian(0.18, 10.0, 1.0),
        "scales": lambda: make_scale_mixture([0.0, 0.4], [1.0, 0.01], [0.02, 0.3]),
    }[kind]()
    for delta in (0.3, 1e-2, 1e-5, 1e-12, 1e-60, 1e-290):
        epsilon = law.epsilon_at(delta, 1.0)
        assert law.worst_shift(epsilon, 1.0)[0] <= delta
        if epsilon > 0:
            values = refined_maximum(law, epsilon, 1.0)[1]
            assert values >= delta * (1 - 1e-9)
    assert law.epsilon_at(1.0, 1.0) == 0.0
    assert law.epsilon_at(0.0, 1.0) == math.inf
    assert law.epsilon_at(0.0, 0.0) == 0.0


def test_proof_at_most(rng):
    for kind in ("multi-Gaussian", "quasi-Gaussian", "scale mixture"):
        for _ in range(20):
            law, epsilon, sensitivity = random_case(rng, kind)
            cost = law.worst_shift(epsilon, sensitivity)[0]
            assert law.certify_at_most(epsilon, sensitivity, min(cost * (1 + 1e-8), 1.0))[0]
            holds, value, shift = law.certify_at_most(epsilon, sensitivity, cost * (1 - 1e-8))
            assert not holds
            assert value > cost * (1 - 1e-8 - 1e-10)
            assert divergence(law, [shift], epsilon)[0] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("law", "epsilon", "sensitivity", "truth"),
    [
        (
            laws.QuasiGaussian(0.23114305382083133, 25.826148184560175, 1.6041033238171187),
            21.091199509754983,
            1.0,
            5.1286280747e-11,
        ),
        (
            laws.ScaleMixture(
                [0.08269397465250372, 17.744270997323067],
                [0.5630172097621531, 0.4369827902378469],
                [0.29767708495963946, 0.7236244494624751],
            ),
            52.208009367606564,
            1.0,
            1.0799965774e-62,
        ),
        (laws.MultiGaussian(2.0, 0.3, 1.0, 100), 0.15, 0.5, 6.4445736995e-15),
    ],
)
def test_losses_next_to_epsilon_are_not_lost_to_rounding(law, epsilon, sensitivity, truth):
    """Where the loss exceeds epsilon by 1e-6 to 1e-17 only: masses of 60 digits between roots."""
    assert truth <= law.worst_shift(epsilon, sensitivity)[0] <= 5 * truth
    assert truth <= law.certify_at_most(epsilon, sensitivity, 0.0)[1]


@pytest.mark.parametrize(
    ("law", "epsilon", "shift", "truth"),
    [
        (
            laws.ScaleMixture(
                [15.941694267377047, 1.8516216849385632, 1.7807974224460676],
                [0.609653360866826, 1.5939638164406425e-05, 0.39033069949500965],
                [0.07287536630657414, 0.10688646769193873, 1.128820378809761],
            ),
            93.50514750304121,
            0.987356455536544,
            0.00463134078217484,
        ),
        (
            laws.ScaleMixture(
                [0.0, 17.478077964966097, 1.580260526081945],
                [0.11900825831246983, 0.04092942811840085, 0.8400623135691293],
                [1.622774223624518, 0.08747535456236591, 0.22310861468704912],
            ),
            65.95935027007938,
            1.0,
            0.00090500448951995,
        ),
    ],
)
def test_where_modes_give_way_few_nodes_are_not_enough(law, epsilon, shift, truth):
    """Eight were 3e-9 and 1.3e-8 off: the density is flat where one part falls and one rises."""
    delta = np.empty(1)
    law.shift_delta(np.array([shift]), np.array([epsilon]), delta)
    assert truth <= delta[0] <= truth * (1 + 1e-10)
    below, _ = worst_shifts_below(law, shift, np.array([epsilon]), 300.0)
    assert truth * (1 - 1e-9) <= below[0] <= truth
