"""Mutated files for every command: an answer or one sentence, no traceback, no half a file."""

import json
import random
from contextlib import chdir
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from shortlist.cli.app import app
from shortlist.explorer import PreparedPatients
from shortlist.patients import ModelCard
from shortlist.patients.table import split_patients
from shortlist.tables import read_table

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
FEES = "2,stage,smoker\n0.5,age,sex\n"
COSTS = [["predictor", "cost"], ["age", "1"], ["sex", "1.5"], ["stage", "3"], ["smoker", "0"]]
CELLS = [
    *("", " ", "NaN", "?", "inf", "-inf", "1e999", "1e-320", "1e200", "0", "1", "-1", "1.5", "1,5"),
    *("abc", "=1+1", "@x", "'", '"', '""', "\n", "\r", "\0", "\t", ";", "<b>", "[red]", "\x1b[2J"),
    *("😀", "\u202e", "\ufeff", "true", "2020-01-01", "age", "ill", "9" * 400, "1e5", "0x10"),
    "x" * 200_000,
]
KINDS = ["cell", "raw", "fill", "row", "column", "drop row", "drop column", "swap", "bytes", "cut"]
steps = st.tuples(st.sampled_from(KINDS), st.integers(0, 2**16), st.sampled_from(CELLS))
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


def mutate(rows: list[list[str]], steps: list[tuple[str, int, str]]) -> bytes:
    rows = [list(row) for row in rows]
    after = []
    for kind, seed, cell in steps:
        if not rows:
            break
        rng = random.Random(seed)
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
    return damage("\n".join(",".join(map(quoted, cells)) for cells in rows).encode(), after)


JSON_VALUES = [
    *(None, True, False, 0, -1, 1e308, -1e-308, 10**400, "", "x", "1", "\0", "1e999", "x" * 10_000),
    *([], {}, [[]], [0], [1, 2, 3], {"": 0}, ["a", "a"], [[0, [0], [0]]], [None] * 50),
]


def mutate_json(text: str, steps: list[tuple[str, int, str]]) -> bytes:
    """Replace, remove, repeat or rename parts of a JSON file, or damage its bytes."""
    content = json.loads(text)
    after = []
    for kind, seed, cell in steps:
        rng = random.Random(seed)
        if kind in ("bytes", "cut"):
            after.append((kind, rng))
            continue
        node = content
        while isinstance(node, dict | list) and node:
            key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
            if not isinstance(node[key], dict | list) or not node[key] or rng.random() < 0.3:
                break
            node = node[key]
        if not isinstance(node, dict | list) or not node:
            continue
        if kind.startswith("drop"):
            del node[key]
        elif kind == "row" and isinstance(node, list):
            node.insert(0, deepcopy(node[key]))
        elif kind == "column" and isinstance(node, dict):
            node[cell] = node.pop(key)
        elif kind == "swap" and isinstance(node[key], int | float):
            factor = rng.choice([-1, 2, 0.5, 1e300, 1 + 1e-6])
            is_huge = abs(node[key]) > 1e300  # a whole number of any length has no product
            node[key] = -node[key] if is_huge else node[key] * factor
        else:
            node[key] = deepcopy(rng.choice([cell, *JSON_VALUES]))
    return damage(json.dumps(content, default=str).encode(), after)


def damage(content: bytes, steps: list[tuple[str, random.Random]]) -> bytes:
    for kind, rng in steps:
        place = rng.randrange(len(content) + 1)
        if kind == "cut":
            content = content[:place]
        else:
            content = content[:place] + rng.randbytes(3) + content[place:]
    return content


QUESTION = ("--outcome", "ill", "--costs", "c.csv", "--fees", "f.csv", "--budget", "4")
# What each command is given, and what it may write; patients, prices and the rest are mutated.
COMMANDS = {
    "costs-template": (("p.csv", "--outcome", "ill", "-o", "o.csv"), {"o.csv"}),
    "fit": (
        ("p.csv", *QUESTION, "--ridge", "1", "--model", "n.json", "--certificate", "q.json"),
        {"n.json", "q.json"},
    ),
    "predict": (("m.json", "p.csv", "-o", "o.csv"), {"o.csv"}),
    "path": (("p.csv", *QUESTION, "--ridge", "1", "--json"), set()),
    "alternatives": (("p.csv", *QUESTION, "--ridge", "1", "--json"), set()),
    "verify": (("v.json", "p.csv", "--model", "m.json", "--json"), set()),
    "export": (("p.csv", "o.cbf", *QUESTION, "--ridge", "1"), {"o.cbf"}),
    "explore": (
        ("p.csv", *QUESTION[:-2], "--settings", "s.json", "--no-browser"),
        set(),
    ),
    "validate": (("m.json", "p.csv", "--outcome", "ill"), set()),
    "calculator": (("m.json", "-o", "o.html", "--patients", "p.csv"), {"o.html"}),
    "export-model": (("m.json", "-o", "o.R"), {"o.R"}),
    "nomogram": (("m.json", "-o", "o.svg"), {"o.svg"}),
    "points": (
        ("p.csv", *QUESTION, "--ridge", "1", "--json", "-o", "o.json", "--time-limit", "5"),
        {"o.json"},
    ),
}
# They read no file that a person makes, and neither does the paper's study, which has its own.
WITHOUT_FILES = {"demo", "simulate", "manuscript"}
# For one command on these few patients, which takes well below a second. What takes longer hangs.
LIMIT_SECONDS = 60


