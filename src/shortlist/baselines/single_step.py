"""The best single step from a model: which predictor to add, which to remove.

The choice is exact: it is that of fitting every candidate and comparing the penalised losses. But
few are fitted. One Newton step from the model at hand says how promising each candidate is, where
its fit should start and, by weak duality, what its loss is at least. Fits run from the most
promising candidate to the least, and only for those whose bound leaves them a chance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Float, Int
from ..backends.support_fit import SupportFits, SupportModel
from .block import CHUNK
from .newton import MAY_OVERFLOW, Steps, steps_with_less, steps_with_more

# Relative to the loss: differences below it are ties, and ties go to the lower index.
TIE = 1e-9


def best_addition(
    fits: SupportFits,
    model: SupportModel,
    predictors: Sequence[int],
    prices: ArrayLike = 1.0,
    least_gain: ArrayLike = 0.0,
) -> SupportModel | None:
    """Return the model with one more predictor that has the largest gain per price.

    Parameters
    ----------
    fits : SupportFits
        The fits of the problem.
    model : SupportModel
        A fitted model, to which one of `predictors` is added.
    predictors : sequence of int
        Candidates, in ascending order.
    prices : array-like
        What each costs; those that cost nothing come first, by their gain alone.
    least_gain : array-like
        What the penalised loss must fall by at least; never less than a tie.

    Returns
    -------
    SupportModel or None
        None if no candidate gains enough.
    """
    added, price, gain = _arrays(predictors, prices, least_gain)
    limits = model.objective - np.maximum(gain, TIE * model.objective)
    is_free = price == 0
    if is_free.any():
        steps = steps_with_more(fits, model, added[is_free])
        larger = _best(fits, model, steps, np.ones(len(steps.supports)), limits[is_free])
        if larger is not None:
            return larger
    steps = steps_with_more(fits, model, added[~is_free])
    return _best(fits, model, steps, price[~is_free], limits[~is_free])


def best_removal(
    fits: SupportFits,
    model: SupportModel,
    predictors: Sequence[int],
    savings: ArrayLike = 1.0,
    most_loss: ArrayLike = np.inf,
) -> SupportModel | None:
    """Return the model with one predictor less that has the smallest loss per saving.

    Parameters
    ----------
    fits : SupportFits
        The fits of the problem.
    model : SupportModel
        A fitted model, from which one of `predictors` is removed.
    predictors : sequence of int
        Candidates, in ascending order.
    savings : array-like
        What removing each saves; those that save nothing are considered only if all do.
    most_loss : array-like
        What the penalised loss must rise by less than.

    Returns
    -------
    SupportModel or None
        None if every removal loses too much.
    """
    removed, saving, loss = _arrays(predictors, savings, most_loss)
    if (saving == 0).all():
        saving = np.ones(len(removed))
    saves = saving > 0
    steps = steps_with_less(fits, model, removed[saves])
    return _best(fits, model, steps, saving[saves], model.objective + loss[saves])


def _arrays(predictors: Sequence[int], *values: ArrayLike) -> tuple[Int, Float, Float]:
    chosen = np.array(predictors, dtype=np.int64)
    first, second = (np.broadcast_to(np.asarray(v, dtype=np.float64), chosen.shape) for v in values)
    return chosen, first, second


def _best(
    fits: SupportFits, model: SupportModel, steps: Steps, prices: Float, limits: Float
) -> SupportModel | None:
    """Return the candidate with the lowest objective, relative to the model's, per price.

    Its objective is below its limit.
    """
    tie = TIE * model.objective
    bounds = _bounds(fits, steps)
    best, best_merit, best_index = None, -np.inf, -1
    merits = (model.objective - steps.objectives) / prices
    for index in np.argsort(-merits, kind="stable").tolist():
        price, cutoff = prices[index], limits[index]
        if best is not None:
            cutoff = min(cutoff, model.objective - best_merit * price + tie)
        if bounds[index] >= cutoff:
            continue
        coef, constant = steps.coefs[index], steps.constants[index]
        start = SupportModel(steps.supports[index], coef, constant - fits.means @ coef, np.inf)
        fitted = fits.fit_below(start.support, cutoff, start)
        if fitted is None:
            continue
        merit = (model.objective - fitted.objective) / price
        lead = (merit - best_merit) * price
        if best is None or lead > tie or (lead >= -tie and index < best_index):
            best, best_merit, best_index = fitted, merit, index
    return best


@MAY_OVERFLOW
def _bounds(fits: SupportFits, steps: Steps) -> Float:
    """Return what the objective of each candidate is at least."""
    bounds = np.empty(len(steps.supports))
    is_bought = np.zeros((len(bounds), fits.problem.n_predictors), dtype=bool)
    for row, support in zip(is_bought, steps.supports, strict=True):
        row[list(support)] = True
    is_member = is_bought[:, fits.problem.column_predictor]
    columns = np.flatnonzero(is_member.any(axis=0))
    X, coefs, is_member = fits.X[:, columns], steps.coefs[:, columns], is_member[:, columns]
    size = max(1, CHUNK // len(X))
    for first in range(0, len(bounds), size):
        chunk = slice(first, first + size)
        margins = fits.signs * (coefs[chunk] @ X.T + steps.constants[chunk, np.newaxis])
        bounds[chunk] = fits.bounds(X, columns, fits.dual(margins), is_member[chunk])
    return bounds
