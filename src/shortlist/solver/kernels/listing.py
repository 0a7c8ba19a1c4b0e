"""Complete selections: kept as the incumbent, or in a list of models."""

from typing import NamedTuple

import numpy as np

from .fields import Array, Record
from .fit import FINE, fit_selection
from .incumbent import try_selection
from .layout import copy
from .reference import inlined, kernel

# Accuracy of the models that are listed.
_LISTED = 1e-13


class Listing(NamedTuple):
    """The models found below a threshold; no places where only the best is wanted."""

    status: Array("n_places", "n_predictors", dtype=np.int8)
    theta: Array("n_places", "n_columns")
    theta0: Array("n_places")
    objective: Array("n_places")
    now: Record(n_listed=0, n_left_out=0)  # places in use, models that found no place


@kernel
def is_listing(listing):
    """Whether all models below a threshold are wanted, not only the best."""
    return listing.objective.size > 0


@inlined
def keep_selection(search, status, theta0, cutoff, start):
    """Fit a complete selection and keep the model if it is good enough.

    Returns its intercept and bound, see `fit_selection`.
    """
    if not is_listing(search.listing):
        theta0, _, bound = try_selection(search, status, theta0, cutoff, FINE, start)
        return theta0, bound
    fit = search.fit
    theta0, objective, bound = fit_selection(
        search.data, fit, status, theta0, cutoff, _LISTED, start
    )
    if objective < cutoff:
        _list_model(search.listing, search.incumbent, status, fit.theta, theta0, objective)
    return theta0, bound


@kernel
def _list_model(listing, incumbent, status, theta, theta0, objective):
    """Give the model a place; when there are more than places, the best are kept.

    The threshold, which is the incumbent's objective, then falls to the worst that is kept.
    """
    n_places = listing.objective.size
    place = listing.now.n_listed
    if place < n_places:
        listing.now.n_listed += 1
    else:
        listing.now.n_left_out += 1
        place = np.argmax(listing.objective)
    if listing.now.n_left_out == 0 or objective < listing.objective[place]:
        copy(listing.status[place], status)
        copy(listing.theta[place], theta)
        listing.theta0[place] = theta0
        listing.objective[place] = objective
    if listing.now.n_left_out > 0:
        incumbent.score.objective = listing.objective.max()
