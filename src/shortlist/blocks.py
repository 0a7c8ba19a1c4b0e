"""Tables that are read in blocks of rows: in memory, or in a file that does not fit into it."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

BLOCK = 2**16  # rows


def is_on_disk(X: NDArray[Any]) -> bool:
    """Whether a table is a file that numpy has mapped, as by `np.load(path, mmap_mode="r")`."""
    return isinstance(X, np.memmap)


def row_blocks(X: NDArray[Any], size: int = BLOCK) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield consecutive rows, and their values as float64: a copy only if they are not.

    The memory that a file takes is released after each block.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.blocks import row_blocks
    >>> X = np.ones((5, 2), dtype=np.float32)
    >>> [(rows.start, float(block.sum())) for rows, block in row_blocks(X, size=3)]
    [(0, 6.0), (3, 4.0)]
    """
    for start in range(0, len(X), size):
        rows = slice(start, min(start + size, len(X)))
        yield rows, np.asarray(X[rows], dtype=np.float64)
        release(X)


def release(X: NDArray[Any]) -> None:
    """Release the memory that a file takes; the system keeps it in its cache while it can."""
    # Only of a file that cannot be changed: changes of mode "c" live in that memory alone.
    if isinstance(X, np.memmap) and X.mode == "r" and hasattr(mmap, "MADV_DONTNEED"):
        X._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]


def one_thread() -> AbstractContextManager[Any]:
    """Libraries take one thread: with more, products of matrices add up in another order."""
    limited: AbstractContextManager[Any] = _thread_pools().limit(limits=1)
    return limited


@cache
def _thread_pools() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401, its library is to be found too

    return ThreadpoolController()
