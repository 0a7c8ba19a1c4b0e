"""Mutated tables and price lists: an answer or one sentence, never a traceback or half a file."""

import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from shortlist.cli.app import app
from shortlist.prognostic import ModelCard

PATIENTS = [["age", "sex", "stage", "smoker", "ill"]] + [
    [
        str(30 + 7 * (i % 6)),
        "fm"[i % 2],
        "I" * (i % 3 + 1),
        str(i % 5 == 0),
        str(i // 3 % 2),
    ]
    for i in range(24)
]
COSTS = [["predictor", "cost"], ["age", "1"], ["sex", "1.5"], ["stage", "3"], ["smoker", "0"]]
CELLS = [
    *("", " ", "NaN", "?", "inf", "-inf", "1e999", "1e-320", "1e200", "0", "1", "-1", "1.5", "1,5"),
    *("abc", "=1+1", "@x", "'", '"', '""', "\n", "\r", "\0", "\t", ";", "<b>", "[red]", "\x1b[2J"),
    *("😀", "\u202e", "\ufeff", "true", "2020-01-01", "age", "ill", "9" * 400, "1e5", "0x10"),
    "x" * 200_000,
]
KINDS = ["cell", "raw", "fill", "row", "column", "drop row", "drop column", "swap", "bytes", "cut"]
steps = st.tuples(st.sampled_from(KINDS), st.randoms(use_true_random=False), st.sampled_from(CELLS))
mutations = st.lists(steps, max_size=3)
ridges = st.sampled_from(
    [
        ("--ridge", "1"),
        ("--ridge", "tuned"),
        ("--ridge", "1", "--spline-knots", "4", "--missing-indicator"),
    ]
)


class Raw(str):
    """A cell that is written without quotes, whatever it holds."""


def quoted(cell: str) -> str:
    is_plain = isinstance(cell, Raw) or not set(cell) & set(',"\n\r;')
    return cell if is_plain else '"' + cell.replace('"', '""') + '"'


def mutate(rows: list[list[str]], steps: list[tuple[str, random.Random, str]]) -> bytes:
    rows = [list(row) for row in rows]
    after = []
    for kind, rng, cell in steps:
        if not rows:
            break
        row = rng.randrange(len(rows))
        column = rng.randrange(len(rows[row])) if rows[row] else 0
        if kind in ("cell", "raw") and rows[row]:
            rows[row][column] = cell if kind == "cell" else Raw(cell)
        elif kind == "fill":
            for cells in rows[1:]:
                if column < len(cells):
                    cells[column] = rng.choice([cells[column], cell, rng.choice(CELLS)])
        elif kind == "row":
            rows.insert(row, [cell] * rng.randrange(8))
        elif kind == "column":
            rows = [[*cells, cell] for cells in rows]
            rows[0][-1] = rng.choice([cell, "new", "age"])
        elif kind == "drop row":
            del rows[rng.randrange(len(rows)) :]
        elif kind == "drop column":
            rows = [cells[:column] + cells[column + 1 :] for cells in rows]
        elif kind == "swap":
            rng.shuffle(rows)
        else:
            after.append((kind, rng))
    content = "\n".join(",".join(map(quoted, cells)) for cells in rows).encode()
    for kind, rng in after:
        place = rng.randrange(len(content) + 1)
        if kind == "cut":
            content = content[:place]
        else:
            content = content[:place] + rng.randbytes(3) + content[place:]
    return content


def check_run(folder: Path, patients: bytes, costs: bytes | None, ridge: tuple[str, ...]) -> None:
    """Fit, and predict if that worked; without costs with a limit on the number of predictors."""
    files = {name: folder / name for name in ("p.csv", "c.csv", "m.json", "o.csv")}
    files["p.csv"].write_bytes(patients)
    limits: tuple[object, ...] = ("--max-features", "3")
    if costs is not None:
        files["c.csv"].write_bytes(costs)
        limits = ("--costs", files["c.csv"], "--budget", "4")
    before = {path.name for path in folder.iterdir()}
    result = run("fit", files["p.csv"], "--outcome", "ill", *limits, *ridge, "--json",
                 "--model", files["m.json"])  # fmt: skip
    left = {path.name for path in folder.iterdir()}
    if result.exit_code == 0:
        card = ModelCard.load(files["m.json"])
        assert json.loads(result.stdout)["model"]["intercept"] == card.intercept
        assert card.cost <= 4
        assert left == before | {"m.json"}
        again = run("predict", files["m.json"], files["p.csv"], "-o", files["o.csv"])
        assert again.exit_code == 0, again.output
        assert files["o.csv"].read_text().count("\n") == card.data.rows + 1
    else:
        assert isinstance(result.exception, SystemExit), result.exception
        assert result.exit_code == 2
        errors = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
        assert len(errors) == 1
        assert result.stderr.count("\n") <= 1 + result.stderr.count("Note: ")
        assert left == before


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def check_mutations(in_patients, in_costs, ridge):
    with TemporaryDirectory() as folder:
        patients = mutate(PATIENTS, in_patients)
        costs = None if in_costs is None else mutate(COSTS, in_costs)
        check_run(Path(folder), patients, costs, ridge)


def test_the_files_themselves_are_right(tmp_path):
    check_run(tmp_path, mutate(PATIENTS, []), mutate(COSTS, []), ("--ridge", "1"))
    assert (tmp_path / "m.json").exists()


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(mutations, st.none() | mutations, ridges)
def test_some_mutated_files(in_patients, in_costs, ridge):
    check_mutations(in_patients, in_costs, ridge)


@pytest.mark.slow
@settings(max_examples=500, suppress_health_check=list(HealthCheck))
@given(mutations, st.none() | mutations, ridges)
def test_many_mutated_files(in_patients, in_costs, ridge):
    check_mutations(in_patients, in_costs, ridge)
