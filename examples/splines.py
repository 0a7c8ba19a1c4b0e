"""
Curves, bought whole
====================

Risk need not rise in a straight line: both a low and a high value may be bad. A natural cubic
spline turns one number into several columns, and these are bought together or not at all, for one
price.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import shortlist as sl
from shortlist.plots import plot_effect

# %%
# 600 simulated patients. Sodium is bad in both directions, age in one, and potassium not at all.

rng = np.random.default_rng(2)
patients = pd.DataFrame(
    {
        "age": rng.normal(65, 11, 600).round(),
        "sodium": rng.normal(139, 5, 600).round(),
        "potassium": rng.normal(4.2, 0.5, 600).round(1),
        "smoker": rng.random(600) < 0.3,
    }
)
log_odds = (
    -2.2
    + 0.05 * (patients["age"] - 65)
    + 0.035 * (patients["sodium"] - 140) ** 2
    + 0.8 * patients["smoker"]
)
died = pd.Series(rng.random(600) < 1 / (1 + np.exp(-log_odds)), name="died")

# %%
# Two predictors may be bought. Straight lines miss sodium:

straight = sl.PrognosticModel(max_features=2, ridge=1.0).fit(patients, died)
straight

# %%
# With four knots a number becomes three columns, and sodium is worth its price:

curved = sl.PrognosticModel(
    max_features=2, ridge=1.0, preparation=sl.Preparation(spline_knots=4)
).fit(patients, died)
curved

# %%
# The curves
# ----------
# ``card_`` is the fitted model in original units. What a value adds to the log-odds, compared with
# the median, is an odds ratio:

numbers = [name for name in curved.selected_features_ if curved.kinds_[name] == "numeric"]
figure, axes = plt.subplots(1, len(numbers), figsize=(4 * len(numbers), 3), layout="constrained")
for name, ax in zip(numbers, np.atleast_1d(axes), strict=True):
    values = np.linspace(*patients[name].quantile([0.02, 0.98]), 100)
    shown = pd.DataFrame({bought: [None] * 100 for bought in curved.selected_features_})
    added = curved.card_.contributions(shown.assign(**{name: values}))[name]
    median = curved.card_.contributions(shown)[name]
    plot_effect(
        pd.DataFrame({"value": values, "odds_ratio": np.exp(added - median)}), xlabel=name, ax=ax
    )
plt.show()
