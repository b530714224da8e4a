"""Cases beside others like them: every run has a few, and the night has all."""

import pytest


def by_night(*values):
    """Return values of a parameter that .ci/nightly alone tries."""
    return [pytest.param(value, marks=pytest.mark.nightly) for value in values]
