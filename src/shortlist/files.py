"""Files that are written whole or not at all, and the folders they go to."""

from __future__ import annotations

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
    """Write a file beside its final place, then rename it, so that no half of it is ever seen.

    Parameters
    ----------
    path : Path
        Where the file goes; an older regular file of that name is replaced. Of two writers of one
        path the last one wins.
    content : str or bytes
        Its content; text is written as UTF-8 with the line ends it has.
    """
    if path.exists() and not path.is_file():
        raise InvalidFileError(f"{path}: is not a regular file; choose another name.")
    try:
        # A folder of its own: another writer of the path, or what one left, is not in the way.
        with TemporaryDirectory(prefix=".shortlist-", dir=path.parent) as folder:
            part = Path(folder) / path.name
            part.write_bytes(content.encode() if isinstance(content, str) else content)
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
