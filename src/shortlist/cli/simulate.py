"""`shortlist simulate`: synthetic patients and their prices, to try the other commands on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InvalidProblemError
from .output import check_paths
from .progress import working


def simulate(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Where to write the patients, as CSV.")
    ],
    costs: Annotated[
        Path, typer.Argument(metavar="COSTS", help="Where to write the price list, as CSV.")
    ],
    rows: Annotated[int, typer.Option(min=2, max=1_000_000, help="Patients.")] = 1090,
    columns: Annotated[int, typer.Option(min=1, max=10_000, help="Predictors.")] = 14,
    informative: Annotated[int, typer.Option(min=1, help="Predictors that matter.")] = 5,
    label_noise: Annotated[
        float, typer.Option(min=0, max=0.5, help="Fraction of outcomes to flip.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed.")] = 0,
) -> None:
    """Write synthetic patients, the truth about their columns as JSON beside them, and prices."""
    from ..datasets import make_prognostic
    from ..files import write_whole
    from ..tables import csv_text

    check_paths([], [data, costs, data.with_name(f"{data.name}.json")])
    with working("Drawing patients"):
        try:
            study = make_prognostic(
                rows, columns, informative, label_noise=label_noise, random_state=seed
            )
        except ValueError as error:
            raise InvalidProblemError(str(error)) from None
        study.to_csv(data)
        prices = zip(study.X.columns, study.costs.tolist(), strict=True)
        write_whole(costs, csv_text(["predictor", "cost"], prices))
    typer.echo(
        f"{data} ({rows} patients) and {costs} written. "
        f"Try: shortlist fit {data} --outcome outcome --costs {costs} --budget 10",
        err=True,
    )
