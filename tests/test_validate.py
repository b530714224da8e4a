"""What is taken for a real number, and for an integer."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tightnoise._validate import integer, real_scalar


@pytest.mark.parametrize(
    "value",
    [1.5, np.float32(1.5), np.float16(1.5), np.longdouble(1.5), np.array(1.5), Fraction(3, 2),
     Decimal("1.5"), np.array(Fraction(3, 2))],
    ids=repr,
)  # fmt: skip
def test_real_numbers_of_any_type(value: object) -> None:
    assert real_scalar("epsilon", value) == 1.5


@pytest.mark.parametrize(
    "value",
    [True, np.True_, np.array(True), "1", b"1", np.str_("1"), np.array("1"), np.array(b"1"), 1j,
     np.complex64(1), np.array(1j), np.timedelta64(3, "D"), np.array(3, "m8[s]"),
     np.datetime64("2020"),
     np.ma.masked, np.ma.array(1.0, mask=True), np.ma.array(1.0), np.array([1.0]), np.array(None),
     None, [1.0]],
    ids=repr,
)  # fmt: skip
def test_nothing_else(value: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match="epsilon must be a real number; got "):
            real_scalar("epsilon", value)


@pytest.mark.parametrize(
    "value", [10_000, 1e4, np.float32(1e4), np.float64(1e4), np.int8(100), np.array(7), 2.0**53],
    ids=repr,
)  # fmt: skip
def test_whole_numbers_of_any_type(value: object) -> None:
    number = integer("steps", value, minimum=1, maximum=2**60)
    assert type(number) is int
    assert number == value


@pytest.mark.parametrize(
    "value", [10_000.5, np.nan, np.inf, 2.0**54, True, np.True_, "1", None, 1j, [1]], ids=repr
)
def test_no_other_whole_numbers(value: object) -> None:
    with pytest.raises(TypeError, match="steps must be an integer; got "):
        integer("steps", value, minimum=1, maximum=2**60)