@cache
def right_files() -> dict[str, str]:
    """A model, its proof, and settings of the explorer, for the patients as they are."""
    with TemporaryDirectory() as folder:
        write(Path(folder), mutate(PATIENTS, []), mutate(COSTS, []), FEES, {})
        result = call(Path(folder), "fit", *COMMANDS["fit"][0])
        assert result.exit_code == 0, result.output
        card, proof = ((Path(folder) / name).read_text() for name in ("n.json", "q.json"))
        path = Path(folder) / "p.csv"
        patients = split_patients(path, read_table(path), "ill", None, None)
    state = PreparedPatients.prepare("p.csv", patients).first_state()
    return {"m.json": card, "v.json": proof, "s.json": state.model_dump_json()}


def write(folder, patients, costs, fees, others):
    content = {"p.csv": patients, "c.csv": costs, "f.csv": fees} | others
    for name, text in content.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def call(folder: Path, command: str, *arguments: str) -> Result:
    """Run a command in a folder; a server ends at once."""
    with chdir(folder), patch("uvicorn.Server.run", lambda *_, **__: None):
        return run(command, *arguments)


def check_command(folder: Path, command: str) -> None:
    """Run a command on the files of a folder, and look at how it ends and what it leaves behind."""
    arguments, written = COMMANDS[command]
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    started = perf_counter()
    result = call(folder, command, *arguments)
    assert perf_counter() - started < LIMIT_SECONDS
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name, content in before.items():
        assert after.pop(name) == content, name
    assert result.exit_code in (0, 1, 2, 3)
    if result.exit_code == 2:
        errors = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
        assert len(errors) == 1, result.stderr
        assert result.stderr.count("\n") <= 1 + result.stderr.count("Note: ")
        assert not after
    else:
        assert "Error" not in result.stderr
        assert set(after) <= written
        assert result.exit_code != 0 or set(after) == written
    if result.exit_code in (0, 3) and "--json" in arguments:
        json.loads(result.stdout)


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


def check_commands(commands, in_patients, in_costs, in_fees, in_json):
    right = right_files()
    files = {name: mutate_json(text, in_json) for name, text in right.items()}
    for command in commands:
        with TemporaryDirectory() as folder:
            write(
                Path(folder),
                mutate(PATIENTS, in_patients),
                mutate(COSTS, in_costs),
                mutate([row.split(",") for row in FEES.split()], in_fees),
                files,
            )
            check_command(Path(folder), command)


NAMES = {c.name or c.callback.__name__.replace("_", "-") for c in app.registered_commands}
KNOWN = [name for name in COMMANDS if name in NAMES]
# Few of the files at a time, so that the others are read too.
some_mutations = st.tuples(*[mutations] * 4).map(list) | st.integers(0, 3).flatmap(
    lambda place: mutations.map(lambda steps: [steps if i == place else [] for i in range(4)])
)


def test_every_command_that_reads_files_is_tried():
    assert NAMES.difference(WITHOUT_FILES, COMMANDS) == set()


@pytest.mark.parametrize("command", KNOWN)
def test_every_command_does_what_it_should_with_the_files_as_they_are(tmp_path, command):
    write(tmp_path, mutate(PATIENTS, []), mutate(COSTS, []), FEES, right_files())
    arguments, written = COMMANDS[command]
    result = call(tmp_path, command, *arguments)
    assert result.exit_code == 0, result.output
    assert written <= {path.name for path in tmp_path.iterdir()}


@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(some_mutations)
def test_some_mutated_files_for_all_commands(steps):
    check_commands(KNOWN, *steps)


@pytest.mark.slow
@pytest.mark.parametrize("command", KNOWN)
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(some_mutations)
def test_more_than_a_thousand_mutated_files_over_all_commands(command, steps):
    check_commands([command], *steps)


def test_the_files_themselves_are_right(tmp_path):
    check_run(tmp_path, mutate(PATIENTS, []), mutate(COSTS, []), ("--ridge", "1"))
    assert (tmp_path / "m.json").exists()


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(mutations, st.none() | mutations, ridges)
def test_some_mutated_files(in_patients, in_costs, ridge):
    check_mutations(in_patients, in_costs, ridge)


@pytest.mark.slow
@settings(max_examples=500, suppress_health_check=list(HealthCheck))
@given(mutations, st.none() | mutations, ridges)
def test_many_mutated_files(in_patients, in_costs, ridge):
    check_mutations(in_patients, in_costs, ridge)
