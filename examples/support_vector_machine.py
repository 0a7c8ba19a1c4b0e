"""
A support vector machine within a budget
========================================

The selection need not be for a logistic regression. With ``loss="hinge"`` or
``loss="squared_hinge"`` the problem is a support vector machine, with the same prices,
limits and proofs. ``BestSubsetClassifier`` takes the same argument.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import shortlist as sl

# %%
# 300 synthetic patients, 14 predictors that take 1 to 10 minutes to collect, and 10 minutes. One
# label in twenty is wrong.

data = sl.datasets.make_prognostic(n_samples=300, label_noise=0.05, random_state=11)
losses = ["logistic", "squared_hinge", "hinge"]
problems = {
    loss: sl.SubsetProblem(data.X, data.y, ridge=0.1, budget=10, costs=data.costs, loss=loss)
    for loss in losses
}
solutions = {loss: sl.solve(problem) for loss, problem in problems.items()}
pd.DataFrame(
    {
        "bought": {loss: ", ".join(s.names) for loss, s in solutions.items()},
        "cost": {loss: s.cost for loss, s in solutions.items()},
        "gap": {loss: s.gap for loss, s in solutions.items()},
    }
)

# %%
# Each answer has a certificate, and the checker knows all three losses:

{loss: sl.verify(problems[loss], s.certificate).valid for loss, s in solutions.items()}

# %%
# What the losses make of a patient
# ---------------------------------
# The hinge takes no notice of patients on the right side of the margin, and its model rests on the
# others. Below, the patients by their distance from the boundary of the machine with the hinge.

solution = solutions["hinge"]
signs = np.where(data.y == 1, 1, -1)
margin = signs * (data.X.to_numpy() @ solution.coef + solution.intercept)

figure, (top, bottom) = plt.subplots(2, figsize=(7, 5), sharex=True, layout="constrained")
t = np.linspace(-3, 4, 200)
top.plot(t, np.log1p(np.exp(-t)), label="logistic")
top.plot(t, np.maximum(1 - t, 0) ** 2, linestyle="--", label="squared hinge")
top.plot(t, np.maximum(1 - t, 0), linestyle="-.", label="hinge")
top.set(ylabel="loss", ylim=(0, 6))
top.legend()
bottom.hist(margin.clip(-3, 4), bins=35, color="grey")
bottom.axvline(1, color="black", linestyle=":")
bottom.set(xlabel="y times the score of the patient", ylabel="patients")
plt.show()
