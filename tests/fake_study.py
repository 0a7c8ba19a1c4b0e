"""A study's tables without its work: results that look real, for what is made from them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from study.parkinson import N_SPLITS, PAPER_VARIANT
from study.plan import METHODS, OTHER_METHODS, SHAPES, Arm, Preset, Run
from study.run import arm_runs
from study.tables import Outcome, Tables, tabulate


def fake_preset(shapes: tuple[tuple[int, int], ...]) -> Preset:
    """A study with as few runs as give every part something to say."""
    seeds = range(1, 4)
    once: dict[str, Any] = {"sizes": (5,), "cost_draws": (1,)}
    return Preset(
        {
            "selections": Arm(METHODS, range(1, 3), seeds, nested=False),
            "aucs": Arm(METHODS, range(1), seeds),
            "paper": Arm(METHODS, range(40)),
            "clean": Arm(("optimal",), range(40), protocol="clean", **once),
            "extremes": Arm(METHODS, range(40), seeds, extremes_of="aucs"),
            "flip": Arm(METHODS, range(1, 3), seeds, nested=False, label_noise=(0.025,)),
            "methods": Arm(OTHER_METHODS, range(1), seeds, **once),
        },
        shapes,
    )


def fake_result(run: Run, resample: int, nested: bool) -> dict[str, Any]:
    """Return a result that depends on run and resample in a plausible way."""
    code = sum(ord(letter) for letter in run.study + run.method)
    rng = np.random.default_rng(
        (
            code,
            run.seed,
            run.n_samples,
            run.n_features,
            run.run,
            resample,
            int(100 * run.label_noise),
        )
    )
    chances = np.full(run.n_features, 0.05)
    chances[: run.n_informative] = 0.4 + run.epv / 40
    chances[run.n_informative] = 0.3 if run.method == "optimal" else 0.8
    auc = 1 - 0.25 * rng.random() * (1 + 4 * run.label_noise)
    return {
        "ridge": 0.02,
        "support": np.flatnonzero(rng.random(run.n_features) < chances).tolist(),
        "test_auc": min(1.0, auc + 0.01 * (run.method == "optimal")) if nested else None,
        "solves": 40,
        "unproven": 0 if run.method == "optimal" else 40,
    }


@cache
def fake_tables(shapes: tuple[tuple[int, int], ...] = SHAPES) -> Tables:
    """Return the tables of a study of fake results."""
    preset = fake_preset(shapes)
    outcomes: dict[str, dict[Run, Outcome]] = {}
    for name, arm in preset.arms.items():
        outcomes[name] = {
            run: {i: fake_result(run, i, arm.nested) for i in arm.resamples}
            for run in arm_runs(preset, arm, outcomes)
        }
    return tabulate(outcomes)


def write_fake_study(folder: Path, shapes: tuple[tuple[int, int], ...] = SHAPES) -> Path:
    """Write the tables to a folder, the Parkinson experiment's too, and return it."""
    fake_tables(shapes).save(folder)
    rng = np.random.default_rng(1)
    lines, rows, optima = [], [], []
    for variant, accuracy, measures in (
        (PAPER_VARIANT, 0.87, "PPE; Shimmer:APQ5; MDVP:APQ; D2"),
        ("features-22-rows", 0.89, "PPE; spread1; DFA; D2"),
        ("columns-17-persons", 0.77, "PPE; Shimmer:APQ5; MDVP:APQ; D2"),
    ):
        interval = {"": 0.0, "_mean": 0.01, "_lower": -0.03, "_upper": 0.03}
        lines.append(
            {"variant": variant, "n_resamples": 399, "measures": measures}
            | {f"accuracy{end}": accuracy + shift for end, shift in interval.items()}
            | {f"auc{end}": accuracy + shift for end, shift in interval.items()}
            | {"solves": 16_000, "unproven": 0}
        )
        rows += [
            {"variant": variant, "resample": i, "test_accuracy": accuracy + 0.015 * rng.normal()}
            for i in range(400)
        ]
        optima += [
            {"variant": variant, "ridge": ridge, "measures": measures}
            for ridge in (0.1, 0.02, 0.004)
            if variant.endswith("rows")
        ]
    splits = {
        "seed": range(1, N_SPLITS + 1),
        "test_accuracy": 0.87 + 0.01 * rng.normal(size=N_SPLITS),
    }
    for name, table in (
        ("parkinson_summary.csv", lines),
        ("parkinson.csv.gz", rows),
        ("parkinson_optima.csv", optima),
        ("parkinson_splits.csv", splits),
    ):
        pd.DataFrame(table).to_csv(folder / name, index=False)
    return folder
