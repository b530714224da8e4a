"""The paper's example: how well connected a graph is, a node's ties, and releases of both."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise import calibrate
from tightnoise.mechanisms import BoundedLaplace, TruncatedGaussian
from tightnoise.random import NoiseStream
from tightnoise.reproduce._paper import require_for_examples
from tightnoise.reproduce._table import Figure, Table
from tightnoise.reproduce.bounded._noises import EDGES, LAPLACE, LOWER, SENSITIVITIES, SIGMA, UPPER

Array = NDArray[np.float64]


class Query(NamedTuple):
    """The answers for one graph or several: of the shape of the graphs."""

    connectivity: Array
    degree: Array


def kite() -> Array:
    """Return Krackhardt's kite, 10 people and 18 ties, as an adjacency matrix."""
    require_for_examples("networkx", "networkx")
    import networkx

    return np.asarray(networkx.to_numpy_array(networkx.krackhardt_kite_graph()))


def complete() -> Array:
    """Return the graph of 10 nodes and all 45 edges."""
    return np.ones((10, 10)) - np.eye(10)


def query(adjacency: Array, node: int) -> Query:
    """Return the algebraic connectivity, and the degree of `node`.

    Parameters
    ----------
    adjacency : ndarray of shape (..., nodes, nodes)
        Of 0 and 1, symmetric.
    node : int

    Examples
    --------
    A ring of four nodes:

    >>> import numpy as np
    >>> from tightnoise.reproduce.bounded._graph import query
    >>> ring = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0.0]])
    >>> answer = query(ring, node=0)
    >>> round(float(answer.connectivity), 12), float(answer.degree)
    (2.0, 2.0)
    """
    degrees = adjacency.sum(axis=-1)
    laplacian = degrees[..., None] * np.eye(degrees.shape[-1]) - adjacency
    return Query(np.linalg.eigvalsh(laplacian)[..., 1], degrees[..., node])


def with_edges_changed(adjacency: Array, count: int) -> Array:
    """Return all graphs that differ in `count` edges, one a row."""
    nodes = len(adjacency)
    ends = np.array(list(itertools.combinations(range(nodes), 2)))
    changed = np.array(list(itertools.combinations(range(len(ends)), count)))
    graphs = np.repeat(adjacency[None], len(changed), axis=0)
    which = np.arange(len(changed))
    for edges in changed.T:
        i, j = ends[edges].T
        graphs[which, i, j] = graphs[which, j, i] = 1.0 - graphs[which, i, j]
    return graphs


ATTAINED = (1.0 + EDGES, 1.0 * EDGES)
"""What `EDGES` edges can really change connectivity and degree by: see `changes_table`."""

RELEASES = 100_000

Mechanism = TruncatedGaussian | BoundedLaplace


def changes_table() -> Table:
    """Return the greatest changes over all graphs within two edges of two graphs.

    By Weyl's inequality the connectivity changes by at most the norm of the change of the
    Laplacian. That is the Laplacian of the new edges less that of the lost ones, with a norm of at
    most the larger of theirs, and the Laplacian of k edges has one of at most the largest sum of
    the degrees of an edge's ends (Anderson and Morley 1985), which is k + 1 at most: less than 2k
    from k = 2 on. The complete graph that loses k edges at one node attains it.
    """
    graphs = {"Krackhardt's kite": kite(), "complete graph": complete()}
    changed = {
        name: (*_changes(graph, 1)[:2], *_changes(graph, 2)) for name, graph in graphs.items()
    }
    single = 2.0, 1.0
    return Table.of(
        "Greatest change of the query, over all graphs that differ in so many edges",
        "graph",
        ("connectivity, 1", "degree, 1", "connectivity, 2", "degree, 2", "L2, 2"),
        {
            **changed,
            "any graph": (*single, *ATTAINED, math.hypot(*ATTAINED)),
            "the paper": (*single, *SENSITIVITIES, math.hypot(*SENSITIVITIES)),
        },
        "Of the node with most ties. No two edges change the connectivity by 4: by 3 at most, "
        "which is what the complete graph loses with two edges of one node. The paper doubles what "
        "a single edge may do.",
    )


