"""The law of a noisy direction, as far as `scipy.stats` has words for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tightnoise._kinds import keeps_kind
from tightnoise.mechanisms._drawing import source_of
from tightnoise.random import NoiseStream, dimensions


class DirectionLaw:
    """Draws of noise on directions; densities, means and entropies are what each class says."""

    sample: Any
    _takes_blocks: ClassVar[bool] = False  # a list is one of blocks

    @keeps_kind
    def rvs(
        self,
        value: ArrayLike | Sequence[ArrayLike],
        *,
        size: int | Sequence[int] | None = None,
        random_state: NoiseStream | None = None,
    ) -> Any:
        """Draw outputs: `sample` of the value, repeated.

        Parameters
        ----------
        value : array_like
            What `sample` takes.
        size : int or tuple of int, optional
            How often each vector is repeated: that comes before the axes of `value`. By default
            once, without an axis of its own.
        random_state : NoiseStream, optional
            Where the noise comes from, as the `rng` of `sample`.

        Returns
        -------
        ndarray, or list of ndarray for a list of blocks
            As `sample`.

        Raises
        ------
        ValueError, TypeError
            As `sample`; also if `size` is no shape, or `random_state` is not a NoiseStream.

        Examples
        --------
        >>> import tightnoise as tn
        >>> tn.VonMisesFisher(kappa=5.0, dim=3).rvs([0.0, 0.0, 1.0], size=4).shape
        (4, 3)
        """
        source_of(random_state, "random_state")
        times = () if size is None else dimensions("size", size)

        def repeated(vectors: object) -> Any:
            array = np.asarray(vectors)
            return np.broadcast_to(array, (*times, *array.shape)) if times else vectors

        if self._takes_blocks and isinstance(value, (list, tuple)):
            return self.sample([repeated(block) for block in value], rng=random_state)
        return self.sample(repeated(value), rng=random_state)
