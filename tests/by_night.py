"""Cases beside others like them: every run has a few, and the night has all."""

import pytest


def by_night(*values):
    """Return values of a parameter that .ci/nightly alone tries."""
    return rows_by_night(*((value,) for value in values))


def rows_by_night(*rows):
    """Return rows of values of several parameters that .ci/nightly alone tries."""
    return [pytest.param(*row, marks=pytest.mark.nightly) for row in rows]
