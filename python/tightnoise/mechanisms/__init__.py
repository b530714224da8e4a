"""Mechanisms: what turns a value into a noisy value, and what that costs."""

from tightnoise._hints import PARAMETERS, hinted
from tightnoise.mechanisms._individual import RankOne
from tightnoise.mechanisms._mechanism import Mechanism
from tightnoise.mechanisms.additive import AdditiveNoise
from tightnoise.mechanisms.base import CoordinateMechanism
from tightnoise.mechanisms.bounded_laplace import BoundedLaplace
from tightnoise.mechanisms.gaussian import Gaussian
from tightnoise.mechanisms.gaussian_scale_mixture import GaussianScaleMixture
from tightnoise.mechanisms.laplace import Laplace
from tightnoise.mechanisms.lifted_von_mises_fisher import LiftedVonMisesFisher
from tightnoise.mechanisms.multi_gaussian_mixture import MultiGaussianMixture
from tightnoise.mechanisms.product_von_mises_fisher import ProductVonMisesFisher
from tightnoise.mechanisms.quantized import QuantizedGaussian
from tightnoise.mechanisms.quasi_gaussian_mixture import QuasiGaussianMixture
from tightnoise.mechanisms.rectified import RectifiedGaussian
from tightnoise.mechanisms.rounded import RoundedNoise
from tightnoise.mechanisms.sign import StochasticSign
from tightnoise.mechanisms.staircase import Staircase
from tightnoise.mechanisms.truncated import TruncatedGaussian
from tightnoise.mechanisms.truncated_laplace import TruncatedLaplace
from tightnoise.mechanisms.tulap import Tulap
from tightnoise.mechanisms.von_mises_fisher import VonMisesFisher

__all__ = [
    "AdditiveNoise",
    "BoundedLaplace",
    "CoordinateMechanism",
    "Gaussian",
    "GaussianScaleMixture",
    "Laplace",
    "LiftedVonMisesFisher",
    "Mechanism",
    "MultiGaussianMixture",
    "ProductVonMisesFisher",
    "QuantizedGaussian",
    "QuasiGaussianMixture",
    "RankOne",
    "RectifiedGaussian",
    "RoundedNoise",
    "Staircase",
    "StochasticSign",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "Tulap",
    "VonMisesFisher",
]

for _name in __all__:
    _law = globals()[_name]
    if "__init__" in vars(_law):
        _law.__init__ = hinted(PARAMETERS)(_law.__init__)
del _name, _law
