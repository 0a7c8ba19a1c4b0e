"""
A proof that anyone can check
=============================

A solver that says "optimal" asks for trust. A certificate does not: it can be saved, sent, and
checked by somebody who has the data and does not trust the solver. The checker shares no code with
the solver and bounds its own rounding, so that its bounds hold whatever that was.
"""

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import shortlist as sl

data = sl.datasets.make_prognostic(n_samples=82, n_features=53, label_noise=0.05, random_state=0)
problem = sl.SubsetProblem(data.X, data.y, ridge=0.004, max_features=5)

# %%
# How a proof comes about
# -----------------------
# The search raises a lower bound that holds for every affordable selection until it meets the best
# model found. Here it stops at more and more nodes:

solution = sl.solve(problem)
stops = [n for n in (1, 3, 10, 30, 100, 300) if n < solution.nodes]
history = [*(sl.solve(problem, node_limit=n) for n in stops), solution]

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
nodes = [s.nodes for s in history]
ax.plot(nodes, [s.objective for s in history], marker="s", label="best model found")
ax.plot(nodes, [s.lower_bound for s in history], marker="o", label="lower bound")
ax.set(xscale="log", xlabel="nodes of the search", ylabel="penalised loss")
ax.set_ylim(0, 1.15 * history[0].objective)
ax.legend(loc="lower right")
plt.show()

# %%
# Save it, send it, check it
# --------------------------

folder = Path(tempfile.mkdtemp())
solution.certificate.save(folder / "proof.json")

received = sl.Certificate.load(folder / "proof.json")
verdict = sl.verify(problem, received)
verdict.valid, verdict.lower_bound, verdict.upper_bound

# %%
# It belongs to this problem. With another ridge, price or patient it proves nothing:

sl.verify(problem.with_ridge(0.03), received).reason

# %%
# Nor can a file claim a lower loss than its model has:

content = json.loads((folder / "proof.json").read_text())
content["lower_bound"] = content["objective"] = 0.999 * content["objective"]
(folder / "forged.json").write_text(json.dumps(content))
sl.verify(problem, sl.Certificate.load(folder / "forged.json")).reason
