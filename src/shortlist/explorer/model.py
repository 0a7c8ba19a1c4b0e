"""Models for the settings of a page: one to show, and the one that `shortlist fit` would write."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from ..backends import solve, uninterrupted
from ..deployment.calculator import calculator_page
from ..errors import InfeasibleError, InvalidProblemError, ShortlistWarning
from ..patients import ModelCard, PrognosticModel, save_proof
from ..patients.card import Making, make_card
from ..problem import SubsetProblem
from ..report import N_RESAMPLES, require_packages, write_report
from ..solution import Solution
from .prepared import PreparedPatients
from .state import State

Callback = Callable[[object], None]  # raises to end a search; its argument is ignored

SOLVE_SECONDS = 20.0  # after which the page shows the gap
STEP_SECONDS = 2.0  # of each of the many solves behind a staircase, substitutes and resamples


@dataclass(frozen=True)
class ShownModel:
    """The best model for a state, and the one that is shown: the same, or one that was adopted."""

    problem: SubsetProblem
    best: Solution
    shown: Solution
    card: ModelCard


def make_problem(
    prepared: PreparedPatients,
    state: State,
    *,
    limited: bool = True,
    sample_weight: NDArray[np.int64] | None = None,
) -> SubsetProblem:
    """Return the problem of a state, or the same without its limit, for the staircase.

    A staircase by number of predictors has no prices.
    """
    limits = state.limits()
    if not limited:
        limits |= {"budget": None, "max_features": None}
        if state.limit == "count":
            limits |= {"costs": None, "fees": None}
    own = {name: limits.pop(name) for name in ("budget", "max_features", "include")}
    problem = SubsetProblem(
        prepared.design.matrix,
        prepared.plain.labels,
        ridge=state.ridge,
        groups=prepared.design.predictors_,
        sample_weight=sample_weight,
        **limits,
    )
    try:  # `with_limits` gives no warning if nothing is affordable, which the page shows
        return problem.with_limits(**own)
    except InfeasibleError:
        raise InfeasibleError(_required_too_much(problem, state)) from None


def fit_state(prepared: PreparedPatients, state: State, callback: Callback) -> ShownModel:
    """Solve the problem of a state, and show the best model."""
    problem = make_problem(prepared, state)
    best = uninterrupted(solve(problem, time_limit=SOLVE_SECONDS, callback=callback))
    best = replace(best, prover=None)  # it takes room, and a saved proof is made again
    return ShownModel(problem, best, best, _make_card(prepared, state, problem, best))


def fit_adopted(prepared: PreparedPatients, state: State, fitted: ShownModel) -> ShownModel:
    """Show the selection that a state adopts beside the best model for its other settings."""
    problem = fitted.problem
    support = problem.predictors.support_of("adopted", state.adopted or ())
    if not problem.limits.is_affordable(support):
        raise InfeasibleError("Your selection is no longer affordable; return to the best one.")
    others = [g for g in range(problem.n_predictors) if g not in support]
    only = problem.with_limits(include=support, exclude=others)
    shown = replace(uninterrupted(solve(only)), prover=None)
    return replace(fitted, shown=shown, card=_make_card(prepared, state, problem, shown))


def _make_card(
    prepared: PreparedPatients, state: State, problem: SubsetProblem, shown: Solution
) -> ModelCard:
    return make_card(
        prepared.plain,
        prepared.design,
        problem,
        shown,
        prepared.patients.outcome,
        state.count if state.limit == "count" else None,
        Making(codebook=prepared.codebook),
    )


def _required_too_much(problem: SubsetProblem, state: State) -> str:
    if state.limit == "count":
        return (
            f"{len(state.must)} predictors are required but only {state.count} may be bought; "
            "raise the number or make one optional."
        )
    price = problem.limits.cost_of(problem.predictors.support_of("must", state.must))
    return (
        f"The required predictors cost {price:.10g}, more than the budget of {state.budget:.10g}; "
        "raise the budget or make one optional."
    )


def fit_again(
    prepared: PreparedPatients,
    state: State,
    *,
    tuned: bool = False,
    within: str | None = None,
    announce: Callback = lambda news: None,
) -> PrognosticModel:
    """Fit the model of a state by `PrognosticModel`, as `shortlist fit` does."""
    never, must = [*prepared.plain.absent, *state.never], state.must
    if state.adopted is not None:
        must = state.adopted
        never += [name for name in prepared.design.names if name not in {*must, *never}]
    limits = state.limits() | {"include": must, "exclude": never}
    model = PrognosticModel(
        **limits,
        preparation=prepared.preparation,
        codebook=prepared.codebook,
        ridge=None if tuned else state.ridge,
        within=within,
        time_limit=SOLVE_SECONDS,
    )
    patients = prepared.patients
    with warnings.catch_warnings(action="ignore", category=ShortlistWarning):
        # The page shows notes of its own
        return model.fit(*patients.data, announce, outcome=patients.outcome)


def model_file(prepared: PreparedPatients, state: State) -> bytes:
    """Return the model as JSON, for `shortlist predict`."""
    return (fit_again(prepared, state).card_.model_dump_json(indent=2) + "\n").encode()


def certificate_file(prepared: PreparedPatients, state: State) -> bytes:
    """Return the proof with its model as JSON, for `shortlist verify`.

    There is none for an adopted selection, which is the only one of the problem that fits it.
    """
    if state.adopted is not None:
        raise InvalidProblemError("Only the best selection has a proof; return to it first.")
    model = fit_again(prepared, state)
    certificate = model.certificate_
    if certificate is None:
        raise InvalidProblemError("The proof is too large to be saved; lower the limit.")
    return _written("certificate.json", lambda path: save_proof(path, model.card_, certificate))


def report_file(prepared: PreparedPatients, state: State) -> bytes:
    """Return the report of the model as one HTML page."""
    require_packages()
    model, (X, y, persons) = fit_again(prepared, state), prepared.patients.data
    return _written(
        "report.html",
        lambda path: write_report(path, model, X, y, persons=persons, n_resamples=N_RESAMPLES),
    )


def calculator_file(prepared: PreparedPatients, state: State) -> bytes:
    """Return the calculator of the model as one HTML page."""
    return calculator_page(fit_again(prepared, state).card_, prepared.patients.predictors).encode()


def _written(name: str, write: Callable[[Path], object]) -> bytes:
    with TemporaryDirectory(prefix="shortlist-") as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


WRITERS = {
    "model": model_file,
    "certificate": certificate_file,
    "report": report_file,
    "calculator": calculator_file,
}
