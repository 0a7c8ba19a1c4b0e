"""The perspective relaxation of a node: proximal Newton steps, each of which proves a bound."""

import math

from numba import njit

from .descent import descend, multiplier_of
from .gram import append_predictor, reset_gram
from .layout import (
    FIRST_MULTIPLIER,
    FREE,
    GRAM_TOTAL,
    IN,
    OLD_INTERCEPT,
    OUT,
    linear_predictor,
    norm_of,
)
from .oracle import complete
from .point import evaluate_predictors, evaluate_rows


@njit(cache=True)
def relax(data, limits, work, counts, status, left, count, theta0, mu, cutoff, max_steps, min_steps, tight, stale_limit):
    """Improve work.theta for this node until its bound decides, or cannot decide, the node.

    Returns (base, value, theta0, mu, primal): the bound of the last point is base - value, and
    work.value_in / value_out belong to that point.
    """
    budget = left if limits.has_budget else float(count)
    linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
    primal = math.inf
    halvings = 0
    refresh = False
    base, value = -math.inf, 0.0
    step = 0
    inside = True  # no forbidden predictor in theta
    for g in range(status.size):
        if status[g] == OUT and norm_of(data.start, work.theta, g) > 0.0:
            inside = False
    while True:
        counts[1] += 1
        theta0, loss, entropy, mismatch = evaluate_rows(data, work, theta0, 1e-4)
        base = entropy
        evaluate_predictors(
            data.X, work.q, data.n_positive, work.rho, data.ridge, data.start, status,
            work.gradient, work.v,
        )  # fmt: skip
        for g in range(status.size):
            if status[g] == IN:
                base -= work.v[g]
        value = complete(limits, work, status, left, count)
        bound = base - value
        if mu <= 0.0:
            mu = _initial_multiplier(work, status, budget)
            work.scalar[FIRST_MULTIPLIER] = mu
        multiplier_of(data.start, data.ridge, status, work.price, work.theta, budget, work.z)
        new_primal = math.inf
        if inside:
            new_primal = loss
            for g in range(status.size):
                if status[g] != OUT:
                    t = norm_of(data.start, work.theta, g)
                    if t > 0.0:
                        new_primal += 0.5 * data.ridge * t * t / work.z[g]
        if bound >= cutoff or step >= max_steps:
            break
        if new_primal > primal * (1.0 + 1e-9) and halvings < 5:
            halvings += 1
            for m in range(work.u.size):
                work.u[m] = 0.5 * (work.u[m] + work.u_old[m])
            for j in range(work.theta.size):
                work.theta[j] = 0.5 * (work.theta[j] + work.theta_old[j])
            theta0 = 0.5 * (theta0 + work.scalar[OLD_INTERCEPT])
            continue
        refresh = halvings > 1
        halvings = 0
        primal = new_primal
        if inside and primal - bound <= 1e-9 * primal:
            break
        if inside and step >= min_steps:
            if cutoff == math.inf:
                if primal - bound <= 0.01 * primal:
                    break
            elif primal < cutoff and primal - bound <= tight * (cutoff - bound):
                break
        # Quadratic model on the working set.
        change, total = 0.0, 0.0
        for m in range(work.d.size):
            change += abs(work.d[m] - work.gram_d[m])
            total += work.d[m]
        if change > stale_limit * total or refresh:
            reset_gram(data, work, counts)
            counts[2] += 1
        for g in range(status.size):
            if work.position[data.start[g]] < 0:
                if norm_of(data.start, work.theta, g) > 0.0 or (
                    status[g] != OUT and (status[g] == IN or work.v[g] > 0.5 * mu * work.price[g])
                ):
                    append_predictor(data, work, counts, g)
        work.theta_old[:] = work.theta
        work.u_old[:] = work.u
        work.scalar[OLD_INTERCEPT] = theta0
        mu = descend(data, work, counts, status, budget, mu, mismatch)
        inside = True
        theta0 -= mismatch / work.scalar[GRAM_TOTAL]
        # Move the intercept with the columns, as the eliminated row of the model says.
        for i in range(counts[0]):
            j = work.member[i]
            theta0 -= work.gram_mean[i] * (work.theta[j] - work.theta_old[j])
        linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
        step += 1
    return base, value, theta0, mu, min(primal, new_primal)


@njit(cache=True)
def _initial_multiplier(work, status, budget):
    """A first price per unit of budget: that of the last predictor which the budget buys."""
    mu = 0.0
    spent = 0.0
    last = math.inf
    while spent < budget:
        best = -1
        ratio = 0.0
        for g in range(status.size):
            if status[g] == FREE and work.price[g] > 0.0:
                r = work.v[g] / work.price[g]
                if r < last and r > ratio:
                    ratio = r
                    best = g
        if best < 0:
            break
        last = ratio
        mu = ratio
        spent += work.price[best]
    return max(mu, 1e-12)
