"""The query of the paper's example: how well connected a graph is, and how many ties a node has."""

from __future__ import annotations

import importlib.util
import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Query(NamedTuple):
    """The answers for one graph or several: of the shape of the graphs."""

    connectivity: Array
    degree: Array


def require_networkx() -> None:
    """Raise ModuleNotFoundError, with how to install it, if networkx is missing."""
    if importlib.util.find_spec("networkx") is None:
        raise ModuleNotFoundError("the examples need networkx: pip install 'tightnoise[examples]'")


def kite() -> Array:
    """Return Krackhardt's kite, 10 people and 18 ties, as an adjacency matrix."""
    require_networkx()
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
