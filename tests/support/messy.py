"""A table as hospitals send them, with one defect per column, and what each has to be called."""

import numpy as np
import pandas as pd

N = 240
# The topic of the finding about each column that a model can be fitted to.
MESSY = {
    "record": "Patient numbers",
    "glucose": "Codes for missing values",
    "score": "Codes for missing values",
    "smoking": "Similar levels",
    "ward": "Rare levels",
    "died": "Leak",
    "autopsy": "Leak",
    "age in months": "Copies",
}
# Part of the remark about each column that it cannot.
UNUSABLE = {"visit": "holds dates such as", "unit": "the same value in every row"}


def make_messy():
    """Return the table and its outcome."""
    rng = np.random.default_rng(3)
    age = rng.normal(60, 10, N).round()
    glucose = rng.normal(120, 25, N).round().clip(60, 220)
    smoking = rng.choice(["never", "former", "current"], N, p=[0.5, 0.3, 0.2]).astype(object)
    smoking[:4], smoking[4:6], smoking[6:26] = "Never", "curent", "quit"
    y = np.where(0.1 * (age - 60) + rng.logistic(size=N) > 0, "yes", "no")
    died = (y == "yes").astype(int)
    died[:2] = 1 - died[:2]
    table = pd.DataFrame(
        {
            "record": np.arange(N) + 4001,
            "age": age,
            "age in months": 12 * age,
            "glucose": np.where(np.arange(N) % 40 == 7, 0, glucose),
            "score": np.where(np.arange(N) % 30 == 3, 9, rng.integers(1, 5, N)),
            "pulse": np.where(np.arange(N) % 60 == 5, 999, rng.normal(70, 8, N).round()),
            "smoking": smoking,
            "ward": np.where(np.arange(N) < 3, "east", np.resize(["north", "south"], N)),
            "died": died,
            "autopsy": np.where((y == "yes") & (np.arange(N) > 1), rng.normal(0, 1, N), np.nan),
            "visit": [f"2020-{i % 12 + 1:02d}-03" for i in range(N)],
            "unit": "A",
        }
    )
    return table, pd.Series(y, name="fate")
