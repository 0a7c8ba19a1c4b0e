"""The perspective penalty of the coefficients: zones, slopes, and the multiplier of the budget.

At multiplier mu a free predictor of price c costs the reverse Huber function of t = ||theta_g||:
sqrt(2 ridge mu c) t up to t = sqrt(2 mu c / ridge), then ridge/2 t^2 + mu c. A bought one costs
ridge/2 t^2.

A free predictor of one column whose coefficient reaches as far as M is bought to the share t / M at
least. Where sqrt(2 mu c / ridge) > M that makes it steep: it costs (ridge M / 2 + mu c / M) t up to
M, where it is bought as a whole.
"""

import math

from .layout import FREE, IN, norm_of
from .point import value_of_slope
from .reference import kernel

# Of a predictor: not bought, bought in part, bought as a whole.
ZERO, LINEAR, QUADRATIC = 0, 1, 2


@kernel
def multiplier_of(data, model, status, budget, z):
    """Return the mu at which theta spends the budget, 0 if it cannot; fills z.

    z_g = min(1, ||theta_g|| sqrt(ridge / (2 mu c_g))) for the free predictors. With
    s = 1 / sqrt(mu) their spending is concave and piecewise linear in s: Newton from the left. With
    limits z_g is at least the share of its limit that a coefficient reaches, the spending is not
    concave, and Newton is kept between what spends too little and what spends too much.
    """
    start, theta, price = data.start, model.theta, model.price
    total = 0.0
    slope = 0.0
    for g in range(status.size):
        if status[g] == FREE:
            size = norm_of(start, theta, g)
            z[g] = 0.0
            if size > 0.0:
                c = price[g]
                z[g] = size * math.sqrt(0.5 * data.ridge / c) if c > 0.0 else math.inf
                total += c
                slope += c * z[g] if c > 0.0 else 0.0
        else:
            z[g] = 1.0 if status[g] == IN else 0.0
    if total <= budget or slope == 0.0:
        for g in range(status.size):
            z[g] = 1.0 if z[g] > 0.0 else 0.0
        return 0.0
    s = budget / slope
    too_small, too_large = 0.0, math.inf
    for _ in range(60):
        spent = 0.0
        slope = 0.0
        for g in range(status.size):
            if status[g] == FREE and z[g] > 0.0 and price[g] > 0.0:
                least = _least_share(data, theta, g)
                if max(s * z[g], least) >= 1.0:
                    spent += price[g]
                elif least > s * z[g]:
                    spent += price[g] * least
                else:
                    spent += price[g] * s * z[g]
                    slope += price[g] * z[g]
        if abs(spent - budget) <= 1e-12 * budget:
            break
        if spent < budget:
            too_small = s
        else:
            too_large = s
        s = s + (budget - spent) / slope if slope > 0.0 else math.inf
        if not too_small < s < too_large:
            s = 0.5 * (too_small + too_large) if too_large < math.inf else 2.0 * too_small
    for g in range(status.size):
        if status[g] == FREE:
            z[g] = min(1.0, max(s * z[g], _least_share(data, theta, g)))
    return 1.0 / (s * s)


@kernel
def _least_share(data, theta, g):
    """The share of its limit that a predictor of one column reaches."""
    if not data.is_limited:
        return 0.0
    size = abs(theta[data.start[g]])
    return size / reach_of(data, theta, g) if size > 0.0 else 0.0


@kernel
def reach_of(data, theta, g):
    """How far a predictor of one column can go on the side where it is."""
    j = data.start[g]
    if data.start[g + 1] - j > 1:
        return math.inf
    return data.upper[j] if theta[j] > 0.0 else -data.lower[j]


@kernel
def linear_slope(data, model, g, root):
    """The slope of the penalty of a free predictor in the linear zone, and whether it is steep."""
    plain = root * model.root_price[g]
    if not data.is_limited:
        return plain, False
    furthest = reach_of(data, model.theta, g)
    if plain > data.ridge * furthest:
        return 0.5 * (data.ridge * furthest + plain * plain / (data.ridge * furthest)), True
    return plain, False


@kernel
def squared_slope(data, j, slope):
    """The square of a downhill slope, or where the limits count, what has the same value."""
    if not data.is_limited or data.lower[j] < slope / data.ridge < data.upper[j]:
        return slope * slope
    return 2.0 * data.ridge * value_of_slope(data, j, -slope)
