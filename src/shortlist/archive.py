"""The archive of a proof: arrays with its points and steps, and JSON for the rest.

Lists stand one after the other in one array, their lengths in another. The archive of a proof that
is too long for memory is not compressed, and its arrays are read where they lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, TypeVar, overload
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

Entry = TypeVar("Entry")

KINDS = ("fix", "bound", "branch", "one", "unaffordable")
_BLOCK = 4096  # entries that are read, or written, at a time
_LARGEST_RATIO = 20  # numbers of proofs hardly compress, and a point of zeros takes much memory


class Listed(Sequence[Entry]):
    """Entries that are made when they are asked for: those of a proof too long for memory.

    `between(start, stop)` makes some of them.
    """

    def __init__(self, length: int, between: Callable[[int, int], Sequence[Entry]]) -> None:
        self.length, self.between = length, between

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, place: int) -> Entry: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Entry]: ...

    def __getitem__(self, place: int | slice) -> Entry | Sequence[Entry]:
        chosen = range(self.length)[place]
        if isinstance(chosen, int):
            return self.between(chosen, chosen + 1)[0]
        return tuple(self[i] for i in chosen)

    def __iter__(self) -> Iterator[Entry]:
        for start in range(0, self.length, _BLOCK):
            yield from self.between(start, min(start + _BLOCK, self.length))


class PackedProof:
    """Points and steps as arrays; each stretch of them as the lists of a file in JSON."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.arrays = arrays
        lengths = arrays["lengths"].astype(np.int64)
        corrected = (lengths + 1) * arrays["corrected"].astype(bool)
        self._ends = {
            "columns": _ends(lengths, arrays["columns"]),
            "values": _ends(lengths, arrays["values"]),
            "corrections": _ends(corrected, arrays["corrections"]),
            "numbers": _ends(arrays["sizes"].astype(np.int64), arrays["numbers"]),
        }
        self.n_points, self.n_steps = len(lengths), len(arrays["kinds"])
        of_points = ("intercepts", "corrected", "smoothings")
        if any(len(arrays[name]) != self.n_points for name in of_points):
            raise ValueError("not as many of each as points")
        if len(arrays["sizes"]) != self.n_steps:
            raise ValueError("not as many sizes as steps")

    def points(self, start: int, stop: int) -> list[Any]:
        """Return some of the points."""
        columns, values, corrections = (
            self._lists(name, start, stop) for name in ("columns", "values", "corrections")
        )
        intercepts, smoothings = (
            self.arrays[name][start:stop].tolist() for name in ("intercepts", "smoothings")
        )
        points = []
        for *point, smoothing in zip(
            intercepts, columns, values, corrections, smoothings, strict=True
        ):
            n = 4 if point[3] else 3
            points.append([*point, smoothing] if smoothing else point[:n])
        return points

    def steps(self, start: int, stop: int) -> list[Any]:
        """Return some of the steps."""
        kinds = self.arrays["kinds"][start:stop].tolist()
        numbers = self._lists("numbers", start, stop)
        return [_step(KINDS[kind], mine) for kind, mine in zip(kinds, numbers, strict=True)]

    def _lists(self, name: str, start: int, stop: int) -> list[Any]:
        """Return some of the lists that stand one after the other in an array."""
        ends = self._ends[name][start : stop + 1].tolist()
        entries = self.arrays[name][ends[0] : ends[-1]].tolist()
        return [entries[first - ends[0] : last - ends[0]] for first, last in pairwise(ends)]


def _ends(lengths: NDArray[np.int64], entries: NDArray[Any]) -> NDArray[np.int64]:
    ends = np.concatenate([[0], np.cumsum(lengths)])
    if (lengths < 0).any() or ends[-1] != entries.size:
        raise ValueError("lengths that are not those of the lists")
    return ends


def _step(kind: str, numbers: list[int]) -> list[Any]:
    """Return a step as JSON has it."""
    if kind == "fix":
        node, point, n, *members = numbers
        return [kind, node, point, members[:n], members[n:]]
    return [kind, *numbers[:2], numbers[2:]] if kind == "one" else [kind, *numbers]


def _numbers(step: Sequence[Any]) -> list[int]:
    """Return the numbers of a step; of a `fix` also how many it forbids, before these."""
    if step[0] == "fix":
        _, node, point, forbidden, bought = step
        return [node, point, len(forbidden), *forbidden, *bought]
    return [*step[1:-1], *step[-1]] if step[0] == "one" else list(step[1:])


