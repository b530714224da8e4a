"""The tables of Asoodeh et al. (2020): ours, the expected figures, and the truth behind them."""

import itertools
import math

import pytest
from printed_tables import expected_cells

import tightnoise as tn
from tightnoise.reproduce import PAPERS
from tightnoise.reproduce._table import Cell, Row, Table
from tightnoise.reproduce.conversion import epsilon_after, rounds_within, sgd_epsilon_after
from tightnoise.reproduce.conversion._tables import (
    ROUNDS_GAINED,
    SGD_EPOCHS_PROVEN,
)

METHODS = ("moments accountant", "Lemma 1", "Theorem 3", "exact")
TABLES = PAPERS["conversion"].tables


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_every_figure_is_the_expected_one(number):
    table = TABLES[number]()
    cells = [cell for row in table.rows for cell in row.cells]
    assert len(expected_cells(table, within=0.51)) >= len(cells) / 2


# What the tables say


def test_about_a_hundred_rounds():
    """The title: from epsilon 6 on, over 100 releases more; at most 0.76 of epsilon saved."""
    for epsilon, texts in ROUNDS_GAINED.items():
        assert (float(texts[0]) > 100) == (epsilon >= 6)
    saved = epsilon_after(1000, "moments accountant") - epsilon_after(1000, "Lemma 1")
    assert saved == pytest.approx(0.7588, abs=1e-4)


@pytest.mark.parametrize("rounds", [1, 7.5, 300, 5000])
def test_better_methods_are_below(rounds):
    epsilons = [epsilon_after(rounds, method) for method in METHODS]
    for worse, better in itertools.pairwise(epsilons):
        assert better <= worse * (1 + 1e-9)
    assert epsilons[3] < 0.95 * epsilons[0]


def test_exact_rdp_is_below_the_paper_where_its_lemma_holds():
    for rate, epochs in [(0.01, 10), (0.01, 400), (0.001, 100)]:
        assert sgd_epsilon_after(epochs, "exact RDP", rate) < sgd_epsilon_after(
            epochs, "Lemma 1", rate
        )


@pytest.mark.parametrize("rate", SGD_EPOCHS_PROVEN)
def test_what_the_conversion_buys_is_proven(rate):
    """The exact number of steps, from both sides: one step more is over the budget."""
    for epsilon in SGD_EPOCHS_PROVEN[rate]:
        found = {
            method: rounds_within(
                epsilon, lambda n, method=method: sgd_epsilon_after(n, method, rate)
            )
            for method in ("classic RDP", "exact RDP", "exact")
        }
        assert found["classic RDP"] < found["exact RDP"] < found["exact"]
        steps = round(found["exact"] / rate)
        step = tn.Gaussian(4.0).cost(sensitivity=1.0).sampled(rate, "poisson")
        assert (
            (step * steps).epsilon(1e-5) <= epsilon < (step * (steps + 1)).epsilon_bounds(1e-5)[0]
        )


@pytest.mark.parametrize(
    ("rate", "epochs", "known"),
    [
        (0.01, 10, 0.2721),
        (0.01, 100, 0.9469),
        (0.01, 400, 2.033),
        (0.01, 1000, 3.407),
        (0.001, 10, 0.0766),
        (0.001, 100, 0.2687),
        (0.001, 400, 0.571),
        (0.001, 1000, 0.943),
        (0.001, 1, 0.0216),
    ],
)
def test_exact_epsilons_are_those_of_dp_accounting(rate, epochs, known):
    """Its pessimistic estimates, of several resolutions the lowest."""
    cost = tn.Gaussian(4.0).cost(sensitivity=1.0).sampled(rate, "poisson") * round(epochs / rate)
    lower, upper = cost.epsilon_bounds(1e-5)
    assert upper == sgd_epsilon_after(epochs, "exact", rate)
    assert upper - lower <= 1e-9 * upper
    assert upper == pytest.approx(known, abs=5.1e-4 if known > 0.5 else 5.1e-5)


