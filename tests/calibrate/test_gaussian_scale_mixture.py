"""Fitted Gaussian scale mixtures: private, and of less loss than what else is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from by_night import by_night, rows_by_night

import tightnoise as tn
from tightnoise.calibrate import gaussian_scale_mixture
from tightnoise.calibrate._loss import loss_of

# What searches with all locations, weights and sigmas of six components free had found.
SEARCHED = [
    (1.0, 0.1, "l1", 0.69919),
    (3.0, 0.01, "l1", 0.24706),
    (5.0, 1e-10, "l1", 0.094844),
    (4.0, 1e-08, "l2", 0.076204),
    (10.0, 0.1, "l2", 0.00096224),
]
BY_NIGHT = [
    (2.0, 0.1, "l1", 0.37073),
    (3.0, 0.1, "l1", 0.21846),
    (3.0, 1e-06, "l1", 0.2578),
    (7.0, 1e-05, "l1", 0.036218),
    (10.0, 1e-06, "l1", 0.0082851),
    (2.5, 0.05, "l2", 0.21665),
    (3.0, 0.1, "l2", 0.12737),
    (5.0, 1e-06, "l2", 0.035324),
    (8.0, 0.01, "l2", 0.0042833),
]


@pytest.mark.parametrize("row", [*SEARCHED, *by_night(*BY_NIGHT)])
def test_private_and_next_to_what_a_search_finds(row):
    epsilon, delta, loss, searched = row
    noise = gaussian_scale_mixture(epsilon, delta, sensitivity=1.0, loss=loss)
    assert noise.cost(sensitivity=1.0).delta(epsilon) <= delta
    assert np.all(noise.hockey_stick(0.0, np.linspace(0.001, 1.0, 400), epsilon) <= delta)
    assert loss_of(noise, loss) <= searched * 1.03
    # No more noise than the certificate asks for.
    assert noise.cost(sensitivity=1.0).epsilon(delta) >= epsilon - 1e-3


@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("cases", [3, *by_night(6)])
def test_never_worse_than_the_multi_gaussian(loss, cases, rng):
    fitted = 0
    for _ in range(cases):
        epsilon, delta = rng.uniform(0.5, 13.0), 10 ** rng.uniform(-12, -0.5)
        lattice = tn.calibrate.multi_gaussian(epsilon, delta, sensitivity=2.0, loss=loss)
        noise = gaussian_scale_mixture(epsilon, delta, sensitivity=2.0, loss=loss)
        assert noise.cost(sensitivity=2.0).delta(epsilon) <= delta
        if noise != lattice:
            fitted += 1
            assert loss_of(noise, loss) < loss_of(lattice, loss)
    assert fitted >= cases / 3


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (1.0, 1e-5),
        *rows_by_night((2.0, 1e-300), (0.02, 1e-3), (0.0679, 2.925e-10), (13.0, 1e-6), (3.0, 0.2)),
    ],
)
def test_elsewhere_the_answer_is_the_multi_gaussian(epsilon, delta):
    noise = gaussian_scale_mixture(epsilon, delta, sensitivity=1.0)
    assert noise == tn.calibrate.multi_gaussian(epsilon, delta, sensitivity=1.0)
    assert noise.cost(sensitivity=1.0).delta(epsilon) <= delta


def test_the_same_shape_in_every_unit():
    unit = gaussian_scale_mixture(6.0, 1e-6, sensitivity=1.0)
    wide = gaussian_scale_mixture(6.0, 1e-6, sensitivity=1024.0)
    assert wide.sigmas == tuple(1024.0 * sigma for sigma in unit.sigmas)
    assert wide.locations == tuple(1024.0 * location for location in unit.locations)


@pytest.mark.filterwarnings("error")
def test_shapes_beyond_the_largest_number_are_none():
    noise = gaussian_scale_mixture(2.0, 1e-3, sensitivity=1e308)
    assert isinstance(noise, tn.MultiGaussianMixture)
    assert tn.best_noise(2.0, 1e-3, sensitivity=1e308).best.mean_abs < math.inf
