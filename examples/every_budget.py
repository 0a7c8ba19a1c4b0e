"""
What every budget buys
======================

A budget is seldom a law. ``solve_path`` finds every budget at which the best selection changes, and
proves each step, so that one can see what one more minute or dollar would buy.
"""

import matplotlib.pyplot as plt

import shortlist as sl

# %%
# A synthetic study: 1090 patients, 14 predictors that take 1 to 10 minutes to collect.

data = sl.datasets.make_prognostic(n_samples=1090, n_features=14, random_state=11)
problem = sl.SubsetProblem(data.X, data.y, ridge=0.02, budget=14, costs=data.costs)
path = sl.solve_path(problem)
path

# %%
# The staircase: most minutes buy little, and a few buy much. A higher budget does not always add a
# predictor. It may also exchange two cheap ones for a better one.

path.plot()
plt.show()

# %%
# ``at`` looks up a budget, and ``to_frame`` has everything as a table.

path.at(9.5).solution
