"""The greedy rule of prognostic research: rank predictors one at a time, buy from the top.

The value of a predictor is the magnitude of its coefficient in an unregularised logistic regression
on that predictor alone; when there is a budget, its value is divided by its price. Magnitudes
depend on the scale of the columns, so scale them alike first.
"""

from __future__ import annotations

import numpy as np

from ..arguments import Float
from ..backends.support_fit import SupportFits
from ..problem import SubsetProblem
from .affordable import buy_by_value
from .block import blocks
from .heuristic import check_logistic

# Where one predictor separates the classes its coefficient has no finite optimum, and each Newton
# step adds about 1 to the margins. 25 steps, the limit of R's glm, leave such a predictor with a
# value far above any other.
_MAX_STEPS = 25
_MAX_HALVINGS = 20
_ROUNDING = 1e-14  # of a loss: what is higher by less is not worse
_CONVERGED = 1e-12  # decrement relative to the loss: the step that it belongs to is the last


def univariable_magnitudes(problem: SubsetProblem) -> Float:
    """Return how strongly each predictor alone is associated with the outcome.

    Parameters
    ----------
    problem : SubsetProblem
        Data; its ridge plays no part.

    Returns
    -------
    ndarray of shape (n_predictors,)
        Magnitude of the unregularised univariable coefficient, the Euclidean norm of the
        coefficients for a predictor of several columns.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.baselines import univariable_magnitudes
    >>> X = [[0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0], [1, 1]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1, 1, 0, 1], ridge=0.1)
    >>> univariable_magnitudes(problem).round(3).tolist()
    [1.792, 0.693]
    """
    check_logistic(problem, "univariable", "ranks by")
    fits = SupportFits(problem)
    magnitudes = np.zeros(problem.n_predictors)
    for predictors, columns in blocks(fits, np.arange(problem.n_predictors)):
        X = fits.X.T[columns]  # (n_predictors, n_own, n_rows)
        scale = np.abs(X).max(axis=(1, 2))
        scale[scale == 0] = 1.0
        coefs = _fit(X / scale[:, np.newaxis, np.newaxis], fits.signs, fits.weights)
        magnitudes[predictors] = np.linalg.norm(coefs, axis=1) / scale
    return magnitudes


def univariable_support(problem: SubsetProblem) -> tuple[int, ...]:
    """Return what the univariable rule buys.

    Predictors are bought by decreasing magnitude; when there is a budget, by decreasing magnitude
    per price, which is the predictor's cost and the fees that it incurs. Free predictors come
    first. One that no longer fits is skipped, and cheaper ones after it may still be bought.

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
    >>> from shortlist.baselines import univariable_support
    >>> X = [[0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0], [1, 1]]
    >>> y = [0, 0, 1, 1, 1, 0, 1]
    >>> univariable_support(sl.SubsetProblem(X, y, ridge=0.1, max_features=1))
    (0,)
    >>> univariable_support(sl.SubsetProblem(X, y, ridge=0.1, costs=[3, 1], budget=3))
    (1,)
    """
    return buy_by_value(problem.limits, univariable_magnitudes(problem))


def _fit(X: Float, signs: Float, weights: Float) -> Float:
    """Return the coefficients of unregularised logistic regressions, all at once, by Newton steps.

    X has shape (n_fits, n_own, n_rows), and its columns are centred, which moves the intercept
    alone. The intercept is eliminated from each step, and a pseudo-inverse solves the rest: a
    constant column then has a coefficient of 0, and dummy or spline columns that sum to the
    constant have the coefficients of smallest norm.
    """
    n_fits, n_own, n_rows = X.shape
    theta = np.zeros((n_fits, n_own, 1))
    events = weights[signs > 0].sum()
    start = signs * np.log(events / (weights.sum() - events))  # the best intercept alone
    margins = np.broadcast_to(start, (n_fits, n_rows)).copy()
    tails = np.exp(-np.abs(margins))  # of which loss and probability are made

    def losses(margins: Float, tails: Float) -> Float:
        total: Float = (np.log1p(tails) + np.maximum(-margins, 0.0)) @ weights
        return total

    loss = losses(margins, tails)
    active = np.arange(n_fits)
    for _ in range(_MAX_STEPS):
        A, m, tail = X[active], margins[active], tails[active]
        a = np.where(m > 0, tail, 1.0) / (1.0 + tail)  # of the other class
        slopes = weights * signs * a
        curvature = weights * a * (1.0 - a)
        total = curvature.sum(axis=1)[:, np.newaxis, np.newaxis]
        centred = A - A @ curvature[:, :, np.newaxis] / total
        gradient = centred @ slopes[:, :, np.newaxis]
        hessian = (centred * curvature[:, np.newaxis]) @ centred.transpose(0, 2, 1)
        step = _pseudo_inverse(hessian) @ gradient
        of_intercept = slopes.sum(axis=1)[:, np.newaxis, np.newaxis]
        decrement = (gradient * step + of_intercept**2 / total / n_own).sum(axis=(1, 2))
        move = signs * (step.transpose(0, 2, 1) @ centred + of_intercept / total)[:, 0]
        length = np.ones(len(active))
        limit = loss[active] * (1.0 + _ROUNDING)
        m += move
        tail = np.exp(-np.abs(m))
        trial = losses(m, tail)
        for _ in range(_MAX_HALVINGS):
            worse = trial > limit
            if not worse.any():
                break
            length[worse] /= 2
            m[worse] -= length[worse, np.newaxis] * move[worse]
            tail[worse] = np.exp(-np.abs(m[worse]))
            trial[worse] = losses(m[worse], tail[worse])
        accepted = trial <= limit
        length[~accepted] = 0.0
        theta[active] += length[:, np.newaxis, np.newaxis] * step
        going = accepted & (decrement > _CONVERGED * loss[active])
        active = active[going]
        if len(active) == 0:
            break
        margins[active], tails[active], loss[active] = m[going], tail[going], trial[going]
    return theta[:, :, 0]


def _pseudo_inverse(hessians: Float) -> Float:
    """Return the pseudo-inverses of a stack of positive semidefinite matrices."""
    if hessians.shape[1] == 1:
        return np.divide(1.0, hessians, out=np.zeros_like(hessians), where=hessians > 0)
    return np.asarray(np.linalg.pinv(hessians, hermitian=True))
