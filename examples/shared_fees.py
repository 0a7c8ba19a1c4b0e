"""
Fees that several tests share
=============================

Blood is drawn once, whichever of its tests are ordered. A price list that charges the draw to every
test makes two blood tests look dearer than they are, and one that ignores it makes the first look
too cheap. A fee is paid once if any of its members is bought.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import shortlist as sl

# %%
# Six measurements of 400 simulated patients. The three blood tests matter most; each costs little,
# but the draw costs 6.

rng = np.random.default_rng(4)
names = ["age", "pulse", "weight", "crp", "ferritin", "glucose"]
patients = pd.DataFrame(rng.normal(size=(400, 6)), columns=names)
log_odds = patients @ [0.9, 0.6, 0.3, 1.0, 0.9, 0.8] - 0.5
ill = rng.random(400) < 1 / (1 + np.exp(-log_odds))

prices = {"age": 0, "pulse": 2, "weight": 2, "crp": 2, "ferritin": 2, "glucose": 2}
blood = ["crp", "ferritin", "glucose"]
draw = 6

# %%
# Three ways to charge the draw. Only a fee lets one draw serve several tests:

problems = {
    "draw paid once": sl.SubsetProblem(
        patients, ill, ridge=1, budget=12, costs=prices, fees=[(draw, blood)]
    ),
    "draw in every price": sl.SubsetProblem(
        patients,
        ill,
        ridge=1,
        budget=12,
        costs={name: price + draw * (name in blood) for name, price in prices.items()},
    ),
    "draw forgotten": sl.SubsetProblem(patients, ill, ridge=1, budget=12, costs=prices),
}
solutions = {name: sl.solve(problem) for name, problem in problems.items()}
pays = problems["draw paid once"].limits.cost_of
pd.DataFrame(
    {
        "bought": {name: ", ".join(s.names) for name, s in solutions.items()},
        "what it really costs": {name: pays(s.support) for name, s in solutions.items()},
        "penalised loss": {name: round(s.objective, 2) for name, s in solutions.items()},
    }
)

# %%
# The draw in every price buys a single blood test and spends the rest elsewhere. Forgotten, the
# selection costs more than the budget. Paid once, all three blood tests fit.
#
# What every budget buys
# ----------------------
# The first blood test brings the others into reach:

sl.solve_path(problems["draw paid once"].with_limits(budget=16)).plot()
plt.show()
