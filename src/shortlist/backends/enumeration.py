"""Brute force: fit every affordable selection, and keep the best.

A reference that shares no code with the solver. Adding a predictor never raises the optimum, so
only selections to which nothing affordable can be added are fitted, each until floating point ends
its progress. The lower bound is the smallest of the fits' dual bounds.
"""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidProblemError
from ..limits import Limits
from ..problem import SubsetProblem
from ..solution import Options, Progress, Solution, Status
from .backend import Backend, conclude
from .support_fit import SupportFits, SupportModel

_MAX_FITS = 200_000
_MAX_SELECTIONS = 2**20  # affordable ones, all of which are listed before the first fit
# Selections that tie in exact arithmetic, as duplicated columns make them, differ by rounding.
_TIE = 1e-12


class EnumerationBackend(Backend):
    """Fits every selection worth fitting; for small problems and for checking other backends."""

    def solve(self, problem: SubsetProblem, options: Options) -> Solution:
        """Return the best of all affordable models."""
        started = perf_counter()
        fits = SupportFits(problem)
        supports = _supports_to_fit(fits)
        best, lower_bound, nodes, stopped = None, inf, 0, None
        try:
            if options.warm_start is not None:
                best = fits.fit(options.warm_start)[0]
            for support in supports:
                model, bound = fits.fit(support)
                nodes += 1
                lower_bound = min(lower_bound, bound)
                if best is None or _is_better(problem, model, best):
                    best = model
                seconds = perf_counter() - started
                unfitted = len(supports) - nodes
                if options.callback is not None:
                    proven = problem.scale.least if unfitted else lower_bound
                    options.callback(Progress(nodes, unfitted, best.objective, proven, seconds))
                if unfitted and options.time_limit is not None and seconds >= options.time_limit:
                    stopped = Status.TIME_LIMIT
                    break
                if unfitted and options.node_limit is not None and nodes >= options.node_limit:
                    stopped = Status.NODE_LIMIT
                    break
        except KeyboardInterrupt:
            stopped = Status.INTERRUPTED
            best = best or fits.intercept_model()
        assert best is not None  # there always is a selection to fit: `include`, if nothing else
        return conclude(
            problem,
            best,
            # Nothing is known of the selections that were not fitted.
            lower_bound=lower_bound if stopped is None else -inf,
            stopped=stopped,
            gap=options.gap,
            nodes=nodes,
            started=started,
        )


def _is_better(problem: SubsetProblem, model: SupportModel, other: SupportModel) -> bool:
    """Whether the objective is lower, or ties and the support comes first."""
    difference = model.objective - other.objective
    if model.support != other.support and abs(difference) <= _TIE * problem.scale.of(
        other.objective
    ):
        return model.support < other.support
    return difference < 0


def _supports_to_fit(fits: SupportFits) -> list[tuple[int, ...]]:
    """Return the affordable supports to which nothing can be added, in lexicographic order."""
    problem, limits = fits.problem, fits.problem.limits
    constant = np.ones(problem.n_predictors, dtype=bool)
    constant[problem.column_predictor[fits.X.any(axis=0)]] = False
    # A constant column only repeats the intercept: it is bought if it must be, never by choice.
    unwanted = set(limits.exclude) | set(limits.include) | set(np.flatnonzero(constant))
    choices = np.array([g for g in range(problem.n_predictors) if g not in unwanted], dtype=int)
    everything = tuple(sorted({*limits.include, *choices.tolist()}))
    if limits.is_affordable(everything):
        return [everything]
    chosen = _maximal_selections(limits, choices)
    return sorted(tuple(np.flatnonzero(row).tolist()) for row in chosen)


def _maximal_selections(limits: Limits, choices: NDArray[np.int_]) -> NDArray[np.bool_]:
    """List selections of `include` and `choices` to which no choice can be added, a row each."""
    level = np.zeros((1, limits.n_predictors), dtype=bool)
    level[0, list(limits.include)] = True
    last = np.array([-1])  # of the choices in a row, which are bought in this order, the last
    maximal, n_listed, n_maximal = [], 0, 0
    while len(level):
        addable = ~level[:, choices] & bool(level[0].sum() < limits.max_features)
        addable &= _price_after_adding(limits, level, choices) <= limits.prices.budget
        full = ~addable.any(axis=1)
        maximal.append(level[full])
        n_listed += len(level)
        n_maximal += int(full.sum())
        rows, added = np.nonzero(addable & (np.arange(len(choices)) > last[:, np.newaxis]))
        if n_maximal > _MAX_FITS or n_listed + len(rows) > _MAX_SELECTIONS:
            raise InvalidProblemError(
                f"backend: 'enumeration' is for at most {_MAX_FITS} selections, which this problem "
                "exceeds; use 'native' or tighten budget or max_features."
            )
        level, last = level[rows], added
        level[np.arange(len(rows)), choices[added]] = True
    return np.concatenate(maximal)


def _price_after_adding(
    limits: Limits, level: NDArray[np.bool_], choices: NDArray[np.int_]
) -> NDArray[Any]:
    """Return the price, in units, of every selection of `level` with every choice added to it."""
    prices = limits.prices
    before = level.astype(prices.costs.dtype) @ prices.costs
    price: NDArray[Any] = before[:, np.newaxis] + prices.costs[choices]
    for amount, fee in zip(prices.fees, limits.fees, strict=True):
        paid: NDArray[np.bool_] = level[:, list(fee.members)].max(axis=1)
        is_due = paid[:, np.newaxis] | np.isin(choices, fee.members)
        price += amount * is_due.astype(price.dtype)
    return price
