"""Stepwise selection: forward selection that may change its mind."""

from __future__ import annotations

from ..backends.support_fit import SupportFits, SupportModel
from ..problem import SubsetProblem
from .backward import remove_best
from .forward import add_best
from .single_step import TIE


def stepwise_support(problem: SubsetProblem) -> tuple[int, ...]:
    """Return what stepwise selection buys.

    After each purchase of forward selection, predictors are removed as in backward elimination, as
    long as that leads to a model with a lower penalised loss than every model seen so far that has
    no more predictors and costs no more. Of all models seen, the one with the lowest loss is kept.
    This is the floating search of Pudil, Novovicova and Kittler (1994), with costs.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.

    Returns
    -------
    tuple of int
        Sorted predictors.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.baselines import stepwise_support
    >>> X = [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 1]]
    >>> stepwise_support(sl.SubsetProblem(X, [0, 0, 1, 0, 1, 1], ridge=0.1, max_features=1))
    (2,)
    """
    fits = SupportFits(problem)
    model = fits.fit_to_compare(problem.limits.include)
    seen = [model]
    while (larger := add_best(fits, model)) is not None:
        model = larger
        seen.append(model)
        # A removal leads to a support not seen before, so there is an end to removals.
        while (smaller := remove_best(fits, model)) is not None and _is_news(
            smaller, seen, problem
        ):
            model = smaller
            seen.append(model)
    return min(seen, key=lambda model: model.objective).support


def _is_news(model: SupportModel, seen: list[SupportModel], problem: SubsetProblem) -> bool:
    """Whether the model is better than all that have no more predictors and cost no more."""
    price = problem.limits.unit_cost_of
    return all(
        model.objective < (1 - TIE) * other.objective
        for other in seen
        if len(other.support) <= len(model.support) and price(other.support) <= price(model.support)
    )
