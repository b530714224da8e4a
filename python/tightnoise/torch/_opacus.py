"""Opacus with any mechanism's noise and this package's accounting."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import Any, cast

import opacus
import torch
from opacus.accountants import IAccountant
from opacus.accountants.registry import register_accountant
from opacus.optimizers import DPOptimizer as OpacusOptimizer
from opacus.optimizers.optimizer import _check_processed_flag, _mark_as_processed
from torch.distributed.fsdp import FSDPModule

from tightnoise._accountant import Accountant
from tightnoise._files import write_whole
from tightnoise._validate import positive
from tightnoise.costs import Cost
from tightnoise.mechanisms import Gaussian, Mechanism
from tightnoise.random import NoiseStream
from tightnoise.torch._clipping import clip_scales, scaled_sum
from tightnoise.torch._release import Sampler, release, widened

_NAME = "tightnoise"
_SAME = 1e-9  # relative: a multiplier that was rounded
_DRAWN = 2.0**24  # of what a record's chance is drawn: `torch.rand` makes multiples of 2^-24


class OpacusAccountant(IAccountant):  # type: ignore[misc]
    """`Accountant` for Opacus: ``opacus.PrivacyEngine(accountant="tightnoise")``.

    It is registered with Opacus when this class is first used. `get_epsilon` is exact for sampled
    Gaussian noise, and with `PrivacyEngine` that of its mechanism, in both directions. Opacus' own
    engine does not say whether batches are shuffled, or hold random examples in place of none:
    with these the answer is too low. `PrivacyEngine` refuses them.

    Attributes
    ----------
    is_sampled : bool
        Whether all batches were Poisson samples: of others no epsilon is known. `PrivacyEngine`
        says so, and saved states do.

    Examples
    --------
    >>> import tightnoise as tn
    >>> accountant = tn.torch.OpacusAccountant()
    >>> accountant.step(noise_multiplier=1.0, sample_rate=0.01)
    >>> round(accountant.get_epsilon(1e-5), 6)
    0.19945
    """

    def __init__(self) -> None:
        self.history: list[tuple[float, float, int]] = []
        self.is_sampled = True
        self._ledger = Accountant()

    @property
    def cost(self) -> Cost:
        """Return what has been released so far; ValueError without Poisson sampling."""
        if not self.is_sampled:
            raise ValueError(
                "an epsilon needs poisson_sampling=True: no bound is known for shuffled batches"
            )
        return self._ledger.cost

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Add one step of Gaussian noise on a Poisson sample."""
        self._ledger.step(noise_multiplier, sample_rate)
        self._told(noise_multiplier, sample_rate)

    def compose(self, cost: Cost, sample_rate: float, noise_multiplier: float) -> None:
        """Add a release on a Poisson sample; the multiplier is for Opacus' history alone."""
        self._ledger.compose(cost.sampled(sample_rate, "poisson") if sample_rate < 1 else cost)
        self._told(noise_multiplier, sample_rate)

    def _told(self, noise_multiplier: float, sample_rate: float) -> None:
        if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
            count = self.history.pop()[2] + 1
        else:
            count = 1
        self.history.append((noise_multiplier, sample_rate, count))

    def get_epsilon(self, delta: float, **kwargs: Any) -> float:
        """Return epsilon: never below the truth; ValueError without Poisson sampling."""
        if kwargs:
            raise TypeError(f"get_epsilon takes delta alone; got {', '.join(kwargs)}, too")
        return self.cost.epsilon(delta)

    def __len__(self) -> int:
        return sum(count for *_, count in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """Return its name in Opacus' registry."""
        return _NAME

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[OpacusOptimizer], None]:
        """Return what is called at each step of an optimizer.

        A record may be in each of several batches that were added up before a step, each with a
        gradient of the whole clip: it counts as in a sample of as many times the rate, with one of
        as many clips. Opacus' sampler takes a record where a multiple of 2^-24 is below the rate:
        with the next such multiple as its probability. Where `torch.set_default_device` has a GPU
        draw it, that number is (k + 1/2) / 2^32, rounded twice to float32, and 0 in place of 1.
        """
        on_cpu = math.ceil(sample_rate * _DRAWN) / _DRAWN
        on_gpu = sample_rate * (1.0 + 4.0 / _DRAWN) + 1.0 / _DRAWN

        def hook(optimizer: OpacusOptimizer) -> None:
            batches = optimizer.accumulated_iterations
            drawn_rate = on_cpu if torch.get_default_device().type == "cpu" else on_gpu
            rate = min(drawn_rate * batches, 1.0)
            noise_multiplier = optimizer.noise_multiplier / batches
            if isinstance(optimizer, DPOptimizer):
                self.compose(optimizer.cost_of(batches), rate, noise_multiplier)
            else:
                self.step(noise_multiplier=noise_multiplier, sample_rate=rate)

        return hook

    def state_dict(self, destination: object = None) -> Any:
        """Return the state, as Opacus saves it, with the ledger in it."""
        state = super().state_dict(destination)
        state["ledger"] = self._ledger.state_dict()
        state["is_sampled"] = self.is_sampled
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state; ValueError, and nothing changed, where it is none."""
        if state_dict is None or not {"ledger", "is_sampled"} <= set(state_dict):
            raise ValueError("state_dict must hold ledger and is_sampled; got none")
        is_sampled = state_dict["is_sampled"]
        if not isinstance(is_sampled, bool):
            raise ValueError(f"is_sampled must be True or False in state_dict; got {is_sampled!r}")
        ledger = Accountant()
        ledger.load_state_dict(state_dict["ledger"])
        super().load_state_dict(state_dict)
        self.history = [(noise, rate, count) for noise, rate, count in self.history]
        self._ledger = ledger
        self.is_sampled &= is_sampled  # what goes on may be shuffled, too


register_accountant(_NAME, OpacusAccountant, force=True)


class DPOptimizer(OpacusOptimizer):  # type: ignore[misc]
    """Opacus' optimizer with any mechanism's noise on the sum of the clipped gradients.

    Over several workers the sums are added up before the noise, which is drawn once
    (`release`); Opacus' own adds noise on one rank first, which bounded noise does not allow.

    Parameters
    ----------
    optimizer : torch.optim.Optimizer
    mechanism : Mechanism
        For vectors, with ``cost(sensitivity=...)``; in units of the clipped sum.
    max_grad_norm : float
        The L2 clip of each example's gradient.
    expected_batch_size : float
        Of one worker, which the sum is divided by where the loss is a mean.
    rng : NoiseStream, optional
        Where the noise comes from.
    is_distributed : bool
        Whether to add up over the ranks of `torch.distributed`.
    **options
        Those of Opacus' optimizer.

    Raises
    ------
    ValueError
        If a parameter is bfloat16 or float16, in which sums would move by far more than the clip;
        at a step, if one has no gradient, or the clip or the multiplier was changed, as Opacus'
        schedulers do, or it is a `torch.amp.GradScaler`'s.
    TypeError
        If the mechanism has no cost for an L2 sensitivity.

    Examples
    --------
    >>> import tightnoise as tn
    >>> import torch
    >>> net = torch.nn.Linear(4, 3)
    >>> optimizer = tn.torch.DPOptimizer(
    ...     torch.optim.SGD(net.parameters(), lr=0.1),
    ...     mechanism=tn.RectifiedGaussian(1.0, -3.0, 3.0),
    ...     max_grad_norm=1.0,
    ...     expected_batch_size=64,
    ... )
    """

    _step_supports_amp_scaling = True  # has `torch.amp.GradScaler` leave the step to this class

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        *,
        mechanism: Mechanism,
        max_grad_norm: float,
        expected_batch_size: float,
        rng: NoiseStream | None = None,
        is_distributed: bool = False,
        **options: Any,
    ) -> None:
        clip = positive("max_grad_norm", max_grad_norm)
        self.mechanism, self.rng, self.is_distributed = mechanism, rng, is_distributed
        self.cost = cost_of_sum(mechanism, clip)
        super().__init__(
            optimizer,
            noise_multiplier=_multiplier(mechanism, clip) or 0.0,
            max_grad_norm=clip,
            expected_batch_size=expected_batch_size,
            **options,
        )
        self._told = self.max_grad_norm, self.noise_multiplier
        for i, p in enumerate(self.params):
            if p.dtype != widened(p.dtype):
                raise ValueError(
                    f"parameters must be float32 or float64 (torch.autocast keeps them so); got "
                    f"{p.dtype} at {i}"
                )

    def cost_of(self, batches: int) -> Cost:
        """Return what a step costs where a record is in each of so many batches that it adds up."""
        clip = self.max_grad_norm * batches
        return self.cost if batches == 1 else cost_of_sum(self.mechanism, clip)

    def pre_step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Clip, add up and release, where nothing has changed that the cost depends on."""
        if hasattr(self, "found_inf"):
            raise ValueError(
                "a GradScaler must be left out: it skips steps by gradients without noise; "
                "torch.autocast with bfloat16 needs none"
            )
        if (self.max_grad_norm, self.noise_multiplier) != self._told:
            raise ValueError(
                "max_grad_norm and noise_multiplier must stay as they were, which the cost is of: "
                f"{self._told}; got {(self.max_grad_norm, self.noise_multiplier)}"
            )
        for i, p in enumerate(self.params):
            if getattr(p, "grad_sample", None) is None:
                raise ValueError(
                    f"parameters must have gradients, or requires_grad=False; got none at {i}, of "
                    f"shape {tuple(p.shape)}"
                )
        taken: float | None = super().pre_step(closure)
        return taken

    def clip_and_accumulate(self) -> None:
        """Add up the clipped gradients, of which none is longer than the clip (`clip_scales`)."""
        rows = [g.to(p.dtype) for p, g in zip(self.params, self.grad_samples, strict=True)]
        scales = clip_scales(rows, self.max_grad_norm)
        for p, each in zip(self.params, rows, strict=True):
            _check_processed_flag(p.grad_sample)
            total = scaled_sum(each, scales)
            p.summed_grad = total if p.summed_grad is None else p.summed_grad + total
            _mark_as_processed(p.grad_sample)

    def add_noise(self) -> None:
        """Put the release of the clipped sums into the gradients."""
        for p in self.params:
            _check_processed_flag(p.summed_grad)
        sums = [p.summed_grad for p in self.params]
        noisy = release(
            sums, cast(Sampler, self.mechanism), rng=self.rng, is_shared=self.is_distributed
        )
        for p, gradient in zip(self.params, noisy, strict=True):
            p.grad = gradient.view_as(p)
            _mark_as_processed(p.summed_grad)

    def scale_grad(self) -> None:
        """Divide by the expected number of examples, of all workers."""
        super().scale_grad()
        if self.is_distributed and self.loss_reduction == "mean":
            for p in self.params:
                p.grad /= torch.distributed.get_world_size()


