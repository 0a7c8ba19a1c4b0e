"""The relaxation of the root, solved to the end."""

import math

from .fit import FINE, Start, fit_selection, start_from_null
from .layout import FREE, IN
from .reference import by_reference, entry
from .relaxation import NOT_EVALUATED, primal_value, relax
from .room import settle

_MAX_ROUNDS = 50  # of a few Newton steps each
_TOLERANCE = 1e-9


@entry
def relax_root(search):
    """Return a lower and an upper bound of the relaxation's optimum."""
    search = by_reference(search)
    data, relaxation, status = search.data, search.relaxation, search.root
    theta = relaxation.model.theta
    room = settle(search.limits, status, relaxation.model.price)
    theta0, mu = start_from_null(data, search.fit), 0.0
    if room.all_affordable:
        for g in range(status.size):
            if status[g] == FREE:
                status[g] = IN
        _, objective, bound = fit_selection(
            data, search.fit, status, theta0, math.inf, FINE, Start.PREDICTOR
        )
        return bound, objective
    theta[:] = 0.0
    lower, upper = -math.inf, math.inf
    for _ in range(_MAX_ROUNDS):
        base, value, theta0, mu = relax(
            data, search.limits, relaxation, status, room, theta0, mu, math.inf, NOT_EVALUATED
        )
        lower = max(lower, base - value)
        upper = primal_value(data, theta, relaxation.z, relaxation.last.loss)
        if upper - lower <= _TOLERANCE * upper:
            break
    return lower, upper
