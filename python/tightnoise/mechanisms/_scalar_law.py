"""The law of a noisy number, as `scipy.stats` says it: one class for every mechanism of numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._kinds import keeps_kind
from tightnoise._validate import float_array, require_all
from tightnoise.mechanisms._drawing import repeated, source_of
from tightnoise.random import NoiseStream

Array = NDArray[np.float64]


class ScalarLaw:
    """Functions of the output's distribution; each element of theta has a law of its own.

    `theta` is the true value: of noise that is added it is 0 where it is not given, and the law is
    that of the noise. All is elementwise, over shapes that broadcast, and of the real numbers that
    the mechanism is made of: what `sample` releases is the nearest point of its grid.
    """

    _noise_is_added: ClassVar[bool]
    sample: Any

    @abstractmethod
    def _of_points(self, function: str, x: ArrayLike, theta: ArrayLike) -> Any:
        """Return log_pdf, cdf, sf, log_cdf or log_sf of the output at x."""

    @abstractmethod
    def _of_shares(self, function: str, q: Array, theta: ArrayLike) -> Any:
        """Return quantile or upper_quantile of the output at q."""

    @abstractmethod
    def _of_theta(self, function: str, theta: ArrayLike) -> Any:
        """Return mean, variance, skewness, kurtosis or entropy of the output."""

    def _at(self, theta: ArrayLike | None) -> ArrayLike:
        if theta is not None:
            return theta
        if not self._noise_is_added:
            name = type(self).__name__
            raise TypeError(f"theta must be given: the law of {name} is no shift of one law")
        return 0.0

    @keeps_kind
    def rvs(
        self,
        theta: ArrayLike | None = None,
        *,
        size: int | Sequence[int] | None = None,
        random_state: NoiseStream | None = None,
    ) -> Any:
        """Draw outputs: `sample` of theta, repeated to a shape.

        Parameters
        ----------
        theta : array_like, optional
            The true values, which broadcast to `size`.
        size : int or tuple of int, optional
            The shape of what is returned; by default that of theta.
        random_state : NoiseStream, optional
            Where the noise comes from, as the `rng` of `sample`.

        Returns
        -------
        ndarray or scalar
            As `sample`: points of its default grid, which the costs cover.

        Raises
        ------
        ValueError, TypeError
            As `sample`; also if theta does not broadcast to `size`, or `random_state` is not a
            NoiseStream.

        Examples
        --------
        >>> import tightnoise as tn
        >>> noise = tn.Laplace(2.0)
        >>> noise.rvs(size=3, random_state=tn.random.NoiseStream(seed=1)).shape
        (3,)
        """
        source_of(random_state, "random_state")
        return self.sample(repeated(self._at(theta), size), rng=random_state)

    @keeps_kind
    def pdf(self, x: ArrayLike, theta: ArrayLike | None = None) -> Any:
        """Return the density of the output at x, `exp(logpdf(x, theta))`."""
        return np.exp(self._of_points("log_pdf", x, self._at(theta)))

    @keeps_kind
    def logpdf(self, x: ArrayLike, theta: ArrayLike | None = None) -> Any:
        """Return the log density of the output at x.

        Where the output has atoms, the log of the atom's probability: at the bounds of the
        rectified mechanism, and everywhere for discrete outputs.
        """
        return self._of_points("log_pdf", x, self._at(theta))

    @keeps_kind
    def cdf(self, x: ArrayLike, theta: ArrayLike | None = None) -> Any:
        """Return the probability of an output of at most x."""
        return self._of_points("cdf", x, self._at(theta))

    @keeps_kind
    def sf(self, x: ArrayLike, theta: ArrayLike | None = None) -> Any:
        """Return the probability of an output above x, the survival function, exact in the tail.

        Examples
        --------
        >>> import tightnoise as tn
        >>> print(f"{tn.Gaussian(1.0).sf(10.0):.4g} {1 - tn.Gaussian(1.0).cdf(10.0):.4g}")
        7.62e-24 0
        """
        return self._of_points("sf", x, self._at(theta))

    @keeps_kind
    def logcdf(self, x: ArrayLike, theta: ArrayLike | None = None) -> Any:
        """Return log(cdf), also where cdf is too small for a float, or next to 1."""
        return self._of_points("log_cdf", x, self._at(theta))

    @keeps_kind
    def logsf(self, x: ArrayLike, theta: ArrayLike | None = None) -> Any:
        """Return log(sf), also where sf is too small for a float, or next to 1.

        Examples
        --------
        >>> import tightnoise as tn
        >>> float(tn.Laplace(1.0).logsf(2000.0).round(4))
        -2000.6931
        """
        return self._of_points("log_sf", x, self._at(theta))

    @keeps_kind
    def ppf(self, q: ArrayLike, theta: ArrayLike | None = None) -> Any:
        """Return the smallest x with `cdf(x, theta) >= q`, the quantile function."""
        return self._of_shares("quantile", _shares("q", q), self._at(theta))

    @keeps_kind
    def isf(self, q: ArrayLike, theta: ArrayLike | None = None) -> Any:
        """Return the smallest x with `sf(x, theta) <= q`: quantiles that q = 1e-300 tells apart."""
        return self._of_shares("upper_quantile", _shares("q", q), self._at(theta))

    @keeps_kind
    def median(self, theta: ArrayLike | None = None) -> Any:
        """Return the median of the output, `ppf(0.5, theta)`."""
        return self._of_shares("quantile", np.asarray(0.5), self._at(theta))

    @keeps_kind
    def interval(self, confidence: ArrayLike, theta: ArrayLike | None = None) -> tuple[Any, Any]:
        """Return the ends of what holds the output with that probability, both tails alike.

        Parameters
        ----------
        confidence : array_like
            From 0 to 1.
        theta : array_like, optional

        Returns
        -------
        lower, upper
            `ppf` and `isf` of half of what is left.

        Examples
        --------
        >>> import tightnoise as tn
        >>> low, high = tn.Gaussian(2.0).interval(0.95)
        >>> round(float(low), 4), round(float(high), 4)
        (-3.9199, 3.9199)
        """
        tail = np.asarray(0.5 * (1.0 - _shares("confidence", confidence)))
        at = self._at(theta)
        return self._of_shares("quantile", tail, at), self._of_shares("upper_quantile", tail, at)

    @keeps_kind
    def mean(self, theta: ArrayLike | None = None) -> Any:
        """Return the mean of the output; of noise that is added, theta."""
        return self._of_theta("mean", self._at(theta))

    @keeps_kind
    def var(self, theta: ArrayLike | None = None) -> Any:
        """Return the variance of the output; of noise that is added, the l2 loss."""
        return self._of_theta("variance", self._at(theta))

    @keeps_kind
    def std(self, theta: ArrayLike | None = None) -> Any:
        """Return the standard deviation of the output."""
        return np.sqrt(self._of_theta("variance", self._at(theta)))

    @keeps_kind
    def stats(self, theta: ArrayLike | None = None, moments: str = "mv") -> Any:
        """Return moments of the output.

        Parameters
        ----------
        theta : array_like, optional
        moments : str
            "m" for the mean, "v" for the variance, "s" for the skewness, "k" for the excess of
            the kurtosis over a Gaussian's, in the order in which they are to come. The latter two
            are computed by quadrature, to 1e-9 where what the law spreads over is more than 1e-5 of
            where it is. Infinite where the variance is lost in floats.

        Returns
        -------
        tuple, or what there is of one moment

        Raises
        ------
        ValueError
            For other letters.

        Examples
        --------
        >>> import tightnoise as tn
        >>> law = tn.BoundedLaplace(scale=1, lower=0, upper=10)
        >>> [round(float(number), 6) for number in law.stats(1.0, moments="mvsk")]
        [1.450077, 1.113694, 1.645292, 4.317115]
        >>> round(float(tn.Laplace(2.0).stats(moments="k")), 9)
        3.0
        """
        known = {"m": "mean", "v": "variance", "s": "skewness", "k": "kurtosis"}
        if not isinstance(moments, str) or not moments or not set(moments) <= known.keys():
            raise ValueError(f"moments must be made of 'm', 'v', 's' and 'k'; got {moments!r}")
        at = self._at(theta)
        found = tuple(self._of_theta(known[letter], at) for letter in moments)
        return found if len(found) > 1 else found[0]

    @keeps_kind
    def entropy(self, theta: ArrayLike | None = None) -> Any:
        """Return the entropy of the output in nats, the mean of `-logpdf`.

        Differential where there is a density, Shannon's where outputs are discrete; of the
        rectified mechanism the sum of what the atoms and the density between them have. Accurate to
        1e-12, or that of itself where it is more than 1.

        Examples
        --------
        >>> import tightnoise as tn
        >>> round(float(tn.Laplace(1.0).entropy()), 6)  # 1 + log(2)
        1.693147
        """
        return self._of_theta("entropy", self._at(theta))


def _shares(name: str, value: ArrayLike) -> Array:
    probability = float_array(name, value).astype(np.float64)
    inside = (probability >= 0) & (probability <= 1)
    require_all(inside, name, probability, "between 0 and 1")
    return probability
