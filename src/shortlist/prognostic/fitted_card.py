"""The model card of a fit, in the units of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..classifier.tuning import RidgeSearch
from ..problem import SubsetProblem
from ..solution import Solution
from .card import (
    Candidate,
    FittedData,
    ModelCard,
    Outcome,
    Preprocessing,
    RidgeScore,
    Search,
    SharedFee,
    StatedLimits,
)
from .design import Design
from .plain_table import PlainTable

if TYPE_CHECKING:
    from .model import PrognosticModel


def make_card(
    model: PrognosticModel,
    plain: PlainTable,
    design: Design,
    problem: SubsetProblem,
    solution: Solution,
    search: RidgeSearch | None,
    outcome: Outcome,
) -> ModelCard:
    """Describe the model that a search found, in the units of the table."""
    bought = [problem.name_of(g) for g in solution.support]
    terms, intercept = design.equation(plain.frame, solution.coef, solution.intercept, bought)
    limits = problem.limits
    names = design.names
    return ModelCard(
        format="shortlist model",
        format_version=1,
        shortlist_version=__version__,
        outcome=outcome,
        intercept=intercept,
        terms=terms,
        cost=solution.cost,
        candidates=tuple(
            Candidate(
                name=name,
                kind=plain.kinds[name],
                cost=float(cost),
                bought=name in bought,
                **_coef_limits(problem, g),
            )
            for g, (name, cost) in enumerate(zip(names, limits.costs, strict=True))
        ),
        limits=StatedLimits(
            budget=None if limits.budget == np.inf else limits.budget,
            max_features=None if model.max_features is None else limits.max_features,
            fees=tuple(
                SharedFee(amount=fee.amount, members=tuple(names[g] for g in fee.members))
                for fee in limits.fees
            ),
            include=tuple(names[g] for g in limits.include),
            exclude=tuple(name for name in plain.names if name not in plain.kinds),
        ),
        preprocessing=Preprocessing(
            spline_knots=model.spline_knots,  # type: ignore[arg-type]
            missing_indicator=bool(model.missing_indicator),
        ),
        search=Search(
            ridge=problem.ridge,
            tuning=() if search is None else _tuning(search),
            scoring=None if search is None else str(model.scoring),
            folds=0 if search is None else search.n_models // len(search.ridges),
            backend=model.backend,
            status=solution.status.value,
            objective=solution.objective,
            lower_bound=solution.lower_bound,
            gap=solution.gap,
            gap_target=model.gap,
            nodes=solution.nodes,
        ),
        data=FittedData(
            rows=problem.n_rows,
            events=int((problem.signs > 0).sum()),
            sha256=plain.sha256,
        ),
    )


def _coef_limits(problem: SubsetProblem, predictor: int) -> dict[str, Any]:
    """Return the limits on the coefficients of a predictor, which are those of its first column."""
    column = problem.columns_of([predictor])[0]
    lower = float(problem.limits.lower[column])
    upper = float(problem.limits.upper[column])
    largest = max(-lower, upper)
    sign = "positive" if lower == 0 else "negative" if upper == 0 else None
    return {"max_coefficient": None if largest == np.inf else largest, "sign": sign}


def _tuning(search: RidgeSearch) -> tuple[RidgeScore, ...]:
    return tuple(
        RidgeScore(ridge=ridge, score=None if np.isnan(score) else float(score))
        for ridge, score in zip(search.ridges, search.results["mean_test_score"], strict=True)
    )
