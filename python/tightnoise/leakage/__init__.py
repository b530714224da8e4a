"""What an adversary gains from seeing a release, whatever it is after."""

from tightnoise.leakage.capacity import bayes_capacity

__all__ = ["bayes_capacity"]
