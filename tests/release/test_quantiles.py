"""Quantiles: every probability is a ratio of integers, and the loss between neighbours is exact."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise.release import _rank_law
from tightnoise.release._rank_law import RankLaw, rank_rate, weight

SHARES = [Fraction(1, 2), Fraction(9, 10), Fraction(1, 3), Fraction(1, 100)]
AGES = {"lower": 0, "upper": 120}


def law_of(epsilon, share, adjacency, first=0, last=12):
    rate = rank_rate(epsilon, share, adjacency)
    return RankLaw(rate, share, first, last, 1.0, epsilon)


def off(rows, point, share):
    """Return how many ranks a point is off, by the definition."""
    target = share * rows.size
    return max(Fraction(0), int((rows < point).sum()) - target, target - int((rows <= point).sum()))


def probabilities(law, rows):
    parts = law.share.denominator
    points = range(law.first, law.last + 1)
    weights = [weight(law.rate, parts, int(off(rows, r, law.share) * parts)) for r in points]
    return [Fraction(w, sum(weights)) for w in weights]


def columns(rng, count=12, last=12):
    for size in range(count):
        yield rng.integers(0, last + 1, size)
        yield np.full(size, 5)
        yield rng.choice([0, 1, last], size)


@pytest.mark.parametrize("share", SHARES, ids=str)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("epsilon", [1e-6, *by_night(0.3, 4.0), 300.0])
def test_losses_lie_in_an_interval_of_width_epsilon(epsilon, adjacency, share, rng):
    law = law_of(epsilon, share, adjacency)
    widest = mpmath.mpf(0)
    with mpmath.workdps(50):
        for rows in columns(rng):
            here = probabilities(law, rows)
            for row in (0, 3, 5, 12):
                other = np.append(rows, row)
                if adjacency == "replace-one":
                    if rows.size == 0:
                        continue
                    other = np.append(rows[1:], row)
                there = probabilities(law, other)
                losses = [
                    mpmath.log(mpmath.mpf(p.numerator * q.denominator))
                    - mpmath.log(mpmath.mpf(q.numerator * p.denominator))
                    for p, q in zip(here, there, strict=True)
                ]
                assert min(losses) <= 0 <= max(losses)
                widest = max(widest, max(losses) - min(losses))
        assert widest <= mpmath.mpf(epsilon)
        if share == Fraction(1, 2) and epsilon < 10:
            assert widest >= mpmath.mpf(epsilon) * (1 - 1e-9)  # nothing is given away
    assert law.cost(adjacency=adjacency).epsilon(0.0) <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("rate", [1e-7, 0.25, 1.0, 700.0])
@pytest.mark.parametrize("parts", [1, 10, 997])
def test_weights_are_exponentials_to_the_last_place(rate, parts):
    with mpmath.workdps(80):
        for ranks in (0, 1, 7, 44, 10**4, 10**9):
            y = min(mpmath.mpf(rate) * ranks / parts, mpmath.mpf(44))
            exact = mpmath.mpf(10) ** 38 * mpmath.exp(-y)
            found = weight(rate, parts, ranks)
            assert exact - 1 - mpmath.mpf(10) ** -20 <= found <= exact + mpmath.mpf(10) ** -20
            assert found >= 7.7e18


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 3)], ids=str)
def test_every_draw_is_the_point_that_its_number_stands_for(share, rng, monkeypatch):
    """With small weights, so that all numbers below their sum can be tried."""
    small = {0: 7, 1: 5, 2: 3, 3: 2}
    monkeypatch.setattr(_rank_law, "weight", lambda rate, parts, d: small.get(d, 1))
    law = law_of(1.0, share, "replace-one")
    parts = share.denominator
    for rows in columns(rng, 7):
        wanted = {r: small.get(int(off(rows, r, share) * parts), 1) for r in range(0, 13)}
        total = sum(wanted.values())
        numbers = iter(range(total))

        def number(below, rng, numbers=numbers, total=total):
            assert below == total
            return next(numbers)

        monkeypatch.setattr(_rank_law, "_uniform_below", number)
        drawn = [law.draw(rows, None) for _ in range(total)]
        assert {r: drawn.count(r) for r in wanted} == wanted


def test_uniform_integers_are_of_random_bits_and_by_rejection(monkeypatch):
    words = iter([2**52 - 1] * 3 + [0, 0, 5] + [0, 2, 3])

    class Stream:
        def uniform(self, count):
            return np.array([(next(words) + 0.5) / 2.0**52 for _ in range(count)])

    monkeypatch.setattr(_rank_law, "source_of", lambda rng: None)
    total = 2**80 + 1
    # 2^156 - 1 is beyond the last multiple of the total, and is drawn anew.
    assert (1 << 156) // total * total <= (1 << 156) - 1
    assert _rank_law._uniform_below(total, Stream()) == 5
    assert _rank_law._uniform_below(total, Stream()) == 2 * 2**52 + 3


def test_draws_have_the_law():
    """Chi-square of 6,000 draws with 12 degrees of freedom: false alarm 1e-7 beyond 58."""
    rows = np.array([2, 3, 3, 5, 8, 8, 9])
    law = law_of(1.5, Fraction(1, 2), "add-remove")
    stream = tn.random.NoiseStream(seed=4)
    found = np.bincount([law.draw(rows, stream) for _ in range(6_000)], minlength=13)
    expected = 6_000 * np.array([float(p) for p in probabilities(law, rows)])
    assert ((found - expected) ** 2 / expected).sum() < 58


@pytest.mark.parametrize("share", SHARES, ids=str)
@pytest.mark.parametrize("level", [0.5, *by_night(0.95), 0.999])
def test_rank_intervals_hold_for_all_rows_and_no_narrower_one_does(share, level, rng):
    law = law_of(1.0, share, "add-remove", last=60)
    far = Fraction(law.rank_error(1 - level)).limit_denominator(10**6)
    for rows in (*columns(rng, 40, 60), np.full(200, 60), rng.integers(0, 61, 100)):
        chances = probabilities(law, rows)
        inside = sum(p for r, p in enumerate(chances) if off(rows, r, share) <= far)
        assert inside >= level
    if far:  # one point at the quantile, all others so far off, as ties there would make them
        other = 60 * weight(law.rate, share.denominator, int(far * share.denominator))
        assert Fraction(other, other + weight(law.rate, share.denominator, 0)) > 1 - level


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("integer", [False, True])
def test_quantiles_of_a_column(adjacency, integer, rng):
    rows = rng.integers(0, 121, 2001) if integer else rng.uniform(0, 120, 2001)
    stream = tn.random.NoiseStream(seed=1)
    for quantile in (0.1, 0.5, 0.9):
        release = tn.release_quantile(
            rows, 1.0, quantile=quantile, **AGES, adjacency=adjacency, rng=stream
        )
        low, high = release.rank_interval(1 - 1e-7)  # false alarm
        if adjacency == "add-remove":
            low, high = quantile + low / 2001, quantile + high / 2001
            assert release.n is None
        assert (rows <= release.value).mean() >= low - release.grid
        assert (rows < release.value).mean() <= high
        assert isinstance(release.value, int) == integer
        assert release.value % release.grid == 0
        assert release.cost.epsilon(0.0) <= 1 + 1e-12
        assert release.cost.adjacency == adjacency
        with pytest.raises(ValueError, match="depends on how the rows lie, which is private"):
            release.confidence_interval()
    assert "with 95 %" in str(release)
    alike = tn.release_median(rows, 1.0, **AGES, adjacency=adjacency)
    assert alike.quantile == 0.5


def test_bounded_range_costs_less_in_company(rng):
    release = tn.release_median(rng.uniform(0, 120, 99), 0.1, **AGES, adjacency="add-remove")
    assert (release.cost * 100).epsilon(1e-6) < 0.6 * (tn.Cost.of_pure(0.1) * 100).epsilon(1e-6)


def test_rows_beyond_the_bounds_missing_rows_and_none():
    rows = [-np.inf, 1e300, np.nan, 5.0, np.inf]
    with pytest.raises(ValueError, match="first that of row 2"):
        tn.release_median(rows, 1.0, **AGES, adjacency="replace-one")
    release = tn.release_median(rows, 50.0, **AGES, adjacency="replace-one", missing="drop")
    assert 0 <= release.value <= 120
    assert release.n is None
    empty = tn.release_median([np.nan], 1.0, **AGES, adjacency="add-remove", missing="drop")
    assert 0 <= empty.value <= 120


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quantile": 0}, "quantile must be greater than 0 and less than 1; got 0"),
        ({"quantile": 1e-9}, "quantile must be from 1/1000000"),
        ({"epsilon": 1e-7}, "epsilon must be at least 1e-06; got 1e-07"),
        ({"upper": 0}, "upper must be greater than lower"),
        ({"lower": 1e17, "upper": 1e17 + 16}, "the step of floats"),
        ({"lower": -1e308, "upper": 1e308}, "upper - lower must be"),
    ],
)
def test_bad_input(change, message):
    given = {"values": [1.0], "epsilon": 1.0, "quantile": 0.5, **AGES} | change
    with pytest.raises(ValueError, match=message):
        tn.release_quantile(
            given.pop("values"), given.pop("epsilon"), **given, adjacency="add-remove"
        )
