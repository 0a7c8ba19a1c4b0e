"""The selection oracle: max sum of v over the affordable ways to complete a node.

`complete` returns an upper bound on max { sum z_g v_g : z in Z(node) } over the free predictors;
`complete_forced` fills the same with each free predictor g forced in (`value_in[g]`) or out
(`value_out[g]`). An upper bound is enough for validity; the top-k rule and the table are exact.
"""

from typing import NamedTuple

import numpy as np

from .fields import Array
from .layout import FREE, IN
from .reference import kernel

_TABLE_CELLS = 30_000
# Of a total, from which a large part is taken off again: what rounding may have lost, and more.
_ROUNDING = 1e-14
NOTHING = np.int64(-1)  # no predictor


class Limits(NamedTuple):
    """What is affordable, in the units of `Constraints`."""

    cost: np.ndarray  # (n_predictors,)
    fee: np.ndarray  # (n_fees,)
    pays: np.ndarray  # (n_fees, n_predictors) bool: buying this predictor incurs this fee
    charged: np.ndarray  # (n_predictors,) the one fee that the oracle charges, or -1
    order: np.ndarray  # (n_predictors,) predictors sorted by that fee
    budget: float
    max_features: int
    integral: bool
    has_budget: bool


class Values(NamedTuple):
    """What each predictor is worth to a dual point, and what the node is with it forced."""

    v: Array("n_predictors")
    value_in: Array("n_predictors")
    value_out: Array("n_predictors")
    ranked: Array("n_predictors")  # the largest v


@kernel
def remaining_limits(limits, status):
    """Return (budget left, number of predictors left to buy) after what the node has bought."""
    left = limits.budget
    count = limits.max_features
    for g in range(status.size):
        if status[g] == IN:
            left -= limits.cost[g]
            count -= 1
    for f in range(limits.fee.size):
        if is_paid(limits, status, f):
            left -= limits.fee[f]
    return left, count


@kernel
def is_paid(limits, status, f):
    """Whether some bought predictor already pays fee f."""
    for g in range(status.size):
        if status[g] == IN and limits.pays[f, g]:
            return True
    return False


@kernel
def price_now(limits, status, g):
    """Price of predictor g at this node: its cost and the fees that are not yet paid."""
    price = limits.cost[g]
    for f in range(limits.fee.size):
        if limits.pays[f, g] and not is_paid(limits, status, f):
            price += limits.fee[f]
    return price


@kernel
def complete(limits, values, status, left, count):
    """Return the largest value of a completion."""
    value = _most_valuable(values, status, count)
    if limits.has_budget:
        if _has_table(limits, status, left):
            table = value_table(limits, values.v, status, int(left), NOTHING)
            value = min(value, table[int(left)])
        else:
            mu, worth = _best_multiplier(limits, values, status, left)
            value = min(value, _priced_value(limits, values, status, left, mu, worth))
    return value


@kernel
def complete_forced(limits, values, status, left, count):
    """Fill value_in and value_out of the free predictors."""
    value = _most_valuable(values, status, count)
    _force_most_valuable(values, status, count, value)
    if limits.has_budget:
        if _has_table(limits, status, left):
            _force_in_table(limits, values, status, int(left))
        else:
            _force_priced(limits, values, status, left)


@kernel
def _has_table(limits, status, left):
    """Whether a knapsack table is exact and small enough."""
    n_free = 0
    for g in range(status.size):
        if status[g] == FREE:
            n_free += 1
    return limits.integral and 0.0 < n_free * (left + 1.0) <= _TABLE_CELLS


@kernel
def _most_valuable(values, status, count):
    """Top-k: ignores the budget. Leaves the count + 1 largest v in ranked, largest first."""
    v, ranked = values.v, values.ranked
    n = 0
    for g in range(status.size):
        if status[g] == FREE and (n <= count or v[g] > ranked[count]):
            i = n if n <= count else count
            while i > 0 and ranked[i - 1] < v[g]:
                ranked[i] = ranked[i - 1]
                i -= 1
            ranked[i] = v[g]
            n = min(n + 1, count + 1)
    for i in range(n, min(count + 1, ranked.size)):
        ranked[i] = 0.0
    total = 0.0
    for i in range(min(n, count)):
        total += ranked[i]
    return total


