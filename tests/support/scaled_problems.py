"""Random problems of every kind and of every scale, each determined by a seed, and their laws.

`scaled_arguments(seed)` takes a problem of `random_problems` and changes its units: columns,
weights, the ridge and prices get factors from 1e-8 to 1e8, columns get offsets, and the budget
becomes the exact price of a selection. Some of these problems are hard (a ridge of 1e-8 on columns
of 1e8 is hardly any), but none of them is wrong, so an answer may be STALLED, never false.

Run as a script it prints what fails, with a loss as fourth argument and the largest exponent of the
factors as fifth: `python tests/support/scaled_problems.py 0 10000 answers.jsonl cox 4`.
The same command goes on where it was stopped.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from answers import affordable_supports
from flint import arb, ctx
from random_problems import random_arguments, random_outcomes
from risk_sets import negative_log_likelihood

import shortlist as sl
from shortlist.certificate import Point
from shortlist.families import FAMILIES
from shortlist.verification.duality import ExactData

GAP = 1e-6
_ROUNDING = 1e-9  # of an objective in floating point, and of a bound that certificates claim


def scaled_problem(seed: int, loss: str = "logistic") -> sl.SubsetProblem:
    """Return the problem of a seed."""
    return sl.SubsetProblem(**scaled_arguments(seed, loss))


def scaled_arguments(seed: int, loss: str = "logistic", reach: int = 8) -> dict[str, Any]:
    """Draw the arguments of a problem whose numbers have any size, factors to 10^reach."""
    arguments = random_arguments(seed)
    arguments |= random_outcomes(seed, arguments, loss)
    rng = np.random.default_rng([seed, 1])

    def factors(size: int | None = None) -> Any:
        """One size for all, a few sizes, or many: people mix grams and kilograms."""
        kind = rng.choice(["one", "few", "many"])
        if kind == "one":
            return np.full(size, 10.0 ** rng.integers(-reach, reach + 1))
        if kind == "few":
            return 10.0 ** (reach * rng.choice([-1, -0.5, 0, 0.5, 1], size=size))
        return 10.0 ** rng.uniform(-reach, reach, size=size)

    X = arguments["X"]
    if FAMILIES[loss].outcome == "numbers" and rng.random() < 0.5:
        arguments["y"] = arguments["y"] * factors(1)[0]
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
    return sum(1 for _ in affordable_supports(problem))


class Answer(NamedTuple):
    """The status of a problem's answer, and what is wrong with it."""

    status: str
    complaints: list[str]


def answer_of(seed: int, loss: str = "logistic", reach: int = 8) -> Answer:
    """Solve the problem of a seed; every tenth one is also solved for all limits."""
    arguments = scaled_arguments(seed, loss, reach)
    try:
        problem = sl.SubsetProblem(**arguments)
    except sl.InfeasibleError:
        # A price that the budget's own digits cannot show counts as two of its units, see
        # `limits`: what must be bought may then exceed a budget that is its rounded sum.
        prices = [*arguments["costs"], *(amount for amount, _ in arguments.get("fees", []))]
        told_apart = min(p for p in prices if p > 0) > 2.0**-51 * arguments["budget"]
        return Answer("refused", ["refused"] if told_apart else [])
    solution, found = check_solution(problem)
    if seed % 10 == 0:
        found += check_path(problem)
    return Answer(solution.status.value, found)


def check_solution(problem: sl.SubsetProblem) -> tuple[sl.Solution, list[str]]:
    """Return the answer to a problem and what is wrong with it: nothing, whatever its scales."""
    # A tree whose leaves are not empty has fewer nodes than twice the selections.
    most_nodes = 2 * n_selections(problem)
    solution = sl.solve(problem, gap=GAP, node_limit=most_nodes + 1)
    reference = sl.solve(problem, "enumeration")
    optimum, objective = exact_objective(problem, reference), exact_objective(problem, solution)
    scale, found = problem.scale, []
    if solution.status not in (sl.Status.OPTIMAL, sl.Status.STALLED) or solution.nodes > most_nodes:
        found.append("more nodes than a tree has")
    elif not problem.limits.is_affordable(solution.support):
        found.append("not affordable")
    elif not np.isfinite(solution.objective):
        found.append("no finite objective")
    if solution.objective < scale.below(objective, _ROUNDING):
        found.append("another objective than the model's")
    if problem.family.is_coupled and abs(written_out(problem, solution) - objective) > (
        _ROUNDING * scale.of(objective)
    ):
        found.append("another partial likelihood than that of the risk sets")
    if solution.lower_bound > scale.above(optimum, _ROUNDING):
        found.append("bound above the optimum")
    if solution.status is sl.Status.OPTIMAL:
        if solution.gap > GAP:
            found.append("called optimal with a gap")
        if objective > scale.above(optimum, GAP + 2 * _ROUNDING):
            found.append("called optimal, but enumeration is better")
    return solution, found + check_proof(problem, solution)


