"""How many threads the core may use."""

from __future__ import annotations

from tightnoise._core import (
    num_threads as core_num_threads,
)
from tightnoise._core import (
    set_num_threads as core_set_num_threads,
)
from tightnoise._validate import integer


def set_num_threads(threads: int) -> None:
    """Let the core use up to `threads` threads from now on.

    Results and noise never depend on the number of threads. Before the first call the number is
    that of the environment variable ``OMP_NUM_THREADS``, else that of the CPUs. A process forked
    from one that had used threads stays at one thread: the threading runtime does not survive a
    fork.

    Parameters
    ----------
    threads : int
        1 to 4096.

    Raises
    ------
    TypeError, ValueError
        If `threads` is not an integer from 1 to 4096.

    Examples
    --------
    >>> import tightnoise as tn
    >>> tn.set_num_threads(1)
    >>> tn.num_threads()
    1
    """
    core_set_num_threads(integer("threads", threads, minimum=1, maximum=4096))


def num_threads() -> int:
    """Return the number of threads that the core may use.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> import tightnoise as tn
    >>> tn.num_threads() >= 1
    True
    """
    return core_num_threads()
