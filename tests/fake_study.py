"""A study's tables without its work: numbers that look like results, for what is made from them."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SHAPES = {0.36: (82, 53), 1.35: (82, 14), 4.73: (1090, 53), 17.91: (1090, 14)}
STUDIES = {"cardinality": range(2, 6), "budget": range(1, 6)}
KEYS = (
    "study", "seed", "protocol", "n_samples", "n_features", "label_noise", "run", "method", "epv",
)  # fmt: skip
ROLES = ("informative", "redundant", "uninformative")
# Seeds, protocol, methods and number of resamples of each arm.
ARMS = (
    ((0,), "paper", ("optimal", "univariable"), 399),
    ((1, 2, 3), "paper", ("optimal", "univariable"), 9),
    ((0,), "clean", ("optimal", "univariable"), 49),
    ((0,), "paper", ("forward", "lasso"), 24),
)


@cache
def fake_tables(epvs_of_features: tuple[float, ...] = ()) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a summary and the frequencies of features."""
    rng = np.random.default_rng(7)
    summary: list[dict[str, Any]] = []
    features: list[dict[str, Any]] = []
    for seeds, protocol, methods, n_resamples in ARMS:
        for seed, (study, runs), epv, noise in product(seeds, STUDIES.items(), SHAPES, (0.0, 0.05)):
            for run, method in product(runs, methods):
                n_samples, n_features = SHAPES[epv]
                keys = {
                    "study": study,
                    "seed": seed,
                    "protocol": protocol,
                    "n_samples": n_samples,
                    "n_features": n_features,
                    "label_noise": noise,
                    "run": run,
                    "method": method,
                    "epv": n_samples * 0.23 / n_features,
                }
                n_informative = 5 if study == "budget" else run
                roles = [
                    ROLES[0 if j < n_informative else 1 if j == n_informative else 2]
                    for j in range(n_features)
                ]
                likely = {"informative": 0.3 + epv / 30, "redundant": 0.4, "uninformative": 0.03}
                chances = np.array([likely[role] for role in roles])
                frequency = rng.binomial(n_resamples, chances) / n_resamples
                auc = 0.75 + 0.2 * rng.random() * (1 - noise)
                shift = 0.04 if protocol == "paper" else -0.02
                extra: dict[str, float] = {}
                if protocol == "clean" or (seed == 0 and method in ("optimal", "univariable")):
                    extra |= {
                        "matched_mean": auc + shift,
                        "matched_lower": auc + shift - 0.05,
                        "matched_upper": min(auc + shift + 0.04, 1.0),
                        "matched_resamples": 49,
                    }
                if method == "optimal":
                    extra |= {
                        "auc_difference": 0.01,
                        "auc_difference_lower": 0.01 - 0.02 * rng.random(),
                        "auc_difference_upper": 0.03,
                    }
                line = (
                    keys
                    | extra
                    | {
                        "auc": auc,
                        "auc_mean": auc + shift,
                        "auc_lower": auc + shift - 0.06,
                        "auc_upper": min(auc + shift + 0.05, 1.0),
                        "n_resamples": n_resamples,
                        **{role: frequency[[r == role for r in roles]].mean() for role in ROLES},
                        "stability": rng.random(),
                        "stability_lower": 0.0,
                        "stability_upper": 1.0,
                        "solves": 40 * n_resamples,
                        "unproven": 0 if method == "optimal" else 40 * n_resamples,
                    }
                )
                summary.append(line)
                if method == "optimal":
                    summary.append(
                        keys
                        | {"method": "stabilised", "n_resamples": n_resamples}
                        | {role: round(line[role]) for role in ROLES}
                    )
                if seed == 0 and epv in epvs_of_features:
                    features += [
                        keys
                        | {
                            "feature": f"{role}_{j}",
                            "role": role,
                            "cost": int(rng.integers(1, 11)),
                            "separation": 2 * float(rng.random()),
                            "frequency": frequency[j],
                            "lower": max(frequency[j] - 0.02, 0.0),
                            "upper": min(frequency[j] + 0.02, 1.0),
                        }
                        for j, role in enumerate(roles)
                    ]
    columns = [*KEYS, "feature", "role", "cost", "separation", "frequency", "lower", "upper"]
    return pd.DataFrame(summary), pd.DataFrame(features, columns=columns)


def write_fake_study(folder: Path, epvs_of_features: tuple[float, ...] = ()) -> Path:
    """Write the tables to a folder, the Parkinson experiment's too, and return it."""
    summary, features = fake_tables(epvs_of_features)
    summary.to_csv(folder / "summary.csv", index=False)
    features.to_csv(folder / "features.csv.gz", index=False)
    pd.DataFrame(
        [
            {
                "variant": variant,
                "accuracy": 0.87 + shift,
                "accuracy_mean": 0.88 + shift,
                "accuracy_lower": 0.83 + shift,
                "accuracy_upper": 0.93 + shift,
                "n_resamples": 399,
                "measures": measures,
            }
            for variant, shift, measures in (
                ("columns-22-rows", 0.0, "PPE; Shimmer:APQ5; MDVP:APQ; D2"),
                ("features-22-rows", 0.02, "PPE; spread1; DFA; D2"),
                ("columns-22-persons", -0.1, "PPE; HNR; DFA; D2"),
            )
        ]
    ).to_csv(folder / "parkinson_summary.csv", index=False)
    return folder
