"""The money and the number of purchases that a node has left."""

from typing import NamedTuple

from .layout import FREE, OUT
from .oracle import price_now, remaining_limits
from .reference import kernel


class Room(NamedTuple):
    """What is left of the limits at a node."""

    left: float  # of the budget
    count: int  # predictors left to buy
    capacity: float  # the one of these two that the relaxation uses: it is tighter on average
    n_free: int
    all_affordable: bool  # all free predictors together


@kernel
def forbid_unaffordable(limits, status):
    """Forbid free predictors that are not affordable.

    Returns how many stay free, the budget left and the number of predictors left to buy.
    """
    left, count = remaining_limits(limits, status)
    n_free = 0
    for g in range(status.size):
        if status[g] == FREE:
            if count <= 0 or price_now(limits, status, g) > left:
                status[g] = OUT
            else:
                n_free += 1
    return n_free, left, count


@kernel
def settle(limits, status, price):
    """Forbid what is not affordable; return the room left and fill the prices that go with it."""
    n_free, left, count = forbid_unaffordable(limits, status)
    total = 0.0
    for g in range(status.size):
        if status[g] == FREE:
            price[g] = price_now(limits, status, g)
            total += price[g]
    capacity = left
    if not limits.has_budget or count * total < left * n_free:
        capacity = float(count)
        price[:] = 1.0
    return Room(left, count, capacity, n_free, n_free <= count and total <= left)


@kernel
def most_purchases(limits, status, room):
    """How many free predictors are affordable together at most: 1, 2, or 3 for all above."""
    if not limits.has_budget:
        return min(room.count, 3)
    # Without fees: a fee may be paid by another one.
    least, second, third = float("inf"), float("inf"), float("inf")
    for g in range(status.size):
        if status[g] == FREE:
            cost = limits.cost[g]
            if cost < least:
                least, second, third = cost, least, second
            elif cost < second:
                second, third = cost, second
            elif cost < third:
                third = cost
    if least + second > room.left:
        return min(room.count, 1)
    if least + second + third > room.left:
        return min(room.count, 2)
    return min(room.count, 3)
