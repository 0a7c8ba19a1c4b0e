"""Forward selection: buy what lowers the penalised loss most, again and again."""

from __future__ import annotations

from ..backends.support_fit import SupportFits, SupportModel
from ..problem import SubsetProblem
from .affordable import addable, price_of
from .single_step import best_addition


def forward_support(problem: SubsetProblem) -> tuple[int, ...]:
    """Return what forward selection buys.

    Each purchase is the affordable predictor that lowers the penalised loss of the refitted model
    most; when there is a budget, most per price, which is the predictor's cost and the fees that it
    incurs. Free predictors come first. It ends when nothing affordable lowers the loss.

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
    >>> from shortlist.baselines import forward_support
    >>> X = [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 1]]
    >>> forward_support(sl.SubsetProblem(X, [0, 0, 1, 0, 1, 1], ridge=0.1, max_features=1))
    (2,)
    """
    fits = SupportFits(problem)
    model = fits.fit_to_compare(problem.limits.include)
    return extend(fits, model).support


def extend(fits: SupportFits, model: SupportModel) -> SupportModel:
    """Add predictors to a model by forward selection until nothing affordable helps."""
    while (longer := add_best(fits, model)) is not None:
        model = longer
    return model


def add_best(fits: SupportFits, model: SupportModel) -> SupportModel | None:
    """Return the model after the next purchase of forward selection, or None if there is none."""
    limits = fits.problem.limits
    predictors = addable(limits, model.support)
    prices = [price_of(limits, model.support, g) for g in predictors]
    return best_addition(fits, model, predictors, prices)
