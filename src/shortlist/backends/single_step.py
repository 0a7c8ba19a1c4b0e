"""The best single step from a model: which predictor to add, which to remove.

The choice is exact: it is that of fitting every candidate and comparing the penalised losses. But
few are fitted. One Newton step from the model at hand says how promising each candidate is, where
its fit should start and, by weak duality, a lower bound on its loss. Fits run from the most
promising candidate to the least, and only for those whose bound leaves them a chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Float, Int
from .support_fit import CHUNK, SupportFits, SupportModel

# Relative to the loss: differences below it are ties, and ties go to the lower index.
TIE = 1e-9
# A step that overflows promises nothing; the fit of that neighbour starts from scratch.
_MAY_OVERFLOW = np.errstate(over="ignore", divide="ignore", invalid="ignore")


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
        The price of each; those that cost nothing come first, by their gain alone.
    least_gain : array-like
        The least fall of the penalised loss; never less than a tie.

    Returns
    -------
    SupportModel or None
        None if no candidate gains enough.
    """
    added, price, gain = _arrays(predictors, prices, least_gain)
    limits = model.objective - np.maximum(gain, TIE * model.objective)
    is_free = price == 0
    if is_free.any():
        steps = _steps_with_more(fits, model, added[is_free])
        larger = _best(fits, model, steps, np.ones(len(steps.supports)), limits[is_free])
        if larger is not None:
            return larger
    steps = _steps_with_more(fits, model, added[~is_free])
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
    steps = _steps_with_less(fits, model, removed[saves])
    return _best(fits, model, steps, saving[saves], model.objective + loss[saves])


def _arrays(predictors: Sequence[int], *values: ArrayLike) -> tuple[Int, Float, Float]:
    chosen = np.array(predictors, dtype=np.int64)
    first, second = (np.broadcast_to(np.asarray(v, dtype=np.float64), chosen.shape) for v in values)
    return chosen, first, second


def _best(
    fits: SupportFits, model: SupportModel, steps: _Steps, prices: Float, limits: Float
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


@_MAY_OVERFLOW
def _bounds(fits: SupportFits, steps: _Steps) -> Float:
    """Return a lower bound on the objective of each candidate."""
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


class _Steps(NamedTuple):
    """Where one Newton step leads for each neighbour."""

    supports: list[tuple[int, ...]]
    coefs: Float  # (n_neighbours, n_columns)
    constants: Float  # (n_neighbours,) the intercepts of centred columns
    objectives: Float  # (n_neighbours,) as the quadratic model predicts them


class _Quadratic:
    """The quadratic model of the loss at a fitted model, in its columns and the intercept."""

    def __init__(self, fits: SupportFits, model: SupportModel) -> None:
        self.columns = fits.problem.columns_of(model.support)
        self.theta = model.coef[self.columns]
        X = fits.X[:, self.columns]
        self.constant = model.intercept + fits.means[self.columns] @ self.theta
        margins = fits.signs * (X @ self.theta + self.constant)
        self.slopes = fits.weights * fits.dual(margins) * fits.signs
        self.curvature = fits.weights * fits.curvature(margins)
        self.design = np.column_stack([X, np.ones(len(X))])
        self.hessian = self.design.T @ (self.curvature[:, np.newaxis] * self.design)
        self.hessian[np.diag_indices(len(self.columns))] += fits.problem.ridge

    def stay(self, model: SupportModel, supports: list[tuple[int, ...]]) -> _Steps:
        """Return steps to neighbours that are still at the model."""
        n = len(supports)
        coefs = np.repeat(model.coef[np.newaxis], n, axis=0)
        return _Steps(supports, coefs, np.full(n, self.constant), np.full(n, model.objective))


@_MAY_OVERFLOW
def _steps_with_more(fits: SupportFits, model: SupportModel, predictors: Int) -> _Steps:
    """Return the steps that add each of `predictors` to a fitted model."""
    quadratic = _Quadratic(fits, model)
    supports = [tuple(sorted((*model.support, g))) for g in predictors.tolist()]
    steps = quadratic.stay(model, supports)
    for places, columns in fits.blocks(predictors):
        X = fits.X[:, columns]  # (n_rows, n_candidates, n_own)
        weighted = quadratic.curvature[:, np.newaxis, np.newaxis] * X
        slopes = np.tensordot(quadratic.slopes, X, 1)
        cross = np.tensordot(quadratic.design.T, weighted, 1)
        # The change of the held columns and the intercept when a new coefficient rises by 1.
        flat = cross.reshape(len(cross), -1)
        response = np.linalg.lstsq(quadratic.hessian, flat, rcond=None)[0].reshape(cross.shape)
        hessian = fits.problem.ridge * np.eye(columns.shape[1])
        hessian = hessian + np.einsum("mki,mkj->kij", X, weighted)
        hessian -= np.einsum("hki,hkj->kij", cross, response)
        theta = np.einsum("kij,kj->ki", np.linalg.pinv(hessian, hermitian=True), slopes)
        shift = np.einsum("hki,ki->kh", response, theta)
        steps.coefs[np.ix_(places, quadratic.columns)] -= shift[:, :-1]
        steps.coefs[places[:, np.newaxis], columns] = theta
        steps.constants[places] -= shift[:, -1]
        steps.objectives[places] -= 0.5 * np.einsum("ki,ki->k", slopes, theta)
    return steps


@_MAY_OVERFLOW
def _steps_with_less(fits: SupportFits, model: SupportModel, predictors: Int) -> _Steps:
    """Return the steps that remove each of `predictors` from a fitted model."""
    quadratic = _Quadratic(fits, model)
    supports = [tuple(h for h in model.support if h != g) for g in predictors.tolist()]
    steps = quadratic.stay(model, supports)
    inverse = np.linalg.pinv(quadratic.hessian, hermitian=True)
    for places, columns in fits.blocks(predictors):
        place = np.searchsorted(quadratic.columns, columns)  # (n_candidates, n_own)
        own = inverse[place[:, :, np.newaxis], place[:, np.newaxis, :]]
        theta = model.coef[columns]
        # The force that holds the removed coefficients at 0.
        force = np.einsum("kij,kj->ki", np.linalg.pinv(own, hermitian=True), theta)
        shift = np.einsum("hki,ki->kh", inverse[:, place], force)
        steps.coefs[np.ix_(places, quadratic.columns)] -= shift[:, :-1]
        steps.coefs[places[:, np.newaxis], columns] = 0.0
        steps.constants[places] -= shift[:, -1]
        steps.objectives[places] += 0.5 * np.einsum("ki,ki->k", theta, force)
    return steps
