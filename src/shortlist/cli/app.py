"""The commands and their options; each command's work and its output are in files of their own."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from .. import __version__
from ..errors import InvalidProblemError, MissingDependencyError
from ..options import Progress
from .demo import SHOWCASE_SEED, Comparison, as_record, compare
from .demo_view import render

app = typer.Typer(
    help="Buy the best predictors a budget allows, and prove that no others are better.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


def main() -> None:
    """Run the command line."""
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
    # A callback of its own keeps `demo` a subcommand although it is the only one.
    pass


@app.command()
def demo(
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=2**32 - 1,
            help="Seed of the synthetic patients; the default was chosen to show a difference.",
        ),
    ] = SHOWCASE_SEED,
    budget: Annotated[float, typer.Option(min=0, help="Minutes to spend per patient.")] = 10,
    ridge: Annotated[float, typer.Option(help="Strength of the L2 penalty.")] = 0.02,
    label_noise: Annotated[
        float, typer.Option(min=0, max=0.5, help="Fraction of outcomes to flip.")
    ] = 0.0,
    backend: Annotated[str, typer.Option(help="Solver to use.")] = "native",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")] = False,
) -> None:
    """Show on synthetic patients what a budget buys, next to what the greedy rule buys."""
    try:
        comparison = _compare_with_spinner(seed, budget, ridge, label_noise, backend)
    except (InvalidProblemError, MissingDependencyError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None
    if as_json:
        typer.echo(json.dumps(as_record(comparison), indent=2))
    else:
        render(comparison, Console())


def _compare_with_spinner(
    seed: int, budget: float, ridge: float, label_noise: float, backend: str
) -> Comparison:
    with Console(stderr=True).status("Searching…") as status:

        def show(progress: Progress) -> None:
            status.update(
                f"Searching… {progress.nodes} nodes, penalised loss {progress.objective:.3f}, "
                f"proven at least {progress.lower_bound:.3f}"
            )

        return compare(
            seed=seed,
            budget=budget,
            ridge=ridge,
            label_noise=label_noise,
            backend=backend,
            callback=show,
        )
