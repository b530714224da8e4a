"""What an adversary gains from seeing a release, whatever it is after."""

from tightnoise.leakage.capacity import log_bayes_capacity
from tightnoise.leakage.features import fil_logistic, fil_lower

__all__ = ["fil_logistic", "fil_lower", "log_bayes_capacity"]