class PrivacyEngine(opacus.PrivacyEngine):  # type: ignore[misc]
    """Opacus' engine with any mechanism's noise, exact on its grid, and the cost of that.

    Parameters
    ----------
    mechanism : Mechanism, optional
        In units of the clipped sum, such as ``RectifiedGaussian(1.0, -3.0, 3.0)`` beside
        ``max_grad_norm=1.0``; by default Gaussian noise of noise_multiplier * max_grad_norm.
    rng : NoiseStream, optional
        Where the noise comes from.

    Examples
    --------
    >>> import tightnoise as tn
    >>> engine = tn.torch.PrivacyEngine(
    ...     mechanism=tn.RectifiedGaussian(1.0, -3.0, 3.0)
    ... )
    """

    def __init__(
        self, *, mechanism: Mechanism | None = None, rng: NoiseStream | None = None
    ) -> None:
        super().__init__(accountant=_NAME)
        self.mechanism, self.rng = mechanism, rng

    def make_private(
        self,
        *,
        max_grad_norm: float,
        noise_multiplier: float | None = None,
        poisson_sampling: bool = True,
        clipping: str = "flat",
        grad_sample_mode: str = "hooks",
        **options: Any,
    ) -> Any:
        """Return the private model, optimizer and loader, as Opacus' engine does.

        Parameters
        ----------
        max_grad_norm : float
            The L2 clip of each example's gradient.
        noise_multiplier : float, optional
            sigma / max_grad_norm. Left out with a mechanism, or equal to that of its sigma.
        poisson_sampling : bool
            Without it nothing is proved, and `get_epsilon` raises, also after `load_checkpoint`.
        clipping : {"flat"}
        grad_sample_mode : {"hooks", "functorch", "ew"}
        **options
            module, optimizer, data_loader and the others of Opacus' engine.

        Returns
        -------
        tuple
            Model, optimizer and data loader.

        Raises
        ------
        ValueError
            If noise_multiplier is missing, or is not the mechanism's; for other clips, ghost
            clipping, Opacus' `rand_on_empty`, or its `noise_generator` (see `rng`).
        TypeError
            If the mechanism has no cost for an L2 sensitivity.
        """
        clip = positive("max_grad_norm", max_grad_norm)
        if clipping != "flat":
            raise ValueError(f"clipping must be 'flat'; got {clipping!r}")
        if "ghost" in grad_sample_mode:
            raise ValueError(f"grad_sample_mode must not be ghost; got {grad_sample_mode!r}")
        if isinstance(options.get("module"), FSDPModule):
            raise ValueError(
                "module must not be sharded by FSDP: one rank draws the noise of all numbers"
            )
        if options.get("rand_on_empty"):
            raise ValueError(
                "rand_on_empty must be False: beside a random example in place of none, one record "
                "changes the sum by two clips"
            )
        if options.get("noise_generator") is not None:
            raise ValueError("noise_generator must be left out: rng= of PrivacyEngine is used")
        mechanism = self.mechanism
        if mechanism is None:
            if noise_multiplier is None:
                raise ValueError("noise_multiplier must be given where mechanism is not")
            mechanism = Gaussian(positive("noise_multiplier", noise_multiplier) * clip)
        elif noise_multiplier is not None:
            known = _multiplier(mechanism, clip)
            if known is None:
                raise ValueError(
                    f"noise_multiplier must be left out: {mechanism!r} has no one sigma;"
                    f" got {noise_multiplier}"
                )
            if abs(noise_multiplier - known) > _SAME * known:
                raise ValueError(
                    f"noise_multiplier must be sigma / max_grad_norm, {known:g}, or left out;"
                    f" got {noise_multiplier}"
                )
        cost_of_sum(mechanism, clip)
        self._released = mechanism
        self.accountant.is_sampled &= bool(poisson_sampling)
        return super().make_private(
            max_grad_norm=clip,
            noise_multiplier=_multiplier(mechanism, clip) or 0.0,
            poisson_sampling=poisson_sampling,
            clipping=clipping,
            grad_sample_mode=grad_sample_mode,
            **options,
        )

    def save_checkpoint(self, *, path: object, **options: Any) -> None:
        """Save as Opacus' engine does; a file of this name is written whole or not at all."""
        if not isinstance(path, (str, os.PathLike)):
            super().save_checkpoint(path=path, **options)
            return
        name = os.fspath(path)
        write_whole(
            name,
            lambda file: super(PrivacyEngine, self).save_checkpoint(path=file, **options),
            suffix="",
            overwrite=True,
        )

    def make_private_with_epsilon(self, **options: Any) -> Any:
        """Raise ValueError: `calibrate.noise_multiplier` has the noise of a budget, exactly."""
        raise ValueError("make_private_with_epsilon is left out: see calibrate.noise_multiplier")

    def _prepare_optimizer(
        self,
        *,
        optimizer: torch.optim.Optimizer,
        max_grad_norm: float,
        expected_batch_size: float,
        loss_reduction: str = "mean",
        distributed: bool = False,
        **_: Any,
    ) -> DPOptimizer:
        if isinstance(optimizer, OpacusOptimizer):
            optimizer = optimizer.original_optimizer
        return DPOptimizer(
            optimizer,
            mechanism=self._released,
            max_grad_norm=max_grad_norm,
            expected_batch_size=expected_batch_size,
            loss_reduction=loss_reduction,
            rng=self.rng,
            is_distributed=distributed,
        )


def cost_of_sum(mechanism: Mechanism, clip: float) -> Cost:
    """Return the cost of a sum of gradients, each of a norm of at most `clip`."""
    try:
        return mechanism.cost(sensitivity=clip)
    except TypeError as error:
        message = f"mechanism must have a cost for an L2 sensitivity; got {mechanism!r}"
        raise TypeError(message) from error


def _multiplier(mechanism: Mechanism, clip: float) -> float | None:
    """Return sigma / clip, if there is one sigma."""
    sigma = getattr(mechanism, "sigma", None)
    return float(sigma) / clip if isinstance(sigma, (int, float)) else None
