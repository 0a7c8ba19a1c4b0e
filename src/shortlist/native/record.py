"""The record of a search: in memory, or in files as soon as it outgrows memory."""

from __future__ import annotations

from contextlib import ExitStack
from shutil import disk_usage
from tempfile import TemporaryFile, gettempdir
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import Float, Int

# The structs of core/trace.hpp.
STEP = np.dtype([("kind", "i8"), ("node", "i8"), ("reference", "i8"), ("first_member", "i8")])
POINT = np.dtype(
    [("intercept", "f8"), ("intercept_step", "f8"), ("smoothing", "f8"), ("first_column", "i8")]
)
_KINDS = (STEP, POINT, np.dtype(np.int64), np.dtype(np.int32), np.dtype(np.float64))
_SHARE_OF_DISK = 0.5  # of what is free, that a record may take


class Record(NamedTuple):
    """What the core has written down.

    Attributes
    ----------
    steps, points : ndarray
        Of `STEP` and `POINT`.
    members, columns : ndarray of int
        Of the steps and of the points, one after the other; columns are places of the core.
    values : ndarray of float
        Of the columns of a point, then, if it is moved, their steps.
    """

    steps: NDArray[Any]
    points: NDArray[Any]
    members: Int
    columns: NDArray[np.int32]
    values: Float

    @classmethod
    def of(cls, trace: Any) -> Record:
        """Return what a trace of the core holds, without a copy."""
        arrays = (getattr(trace, name) for name in cls._fields)
        return cls(*(array.view(kind) for array, kind in zip(arrays, _KINDS, strict=True)))

    @property
    def n_bytes(self) -> int:
        """How much memory or disk it takes."""
        return sum(array.nbytes for array in self)


class RecordFiles:
    """The record of a search that outgrows memory, written as it grows.

    Its files are temporary ones without a name: whatever ends the process, nothing is left of them.
    A context closes them; arrays that refer to them live on.
    """

    def __init__(self) -> None:
        self._open = ExitStack()
        self._files: list[Any] = []
        self._lengths = [0] * len(Record._fields)
        self._left = 0.0  # bytes

    def __enter__(self) -> RecordFiles:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    @property
    def is_used(self) -> bool:
        """Whether anything was written."""
        return bool(self._files)

    def add(self, part: Record) -> bool:
        """Write down what follows; return whether the disk has room for it."""
        try:
            if not self._files:
                self._left = _SHARE_OF_DISK * disk_usage(gettempdir()).free
                for _ in _KINDS:
                    self._files.append(self._open.enter_context(TemporaryFile()))  # noqa: SIM115
            self._left -= part.n_bytes
            if self._left < 0:
                return False
            steps, points = part.steps.copy(), part.points.copy()
            steps["first_member"] += self._lengths[Record._fields.index("members")]
            points["first_column"] += self._lengths[Record._fields.index("columns")]
            for i, array in enumerate(part._replace(steps=steps, points=points)):
                self._files[i].write(array)
                self._lengths[i] += len(array)
        except OSError:
            return False
        return True

    def record(self) -> Record:
        """Return all of it, without reading it into memory."""
        arrays = []
        for file, kind, length in zip(self._files, _KINDS, self._lengths, strict=True):
            file.flush()
            arrays.append(
                np.memmap(file, kind, "r", shape=(length,)) if length else np.empty(0, kind)
            )
        return Record(*arrays)
