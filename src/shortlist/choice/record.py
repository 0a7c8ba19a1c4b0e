"""Selections as records: one vocabulary for tables, JSON files, reports and pages.

`predictors` are the names bought, `gained` and `lost` those that another selection does not buy, or
buys alone. `excess` is by how much the objective is above that of the best model, relatively, and
`is_proven` says whether the search behind a record ended with a proof.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..problem import SubsetProblem
from ..result import Solution
from ..solver.listing import Model


def names_of(problem: SubsetProblem) -> tuple[str, ...]:
    """Return the names of all predictors."""
    return tuple(problem.name_of(g) for g in range(problem.n_predictors))


def make_record(
    names: Sequence[str], chosen: Model | Solution, other: Collection[int]
) -> dict[str, Any]:
    """Return a selection as JSON values, compared with the predictors of another one."""
    return {
        "cost": chosen.cost,
        "objective": chosen.objective,
        "predictors": [names[g] for g in chosen.support],
        "gained": [names[g] for g in chosen.support if g not in other],
        "lost": [names[g] for g in sorted(other) if g not in chosen.support],
    }


def excess(objective: float, best: float) -> float:
    """Return by how much an objective is above the best one, relatively."""
    return max(0.0, objective / best - 1.0)


def joined(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records with text for lists of names, for a DataFrame."""
    return [
        {
            key: ", ".join(value) if isinstance(value, list) else value
            for key, value in record.items()
        }
        for record in records
    ]
