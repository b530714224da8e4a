"""`best_noise`: all answers are private, and ranked by losses that hold."""

import io
import math
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest
from by_night import by_night

import tightnoise as tn
from tightnoise._figures import write_png
from tightnoise.compare import noise_ranking
from tightnoise.compare._families import FAMILIES
from tightnoise.compare.noise_ranking import least_variance

NAMES = [family.name for family in FAMILIES]


def moments(mechanism):
    """Return E|X| and E X^2 by a Riemann sum of quantiles, to about 1e-3 and 1e-2."""
    levels = (np.arange(10_000) + 0.5) / 10_000
    x = mechanism.ppf(levels)
    return float(np.abs(x).mean()), float((x * x).mean())


@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), [(1.0, 0.01, 3.0), (4.0, 1e-6, 0.1)])
def test_every_choice_is_private_and_loses_what_is_said(epsilon, delta, sensitivity, loss, quick):
    ranking = tn.best_noise(epsilon, delta, sensitivity=sensitivity, loss=loss)
    assert sorted(choice.name for choice in ranking) == sorted(quick)
    assert not ranking.left_out
    for choice in ranking:
        assert choice.cost.delta(epsilon) <= delta
        size, square = moments(choice.mechanism)
        assert choice.mean_abs == pytest.approx(size, rel=2e-3)
        assert choice.variance == pytest.approx(square, rel=1e-2)
    losses = [ranking.loss_of(choice) for choice in ranking]
    assert losses == sorted(losses)
    assert losses == [c.mean_abs if loss == "l1" else c.variance for c in ranking]
    assert ranking.best is ranking[0]


# The least noise of one release, as docs/scalar-noise.md has it, at epsilon and the deltas below:
# staircase, Tulap or scale mixture; for the mean of abs(noise), then for the variance.
DELTAS = (1e-3, 0.01, 0.03, 0.1, 0.3)
WINNERS = {
    2.0: ("SSMMM", "STMMM"),
    2.5: ("SSSMM", "SSMMM"),
    3.0: ("SSSMM", "SSSMM"),
    4.0: ("SSSSM", "SSSSM"),
    5.0: ("SSSSM", "SSSSM"),
    8.0: ("SSSSS", "SSSSS"),
}
NAMED = {"S": "staircase", "T": "Tulap", "M": "scale mixture"}
SCAN = [
    (epsilon, delta, loss, NAMED[letter])
    for epsilon, rows in WINNERS.items()
    for loss, letters in zip(("l1", "l2"), rows, strict=True)
    for delta, letter in zip(DELTAS, letters, strict=True)
]
PART = [SCAN[i] for i in (5, 6, 22, 27, 28, 37)]  # where the winner changes


@pytest.mark.parametrize(
    ("epsilon", "delta", "loss", "winner"),
    SCAN if os.environ.get("TIGHTNOISE_WHOLE_SCAN") else PART,
)
def test_which_noise_is_least(epsilon, delta, loss, winner):
    assert tn.best_noise(epsilon, delta, sensitivity=1.0, loss=loss).best.name == winner


@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("epsilon", [0.1, *by_night(0.25, 0.5), 1.0])
def test_which_noise_is_least_at_small_epsilon(epsilon, loss, quick):
    for delta in (1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.1):
        ranking = tn.best_noise(epsilon, delta, sensitivity=1.0, loss=loss)
        least = ranking.loss_of(ranking.best)
        behind = {choice.name: ranking.loss_of(choice) / least for choice in ranking}
        assert ranking.best.name in ("staircase", "Tulap")
        assert behind["Tulap"] < 1.01
        if delta <= 1e-6:
            close = ("staircase", "Laplace", "truncated Laplace", "multi-Gaussian")
            assert max(behind[name] for name in close) < 1.05
        if delta == 0.01:
            assert (behind["staircase"] > 2) == (epsilon == 0.1 and loss == "l2")


def test_searched_mixtures_take_part():
    ranking = tn.best_noise(5.0, 1e-6, sensitivity=1.0)
    loss = {choice.name: choice.mean_abs for choice in ranking}
    assert sorted(loss) == sorted(NAMES)
    assert loss["scale mixture"] < 0.6 * loss["multi-Gaussian"]
    assert loss["multi-Gaussian"] == pytest.approx(0.19995461321500735, rel=1e-6)