@kernel
def _force_most_valuable(values, status, count, total):
    """The same with each free predictor forced; uses what _most_valuable left in values.ranked."""
    total += _ROUNDING * total
    last = values.ranked[count - 1]
    following = values.ranked[count] if count < status.size else 0.0
    for g in range(status.size):
        if status[g] == FREE:
            if values.v[g] >= last:
                values.value_in[g] = total
                values.value_out[g] = total - values.v[g] + following
            else:
                values.value_in[g] = total - last + values.v[g]
                values.value_out[g] = total


@kernel
def _list_items(limits, status):
    """Return the free predictors ordered by fee group, and the fee group and fee of each."""
    items = np.empty(status.size, np.int64)
    group = np.empty(status.size, np.int64)
    fees = np.empty(status.size, np.int64)
    n = 0
    for g in limits.order:
        if status[g] == FREE:
            items[n] = g
            group[n] = _unpaid_fee(limits, status, g)
            fees[n] = int(_charged_fee(limits, status, g))
            n += 1
    return items[:n], group[:n], fees[:n]


@kernel
def _force_in_table(limits, values, status, budget):
    """Exact for whole-number prices. Fees: each group is entered with and without its fee.

    before[i, 0 or 1, b] is the best value of the items before i at a price of at most b, with none
    or some of the items of i's own fee group (whose fee is not yet charged); after[i + 1] is that
    of the items after i.
    """
    items, group, fees = _list_items(limits, status)
    n = items.size
    before, after = np.empty((n + 1, 2, budget + 1)), np.empty((n + 1, 2, budget + 1))
    before[0, 0, :] = after[n, 0, :] = 0.0
    before[0, 1, :] = after[n, 1, :] = -np.inf
    for i in range(n):
        _add_item(before[i], before[i + 1], int(limits.cost[items[i]]), values.v[items[i]])
        if i + 1 == n or group[i + 1] != group[i]:
            _charge_fee(before[i + 1], fees[i])
    for i in range(n - 1, -1, -1):
        # after[i + 1] covers items i + 1 and later, seen from item i.
        if i + 1 < n and group[i + 1] != group[i]:
            _charge_fee(after[i + 1], fees[i + 1])
        _add_item(after[i + 1], after[i], int(limits.cost[items[i]]), values.v[items[i]])
    for i in range(n):
        g = items[i]
        first, rest = before[i], after[i + 1]
        best_in, best_out = -np.inf, -np.inf
        room_in = budget - int(limits.cost[g]) - fees[i]
        room_fee = budget - fees[i]
        for b in range(budget + 1):
            left0, left1 = first[0, b], first[1, b]
            if b <= room_in:
                c = room_in - b
                best_in = max(best_in, max(left0, left1) + max(rest[0, c], rest[1, c]))
            best_out = max(best_out, left0 + rest[0, budget - b])
            if b <= room_fee:
                c = room_fee - b
                best_out = max(best_out, left0 + rest[1, c])
                best_out = max(best_out, left1 + max(rest[0, c], rest[1, c]))
        values.value_in[g] = min(values.value_in[g], best_in + values.v[g])
        values.value_out[g] = min(values.value_out[g], best_out)


@kernel
def value_table(limits, v, status, budget, skipped):
    """The best value for every whole amount up to the budget, without the predictor `skipped`.

    Each fee group is entered with its fee paid first.
    """
    best = np.zeros(budget + 1)
    entered = np.zeros(budget + 1)
    group = -2
    for g in limits.order:
        if status[g] != FREE or g == skipped:
            continue
        f = _unpaid_fee(limits, status, g)
        if f != group:
            for b in range(budget + 1):
                best[b] = max(best[b], entered[b])
            fee = int(_charged_fee(limits, status, g))
            for b in range(budget + 1):
                entered[b] = best[b - fee] if b >= fee else -np.inf
            group = f
        cost = int(limits.cost[g])
        for b in range(budget, cost - 1, -1):
            entered[b] = max(entered[b], entered[b - cost] + v[g])
    for b in range(budget + 1):
        best[b] = max(best[b], entered[b])
    return best


