"""Branch and bound."""

import math

import numpy as np
from numba import njit

from .fit import fit_columns
from .layout import FREE, IN, OUT, linear_predictor
from .oracle import price_now, remaining_limits
from .relaxation import relax


@njit(cache=True)
def settle(limits, work, status):
    """Forbid what is not affordable; buy all that is left if all of it is. Return what remains."""
    left, count = remaining_limits(limits, status)
    total = 0.0
    n_free = 0
    for g in range(status.size):
        if status[g] == FREE:
            price = price_now(limits, status, g)
            if price > left or count <= 0:
                status[g] = OUT
            else:
                n_free += 1
                total += price
                work.price[g] = price if limits.has_budget else 1.0
    if n_free > 0 and n_free <= count and total <= left:
        for g in range(status.size):
            if status[g] == FREE:
                status[g] = IN
        n_free = 0
    return left, count, n_free


@njit(cache=True)
def fit_status(data, work, status, theta0, cutoff, columns):
    n = 0
    for g in range(status.size):
        for j in range(data.start[g], data.start[g + 1]):
            if status[g] == IN:
                columns[n] = j
                n += 1
            else:
                work.theta[j] = 0.0
    return fit_columns(data, work, columns, n, theta0, cutoff, 1e-10)


@njit(cache=True)
def null_objective(data, work):
    positive = 0.0
    total = 0.0
    for m in range(data.w.size):
        total += data.w[m]
        if m < data.n_positive:
            positive += data.w[m]
    return total * math.log(total) - positive * math.log(positive) - (total - positive) * math.log(total - positive)


@njit(cache=True)
def search(data, limits, work, counts, root_status, gap, node_limit, best_theta, best_status, tune):
    G = root_status.size
    N = data.X.shape[0]
    cap = 64
    pool_status = np.empty((cap, G), np.int8)
    pool_theta = np.empty((cap, N))
    pool_theta0 = np.empty(cap)
    pool_mu = np.empty(cap)
    pool_bound = np.empty(cap)
    stack = np.empty(cap, np.int64)
    n_open = 0
    status = root_status.copy()
    columns = np.empty(N, np.int64)
    trial = np.empty(G, np.int8)
    saved_theta = np.empty(N)
    upper = math.inf
    best_theta0 = 0.0
    closed = math.inf
    nodes = 0
    leaves = 0
    tried = np.zeros(G, np.int8)
    work.scalar[3] = null_objective(data, work)
    # root
    work.theta[:] = 0.0
    theta0 = 0.0
    mu = 0.0
    node_bound = -math.inf
    has = True
    while True:
        if not has:
            if n_open == 0:
                break
            # best bound
            b = 0
            for i in range(n_open):
                if pool_bound[i] < pool_bound[b]:
                    b = i
            status[:] = pool_status[b]
            work.theta[:] = pool_theta[b]
            theta0 = pool_theta0[b]
            mu = pool_mu[b]
            node_bound = pool_bound[b]
            n_open -= 1
            pool_status[b] = pool_status[n_open]
            pool_theta[b] = pool_theta[n_open]
            pool_theta0[b] = pool_theta0[n_open]
            pool_mu[b] = pool_mu[n_open]
            pool_bound[b] = pool_bound[n_open]
        has = False
        cutoff = upper * (1.0 - gap)
        if node_bound >= cutoff:
            closed = min(closed, node_bound)
            continue
        nodes += 1
        if nodes >= node_limit:
            closed = min(closed, node_bound)
            break
        left, count, n_free = settle(limits, work, status)
        if n_free == 0:
            linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
        else:
            root = nodes == 1
            base, value, theta0, mu, primal = relax(data, limits, work, counts, status, left, count, theta0, mu, cutoff,
                40 if root else int(tune[0]), int(tune[1]), 0.001 if root else tune[2], tune[3])
            node_bound = max(node_bound, base - value)
            if node_bound >= cutoff:
                closed = min(closed, node_bound)
                continue
            # rounding
            trial[:] = status
            while True:
                l2, c2 = remaining_limits(limits, trial)
                best = -1
                for g in range(G):
                    if trial[g] == FREE:
                        if c2 <= 0 or price_now(limits, trial, g) > l2:
                            trial[g] = OUT
                        elif best < 0 or work.z[g] > work.z[best] or (work.z[g] == work.z[best] and work.v[g] > work.v[best]):
                            best = g
                if best < 0:
                    break
                trial[best] = IN
            same = True
            for g in range(G):
                if (trial[g] == IN) != (tried[g] == IN):
                    same = False
            if not same:
                tried[:] = trial
                saved_theta[:] = work.theta
                t0, objective, bound = fit_status(data, work, trial, theta0, cutoff, columns)
                counts[3] += 1
                if objective < upper:
                    upper = objective
                    best_theta[:] = work.theta
                    best_theta0 = t0
                    best_status[:] = trial
                    cutoff = upper * (1.0 - gap)
                work.theta[:] = saved_theta
            # fixing
            if base - value >= cutoff:
                closed = min(closed, base - value)
                continue
            fixed = 0
            for g in range(G):
                if status[g] == FREE:
                    if base - work.value_in[g] >= cutoff:
                        closed = min(closed, base - work.value_in[g])
                        status[g] = OUT
                        fixed += 1
                    elif base - work.value_out[g] >= cutoff:
                        closed = min(closed, base - work.value_out[g])
                        status[g] = IN
                        fixed += 1
            if fixed:
                left, count, n_free = settle(limits, work, status)
                if n_free == 0:
                    linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
        if n_free == 0:
            leaves += 1
            t0, objective, bound = fit_status(data, work, status, theta0, cutoff, columns)
            counts[3] += 1
            if objective < upper:
                upper = objective
                best_theta[:] = work.theta
                best_theta0 = t0
                best_status[:] = status
            closed = min(closed, bound)
            continue
        # branch
        pick = -1
        score = -1.0
        for g in range(G):
            if status[g] == FREE:
                s = work.z[g]
                if tune[4] == 1.0:
                    s = min(work.z[g], 1 - work.z[g]) + 1e-3 * work.z[g]
                elif tune[4] == 2.0:
                    s = work.v[g] / work.price[g] * 1e-9 + work.z[g]
                elif tune[4] == 3.0:
                    s = work.v[g] * work.z[g]
                if s > score:
                    score = s
                    pick = g
        bound_in = max(node_bound, base - work.value_in[pick])
        bound_out = max(node_bound, base - work.value_out[pick])
        if n_open + 1 > cap:
            cap2 = cap * 2
            a = np.empty((cap2, G), np.int8); a[:cap] = pool_status; pool_status = a
            b2 = np.empty((cap2, N)); b2[:cap] = pool_theta; pool_theta = b2
            c = np.empty(cap2); c[:cap] = pool_theta0; pool_theta0 = c
            c = np.empty(cap2); c[:cap] = pool_mu; pool_mu = c
            c = np.empty(cap2); c[:cap] = pool_bound; pool_bound = c
            cap = cap2
        i = n_open
        n_open += 1
        pool_status[i] = status
        pool_status[i, pick] = OUT
        pool_theta[i] = work.theta
        pool_theta0[i] = theta0
        pool_mu[i] = mu
        pool_bound[i] = bound_out
        status[pick] = IN
        node_bound = bound_in
        has = True
    lower = closed
    for i in range(n_open):
        lower = min(lower, pool_bound[i])
    counts[4] = leaves
    return upper, lower, best_theta0, nodes
