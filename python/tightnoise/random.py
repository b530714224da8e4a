"""Where noise comes from: keys, seeds, and the rule that no key and counter are used twice."""

from __future__ import annotations

import operator
import os
import threading
import weakref
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import DTypeLike

from tightnoise._arrays import output
from tightnoise._core import random
from tightnoise._kinds import numpy_view
from tightnoise._validate import integer, require

__all__ = ["NoiseStream", "Reservation", "default_stream"]

BATCH = 256  # parts of an array's noise begin at multiples of it
MOST_OFFSET = 2**56


class NoiseStream:
    """A source of noise: a secret, and a count of the arrays drawn with it.

    Every array drawn takes the next number; its element j depends on the secret, that number, what
    is drawn (uniforms, normals, or which mechanism's noise), the dtype and j alone. So the same
    seed and the same sequence of calls give the same bits on every machine, at every SIMD level and
    for any number of threads, and a longer array starts with the elements of a shorter one.

    Parameters
    ----------
    seed : None, int or bytes, optional
        None (the default) takes a 256-bit key from the operating system: the only choice for a
        release. An integer in [0, 2**256) or bytes of any length give reproducible noise; whoever
        knows or guesses the seed can take the noise off again.

    Raises
    ------
    TypeError
        If `seed` is none of these, or on an attempt to pickle or copy a stream: two copies would
        draw the same noise.
    ValueError
        If an integer `seed` is out of range.

    Notes
    -----
    Threads may share a stream. A forked child that uses an unseeded stream gets a new key from the
    operating system first, so it never repeats its parent; a seeded stream does repeat in parent
    and child. A snapshot of a whole virtual machine that is started twice repeats its keys.

    One seed gives independent noise for each mechanism, also for the same number. What shares its
    random numbers is one mechanism under several parameters or dtypes, and
    ``LiftedVonMisesFisher`` and ``ProductVonMisesFisher`` (an array a block) with
    ``VonMisesFisher``, of which they are made.

    *What is claimed.* The bits are the ChaCha20 keystream of RFC 8439 (64-bit counter and 64-bit
    stream number) under a key from the operating system, and no key, stream number and counter are
    used twice: without the key, no feasible computation tells them from random bits. Without a
    seed, every array has a key of its own, which is erased with the keystream as soon as the array
    is there; the secret is replaced by fresh keystream ("Fast-key-erasure random-number
    generators", Bernstein 2017). So whoever reads the memory of the process later learns no noise
    drawn before but what the caller kept. A seed's key stays as long as the stream does.

    The numbers that are made of these bits here, by ``uniform`` and ``standard_normal``, are floats
    near to those of the law; theta + noise made of them gives theta away in its last digits. The
    mechanisms' ``sample`` is exact: what its cost covers, and what not, is in
    docs/threat-model.md.

    Examples
    --------
    >>> import numpy as np
    >>> import tightnoise as tn
    >>> stream = tn.random.NoiseStream(seed=2024)
    >>> noise = stream.standard_normal((2, 3), dtype=np.float32)
    >>> noise.shape, noise.dtype
    ((2, 3), dtype('float32'))
    >>> again = tn.random.NoiseStream(seed=2024).standard_normal((2, 3), dtype=np.float32)
    >>> bool((noise == again).all())
    True
    """

    __slots__ = ("__weakref__", "_source")

    def __init__(self, seed: int | bytes | None = None) -> None:
        # Keys stay inside the core, which erases them; no message can show them.
        source = random.NoiseSource
        self._source = source() if seed is None else source(_key_of(seed))

    def uniform(
        self,
        shape: int | Sequence[int] | None = None,
        *,
        dtype: DTypeLike | None = None,
        out: object = None,
    ) -> Any:
        """Draw from the open interval (0, 1): neither 0 nor 1 is ever returned.

        Parameters
        ----------
        shape : int or tuple of int, optional
            None gives one number, or as many as `out` holds.
        dtype : float32 or float64, optional
            Default: that of `out`, else float64.
        out : numpy.ndarray or torch tensor, optional
            Where the numbers go: of that shape and dtype, writeable and C-contiguous.

        Returns
        -------
        numpy.ndarray or scalar
            (k + 1/2) / 2**52 with k uniform on 0, ..., 2**52 - 1; in float32, 23 in place of 52.

        Raises
        ------
        TypeError, ValueError
            If `shape`, `dtype` or `out` are not as above.

        Examples
        --------
        >>> import tightnoise as tn
        >>> bool(0 < tn.random.NoiseStream(seed=1).uniform() < 1)
        True
        """
        return self._fill(random.uniform, shape, dtype, out)

    def standard_normal(
        self,
        shape: int | Sequence[int] | None = None,
        *,
        dtype: DTypeLike | None = None,
        out: object = None,
    ) -> Any:
        """Draw standard normal numbers, by the method of Box and Muller (1958).

        Parameters
        ----------
        shape : int or tuple of int, optional
            None gives one number, or as many as `out` holds.
        dtype : float32 or float64, optional
            Default: that of `out`, else float64.
        out : numpy.ndarray or torch tensor, optional
            Where the numbers go: of that shape and dtype, writeable and C-contiguous.

        Returns
        -------
        numpy.ndarray or scalar
            Normals. Magnitudes reach 9.49 (float64) or 6.76 (float32).

        Raises
        ------
        TypeError, ValueError
            If `shape`, `dtype` or `out` are not as above.

        Examples
        --------
        >>> import numpy as np
        >>> import tightnoise as tn
        >>> buffer = np.empty(1000, dtype=np.float32)
        >>> tn.random.default_stream().standard_normal(out=buffer) is buffer
        True
        """
        return self._fill(random.standard_normal, shape, dtype, out)

    def reserve(self) -> Reservation:
        """Take the next number for one array that is to be drawn in parts, perhaps elsewhere.

        Returns
        -------
        Reservation
            For ``rng=`` of a mechanism's ``sample``, with ``offset=``. In the order of calls it
            stands where an array would.

        Examples
        --------
        >>> import numpy as np
        >>> import tightnoise as tn
        >>> m, theta = tn.Gaussian(1.0), np.zeros(1000)
        >>> whole = m.sample(theta, rng=tn.random.NoiseStream(seed=5))
        >>> one_array = tn.random.NoiseStream(seed=5).reserve()
        >>> parts = [m.sample(theta[k : k + 512], rng=one_array, offset=k) for k in (0, 512)]
        >>> bool((np.concatenate(parts) == whole).all())
        True
        """
        return Reservation._of(self._source.reserve())

    def _fill(
        self,
        core: Callable[..., None],
        shape: int | Sequence[int] | None,
        dtype: DTypeLike | None,
        out: object,
    ) -> Any:
        like = np.empty((), np.float64) if out is None else numpy_view("out", out)
        sizes = like.shape if shape is None else dimensions("shape", shape)
        kind = like.dtype if dtype is None else np.dtype(dtype)
        if kind not in (np.float32, np.float64):
            raise TypeError(f"dtype must be float32 or float64; got {kind}")
        filled = output(out, sizes, kind)
        core(filled, self._source)
        if out is not None:
            return out
        return filled if filled.ndim else filled[()]

    def bit_generator(self) -> np.random.BitGenerator:
        """Return what a `numpy.random.Generator` draws from: the keystream of this stream.

        So all of NumPy's distributions, shuffles and choices come from the cryptographic generator,
        and from this stream's seed, if it has one. Each call takes the next number of the stream,
        as an array does: two bit generators of one stream are independent.

        Returns
        -------
        object
            With the capsule and the lock of NumPy's C interface, which is all that
            `numpy.random.Generator` (and `RandomState`) takes; pass that, not this, to SciPy. It
            cannot be pickled or copied, has no `state` and no `spawn`, and keeps the stream alive.

        Notes
        -----
        Generators on one bit generator may be used by several threads: NumPy holds the lock. In a
        forked child one of an unseeded stream takes a new key before its first word; one of a
        seeded stream goes on as its parent's does. What NumPy makes of the bits are floats near to
        those of the law, and not noise for a release: `sample` of a mechanism is.

        Examples
        --------
        >>> import numpy as np
        >>> import tightnoise as tn
        >>> generator = np.random.Generator(tn.random.NoiseStream().bit_generator())
        >>> sorted(generator.permutation(5).tolist())
        [0, 1, 2, 3, 4]
        """
        return cast("np.random.BitGenerator", _BitGenerator(self))

    def __repr__(self) -> str:
        keyed = "seeded" if self._source.is_seeded else "keyed by the operating system"
        return f"<NoiseStream, {keyed}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a NoiseStream cannot be pickled or copied: both would draw the same noise")


