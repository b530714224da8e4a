"""(epsilon, delta) guarantees, each so many times: what a Cost says of them."""

import numpy as np

import tightnoise as tn
from tightnoise._core import cost as core


def guarantees(epsilon, delta, count):
    """Return the Cost of arrays of guarantees that broadcast."""
    each = np.broadcast_arrays(epsilon, delta, count)
    terms = zip(*(array.ravel().tolist() for array in each), strict=True)
    return sum((tn.Cost.of_approximate(e, d) * int(n) for e, d, n in terms), tn.Cost())


def composed_epsilon(epsilon, delta, count, total_delta):
    """Return the epsilon of all of them together."""
    return guarantees(epsilon, delta, count).epsilon(total_delta)


def composed_delta(epsilon, delta, count, total_epsilon):
    """Return the delta of all of them together."""
    return guarantees(epsilon, delta, count).delta(total_epsilon)


def _arrays(*values):
    arrays = np.broadcast_arrays(*np.atleast_1d(*values))
    return [np.ascontiguousarray(array, dtype=np.float64) for array in arrays]


def closed_form_epsilon(epsilon, delta, count, total_delta):
    """Return what the theorem in closed form proves."""
    return core.closed_form_epsilon_upper(*_arrays(epsilon, delta, count), total_delta)


def closed_form_delta(epsilon, delta, count, total_epsilon):
    """Return what the theorem in closed form proves."""
    return core.closed_form_delta_upper(*_arrays(epsilon, delta, count), total_epsilon)
