"""Backward elimination: start with everything and drop what is missed least."""

from __future__ import annotations

from ..backends.support_fit import SupportFits, SupportModel
from ..problem import SubsetProblem
from .affordable import price_of
from .forward import extend
from .single_step import best_removal


def backward_support(problem: SubsetProblem) -> tuple[int, ...]:
    """Return what backward elimination leaves.

    It starts with all predictors that are not excluded. Each step drops the one whose removal
    raises the penalised loss of the refitted model least; when there is a budget, least per price
    saved, which is the predictor's cost and the fees that no other one incurs. What must be
    included is never dropped. When the rest is affordable, what the last removals left unspent is
    spent by forward selection.

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
    >>> from shortlist.baselines import backward_support
    >>> X = [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 1]]
    >>> backward_support(sl.SubsetProblem(X, [0, 0, 1, 0, 1, 1], ridge=0.1, max_features=1))
    (2,)
    """
    limits = problem.limits
    support = tuple(g for g in range(problem.n_predictors) if g not in limits.exclude)
    if limits.is_affordable(support):
        return support
    fits = SupportFits(problem)
    model: SupportModel | None = fits.fit_to_compare(support)
    while model is not None and not limits.is_affordable(model.support):
        model = remove_best(fits, model)
    assert model is not None  # `include`, if nothing else, is affordable
    return extend(fits, model).support


def remove_best(fits: SupportFits, model: SupportModel) -> SupportModel | None:
    """Return the model after the next removal, or None if everything must be included."""
    limits = fits.problem.limits
    predictors = [g for g in model.support if g not in limits.include]
    rests = (tuple(h for h in model.support if h != g) for g in predictors)
    savings = [price_of(limits, rest, g) for g, rest in zip(predictors, rests, strict=True)]
    return best_removal(fits, model, predictors, savings)
