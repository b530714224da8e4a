"""Independent von Mises-Fisher noise on the direction of each block of a vector."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tightnoise._arrays import Floats, output
from tightnoise._kinds import keeps_kind
from tightnoise._validate import float_array, number_array, require, shown
from tightnoise.costs import Adjacency, Cost
from tightnoise.mechanisms._direction_law import DirectionLaw
from tightnoise.mechanisms._grid import GridLike
from tightnoise.mechanisms._mechanism import Mechanism
from tightnoise.mechanisms.von_mises_fisher import VonMisesFisher
from tightnoise.random import NoiseStream

__all__ = ["ProductVonMisesFisher"]

Array = NDArray[np.float64]
Blocks = ArrayLike | Sequence[ArrayLike]


@dataclass(frozen=True)
class ProductVonMisesFisher(DirectionLaw, Mechanism):
    """Von Mises-Fisher noise on the direction of each block (each layer), independently.

    A vector of `dim` coordinates is cut into blocks, each block is divided by its own norm, and
    `VonMisesFisher(kappas[i], dims[i])` gives the direction that is released in its place. The
    divergence of independent outputs is the sum of their divergences, so the costs of the blocks
    add up, also if all of them change at once. At the same mean cosine, it does not matter into how
    many blocks a vector is cut: kappa in proportion to dim costs about as much in pieces as whole.

    Sampled, a record is in the batch of all blocks or of none, which is not the sum of what sampled
    blocks would cost: sample the cost of the product.

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

    _takes_blocks = True

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

    @keeps_kind
    def sample(
        self,
        mean_directions: Blocks,
        *,
        rng: NoiseStream | None = None,
        out: object = None,
        grid: GridLike = "auto",
    ) -> Any:
        """Return a random direction for each block: what is released.

        Each block of each row is what `VonMisesFisher.sample` returns, with a stream number of its
        own.

        Parameters
        ----------
        mean_directions : array_like of shape (..., dim), or list or tuple of array_like
            Either one array, whose last axis is the blocks one after the other, or a list of the
            blocks, each of shape (..., dims[i]).
        rng
            As there.
        out : ndarray or list of ndarray, optional
            Where to write: of the shape and dtype of `mean_directions`, and a list if that is one.
        grid : "auto", float or None
            As there, for all blocks; "auto" is a grid for each of them.

        Returns
        -------
        ndarray or list of ndarray
            As `mean_directions`: of its shape and dtype, or a list of blocks.

        Raises
        ------
        ValueError, TypeError
            As there; also for an `out` that overlaps itself. Nothing has been written then.

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

    @keeps_kind
    def logpdf(self, y: Blocks, mean_directions: Blocks) -> Array | float:
        """Return the log density of the output at y, the sum of `VonMisesFisher.logpdf`.

        Both arguments are arranged as for `sample`, and broadcast.
        """
        outputs = self._blocks("y", y)
        means = self._blocks("mean_directions", mean_directions)
        each = zip(self.layers, outputs, means, strict=True)
        return sum(layer.logpdf(block, mean) for layer, block, mean in each)

    @keeps_kind
    def mean(self, mean_directions: Blocks) -> Any:
        """Return the mean of the output, arranged as for `sample`: that of each block."""
        blocks = self._blocks("mean_directions", mean_directions)
        means = [layer.mean(block) for layer, block in zip(self.layers, blocks, strict=True)]
        return means if isinstance(mean_directions, (list, tuple)) else np.concatenate(means, -1)

    def mean_resultant_length(self) -> Array:
        """Return the mean cosine between each block's output and its mean direction."""
        return np.array([layer.mean_resultant_length() for layer in self.layers])

    def entropy(self) -> float:
        """Return the differential entropy of the output, the sum over the blocks."""
        layers = Counter(self.layers)
        return math.fsum(count * layer.entropy() for layer, count in layers.items())

    # --- what it costs ----------------------------------------------------------------------------

    def cost(self, *, angle: ArrayLike = math.pi, adjacency: Adjacency | None = None) -> Cost:
        """Return what a release costs where one record turns each block by at most `angle`.

        The sum of `VonMisesFisher.cost` over the blocks; ``cost.sampled(...)`` is one draw for all
        of them.

        Parameters
        ----------
        angle : float or sequence of float
            One for each block, or one number for all; pi also covers blocks of zeros.
        adjacency : {None, "add-remove", "replace-one"}
            As there.

        Returns
        -------
        Cost

        Raises
        ------
        ValueError, TypeError
            As there, and if angles are not one a block.

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
        """Return the sum of `VonMisesFisher.renyi_divergence` over the blocks, of alpha's shape.

        `angle` is as for `cost`.

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

    def _places(self, out: object, blocks: list[Floats]) -> list[Floats]:
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
