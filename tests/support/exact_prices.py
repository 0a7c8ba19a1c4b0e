"""Random problems whose budget is the total of a selection, or a digit beside it, and their laws.

`priced_arguments(seed)` draws prices of 0 to 15 decimals, in ratios of up to 1e12, and a budget at
an exact total, at what a total may be at most (which is a billionth more), and one unit in the last
place of a double or of the prices above and below these. What is affordable is decided here once
more, in rational numbers; the best of it is found by fitting all of it.

Run as a script it prints what fails: `python tests/support/exact_prices.py 0 50000`.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import inf, nextafter
from typing import Any

import numpy as np

import shortlist as sl
from shortlist.native.core import core, prepare

MOST = 1 + Fraction(1, 10**9)  # what a total may be of the budget


def exact(amount: float) -> Fraction:
    """Return the decimal number that was given."""
    return Fraction(repr(float(amount)))


def priced_arguments(seed: int) -> dict[str, Any]:
    """Draw the arguments of a small problem with exact prices."""
    rng = np.random.default_rng([seed, 35])
    n = int(rng.integers(3, 6))
    X = np.round(rng.normal(size=(12, n)), 3)
    y = (X @ rng.normal(size=n) + rng.logistic(size=12) > 0).astype(int)
    y[:2] = 0, 1
    decimals, places = int(rng.integers(0, 16)), int(rng.integers(0, 13))

    def price() -> float:
        kind = rng.random()
        if kind < 0.1:
            return 0.0
        if kind < 0.2:
            return float(10 ** rng.integers(0, places + 1)) / float(rng.integers(1, 10))
        largest = 10.0 ** rng.uniform(0, places)
        return abs(round(float(rng.uniform(0.0, largest)), decimals))

    costs = [price() for _ in range(n)]
    fees = []
    if rng.random() < 0.4:
        members = np.flatnonzero(rng.random(n) < 0.6).tolist()
        fees = [(price(), members)] if members else []
    chosen = set(np.flatnonzero(rng.random(n) < 0.6).tolist())
    total = total_of(costs, fees, chosen)
    budget = float(total if rng.random() < 0.5 else total / MOST)
    match int(rng.integers(0, 5)):
        case 0:
            budget = nextafter(budget, inf)
        case 1:
            budget = max(0.0, nextafter(budget, 0.0))
        case 2:
            budget = max(0.0, float(total + Fraction(int(rng.choice([-1, 1])), 10**decimals)))
    return {"X": X, "y": y, "ridge": 0.1, "costs": costs, "fees": fees, "budget": budget}


def total_of(costs: list[float], fees: list[tuple[float, list[int]]], chosen: Any) -> Fraction:
    """Return what a selection costs."""
    paid = [amount for amount, members in fees if set(chosen).intersection(members)]
    return sum((exact(amount) for amount in [*paid, *(costs[g] for g in chosen)]), Fraction(0))


def complaints(seed: int) -> list[str]:
    """Solve the problem of a seed; return what is wrong."""
    arguments = priced_arguments(seed)
    costs, fees, budget = arguments["costs"], arguments["fees"], arguments["budget"]
    problem = sl.SubsetProblem(**arguments)
    n, wrong = len(costs), []
    supports = [s for size in range(n + 1) for s in combinations(range(n), size)]
    affordable = {s for s in supports if total_of(costs, fees, s) <= exact(budget) * MOST}
    if affordable != {s for s in supports if problem.limits.is_affordable(s)}:
        wrong.append("is_affordable")
    rows = prepare(problem).problem
    maximal = [s for s in affordable if not any(set(s) < set(t) for t in affordable)]
    best = min(core.fit(rows, s)[2] for s in maximal)
    solution = sl.solve(problem)
    if solution.status is not sl.Status.OPTIMAL:
        wrong.append(f"ended as {solution.status}")
    if solution.support not in affordable:
        wrong.append("bought what is not affordable")
    if not abs(solution.objective - best) <= 2e-6 * best:
        wrong.append(f"found {solution.objective} where {best} is the best")
    if solution.cost != float(total_of(costs, fees, solution.support)):
        wrong.append("has another cost")
    verdict = sl.verify(problem, solution.certificate)
    if not verdict.valid or verdict.gap > 2e-6:
        wrong.append(f"has a certificate that is refused: {verdict.reason}")
    return wrong


if __name__ == "__main__":
    first, last = map(int, sys.argv[1:])
    warnings.simplefilter("ignore")
    found: Counter[str] = Counter()
    for seed in range(first, last):
        for complaint in complaints(seed):
            found[complaint.split()[0]] += 1
            print(seed, complaint, flush=True)
    print(f"{last - first} problems, wrong: {sum(found.values())} {dict(found)}")
