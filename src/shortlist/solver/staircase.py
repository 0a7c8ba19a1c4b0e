"""The best model for every budget, as seen from Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from time import perf_counter

import numpy as np

from ..certificate import Bound, Branch, Certificate, Fix, Step, Unaffordable
from ..problem import SubsetProblem
from ..solution import Options, Solution, Status, solution_of
from .compilation import ready_kernels
from .confirmation import confirmed
from .driver import Run
from .kernels.layout import IN
from .kernels.staircase import Stairs, run_staircase
from .prepare import prepare
from .recording import Prover, Recording
from .scratch import Memory, give_back

_LARGEST_TABLE = 20_000  # cells: budgets times predictors


def has_shared_tree(problem: SubsetProblem) -> bool:
    """Whether one tree can serve all budgets: whole prices, not too many, and no other limit."""
    limits = problem.limits
    return (
        limits.integral
        and limits.budget < inf
        and limits.max_features >= limits.n_predictors
        and (limits.unit_budget + 1) * limits.n_predictors <= _LARGEST_TABLE
    )


def solve_budgets(problem: SubsetProblem, gap: float) -> list[tuple[SubsetProblem, Solution]]:
    """Solve the problem with every whole budget from what `include` costs, lowest first."""
    started = perf_counter()
    gap = max(gap, problem.loss.resolution)
    ready_kernels()
    prepared = prepare(problem)
    search = prepared.search
    n_budgets = int(problem.limits.unit_budget) + 1
    sizes = prepared.scratch.shape._asdict() | {"n_budgets": n_budgets}
    stairs = Memory().struct(Stairs, sizes)
    n_steps = problem.n_predictors + 2 * n_budgets
    run = Run(prepared, Recording(prepared.scratch, n_steps))
    status = run.drive(
        lambda n: run_staircase(search, stairs, run.tree, run.recording.trace, gap, n),
        Options(),
        started,
    )
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    seconds = perf_counter() - started
    solutions = list(_solutions(problem, run, stairs, gap, seconds))
    give_back(prepared.scratch)
    return solutions


def _solutions(
    problem: SubsetProblem, run: Run, stairs: Stairs, gap: float, seconds: float
) -> Iterator[tuple[SubsetProblem, Solution]]:
    prover = run.prover(problem)
    limits = problem.limits
    numerator, denominator = limits.unit
    for b in range(int(limits.unit_cost_of(limits.include)), len(stairs.upper)):
        coef, intercept = run.prepared.model(stairs.theta[b], stairs.theta0[b])
        smaller = problem.with_limits(budget=b * numerator / denominator)
        solution = solution_of(
            problem,
            tuple(np.flatnonzero(stairs.status[b] == IN).tolist()),
            coef,
            intercept,
            status=Status.OPTIMAL,
            lower_bound=max(0.0, float(stairs.closed[b])),
            gap=gap,
            nodes=int(run.tree.now["nodes"]),
            seconds=seconds,
            prover=None if prover is None else BudgetProver(prover, smaller, b),
        )
        yield smaller, confirmed(smaller, run.prepared, solution, gap)


@dataclass(frozen=True)
class BudgetProver:
    """The part of the shared tree that proves the model of one budget."""

    whole: Prover
    problem: SubsetProblem
    budget: int  # in units

    def __call__(self, solution: Solution) -> Certificate:
        """Return the certificate of the solution."""
        return self.whole.certificate(self.problem, solution, self._steps)

    def _steps(self, recorded: list[tuple[Step, list[int]]]) -> Iterator[Step]:
        """Walk the tree, and stop at each node as soon as a bound covers the budget."""
        limits = self.whole.problem.limits
        by_node: dict[int, list[tuple[Step, list[int]]]] = {}
        for step, members in recorded:
            by_node.setdefault(step.node, []).append((step, members))
        nodes = [(0, set(limits.include))]
        while nodes:
            node, bought = nodes.pop()
            if limits.unit_cost_of(tuple(bought)) > self.budget:
                yield Unaffordable(node)
                continue
            for step, members in by_node[node]:
                if isinstance(step, Bound) and not members[0] <= self.budget <= members[1]:
                    continue
                yield step
                if isinstance(step, Fix):
                    bought |= set(step.bought)
                    if limits.unit_cost_of(tuple(bought)) > self.budget:
                        yield Unaffordable(node)
                        break
                elif isinstance(step, Branch):
                    nodes += [
                        (step.without, set(bought)),
                        (step.including, bought | {step.predictor}),
                    ]
                else:
                    break
