"""Fits by the core that are compared with each other, and the best single step from a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Float, Int
from ..native.core import core, prepare
from ..problem import SubsetProblem
from .support_fit import SupportModel

# Relative to the loss: differences below it are ties, and ties go to the lower index.
_TIE = 1e-9


class ComparedFits:
    """Fits on the supports of one problem, each as accurate as a comparison needs.

    `tie` is the difference of two objectives, relative to them, that counts as none.
    """

    def __init__(self, problem: SubsetProblem) -> None:
        self.problem = problem
        self.tie = max(_TIE, 5 * problem.family.rounding)
        self._prepared = prepare(problem)

    def fit(self, support: Iterable[int]) -> SupportModel:
        """Return the best model with this support."""
        support = tuple(sorted(support))
        coef, intercept, objective, _ = core.fit(self._prepared.problem, support)
        return SupportModel(support, *self._prepared.model(coef, intercept), objective)

    def best_of(
        self,
        model: SupportModel,
        supports: Sequence[tuple[int, ...]],
        limits: Float,
        prices: Float | None = None,
    ) -> SupportModel | None:
        """Return the fit with the lowest objective, relative to the model's, per price.

        Its objective is below its limit; None if there is none.
        """
        best, best_merit = None, -np.inf
        for i, support in enumerate(supports):
            fitted, price = self.fit(support), 1.0 if prices is None else float(prices[i])
            merit = (model.objective - fitted.objective) / price
            tie = self.tie * self.problem.scale.of(model.objective)
            is_better = (merit - best_merit) * price > tie
            if fitted.objective < limits[i] and is_better:
                best, best_merit = fitted, merit
        return best


def best_addition(
    fits: ComparedFits,
    model: SupportModel,
    predictors: Sequence[int],
    prices: ArrayLike = 1.0,
    least_gain: ArrayLike = 0.0,
) -> SupportModel | None:
    """Return the model with one more predictor that has the largest gain per price.

    Parameters
    ----------
    fits : ComparedFits
        The fits of the problem.
    model : SupportModel
        A fitted model, to which one of `predictors` is added.
    predictors : sequence of int
        Candidates, in ascending order.
    prices : array-like
        The price of each; those that cost nothing come first, by their gain alone.
    least_gain : array-like
        The least fall of the penalised loss; never less than a tie.

    Returns
    -------
    SupportModel or None
        None if no candidate gains enough.
    """
    added, price, gain = _arrays(predictors, prices, least_gain)
    tie = fits.tie * fits.problem.scale.of(model.objective)
    limits = model.objective - np.maximum(gain, tie)
    is_free = price == 0
    larger = fits.best_of(
        model, [(*model.support, g) for g in added[is_free].tolist()], limits[is_free]
    )
    if larger is not None:
        return larger
    supports = [(*model.support, g) for g in added[~is_free].tolist()]
    return fits.best_of(model, supports, limits[~is_free], price[~is_free])


def best_removal(
    fits: ComparedFits,
    model: SupportModel,
    predictors: Sequence[int],
    savings: ArrayLike = 1.0,
    most_loss: ArrayLike = np.inf,
) -> SupportModel | None:
    """Return the model with one predictor less that has the smallest loss per saving.

    Parameters
    ----------
    fits : ComparedFits
        The fits of the problem.
    model : SupportModel
        A fitted model, from which one of `predictors` is removed.
    predictors : sequence of int
        Candidates, in ascending order.
    savings : array-like
        The price that removing each saves; those that save nothing are candidates only if all do.
    most_loss : array-like
        The rise of the penalised loss that is too much.

    Returns
    -------
    SupportModel or None
        None if every removal loses too much.
    """
    removed, saving, loss = _arrays(predictors, savings, most_loss)
    if (saving == 0).all():
        saving = np.ones(len(removed))
    saves = saving > 0
    supports = [tuple(h for h in model.support if h != g) for g in removed[saves].tolist()]
    return fits.best_of(model, supports, model.objective + loss[saves], saving[saves])


def _arrays(predictors: Sequence[int], *values: ArrayLike) -> tuple[Int, Float, Float]:
    chosen = np.array(predictors, dtype=np.int64)
    first, second = (np.broadcast_to(np.asarray(v, dtype=np.float64), chosen.shape) for v in values)
    return chosen, first, second