def test_beyond_the_lemma_the_paper_is_too_low():
    cells = TABLES[-1]().rows[0].cells
    assert cells[2].ours < cells[0].ours < cells[1].ours


@pytest.mark.parametrize("epsilon", [0.5, 3, 6])
def test_whole_rounds_are_those_of_calibrate(epsilon):
    rounds = rounds_within(epsilon, lambda n: epsilon_after(n, "exact"))
    steps = tn.calibrate.steps(epsilon, 1e-5, noise_multiplier=20.0, sampling_rate=1.0)
    assert math.floor(rounds) == steps
    assert epsilon_after(rounds, "exact") <= epsilon < epsilon_after(steps + 1, "exact")


@pytest.mark.parametrize("truth", [1e-9, 0.3, 1.0, 17.25, 1e9])
def test_rounds_within_stays_inside_the_budget(truth):
    found = rounds_within(truth, lambda n: n)
    assert truth * (1 - 2e-8) <= found <= truth


# Tables


def test_cells_know_how_far_they_are_off():
    assert Cell(1.2345, "1.234").agrees
    assert Cell(1.2349, "1.234").agrees
    assert not Cell(1.2351, "1.234").agrees
    assert not Cell(9, "11").agrees
    assert not Cell(math.nan, "1").agrees
    assert Cell(None, "1.2").difference is None
    assert Cell(3.5).agrees
    assert Cell(2.5, "2.0").difference == 0.5
    assert Cell(1.429e5, "1.42e+05").agrees
    assert not Cell(1.431e5, "1.42e+05").agrees
    assert Cell(7.785e-6, "7.78e-06").agrees
    assert not Cell(7.795e-6, "7.78e-06").agrees


def test_table_as_text_and_as_data():
    table = Table(
        "Title",
        "n",
        ("ours and theirs", "theirs", "ours"),
        (
            Row(10, (Cell(1.25, "1.2"), Cell(None, "7.5"), Cell(0.123456))),
            Row("mixture", (Cell(142345.0, "1.41e+05"), Cell(None), Cell(None))),
        ),
        ("A note.",),
    )
    assert table.text() == "\n".join(
        [
            "Title",
            "",
            "              ours and theirs         theirs      ours",
            "      n       ours expected  diff.   expected      ours",
            "     10        1.2      1.2 +5e-02        7.5    0.1235",
            "mixture   1.42e+05 1.41e+05 +1e+03          -         -",
            "A note.",
        ]
    )
    assert table.disagreements == ["ours and theirs, n mixture: 142345.0, expected 1.41e+05"]
    first, second = table.as_dict()["rows"]
    assert (first["n"], second["n"]) == (10, "mixture")
    assert first["figures"]["ours and theirs"] == {
        "ours": 1.25,
        "expected": 1.2,
        "difference": pytest.approx(0.05),
        "agrees": True,
    }
    assert second["figures"]["theirs"]["ours"] is None


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [
        (0.790471488, 0.79047148838, "0.790471488"),
        (0.7904714, 0.7904716, "0.79047"),
        (108.7388, 108.7494, "108.7"),
        (84.64888, 84.65786, "84.648 to 84.658"),
        (0.5, 0.75, "0.5 to 0.75"),
        (0.0, 1 / 3, "0 to 0.33334"),
        (0.0, math.inf, "0 to Infinity"),
    ],
)
def test_cells_of_bounds_show_what_both_have(lower, upper, text):
    """Never a digit of which one bound says another; rounded outwards where few are common."""
    cell = Cell.between((lower, upper))
    assert cell.ours == upper
    assert cell.lower == lower
    assert cell.agrees
    table = Table("Title", "n", ("a",), (Row(1, (cell,)),))
    assert table.text().splitlines()[-1].split(maxsplit=1)[1] == text
    assert table.as_dict()["rows"][0]["figures"]["a"]["lower"] == lower
