"""Files that are written whole or not at all, and the folders they go to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .errors import InvalidFileError


def make_folder(path: Path) -> None:
    """Make a folder and those above it, where they are missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFileError(
            f"{path}: cannot be made ({error.strerror}); choose another place."
        ) from None


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file as `writing_whole` does.

    Parameters
    ----------
    path : Path
        Where the file goes; an older regular file of that name is replaced.
    content : str or bytes
        Its content; text is written as UTF-8 with the line ends it has.
    """
    with writing_whole(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def writing_whole(path: Path) -> Iterator[Path]:
    """Give a file to write beside its final place, then rename it: no half of it is ever seen.

    Of two writers of one path the last one wins.
    """
    if path.exists() and not path.is_file():
        raise InvalidFileError(f"{path}: is not a regular file; choose another name.")
    try:
        # A folder of its own: another writer of the path, or what one left, is not in the way.
        with TemporaryDirectory(prefix=".shortlist-", dir=path.parent) as folder:
            part = Path(folder) / path.name
            yield part
            part.replace(path)
    except OSError as error:
        raise InvalidFileError(
            f"{path}: cannot be written ({error.strerror}); choose another place."
        ) from None


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of a JSON file, as `json.loads` asks its hook; refuse a name given twice."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return entries