def _changes(graph: Array, edges: int) -> tuple[float, ...]:
    node = _busiest(graph)
    before, after = query(graph, node), query(with_edges_changed(graph, edges), node)
    changes = [np.abs(new - old) for new, old in zip(after, before, strict=True)]
    return tuple(float(change.max()) for change in (*changes, np.hypot(*changes)))


def _busiest(graph: Array) -> int:
    return int(np.argmax(graph.sum(axis=-1)))


def _mechanisms(epsilon: float) -> dict[str, Mechanism]:
    attained: Any = {"lower": LOWER, "upper": UPPER, "coordinate_sensitivity": ATTAINED}
    sigmas = {
        "generalized Gaussian": SIGMA["generalized"](epsilon),
        "Theorem 13": SIGMA["Theorem 13"](epsilon),
        "exact, L2": SIGMA["ball"](epsilon),
        "exact, 4 and 2": SIGMA["box"](epsilon),
        "exact, 3 and 2": float(calibrate.truncated_gaussian(epsilon, **attained).sigma),
    }
    scales = {
        "bounded Laplace, L2": LAPLACE["ball"](epsilon),
        "bounded Laplace, 4 and 2": LAPLACE["box"](epsilon),
        "bounded Laplace, 3 and 2": float(calibrate.bounded_laplace(epsilon, **attained).scale),
    }
    domain = np.array(LOWER), np.array(UPPER)
    return {
        **{name: TruncatedGaussian(sigma, *domain) for name, sigma in sigmas.items()},
        **{name: BoundedLaplace(scale, *domain) for name, scale in scales.items()},
    }


def releases_table(epsilon: float, releases: int = RELEASES) -> Table:
    """Return how far releases of the kite's two numbers are off, each epsilon-DP."""
    graph = kite()
    truth = np.array(query(graph, _busiest(graph)))
    middle = 0.5 * np.add(LOWER, UPPER)
    mechanisms = _mechanisms(epsilon)
    sampled = {
        name: _release(mechanism, truth, releases, seed)
        for seed, (name, mechanism) in enumerate(mechanisms.items())
    }
    return Table.of(
        f"Krackhardt's kite, connectivity {truth[0]:.3f} and degree {truth[1]:g}, at epsilon "
        f"{epsilon:g}",
        "mechanism",
        ("sigma or scale", "connectivity", "degree", "squared error", "its se", "expected error"),
        {**sampled, "always the middle": (None, *middle, None, None, _square(middle, truth))},
        f"Means of {releases} releases, and the standard error of that of the squared errors; what "
        "is expected of them by the moments of the output. L2: of both together, 2 sqrt(5); 3 and "
        "2: what two edges can really change.",
    )


def _release(mechanism: Mechanism, truth: Array, releases: int, seed: int) -> tuple[Figure, ...]:
    noisy = mechanism.sample(np.tile(truth, (releases, 1)), rng=NoiseStream(seed))
    squares = np.sum((noisy - truth) ** 2, axis=1)
    expected = float(np.sum(mechanism.var(truth))) + _square(mechanism.mean(truth), truth)
    figures = (
        mechanism.scale if isinstance(mechanism, BoundedLaplace) else mechanism.sigma,
        *noisy.mean(axis=0),
        squares.mean(),
        squares.std(ddof=1) / math.sqrt(releases),
        expected,
    )
    return tuple(float(figure) for figure in figures)


def _square(answer: Array, truth: Array) -> float:
    return float(np.sum((answer - truth) ** 2))


EXAMPLES: tuple[Callable[[], Table], ...] = (
    changes_table,
    *(functools.partial(releases_table, epsilon) for epsilon in (1.0, 3.0)),
)
"""What computes each example."""
