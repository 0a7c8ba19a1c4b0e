"""Patients with every kind of column and gaps in all of them."""

import numpy as np
import pandas as pd
import pytest
from messy import make_messy


@pytest.fixture(scope="session")
def patients():
    """A table and an outcome that depends on age, sex and stage; no test may change them."""
    rng = np.random.default_rng(5)
    n = 150
    age = rng.normal(60, 12, n).round()
    marker = rng.lognormal(1, 0.5, n)
    sex = rng.choice(["f", "m"], n)
    stage = rng.choice(["I", "II", "III"], n, p=[0.5, 0.3, 0.2])
    smoker = rng.random(n) < 0.3
    noise = rng.random(n)
    signal = 0.08 * (age - 60) + (sex == "m") + 1.5 * (stage == "III") - 1
    y = pd.Series(np.where(signal + rng.logistic(size=n) > 0, "dead", "alive"), name="fate")
    table = pd.DataFrame(
        {"age": age, "marker": marker, "sex": sex, "stage": stage, "smoker": smoker, "noise": noise}
    ).astype({"smoker": object})
    for name in ("age", "marker", "sex", "stage", "smoker"):
        table.loc[rng.choice(n, 12, replace=False), name] = np.nan
    return table, y


@pytest.fixture
def messy():
    """A table with one defect per column, and its outcome."""
    return make_messy()
