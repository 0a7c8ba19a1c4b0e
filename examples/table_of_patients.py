"""
From a table of patients to a model
===================================

Numbers, binary values, text and gaps, as tables of patients have them, with the prices of a heart
clinic: a conversation is nearly free, an exercise ECG and a scan are dear. ``PrognosticModel``
takes the table as it is, chooses the ridge by cross-validation and buys columns, whatever they
become.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import shortlist as sl

# %%
# The patients are simulated.

rng = np.random.default_rng(8)
n = 700
age = rng.normal(57, 9, n).round()
pain = rng.choice(["none", "atypical", "typical"], n, p=[0.5, 0.3, 0.2])
severity = rng.normal(0, 1, n) + 0.04 * (age - 57) + 0.7 * (pain == "typical")
patients = pd.DataFrame(
    {
        "age": age,
        "sex": rng.choice(["f", "m"], n),
        "chest_pain": pain,
        "blood_pressure": rng.normal(132, 17, n).round(),
        "cholesterol": (rng.normal(240, 45, n) + 8 * severity).round(),
        "exercise_angina": severity + rng.normal(0, 1, n) > 1,
        "st_depression": np.maximum(0, severity + rng.normal(0, 0.8, n)).round(1),
        "vessels": rng.binomial(3, 1 / (1 + np.exp(1.5 - 1.2 * severity))),
    }
)
log_odds = 1.8 * severity + 0.8 * (patients["sex"] == "m") - 0.8
disease = pd.Series(rng.random(n) < 1 / (1 + np.exp(-log_odds)), name="disease").astype(int)
patients.loc[rng.random(n) < 0.05, "cholesterol"] = None
patients.loc[rng.random(n) < 0.03, "chest_pain"] = None
patients.head()

# %%
# Prices in dollars. The exercise ECG is paid once, whichever of its readings are used.

costs = {
    "age": 1,
    "sex": 1,
    "chest_pain": 1,
    "blood_pressure": 1,
    "cholesterol": 7.27,
    "exercise_angina": 1,
    "st_depression": 1,
    "vessels": 100.9,
}
exercise = (86.3, ["exercise_angina", "st_depression"])

model = sl.PrognosticModel(
    budget=95,
    costs=costs,
    fees=[exercise],
    preparation=sl.Preparation(kinds={"vessels": "numeric"}),
).fit(patients, disease)
model

# %%
# The model in words
# ------------------
# ``card_`` predicts, saves itself as JSON, and says which values it had to guess.

new = pd.DataFrame(
    {
        "age": [48, 66],
        "sex": ["f", "m"],
        "chest_pain": ["none", "typical"],
        "blood_pressure": [120, None],
        "exercise_angina": [False, True],
        "st_depression": [0.0, 2.1],
    }
)
model.card_.probability(new).round(3), model.card_.imputed(new).any(axis=1).tolist()

# %%
# What a smaller or larger budget would buy
# -----------------------------------------

sl.solve_path(model.problem(patients, disease).with_limits(budget=200)).plot()
plt.show()