def test_losses_scale_with_the_sensitivity(quick):
    one, thousand = (
        tn.best_noise(1.0, 1e-5, sensitivity=1.0),
        tn.best_noise(1.0, 1e-5, sensitivity=1000.0),
    )
    assert [choice.name for choice in one] == [choice.name for choice in thousand]
    for small, large in zip(one, thousand, strict=True):
        assert large.mean_abs == pytest.approx(1000 * small.mean_abs, rel=1e-8)
        assert large.variance == pytest.approx(1e6 * small.variance, rel=1e-8)


def test_without_delta_only_pure_mechanisms_answer(quick):
    ranking = tn.best_noise(1.0, 0.0, sensitivity=1.0)
    pure = ["staircase", "Tulap", "Laplace"]
    assert [choice.name for choice in ranking] == pure
    assert sorted([*ranking.left_out, *pure]) == sorted(quick)
    assert all("delta" in reason for reason in ranking.left_out.values())


@pytest.mark.parametrize("count", by_night(2, 10))
def test_several_releases_stay_within_the_budget(count, quick):
    ranking = tn.best_noise(2.0, 1e-5, sensitivity=1.0, count=count)
    assert ranking.releases == count
    one = {choice.name: choice.mean_abs for choice in tn.best_noise(2.0, 1e-5, sensitivity=1.0)}
    for choice in ranking:
        composed = choice.cost * count
        if choice.name == "Gaussian":
            # Exactly, where the distribution of losses is a little above.
            distance = math.sqrt(count) / choice.mechanism.sigma
            assert tn.Cost.of_gdp(distance).delta(2.0) <= 1e-5 * (1 + 1e-12)
        else:
            # A little beyond: two releases of epsilon 1 cost 2, where delta has a step.
            assert composed.delta(2.0 * (1 + 1e-8)) <= 1e-5
        assert choice.mean_abs > one[choice.name]
        # Not far below the budget either.
        assert composed.epsilon(1e-5) > 1.5


@pytest.mark.parametrize(("epsilon", "count"), [(1.0, 3), (1e-6, 7), (50.0, 1000)])
def test_pure_releases_add_up_to_no_more_than_the_budget(epsilon, count, quick):
    for choice in tn.best_noise(epsilon, 0.0, sensitivity=1.0, count=count):
        noise = choice.mechanism
        each = 1 / Fraction(noise.scale) if choice.name == "Laplace" else Fraction(noise.epsilon)
        assert Fraction(epsilon) * (1 - Fraction(1, 10**9)) <= count * each <= Fraction(epsilon)


def test_a_table_to_read_and_a_ranking_to_keep(quick):
    ranking = tn.best_noise(1.0, 1e-5, sensitivity=1.0)
    lines = str(ranking).splitlines()
    assert len(lines) == 1 + len(quick)
    assert lines[0].split()[0] == "mechanism"
    assert lines[1].startswith(ranking.best.name)
    assert "1.000" in lines[1]
    again = pickle.loads(pickle.dumps(ranking))
    assert again == ranking
    assert again.best.mechanism == ranking.best.mechanism
    assert ranking[1:3] == ranking.choices[1:3]
    tails = {choice.name: choice.tails for choice in ranking}
    assert tails["Tulap"] == tails["truncated Laplace"] == "bounded"
    assert tails["Laplace"] == tails["staircase"] == "exponential"
    assert tails["multi-Gaussian"] == "gaussian"
    assert {choice.name for choice in ranking if choice.composes_as_gaussian} == {
        "Gaussian",
        "multi-Gaussian",
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0.0),
        ("epsilon", math.nan),
        ("epsilon", math.inf),
        ("delta", -1e-9),
        ("delta", 1.0),
        ("delta", math.nan),
        ("sensitivity", 0.0),
        ("sensitivity", -1.0),
        ("loss", "l3"),
        ("loss", None),
        ("count", 0),
        ("count", 2.5),
        ("count", True),
    ],
)
def test_bad_arguments(name, value):
    arguments = {"epsilon": 1.0, "delta": 1e-5, "sensitivity": 1.0, name: value}
    with pytest.raises((ValueError, TypeError), match=name):
        tn.best_noise(**arguments)


def test_families_name_a_parameter_that_exists():
    for family in filter(lambda family: not family.for_one, FAMILIES):
        assert hasattr(family.calibrated(1.0, 1e-3, sensitivity=1.0, loss="l1"), family.scale)


def test_thousands_of_releases_do_without_thousands_of_modes(monkeypatch):
    lattice = next(family for family in FAMILIES if family.name == "multi-Gaussian")
    monkeypatch.setattr("tightnoise.compare.noise_ranking.FAMILIES", (lattice,))
    ranking = tn.best_noise(0.01, 1e-12, sensitivity=1.0, count=10_000)
    assert ranking.best.mechanism.modes <= 1
    composed = ranking.best.cost * 10_000
    # A little beyond: for a Gaussian, which is exact, the distribution of losses is an upper bound.
    assert composed.epsilon(1e-12) <= 0.01 * (1 + 2e-6)


