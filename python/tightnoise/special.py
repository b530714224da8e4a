"""Special functions: array in, array out, fast in the tails and accurate there.

All functions take numbers or arrays of any shape. Everything is computed in double precision; a
float32 argument gives float32 results, integers count as float64, and numbers give a float. They
are pure functions of numbers: NaN gives NaN, an argument outside the domain gives NaN, and the
limits at infinity are as each function says. Errors are relative, measured against mpmath on
random points over the whole range at every SIMD level; they double at most within a few units of
the last place where a result is subnormal.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tightnoise._arrays import Floats, broadcast_shape, operand, output
from tightnoise._core import special as core
from tightnoise._validate import float_array

__all__ = [
    "erfcx",
    "expm1mx",
    "hazard",
    "iv_ratio",
    "log_iv",
    "log_ndtr",
    "log_ndtr_diff",
    "log_sphere_mean",
    "logsumexp",
    "mills",
    "ndtr",
    "ndtri",
    "ndtri_exp",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_ORDER = "Order, not negative, up to 1e250."
_ARGUMENT = "Argument, not negative."

_DOCSTRING = """\
{above}

Parameters
----------
{parameters}
out : array, optional
    Where to write: C-contiguous, of the shape and dtype of the result. May be {names}
    itself.

Returns
-------
float or array
    Of the {result}.

Raises
------
TypeError
    If {names} holds anything but real numbers, or `out` is not an array.
ValueError
    If {mismatch}`out` is read-only, not contiguous, or of another shape or dtype.

