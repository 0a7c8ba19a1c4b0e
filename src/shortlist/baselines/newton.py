"""One Newton step from a fitted model to each neighbour, which has a predictor more or less.

A step says how good a neighbour promises to be and where its fit should start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arguments import Float, Int
from ..backends.support_fit import SupportFits, SupportModel
from .block import blocks

# A step that overflows promises nothing; the fit of that neighbour starts from scratch.
MAY_OVERFLOW = np.errstate(over="ignore", divide="ignore", invalid="ignore")


class Steps(NamedTuple):
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

    def stay(self, model: SupportModel, supports: list[tuple[int, ...]]) -> Steps:
        """Return steps to neighbours that are still at the model."""
        n = len(supports)
        coefs = np.repeat(model.coef[np.newaxis], n, axis=0)
        return Steps(supports, coefs, np.full(n, self.constant), np.full(n, model.objective))


@MAY_OVERFLOW
def steps_with_more(fits: SupportFits, model: SupportModel, predictors: Int) -> Steps:
    """Return the steps that add each of `predictors` to a fitted model."""
    quadratic = _Quadratic(fits, model)
    supports = [tuple(sorted((*model.support, g))) for g in predictors.tolist()]
    steps = quadratic.stay(model, supports)
    for places, columns in blocks(fits, predictors):
        X = fits.X[:, columns]  # (n_rows, n_candidates, n_own)
        weighted = quadratic.curvature[:, np.newaxis, np.newaxis] * X
        slopes = np.tensordot(quadratic.slopes, X, 1)
        cross = np.tensordot(quadratic.design.T, weighted, 1)
        # What the held columns and the intercept change when a new coefficient rises by 1.
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


@MAY_OVERFLOW
def steps_with_less(fits: SupportFits, model: SupportModel, predictors: Int) -> Steps:
    """Return the steps that remove each of `predictors` from a fitted model."""
    quadratic = _Quadratic(fits, model)
    supports = [tuple(h for h in model.support if h != g) for g in predictors.tolist()]
    steps = quadratic.stay(model, supports)
    inverse = np.linalg.pinv(quadratic.hessian, hermitian=True)
    for places, columns in blocks(fits, predictors):
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
