"""What an attacker gets out of releases, measured: below what is proved, or something is wrong.

`audit` tells two neighbours apart; `spectral`, `invert` and `invert_l2` (extra `torch`) rebuild
inputs from gradients, and `mse` and `ssim` say how well.
"""

from tightnoise.attack._audit import Audit, audit
from tightnoise.attack._images import mse, spectral, ssim
from tightnoise.attack._inversion import Inversion, invert, invert_l2

__all__ = ["Audit", "Inversion", "audit", "invert", "invert_l2", "mse", "spectral", "ssim"]
