"""Rankings of predictors before any selection: univariable fits, correlations, the L1 path."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from ..arguments import Float
from ..errors import InvalidProblemError
from ..problem import SubsetProblem
from .support_fit import SupportFits

# Univariable fits. Where one predictor separates the classes its coefficient has no finite optimum,
# and each Newton step adds about 1 to the margins. 25 steps, the limit of R's glm, leave such a
# predictor with a value far above any other.
_MAX_STEPS = 25
_MAX_HALVINGS = 20
_ROUNDING = 1e-14  # of a loss: one that is higher by less is not worse
_CONVERGED = 1e-12  # decrement relative to the loss: the step that it belongs to is the last
# The lasso. liblinear penalises the intercept like a coefficient, unless it stands for a large
# column.
_STEPS_PER_DECADE, _DECADES = 20, 4
_INTERCEPT_SCALING = 1e3
_UNPENALISED = 1e3  # the factor of columns that the penalty should spare


def check_logistic(problem: SubsetProblem, backend: str, does: str) -> None:
    """Raise unless the loss is the one that a rule is made for."""
    if not problem.family.gives_risks:
        raise InvalidProblemError(
            f"backend: {backend!r} {does} logistic regressions; use loss='logistic' or a backend "
            "such as 'forward' or 'swap'."
        )


def univariable_magnitudes(problem: SubsetProblem) -> Float:
    """Return how strongly each predictor alone is associated with the outcome.

    That is the magnitude of its coefficient in an unregularised logistic regression on that
    predictor alone; for a predictor of several columns, the Euclidean norm of the coefficients.
    Magnitudes depend on the scale of the columns, so scale them alike first.
    """
    check_logistic(problem, "univariable", "ranks by")
    fits = SupportFits(problem)
    magnitudes = np.zeros(problem.n_predictors)
    for predictors, columns in fits.blocks(np.arange(problem.n_predictors)):
        X = fits.X.T[columns]  # (n_predictors, n_own, n_rows)
        scale = np.abs(X).max(axis=(1, 2))
        scale[scale == 0] = 1.0
        coefs = _fit_alone(X / scale[:, np.newaxis, np.newaxis], fits.y, fits.weights)
        magnitudes[predictors] = np.linalg.norm(coefs, axis=1) / scale
    return magnitudes


def _fit_alone(X: Float, signs: Float, weights: Float) -> Float:
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


def correlations(problem: SubsetProblem) -> Float:
    """Return how strongly each predictor is correlated with the outcome.

    That is the magnitude of Pearson's correlation with the label, rows weighted; for a predictor of
    several columns the multiple correlation, which is the label's correlation with its best linear
    combination of them.
    """
    fits = SupportFits(problem)
    roots = np.sqrt(fits.weights)
    outcome = roots * (fits.y - np.average(fits.y, weights=fits.weights))
    outcome /= np.linalg.norm(outcome)
    # Columns of tiny values are enlarged before they are squared; constant ones stay 0.
    X = roots[:, np.newaxis] * fits.X / np.maximum(np.abs(fits.X).max(axis=0), np.finfo(float).tiny)
    values = np.empty(problem.n_predictors)
    for g in range(problem.n_predictors):
        own = X[:, problem.columns_of((g,))]
        values[g] = np.linalg.norm(own @ np.linalg.lstsq(own, outcome, rcond=None)[0])
    return values


def fit_l1(X: Float, signs: Float, weights: Float, C: float) -> tuple[Float, float]:
    """Return coefficients and intercept of an L1-penalised logistic regression of scikit-learn.

    `C` is the inverse of the penalty on the sum of the coefficients' magnitudes, and the intercept
    is hardly penalised. The last digits may not have converged: the order of entry
    and the predictions do not need them.
    """
    from sklearn import config_context  # slow to import
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        C=C,
        l1_ratio=1.0,
        solver="liblinear",
        intercept_scaling=_INTERCEPT_SCALING,
        tol=1e-6,
        random_state=0,
    )
    with (
        warnings.catch_warnings(),
        config_context(assume_finite=True, skip_parameter_validation=True),  # they are known
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, signs, sample_weight=weights)
    return model.coef_[0], float(model.intercept_[0])


def order_of_entry(problem: SubsetProblem) -> Iterator[int]:
    """Yield the predictors that can be bought in the order in which they enter the path."""
    limits = problem.limits
    check_logistic(problem, "lasso", "ranks by")
    fits = SupportFits(problem)
    candidates = limits.addable(limits.include)
    prices = np.zeros(problem.n_predictors)
    prices[candidates] = [limits.added_price(limits.include, g) for g in candidates]
    free = [g for g in candidates if prices[g] == 0]
    yield from free

    columns = problem.columns_of((*limits.include, *candidates))
    columns = columns[fits.X[:, columns].any(axis=0)]
    owner = problem.column_predictor[columns]
    is_penalised = prices[owner] > 0
    if not is_penalised.any():
        return
    X = fits.X[:, columns] / np.abs(fits.X[:, columns]).max(axis=0)
    X /= np.sqrt(fits.weights @ X**2 / fits.weights.sum())
    X[:, is_penalised] *= prices[owner][is_penalised].min() / prices[owner][is_penalised]
    X[:, ~is_penalised] *= _UNPENALISED
    share = np.average(fits.y, weights=fits.weights)
    largest_penalty = np.abs((fits.weights * (fits.y - share)) @ X[:, is_penalised]).max() / 2

    entered = {*limits.include, *free}
    for step in range(1, _STEPS_PER_DECADE * _DECADES + 1):
        C = 10 ** (step / _STEPS_PER_DECADE) / largest_penalty
        coef, _ = fit_l1(X, fits.y, fits.weights, C)
        largest = np.zeros(problem.n_predictors)
        np.maximum.at(largest, owner, np.abs(coef))
        newcomers = [g for g in np.flatnonzero(largest).tolist() if g not in entered]
        yield from sorted(newcomers, key=lambda g: -largest[g])
        entered.update(newcomers)
        if entered.issuperset(candidates):
            return