class Reservation:
    """The noise of one array, drawn in parts: by chunks, or by several processes.

    Made by `NoiseStream.reserve`. Given as ``rng=``, together with ``offset=``, to `sample` of any
    mechanism but those for directions, it draws the coordinates from there on: whoever draws which
    part, all parts together are what one call would have drawn.

    One reservation is for one array, released once. A part may be drawn again for the same values,
    by the same mechanism, and has the same bits then, as a task that is computed twice needs. What
    overlaps a part that was drawn for anything else raises ValueError, since the difference of two
    releases with the same noise is that of their true values. *A reservation knows of what this
    object drew*: copies, which only pickling makes, know nothing of each other. Those who hand
    them out see to it that no two workers have the same coordinates, and that what is computed
    again is computed from the same data (docs/many-workers.md).

    Notes
    -----
    Its key stays as long as the object does, and so do the pickles of it: whoever has one can take
    the noise off. They are as secret as theta. What was drawn is known by a digest of theta, which
    takes about 1 ns a byte.

    Examples
    --------
    >>> import tightnoise as tn
    >>> one_array = tn.random.default_stream().reserve()
    >>> noisy = tn.Gaussian(1.0).sample([0.5, 2.5], rng=one_array, offset=256)
    >>> tn.Gaussian(1.0).sample([0.5, 2.0], rng=one_array, offset=256)
    Traceback (most recent call last):
    ...
    ValueError: offset must be where this reservation has drawn nothing else; got 256
    """

    __slots__ = ("__weakref__", "_drawn", "_lock", "_source")

    _source: random.NoiseSource
    _drawn: list[tuple[int, int, object]]  # first, end, of what; in order, without overlaps
    _lock: _Lock

    def __init__(self) -> None:
        raise TypeError("use NoiseStream.reserve()")

    @classmethod
    def _of(cls, source: random.NoiseSource) -> Reservation:
        self = object.__new__(cls)
        self._source, self._drawn, self._lock = source, [], _Lock()
        return self

    def _claim(self, first: int, size: int, what: object) -> None:
        """Refuse elements that were drawn for anything else but `what`."""
        end = first + size
        with self._lock:
            at = bisect_left(self._drawn, first, key=lambda part: part[1] - 1)
            near = self._drawn[at] if at < len(self._drawn) else None
            if near == (first, end, what):
                return
            is_free = near is None or end <= near[0]
            allowed = "where this reservation has drawn nothing else"
            require(is_free, "offset", first, allowed)
            self._drawn.insert(at, (first, end, what))

    def __repr__(self) -> str:
        return f"<Reservation, {len(self._drawn)} parts drawn here>"

    def __copy__(self) -> Reservation:
        return self

    def __deepcopy__(self, _: object) -> Reservation:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _reservation_of, self._source.reserved()