def only(monkeypatch, *names):
    few = tuple(family for family in FAMILIES if family.name in names)
    for module in ("noise_ranking", "_figures"):
        monkeypatch.setattr(f"tightnoise.compare.{module}.FAMILIES", few)


@pytest.mark.parametrize("count", [30, *by_night(10**9)])
def test_no_family_with_a_gaussian_in_it_is_behind_the_gaussian(count, monkeypatch):
    only(monkeypatch, "Gaussian", "multi-Gaussian", "quasi-Gaussian")
    ranking = tn.best_noise(1.0, 1e-5, sensitivity=1.0, count=count)
    loss = {choice.name: choice.mean_abs for choice in ranking}
    assert loss["multi-Gaussian"] <= loss["Gaussian"] * (1 + 1e-8)
    assert loss["quasi-Gaussian"] <= 1.1 * loss["Gaussian"]  # it has one at large epsilon only
    gaussian = next(choice.mechanism for choice in ranking if choice.name == "Gaussian")
    assert tn.Cost.of_gdp(math.sqrt(count) / gaussian.sigma).delta(1.0) <= 1e-5


def test_what_another_family_has_is_no_row_of_its_own(monkeypatch):
    only(monkeypatch, "multi-Gaussian", "scale mixture")
    ranking = tn.best_noise(0.3, 1e-8, sensitivity=1.0)
    assert [choice.name for choice in ranking] == ["multi-Gaussian"]
    assert ranking.left_out["scale mixture"].endswith("that of the multi-Gaussian")
    assert ranking.best.cost.delta(0.3) <= 1e-8


def test_the_largest_epsilon_is_drawn_and_printed_in_narrow_columns(monkeypatch):
    only(monkeypatch, "Gaussian", "Laplace", "staircase")
    ranking = tn.best_noise(700.0, 1e-14, sensitivity=1.0)
    assert max(map(len, str(ranking).splitlines())) <= 110
    pytest.importorskip("matplotlib")
    file = io.BytesIO()
    write_png(file, lambda axes: ranking.plot(axes=axes), 2, (13.0, 5.4))
    assert file.getvalue().startswith(b"\x89PNG")


def test_the_best_is_found_without_the_searches_that_cannot_find_it(monkeypatch):
    question = noise_ranking._Question(4.0, 1e-6, 1.0, 2, "l2", True)
    quick = {family.name: family for family in FAMILIES if family.name in ("Tulap", "staircase")}
    variances = {}
    for name, family in quick.items():
        variances[name] = question.calibrated(family).rounded().var()
        assert 0.999 < question.at_least(family) / variances[name] < 1 + 1e-8
    searched = []

    def watched(asked, family, original=noise_ranking._Question.calibrated):
        if asked.releases > 1:
            searched.append(family.name)
        return original(asked, family)

    monkeypatch.setattr(noise_ranking._Question, "calibrated", watched)
    found = least_variance(4.0, 1e-6, sensitivity=1.0, count=2, integer=True)
    assert found.variance == min(variances.values()) == variances[found.name]
    assert searched == ["Tulap"]


@pytest.mark.parametrize(("epsilon", "delta"), [(3.0, 0.0), (1.0, 1e-6), (0.7, 0.3)])
def test_no_integer_noise_is_below_tulap_noise(epsilon, delta):
    found = least_variance(epsilon, delta, sensitivity=1.0, count=1, integer=True)
    least, tail, k = 0.0, (1 - delta) / (1 + math.exp(epsilon)), 1
    while tail > 1e-20:
        least += 2 * (2 * k - 1) * tail
        tail, k = (tail - delta) / math.exp(epsilon), k + 1
    assert found.variance == pytest.approx(least, rel=1e-9)
    ranking = tn.best_noise(epsilon, delta, sensitivity=1.0, loss="l2", integer=True)
    assert ranking.best == found


@pytest.mark.parametrize(
    ("epsilon", "delta", "count"),
    [(1.0, 0.0, 2), (1.0, 1e-6, 1), (0.1, 1e-3, 1), (2.0, 0.01, 1), (3.0, 0.1, 1)],
)
def test_the_best_where_no_search_is_long(epsilon, delta, count):
    asked = {"sensitivity": 1.0, "count": count, "integer": False}
    found = least_variance(epsilon, delta, **asked)
    assert found == tn.best_noise(epsilon, delta, loss="l2", **asked).best