Examples
--------
>>> from tightnoise import special
{examples}
"""


def _documented(*, bounds: str = "", **arguments: str) -> Callable[[_Function], _Function]:
    """Complete a docstring of text and examples by what all elementwise functions share.

    `arguments` says what each argument is, and `bounds` what the result always is.
    """
    names = " or ".join(f"`{name}`" for name in arguments)
    parameters = [f"{name} : float or array\n    {text}" for name, text in arguments.items()]
    several = len(arguments) > 1
    result = "common shape" if several else f"shape of {names}"
    result += f", {bounds}" if bounds else ""
    result += "; float32 if both arguments are" if several else ""

    def document(function: _Function) -> _Function:
        if function.__doc__:  # python -OO leaves none
            above, arrow, examples = inspect.cleandoc(function.__doc__).partition(">>>")
            function.__doc__ = _DOCSTRING.format(
                above=above.strip(),
                parameters="\n".join(parameters),
                names=names,
                result=result,
                mismatch="the shapes do not broadcast, or\n    " if several else "",
                examples=arrow + examples,
            )
        return function

    return document


@_documented(x="Any number.")
def expm1mx(x: ArrayLike, *, out: Floats | None = None) -> Floats | float:
    """Return e^x - 1 - x, which is never negative, accurate also for small x.

    Relative error at most 5e-16. What a Renyi divergence is made of: its terms are all positive.

    >>> special.expm1mx([1e-10, 1.0])
    array([5.00000000e-21, 7.18281828e-01])
    """
    return _apply(core.expm1mx, out, x=x)


@_documented(x="Any number.")
def erfcx(x: ArrayLike, *, out: Floats | None = None) -> Floats | float:
    """Return the scaled complementary error function e^(x^2) erfc(x).

    Relative error at most 8e-16; overflows to inf below -26.63.

    >>> special.erfcx([0.0, 100.0])
    array([1.        , 0.00564161])
    """
    return _apply(core.erfcx, out, x=x)


@_documented(x="Any number.", bounds="between 0 and 1")
def ndtr(x: ArrayLike, *, out: Floats | None = None) -> Floats | float:
    """Return Phi(x), the standard normal distribution function.

    Relative error at most 9e-16, also in the lower tail down to -37.5, where results get subnormal.

    >>> special.ndtr([-30.0, 0.0])
    array([4.90671393e-198, 5.00000000e-001])
    """
    return _apply(core.ndtr, out, x=x)


@_documented(x="Any number.", bounds="never positive")
def log_ndtr(x: ArrayLike, *, out: Floats | None = None) -> Floats | float:
    """Return log Phi(x), the logarithm of the standard normal distribution function.

    Relative error at most 1.3e-15 in both tails: for x = -1e150 as for x = 37.

    >>> special.log_ndtr([-1000.0, 10.0])
    array([-5.00007827e+05, -7.61985302e-24])
    """
    return _apply(core.log_ndtr, out, x=x)


@_documented(t="Any number.", bounds="never negative")
def hazard(t: ArrayLike, *, out: Floats | None = None) -> Floats | float:
    """Return phi(t) / (1 - Phi(t)), the hazard rate of the standard normal distribution.

    The inverse Mills ratio. phi(t) / Phi(t) is ``hazard(-t)``. Relative error at most 1.2e-15.

    >>> special.hazard([0.0, 1000.0])
    array([7.97884561e-01, 1.00000100e+03])
    """
    return _apply(core.hazard, out, t=t)


@_documented(t="Any number.", bounds="never negative")
def mills(t: ArrayLike, *, out: Floats | None = None) -> Floats | float:
    """Return the Mills ratio (1 - Phi(t)) / phi(t) of the standard normal distribution.

    The same as sqrt(pi / 2) erfcx(t / sqrt(2)). Relative error at most 1.1e-15; overflows to inf
    below -37.7.

    >>> special.mills([0.0, 1000.0])
    array([1.25331414e+00, 9.99999000e-04])
    """
    return _apply(core.mills, out, t=t)


@_documented(p="Between 0 and 1, which give -inf and inf.")
def ndtri(p: ArrayLike, *, out: Floats | None = None) -> Floats | float:
    """Return Phi^-1(p), the quantile function of the standard normal distribution.

    Relative error at most 1e-15, from p = 5e-324 to the last number below 1. After Wichura,
    "Algorithm AS 241: The percentage points of the normal distribution" (1988), with one
    approximation for the whole tail.

    >>> special.ndtri([1e-300, 0.975])
    array([-37.0470963 ,   1.95996398])
    """
    return _apply(core.ndtri, out, p=p)


@_documented(y="Not positive; 0 gives inf, -inf gives -inf.")
def ndtri_exp(y: ArrayLike, *, out: Floats | None = None) -> Floats | float:
    """Return Phi^-1(e^y), the quantile of a probability given by its logarithm.

    Relative error at most 1.1e-15, from y = -1e308 to the last number below 0: neither a
    probability that underflows nor one that rounds to 1 loses anything.

    >>> special.ndtri_exp([-1e6, -1e-30])
    array([-1414.20778299,    11.46402469])
    """
    return _apply(core.ndtri_exp, out, y=y)


@_documented(
    u="Lower end.", v="Upper end; v = u gives -inf, v < u gives NaN.", bounds="never positive"
)
def log_ndtr_diff(u: ArrayLike, v: ArrayLike, *, out: Floats | None = None) -> Floats | float:
    """Return log(Phi(v) - Phi(u)), the log-probability of an interval under the standard normal.

    Relative error at most 1.2e-15 for every u < v: narrow intervals, far tails, both sides of zero,
    infinite ends. Where the interval is narrow the density is integrated, else the tails are
    subtracted in a form that does not cancel.

    >>> special.log_ndtr_diff(100.0, [101.0, 1e300])
    array([-5005.52420869, -5005.52420869])
    >>> special.log_ndtr_diff([-1e-300, 5e-324], 1e-300)
    array([-691.00131925, -691.69446643])
    """
    return _apply(core.log_ndtr_diff, out, u=u, v=v)


@_documented(nu=_ORDER, x=_ARGUMENT)
def log_iv(nu: ArrayLike, x: ArrayLike, *, out: Floats | None = None) -> Floats | float:
    """Return log I_nu(x), the logarithm of the modified Bessel function of the first kind.

    Error at most 5e-16 of abs(log I) + sqrt(nu^2 + x^2), for every order and argument: nothing
    overflows or underflows. By Debye's uniform expansion (DLMF 10.41), from which the recurrence
    leads down to orders below 24 at arguments below 50.

    >>> special.log_iv([0.0, 6849.0, 5e8], [1.0, 75.0, 1e9])
    array([ 2.35914359e-01, -2.88224135e+04,  8.77428065e+08])
    """
    return _apply(core.log_iv, out, nu=nu, x=x)


@_documented(nu=_ORDER, x=_ARGUMENT, bounds="between 0 and 1")
def iv_ratio(nu: ArrayLike, x: ArrayLike, *, out: Floats | None = None) -> Floats | float:
    """Return I_(nu+1)(x) / I_nu(x), the ratio of neighbouring modified Bessel functions.

    Relative error at most 6e-16. With nu = p/2 - 1 it is the mean cosine between a von
    Mises-Fisher vector on the sphere in p dimensions, of concentration x, and its mean direction.
    As for `log_iv`, of which it is the derivative in x less nu / x.

    >>> special.iv_ratio([0.0, 6849.0], [1.0, 75.0])
    array([0.44638997, 0.00547429])
    """
    return _apply(core.iv_ratio, out, nu=nu, x=x)


@_documented(nu=_ORDER, x=_ARGUMENT, bounds="never negative")
def log_sphere_mean(nu: ArrayLike, x: ArrayLike, *, out: Floats | None = None) -> Floats | float:
    """Return log(Gamma(nu + 1) (2 / x)^nu I_nu(x)) = log 0F1(; nu + 1; x^2 / 4).

    With nu = p/2 - 1 it is the logarithm of the mean of e^(x u_1) over the unit sphere in p
    dimensions, which normalises the von Mises-Fisher density. Relative error at most 8e-16, also
    where x^2 is much less than nu and the result much less than log I and log Gamma, of which
    nothing is subtracted.

    >>> special.log_sphere_mean([0.0, 6849.0], [1.0, 75.0])
    array([0.23591436, 0.2052889 ])
    """
    return _apply(core.log_sphere_mean, out, nu=nu, x=x)


def logsumexp(x: ArrayLike) -> float:
    """Return log(sum(e^x)) over all elements, without overflow.

    The sum is compensated and its rounding error goes into the logarithm, so that a result close to
    0 keeps its digits if the largest element is 0. The same for any number of threads.

    Parameters
    ----------
    x : float or array
        Any numbers; NaN anywhere gives NaN, else inf anywhere gives inf.

    Returns
    -------
    float
        -inf if all elements are, or if there are none.

    Raises
    ------
    TypeError
        If `x` holds anything but real numbers.

    Examples
    --------
    >>> from tightnoise import special
    >>> round(special.logsumexp([-1000.0, -1000.0]), 6)
    -999.306853
    >>> f"{special.logsumexp([0.0, -50.0]):.6e}"
    '1.928750e-22'
    """
    return float(core.logsumexp(_floats("x", x)))


def _floats(name: str, value: ArrayLike) -> Floats:
    return float_array(name, value, check_finite=False)


def _apply(
    kernel: Callable[..., None], out: Floats | None, **arguments: ArrayLike
) -> Floats | float:
    arrays = {name: _floats(name, value) for name, value in arguments.items()}
    shape = broadcast_shape(**arrays)
    result = output(out, shape, _result_dtype(arguments, arrays))
    kernel(*(_apart(operand(array, shape), result) for array in arrays.values()), result)
    return float(result) if out is None and not shape else result


def _result_dtype(arguments: dict[str, ArrayLike], arrays: dict[str, Floats]) -> np.dtype[Any]:
    """Return float32 if all arguments are, where Python numbers take on the dtype of the rest."""
    dtypes = [
        arrays[name].dtype
        for name, value in arguments.items()
        if not isinstance(value, (int, float)) or isinstance(value, np.generic)
    ]
    return np.result_type(*dtypes) if dtypes else np.dtype(np.float64)


def _apart(array: Floats, out: Floats) -> Floats:
    """Return `array`, or a copy if writing `out` in order would change elements not yet read."""
    same = array.ctypes.data == out.ctypes.data and array.nbytes == out.nbytes
    return array.copy() if not same and np.may_share_memory(array, out) else array
