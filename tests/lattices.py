"""Bounds and laws on a lattice, as tests ask for them."""

import math

import numpy as np

from tightnoise.costs._atoms_below import atoms_below
from tightnoise.costs._exact import Bounds
from tightnoise.costs._lattice_bounds import lattice_bounds
from tightnoise.costs._leaf import Attained


def bounds_on_lattice(question, cost, at):
    """Both sides, by a lattice alone."""
    known = Bounds(0.0, getattr(cost.losses(), question)(at))
    return lattice_bounds(question, cost.terms, at, known)


def below_of_profile(profile, ends, spacing, points, excess, *, symmetric):
    """Losses of both directions that the pair of a profile dominates: multiples of a spacing.

    But for the ends. `ends`: about the largest loss of each; so many `points` are read from a
    multiple to the next.
    """
    corners = tuple(
        spacing * np.arange(max(2, math.ceil(min(end, 1e8) / spacing - 1e-6)) + 1.0) for end in ends
    )
    return atoms_below(Attained(profile, excess, symmetric), corners, points)
