"""What rounding to integers makes of additive noise, with mpmath: sums of tails, term by term."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from mpmath import mp, mpf

from reference.gaussian_mixtures import QuasiGaussian, multi_gaussian, scale_mixture
from reference.normal import tail

Tail = Callable[[mpf], mpf]


def laplace(scale: float, bound: float | None = None) -> Tail:
    """Return P(noise > x) for x >= 0."""
    s = mpf(scale)
    if bound is None:
        return lambda x: mp.exp(-x / s) / 2
    return lambda x: max(mp.expm1((bound - x) / s), mpf(0)) / mp.expm1(bound / s) / 2


def staircase(epsilon: float, step: float, gamma: float, bound: float | None = None) -> Tail:
    """Return P(noise > x) for x >= 0: densities e^-epsilon a step, from gamma on."""
    e, w, g = mpf(epsilon), mpf(step), mpf(gamma)
    fall = 1 - mp.exp(-e)

    def beyond(x: mpf) -> mpf:
        at = x / w - g
        if at < 0:
            return -at * mp.exp(e) + 1 / fall
        n = mp.floor(at)
        return mp.exp(-n * e) * (n + 1 - at + mp.exp(-e) / fall)

    cut = beyond(mpf(bound)) if bound else mpf(0)
    return lambda x: max(beyond(x) - cut, mpf(0)) / (beyond(mpf(0)) - cut) / 2


def tail_of(noise: object) -> Tail:
    """Return P(noise > x) for x >= 0 of a mechanism."""
    law = {field.name: getattr(noise, field.name) for field in dataclasses.fields(noise)}
    kind = type(noise).__name__
    if kind == "Gaussian":
        return lambda x: tail(x / mpf(law["sigma"]))
    if kind in ("Laplace", "TruncatedLaplace"):
        return laplace(law["scale"], law.get("bound"))
    if kind == "Staircase":
        return staircase(*law.values())
    if kind == "Tulap":
        bound = law["bound"] if law["bound"] < mp.inf else None
        return staircase(law["epsilon"], law["sensitivity"], 0.5, bound)
    return lambda x: law_of(noise).mass(x, mpf(10) ** 9)


def law_of(noise: object) -> object:
    """Return a mixture, which knows its density as well."""
    law = [getattr(noise, field.name) for field in dataclasses.fields(noise)]
    kinds = {
        "MultiGaussianMixture": multi_gaussian,
        "QuasiGaussianMixture": QuasiGaussian,
        "GaussianScaleMixture": scale_mixture,
    }
    return kinds[type(noise).__name__](*law)


def _terms(tail: Tail, first: mpf) -> Iterator[tuple[mpf, mpf]]:
    x, least = first, tail(first) * mpf(10) ** -40
    while (here := tail(x)) > least:
        yield x, here
        x += 1


def errors(tail: Tail, fraction: float = 0.0) -> tuple[mpf, mpf]:
    """Return E|K - theta| and E (K - theta)^2, theta that far above an integer, at most 1/2."""
    f = mpf(fraction)
    size, square = f, f * f
    for side in (-f, f):
        for x, probability in _terms(tail, mpf(1) / 2 + side):
            # From K = n to the next: |K - theta| grows by 1, but where theta is between them.
            crossed = side < 0 and x == mpf(1) / 2 + side
            size += probability * (1 - 2 * f if crossed else 1)
            square += 2 * x * probability
    return size, square
