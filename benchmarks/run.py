"""Run the benchmarks, write a CSV file for each, and print the tables."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from .catalogue import EXPERIMENTS
from .measure import Row, notes_on_noise, system, warm_up
from .peers.registry import NAMES
from .settings import PARKINSON, QUICK_RESULTS, RESULTS, Settings, SkippedError
from .table import Summary, read_csv, read_rows, show, unfinished, write_csv


def main() -> None:
    """Read the command line, then run one experiment after the other."""
    arguments = _parser().parse_args()
    output = arguments.output or (QUICK_RESULTS if arguments.quick else RESULTS)
    settings = Settings(
        quick=arguments.quick,
        seeds=tuple(arguments.seeds),
        data=arguments.data,
        limit=arguments.limit,
        full=arguments.full,
        peers=tuple(arguments.peers),
    )
    console = Console()
    warm_up()
    console.print(", ".join(f"{key} {value}" for key, value in system().items()), highlight=False)
    summaries: dict[str, Summary] = {}
    for name in arguments.only or [
        n for n in EXPERIMENTS if arguments.full or n not in ("peers", "machines")
    ]:
        experiment = EXPERIMENTS[name]
        console.print(f"{name} ...")
        path = output / f"{name}.csv"
        part = unfinished(path)
        done = read_rows(part if part.is_file() else path) if arguments.resume else ()
        rows: list[Row] = []
        left = {id(row): row for row in done}  # kept too, should this run be interrupted
        try:
            for row in experiment.run(replace(settings, done=done)):
                rows.append(row)
                left.pop(id(row), None)
                write_csv([*rows, *left.values()], part)
        except SkippedError as reason:
            console.print(f"{name} is skipped. {reason}", highlight=False)
            continue
        write_csv(rows, path)
        part.unlink(missing_ok=True)
        frame = read_csv(path)
        summary = experiment.summarise(frame)
        summaries[name] = replace(summary, notes=summary.notes + notes_on_noise(frame))
    for name, summary in summaries.items():
        show(console, EXPERIMENTS[name].TITLE, summary)
    console.print(f"The files are in {output}.", highlight=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    names = list(EXPERIMENTS)
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument(
        "--full", action="store_true", help="with the peers and the long rungs: an hour or two"
    )
    parser.add_argument(
        "--peers", nargs="+", choices=NAMES, default=[], metavar="NAME", help="only these peers"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="keep the rows of an earlier run, whole or not",
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
