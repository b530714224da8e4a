"""Plots from Python, and what a notebook shows of tables."""

from __future__ import annotations

import dataclasses
import re
from html import unescape

import pytest

import tightnoise as tn

RANKINGS = {
    "best_noise": lambda: tn.best_noise(1.0, sensitivity=1.0),
    "compare_bounded": lambda: tn.compare_bounded(1.0, lower=0, upper=10, sensitivity=1),
}


@pytest.fixture
def axes():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    return figure.subplots(1, 2)


def test_a_cost_is_drawn(axes):
    cost = tn.Gaussian(1.0).cost(sensitivity=1.0) * 3
    profile, tradeoff = cost.plot(1e-5, axes=axes)
    assert (profile, tradeoff) == tuple(axes)
    assert profile.get_ylabel() == "delta"
    (marked,) = [line for line in profile.lines if line.get_marker() == "o"]
    assert marked.get_xdata()[0] == cost.epsilon(1e-5)
    rates = tradeoff.lines[0].get_xdata()
    assert (tradeoff.lines[0].get_ydata() >= cost.tradeoff(rates) - 1e-12).all()
    axes[0].clear()
    assert cost.plot_tradeoff(axes=axes[0]) is axes[0]
    assert axes[0].get_xlabel() == "false-positive rate"
    assert tn.Cost().plot(1e-5, axes=axes) == tuple(axes)  # nothing was released


@pytest.mark.parametrize("name", list(RANKINGS))
def test_a_ranking_is_drawn(name, axes, monkeypatch):
    for points in ("_EPSILONS", "_BOUNDED_EPSILONS"):
        monkeypatch.setattr(f"tightnoise.compare._figures.{points}", 2)
    ranking = RANKINGS[name]()
    assert ranking.plot(axes=list(axes)) == tuple(axes)
    drawn = {line.get_label() for line in axes[0].lines}
    assert {choice.name for choice in ranking} <= drawn


def test_a_new_figure_is_pyplots():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    place = tn.Cost.of_gdp(1.0).plot_tradeoff()
    assert pyplot.gcf() is place.figure
    pyplot.close("all")


def test_axes_that_are_none(axes):
    cost = tn.Cost.of_gdp(1.0)
    with pytest.raises(ValueError, match="axes must be 2 axes of matplotlib; got"):
        cost.plot(1e-5, axes=axes[0])
    with pytest.raises(ValueError, match="axes must be 1 axes of matplotlib; got 'left'"):
        cost.plot_tradeoff(axes="left")
    with pytest.raises(ValueError, match="delta"):
        cost.plot(2.0, axes=axes)


def cells(html: str) -> list[str]:
    return re.findall(r"<td[^>]*>(.*?)</td>", html)


@pytest.mark.parametrize(
    "make",
    [
        *RANKINGS.values(),
        lambda: (tn.Cost.of_pure(0.1) * 10).explain(1e-6),
        lambda: tn.Gaussian(10.0).individual_cost_at([3.0], [[1.0], [0.5]]).report(1e-5),
    ],
)
def test_a_notebook_shows_what_is_printed(make):
    shown = make()
    words = unescape(re.sub(r"<[^>]*>", " ", shown._repr_html_())).split()
    assert words == str(shown).split()


def test_what_is_shown_is_escaped():
    ranking = tn.best_noise(1.0, sensitivity=1.0)
    choice = ranking.best
    named = dataclasses.replace(choice, name="<script>&")
    html = dataclasses.replace(ranking, choices=(named,))._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;&amp;" in cells(html)
