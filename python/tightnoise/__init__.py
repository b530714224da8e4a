"""tightnoise: differential privacy with less noise, and exactly what each release costs."""

from tightnoise import _core, random

__version__: str = _core.__version__

__all__ = ["__version__", "random"]
