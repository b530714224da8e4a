"""Sets of cells against all outcomes: below the truth, and no lower than the best set of cells."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from by_night import by_night

from tightnoise.costs._bounds import release_of_losses
from tightnoise.costs._lattice import DiscreteLosses, Work
from tightnoise.costs._losses_below import LossesBelow, infinite_below


def outcomes(terms, spacing):
    """P's and Q's probability of each outcome of all releases, and the cell that it is in."""
    each = []
    for release, n in terms:
        places = [int(k) for k in np.rint(release.values / spacing)]
        p = [mp.exp(x) for x in release.log_mass.tolist()]
        q = [a * mp.exp(-x) for a, x in zip(p, release.values.tolist(), strict=True)]
        each += [list(zip(p, q, places, strict=True))] * n
    for some in itertools.product(*each):
        yield (
            mp.fprod(one[0] for one in some),
            mp.fprod(one[1] for one in some),
            sum(one[2] for one in some),
        )


def random_terms(rng, kinds):
    """Losses of which some are far apart and some next to each other, at no multiples."""
    terms = []
    for _ in range(kinds):
        size = int(rng.integers(2, 5))
        p, q = rng.dirichlet(np.full(size, 10.0 ** rng.uniform(-0.5, 1)), 2) + 1e-12
        p, q = p / p.sum(), q / q.sum()
        terms.append((release_of_losses(np.log(p / q), p), int(rng.integers(1, 4))))
    return tuple(terms)


@pytest.mark.parametrize("kinds", [1, *by_night(2)])
def test_no_more_than_all_outcomes_and_as_much_as_cells(kinds, rng):
    """At spacings at which cells are much too wide, too, where all depends on them."""
    for _ in range(6):
        terms = random_terms(rng, kinds)
        largest = sum(n * release.largest for release, n in terms)
        spacing = largest * 10.0 ** rng.uniform(-4, 0.3)
        below = LossesBelow(terms, spacing)
        coarse = DiscreteLosses(tuple(r for r, _ in terms), tuple(n for _, n in terms))
        with mp.workdps(40):
            all_of_them = list(outcomes(terms, spacing))
            cells = {}
            for p, q, cell in all_of_them:
                mine, other = cells.get(cell, (0, 0))
                cells[cell] = mine + p, other + q

            def divergence(epsilon, pairs):
                scale = mp.exp(epsilon)
                return mp.fsum(max(p - scale * q, 0) for p, q in pairs)

            for epsilon in [0.0, *(rng.uniform(0, 1, 3) ** 2 * largest)]:
                truth = divergence(epsilon, ((p, q) for p, q, _ in all_of_them))
                merged = divergence(epsilon, cells.values())
                frame = coarse.frame(coarse.narrow_tilt(min(epsilon, coarse.highest)))
                got = below.slack_lower(epsilon, frame)
                assert got <= truth
                assert got >= merged * (1 - 1e-7) - 1e-12
                delta = float(truth)
                if not 1e-12 < delta < 1:
                    continue
                found = below.epsilon_lower(math.log(delta), epsilon, frame, Work(math.inf))
                assert found <= epsilon * (1 + 1e-15) + 1e-300 or delta > float(truth)
                if found > 0:
                    assert divergence(found, ((p, q) for p, q, _ in all_of_them)) >= delta
                    tenth = math.log(0.1 * delta)  # far from where the frame is
                    other = below.epsilon_lower(tenth, epsilon, frame, Work(math.inf))
                    assert divergence(other, ((p, q) for p, q, _ in all_of_them)) >= 0.1 * delta
                    assert other >= found


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_what_the_tightest_set_loses_is_of_second_order(epsilon, rng):
    """Of many releases: a quarter of the spacing, a sixteenth of the gap."""
    p = rng.dirichlet(np.full(7, 3.0))
    q = p * np.exp(0.3 * rng.standard_normal(7))
    release = release_of_losses(np.log(p * q.sum() / q), p)
    terms = ((release, 60),)
    coarse = DiscreteLosses((release,), (60,))
    frame = coarse.frame(coarse.narrow_tilt(epsilon))
    finest = LossesBelow(terms, 1e-4).slack_lower(epsilon, frame)
    gaps = [1 - LossesBelow(terms, h).slack_lower(epsilon, frame) / finest for h in (0.04, 0.01)]
    assert 0 < gaps[1] < gaps[0] / 8
    assert gaps[0] < 0.01


def test_masses_above_one_in_sum_make_no_infinite_loss_more_likely():
    """Given ones may be so by 1e-9, which a million releases would make a part of a thousandth."""
    release = release_of_losses([math.inf, 0.4, -0.4], [1e-8, 0.6 - 1e-8, 0.4 + 9e-10])
    times = 10**6
    assert infinite_below([(release, times)]) <= -math.expm1(times * math.log1p(-1e-8))