def _of_points(points: Sequence[Any]) -> dict[str, NDArray[Any]]:
    return {
        "intercepts": np.array([point[0] for point in points], dtype=np.float64),
        "lengths": np.array([len(point[1]) for point in points], dtype=np.int64),
        "columns": np.array([n for point in points for n in point[1]], dtype=np.int64),
        "values": np.array([t for point in points for t in point[2]], dtype=np.float64),
        "corrected": np.array([bool(p[3:] and p[3]) for p in points], dtype=np.uint8),
        "corrections": np.array([t for p in points if p[3:] for t in p[3]], dtype=np.float64),
        "smoothings": np.array([p[4] if p[4:] else 0.0 for p in points], dtype=np.float64),
    }


def _of_steps(steps: Sequence[Any]) -> dict[str, NDArray[Any]]:
    numbers = [_numbers(step) for step in steps]
    return {
        "kinds": np.array([KINDS.index(step[0]) for step in steps], dtype=np.uint8),
        "sizes": np.array([len(of_step) for of_step in numbers], dtype=np.int64),
        "numbers": np.array([n for of_step in numbers for n in of_step], dtype=np.int64),
    }


def write_archive(
    file: BinaryIO,
    folder: Path,
    rest: str,
    points: Iterable[Any],
    steps: Iterable[Any],
    *,
    is_long: bool,
) -> None:
    """Write arrays, a block of them at a time by way of files in a folder; compressed if not long.

    The same content gives the same bytes: the time of day is none of them.
    """
    with ExitStack() as stack:
        growing: dict[str, _Growing] = {}
        letters = {"rest": np.frombuffer(rest.encode(), dtype=np.uint8)}
        for pack, entries in ((_of_points, points), (_of_steps, steps)):
            for block in _blocks(entries):
                for name, array in (letters | pack(block)).items():
                    if name not in growing:
                        part = stack.enter_context(TemporaryFile(dir=folder))
                        growing[name] = _Growing(part, array.dtype)
                    growing[name].add(array)
                letters = {}
        with ZipFile(file, "w") as archive:
            for name, grown in growing.items():
                place = ZipInfo(f"{name}.npy")
                place.compress_type = ZIP_STORED if is_long else ZIP_DEFLATED
                with archive.open(place, "w", force_zip64=is_long) as entry:
                    grown.copy_to(entry)


class _Growing:
    """An array that grows in a file."""

    def __init__(self, file: BinaryIO, dtype: np.dtype[Any]) -> None:
        self._file, self._dtype = file, dtype
        self._length = self._most = 0

    def add(self, array: NDArray[Any]) -> None:
        self._file.write(array.tobytes())
        self._length += len(array)
        if self._dtype == np.int64:
            self._most = max(self._most, int(array.max(initial=0)))

    def copy_to(self, entry: Any) -> None:
        whole = self._dtype == np.int64  # in the smallest type that holds the largest of them
        dtype = np.min_scalar_type(self._most) if whole else self._dtype
        header = np.lib.format.header_data_from_array_1_0(np.empty(0, dtype))
        np.lib.format.write_array_header_1_0(entry, header | {"shape": (self._length,)})
        self._file.seek(0)
        while block := self._file.read(_BLOCK * self._dtype.itemsize):
            entry.write(np.frombuffer(block, self._dtype).astype(dtype).tobytes())


def _blocks(entries: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield lists of some entries, at least one list."""
    rest = iter(entries)
    block = list(islice(rest, _BLOCK))
    yield block
    while block := list(islice(rest, _BLOCK)):
        yield block


def read_archive(path: Path) -> tuple[str, PackedProof, bool]:
    """Return the rest of a proof, its points and steps, and whether these stay in the file.

    Other archives raise whatever they lead to.
    """
    with ZipFile(path) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > _LARGEST_RATIO * path.stat().st_size:
            raise ValueError("an archive that is larger than it can be")
        is_long = all(entry.compress_type == ZIP_STORED for entry in entries)
    if is_long:
        arrays = {Path(entry.filename).stem: _lying(path, entry) for entry in entries}
    else:
        with np.load(path, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
    rest = arrays.pop("rest").astype(np.uint8).tobytes().decode()
    return rest, PackedProof(arrays), is_long


def _lying(path: Path, entry: ZipInfo) -> NDArray[Any]:
    """Return an array of an archive without reading it."""
    with path.open("rb") as file:
        file.seek(entry.header_offset + 26)  # the lengths of its name and of another field follow
        before = sum(np.frombuffer(file.read(4), "<u2").tolist())
        file.seek(before, 1)
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError("another version of the form of arrays")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if len(shape) != 1 or dtype.hasobject:
            raise ValueError("no list of numbers")
        return np.memmap(path, dtype, "r", file.tell(), shape) if shape[0] else np.empty(0, dtype)
