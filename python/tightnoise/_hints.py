"""What other libraries call what this one has: for messages, not for signatures."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_SEED = "rng=tightnoise.random.NoiseStream(seed), for tests; a release has no seed"

ARGUMENTS: Mapping[str, str] = {
    "seed": _SEED,
    "generator": _SEED,
    "random_state": _SEED,
    "rng": "random_state=tightnoise.random.NoiseStream(seed)",
    "size": "an array of that shape as the values: sample(np.zeros(size)), or rvs(size=size)",
    "loc": "the value itself as theta",
    "scale": "the scale to the mechanism: tightnoise.Laplace(scale).sample(theta)",
    "n_samples": "rvs(size=n_samples)",
}
"""Arguments of samplers of NumPy, SciPy and others, and what to pass here."""

PARAMETERS: Mapping[str, str] = {
    "loc": "the value itself to sample, as theta",
    "mu": "the value itself to sample, as theta",
    "scale": "sigma=",
    "a": "lower=, in units of the value",
    "b": "upper=, in units of the value",
    "epsilon": "a scale, or let tightnoise.calibrate find it for a budget",
    "delta": "a scale, or let tightnoise.calibrate find it for a budget",
    "sensitivity": "it to cost(sensitivity=...), or to tightnoise.calibrate",
}
"""Parameters of SciPy's distributions and of diffprivlib's mechanisms, likewise."""

TRAINING: Mapping[str, str] = {
    "target_epsilon": "epsilon=",
    "target_delta": "delta=",
    "sample_rate": "sampling_rate=",
    "sigma": "noise_multiplier=",
    "accountant": "nothing: the tightest of all is taken",
    "epsilon_tolerance": "nothing: answers are exact to 1e-9",
}
"""Arguments of Opacus' functions for a training, likewise."""

ACCOUNTANTS: Mapping[str, str] = {
    "get_epsilon": "epsilon(delta)",
    "get_privacy_spent": "epsilon(delta)",
    "get_delta": "delta(epsilon)",
    "get_optimizer_hook_fn": "tightnoise.torch.OpacusAccountant that Opacus takes",
    "history": "cost, whose terms say what was composed",
    "total": "epsilon(delta)",
    "spend": "compose(cost), or tightnoise.PrivacyFilter.spend(cost) for a budget",
    "check": "tightnoise.PrivacyFilter.admits(cost)",
}
"""Methods of the accountants of Opacus, dp-accounting and diffprivlib."""

MECHANISMS: Mapping[str, str] = {
    "randomise": "sample(value)",
    "release": "sample(value)",
    "add_noise": "sample(value)",
    "pmf": "pdf, which is the probability where outputs are discrete",
    "logpmf": "logpdf, which is the log probability where outputs are discrete",
    "moment": "stats(theta, moments='mv')",
    "expect": "mean, var, entropy",
    "support": "ppf(0) and ppf(1)",
    "rdp": "cost(...).rdp(), or renyi_divergence(theta, theta_prime, alpha)",
    "epsilon_at": "cost(...).epsilon(delta)",
    "get_privacy_loss_distribution": "cost(...).losses()",
}
"""Methods of SciPy's distributions and of other libraries' mechanisms."""

NAMES: Mapping[str, str] = {
    "PrivacyEngine": "tightnoise.torch.PrivacyEngine",
    "RDPAccountant": "tightnoise.Accountant",
    "RdpAccountant": "tightnoise.Accountant",
    "PRVAccountant": "tightnoise.Accountant",
    "PLDAccountant": "tightnoise.Accountant",
    "BudgetAccountant": "tightnoise.PrivacyFilter",
    "GaussianMechanism": "tightnoise.Gaussian",
    "LaplaceMechanism": "tightnoise.Laplace",
    "GaussianAnalytic": "tightnoise.calibrate.gaussian(epsilon, delta, sensitivity=...)",
    "LaplaceBoundedDomain": "tightnoise.BoundedLaplace",
    "LaplaceTruncated": "tightnoise.RectifiedGaussian, or Laplace(...).sample and np.clip",
    "get_noise_multiplier": "tightnoise.calibrate.noise_multiplier",
    "compute_dp_sgd_privacy": "tightnoise.Gaussian(...).cost(...).sampled(rate, 'poisson') * steps",
    "truncnorm": "tightnoise.TruncatedGaussian",
    "vonmises_fisher": "tightnoise.VonMisesFisher",
}
"""Classes and functions of Opacus, dp-accounting, diffprivlib and SciPy."""


def check_keywords(
    function: str,
    given: Iterable[str],
    known: Collection[str],
    hints: Mapping[str, str] = ARGUMENTS,
) -> None:
    """Raise the TypeError of an unknown argument, with what to pass instead if that is known."""
    for name in given:
        if name not in known:
            hint = f": pass {hints[name]}" if name in hints else ""
            raise TypeError(f"{function}() has no argument {name!r}{hint}")


def hinted(hints: Mapping[str, str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that makes `check_keywords` answer for an unknown argument."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        called = function.__qualname__.removesuffix(".__init__")
        known = frozenset(inspect.signature(function).parameters)

        @functools.wraps(function)
        def checked(*args: P.args, **options: P.kwargs) -> R:
            try:
                return function(*args, **options)
            except TypeError:
                check_keywords(called, options, known, hints)
                raise

        return checked

    return decorated


def missing(thing: object, name: str, hints: Mapping[str, str]) -> AttributeError:
    """Return the error for an attribute that does not exist, with what there is instead."""
    kind = f"module {thing!r}" if isinstance(thing, str) else f"{type(thing).__name__!r} object"
    hint = f": here it is {hints[name]}" if name in hints else ""
    return AttributeError(f"{kind} has no attribute {name!r}{hint}")
