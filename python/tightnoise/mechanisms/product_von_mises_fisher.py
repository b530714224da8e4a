"""Independent von Mises-Fisher noise on the direction of each block of a vector."""

from __future__ import annotations

import functools
import math
import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats, output
from tightnoise._validate import float_array, number_array, require, shown
from tightnoise.costs import Adjacency, Cost, RdpCurve
from tightnoise.mechanisms._grid import GridLike
from tightnoise.mechanisms._mechanism import Mechanism
from tightnoise.mechanisms.von_mises_fisher import VonMisesFisher
from tightnoise.random import NoiseStream

__all__ = ["ProductVonMisesFisher"]

Array = NDArray[np.float64]
Blocks = ArrayLike | Sequence[ArrayLike]

# math.hypot and math.fsum are right to a unit of the last place, as is what they are given.
_ROUNDING_UP = 1.0 + 2.0**-50


@dataclass(frozen=True)
class ProductVonMisesFisher(Mechanism):
    """Von Mises-Fisher noise on the direction of each block (each layer), independently.

    A vector of `dim` coordinates is cut into blocks, each block is divided by its own norm, and
    `VonMisesFisher(kappas[i], dims[i])` gives the direction that is released in its place. The
    divergence of independent outputs is the sum of their divergences, so the costs of the blocks
    add up, also if all of them change at once. At the same mean cosine, it does not matter into how
    many blocks a vector is cut: kappa in proportion to dim costs about as much in pieces as whole.

    There is no `hockey_stick`: the privacy loss of a product has no closed form. `rdp` and `gdp_mu`
    are what proves an epsilon. For a training with sampled records, `RdpAccountant.compose` samples
    the product: a record is in the batch of all blocks or of none, which is not the sum of what
    sampled blocks would cost.

    Parameters
    ----------
    kappas : sequence of float, or float
        The concentration of each block, at least 0; one number is for all of them.
    dims : sequence of int
        The length of each block, at least 2; at least one block.

    Attributes
    ----------
    layers : tuple of VonMisesFisher
        The noise on each block.
    dim : int
        The length of the whole vector, ``sum(dims)``.

    Raises
    ------
    ValueError
        For sequences of different lengths, no block, and what `VonMisesFisher` refuses.
    TypeError
        For anything but real numbers and integers.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> m = tn.ProductVonMisesFisher(kappas=[70.0, 4.1, 0.8], dims=[12800, 750, 150])
    >>> m.dim
    13700
    >>> m.sample(np.ones(13700, dtype=np.float32)).shape
    (13700,)
    >>> round(m.renyi_divergence(alpha=2), 4)
    1.6377
    """

    kappas: tuple[float, ...]
    dims: tuple[int, ...]
    layers: tuple[VonMisesFisher, ...] = field(init=False, repr=False, compare=False)
    dim: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dims = _sequence("dims", self.dims)
        require(len(dims) > 0, "dims", dims, "not empty")
        same = np.ndim(self.kappas) == 0
        kappas = [self.kappas] * len(dims) if same else _sequence("kappas", self.kappas)
        if len(kappas) != len(dims):
            raise ValueError(
                "kappas and dims must be of one length; "
                f"got {len(kappas)} kappas and {len(dims)} dims"
            )
        layers = tuple(map(VonMisesFisher, kappas, dims))
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "kappas", tuple(layer.kappa for layer in layers))
        object.__setattr__(self, "dims", tuple(layer.dim for layer in layers))
        object.__setattr__(self, "dim", sum(self.dims))

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and unpickled mechanisms pass the same checks as this one.
        return type(self), (self.kappas, self.dims)

    # --- the output's distribution ----------------------------------------------------------------

    def sample(
        self,
        mean_directions: Blocks,
        *,
        rng: NoiseStream | None = None,
        out: Floats | list[Floats] | None = None,
        grid: GridLike = "auto",
    ) -> Any:
        """Return a random direction for each block: what is released.

        Parameters
        ----------
        mean_directions : array_like of shape (..., dim), or list or tuple of array_like
            Either one array, whose last axis is the blocks one after the other, or a list of the
            blocks, each of shape (..., dims[i]). Blocks need not be normalised; one of zeros gives
            a uniformly distributed direction.
        rng : NoiseStream, optional
            Where the noise comes from; by default `tightnoise.random.default_stream()`. Each block
            takes one stream number of it.
        out : ndarray or list of ndarray, optional
            Where to write: of the shape and dtype of `mean_directions`, and a list if that is one.
        grid : "auto", float or None
            As `VonMisesFisher.sample`, for all blocks; "auto" is a grid for each of them.

        Returns
        -------
        ndarray or list of ndarray
            As `mean_directions`: of its shape and dtype, or a list of blocks. Each block of each
            row is what `VonMisesFisher.sample` returns, a unit vector rounded to a grid.

        Raises
        ------
        ValueError
            For NaN, infinities, shapes that do not fit, an `out` that overlaps `mean_directions`
            without being it, or itself, and a grid that is no power of two. Nothing has been
            written then.
        TypeError
            If an argument is not of a type named above.

        Examples
        --------
        >>> import numpy as np
        >>> import tightnoise as tn
        >>> m = tn.ProductVonMisesFisher(kappas=10.0, dims=[3, 2])
        >>> weight, bias = m.sample([np.ones(3), np.ones(2)])
        >>> abs(float(np.linalg.norm(weight)) - 1) < 0.008
        True
        """
        if isinstance(mean_directions, (list, tuple)):
            blocks = self._listed("mean_directions", mean_directions)
            places = self._places(out, blocks)
            return [
                layer.sample(block, rng=rng, out=place, grid=grid)
                for layer, block, place in zip(self.layers, blocks, places, strict=True)
            ]
        array = self._whole("mean_directions", mean_directions)
        noisy = output(out, array.shape, array.dtype)
        _require_apart([array], [noisy])
        cut = zip(self.layers, self._split(array), self._split(noisy), strict=True)
        for layer, block, place in cut:
            if place.flags.c_contiguous:
                layer.sample(block, rng=rng, out=place, grid=grid)
            else:  # columns of several rows
                place[...] = layer.sample(block, rng=rng, grid=grid)
        return noisy

    def logpdf(self, y: Blocks, mean_directions: Blocks) -> Array | float:
        """Return the log of the output's density, with respect to the areas of the spheres.

        Parameters
        ----------
        y : array_like or list of array_like
            Outputs, arranged as for `sample`.
        mean_directions : array_like or list of array_like
            As for `sample`; it broadcasts against `y`.

        Returns
        -------
        float or ndarray of float64
            The sum over the blocks, of the shape that is left without the last axis.

        Raises
        ------
        ValueError, TypeError
            As `VonMisesFisher.logpdf`, for the blocks.

        Examples
        --------
        >>> import tightnoise as tn
        >>> m = tn.ProductVonMisesFisher(kappas=[1.0, 2.0], dims=[2, 2])
        >>> float(round(m.logpdf([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]), 6))
        -1.735662
        """
        outputs = self._blocks("y", y)
        means = self._blocks("mean_directions", mean_directions)
        each = zip(self.layers, outputs, means, strict=True)
        return sum(layer.logpdf(block, mean) for layer, block, mean in each)

    def mean_resultant_length(self) -> Array:
        """Return the mean cosine between each block's output and its mean direction.

        Returns
        -------
        ndarray of float64, shape (len(dims),)

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.ProductVonMisesFisher([50.0, 5.0], [1000, 100]).mean_resultant_length().round(4)
        array([0.0499, 0.0499])
        """
        return np.array([layer.mean_resultant_length() for layer in self.layers])

    def entropy(self) -> float:
        """Return the differential entropy of the output, the sum over the blocks.

        Returns
        -------
        float

        Examples
        --------
        >>> import tightnoise as tn
        >>> m = tn.ProductVonMisesFisher(kappas=0.0, dims=[2, 3])
        >>> round(m.entropy(), 6)  # log(2 pi) + log(4 pi)
        4.368901
        """
        layers = Counter(self.layers)
        return math.fsum(count * layer.entropy() for layer, count in layers.items())

    # --- costs ------------------------------------------------------------------------------------

    def cost(self, *, angle: ArrayLike = math.pi, adjacency: Adjacency | None = None) -> Cost:
        """Return what a release costs where one record turns each block by at most `angle`.

        Parameters
        ----------
        angle : float or sequence of float
            One for each block, or one number for all; pi also covers blocks of zeros.
        adjacency : {None, "add-remove", "replace-one"}
            As for `VonMisesFisher.cost`.

        Returns
        -------
        Cost
            The sum over blocks. ``cost.sampled(...)`` is one draw for all of them.

        Raises
        ------
        ValueError, TypeError
            For angles outside [0, pi], not one angle a block, an unknown adjacency.

        Examples
        --------
        >>> import tightnoise as tn
        >>> m = tn.ProductVonMisesFisher(kappas=[70.0, 4.1], dims=[12800, 750])
        >>> print(f"{m.cost().epsilon(1e-5):.3f}")
        5.801
        """
        return sum(
            (
                layer.cost(angle=theta, adjacency=adjacency) * count
                for (layer, theta), count in self._pairs(angle).items()
            ),
            Cost(),
        )

    def renyi_divergence(self, *, angle: ArrayLike = math.pi, alpha: ArrayLike) -> Array | float:
        """Return the Renyi divergence of two outputs whose mean directions differ by angles.

        Parameters
        ----------
        angle : float or sequence of float
            The angle between the two mean directions of each block, in [0, pi]; one number is for
            all blocks.
        alpha : array_like
            Orders greater than 0: 1 is the Kullback-Leibler divergence, infinity the
            max-divergence.

        Returns
        -------
        float or ndarray of float64
            The sum over the blocks, of the shape of `alpha`. The nearest value; `rdp` rounds
            upwards.

        Raises
        ------
        ValueError, TypeError
            For angles or orders outside their domain, or not one angle a block.

        Examples
        --------
        >>> import tightnoise as tn
        >>> m = tn.ProductVonMisesFisher(kappas=[70.0, 4.1], dims=[12800, 750])
        >>> round(m.renyi_divergence(angle=[0.5, 3.0], alpha=2), 6)
        0.182914
        """
        orders = number_array("alpha", alpha)
        return sum(
            count * layer.renyi_divergence(angle=theta, alpha=orders)
            for (layer, theta), count in self._pairs(angle).items()
        )

    def rdp(self, alphas: ArrayLike | None = None, angle: ArrayLike = math.pi) -> RdpCurve:
        """Return what a release costs where one record turns each block by at most `angle`.

        Parameters
        ----------
        alphas : array_like, shape (n,), optional
            Orders of a table; by default the curve is known at every order above 1.
        angle : float or sequence of float
            The most that one record turns the mean direction of each block by, in [0, pi]; one
            number is for all blocks. The default holds for every data set, also where a block is
            zero; a smaller angle does not cover that.

        Returns
        -------
        RdpCurve
            Rounded upwards. Equal blocks are evaluated once.

        Raises
        ------
        ValueError, TypeError
            For angles or orders outside their domain, or not one angle a block.

        Examples
        --------
        >>> import tightnoise as tn
        >>> m = tn.ProductVonMisesFisher(kappas=0.1, dims=[256] * 3000)
        >>> round(m.rdp().epsilon(1e-6), 4)
        3.4178
        """
        curves = [
            layer.rdp(alphas, theta) * count for (layer, theta), count in self._pairs(angle).items()
        ]
        if alphas is None:  # in one go: adding one by one would merge the terms each time
            return RdpCurve.of_terms(term for curve in curves for term in curve.terms)
        return functools.reduce(operator.add, curves)

    def gdp_mu(self, angle: ArrayLike = math.pi) -> float:
        """Return a mu for which the release is mu-Gaussian-DP.

        Gaussian-DP mechanisms compose in squares (Dong, Roth and Su 2022, "Gaussian Differential
        Privacy", Corollary 3.3): the root of the sum of the squares of `VonMisesFisher.gdp_mu`.

        Parameters
        ----------
        angle : float or sequence of float
            As for `rdp`.

        Returns
        -------
        float
            Rounded upwards.

        Raises
        ------
        ValueError, TypeError
            As `VonMisesFisher.gdp_mu`, for each block.

        Examples
        --------
        >>> import tightnoise as tn
        >>> round(tn.ProductVonMisesFisher([70.0, 4.1], [12800, 750]).gdp_mu(), 6)
        1.273429
        """
        mus = [
            math.sqrt(count) * layer.gdp_mu(theta)
            for (layer, theta), count in self._pairs(angle).items()
        ]
        return _up(math.hypot(*mus))

    def zcdp_rho(self, angle: ArrayLike = math.pi) -> float:
        """Return a rho for which the release is rho-zCDP: the sum over the blocks.

        Parameters
        ----------
        angle : float or sequence of float
            As for `rdp`.

        Returns
        -------
        float
            Rounded upwards.

        Raises
        ------
        ValueError, TypeError
            As `rdp`.

        Examples
        --------
        >>> import tightnoise as tn
        >>> round(tn.ProductVonMisesFisher([70.0, 4.1], [12800, 750]).zcdp_rho(), 6)
        0.810427
        """
        return _up(
            math.fsum(
                count * layer.zcdp_rho(theta)
                for (layer, theta), count in self._pairs(angle).items()
            )
        )

    # --- blocks -----------------------------------------------------------------------------------

    def _pairs(self, angle: ArrayLike) -> Counter[tuple[VonMisesFisher, float]]:
        """Return how often each layer comes with each angle."""
        angles = number_array("angle", angle)
        if angles.shape not in ((), (len(self.layers),)):
            raise ValueError(
                f"angle must be one number or one for each of the {len(self.layers)} blocks; "
                f"got shape {angles.shape}"
            )
        each = np.broadcast_to(angles, (len(self.layers),)).tolist()
        return Counter(zip(self.layers, each, strict=True))

    def _blocks(self, name: str, value: Blocks) -> list[Floats]:
        """Return the blocks of one array, or of a list of arrays, checked."""
        if isinstance(value, (list, tuple)):
            return self._listed(name, value)
        return self._split(self._whole(name, value))

    def _whole(self, name: str, value: Blocks) -> Floats:
        array = float_array(name, value)
        fits = array.ndim > 0 and array.shape[-1] == self.dim
        require(fits, name, array.shape, f"of shape (..., {self.dim}), or a list of blocks")
        return array

    def _listed(self, name: str, value: Sequence[ArrayLike]) -> list[Floats]:
        self._require_one_a_block(name, value)
        blocks = [float_array(f"{name}[{i}]", block) for i, block in enumerate(value)]
        for i, (block, size) in enumerate(zip(blocks, self.dims, strict=True)):
            fits = block.ndim > 0 and block.shape[-1] == size
            require(fits, f"{name}[{i}]", block.shape, f"of shape (..., {size})")
        return blocks

    def _split(self, array: Floats) -> list[Floats]:
        edges = [0, *np.cumsum(self.dims).tolist()]
        return [array[..., begin:end] for begin, end in pairwise(edges)]

    def _places(self, out: Any, blocks: list[Floats]) -> list[Floats]:
        """Return where to write each block, all of them checked before the first is written."""
        rows = {block.shape[:-1] for block in blocks}
        if len(rows) > 1:
            raise ValueError(
                "mean_directions must have one shape but for the last axis; "
                f"got {[block.shape for block in blocks]}"
            )
        if out is None:
            return [np.empty_like(block) for block in blocks]
        if not isinstance(out, (list, tuple)):
            raise TypeError(f"out must be a list of arrays, as the input is; got {shown(out)}")
        self._require_one_a_block("out", out)
        each = zip(out, blocks, strict=True)
        places = [output(place, block.shape, block.dtype) for place, block in each]
        _require_apart(blocks, places)
        return places

    def _require_one_a_block(self, name: str, value: Sequence[Any]) -> None:
        count = len(self.layers)
        require(len(value) == count, name, f"{len(value)} items", f"a list of {count} blocks")


def _sequence(name: str, value: Any) -> list[Any]:
    if isinstance(value, (str, bytes)) or np.ndim(value) != 1:
        raise TypeError(f"{name} must be a sequence of numbers; got {shown(value)}")
    return list(value)


def _up(value: float) -> float:
    """Return a sum or a root of squares rounded upwards; 0 stays 0: nothing is released."""
    return value * _ROUNDING_UP


def _require_apart(blocks: Sequence[Floats], places: Sequence[Floats]) -> None:
    """Refuse a place that overlaps another, or a block but is not that block; all are contiguous.

    It would be read, or hidden by another, after it was written.
    """
    spans = []
    for block, place in zip(blocks, places, strict=True):
        here, there = _span(block), _span(place)
        spans.append((*there, True))
        if here != there:
            spans.append((*here, False))
    read = written = 0  # up to which address
    for begin, end, is_place in sorted(span for span in spans if span[0] < span[1]):
        if begin < written or (is_place and begin < read):
            raise ValueError("out must not overlap mean_directions, unless it is that, nor itself")
        if is_place:
            written = max(written, end)
        else:
            read = max(read, end)


def _span(array: Floats) -> tuple[int, int]:
    begin = int(array.ctypes.data)
    return begin, begin + array.nbytes
