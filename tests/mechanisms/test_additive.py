"""What all noise with a density offers in one way, and what its classes check and promise."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate

import tightnoise as tn

inf, nan = np.inf, np.nan
PUBLISHED = json.loads(
    (Path(__file__).parents[1] / "reference" / "mixtures.json").read_text(encoding="utf-8")
)["refs"]

NOISE = [
    tn.MultiGaussianMixture(0.37, 1.0, 1.0, 4),
    tn.MultiGaussianMixture(0.05, 5.0, 1.0, 2),
    tn.MultiGaussianMixture(12.0, 0.1, 2.0, 30),
    tn.MultiGaussianMixture(2.5, 0.5, 1.0, 0),
    tn.QuasiGaussianMixture(0.45, 2.0, 1.0),
    tn.QuasiGaussianMixture(30.0, 0.1, 5.0),
    tn.GaussianScaleMixture([0, 0.43, 0.93], [0.992, 0.007, 0.001], [0.1, 0.33, 0.12]),
    tn.GaussianScaleMixture([2.0], [1.0], [0.5]),
]
MIXTURES = [noise for noise in NOISE if noise.cost(sensitivity=1.0).zcdp_rho < inf]


def ids(noise):
    return f"{type(noise).__name__}-{NOISE.index(noise)}"


every = pytest.mark.parametrize("noise", NOISE, ids=ids)


# --- objects ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "noise",
    [
        *NOISE,
        tn.Laplace(0.7),
        tn.TruncatedLaplace(0.7, 3.3),
        tn.Tulap(1.3, 0.8, 2.9),
        tn.Staircase(2.0, 1.5, 0.3),
    ],
    ids=lambda noise: repr(noise)[:60],
)
def test_copies_are_equal_and_work(noise):
    noise.cdf(0.3)  # the law is made
    for twin in (pickle.loads(pickle.dumps(noise)), copy.copy(noise), copy.deepcopy(noise)):
        assert twin == noise
        assert hash(twin) == hash(noise)
        assert twin.cdf(0.3) == noise.cdf(0.3)
        assert twin.mean_abs() == noise.mean_abs()
    with pytest.raises(AttributeError):
        noise.scale = 3.0


def test_different_noise_differs():
    assert len(set(NOISE)) == len(NOISE)
    assert tn.MultiGaussianMixture(1.0, 1.0, 1.0, 2) != tn.MultiGaussianMixture(1.0, 1.0, 1.0, 3)
    assert tn.QuasiGaussianMixture(1.0, 1.0, 1.0) != tn.MultiGaussianMixture(1.0, 1.0, 1.0, 1)


@every
def test_nothing_can_be_changed(noise):
    with pytest.raises(AttributeError):
        noise.sigma = 3.0
    with pytest.raises(AttributeError):
        noise.sigmas = (3.0,)


@every
def test_all_have_gaussian_tails(noise):
    assert noise.tails == "gaussian"
    assert isinstance(noise, tn.mechanisms.AdditiveNoise)


def test_parameters_become_floats():
    noise = tn.MultiGaussianMixture(np.float32(0.5), 1, np.int64(2), np.int32(3))
    assert noise == tn.MultiGaussianMixture(0.5, 1.0, 2.0, 3)
    assert [type(x) for x in (noise.sigma, noise.epsilon, noise.sensitivity)] == [float] * 3
    assert type(noise.modes) is int
    mixture = tn.GaussianScaleMixture(np.array([0, 1]), np.array([0.5, 0.5]), np.float32([1, 2]))
    assert mixture == tn.GaussianScaleMixture((0.0, 1.0), (0.5, 0.5), (1.0, 2.0))
    assert all(type(x) is float for x in mixture.locations + mixture.weights + mixture.sigmas)
    assert hash(tn.GaussianScaleMixture([-0.0], [1], [1])) == hash(
        tn.GaussianScaleMixture([0.0], [1], [1])
    )


def test_weights_that_sum_to_1_but_for_rounding_are_divided_by_their_sum(rng):
    weights = rng.dirichlet(np.ones(40)) * (1 + 5e-13)
    noise = tn.GaussianScaleMixture(np.arange(40.0), weights, np.ones(40))
    assert abs(math.fsum(noise.weights) - 1) <= 2**-51
    assert np.allclose(noise.weights, weights, rtol=1e-12, atol=0)
    again = tn.GaussianScaleMixture(noise.locations, noise.weights, noise.sigmas)
    assert again == noise


# --- errors -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "valid", [tn.MultiGaussianMixture(1, 1, 1, 2), tn.QuasiGaussianMixture(1, 1, 1)]
)
@pytest.mark.parametrize("name", ["sigma", "epsilon", "sensitivity"])
def test_parameters_out_of_range_are_named(valid, name):
    for bad in (0.0, -1.0, nan, inf, -inf):
        with pytest.raises(ValueError, match=rf"^{name} must be .*; got {bad}"):
            dataclasses.replace(valid, **{name: bad})
    for bad in ("1", None, 1j, True, [1.0, 2.0]):
        with pytest.raises(TypeError, match=rf"^{name} must be a real number; got"):
            dataclasses.replace(valid, **{name: bad})


@pytest.mark.parametrize("kind", [tn.MultiGaussianMixture, tn.QuasiGaussianMixture])
def test_weights_that_vanish_are_refused(kind):
    others = (1.0, 2) if kind is tn.MultiGaussianMixture else (1.0,)
    assert kind(1.0, 700.0, *others).epsilon == 700.0
    with pytest.raises(ValueError, match=r"^epsilon must be at most 700; got"):
        kind(1.0, 700.1, *others)


def test_modes_is_a_count():
    for bad in (-1, 10**6 + 1):
        with pytest.raises(ValueError, match=r"^modes must be between 0 and 1000000; got"):
            tn.MultiGaussianMixture(1.0, 1.0, 1.0, bad)
    for bad in (1.5, True, None, "3"):
        with pytest.raises(TypeError, match=r"^modes must be an integer; got"):
            tn.MultiGaussianMixture(1.0, 1.0, 1.0, bad)


@pytest.mark.parametrize(("arguments", "message"), [
    (([-1.0], [1], [1]), r"^locations must be at least 0; got -1\.0"),
    (([inf], [1], [1]), "^locations must be finite; got inf"),
    (([nan], [1], [1]), "^locations must be a number; got nan"),
    (([0], [1], [0]), r"^sigmas must be greater than 0; got 0\.0"),
    (([0, 1], [1.5, -0.5], [1, 1]), r"^weights must be greater than 0; got -0\.5"),
    (([0, 1], [0.5, 0.4], [1, 1]), r"^weights must sum to 1 within 1e-12; got 0\.9"),
    (([0, 1], [1], [1]), r"^locations, weights and sigmas must be as many; got"),
    (([], [], []), r"^locations must be a sequence of 1 to 1000 numbers; got \[\]"),
    ((0.0, [1], [1]), r"^locations must be a sequence of 1 to 1000 numbers; got 0\.0"),
    (([0], [[1]], [1]), r"^weights must be a sequence of 1 to 1000 numbers; got \[\[1\]\]"),
])  # fmt: skip
def test_errors_of_scale_mixtures(arguments, message):
    with pytest.raises(ValueError, match=message):
        tn.GaussianScaleMixture(*arguments)


def test_scale_mixtures_hold_numbers():
    for bad in (["a"], [True], [1j], [None]):
        with pytest.raises(TypeError, match=r"^sigmas must hold real numbers; got dtype"):
            tn.GaussianScaleMixture([0.0], [1.0], bad)


@every
def test_arguments_out_of_range_are_named(noise):
    with pytest.raises(ValueError, match=r"^q must be between 0 and 1; got"):
        noise.ppf(1.5)
    with pytest.raises(ValueError, match=r"^epsilon must be at least 0"):
        noise.cost(sensitivity=1.0).delta(-1.0)
    with pytest.raises(ValueError, match=r"^sensitivity must be at least 0"):
        noise.cost(sensitivity=-1.0)
    with pytest.raises(ValueError, match=r"^x must be finite"):
        noise.pdf([0.0, nan])
    with pytest.raises(ValueError, match="shapes must broadcast"):
        noise.hockey_stick(0.0, [1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match=r"^rng must be a NoiseStream or None"):
        noise.sample(0.0, rng=np.random.default_rng())


# --- the distribution ---------------------------------------------------------------------------
@every
def test_shapes_and_types(noise):
    x, theta = np.zeros((3, 1), np.float32), np.arange(4)
    for function in (noise.pdf, noise.logpdf, noise.cdf):
        assert function(x, theta).shape == (3, 4)
        assert function(x, theta).dtype == np.float64
        assert isinstance(function(0.5), float)
    assert noise.ppf([[0.2], [0.7]], theta).shape == (2, 4)
    assert noise.hockey_stick(x, theta, 1.0).shape == (3, 4)
    assert isinstance(noise.mean_abs(), float)
    assert np.array_equal(noise.mean(theta), theta)
    assert noise.var(theta).shape == (4,)
    for shape in ((), (5,), (2, 0, 3)):
        for dtype in (np.float32, np.float64):
            drawn = noise.sample(np.ones(shape, dtype))
            assert (np.shape(drawn), np.asarray(drawn).dtype) == (shape, dtype)
    out = np.empty(4)
    assert noise.sample(theta, out=out) is out


@every
def test_samples_are_those_of_the_seed(noise):
    first, second = (noise.sample(np.zeros(100), rng=tn.random.NoiseStream(seed=7)) for _ in "12")
    assert np.array_equal(first, second)
    assert np.unique(first).size > 80  # points of a grid may come twice


# --- costs --------------------------------------------------------------------------------------


@every
def test_hockey_stick_is_the_same_both_ways(noise):
    one, other = noise.hockey_stick(0.0, 0.7, 0.5), noise.hockey_stick(0.7, 0.0, 0.5)
    assert one == other


@every
def test_epsilon_inverts_delta(noise):
    cost = noise.cost(sensitivity=0.8)
    for target in (1e-2, 1e-9):
        epsilon = cost.epsilon(target)
        assert cost.delta(epsilon) <= target
        if epsilon > 0:
            assert cost.delta(epsilon * (1 - 1e-6)) > target


@pytest.mark.parametrize("noise", MIXTURES, ids=ids)
def test_zcdp_bounds_the_renyi_divergence(noise):
    """At orders 1.5 and 4, against the divergence by quadrature."""
    sensitivity = 0.6
    cost = noise.cost(sensitivity=sensitivity)
    rho = cost.zcdp_rho
    sigma = min(getattr(noise, "sigmas", (getattr(noise, "sigma", 0.0),)))
    exact = 0.5 * (sensitivity / sigma) ** 2
    assert exact <= rho <= exact * (1 + 1e-9)
    for order in (1.5, 4.0):
        x = np.linspace(-60 * sigma - 8, 60 * sigma + 8, 200_001)
        log = order * noise.logpdf(x, sensitivity) + (1 - order) * noise.logpdf(x)
        top = log.max()
        divergence = (top + math.log(integrate.trapezoid(np.exp(log - top), x))) / (order - 1)
        assert divergence <= order * rho * (1 + 1e-6)
    assert cost.rdp().is_continuous
    values = cost.rdp([2.0, 8.0, inf]).values
    assert np.all(values[:2] >= [2 * exact, 8 * exact])
    assert np.allclose(values[:2], [2 * rho, 8 * rho], rtol=1e-12)
    assert values[2] == inf


def test_zcdp_of_nothing_and_of_too_much():
    noise = tn.MultiGaussianMixture(1e-3, 1.0, 1.0, 2)
    assert noise.cost(sensitivity=0.0).zcdp_rho == 0.0
    assert noise.cost(sensitivity=1e200).zcdp_rho == inf
    assert tn.QuasiGaussianMixture(1.0, 1.0, 1.0).cost(sensitivity=1.0).zcdp_rho == inf


# --- published values ---------------------------------------------------------------------------
def value_of(case):
    name = case["fn"].split("_", 1)[1]
    given = {key: float(number) for key, number in case["inputs"].items()}
    sigma, epsilon = given["sigma"], given.get("eps_weights", given["eps"])
    if case["fn"].startswith("mgm"):
        noise = tn.MultiGaussianMixture(sigma, epsilon, 1.0, case["inputs"]["K"])
    else:
        noise = tn.QuasiGaussianMixture(sigma, epsilon, 1.0)
    return {
        "pdf": lambda: noise.pdf(given["x"]),
        "cdf": lambda: noise.cdf(given["x"]),
        "quantile": lambda: noise.ppf(given["p"]),
        "l1": noise.mean_abs,
        "l2": noise.var,
        "delta": lambda: noise.hockey_stick(0.0, given["phi"], given["eps"]),
        "delta_e": lambda: noise.hockey_stick(0.0, given["phi"], given["eps"]),
        "delta_at_Delta": lambda: noise.hockey_stick(0.0, 1.0, given["eps"]),
    }[name]()


@pytest.mark.parametrize("name", sorted({case["fn"] for case in PUBLISHED}))
def test_published_values(name, check_error):
    for case in PUBLISHED:
        if case["fn"] == name:
            expected = float(case["value"])
            error = abs(value_of(case) - expected) / (abs(expected) or 1.0)
            # Sigma and the shift are decimals that floats are 1e-16 away from.
            check_error(f"{name} against 30 digits", error, 4e-12)


def test_densities_of_mixtures_are_numbers_however_far_out():
    far = [1e154, 2e154, 1e200, 1e308, -1e308]
    for m in (
        tn.GaussianScaleMixture([0.0, 1.0], [0.6, 0.4], [0.5, 0.6]),
        tn.MultiGaussianMixture(0.4, 1.0, 1.0, 5),
        tn.QuasiGaussianMixture(1.0, 1.0, 1.0),
    ):
        assert (m.logpdf(far) < -1e307).all()
        np.testing.assert_array_equal(m.pdf(far), 0.0)
