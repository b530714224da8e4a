"""An array summed up in one memory pass, for sums of smooth functions over all its elements.

Every coordinate of a gradient is released by the same mechanism, so its cost is a smooth function
of one number, the coordinate's distance t from the centre of the support. Sums of smooth functions
need little: with f(t) = sum_k a_k T_k(2 t / h - 1), T_k the Chebyshev polynomials,

    sum_i f(t_i) = sum_k a_k M_k,    M_k = sum_i T_k(2 t_i / h - 1),

and the moments M_k know nothing of f. Where one interval is too long for a few moments, and for
elements beyond it, the same is done bin by bin. A function with a kink, such as the greatest of
two, needs to know which elements lie on either side of it: for these, when the first is asked
about, the elements are sorted into narrow cells (`_cells`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise import _validate
from tightnoise._cells import Cells, Steep, Stretch, Zones, refined_sum
from tightnoise._core import sketch as core
from tightnoise._sketch_panels import (
    BIN_MOMENTS,
    BINS,
    SIGMAS_PER_COUNT_SCALE,
    Float64s,
    Panels,
    bin_panels,
    count_edges,
    interval_panels,
    panel_edges,
)

__all__ = ["Sketch"]

Function = Callable[[Float64s], Float64s]
Tail = Callable[[Float64s, Float64s, int, Float64s], Float64s]

_EPS = float(np.finfo(np.float64).eps)

# The number of global moments for half widths of up to so many sigma; beyond them, bins only.
_GLOBAL_MOMENTS = ((0.55, 8), (1.3, 12), (2.4, 16), (3.4, 20), (4.4, 24), (6.5, 32))
_DEFAULT_SIGMAS = 2.4  # half widths are so many sigma unless the caller says
_SIGMAS_PER_SCALE = 20.0  # bins are sigma * 20 / 128 wide up to t = 20 sigma
# Of sigma: bounds the number of elements in a cell times its width, see cpp/sketch/cells.hpp.
_CELL_UNIT = 1e-9
# A panel takes longer to interpolate functions on than so few elements per sigma do. (On a longer
# one, interpolants are less likely to be good enough.)
_SPARSE = 32.0
# Of the error that is accepted: what the interpolation errors may make up.
_INTERPOLATION_SHARE = 0.05
_ROUNDED = 1e-6  # what moments and edges may be rounded off by, relatively, and far less is


class _Moments(NamedTuple):
    """What one pass leaves: the core's own results."""

    interval: Float64s  # sums of T_k over the blocks within [0, half width]
    bins: Float64s  # (bins, moments): sums of T_k within each bin, over all other blocks
    nearest: float
    farthest: float
    outside: int  # elements beyond the last bin
    counts: Float64s  # of all elements, between `count_edges()` and beyond

    def __add__(self, other: _Moments) -> _Moments:  # type: ignore[override]
        return _Moments(
            self.interval + other.interval,
            self.bins + other.bins,
            min(self.nearest, other.nearest),
            max(self.farthest, other.farthest),
            self.outside + other.outside,
            self.counts + other.counts,
        )

    def same_bits(self, other: _Moments) -> bool:
        return (
            self.interval.tobytes() == other.interval.tobytes()
            and self.bins.tobytes() == other.bins.tobytes()
            and self.counts.tobytes() == other.counts.tobytes()
            and self[2:5] == other[2:5]
        )


class _Source(NamedTuple):
    array: Any
    moments: _Moments


