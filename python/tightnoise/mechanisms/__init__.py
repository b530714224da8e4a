"""Mechanisms: what turns a value into a noisy value, and what that costs."""

from tightnoise.mechanisms.additive import AdditiveNoise, Certificate
from tightnoise.mechanisms.base import Mechanism
from tightnoise.mechanisms.gaussian import Gaussian
from tightnoise.mechanisms.lifted_von_mises_fisher import LiftedVonMisesFisher
from tightnoise.mechanisms.product_von_mises_fisher import ProductVonMisesFisher
from tightnoise.mechanisms.quantized import QuantizedGaussian
from tightnoise.mechanisms.rectified import RectifiedGaussian
from tightnoise.mechanisms.sign import StochasticSign
from tightnoise.mechanisms.truncated import TruncatedGaussian
from tightnoise.mechanisms.von_mises_fisher import VonMisesFisher

__all__ = [
    "AdditiveNoise",
    "Certificate",
    "Gaussian",
    "LiftedVonMisesFisher",
    "Mechanism",
    "ProductVonMisesFisher",
    "QuantizedGaussian",
    "RectifiedGaussian",
    "StochasticSign",
    "TruncatedGaussian",
    "VonMisesFisher",
]
