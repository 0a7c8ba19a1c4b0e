"""The exceptions and warnings that shortlist raises, each with a one-sentence message."""

from importlib.util import find_spec
from reprlib import Repr


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


def require_extra(extra: str, *packages: str) -> None:
    """Raise if a package that an extra of shortlist brings is not installed."""
    for package in packages:
        if find_spec(package) is None:
            raise MissingDependencyError(
                f"{extra}: the package {package} is not installed; "
                f"pip install 'shortlist[{extra}]'."
            )


def shown(value: object) -> str:
    """Return a value as a message shows it: quoted, on one line, and not too long."""
    shortener = Repr()
    shortener.maxstring = shortener.maxother = shortener.maxlong = 60
    return shortener.repr(value)
