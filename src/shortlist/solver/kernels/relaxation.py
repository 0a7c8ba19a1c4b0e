"""The perspective relaxation of a node: proximal Newton steps, each of which proves a bound."""

import math
from typing import NamedTuple

import numpy as np

from .fields import STATUS, Array, Record
from .fit import Start, fit_selection
from .gram import update_gram
from .layout import FREE, IN, OUT, copy, linear_predictor, norm_of
from .model import Model, minimise_model
from .oracle import Values, complete, complete_forced
from .penalty import multiplier_of
from .point import (
    Moved,
    Rows,
    evaluate_predictors,
    evaluate_rows,
    move_rows,
    predictor_value,
)
from .reference import inlined, kernel
from .sort import sort_by
from .trace import record_difference, record_point

NOT_EVALUATED = np.bool_(False)
_MAX_STEPS = 8
_MAX_HALVINGS = 5
# No model that is worth its loss has a linear predictor beyond this, where exp(-u) is a number.
_FURTHEST = 600.0
# How well the classes' dual mass is balanced before the rest is scaled away (see evaluate_rows).
_BALANCE = 1e-4
# The bound of a point is loose when it is below its primal value by this share.
_LOOSE = 0.05
# The curvatures of the model are renewed when they are off by this share of their total: sooner
# where bounds are loose, because those of moved points are good only if the model is.
_STALE, _STALE_IF_LOOSE = 0.3, 0.03
# A predictor enters the working set when it is worth this share of its price.
_WORTH = 0.9
# Accuracy of the fit that bounds a node at which everything is affordable.
_ALL_BOUGHT = 1e-6


class Relaxation(NamedTuple):
    """The point of the node that is relaxed, in model.theta, and what it proves."""

    rows: Rows
    values: Values
    model: Model
    z: Array("n_predictors")  # the share of each predictor that is bought
    u_old: Array("n_rows")  # the point before the last step
    theta_old: Array("n_columns")
    moved: Moved  # along the last step
    bought: STATUS  # the status of a node that buys everything
    # Of the point; theta0 and step0 are the intercept before the last step, if the point is that
    # moved along it, and the intercept's part of the step.
    last: Record(loss=0.0, entropy=0.0, mismatch=0.0, is_moved=0, is_loose=0, theta0=0.0, step0=0.0)


@kernel
def relax(data, limits, relaxation, status, room, theta0, mu, cutoff, is_evaluated):
    """Improve the point for this node until its bound decides, or cannot decide, the node.

    `room` is what `settle` returned; the relaxation spends its capacity. theta may hold predictors
    that are out at this node (it comes from the parent, where they were not): it then serves as
    expansion point of the first model only. If that point is evaluated, its rows and slopes are
    known already.

    Returns (base, value, theta0, mu). The bound is base - value. If that is below the cutoff, the
    bounds with a free predictor g forced in or out are base - values.value_in[g] and
    base - values.value_out[g]. The point that proves them is theta_old, moved by a step to theta,
    if last.is_moved, and else theta, which is then evaluated.
    """
    rows, values, model = relaxation.rows, relaxation.values, relaxation.model
    theta, theta_old, moved = model.theta, relaxation.theta_old, relaxation.moved
    last = relaxation.last
    rows.kink.width = data.width
    if not is_evaluated:
        linear_predictor(data, theta, theta0, rows.u)
    inside = _is_inside(data, theta, status)
    primal = math.inf
    old_theta0 = theta0
    n_halvings = 0
    step = 0
    last.is_moved = 0
    while True:
        # 1. Bound and primal value of the current point.
        if not is_evaluated:
            theta0, last.loss, last.entropy, last.mismatch = evaluate_rows(
                data, rows, theta0, _BALANCE
            )
            evaluate_predictors(data, rows, status, model.gradient, values.v)
        is_evaluated = False
        base = base_of(last.entropy, values.v, status)
        value = complete(limits, values, status, room.left, room.count)
        bound = base - value
        multiplier_of(data, model, status, room.capacity, relaxation.z)
        if bound >= cutoff or step == _MAX_STEPS:
            break
        new_primal = math.inf
        if inside:
            new_primal = primal_value(data, theta, relaxation.z, last.loss)
        # 2. Go half-way back if the last step overshot.
        if not new_primal <= primal * (1.0 + 1e-9) and n_halvings < _MAX_HALVINGS:
            n_halvings += 1
            _average(rows.u, relaxation.u_old)
            _average(theta, theta_old)
            theta0 = 0.5 * (theta0 + old_theta0)
            continue
        primal = new_primal
        # 3. Stop when the relaxation is solved, or when it is known not to reach the cutoff: its
        #    optimum lies below the primal value, and the bound is most of the way there.
        if inside and primal - bound <= 1e-9 * primal:
            break
        if inside and step > 0 and primal < cutoff and bound > 2.0 * primal - cutoff:
            break
        if inside:
            last.is_loose = 1 if primal - bound > _LOOSE * primal else 0
        # 4. Renew the model and find its minimiser.
        if mu <= 0.0:
            mu = _first_multiplier(values.v, model.price, status, room.capacity)
        stale = _STALE_IF_LOOSE if last.is_loose == 1 else _STALE
        if n_halvings > 1:
            stale = 0.0
        worth = _WORTH * mu
        update_gram(data, model.gram, theta, rows.d, status, values.v, model.price, worth, stale)
        n_halvings = 0
        copy(theta_old, theta)
        copy(relaxation.u_old, rows.u)
        old_theta0 = theta0
        mu = minimise_model(data, model, status, room.capacity, mu, last.mismatch)
        theta0 = _step_intercept(model, theta_old, theta0, last.mismatch)
        step += 1
        linear_predictor(data, theta, theta0, moved.t)
        if not _is_moderate(moved.t):
            # Curvatures that vanish in rounding make a step without measure: stay where we are.
            copy(theta, theta_old)
            theta0, mu = old_theta0, 0.0
            break
        # 5. Where the bounds of points are far below the optimum, move the dual point along the
        #    step: that bound is exact to second order.
        if last.is_loose == 1:
            _subtract(moved.t, rows.u)
            entropy = move_rows(data, rows, moved)
            for g in range(status.size):
                if status[g] != OUT:
                    values.v[g] = predictor_value(data, moved.q, g)
            moved_base = base_of(entropy, values.v, status)
            moved_value = complete(limits, values, status, room.left, room.count)
            moved_bound = moved_base - moved_value
            if moved_bound >= cutoff or (
                inside
                and moved_bound > bound
                and primal < cutoff
                and moved_bound > 2.0 * primal - cutoff
            ):
                multiplier_of(data, model, status, room.capacity, relaxation.z)
                base, value, bound = moved_base, moved_value, moved_bound
                last.is_moved = 1
                last.step0 = theta0 - old_theta0
                last.theta0 = old_theta0
                break
            linear_predictor(data, theta, theta0, moved.t)
        copy(rows.u, moved.t)
        inside = True
    if bound < cutoff:
        complete_forced(limits, values, status, room.left, room.count)
    return base, value, theta0, mu


