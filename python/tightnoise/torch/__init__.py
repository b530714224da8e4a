"""Private training with PyTorch (extra `torch`; what works with Opacus: extra `opacus`).

`clipped_sum` is the sum of clipped per-example gradients, `release` puts a mechanism's noise on a
list of tensors, once for all workers of a process group; `release_shard` on the part of a vector
that each of them has; `gather_sketch` adds up their sketches.
`PrivacyEngine`, `DPOptimizer` and `OpacusAccountant` do so within Opacus.
"""

from typing import TYPE_CHECKING, Any

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    message = "tightnoise.torch needs PyTorch: python3 -m pip install 'tightnoise[torch]'"
    raise ImportError(message) from error

from tightnoise.torch._clipping import clipped_sum
from tightnoise.torch._release import gather_sketch, release, release_shard

if TYPE_CHECKING:
    from tightnoise.torch._opacus import DPOptimizer, OpacusAccountant, PrivacyEngine

__all__ = [
    "DPOptimizer",
    "OpacusAccountant",
    "PrivacyEngine",
    "clipped_sum",
    "gather_sketch",
    "release",
    "release_shard",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from tightnoise.torch import _opacus
    except ImportError as error:
        message = f"{name} needs Opacus: python3 -m pip install 'tightnoise[opacus]'"
        raise ImportError(message) from error
    return getattr(_opacus, name)
