"""What is done to the gradients of a batch before anybody sees them, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from tightnoise import calibrate
from tightnoise.costs import Cost
from tightnoise.leakage import log_bayes_capacity
from tightnoise.mechanisms import Gaussian, LiftedVonMisesFisher, VonMisesFisher
from tightnoise.random import NoiseStream
from tightnoise.reproduce.reconstruction._network import clipped_gradient, cross_entropy
from tightnoise.torch import release

Kind = Literal["none", "clip", "gaussian", "directions", "lifted"]

CLIP = 1.0
"""The largest norm of one record's gradient."""

ANCHOR = 64.0
"""Of the lifted directions: half of the largest norm of a sum of 128 gradients."""


@dataclass(frozen=True)
class Noise:
    """A kind of noise, and its parameter: sigma or kappa, for a sum of clipped gradients.

    "none" is the gradient as it is, "clip" the sum of the clipped ones, both without noise;
    "directions" has von Mises-Fisher noise on the direction of that sum, "lifted" beside an anchor.
    """

    kind: Kind
    parameter: float = 0.0

    @property
    def label(self) -> str:
        return f"{self.kind} {self.parameter:.6g}" if self.parameter else self.kind

    def released(
        self, model: torch.nn.Module, x: torch.Tensor, y: torch.Tensor, rng: NoiseStream
    ) -> torch.Tensor:
        """Return what is seen of a batch's gradient: one vector, as long as there are weights."""
        if self.kind == "none":
            loss = cross_entropy(model(x), y, reduction="sum")
            parts = torch.autograd.grad(loss, list(model.parameters()))
            return torch.cat([part.reshape(-1) for part in parts])
        total = clipped_gradient(model, x, y, CLIP)
        if self.kind == "clip":
            return total
        if self.kind == "gaussian":
            return release([total], Gaussian(self.parameter), rng=rng)[0]
        if self.kind == "directions":
            mechanism = VonMisesFisher(self.parameter, total.numel())
            return release([total / total.norm()], mechanism, rng=rng)[0]
        lifted = LiftedVonMisesFisher(self.parameter, total.numel(), ANCHOR)
        return torch.from_numpy(lifted.sample(total.numpy(), rng=rng)[:-1])

    def cost(self, weights: int, *, replaced: bool) -> Cost:
        """Return the cost of one release, for a record that is replaced, or added or removed."""
        adjacency: Literal["replace-one", "add-remove"] = (
            "replace-one" if replaced else "add-remove"
        )
        change = 2 * CLIP if replaced else CLIP
        if self.kind == "gaussian":
            return Gaussian(self.parameter).cost(sensitivity=change, adjacency=adjacency)
        if self.kind == "directions":
            # One record may turn the sum of the others around, also when it only joins them.
            return VonMisesFisher(self.parameter, weights).cost(adjacency=adjacency)
        lifted = LiftedVonMisesFisher(self.parameter, weights, ANCHOR)
        return lifted.cost(sensitivity=change, adjacency=adjacency)


def as_private(kappa: float, weights: int) -> Noise:
    """Return Gaussian noise that costs what directions cost, or hardly more, on any sample.

    For records that are replaced. The mechanism is mu-GDP; so is Gaussian noise of sigma 2/mu on
    a sum that moves by 2.
    """
    return Noise("gaussian", 2 * CLIP / VonMisesFisher(kappa, weights).cost().gdp_mu)


def as_private_once(kappa: float, weights: int, delta: float) -> Noise:
    """Return Gaussian noise of which one release costs what one of directions costs, at `delta`."""
    epsilon = Noise("directions", kappa).cost(weights, replaced=True).epsilon(delta)
    found = calibrate.gaussian(epsilon, delta, sensitivity=2 * CLIP)
    return Noise("gaussian", float(found.sigma))


def lifted_as_private(kappa: float, weights: int) -> Noise:
    """Return directions beside an anchor that cost at most what those without cost."""
    one = LiftedVonMisesFisher(1.0, weights, ANCHOR).cost(sensitivity=2 * CLIP)
    return Noise("lifted", VonMisesFisher(kappa, weights).cost().gdp_mu / one.gdp_mu)


def capacity(noise: Noise, weights: int, records: int) -> float:
    """Return the logarithm of the Bayes capacity of one release of a sum of so many records.

    The sum lies in a ball of that radius; its direction can be any.
    """
    if noise.kind == "gaussian":
        radius = CLIP * records
        return log_bayes_capacity(Gaussian(noise.parameter), dim=weights, radius=radius)
    return log_bayes_capacity(VonMisesFisher(noise.parameter, weights))


def as_capacious(noise: Noise, weights: int, records: int) -> Noise:
    """Return the noise of the other kind, of the two, with the same capacity."""
    target = capacity(noise, weights, records)

    def make(clarity: float) -> Noise:
        if noise.kind == "gaussian":
            return Noise("directions", clarity)
        return Noise("gaussian", 1 / clarity)

    lower, upper = 1e-3, 1e9
    while upper > lower * (1 + 1e-9):
        middle = (lower * upper) ** 0.5
        if capacity(make(middle), weights, records) < target:
            lower = middle
        else:
            upper = middle
    return make(upper)
