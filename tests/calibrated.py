"""Scales and costs in bounded domains as plain functions of numbers or arrays, for tests."""

import numpy as np

import tightnoise as tn
from tightnoise.reproduce.bounded import _noises

KINDS = {
    "truncated": (tn.calibrate.truncated_gaussian, tn.TruncatedGaussian, "sigma"),
    "rectified": (tn.calibrate.rectified_gaussian, tn.RectifiedGaussian, "sigma"),
    "bounded_laplace": (tn.calibrate.bounded_laplace, tn.BoundedLaplace, "scale"),
}


def _each(function, values):
    if np.ndim(values) == 0:
        return float(function(values))
    values = np.asarray(values)
    return np.array([function(value) for value in values.ravel()]).reshape(values.shape)


def _sensitivities(sensitivity):
    name = "coordinate_sensitivity" if np.ndim(sensitivity) else "sensitivity"
    return {name: sensitivity}


def scale_of(kind):
    """Return the function epsilon, lower, upper, sensitivity, delta -> the least scale."""
    calibrate, _, parameter = KINDS[kind]

    def scale(epsilon, lower, upper, sensitivity, delta=0.0):
        where = {"lower": lower, "upper": upper, **_sensitivities(sensitivity)}
        return _each(lambda e: getattr(calibrate(e, delta, **where), parameter), epsilon)

    return scale


def epsilon_of(kind):
    """Return the function scale, lower, upper, sensitivity, delta -> the cost's epsilon."""
    _, mechanism, _ = KINDS[kind]

    def epsilon(scale, lower, upper, sensitivity, delta=0.0):
        where = {**_sensitivities(sensitivity), "domain": (lower, upper)}
        return _each(lambda s: mechanism(s, lower, upper).cost(**where).epsilon(delta), scale)

    return epsilon


def theorem_sigma(epsilon, lower, upper, sensitivity):
    return _each(lambda e: _noises.theorem_sigma(e, lower, upper, sensitivity), epsilon)


def generalized_sigma(epsilon, lower, upper, sensitivity):
    return _each(lambda e: _noises.generalized_sigma(e, lower, upper, sensitivity), epsilon)
