"""The ridge logistic regression on a fixed support: Newton's method with Cholesky factors."""

import math

from numba import njit

from .cholesky import factorise, substitute
from .gram import cross_products, weigh_column
from .layout import FITS, NULL_OBJECTIVE, OLD_INTERCEPT, linear_predictor
from .point import column_slopes, evaluate_columns, evaluate_rows
from .rows import total_of


@njit(cache=True, error_model="numpy")
def hessian_rows(data, work, first, n, total):
    """Fill rows first to n of the Hessian on work.columns, intercept eliminated, ridge included."""
    hessian, means = work.hessian, work.mean
    for i in range(first, n):
        mean = weigh_column(data.X, work.columns[i], work.d, data.n_positive, work.scratch)
        means[i] = mean / total
        row = hessian[i]
        cross_products(data.X, work.scratch, work.columns, i + 1, row)
        for k in range(i + 1):
            row[k] -= mean * means[k]
        # The slack keeps rounding from making the matrix indefinite.
        row[i] = max(row[i], 0.0) * (1.0 + 1e-13) + data.ridge


# What a fit may rely on at its start: that work.u is a linear predictor, that work.q and work.d
# belong to it too, or that work.theta, on the columns to be fitted, does as well.
PREDICTOR, ROWS, MODEL = 0, 1, 2


@njit(cache=True, error_model="numpy")
def fit_columns(data, work, n, theta0, cutoff, tolerance, known):
    """Fit work.theta on work.columns[:n], starting from what is `known`.

    The start need not be in the span of the columns: the first step is then the weighted
    least-squares fit to it, as in iteratively reweighted least squares. Stops when the bound
    reaches `cutoff` (the support cannot matter any more) or when the bound is within
    tolerance * objective of the objective. Returns (intercept, objective, bound), the bound being
    that of the model in work.theta.
    """
    theta, u, columns = work.theta, work.u, work.columns
    hessian, step, means = work.hessian, work.step, work.mean
    work.counter[FITS] += 1
    n_positive = data.n_positive
    objective = math.inf
    bound = -math.inf
    halvings = 0
    inside = known == MODEL
    restarted = False
    for iteration in range(200):
        mismatch = 0.0
        if iteration == 0 and known == MODEL:
            mismatch = total_of(work.q[n_positive:]) - total_of(work.q[:n_positive])
            evaluate_columns(
                data.X, work.q, n_positive, work.rho, data.ridge, columns, n, work.gradient
            )
        elif iteration > 0 or known == PREDICTOR:
            theta0, loss, entropy, mismatch = evaluate_rows(data, work, theta0, 0.5)
            if inside:
                size = 0.0
                for i in range(n):
                    size += theta[columns[i]] * theta[columns[i]]
                value = evaluate_columns(
                    data.X, work.q, n_positive, work.rho, data.ridge, columns, n, work.gradient
                )
                bound = entropy - value
                new_objective = loss + 0.5 * data.ridge * size
                if bound >= cutoff:
                    objective = new_objective
                    break
                if not new_objective <= objective * (1.0 + 1e-13):
                    halvings += 1
                    if halvings == 40:
                        break
                    for i in range(n):
                        step[i] *= 0.5
                        theta[columns[i]] -= step[i]
                    theta0 = 0.5 * (theta0 + work.scalar[OLD_INTERCEPT])
                    linear_predictor(data.X, n_positive, theta, theta0, u)
                    continue
                worst = 2.0 * work.scalar[NULL_OBJECTIVE]
                if objective == math.inf and not restarted and new_objective > worst:
                    # The least-squares start is worse than no model at all: start from none.
                    restarted = True
                    for i in range(n):
                        theta[columns[i]] = 0.0
                    theta0 = 0.0
                    linear_predictor(data.X, n_positive, theta, theta0, u)
                    continue
                halvings = 0
                stalled = objective - new_objective <= 1e-15 * objective
                objective = new_objective
                if objective - bound <= tolerance * objective or (stalled and iteration > 8):
                    break
        total = total_of(work.d)
        if not total > 0.0:
            if iteration == 0:
                continue  # the start is still to be evaluated
            break
        if not inside:
            # Working response: the least-squares step goes from 0, not from theta.
            target = work.u_old
            for m in range(u.size):
                target[m] = work.q[m] - work.d[m] * u[m]
            mismatch = total_of(target[n_positive:]) - total_of(target[:n_positive])
            theta0 = 0.0
            for i in range(n):
                positive, negative = column_slopes(data.X, columns[i], target, n_positive)
                work.gradient[columns[i]] = positive + negative
                theta[columns[i]] = 0.0
        hessian_rows(data, work, 0, n, total)
        for i in range(n):
            j = columns[i]
            step[i] = -(work.gradient[j] - mismatch * means[i] + data.ridge * theta[j])
        if not factorise(hessian, 0, n):
            if iteration == 0:
                continue
            break
        substitute(hessian, n, step)
        work.scalar[OLD_INTERCEPT] = theta0
        theta0 -= mismatch / total
        for i in range(n):
            theta[columns[i]] += step[i]
            theta0 -= step[i] * means[i]
        inside = True
        linear_predictor(data.X, n_positive, theta, theta0, u)
    return theta0, objective, bound
