"""The problem that the settings of a session state, and its best model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..backends import solve, uninterrupted
from ..errors import InfeasibleError
from ..patients import ModelCard
from ..patients.card import make_card
from ..problem import SubsetProblem
from ..result import Solution
from .prepared import PreparedPatients
from .state import State

Callback = Callable[[object], None]  # raises to end a search, whatever news it is called with

SOLVE_SECONDS = 20.0  # then the page says how far the proof is
STEP_SECONDS = 2.0  # of each of the many solves behind a staircase, substitutes and resamples


@dataclass(frozen=True)
class Fitted:
    """The best model for a state, and the one that is shown: the same, or one that was adopted."""

    problem: SubsetProblem
    best: Solution
    shown: Solution
    card: ModelCard

    @property
    def log_odds(self) -> NDArray[np.float64]:
        """The log-odds of every patient by the model that is shown."""
        return self.problem.decision_function(self.shown.coef, self.shown.intercept)


def make_problem(
    prepared: PreparedPatients,
    state: State,
    *,
    limited: bool = True,
    sample_weight: NDArray[np.int64] | None = None,
) -> SubsetProblem:
    """Return the problem of a state; without its limit it is the one whose staircase is shown.

    By number of predictors the staircase knows no prices.
    """
    limits = state.limits()
    if not limited:
        limits = replace(limits, budget=None, max_features=None)
        if state.limit == "count":
            limits = replace(limits, costs=None, fees=None)
    problem = SubsetProblem(
        prepared.design.matrix,
        prepared.plain.labels,
        ridge=state.ridge,
        groups=prepared.design.predictors_,
        sample_weight=sample_weight,
        **vars(replace(limits, budget=None, max_features=None, include=())),
    )
    try:  # other limits give no warning when nothing is affordable: the page shows that
        return problem.with_limits(
            budget=limits.budget, max_features=limits.max_features, include=limits.include
        )
    except InfeasibleError:
        raise InfeasibleError(_required_too_much(problem, state)) from None


def fit_state(prepared: PreparedPatients, state: State, callback: Callback) -> Fitted:
    """Solve the problem of a state, and show the best model."""
    problem = make_problem(prepared, state)
    best = uninterrupted(solve(problem, time_limit=SOLVE_SECONDS, callback=callback))
    best = replace(best, prover=None)  # a proof is made when it is saved; until then it takes room
    return Fitted(problem, best, best, _card(prepared, state, problem, best))


def fit_adopted(prepared: PreparedPatients, state: State, fitted: Fitted) -> Fitted:
    """Show the selection that a state adopts beside the best model for its other settings."""
    problem = fitted.problem
    support = problem.support_of("adopted", state.adopted or ())
    if not problem.constraints.is_affordable(support):
        raise InfeasibleError("Your selection is no longer affordable; return to the best one.")
    others = [g for g in range(problem.n_predictors) if g not in support]
    only = problem.with_limits(include=support, exclude=others)
    shown = replace(uninterrupted(solve(only)), prover=None)
    return replace(fitted, shown=shown, card=_card(prepared, state, problem, shown))


def _card(
    prepared: PreparedPatients, state: State, problem: SubsetProblem, shown: Solution
) -> ModelCard:
    return make_card(
        prepared.plain,
        prepared.design,
        problem,
        shown,
        prepared.patients.outcome,
        max_features=state.count if state.limit == "count" else None,
    )


def _required_too_much(problem: SubsetProblem, state: State) -> str:
    if state.limit == "count":
        return (
            f"{len(state.must)} predictors are required but only {state.count} may be bought; "
            "raise the number or make one optional."
        )
    price = problem.constraints.cost_of(problem.support_of("must", state.must))
    return (
        f"The required predictors cost {price:.10g}, more than the budget of {state.budget:.10g}; "
        "raise the budget or make one optional."
    )
