"""The best model found so far."""

import math
from typing import NamedTuple

import numpy as np

from .fields import STATUS, Array, Record
from .fit import Start, fit_selection
from .layout import IN, OUT, copy, linear_predictor
from .reference import inlined, kernel

_POLISHED = 1e-15


class Incumbent(NamedTuple):
    """A selection and its fit."""

    status: STATUS
    theta: Array("n_columns")
    score: Record(objective=math.inf, intercept=0.0)


@inlined
def try_selection(search, status, theta0, cutoff, tolerance, start):
    """Fit the bought predictors, see `fit_selection`, and keep the model if it is the best."""
    theta0, objective, bound = fit_selection(
        search.data, search.fit, status, theta0, cutoff, tolerance, start
    )
    offer(search, status, theta0, objective)
    return theta0, objective, bound


@kernel
def offer(search, status, theta0, objective):
    """Keep the model that was just fitted if it is the best."""
    incumbent = search.incumbent
    if objective < incumbent.score.objective:
        incumbent.score.objective = objective
        incumbent.score.intercept = theta0
        copy(incumbent.theta, search.fit.theta)
        for g in range(status.size):
            incumbent.status[g] = IN if status[g] == IN else OUT


@inlined
def refit_incumbent(search):
    """Refit the incumbent to the last digits of its coefficients, which its objective hides."""
    data, fit, incumbent = search.data, search.fit, search.incumbent
    theta0 = incumbent.score.intercept
    linear_predictor(data, incumbent.theta, theta0, fit.rows.u)
    theta0, objective, _ = fit_selection(
        data, fit, incumbent.status, theta0, np.inf, _POLISHED, Start.PREDICTOR
    )
    if objective <= incumbent.score.objective * (1.0 + 1e-12):
        incumbent.score.objective = min(objective, incumbent.score.objective)
        copy(incumbent.theta, fit.theta)
        incumbent.score.intercept = theta0
