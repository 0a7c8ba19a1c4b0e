"""The command line: its commands, and their error handling."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from ..errors import (
    InvalidCertificateError,
    InvalidFileError,
    InvalidProblemError,
    MissingDependencyError,
)
from .choice import alternatives, explore, path
from .deployment import calculator, export_model, manuscript, nomogram, points
from .fit import costs_template, fit
from .prediction import predict, validate
from .proof import export, verify
from .synthetic import demo, simulate

# Errors about wrong input, whose messages are one sentence each.
_INPUT_ERRORS = (
    InvalidCertificateError,
    InvalidFileError,
    InvalidProblemError,
    MissingDependencyError,
)


class OneSentenceGroup(TyperGroup):
    """Commands that answer wrong input with one sentence and exit code 2, never a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except _INPUT_ERRORS as error:
            message = str(error)
        except MemoryError:
            message = "not enough memory; keep only the rows and columns you need."
        except BrokenPipeError:
            raise  # the reader of our output has closed it
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename}: "
            message = f"{where}{error.strerror or error}."
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            raise typer.Exit(130) from None
        typer.echo(f"Error: {message}", err=True)
        raise typer.Exit(2)


class Command(TyperCommand):
    """A command whose flags are shown without a value, and whose budget is given once."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, `--help` among them."""
        params: list[Any] = super().get_params(ctx)
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; a second budget would take the place of the first in silence."""
        if sum(text.partition("=")[0] == "--budget" for text in args) > 1:
            raise InvalidProblemError("--budget: is given twice; give it once.")
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=OneSentenceGroup,
    help=(
        "Buy the best predictors a budget allows, and prove that no others are better.\n\n"
        "From patients and prices to a model: shortlist costs-template, then fit (with --report "
        "for a page to hand in), then predict, and validate on new patients. "
        "See also path, alternatives and verify. Every command has its own --help."
    ),
    epilog=(
        "Exit codes: 0 done; 1 a proof does not hold; 2 wrong input; 3 done, but a limit was "
        "reached before the proof; 130 interrupted."
    ),
    rich_markup_mode="markdown",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # Names that the terminal cannot show must not stop the command.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="shortlist")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"shortlist {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


# In the order of a first visit. The commands import heavy packages when they run, so that --help
# answers at once.
for command in (
    *(demo, simulate, costs_template, fit, predict, validate),
    *(calculator, points, nomogram, export_model, manuscript),
    *(path, alternatives, verify, export, explore),
):
    app.command(cls=Command)(command)
