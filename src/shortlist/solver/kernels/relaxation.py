"""The perspective relaxation of a node: proximal Newton steps, each of which proves a bound."""

import math

import numpy as np
from numba import njit

from .gram import update_gram
from .layout import (
    EVALUATIONS,
    FREE,
    GRAM_SIZE,
    GRAM_TOTAL,
    IN,
    OLD_INTERCEPT,
    OUT,
    linear_predictor,
    norm_of,
)
from .model import minimise_model, multiplier_of
from .oracle import complete
from .point import evaluate_predictors, evaluate_rows

_MAX_STEPS = 8
_MAX_HALVINGS = 5
# How well the classes' dual mass is balanced before the rest is scaled away (see evaluate_rows).
_BALANCE = 1e-4
# A predictor enters the working set when it is worth this share of its price.
_WORTH = 0.9


@njit(cache=True, error_model="numpy")
def relax(data, limits, work, status, left, count, budget, theta0, mu, cutoff, evaluated):
    """Improve work.theta for this node until its bound decides, or cannot decide, the node.

    `left`, `count` and `budget` are what `settle` returned; the relaxation spends `budget`. theta
    may hold predictors that are out at this node (it comes from the parent, where they were not):
    it then serves as expansion point of the first model only. If that point is `evaluated`, work
    holds its rows and slopes already.

    Returns (base, value, theta0, mu). The bound of the last point is base - value. If that is
    below the cutoff, the bounds with a free predictor g forced in or out are
    base - work.value_in[g] and base - work.value_out[g].
    """
    if not evaluated:
        linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
    inside = True
    for g in range(status.size):
        if status[g] == OUT and norm_of(data.start, work.theta, g) > 0.0:
            inside = False
    primal = math.inf
    halvings = 0
    step = 0
    while True:
        # 1. Bound and primal value of the current point.
        if evaluated:
            loss, entropy, mismatch = work.point[0], work.point[1], work.point[2]
            evaluated = False
        else:
            work.counter[EVALUATIONS] += 1
            theta0, loss, entropy, mismatch = evaluate_rows(data, work, theta0, _BALANCE)
            evaluate_predictors(
                data.X, work.q, data.n_positive, work.rho, data.ridge, data.start, status,
                work.gradient, work.v,
            )  # fmt: skip
            work.point[0], work.point[1], work.point[2] = loss, entropy, mismatch
        base = entropy
        for g in range(status.size):
            if status[g] == IN:
                base -= work.v[g]
        value = complete(limits, work, status, left, count, False)
        bound = base - value
        multiplier_of(data.start, data.ridge, status, work.price, work.theta, budget, work.z)
        if bound >= cutoff or step == _MAX_STEPS:
            break
        new_primal = math.inf
        if inside:
            new_primal = loss
            for g in range(status.size):
                if work.z[g] > 0.0:
                    t = norm_of(data.start, work.theta, g)
                    new_primal += 0.5 * data.ridge * t * t / work.z[g]
        # 2. Go half-way back if the last step overshot.
        if not new_primal <= primal * (1.0 + 1e-9) and halvings < _MAX_HALVINGS:
            halvings += 1
            for m in range(work.u.size):
                work.u[m] = 0.5 * (work.u[m] + work.u_old[m])
            for j in range(work.theta.size):
                work.theta[j] = 0.5 * (work.theta[j] + work.theta_old[j])
            theta0 = 0.5 * (theta0 + work.scalar[OLD_INTERCEPT])
            continue
        primal = new_primal
        # 3. Stop when the relaxation is solved, or when it is known not to reach the cutoff: its
        #    optimum lies below the primal value, and the bound is most of the way there.
        if inside and primal - bound <= 1e-9 * primal:
            break
        if inside and step > 0 and primal < cutoff and bound > 2.0 * primal - cutoff:
            break
        # 4. Renew the model and step to its minimiser.
        if mu <= 0.0:
            mu = _first_multiplier(work, status, budget)
        update_gram(data, work, status, _WORTH * mu, halvings > 1)
        halvings = 0
        work.theta_old[:] = work.theta
        work.u_old[:] = work.u
        work.scalar[OLD_INTERCEPT] = theta0
        mu = minimise_model(data, work, status, budget, mu, mismatch)
        theta0 -= mismatch / work.scalar[GRAM_TOTAL]
        for i in range(work.counter[GRAM_SIZE]):
            j = work.member[i]
            theta0 -= work.gram_mean[i] * (work.theta[j] - work.theta_old[j])
        linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
        inside = True
        step += 1
    if bound < cutoff:
        complete(limits, work, status, left, count, True)
    return base, value, theta0, mu


@njit(cache=True, error_model="numpy")
def _first_multiplier(work, status, budget):
    """A first price per unit of budget: that of the last predictor which the budget buys."""
    ratio = np.empty(status.size)
    for g in range(status.size):
        affordable = status[g] == FREE and work.price[g] > 0.0
        ratio[g] = -work.v[g] / work.price[g] if affordable else 0.0
    mu = 0.0
    spent = 0.0
    for g in np.argsort(ratio, kind="mergesort"):
        if ratio[g] < 0.0 and spent < budget:
            mu = -ratio[g]
            spent += work.price[g]
    return max(mu, 1e-12)
