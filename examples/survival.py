"""
Survival within a budget
========================

Patients are followed until they die or the study ends, so a time is known for each, and whether it
is the time of a death. ``BestSubsetCox`` finds the Cox regression with the highest penalised
partial likelihood that a budget can pay for, and proves it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, cross_val_score

import shortlist as sl

# %%
# 500 simulated patients, followed for up to 8 years. What is known of them costs minutes to obtain;
# two tests need the same blood sample. The last one measures what stage and age tell already.

rng = np.random.default_rng(3)
names = ["age", "stage", "grade", "fitness", "albumin", "crp", "scan", "biopsy"]
patients = pd.DataFrame(rng.normal(size=(500, 8)), columns=names)
patients["biopsy"] = 0.7 * (patients["stage"] + patients["age"]) + 0.4 * patients["biopsy"]
log_hazard = patients @ [0.4, 0.7, 0.0, -0.5, -0.5, 0.4, 0.3, 0.0] - 2
death = 1.5 * rng.weibull(1.3, size=500) * np.exp(-log_hazard / 1.3)
followed = rng.uniform(2, 8, size=500)
outcome = sl.survival(np.minimum(death, followed), death <= followed)

minutes = dict(zip(names, [0.5, 4, 4, 6, 1, 1, 20, 5], strict=True))
limits = {"costs": minutes, "fees": [(3, ["albumin", "crp"])]}
f"{outcome['event'].sum()} deaths in {outcome['time'].sum():.0f} years"

# %%
# What 10 minutes buy, and by what one standard deviation more multiplies the hazard:

model = sl.BestSubsetCox(budget=10, ridge=1.0, **limits).fit(patients, outcome)
coefficients = pd.Series(model.coef_, index=names)[model.selected_features_]
pd.DataFrame({"minutes": minutes, "hazard ratio": np.exp(coefficients)}).dropna().round(2)

# %%
# No other selection within 10 minutes has a higher penalised likelihood:

model.solution_

# %%
# What more minutes would buy
# ---------------------------
# The concordance on patients that had no part in the fit: of two patients, how often does the one
# with the higher risk die first?

folds = list(StratifiedKFold(5).split(patients, outcome["event"]))
rows = []
for budget in (1, 5, 10, 15, 30):
    one = sl.BestSubsetCox(budget=budget, ridge=1.0, **limits)
    concordance = cross_val_score(one, patients, outcome, cv=folds).mean()
    bought = ", ".join(one.fit(patients, outcome).selected_features_)
    rows.append({"budget": budget, "bought": bought, "concordance": round(concordance, 3)})
pd.DataFrame(rows).set_index("budget")

# %%
# Survival curves
# ---------------
# For three patients, of low, middle and high risk; the baseline is Breslow's estimate.

order = np.argsort(model.predict(patients))
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for share in (0.1, 0.5, 0.9):
    patient = patients.iloc[[order[int(share * len(order))]]]
    (alive,) = model.predict_survival_function(patient)
    times, chances = np.append(0, alive.x), np.append(1, alive.y)
    ax.step(times, chances, where="post", label=f"{share:.0%}")
ax.set(xlabel="years", ylabel="chance to be alive", ylim=(0, 1), xlim=(0, 8))
ax.legend(title="share of patients\nwith less risk", loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