def _reservation_of(key: bytes, number: int) -> Reservation:
    return Reservation._of(random.NoiseSource.of_reserved(memoryview(key), number))


_locks: weakref.WeakSet[_Lock] = weakref.WeakSet()


class _Lock:
    """A lock that is free in a forked child, where whoever held it is not."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self.renew()
        _locks.add(self)

    def renew(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def _renew_locks() -> None:
    for lock in tuple(_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


class _BitGenerator:
    """A stream as NumPy's generators see it, by their C interface."""

    __slots__ = ("_stream", "capsule", "lock")

    def __init__(self, stream: NoiseStream) -> None:
        self._stream = stream
        self.capsule = random.numpy_capsule(stream._source)
        self.lock = _Lock()

    def __repr__(self) -> str:
        return f"<bit generator of {self._stream!r}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a bit generator of a NoiseStream cannot be pickled or copied")


def _key_of(seed: int | bytes) -> memoryview:
    import hashlib  # 3 MB of OpenSSL, which streams without a seed do without

    # The prefix keeps an integer and its bytes apart, and the person string keeps these keys apart
    # from any other use of the same seed.
    if isinstance(seed, bytes):
        material = b"bytes" + seed
    else:
        try:
            operator.index(seed)
        except TypeError:
            raise TypeError(
                f"seed must be None, an integer or bytes; got {type(seed).__name__}"
            ) from None
        number = integer("seed", seed, minimum=0, maximum=2**256 - 1)
        material = b"int" + number.to_bytes(32, "little")
    digest = hashlib.blake2b(material, digest_size=32, person=b"tightnoise seed").digest()
    return memoryview(digest)  # whose repr shows nothing


def dimensions(name: str, shape: int | Sequence[int]) -> tuple[int, ...]:
    """Return a shape, given as one or as one number."""
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return tuple(integer(name, size, minimum=0, maximum=2**63 - 1) for size in sizes)


_default = NoiseStream()


def default_stream() -> NoiseStream:
    """Return the stream that samples when no `rng` is given: one a process, keyed by the system.

    Returns
    -------
    NoiseStream
        The same object at every call.

    Examples
    --------
    >>> import tightnoise as tn
    >>> tn.random.default_stream()
    <NoiseStream, keyed by the operating system>
    """
    return _default
