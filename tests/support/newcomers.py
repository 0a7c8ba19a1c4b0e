"""Patients with every kind of column, to fit a model to and to predict for."""

import numpy as np
import pandas as pd


def make_table(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.normal(60, 14, n).round(1),
            "lab": rng.lognormal(0, 1, n).round(3),
            "stage": rng.choice(["I", "II", "III"], n),
            "code": rng.choice([1, 2, 100000], n).astype(float),
            "smoker": (rng.random(n) < 0.4).astype(float),
        }
    )


def with_gaps(table, seed, share=0.1):
    rng = np.random.default_rng(seed)
    table = table.copy()
    for name in table.columns:
        table.loc[rng.random(len(table)) < share, name] = None
    return table