@inlined
def relax_node(search, limits, trace, room, theta0, mu, cutoff, is_evaluated):
    """Relax the node search.status within the limits, and write down the point that bounds it.

    Returns what `relax` does, and the number of the point.
    """
    relaxation = search.relaxation
    if room.all_affordable:
        base, value, theta0 = _relax_all_affordable(search, limits, room, theta0, cutoff)
    else:
        base, value, theta0, mu = relax(
            search.data, limits, relaxation, search.status, room, theta0, mu, cutoff, is_evaluated
        )
    theta, last, width = relaxation.model.theta, relaxation.last, relaxation.rows.kink.width
    if last.is_moved == 0:
        point = record_point(trace, theta, theta0, width)
    else:
        point = record_difference(
            trace, relaxation.theta_old, theta, last.theta0, last.step0, width
        )
    return base, value, theta0, mu, point


@inlined
def _relax_all_affordable(search, limits, room, theta0, cutoff):
    """The relaxation of a node at which everything is affordable: fit all of it.

    Returns base, value and theta0 as `relax` does.
    """
    data, relaxation, fit, status = search.data, search.relaxation, search.fit, search.status
    rows, values, theta = relaxation.rows, relaxation.values, relaxation.model.theta
    relaxation.last.is_moved = 0
    for g in range(status.size):
        relaxation.bought[g] = OUT if status[g] == OUT else IN
    linear_predictor(data, theta, theta0, fit.rows.u)
    theta0, _, _ = fit_selection(
        data, fit, relaxation.bought, theta0, cutoff, _ALL_BOUGHT, Start.PREDICTOR
    )
    copy(theta, fit.theta)
    copy(rows.u, fit.rows.u)
    rows.kink.width = fit.rows.kink.width
    theta0, _, entropy, _ = evaluate_rows(data, rows, theta0, _BALANCE)
    evaluate_predictors(data, rows, status, relaxation.model.gradient, values.v)
    relaxation.z[:] = 1.0
    complete_forced(limits, values, status, room.left, room.count)
    value = complete(limits, values, status, room.left, room.count)
    return base_of(entropy, values.v, status), value, theta0


@kernel
def base_of(entropy, v, status):
    """The bound of a node before the free predictors are counted."""
    for g in range(status.size):
        if status[g] == IN:
            entropy -= v[g]
    return entropy


@kernel
def _is_inside(data, theta, status):
    """Whether the coefficients of all forbidden predictors are 0."""
    for g in range(status.size):
        if status[g] == OUT and norm_of(data.start, theta, g) > 0.0:
            return False
    return True


@kernel
def primal_value(data, theta, z, loss):
    """The loss plus the perspective penalty, ridge / 2 times the sum of ||theta_g||^2 / z_g."""
    for g in range(z.size):
        if z[g] > 0.0:
            t = norm_of(data.start, theta, g)
            loss += 0.5 * data.ridge * t * t / z[g]
    return loss


@kernel
def _average(x, other):
    for i in range(x.size):
        x[i] = 0.5 * (x[i] + other[i])


@kernel
def _subtract(x, other):
    for i in range(x.size):
        x[i] -= other[i]


@kernel
def _is_moderate(u):
    """Whether no row is further out than numbers reach."""
    for m in range(u.size):
        if not abs(u[m]) <= _FURTHEST:
            return False
    return True


@kernel
def _step_intercept(model, theta_old, theta0, mismatch):
    """The intercept that minimises the model, given the coefficients before and after."""
    gram = model.gram
    theta0 -= mismatch / gram.now.total
    for i in range(gram.now.n_columns):
        j = gram.member[i]
        theta0 -= gram.mean[i] * (model.theta[j] - theta_old[j])
    return theta0


@kernel
def _first_multiplier(v, price, status, budget):
    """A first price per unit of budget: that of the last predictor which the budget buys."""
    ratio = np.empty(status.size)
    order = np.arange(status.size)
    for g in range(status.size):
        is_priced = status[g] == FREE and price[g] > 0.0
        ratio[g] = -v[g] / price[g] if is_priced else 0.0
    mu = 0.0
    spent = 0.0
    sort_by(ratio, order, order.size)
    for g in order:
        if ratio[g] < 0.0 and spent < budget:
            mu = -ratio[g]
            spent += price[g]
    return max(mu, 1e-12)
