"""Minimise a smooth function of a few numbers from inside smooth constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Function", "minimise_inside"]

Array = NDArray[np.float64]

Function = Callable[[Array], tuple[Array, Array]]
"""From a point, shape (n,), to values, shape (m,), and their gradients, shape (m, n)."""

_LONGEST_STEP = 0.5  # of any coordinate: they are logarithms, or about 1
_HALVINGS = 12
_DECREASE = 1e-4  # of what the slope promises, for a step to be taken
_DAMPING = 0.2


def minimise_inside(
    objective: Function,
    slacks: Function,
    start: Array,
    weights: Sequence[float],
    iterations: int,
) -> Array:
    """Return a point where the objective is nearly least among those where no slack is negative.

    The logarithmic barrier (Nocedal and Wright 2006, "Numerical Optimization", section 19.6): for
    each of the falling `weights`, minimise objective - weight sum(log(slacks)) by a quasi-Newton
    method, from where the last one ended. The barrier's own curvature is that of its first
    derivatives; that of the Lagrangian is learnt by damped BFGS updates (procedure 18.2). Every
    point on the way has positive slacks, and no step increases the function.

    Parameters
    ----------
    objective : callable
        One value.
    slacks : callable
        As many values each time.
    start : ndarray, shape (n,)
        All slacks must be positive here.
    weights : sequence of float
        Of the barrier. The last bounds what is lost: the number of binding constraints times it.
    iterations : int
        The most for each weight.
    """
    point: Array = start
    (value,), (gradient,) = objective(point)
    slack, jacobian = slacks(point)
    unlearnt = 0.1 * np.eye(point.size)
    curvature = unlearnt
    for weight in weights:
        for _ in range(iterations):
            multipliers = weight / slack
            downhill = jacobian.T @ multipliers - gradient
            hessian = curvature + (jacobian.T * (multipliers / slack)) @ jacobian
            step = _solution(hessian, downhill)
            promised = float(downhill @ step)
            if not promised > 0.01 * weight:
                break
            step *= min(1.0, _LONGEST_STEP / float(np.abs(step).max()))
            barrier = value - weight * np.log(slack).sum()
            for _ in range(_HALVINGS):
                (next_value,), (next_gradient,) = objective(point + step)
                next_slack, next_jacobian = slacks(point + step)
                if np.all(next_slack > 0):
                    next_barrier = next_value - weight * np.log(next_slack).sum()
                    if next_barrier < barrier - _DECREASE * float(downhill @ step):
                        break
                step *= 0.4
            else:
                if curvature is unlearnt:
                    break  # rounding, or a kink: the next weight may get further
                curvature = unlearnt
                continue
            change = (next_gradient - next_jacobian.T @ multipliers) - (
                gradient - jacobian.T @ multipliers
            )
            curvature = _updated(curvature, step, np.asarray(change))
            point = point + step
            value, gradient = next_value, next_gradient
            slack, jacobian = next_slack, next_jacobian
    return point


def _solution(hessian: Array, downhill: Array) -> Array:
    """Return the step to the least of the quadratic model, or steepest descent if it has none."""
    try:
        step = np.linalg.solve(hessian, downhill).astype(np.float64)
    except np.linalg.LinAlgError:
        return downhill.copy()
    return step if np.isfinite(step).all() else downhill.copy()


def _updated(curvature: Array, step: Array, change: Array) -> Array:
    """Return the curvature that also explains by `change` how the gradient changed over `step`."""
    predicted = curvature @ step
    energy = float(step @ predicted)
    if not energy > 0:
        return curvature
    agreement = float(step @ change)
    if agreement < _DAMPING * energy:  # keep it positive definite
        share = (1 - _DAMPING) * energy / (energy - agreement)
        change = share * change + (1 - share) * predicted
        agreement = float(step @ change)
    more = np.outer(change, change) / agreement - np.outer(predicted, predicted) / energy
    updated: Array = curvature + more
    return updated
