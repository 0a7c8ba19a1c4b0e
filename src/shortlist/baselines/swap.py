"""Forward selection and exchange: the strongest of the rules here."""

from __future__ import annotations

from ..backends.support_fit import SupportFits, SupportModel
from ..problem import SubsetProblem
from .affordable import addable
from .forward import extend
from .single_step import TIE, best_addition


def swap_support(problem: SubsetProblem) -> tuple[int, ...]:
    """Return what forward selection and exchange buy.

    Starting from forward selection, each step exchanges one predictor for the affordable one that
    lowers the penalised loss of the refitted model most, over all exchanges, and spends what that
    leaves by forward selection. It ends when no exchange lowers the loss.

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
    >>> from shortlist.baselines import swap_support
    >>> X = [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 1]]
    >>> swap_support(sl.SubsetProblem(X, [0, 0, 1, 0, 1, 1], ridge=0.1, max_features=1))
    (2,)
    """
    fits = SupportFits(problem)
    model = fits.fit_to_compare(problem.limits.include)
    model = extend(fits, model)
    while (exchanged := _best_exchange(fits, model)) is not None:
        model = extend(fits, exchanged)
    return model.support


def _best_exchange(fits: SupportFits, model: SupportModel) -> SupportModel | None:
    limits = fits.problem.limits
    best, limit = None, (1 - TIE) * model.objective
    for dropped in model.support:
        if dropped in limits.include:
            continue
        rest = fits.fit_to_compare(tuple(g for g in model.support if g != dropped), model)
        others = [g for g in addable(limits, rest.support) if g != dropped]
        exchanged = best_addition(fits, rest, others, least_gain=rest.objective - limit)
        if exchanged is not None:
            best, limit = exchanged, (1 - TIE) * exchanged.objective
    return best