def exact_objective(problem: sl.SubsetProblem, solution: sl.Solution) -> float:
    """Return the objective of a model, rounded up from 128 bits.

    Where a column lies a million spreads from zero, the objective in floating point is no
    reference: margins are small differences of large numbers.
    """
    columns = np.flatnonzero(solution.coef)
    point = Point(solution.intercept, tuple(columns.tolist()), tuple(solution.coef[columns]))
    with ctx.workprec(128):
        return ExactData(problem).objective_above(point)


def written_out(problem: sl.SubsetProblem, solution: sl.Solution) -> float:
    """Return the objective of a Cox model by a likelihood whose risk sets are listed."""
    with ctx.workprec(128):
        theta, ridge = [arb(x) for x in solution.coef.tolist()], arb(problem.ridge)
        u = [sum((a * x for a, x in zip(theta, row, strict=True)), arb(0))
             for row in problem.X.tolist()]  # fmt: skip
        loss = negative_log_likelihood(problem, u, arb.exp, arb.log, arb)
        return float(loss + ridge / 2 * sum((x * x for x in theta), arb(0)))


def check_proof(problem: sl.SubsetProblem, solution: sl.Solution) -> list[str]:
    """Return what the checker does not confirm."""
    verdict = sl.verify(problem, solution.certificate)
    if not verdict.valid:
        return ["not confirmed: " + " ".join(w for w in verdict.reason.split() if w.isalpha())]
    rounding = problem.family.slack * problem.scale.of(solution.objective)
    if verdict.lower_bound < solution.lower_bound - rounding:
        return ["the checker proves less than the solution claims"]
    return []


def check_path(problem: sl.SubsetProblem) -> list[str]:
    """Return what is wrong with the proofs of the best models for all limits."""
    path = sl.solve_path(problem)
    proven = all(step.solution.status is sl.Status.OPTIMAL for step in path)
    found = ["path: certified with a step that is not"] * (path.is_certified and not proven)
    for step in path:
        found += [f"path: {text}" for text in check_proof(step.problem, step.solution)]
    return found


def main(
    first: int, stop: int, journal: str | None = None, loss: str = "logistic", reach: int = 8
) -> None:
    """Print how often each status came up and each thing is wrong, with the first seeds of each.

    The answers go to the journal, if one is named, and those that it has are not computed again.
    """
    warnings.simplefilter("ignore")
    known: dict[int, Answer] = {}
    if journal and Path(journal).exists():
        for line in Path(journal).read_text().splitlines():
            seed, *answer = json.loads(line)
            known[seed] = Answer(*answer)
    for seed in range(first, stop):
        if seed not in known:
            try:
                known[seed] = answer_of(seed, loss, reach)
            except Exception as error:
                known[seed] = Answer("error", [f"{type(error).__name__}: {error}"[:90]])
            if journal:
                with Path(journal).open("a") as file:
                    file.write(json.dumps([seed, *known[seed]]) + "\n")
    answers = {seed: known[seed] for seed in range(first, stop)}
    for status, count in Counter(answer.status for answer in answers.values()).most_common():
        print(f"{count:6d} {status}")
    wrong: dict[str, list[int]] = {}
    for seed, answer in answers.items():
        for text in set(answer.complaints):
            wrong.setdefault(text, []).append(seed)
    for text, seeds in wrong.items():
        print(f"{len(seeds):6d} {text}  {seeds[:8]}")
    n_wrong = sum(bool(answer.complaints) for answer in answers.values())
    print(f"{n_wrong:6d} of {stop - first} wrong in any way")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5], *map(int, sys.argv[5:]))
