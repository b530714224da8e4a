"""The greatest loss in a box: never below the truth, and above it by 1e-12 at most."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf
from reference.box_losses import NOISES
from simd_levels import LEVELS, printed_at
from thread_counts import with_threads

from tightnoise import _core

TABLE = Path(__file__).parent.parent / "reference" / "box_losses.json"
FAMILIES = ("truncated", "rectified", "bounded_laplace", "truncated_theorem")
INTERVALS = {
    "truncated": (_core.domain.truncated_sigma, _core.domain.truncated_epsilon),
    "rectified": (_core.domain.rectified_sigma, _core.domain.rectified_epsilon),
    "bounded_laplace": (_core.domain.bounded_laplace_scale, _core.domain.bounded_laplace_epsilon),
}


def evaluate(function, noise, width, sensitivity, value):
    """Return what one of the core's functions for boxes makes of one number, or of an array."""
    values = np.asarray(value, dtype=np.float64)
    out = np.empty(values.shape)
    if not isinstance(sensitivity, float):
        sensitivity = np.asarray(sensitivity, dtype=np.float64)
    function(noise, np.asarray(width, dtype=np.float64), sensitivity, values, out)
    return out if values.ndim else float(out)


def ball_epsilon(*given):
    return evaluate(_core.domain.ball_epsilon, *given)


def ball_scale(*given):
    return evaluate(_core.domain.ball_scale, *given)


def corner_epsilon(*given):
    return evaluate(_core.domain.corner_epsilon, *given)


def corner_scale(*given):
    return evaluate(_core.domain.corner_scale, *given)


def test_greatest_loss_in_a_ball(check_error):
    for noise, width, sensitivity, scale, text in json.loads(TABLE.read_text()):
        with mp.workdps(40):
            truth = mpf(text)
            loss = ball_epsilon(noise, width, sensitivity, scale)
            assert loss >= truth
            above = float(loss / truth - 1)
            # The loss is proportional to a power of the scale from -2 to -1/2.
            found = ball_scale(noise, width, sensitivity, float(truth))
            assert found >= scale * (1 - 1e-15)
        # The terms of the theorem saturate where the noise is narrow: the least accurate ones.
        theorem = noise == "truncated_theorem"
        check_error(f"ball_epsilon, {noise}: above the truth", above, 1e-8 if theorem else 1e-13)
        limit = 1e-8 if theorem else 1e-12
        check_error(f"ball_scale, {noise}: above the truth", found / scale - 1, limit)


@pytest.mark.parametrize("noise", FAMILIES)
def test_corner_is_a_sum(rng, noise, check_error):
    errors = []
    for dim in (1, 2, 5):
        width = 10.0 ** rng.uniform(-1, 1, dim)
        sensitivity = width * rng.choice([0.1, 0.7, 1.0, 2.0], dim)
        scale = 10.0 ** rng.uniform(-1, 1)
        with mp.workdps(50):
            w = [mpf(float(side)) / mpf(scale) for side in width]
            k = [min(mpf(float(c)) / mpf(scale), s) for c, s in zip(sensitivity, w, strict=True)]
            truth = mp.fsum(NOISES[noise](c, s)[0] for c, s in zip(k, w, strict=True))
            if noise == "truncated_theorem":
                longest = mp.sqrt(mp.fsum(c * c for c in k))
                truth += (mp.sqrt(mp.fsum(s * s for s in w)) + longest / 2) * longest
            loss = corner_epsilon(noise, width, sensitivity, scale)
            assert loss >= truth
            errors.append(float(loss / truth - 1))
        assert corner_epsilon(
            noise, width, sensitivity, corner_scale(noise, width, sensitivity, 0.7)
        ) == pytest.approx(0.7, rel=1e-12)
    check_error("corner_epsilon: above the truth", max(errors), 1e-13)


@pytest.mark.parametrize("noise", INTERVALS)
def test_one_coordinate_is_an_interval(rng, noise):
    scale_of, epsilon_of = INTERVALS[noise]
    for _ in range(50):
        width, share = 10.0 ** rng.uniform(-3, 3), 10.0 ** rng.uniform(-6, 0.3)
        epsilon = 10.0 ** rng.uniform(-9, 3)
        alone = scale_of(epsilon, width, width * share)
        assert ball_scale(noise, [width], width * share, epsilon) == pytest.approx(alone, rel=2e-12)
        expected = epsilon_of(alone, width, width * share)
        assert corner_epsilon(noise, [width], [width * share], alone) == pytest.approx(
            expected, rel=1e-12
        )
        # Coordinates without room beside it change nothing.
        assert ball_epsilon(noise, [width, 1e-200 * width], width * share, alone) == pytest.approx(
            expected, rel=1e-12
        )


