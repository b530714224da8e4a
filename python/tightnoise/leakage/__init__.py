"""What an adversary gains from seeing a release, whatever it is after."""

from tightnoise.leakage.capacity import log_bayes_capacity

__all__ = ["log_bayes_capacity"]
