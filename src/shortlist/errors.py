"""The exceptions and warnings that shortlist raises, each with a one-sentence message."""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from reprlib import Repr
from typing import Any


class InvalidProblemError(ValueError):
    """An argument that does not describe a problem; the message names it and the fix."""


class InfeasibleError(InvalidProblemError):
    """No selection satisfies the constraints, for example `include` exceeds the budget."""


class InvalidCertificateError(ValueError):
    """A file that is not a certificate; the message says what is wrong with it."""


class InvalidFileError(ValueError):
    """A file that cannot be read or written as asked; the message names it and the fix."""


class MissingDependencyError(ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


class ShortlistWarning(UserWarning):
    """Something worth knowing that does not make the result wrong."""


def import_extra(package: str, extra: str, instead: str = "") -> Any:
    """Return an optional package, or raise a sentence that names the extra to install."""
    try:
        return import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        raise MissingDependencyError(
            f"The package {name} cannot be imported; install it with pip install "
            f"'shortlist[{extra}]'{instead}."
        ) from error


def shown(value: object) -> str:
    """Return a value as a message shows it: quoted, on one line, and not too long."""
    shortener = Repr()
    shortener.maxstring = shortener.maxother = shortener.maxlong = 60
    return shortener.repr(value)


def nearest(name: str, names: Iterable[object], otherwise: str) -> str:
    """Return whether the name nearest to a wrong one is meant, or what to do if none is near."""
    close = get_close_matches(name, [each for each in names if isinstance(each, str)], n=1)
    return f"is it {shown(close[0])}?" if close else otherwise
