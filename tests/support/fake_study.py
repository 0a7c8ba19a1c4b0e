"""A study's tables without its work: results that look real, for what is made from them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from study.parkinson import BY_PERSON, N_SPLITS, PAPER_VARIANT
from study.plan import METHODS, OTHER_METHODS, SHAPES, Arm, Preset, Run, runs_of
from study.run import arm_runs
from study.tables import Outcome, Tables, tabulate

SEEDS = (*range(1, 12), 2023)


def fake_preset(shapes: tuple[tuple[int, int], ...]) -> Preset:
    """A study with as few runs as give every part something to say."""
    return Preset(
        {
            "selections": Arm(METHODS, range(1, 5), SEEDS, nested=False),
            "aucs": Arm(METHODS, range(1), SEEDS),
            "methods": Arm(OTHER_METHODS, range(1), SEEDS[:3], rotating=True),
            "intervals": Arm(METHODS, range(40), SEEDS, selecting=False, rotating=True),
            "extremes": Arm(METHODS, range(40), SEEDS[:3], selecting=False, extremes_of="aucs"),
        },
        shapes,
    )


def fake_result(run: Run, arm: Arm) -> Outcome:
    """Return a result that depends on run and resamples in a plausible way."""
    code = sum(ord(letter) for letter in run.study + run.method)
    data = (run.seed, run.n_samples, run.n_features, run.run, int(100 * run.label_noise))
    supports, aucs = [], []
    for resample in arm.resamples:
        rng = np.random.default_rng((code, resample, *data))
        chances = np.full(run.n_features, 0.05)
        chances[: run.n_informative] = 0.4 + run.epv / 40
        chances[run.n_informative] = 0.3 if run.method == "optimal" else 0.8
        chances[0] = 1.0
        supports.append(np.flatnonzero(rng.random(run.n_features) < chances).tolist())
        auc = 1 - 0.25 * rng.random() * (1 + 4 * run.label_noise)
        aucs.append(min(1.0, auc + 0.01 * (run.method == "optimal")))
    solves = 40 * len(arm.resamples)
    unproven = 0 if run.method == "optimal" else solves
    aucs = aucs if arm.nested else []
    supports = supports if arm.selecting else []
    return {"supports": supports, "aucs": aucs, "solves": solves, "unproven": unproven}


@cache
def fake_tables(shapes: tuple[tuple[int, int], ...] = SHAPES) -> Tables:
    """Return the tables of a study of fake results."""
    preset = fake_preset(shapes)
    outcomes: dict[str, dict[Run, Outcome]] = {}
    for name, arm in preset.arms.items():
        outcomes[name] = {run: fake_result(run, arm) for run in arm_runs(preset, arm, outcomes)}
    return tabulate(outcomes)


def write_published_study(folder: Path) -> Path:
    """Write the tables of a study by the paper's own protocol, with few resamples."""
    arm = Arm(METHODS, range(40), (2023,))
    runs = runs_of(Preset({"published": arm}), arm)
    results = {run: fake_result(run, arm) for run in runs}
    tabulate({"published": results}).save(folder)
    return folder


def write_fake_study(folder: Path, shapes: tuple[tuple[int, int], ...] = SHAPES) -> Path:
    """Write the tables to a folder, the Parkinson experiment's too, and return it."""
    fake_tables(shapes).save(folder)
    rng = np.random.default_rng(1)
    found = "PPE; Shimmer:APQ5; MDVP:APQ; D2"
    variants, optima = [], []
    for variant, accuracy in ((PAPER_VARIANT, 0.87), (BY_PERSON, 0.77)):
        interval = {"": 0.0, "_lower": -0.03, "_upper": 0.03}
        variants.append(
            {"variant": variant, "n_resamples": 399, "measures": found}
            | {f"accuracy{end}": accuracy + shift for end, shift in interval.items()}
            | {"solves": 16_000, "unproven": 0}
        )
    for variant, measures in ((PAPER_VARIANT, found), ("features-22-rows", "PPE; DFA")):
        ridges = (0.1, 0.02, 0.004)
        optima += [{"variant": variant, "ridge": r, "measures": measures} for r in ridges]
    accuracy = pd.DataFrame(
        {
            "of": ["split"] * (N_SPLITS + 1) + ["resample"] * 399,
            "accuracy": 0.87 + 0.015 * rng.normal(size=N_SPLITS + 400),
        }
    )
    for name, table in (
        ("parkinson.csv", pd.DataFrame(variants)),
        ("parkinson_accuracy.csv", accuracy),
        ("parkinson_optima.csv", pd.DataFrame(optima)),
    ):
        table.to_csv(folder / name, index=False)
    return folder
