"""Selections as records: one vocabulary for tables, JSON files, reports and pages.

`predictors` are the names bought, `gained` and `lost` those that another selection does not buy, or
buys alone. `excess` is by how much the objective is above the best model's, relatively, and
`is_proven` says whether the search behind a record ended with a proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from ..arguments import Support
from ..backends import solve, uninterrupted
from ..problem import SubsetProblem
from ..solution import ListedModel, Solution

Item = TypeVar("Item")
# The relative gap of a solve that resolves ties, which lists and comparisons of models need.
GAP = 1e-9


class ListOf(Generic[Item]):
    """A sequence of the items of one of its fields, whose name is `_listed`."""

    _listed: ClassVar[str]

    def __len__(self) -> int:
        return len(getattr(self, self._listed))

    def __iter__(self) -> Iterator[Item]:
        return iter(getattr(self, self._listed))

    def __getitem__(self, position: int) -> Item:
        item: Item = getattr(self, self._listed)[position]
        return item


def best_of(problem: SubsetProblem, **options: Any) -> Solution:
    """Return the best model, precisely enough to resolve ties; Ctrl-C is raised."""
    return uninterrupted(solve(problem, **{"gap": GAP, **options}))


def names_of(problem: SubsetProblem) -> tuple[str, ...]:
    """Return the names of all predictors."""
    return tuple(problem.name_of(g) for g in range(problem.n_predictors))


def changes(before: Iterable[int], after: Iterable[int]) -> tuple[Support, Support]:
    """Return the predictors gained and those lost from one selection to another, sorted."""
    old, new = set(before), set(after)
    return tuple(sorted(new - old)), tuple(sorted(old - new))


def make_record(
    names: Sequence[str], chosen: ListedModel | Solution, gained: Support, lost: Support
) -> dict[str, Any]:
    """Return a selection, and its changes from another one, as JSON values."""
    return {
        "cost": chosen.cost,
        "objective": chosen.objective,
        "predictors": [names[g] for g in chosen.support],
        "gained": [names[g] for g in gained],
        "lost": [names[g] for g in lost],
    }


def joined(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records with text for lists of names, for a DataFrame."""
    return [
        {
            key: ", ".join(value) if isinstance(value, list) else value
            for key, value in record.items()
        }
        for record in records
    ]
