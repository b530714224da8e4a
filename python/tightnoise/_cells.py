"""Sums over an array of functions with kinks: where moments do not suffice, narrow cells do.

The greatest of two smooth functions has a kink where they cross, and the moments of the elements
around it do not tell on which side they are. So the elements are sorted into cells, of which the
ends, the mean and the number of elements are kept. If g + b t^2 is convex, so is its sum's bound:

    g(mean) - b V <= average of g over a cell <= chord of g at the mean + b V,
    V = (mean - left) (right - mean) >= variance,

the first by Jensen's inequality, the second since a convex function lies below its chords, whatever
kinks g has and wherever they are. Both differ by at most the change of slope within the cell times
a fourth of its width, and cells of many elements are narrow (cpp/sketch/cells.hpp).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightnoise._core import sketch as core

if TYPE_CHECKING:
    from tightnoise._sketch_panels import Panels
    from tightnoise.sketch import Tail

Float64s = NDArray[np.float64]

# Elements that are sorted at once: bounds the memory that this takes.
_CHUNK = 1 << 23


class Cells(NamedTuple):
    """Elements in the order of their distances, cell by cell."""

    left: Float64s
    mean: Float64s
    right: Float64s
    elements: Float64s  # how many

    @classmethod
    def of(
        cls, arrays: Sequence[NDArray[np.floating[Any]]], centre: float, cuts: Float64s, unit: float
    ) -> Cells:
        """Sort the elements of some arrays; no cell goes across one of the cuts."""
        found = []
        for array in arrays:
            flat = array.reshape(-1)
            for begin in range(0, flat.size, _CHUNK):
                piece = flat[begin : begin + _CHUNK]
                found.append(cls(*core.cells(piece, centre, cuts, unit)))
        return cls.joined(found)

    @classmethod
    def joined(cls, parts: Sequence[Cells]) -> Cells:
        """Return the cells of all parts; they may overlap."""
        if not parts:
            return cls(*np.empty((4, 0)))
        if len(parts) == 1:
            return parts[0]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.argsort(columns[1], kind="stable")
        return cls(*(column[order] for column in columns))


class Steep(NamedTuple):
    """What is known of the greatest function where it is too steep to be interpolated.

    And that values of all functions are as accurate as is said if t is off by a few roundings.
    """

    values: Callable[[int, Float64s], Float64s]  # (which order, distances t) -> values at t
    bend: Float64s  # (orders,): each function plus bend t^2 is convex; infinite: unknown


class Stretch:
    """Panels of a sketch, the functions on them, and the sums over the elements there.

    If interpolation errors are to be proven, they are 0 until then.
    """

    def __init__(
        self, part: Panels, values: Float64s, relative_error: float, *, proven: bool
    ) -> None:
        self.part, self.values = part, values
        self._relative_error = relative_error
        self._proven = np.zeros(values.shape[:3]) if proven else None
        self._add_up()

    def prove(self, tails: Sequence[Tail], enough: Float64s) -> None:
        """Take bounds of the interpolation errors; none needs to be less than `enough`."""
        nodes = self.values.shape[3]
        bounds = [tail(self.part.left, self.part.right, nodes, enough) for tail in tails]
        self._proven = np.array(bounds)
        self._add_up()

    def _add_up(self) -> None:
        self.sums, self.errors, self.closeness = self.part.sum_max(
            self.values, self._proven, self._relative_error
        )

    def of_one(self, function: int, order: int) -> tuple[Float64s, Float64s]:
        """Return the sums of one function over the elements of each panel, and their errors."""
        which = np.s_[function : function + 1, order : order + 1]
        proven = None if self._proven is None else self._proven[which]
        sums, errors, _ = self.part.sum_max(self.values[which], proven, self._relative_error)
        return sums[0], errors[0]


class _Place(NamedTuple):
    """Some panels of a stretch, and the cells of which each is to interpolate functions."""

    stretch: int
    panels: NDArray[np.intp]
    begin: NDArray[np.intp]
    end: NDArray[np.intp]


class Zones(NamedTuple):
    """Panels by the distances they cover: no element of one zone is in a panel of another."""

    parts: list[Panels]
    loose: Float64s  # distances of the elements that are in no panel, and in no cell
    cells: Cells
    counted: Float64s  # (cells + 1,): elements before each cell
    places: list[list[_Place]]  # of each zone

    @classmethod
    def of(cls, given: Sequence[Panels], every: Cells, sparse: float) -> Zones | None:
        """Cells at most as far as the first part reaches belong to it, the others to the second.

        Panels with at most so many elements per length are given up.
        """
        parts, cells, loose = _without_sparse(given, every, sparse)
        spans = []
        begin = 0
        for which, part in enumerate(parts):
            last = which == len(parts) - 1
            reach = part.right[-1]
            end = cells.mean.size if last else int(np.searchsorted(cells.mean, reach, "right"))
            mean = cells.mean[begin:end]
            # The nearest panel: rounding can have put an element into the next one.
            below = np.clip(np.searchsorted(part.left, mean, "right") - 1, 0, part.left.size - 1)
            above = np.minimum(below + 1, part.left.size - 1)
            nearest = np.where(part.left[above] - mean < mean - part.right[below], above, below)
            outside = np.maximum(
                part.left[nearest] - cells.left[begin:end],
                cells.right[begin:end] - part.right[nearest],
            )
            if np.any(outside > 1e-9 * (part.right - part.left)[nearest]):
                return None  # interpolants say nothing there
            index = np.arange(part.left.size)
            first = begin + np.searchsorted(nearest, index, "left")
            after = begin + np.searchsorted(nearest, index, "right")
            spans += [
                (
                    part.left[i],
                    part.right[i],
                    _Place(which, index[i : i + 1], first[i : i + 1], after[i : i + 1]),
                )
                for i in index
            ]
            begin = end
        places: list[list[_Place]] = []
        reached = -1.0
        for left, right, place in sorted(spans, key=lambda span: (span[0], span[1])):
            if places and left < reached:
                places[-1].append(place)
            else:
                places.append([place])
            reached = max(reached, right)
        counted = np.concatenate([[0.0], np.cumsum(cells.elements)])
        return cls(parts, loose, cells, counted, places)


def _without_sparse(
    parts: Sequence[Panels], cells: Cells, sparse: float
) -> tuple[list[Panels], Cells, Float64s]:
    """Return what is left without the panels of few elements, and the distances of these.

    Only if it is known that the panel's moments are of the elements in its cells: these are inside
    by more than the rounding that can put an element into the next panel, and are as many.
    """
    beyond = max((part.right[-1] for part in parts[:-1]), default=0.0)
    alone = np.zeros(cells.mean.size, dtype=bool)
    kept = list(parts)
    for last in parts[-1:]:
        width = last.right - last.left
        few = np.zeros(width.size, dtype=bool)
        for i in np.flatnonzero(last.left >= beyond).tolist():
            within = slice(*np.searchsorted(cells.mean, (last.left[i], last.right[i])).tolist())
            left, _, right, count = (column[within] for column in cells)
            few[i] = (
                0.0 < count.sum() <= sparse * width[i]
                and count.sum() == last.moments[i, :, 0].sum()
                and left.min() > last.left[i] + 1e-9 * width[i]
                and right.max() < last.right[i] - 1e-9 * width[i]
                and bool(np.all((count <= 3.0) | (left == right)))  # so all elements are known
            )
            alone[within] = few[i]
        kept[-1:] = [] if few.all() else [last.only(~few)]
    left, mean, right, count = (column[alone] for column in cells)
    between = np.where(count == 3.0, 3.0 * mean - left - right, left)
    between = np.repeat(between, np.maximum(count - 2.0, 0.0).astype(np.intp))
    loose = np.concatenate([left[count > 1.0], between, right])
    return kept, Cells(*(column[~alone] for column in cells)), loose


def refined_sum(
    stretches: Sequence[Stretch],
    zones: Zones,
    order: int,
    steep: Steep | None,
    accepted: float,
    relative_error: float,
    rest: tuple[float, float],
) -> tuple[float, float]:
    """Return a sum and its error bound, from cells where what the panels say is too far off.

    `rest` is what there is beside the zones, and its error.
    """
    known = []
    for places in zones.places:
        of_places = [(stretches[at.stretch], at.panels) for at in places]
        value = sum(float(one.sums[order, panels].sum()) for one, panels in of_places)
        error = sum(float(one.errors[order, panels].sum()) for one, panels in of_places)
        known.append((value, np.inf if np.isnan(value + error) else error))
    ways: list[Callable[[Sequence[_Place]], tuple[float, float]]] = []
    if steep is not None and steep.bend[order] < np.inf:
        ways.append(lambda places: _direct(zones, places, order, steep, relative_error))
    if len(stretches[0].values) > 1:
        ways.append(lambda places: _interpolated(stretches, zones, places, order))
    left = [list(ways) for _ in known]  # the last is tried first: it is faster
    while True:
        total, bound = (sum(column) for column in zip(rest, *known, strict=True))
        final = rest[1] + sum(
            error for (_, error), more in zip(known, left, strict=True) if not more
        )
        if bound <= accepted * abs(total) or final > accepted * abs(total) or not any(left):
            return total, bound
        worst = max(range(len(known)), key=lambda zone: (bool(left[zone]), known[zone][1]))
        value, error = left[worst].pop()(zones.places[worst])
        if error < known[worst][1]:
            known[worst] = value, error


def _interpolated(
    stretches: Sequence[Stretch], zones: Zones, places: Sequence[_Place], order: int
) -> tuple[float, float]:
    """Return one function's sum, from moments, and by how much the others exceed it, from cells."""
    functions = len(stretches[0].values)
    alone = np.zeros((functions, 2))
    for place in places:
        for f in range(functions):
            sums, errors = stretches[place.stretch].of_one(f, order)
            alone[f] += sums[place.panels].sum(), errors[place.panels].sum()
    base = int(np.argmax(alone[:, 0]))
    total, bound = alone[base].tolist()
    for place in places:
        stretch = stretches[place.stretch]
        series = stretch.values[:, order, place.panels] @ stretch.part.basis.whole
        above = np.delete(series - series[base], base, axis=0)
        closeness = stretch.closeness[:, order, place.panels]
        off = closeness[base] + np.delete(closeness, base, axis=0).max(axis=0)
        left, right = stretch.part.left[place.panels], stretch.part.right[place.panels]
        sums, errors = np.empty(left.size), np.empty(left.size)
        core.excess(
            np.ascontiguousarray(above),
            0.5 * (left + right),
            0.5 * (right - left),
            place.begin.tolist(),
            place.end.tolist(),
            zones.cells,
            sums,
            errors,
        )
        total += float(sums.sum())
        elements = zones.counted[place.end] - zones.counted[place.begin]
        bound += float(errors.sum() + elements @ np.where(elements > 0.0, off, 0.0))
    return total, bound


def _direct(
    zones: Zones, places: Sequence[_Place], order: int, steep: Steep, relative_error: float
) -> tuple[float, float]:
    """Return the sum of the greatest function from its values at the ends and means of cells."""
    which = np.concatenate(
        [np.arange(b, e) for place in places for b, e in zip(place.begin, place.end, strict=True)]
    )
    left, mean, right, count = (column[which] for column in zones.cells)
    width = right - left
    wide = np.flatnonzero(width)
    found = steep.values(order, np.concatenate([mean, left[wide], right[wide]]))
    ends = np.array([found[: mean.size]] * 3)  # at the left, the mean and the right
    ends[0, wide], ends[2, wide] = found[mean.size :].reshape(2, -1)
    share = (mean - left) / np.where(width > 0.0, width, 1.0)
    chord = ends[0] + share * (ends[2] - ends[0])
    bent = steep.bend[order] * (mean - left) * (right - mean)
    upper, lower = chord + bent, ends[1] - bent
    total = 0.5 * float(count @ (upper + lower))
    gap = 0.5 * float(count @ np.maximum(upper - lower, 0.0))
    rounding = relative_error + 2.0**-52 * (which.size + 16.0)
    return total, gap + rounding * float(count @ np.abs(ends).max(axis=0))
