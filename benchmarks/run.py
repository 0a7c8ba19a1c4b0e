"""Run the benchmarks, write a CSV file for each, and print what came out."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from .catalogue import EXPERIMENTS
from .measure import notes_on_noise, system, warm_up
from .settings import PARKINSON, QUICK_RESULTS, RESULTS, Settings, SkippedError
from .table import Summary, read_csv, show, write_csv


def main() -> None:
    """Read the command line, then run one experiment after the other."""
    arguments = _parser().parse_args()
    output = arguments.output or (QUICK_RESULTS if arguments.quick else RESULTS)
    settings = Settings(
        quick=arguments.quick,
        seeds=tuple(arguments.seeds),
        data=arguments.data,
        limit=arguments.limit,
    )
    console = Console()
    warm_up()
    console.print(", ".join(f"{key} {value}" for key, value in system().items()), highlight=False)
    summaries: dict[str, Summary] = {}
    for name in arguments.only:
        experiment = EXPERIMENTS[name]
        console.print(f"{name} ...")
        try:
            rows = experiment.run(settings)
        except SkippedError as reason:
            console.print(f"{name} is skipped. {reason}", highlight=False)
            continue
        path = output / f"{name}.csv"
        write_csv(rows, path)
        frame = read_csv(path)
        summary = experiment.summarise(frame)
        summaries[name] = replace(summary, notes=summary.notes + notes_on_noise(frame))
    for name, summary in summaries.items():
        show(console, EXPERIMENTS[name].TITLE, summary)
    console.print(f"The files are in {output}.", highlight=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    names = list(EXPERIMENTS)
    usual = [name for name in names if name != "peers"]
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--only", nargs="+", choices=names, default=usual, metavar="NAME", help=", ".join(names)
    )
    which.add_argument(
        "--full", action="store_const", const=names, dest="only", help="the peers too: half an hour"
    )
    parser.add_argument(
        "--quick", action="store_true", help="few repeats, small problems: does everything run?"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="of the grid's data")
    parser.add_argument("--data", type=Path, default=PARKINSON, help="the file parkinsons.data")
    parser.add_argument(
        "--limit", type=float, default=float("inf"), help="seconds that no solve may exceed"
    )
    parser.add_argument(
        "--output",
        type=Path,
        help=f"folder of the CSV files; {RESULTS}, or with --quick {QUICK_RESULTS}",
    )
    return parser


if __name__ == "__main__":
    main()
