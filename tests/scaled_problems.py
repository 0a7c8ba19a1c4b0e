"""Random problems of every kind and of every scale, each determined by a seed, and their laws.

`scaled_arguments(seed)` takes a problem of `random_problems` and changes its units: columns,
weights, the ridge and prices get factors from 1e-8 to 1e8, columns get offsets, and the budget
becomes the exact price of a selection. Some of these problems are hard (a ridge of 1e-8 on columns
of 1e8 is hardly any), but none of them is wrong, so an answer may be STALLED, never false.

Run as a script it prints what fails: `python tests/scaled_problems.py 0 10000`.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
from random_problems import random_arguments

import shortlist as sl

GAP = 1e-6
_ROUNDING = 1e-9  # of two objectives, or of a bound in floating point and one in balls


def scaled_problem(seed: int) -> sl.SubsetProblem:
    """Return the problem of a seed."""
    return sl.SubsetProblem(**scaled_arguments(seed))


def scaled_arguments(seed: int) -> dict[str, Any]:
    """Draw the arguments of a problem whose numbers have any size."""
    arguments = random_arguments(seed)
    rng = np.random.default_rng([seed, 1])

    def factors(size: int | None = None) -> Any:
        """One size for all, a few sizes, or many: people mix grams and kilograms."""
        kind = rng.choice(["one", "few", "many"])
        if kind == "one":
            return np.full(size, 10.0 ** rng.integers(-8, 9))
        if kind == "few":
            return 10.0 ** rng.choice([-8, -4, 0, 4, 8], size=size)
        return 10.0 ** rng.uniform(-8, 8, size=size)

    X = arguments["X"]
    if rng.random() < 0.8:
        X = X * factors(X.shape[1])
    if rng.random() < 0.2:  # years since 0, or distances from the earth's centre
        X = X + np.abs(X).max(axis=0) * 10.0 ** rng.uniform(0, 6, X.shape[1])
    arguments["X"] = X
    if "sample_weight" in arguments and rng.random() < 0.5:
        arguments["sample_weight"] = arguments["sample_weight"] * factors(len(X))
    if rng.random() < 0.3:
        arguments["ridge"] = float(arguments["ridge"] * factors(1)[0])
    if "costs" in arguments:
        _scale_prices(rng, arguments, factors)
    return arguments


def _scale_prices(rng: np.random.Generator, arguments: dict[str, Any], factors: Any) -> None:
    """Change the units of prices; mostly the budget is then what some selection costs exactly."""
    costs, fees = arguments["costs"], arguments.get("fees", [])
    unit = float(factors(1)[0])
    if rng.random() < 0.3:
        costs = costs * factors(len(costs))
    arguments["costs"] = costs * unit
    if fees:
        arguments["fees"] = fees = [(amount * unit, members) for amount, members in fees]
    chosen = set(np.flatnonzero(rng.random(len(costs)) < 0.4).tolist())
    chosen |= set(arguments.get("include", ()))
    budget = sum(arguments["costs"][sorted(chosen)])
    budget += sum(amount for amount, members in fees if chosen.intersection(members))
    arguments["budget"] = float(budget)


def n_selections(problem: sl.SubsetProblem) -> int:
    """Return how many selections are affordable."""
    limits = problem.constraints
    everything = range(problem.n_predictors)
    return sum(
        limits.is_affordable(support)
        for size in range(min(limits.max_features, problem.n_predictors) + 1)
        for support in combinations(everything, size)
    )


def complaints(problem: sl.SubsetProblem) -> list[str]:
    """Return what is wrong with the answer to a problem: nothing, whatever its scales."""
    # A tree whose leaves are not empty has fewer nodes than twice the selections.
    most_nodes = 2 * n_selections(problem)
    solution = sl.solve(problem, gap=GAP, node_limit=most_nodes + 1)
    reference = sl.solve(problem, "enumeration")
    found = []
    if solution.status not in (sl.Status.OPTIMAL, sl.Status.STALLED) or solution.nodes > most_nodes:
        found.append("more nodes than a tree has")
    elif not problem.constraints.is_affordable(solution.support):
        found.append("not affordable")
    elif not np.isfinite(solution.objective):
        found.append("no finite objective")
    if solution.lower_bound > reference.objective * (1 + _ROUNDING):
        found.append("bound above the optimum")
    if solution.objective < reference.lower_bound * (1 - _ROUNDING):
        found.append("objective below the bound of enumeration")
    if solution.status is sl.Status.OPTIMAL:
        if solution.gap > GAP * (1 + _ROUNDING):
            found.append("called optimal with a gap")
        if solution.objective > reference.objective * (1 + GAP + _ROUNDING):
            found.append("called optimal, but enumeration is better")
    verdict = sl.verify(problem, solution.certificate)
    if not verdict.valid:
        found.append("not confirmed: " + " ".join(w for w in verdict.reason.split() if w.isalpha()))
    elif verdict.lower_bound < solution.lower_bound * (1 - 10 * _ROUNDING):
        found.append("the checker proves less than the solution claims")
    return found


def main(first: int, stop: int) -> None:
    """Print how often each thing is wrong, with the first seeds of each."""
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    seeds: dict[str, list[int]] = {}
    for seed in range(first, stop):
        try:
            found = complaints(scaled_problem(seed))
        except Exception as error:
            found = [f"raises {type(error).__name__}: {error}"[:90]]
        for text in found:
            counts[text] += 1
            seeds.setdefault(text, []).append(seed)
        counts["wrong in any way"] += bool(found)
    for text, count in counts.most_common():
        print(f"{count:6d} of {stop - first}  {text}  {seeds.get(text, [])[:8]}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