class Sketch:
    """The elements of an array, summed up so that sums over them cost O(1).

    Made by `Sketch.of`. Sketches of the parts of an array (shards) add up with ``+``.

    Attributes
    ----------
    lower, upper : float
        The interval it was made for; t = abs(theta - (lower + upper) / 2).
    sigma : float
        The smallest length over which the functions to be summed may change.
    count : int
        Number of elements.
    nearest, farthest : float
        Least and greatest t.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> halves = [tn.Sketch.of(half, -1.0, 1.0) for half in ([0.0, 1.0], [-0.5])]
    >>> sums, errors = (halves[0] + halves[1]).sum_max([np.cos])
    >>> bool(abs(sums[0] - (1.0 + np.cos(1.0) + np.cos(0.5))) <= errors[0] < 1e-9)
    True
    """

    __slots__ = (
        "_cells_made",
        "_moments",
        "_panels_made",
        "_shards",
        "_sources",
        "_zones_made",
        "count",
        "lower",
        "sigma",
        "upper",
    )

    lower: float
    upper: float
    sigma: float
    count: int
    _moments: _Moments
    _shards: int
    _sources: tuple[_Source, ...] | None
    _cells_made: Cells | None
    _panels_made: list[Panels]
    _zones_made: dict[bool, Zones | None]

    def __init__(self) -> None:
        raise TypeError("use Sketch.of(theta, lower, upper)")

    @classmethod
    def of(cls, theta: object, lower: object, upper: object, *, sigma: object = None) -> Sketch:
        """Sum up `theta` in one pass.

        Parameters
        ----------
        theta : array_like of float32 or float64
            Any shape. It is not copied: the sketch keeps a reference (see `sources`).
        lower, upper : float
            The support of the mechanisms to be asked about; only its centre and width matter.
        sigma : float, optional
            The smallest noise scale that will be asked about; it decides the resolution. Smaller
            ones stay correct, but the error bound grows and mechanisms fall back on the exact
            pass. Default: (upper - lower) / 4.8.

        Returns
        -------
        Sketch
            The same bits for any number of threads. SIMD levels may differ in the last bits.

        Raises
        ------
        TypeError
            If theta does not hold real numbers.
        ValueError
            If theta holds a NaN or an infinity, lower >= upper, or sigma <= 0.

        Examples
        --------
        >>> import numpy as np
        >>> import tightnoise as tn
        >>> sketch = tn.Sketch.of(np.linspace(-0.1, 0.1, 1000), -1.0, 1.0, sigma=1.0)
        >>> sketch.count, sketch.farthest
        (1000, 0.1)
        """
        lower = _validate.real_scalar("lower", lower)
        upper = _validate.real_scalar("upper", upper)
        if not lower < upper:
            raise ValueError(f"lower must be less than upper; got {lower} and {upper}")
        half_width = 0.5 * upper - 0.5 * lower
        if sigma is None:
            sigma = half_width / _DEFAULT_SIGMAS
        sigma = _validate.positive("sigma", sigma)
        array = _validate.float_array("theta", theta, check_finite=False)

        self = object.__new__(cls)
        self.lower, self.upper, self.sigma = lower, upper, sigma
        self.count = array.size
        self._shards = 1
        self._moments = self._pass(array)
        source = theta if isinstance(theta, np.ndarray) else array
        self._sources = (_Source(source, self._moments),)
        self._cells_made = None
        self._zones_made = {}
        return self

    def buffers(self) -> tuple[Float64s, Float64s]:
        """Return what sketches add up as: two arrays, for an all-reduce between processes.

        Element by element, the first array of all workers is added up, of the second the least is
        taken; `from_buffers` makes of the results the sketch of all their elements.

        Returns
        -------
        sums : float64 array (n,), some 13,000 numbers, by the interval and sigma
        least : float64 array (8,)

        Examples
        --------
        >>> import numpy as np
        >>> import tightnoise as tn
        >>> workers = [tn.Sketch.of(part, -1.0, 1.0).buffers() for part in ([0.0, 1.0], [-0.5])]
        >>> sums, least = zip(*workers, strict=True)
        >>> tn.Sketch.from_buffers(np.sum(sums, axis=0), np.min(least, axis=0)).count
        3
        """
        moments = self._moments
        head = [self.count, self._shards, moments.outside]
        parts = (head, moments.interval, moments.bins.reshape(-1), moments.counts)
        terms = (self.lower, self.upper, self.sigma)
        least = [moments.nearest, -moments.farthest, *terms, *(-term for term in terms)]
        return np.concatenate(parts, dtype=np.float64), np.array(least, np.float64)

    @classmethod
    def from_buffers(cls, sums: object, least: object) -> Sketch:
        """Return the sketch that buffers, reduced over workers, stand for.

        It has no arrays: what moments and counts do not say accurately enough is an error when it
        is asked about, as after pickling, and has no cells, which pickles have.

        Parameters
        ----------
        sums, least : array_like
            What `buffers` returned, added up and of which the least was taken.

        Returns
        -------
        Sketch

        Raises
        ------
        ValueError
            If workers had different lower, upper or sigma, the arrays are not such buffers, hold
            NaN, or what they say of the elements does not agree.
        TypeError
            If they do not hold float64 numbers: others have too few digits.
        """
        added, best = _float64s("sums", sums), _float64s("least", least)
        _validate.require(best.shape == (8,), "least", f"shape {best.shape}", "of 8 numbers")
        nearest, minus_farthest, lower, upper, sigma, *negated = best.tolist()
        agreed = [lower, upper, sigma] == [-term for term in negated]
        allowed = "of sketches with the same lower, upper and sigma"
        _validate.require(agreed, "least", best[2:].tolist(), allowed)
        self = cls.of(np.empty(0), lower, upper, sigma=sigma)
        mine = self._moments
        ends = np.cumsum([3, mine.interval.size, mine.bins.size, mine.counts.size])
        good = added.shape == (ends[-1],) and bool(np.isfinite(added).all())
        _validate.require(good, "sums", f"shape {added.shape}", f"{ends[-1]} finite numbers")
        head, interval, bins, counts = np.split(added, ends[:-1])
        good = bool((head >= 0).all() and (head == np.rint(head)).all() and (counts >= 0).all())
        good = good and counts.sum() == head[0]
        _validate.require(good, "sums", head.tolist(), "of counts that agree")
        self.count, self._shards = int(head[0]), int(head[1])
        self._moments = _Moments(
            interval, bins.reshape(mine.bins.shape), nearest, -minus_farthest, int(head[2]), counts
        )
        self._require_agreement()
        self._sources = None
        return self

    def _require_agreement(self) -> None:
        """Raise ValueError unless moments, counts and distances may be of the same elements."""
        moments = self._moments
        held, good = float(moments.outside), self._shards > 0
        for panels in (moments.interval.reshape(1, -1), moments.bins):
            elements = panels[:, :1]  # T_0 is 1, and no T_k is larger
            held += float(elements.sum())
            good = good and bool((np.abs(panels) <= elements * (1 + _ROUNDED)).all())
        _validate.require(good and held == self.count, "sums", held, "of moments that agree")
        ends, good = (self.nearest, self.farthest), True
        cells = np.flatnonzero(moments.counts)
        edges = np.append(self.sigma * count_edges(), np.inf)
        for cell, end in zip((cells[:1], cells[-1:]), ends, strict=True):
            low, high = edges[cell] * (1 - _ROUNDED), edges[cell + 1] * (1 + _ROUNDED)
            good = good and bool(((low <= end) & (end <= high)).all())
        in_order = ends[0] <= ends[1] if cells.size else ends == (np.inf, 0.0)
        _validate.require(good and in_order, "least", ends, "of distances that agree with counts")

    @property
    def centre(self) -> float:
        """The point that distances are measured from."""
        return 0.5 * self.lower + 0.5 * self.upper

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return 0.5 * self.upper - 0.5 * self.lower

    @property
    def has_sources(self) -> bool:
        """Whether `sources` has arrays to return: not after pickling."""
        return self._sources is not None

    @property
    def panel_count(self) -> int:
        """Number of intervals on which `sum_max` interpolates functions."""
        return sum(part.left.size for part in self._panels())

    @property
    def reach(self) -> float:
        """The greatest distance at which `sum_max` needs functions; at least `farthest`."""
        ends = [float(part.right[-1]) for part in self._panels()]  # they are in order
        return max([self.farthest, *ends])

    @property
    def nearest(self) -> float:
        """The least distance from the centre; infinity for no elements."""
        return self._moments.nearest

    @property
    def farthest(self) -> float:
        """The greatest distance from the centre; 0 for no elements."""
        return self._moments.farthest

    @property
    def counts(self) -> Float64s:
        """Numbers of elements with t between neighbouring edges, and beyond the last.

        The edges are sigma times `count_edges()`: sigma/64 apart up to 2 sigma, then twice that,
        which doubles with t + 2 sigma.
        """
        counts = self._moments.counts.view()
        counts.flags.writeable = False
        return counts

    def _pass(self, array: NDArray[np.floating[Any]]) -> _Moments:
        interval = np.zeros(_moment_count(self.half_width / self.sigma))
        bins, counts = np.zeros((BINS, BIN_MOMENTS)), np.zeros(core.counts)
        nearest, farthest, outside, finite = core.moments(
            array,
            self.centre,
            self.half_width,
            self._scale,
            SIGMAS_PER_COUNT_SCALE * self.sigma,
            interval,
            bins.reshape(-1),
            counts,
        )
        if not finite:
            _validate.require_finite("theta", array)
            raise ValueError("theta - (lower + upper) / 2 must be finite")
        return _Moments(interval, bins, nearest, farthest, outside, counts)

    @property
    def _scale(self) -> float:
        return self.sigma * _SIGMAS_PER_SCALE

    def __add__(self, other: object) -> Sketch:
        """Return the sketch of both arrays together.

        Raises
        ------
        ValueError
            If the sketches were not made with the same lower, upper and sigma.
        """
        if not isinstance(other, Sketch):
            return NotImplemented
        mine = (self.lower, self.upper, self.sigma)
        if mine != (other.lower, other.upper, other.sigma):
            raise ValueError(
                "sketches add up only with the same (lower, upper, sigma); got "
                f"{mine} and {(other.lower, other.upper, other.sigma)}"
            )
        both = object.__new__(Sketch)
        both.lower, both.upper, both.sigma = mine
        both.count = self.count + other.count
        both._shards = self._shards + other._shards
        both._moments = self._moments + other._moments
        both._sources = (
            None
            if self._sources is None or other._sources is None
            else self._sources + other._sources
        )
        both._cells_made = None
        both._zones_made = {}
        if both._sources is None:  # what the cells were to be made of is gone
            cells = self._cells(), other._cells()
            if cells[0] is not None and cells[1] is not None:
                both._cells_made = Cells.joined([cells[0], cells[1]])
        return both

    def sources(self) -> list[NDArray[np.floating[Any]]]:
        """Return the arrays that were sketched, after checking that they have not changed.

        For sums that the sketch cannot give accurately enough. The check sketches each array anew
        and compares every bit of its moments (a change that leaves all moments as they are, such
        as a new order of elements within a block, leaves all sums as they are, too).

        Raises
        ------
        ValueError
            If an array has changed since, or the sketch was unpickled (arrays are not pickled).
        """
        if self._sources is None:
            raise ValueError(
                "this sketch no longer has the arrays it was made from (pickling drops them); "
                "pass the array itself, or a sketch made with a smaller sigma"
            )
        arrays = self._unchanged_sources()
        if arrays is None:
            raise ValueError("an array has changed since it was sketched; sketch it again")
        return arrays

    def _unchanged_sources(self) -> list[NDArray[np.floating[Any]]] | None:
        arrays = []
        for source in self._sources or ():
            array = _validate.float_array("theta", source.array, check_finite=False)
            if not self._pass(array).same_bits(source.moments):
                return None
            arrays.append(array)
        return arrays if self._sources is not None else None

    def __getstate__(self) -> tuple[Any, ...]:
        """Return all but the source arrays; their cells are made now."""
        cells = self._cells()
        kept = None if cells is None else tuple(cells)
        moments = tuple(self._moments)
        return (self.lower, self.upper, self.sigma, self.count, self._shards, moments, kept)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.lower, self.upper, self.sigma, self.count, self._shards, moments, cells = state
        self._moments = _Moments(*moments)
        self._cells_made = None if cells is None else Cells(*cells)
        self._sources = None
        self._zones_made = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return (object.__new__, (Sketch,), self.__getstate__())

    def __repr__(self) -> str:
        binned = np.count_nonzero(self._moments.bins[:, 0])
        parts = []
        if self._moments.interval.size and self._moments.interval[0]:
            parts.append(f"{self._moments.interval.size} moments")
        if binned:
            parts.append(f"{binned} bins with {BIN_MOMENTS} moments")
        return (
            f"<Sketch of {self.count} elements for [{self.lower:g}, {self.upper:g}], "
            f"sigma >= {self.sigma:g}: {', '.join(parts) or 'empty'}; "
            f"distance from the centre {self.nearest:g} to {self.farthest:g}>"
        )

    def sum_max(
        self,
        functions: Sequence[Function],
        *,
        relative_error: float = 1e-12,
        tails: Sequence[Tail] | None = None,
        steep: Steep | None = None,
        accepted: float = 4e-10,
    ) -> tuple[Float64s, Float64s]:
        r"""Return sum_i max_f f(t_i) over all elements, and bounds on the error of these sums.

        Parameters
        ----------
        functions : sequence of callables
            Each takes distances t, shape (n,), and returns float64 values (orders, n): one or more
            functions at once, analytic around t >= 0.
        relative_error : float
            Of the values that the functions return.
        tails : sequence of callables, optional
            One for each function, for a proven bound of its interpolation error. Called with the
            ends of the panels, two arrays (panels,), the number of nodes, and errors (orders,) that
            are small enough not to matter, it returns upper bounds (orders, panels) of abs(f - p)
            there, where p interpolates f in so many Chebyshev points (zeros of a Chebyshev
            polynomial).
        steep : Steep, optional
            What else is known of the greatest function, for panels where an interpolant is too far
            off.
        accepted : float
            Errors of at most this fraction of the sum are good enough. Where they are larger, the
            elements are sorted into narrow cells, once for all questions (some 30 ns an element; a
            pickled sketch has them already).

        Returns
        -------
        sums : float64 array (orders,)
        errors : float64 array (orders,)
            abs(sums - truth) <= errors. Infinity where the sketch has no useful answer.

        Notes
        -----
        Each function is interpolated at n Chebyshev nodes of each panel (the interval, or eight
        bins). `errors` adds up, weighted with the number of elements concerned:

        - the coefficients beyond the moments there are: explicit sum, proven;
        - the error of the interpolant: with `tails`, theirs; without, an estimate a posteriori,
          not a proof: ten times the geometric series that continues the decay of the computed
          coefficients, and infinity if they decay by less than a factor 0.9 each;
        - the functions' own relative error times the Lebesgue constant, proven;
        - where the greatest function is not the same all over a bin (or the interval): the
          greatest amount by which another exceeds the one used, bounded on parts by coefficients;
          or, from the cells, the sum of that excess, between what Jensen's inequality and the
          chord over each cell say, proven;
        - rounding of moments and sums, from worst-case bounds on the number of roundings.
        """
        panels, loose = self._parts(steep)
        if self._moments.outside or not (panels or loose.size):
            orders = np.atleast_2d(functions[0](np.zeros(1))).shape[0]
            return np.zeros(orders), np.full(orders, np.inf if self._moments.outside else 0.0)

        t = np.concatenate([*(part.nodes for part in panels), loose], axis=None)
        values = np.array([function(t) for function in functions])
        if values.ndim == 2:  # one order
            values = values[:, None, :]
        stretches = []
        begin = 0
        for part in panels:
            end = begin + part.nodes.size
            here = values[:, :, begin:end].reshape(*values.shape[:2], *part.nodes.shape)
            stretches.append(Stretch(part, here, relative_error, proven=tails is not None))
            begin = end
        alone = np.zeros((2, values.shape[1]))
        if loose.size:
            greatest = values[:, :, begin:].max(axis=0)
            alone[:] = greatest.sum(axis=1), np.abs(greatest).sum(axis=1)
            alone[1] *= 2.0 * relative_error + _EPS * (loose.size + 1.0)

        def summed() -> Float64s:
            total: Float64s = sum((stretch.sums.sum(axis=1) for stretch in stretches), alone[0])
            return total

        if tails is not None:
            # Whole powers of 256: what is proven once serves other sketches, too.
            enough = _INTERPOLATION_SHARE * accepted / self.count * np.abs(summed())
            enough = np.exp2(8.0 * np.floor(np.log2(np.maximum(enough, 1e-300)) / 8.0))
            for stretch in stretches:
                stretch.prove(tails, enough)
        total = summed()
        bound = sum((stretch.errors.sum(axis=1) for stretch in stretches), alone[1])
        bound = np.where(np.isnan(total + bound), np.inf, bound)
        doubtful = np.flatnonzero(~(bound <= accepted * np.abs(total)))
        if doubtful.size and (len(functions) > 1 or steep is not None):
            zones = self._zones(loosened=steep is not None)
            if zones is not None and panels is not zones.parts:  # they were made just now
                return self.sum_max(
                    functions,
                    relative_error=relative_error,
                    tails=tails,
                    steep=steep,
                    accepted=accepted,
                )
            if zones is not None:
                # While the arrays are there, a pass over them may be faster than over the cells.
                if self.has_sources and 3 * zones.cells.mean.size > self.count:
                    steep = None
                for order in doubtful.tolist():
                    rest = alone[0][order], alone[1][order]
                    total[order], bound[order] = refined_sum(
                        stretches, zones, order, steep, accepted, relative_error, rest
                    )
        return total, bound

    def _parts(self, steep: Steep | None) -> tuple[list[Panels], Float64s]:
        """Return the panels, and the distances of elements that are in none of these.

        As soon as there are cells, panels of few elements may be given up for the elements.
        """
        zones = None if self._cells_made is None else self._zones(loosened=steep is not None)
        return (self._panels(), np.empty(0)) if zones is None else (zones.parts, zones.loose)

    def _zones(self, *, loosened: bool) -> Zones | None:
        """Return the cells by panels, or None if they cannot be made."""
        if loosened not in self._zones_made:
            cells = self._cells()
            if cells is None:
                return None
            sparse = _SPARSE / self.sigma if loosened else 0.0
            self._zones_made[loosened] = Zones.of(self._panels(), cells, sparse)
        return self._zones_made[loosened]

    def _cells(self) -> Cells | None:
        """Return the cells of all elements, or None if the arrays are gone or have changed."""
        if self._cells_made is None:
            arrays = self._unchanged_sources()
            if arrays is None:
                return None
            cuts = np.append(self._scale * panel_edges(), np.nextafter(self.half_width, np.inf))
            self._cells_made = Cells.of(
                arrays, self.centre, np.unique(cuts), _CELL_UNIT * self.sigma
            )
        return self._cells_made

    def _panels(self) -> list[Panels]:
        """Return the interval and the bins, each if there is an element in it."""
        try:
            return self._panels_made
        except AttributeError:
            self._panels_made = self._make_panels()
            return self._panels_made

    def _make_panels(self) -> list[Panels]:
        panels = []
        interval, bins = self._moments.interval, self._moments.bins
        roundings = 16 + self._shards
        if interval.size and interval[0]:
            panels.append(interval_panels(interval, self.half_width, roundings))
        if bins[:, 0].any():
            panels.append(bin_panels(bins, self._scale, self.count, roundings))
        return panels


def _float64s(name: str, value: object) -> Float64s:
    """Return an array of float64; TypeError where it has others, which have too few digits."""
    array = _validate.plain_array(name, value)
    if array.dtype.kind in "iuf" and array.dtype.newbyteorder("=") != np.float64:
        raise TypeError(f"{name} must hold float64 numbers; got dtype {array.dtype}")
    return _validate.number_array(name, array)


def _moment_count(half_widths: float) -> int:
    for limit, count in _GLOBAL_MOMENTS:
        if half_widths <= limit:
            return count
    return 0