@kernel
def _add_item(old, new, price, value):
    width = old.shape[1]
    for b in range(width):
        new[0, b] = old[0, b]
        some = old[1, b]
        if b >= price:
            some = max(some, max(old[0, b - price], old[1, b - price]) + value)
        new[1, b] = some


@kernel
def _charge_fee(layers, fee):
    """Close a fee group: layer 0 becomes the better of none, and some with the fee charged."""
    width = layers.shape[1]
    for b in range(width - 1, -1, -1):
        if b >= fee:
            layers[0, b] = max(layers[0, b], layers[1, b - fee])
    layers[1, :] = -np.inf


# Prices that are not whole numbers: with the budget priced at mu per unit, mu * left plus what each
# predictor or fee group is worth above its price is an upper bound for every mu >= 0.


@kernel
def _best_multiplier(limits, values, status, left):
    """Return the mu at which that bound, which is convex in mu, is least; found by bisection.

    Also returns the worth of each fee group at that mu.
    """
    low, high = 0.0, 0.0
    for g in range(status.size):
        if status[g] == FREE and limits.cost[g] + _charged_fee(limits, status, g) > 0.0:
            high = max(high, values.v[g] / (limits.cost[g] + _charged_fee(limits, status, g)))
    worth = np.empty(limits.fee.size)
    for _ in range(50):
        mu = 0.5 * (low + high)
        if _spending(limits, values, status, mu, worth) > left:
            low = mu
        else:
            high = mu
    _spending(limits, values, status, high, worth)
    return high, worth


@kernel
def _priced_value(limits, values, status, left, mu, worth):
    total = mu * left
    for f in range(limits.fee.size):
        total += max(0.0, worth[f] - mu * limits.fee[f])
    for g in range(status.size):
        if status[g] == FREE and _charged_fee(limits, status, g) == 0.0:
            total += max(0.0, values.v[g] - mu * limits.cost[g])
    return total


@kernel
def _force_priced(limits, values, status, left):
    """The same with each free predictor forced."""
    mu, worth = _best_multiplier(limits, values, status, left)
    total = _priced_value(limits, values, status, left, mu, worth)
    total += _ROUNDING * total
    for g in range(status.size):
        if status[g] != FREE:
            continue
        margin = values.v[g] - mu * limits.cost[g]
        surplus = max(0.0, margin)
        if _charged_fee(limits, status, g) == 0.0:
            forced_in, forced_out = total - surplus + margin, total - surplus
        else:
            f = limits.charged[g]
            fee = mu * limits.fee[f]
            others = total - max(0.0, worth[f] - fee)
            forced_in = others + worth[f] - surplus + margin - fee
            forced_out = others + max(0.0, worth[f] - surplus - fee)
        values.value_in[g] = min(values.value_in[g], forced_in)
        values.value_out[g] = min(values.value_out[g], forced_out)


@kernel
def _unpaid_fee(limits, status, g):
    """The fee that the oracle charges for predictor g, -1 if it is paid or there is none."""
    f = limits.charged[g]
    return f if f >= 0 and not is_paid(limits, status, f) else -1


@kernel
def _charged_fee(limits, status, g):
    f = _unpaid_fee(limits, status, g)
    return limits.fee[f] if f >= 0 else 0.0


@kernel
def _spending(limits, values, status, mu, worth):
    """Price of everything worth more than its price at mu; fills the worth of each fee group."""
    worth[:] = 0.0
    inside = np.zeros(limits.fee.size)
    spent = 0.0
    for g in range(status.size):
        if status[g] == FREE:
            margin = values.v[g] - mu * limits.cost[g]
            if margin > 0.0:
                if _charged_fee(limits, status, g) > 0.0:
                    worth[limits.charged[g]] += margin
                    inside[limits.charged[g]] += limits.cost[g]
                else:
                    spent += limits.cost[g]
    for f in range(limits.fee.size):
        if worth[f] > mu * limits.fee[f]:
            spent += inside[f] + limits.fee[f]
    return spent