@pytest.mark.parametrize("noise", FAMILIES)
def test_extremes(rng, noise):
    """All the epsilon asked for is used, wherever the ball and the box cut each other."""
    for _ in range(250):
        dim = int(rng.integers(2, 30))
        width = 10.0 ** (rng.uniform(-1, 1, dim) * rng.choice([0.3, 2, 9]))
        width *= 10.0 ** rng.choice([0, 0, -140, 140])
        diagonal = math.sqrt(math.fsum((side / width.max()) ** 2 for side in width)) * width.max()
        share = (
            1 - 10.0 ** rng.uniform(-15, 0) if rng.random() < 0.5 else 10.0 ** rng.uniform(-9, 1)
        )
        epsilon = 10.0 ** rng.uniform(-9, 3)
        scale = ball_scale(noise, width, float(diagonal * share), epsilon)
        back = ball_epsilon(noise, width, float(diagonal * share), scale)
        assert epsilon * (1 - (1e-6 if noise == "truncated_theorem" else 1e-12)) <= back
        # The theorem's terms saturate at large epsilons: a new search may be less tight there.
        assert back <= epsilon * (1 + (1e-6 if noise == "truncated_theorem" else 0))
        # Not above the corner's.
        within = np.minimum(width, diagonal * share)
        if noise != "truncated_theorem":
            assert back <= corner_epsilon(noise, width, within, scale) * (1 + 1e-12)


@pytest.mark.parametrize("noise", FAMILIES)
def test_far_out(noise):
    for epsilon in (1e-100, 1e100):
        for width in ([1e-150, 3e-150], [1.0, 2.0], [1e150, 1e140]):
            scale = ball_scale(noise, width, 0.5 * width[0], epsilon)
            assert 0 < scale < math.inf or epsilon == 1e100
    assert ball_epsilon(noise, [1e300, 1e299], 1e300, 1e-300) == math.inf
    assert 0 <= ball_epsilon(noise, [1e-300, 1e-299], 1e-300, 1e300) < 1e-280


def test_slopes_that_fall_at_the_limit(rng):
    """Of bounded Laplace noise: from 1 to 0, within a unit of the scale."""
    for _ in range(50):
        width = 10.0 ** rng.uniform(-2, 2, 3)
        sensitivity = float(math.hypot(*width) * rng.random())
        epsilon = 10.0 ** rng.uniform(25, 99)
        scale = ball_scale("bounded_laplace", width, sensitivity, epsilon)
        back = ball_epsilon("bounded_laplace", width, sensitivity, scale)
        assert epsilon * (1 - 1e-12) <= back <= epsilon


@pytest.mark.parametrize("noise", FAMILIES)
def test_a_million_coordinates(rng, noise):
    """All of epsilon is used, and no more by a direction that is easy to name."""
    width = 10.0 ** rng.uniform(-1, 1, 1_000_000)
    sensitivity = 0.2 * math.sqrt(np.square(width).sum())
    scale = ball_scale(noise, width, sensitivity, 1.0)
    assert ball_epsilon(noise, width, sensitivity, scale) == pytest.approx(1.0, rel=1e-12)
    sample = np.minimum(sensitivity * width / math.sqrt(np.square(width).sum()), width)
    assert corner_epsilon(noise, width, sample, scale) <= 1.0 + (
        2.0 if noise == "truncated_theorem" else 0.0
    )
    assert ball_epsilon(noise, width, sensitivity, 0.999 * scale) > 1.0005


def test_threads_do_not_change_a_bit(rng):
    width = 10.0 ** rng.uniform(-1, 1, 30_000)
    one, three = with_threads(
        lambda: [
            *(ball_scale(noise, width, 7.0, 0.5) for noise in FAMILIES),
            *(corner_scale(noise, width, 0.1 * width, 0.5) for noise in FAMILIES),
            *ball_scale("truncated", width[:5], 1.0, np.geomspace(0.1, 10, 300)),
        ],
        *(1, 3),
    )
    assert one == three


def test_elements_do_not_depend_on_each_other():
    epsilons = np.geomspace(1e-3, 1e2, 200)
    together = ball_scale("rectified", [3.0, 1.0, 0.1], 2.0, epsilons)
    alone = [ball_scale("rectified", [3.0, 1.0, 0.1], 2.0, epsilon) for epsilon in epsilons]
    assert list(together) == alone
    assert (np.diff(together) < 0).all()


PROGRAM = """
import numpy as np
from tightnoise import _core
rng = np.random.default_rng(1)
width = 10.0 ** rng.uniform(-1, 1, 3000)
out = np.empty(1)
for noise in ("truncated", "rectified", "bounded_laplace", "truncated_theorem"):
    _core.domain.ball_scale(noise, width, 5.0, np.array([0.7]), out)
    print(repr(float(out[0])))
    _core.domain.corner_scale(noise, width, 0.1 * width, np.array([0.7]), out)
    print(repr(float(out[0])))
"""


@pytest.mark.skipif(len(LEVELS) < 2, reason="one level")
def test_levels_agree(check_error):
    printed = [[float(x) for x in printed_at(level, PROGRAM).split()] for level in LEVELS]
    errors = [abs(b / a - 1) for row in printed[1:] for a, b in zip(printed[0], row, strict=True)]
    check_error("scales of a box at different levels", max(errors), 1e-12)
