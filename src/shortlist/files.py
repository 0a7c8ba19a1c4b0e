"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import InvalidFileError


def write_whole(path: Path, text: str) -> None:
    """Write a text file beside its final place, then rename it, so that no half of it is ever seen.

    Parameters
    ----------
    path : Path
        Where the file goes; an older regular file of that name is replaced.
    text : str
        Its content, written as UTF-8 with the line ends it has.
    """
    if path.exists() and not path.is_file():
        raise InvalidFileError(f"{path}: is not a regular file; choose another name.")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with part.open("x", encoding="utf-8", newline="") as file:
                file.write(text)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidFileError(
            f"{path}: cannot be written ({error.strerror}); choose another place."
        ) from None
