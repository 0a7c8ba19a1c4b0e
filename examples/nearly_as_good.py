"""
Every model that is nearly as good
==================================

The best selection may win by a hair. ``near_optimal`` lists all selections within a tolerance of
the optimum. The list is complete: without what all of them have, none is within the tolerance.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import shortlist as sl

cells, benign = load_breast_cancer(return_X_y=True, as_frame=True)
scaled = StandardScaler().set_output(transform="pandas").fit_transform(cells)
problem = sl.SubsetProblem(scaled, benign == 0, ridge=1.0, max_features=4)

# %%
# All sets of at most four of thirty measurements whose penalised loss is within 4 % of the lowest:

near = sl.near_optimal(problem, tolerance=0.04)
near

# %%
# Which measurements do they share?
# ---------------------------------
# A row per selection, the best on top, a column per measurement that any of them buys.

table = near.to_frame()
measurements = [name for name in near.names if table[name].any()]
measurements.sort(key=lambda name: -table[name].sum())

figure, ax = plt.subplots(figsize=(7, 0.22 * len(table) + 2), layout="constrained")
ax.imshow(table[measurements], cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
ax.set_xticks(range(len(measurements)), measurements, rotation=60, ha="right")
ax.set_yticks(range(len(table)), [f"+{excess:.1%}" for excess in table["excess"]])
ax.set(ylabel="loss above the best")
plt.show()

# %%
# What to buy instead
# -------------------
# If a measurement cannot be had at all, ``substitutes`` finds the best model without it:

sl.substitutes(problem).to_frame()[["excess", "gained", "lost"]].round(3)
