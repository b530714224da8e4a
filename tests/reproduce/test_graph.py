"""The graph of the paper's example: what edges change, and releases of the two numbers."""

import itertools
import math

import numpy as np
import pytest

from tightnoise.reproduce.bounded import _graph as examples
from tightnoise.reproduce.bounded._graph import complete, kite, query, with_edges_changed
from tightnoise.reproduce.bounded._noises import EDGES, LOWER, SENSITIVITIES, UPPER


def random_graph(rng, nodes, density):
    upper = np.triu(rng.random((nodes, nodes)) < density, 1)
    return (upper + upper.T).astype(float)


# The query


def test_connectivity_is_that_of_known_graphs():
    path = np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1)
    ring = path.copy()
    ring[0, 9] = ring[9, 0] = 1
    star = np.zeros((10, 10))
    star[0, 1:] = star[1:, 0] = 1
    apart = complete()
    apart[:5, 5:] = apart[5:, :5] = 0
    graphs = np.array([path, ring, star, complete(), apart])
    answers = query(graphs, node=0)
    expected = [2 - 2 * math.cos(math.pi / 10), 2 - 2 * math.cos(math.pi / 5), 1, 10, 0]
    np.testing.assert_allclose(answers.connectivity, expected, atol=1e-12)
    np.testing.assert_array_equal(answers.degree, [1, 2, 9, 9, 4])


def test_changed_graphs_are_all_there_are(rng):
    graph = random_graph(rng, 5, 0.5)
    for count in (1, 2, 3):
        changed = with_edges_changed(graph, count)
        assert len({each.tobytes() for each in changed}) == len(changed) == math.comb(10, count)
        differences = np.triu(changed != graph, 1)
        assert (differences.sum(axis=(1, 2)) == count).all()
        assert (changed == changed.transpose(0, 2, 1)).all()
        assert (np.diagonal(changed, axis1=1, axis2=2) == 0).all()


# What edges change


@pytest.mark.parametrize("density", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("edges", [1, 2])
def test_no_edges_change_the_query_by_more(rng, density, edges):
    graph = random_graph(rng, 10, density)
    before, after = query(graph, 3), query(with_edges_changed(graph, edges), 3)
    assert np.abs(after.connectivity - before.connectivity).max() <= 1 + edges + 1e-9
    assert np.abs(after.degree - before.degree).max() <= edges


@pytest.mark.parametrize("nodes", [4, 5])
def test_no_two_edges_of_any_small_graph_do(nodes):
    """All graphs of so few nodes, and all that differ from each in two edges."""
    ends = list(itertools.combinations(range(nodes), 2))
    worst = 0.0
    for present in itertools.product((0.0, 1.0), repeat=len(ends)):
        graph = np.zeros((nodes, nodes))
        for (i, j), edge in zip(ends, present, strict=True):
            graph[i, j] = graph[j, i] = edge
        before, after = query(graph, 0), query(with_edges_changed(graph, EDGES), 0)
        worst = max(worst, np.abs(after.connectivity - before.connectivity).max())
    assert worst == pytest.approx(3.0, abs=1e-12)


def test_complete_graph_attains_what_edges_can_change():
    graph = complete()
    for edges in (1, 2, 3):
        lost = graph.copy()
        lost[0, 1 : edges + 1] = lost[1 : edges + 1, 0] = 0
        before, after = query(graph, 0), query(lost, 0)
        assert before.connectivity - after.connectivity == pytest.approx(edges + 1, abs=1e-12)
        assert before.degree - after.degree == edges
    assert examples.ATTAINED == (3.0, 2.0)
    assert all(np.less_equal(examples.ATTAINED, SENSITIVITIES))


# The examples


def test_kite():
    pytest.importorskip("networkx")
    graph = kite()
    assert graph.sum() == 2 * 18
    assert sorted(graph.sum(axis=0)) == [1, 2, 3, 3, 3, 4, 4, 5, 5, 6]
    answer = query(graph, 3)
    assert answer.degree == graph.sum(axis=0).max()
    assert float(answer.connectivity) == pytest.approx(0.33732, abs=5e-6)
    assert all(np.less_equal(LOWER, answer))
    assert all(np.less_equal(answer, UPPER))


def test_changes():
    pytest.importorskip("networkx")
    rows = {row.setting: [cell.ours for cell in row.cells] for row in examples.changes_table().rows}
    assert rows["complete graph"] == pytest.approx([2, 1, 3, 2, math.sqrt(13)])
    assert rows["any graph"] == pytest.approx(rows["complete graph"])
    assert rows["the paper"] == pytest.approx([2, 1, 4, 2, 2 * math.sqrt(5)])
    kites = rows["Krackhardt's kite"]
    assert all(np.less_equal(kites, rows["any graph"]))
    assert kites[0] == pytest.approx(0.604, abs=5e-4)


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_releases_err_as_their_moments_say(epsilon):
    """Means of 20 000: 5.5 standard errors, so that 9 of them fail once in 2e6 runs."""
    pytest.importorskip("networkx")
    table = examples.releases_table(epsilon, releases=20_000)
    *rows, middle = table.rows
    assert len(rows) == 8
    for row in rows:
        _, connectivity, degree, error, deviation, expected = (cell.ours for cell in row.cells)
        assert abs(error - expected) < 5.5 * deviation
        assert LOWER[0] < connectivity < UPPER[0]
        assert LOWER[1] < degree < UPPER[1]
    assert max(map(len, table.text().splitlines())) <= 120
    expected = {row.setting: row.cells[-1].ours for row in rows}
    assert expected["exact, 3 and 2"] < expected["exact, 4 and 2"] < expected["exact, L2"]
    assert expected["exact, L2"] < expected["Theorem 13"] < expected["generalized Gaussian"]
    # At epsilon 1 nothing here does better than to answer without the graph.
    assert (min(expected.values()) < middle.cells[-1].ours) == (epsilon > 1)
