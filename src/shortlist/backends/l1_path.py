"""Models with an L1 penalty, one penalty after the other: the lasso of any family of outcomes."""

from __future__ import annotations

import numpy as np

from ..arguments import Float
from ..families import RowsLoss

_MAX_STEPS, _MAX_HALVINGS = 100, 30
_ACCURACY = 1e-5  # of the conditions of an optimum, relative to the penalty
_ROUNDING = 1e-13  # of a loss: one that is higher by less is not worse
_DEPENDENT = 1e-10  # added to the diagonal of a Hessian, relative to it: columns may be copies


class L1Path:
    """Minimises the loss and the penalty times the sum of the coefficients' magnitudes.

    Each fit starts at the one before, and takes Newton steps whose quadratic models are minimised
    over the columns that are not at zero and those that want to leave it. The intercept is not
    penalised.

    Parameters
    ----------
    of_rows : RowsLoss
        The loss of the rows.
    X : ndarray of shape (n_rows, n_columns)
        Their columns.
    intercept : float or None
        The best intercept without coefficients; None if the loss has none.
    """

    def __init__(self, of_rows: RowsLoss, X: Float, intercept: float | None) -> None:
        self._of_rows, self._has_intercept = of_rows, intercept is not None
        self._design = np.column_stack([X, np.ones((len(X), int(self._has_intercept)))])
        self._beta = np.zeros(self._design.shape[1])
        if intercept is not None:
            self._beta[-1] = intercept
        self._is_penalised = np.arange(len(self._beta)) < X.shape[1]

    def slopes(self) -> Float:
        """Return the derivatives of the loss in the coefficients, at the last fit."""
        slopes = self._design.T @ self._of_rows.slope(self._predict(self._beta))
        return np.asarray(slopes[self._is_penalised])

    def fit(self, penalty: float) -> tuple[Float, float]:
        """Return the coefficients and the intercept of a penalty."""
        penalties = np.where(self._is_penalised, penalty, 0.0)
        beta = self._beta
        u = self._predict(beta)
        objective = self._of_rows.loss(u) + penalties @ np.abs(beta)
        for _ in range(_MAX_STEPS):
            slopes = self._design.T @ self._of_rows.slope(u)
            at_zero = self._is_penalised & (beta == 0)
            off = np.where(
                at_zero, np.abs(slopes) - penalties, np.abs(slopes + penalties * np.sign(beta))
            )
            if off.max() <= _ACCURACY * penalty:
                break
            working = np.flatnonzero(~at_zero | (off > 0))
            columns = self._design[:, working]
            hessian = columns.T @ self._of_rows.weigh(u, columns)
            hessian[np.diag_indices(len(working))] *= 1.0 + _DEPENDENT
            towards = hessian @ beta[working] - slopes[working]
            step = np.zeros(len(beta))
            step[working] = _minimise(hessian, towards, penalties[working], beta[working])
            step[working] -= beta[working]
            for _ in range(_MAX_HALVINGS):
                trial = beta + step
                trial_u = self._predict(trial)
                trial_objective = self._of_rows.loss(trial_u) + penalties @ np.abs(trial)
                if trial_objective <= objective + _ROUNDING * abs(objective):
                    break
                step *= 0.5
            else:
                break
            beta, u, objective = trial, trial_u, trial_objective
        self._beta = beta
        return beta[self._is_penalised], float(beta[-1]) if self._has_intercept else 0.0

    def _predict(self, beta: Float) -> Float:
        used = np.flatnonzero(beta)
        return np.asarray(self._design[:, used] @ beta[used])


def _minimise(hessian: Float, towards: Float, penalties: Float, start: Float) -> Float:
    """Minimise z'Hz / 2 - z't + sum of penalties |z|, by the signs of z (Lee and others, 2007).

    With signs that are given the minimum is that of a quadratic. On the way to it, the first
    coefficient that would change its sign stops at zero; at it, the one whose slope is the most
    above its penalty leaves zero.
    """
    z, signs = start.copy(), np.sign(start)
    is_free = penalties == 0
    active = is_free | (z != 0)
    diagonal = np.diag(hessian)
    active &= diagonal > 0  # a column without curvature stays where it is
    tolerance = 0.1 * _ACCURACY * penalties.max(initial=0.0)
    for _ in range(10 * len(z) + 10):
        while active.any():
            held = np.flatnonzero(active)
            known = hessian[held][:, ~active] @ z[~active]
            wanted = towards[held] - known - penalties[held] * signs[held]
            target = np.linalg.solve(hessian[np.ix_(held, held)], wanted)
            crosses = ~is_free[held] & (target * signs[held] <= 0)
            if not crosses.any():
                z[held] = target
                break
            shares = np.full(len(held), np.inf)
            shares[crosses] = z[held][crosses] / (z[held] - target)[crosses]
            first = int(shares.argmin())
            z[held] += shares[first] * (target - z[held])
            z[held[first]] = 0.0
            active[held[first]] = False
        slopes = hessian @ z - towards
        beyond = np.where(active | (diagonal <= 0), -np.inf, np.abs(slopes) - penalties)
        worst = int(beyond.argmax())
        if beyond[worst] <= tolerance:
            break
        active[worst], signs[worst] = True, -np.sign(slopes[worst])
    return z
