"""What an attacker gets out of releases, measured: below what is proved, or something is wrong."""

from tightnoise.attack._audit import Audit, audit

__all__ = ["Audit", "audit"]
