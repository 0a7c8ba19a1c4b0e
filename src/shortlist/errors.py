"""The exceptions and warnings that shortlist raises, each with a one-sentence message."""


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
