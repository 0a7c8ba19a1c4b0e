"""Output files of a command, checked before the work starts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer

from ..errors import InvalidFileError
from ..files import write_whole


def check_paths(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Raise if an output has no folder, or would replace an input or another output."""
    taken = {path.resolve() for path in inputs if path is not None}
    for path in (path for path in outputs if path is not None):
        if path.is_dir():
            raise InvalidFileError(f"{path}: cannot be written, because it is a folder.")
        if not path.parent.is_dir():
            reason = f"there is no folder {path.parent}."
            raise InvalidFileError(f"{path}: cannot be written, because {reason}")
        if path.resolve() in taken:
            raise InvalidFileError(f"{path}: is used twice; choose another name for the output.")
        taken.add(path.resolve())


def write_or_print(text: str, output: Path | None, hint: str = "") -> None:
    """Write text to a file and say so, or print it."""
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_whole(output, text)
        typer.echo(f"{output} written. {hint}".strip(), err=True)
