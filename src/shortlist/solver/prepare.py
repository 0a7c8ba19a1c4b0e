"""From a problem to the arrays of the kernels, and back."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from ..constraints import Constraints
from ..problem import SubsetProblem
from .kernels.endgame import LARGEST_BATCH
from .kernels.layout import (
    CLOSED,
    FREE,
    IN,
    N_COUNTERS,
    N_SCALARS,
    OUT,
    UPPER,
    Data,
    Limits,
    Trace,
    Tree,
    Work,
)
from .kernels.pack import constant_columns, merge_rows, pack_columns, pack_rows

_LARGEST_MODEL = 1000  # columns that a working set may hold
FIRST_SLOTS = 64  # nodes that a tree has room for at first
# The room that a trace starts with.
_FIRST_STEPS = 512
_FIRST_ENTRIES = 8192


@dataclass(frozen=True)
class Prepared:
    """One problem in the layout of the kernels."""

    data: Data
    limits: Limits
    work: Work
    root: NDArray[np.int8]
    columns: NDArray[np.int64]  # the problem's column at each place

    def coefficients(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return coefficients in the problem's order of columns."""
        coef = np.zeros(len(theta))
        coef[self.columns] = theta
        return coef


def prepare(problem: SubsetProblem) -> Prepared:
    """Order rows by class and columns by predictor, merge identical rows, allocate."""
    constraints = problem.constraints
    n_columns = problem.n_columns
    owner = problem.column_predictor
    if problem.has_groups:
        columns = np.argsort(owner, kind="stable")
        owner = owner[columns]
        start = np.searchsorted(owner, np.arange(problem.n_predictors + 1))
    else:
        columns = owner
        start = np.arange(n_columns + 1)
    X, w, n_positive = _pack(problem, columns)
    data = Data(X, w, n_positive, start, owner, problem.ridge)
    root = _root_status(constraints, data)
    # The largest support, and a batch of the endgame on top of it.
    largest = int(np.diff(start).max(initial=1)) if problem.has_groups else 1
    n_fit = min(n_columns, largest * (constraints.max_features + LARGEST_BATCH))
    return Prepared(data, _limits(constraints), _allocate(data, n_fit), root, columns)


def _pack(
    problem: SubsetProblem, columns: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    positive = problem.signs > 0
    used = problem.weights > 0
    rows = np.concatenate([np.flatnonzero(positive & used), np.flatnonzero(~positive & used)])
    X = np.empty((len(columns), len(rows)))
    sign = -problem.signs[rows]
    if problem.X.flags.f_contiguous:
        pack_columns(problem.X.T, rows, columns, sign, X)
    else:
        pack_rows(np.ascontiguousarray(problem.X), rows, columns, sign, X)
    w = problem.weights[rows]
    n_positive = int(np.count_nonzero(sign < 0))
    n_left, n_positive = merge_rows(X, w, n_positive)
    if n_left < len(rows):
        X, w = np.ascontiguousarray(X[:, :n_left]), w[:n_left].copy()
    return X, w, n_positive


def _root_status(constraints: Constraints, data: Data) -> NDArray[np.int8]:
    """What is decided from the start; constant predictors are never worth buying."""
    status = np.full(constraints.n_predictors, FREE, dtype=np.int8)
    constant = np.empty(len(data.X), dtype=np.bool_)
    constant_columns(data.X, data.n_positive, constant)
    if constant.any():
        status[np.setdiff1d(np.arange(len(status)), data.owner[~constant])] = OUT
    status[list(constraints.exclude)] = OUT
    status[list(constraints.include)] = IN
    return status


def _limits(constraints: Constraints) -> Limits:
    n_predictors, n_fees = constraints.n_predictors, len(constraints.fees)
    pays = np.zeros((n_fees, n_predictors), dtype=np.bool_)
    charged = np.full(n_predictors, -1)
    for f, fee in enumerate(constraints.fees):
        members = list(fee.members)
        pays[f, members] = True
        # A predictor in several groups is charged the largest fee: dropping the others from the
        # oracle leaves it an upper bound.
        dearer = [
            g for g in members if charged[g] < 0 or constraints.fees[charged[g]].amount < fee.amount
        ]
        charged[dearer] = f
    return Limits(
        cost=constraints.unit_costs,
        fee=constraints.unit_fees,
        pays=pays,
        charged=charged,
        order=np.argsort(charged, kind="stable"),
        budget=constraints.unit_budget,
        max_features=constraints.max_features,
        integral=constraints.integral,
        has_budget=constraints.budget < inf,
    )


def _allocate(data: Data, n_fit: int) -> Work:
    n_columns, n_rows = data.X.shape
    n_predictors = len(data.start) - 1
    n_model = min(n_columns, _LARGEST_MODEL)
    rows, cols, groups = (
        np.empty((k, n)) for k, n in ((10, n_rows), (6, n_columns), (9, n_predictors))
    )
    status = np.zeros((5, n_predictors), dtype=np.int8)
    model = np.empty((6, max(n_model, n_fit)))
    fit = np.empty((2, n_fit))
    scalar = np.zeros(N_SCALARS)
    scalar[UPPER] = scalar[CLOSED] = inf
    rows[6] = 0.0
    return Work(
        scalar=scalar, counter=np.zeros(N_COUNTERS, dtype=np.int64),
        u=rows[0], u_old=rows[1], decay=rows[2], scratch=rows[3], q=rows[4], d=rows[5],
        u_saved=rows[7], q_saved=rows[9], d_saved=rows[8], rho=np.ones(2), point=np.zeros(3),
        theta=cols[0], theta_old=cols[1], theta_saved=cols[2], theta_best=cols[3],
        gradient=cols[4], slope_saved=cols[5], columns=np.empty(n_columns, dtype=np.int64),
        v=groups[0], z=groups[1], price=groups[2], value_in=groups[3], value_out=groups[4],
        ranked=groups[5], gain=groups[6], root_price=groups[7], entry=groups[8],
        chain=np.empty(n_predictors, dtype=np.int64), zone=np.zeros(n_predictors, dtype=np.int8),
        status=status[0], status_trial=status[1], status_swap=status[2], status_best=status[3],
        gram=np.empty((n_model, n_model)), gram_d=rows[6], gram_mean=model[0],
        position=np.full(n_columns, -1), member=np.empty(n_model, dtype=np.int64),
        linear=model[1], slope=model[2], active=np.empty(n_model, dtype=np.int64),
        system=np.empty((n_model, n_model)), solution=model[3], response=model[4],
        hessian=np.empty((n_fit, n_fit)), step=fit[0], mean=fit[1],
    )  # fmt: skip


def plant(prepared: Prepared, n_slots: int) -> Tree:
    """Return a tree without nodes."""
    n_columns, n_predictors = len(prepared.data.X), len(prepared.root)
    n = n_slots + 1
    return Tree(
        status=np.empty((n, n_predictors), dtype=np.int8),
        theta=np.empty((n, n_columns)),
        theta0=np.empty(n),
        mu=np.empty(n),
        bound=np.empty(n),
        point=np.empty(n, dtype=np.int64),
        serial=np.empty(n, dtype=np.int64),
        heap=np.empty(n - 1, dtype=np.int64),
        vacant=np.arange(1, n),
    )


def enlarge(tree: Tree) -> Tree:
    """Return a tree with the same nodes and twice the room."""
    n = len(tree.heap)
    grown = Tree(*(np.concatenate([array, np.empty_like(array[:n])]) for array in tree))
    grown.vacant[n:] = np.arange(n + 1, 2 * n + 1)
    return grown


def blank_trace(prepared: Prepared) -> Trace:
    """Return a trace without steps, with room for the largest node at least."""
    n_columns, n_predictors = len(prepared.data.X), len(prepared.root)
    n_fit = len(prepared.work.step)
    n_steps = _FIRST_STEPS + n_predictors
    n_entries = _FIRST_ENTRIES + n_columns + (n_predictors + 1) * n_fit
    return Trace(
        kind=np.empty(n_steps, dtype=np.int8),
        node=np.empty(n_steps, dtype=np.int64),
        reference=np.empty(n_steps, dtype=np.int64),
        first_member=np.empty(n_steps, dtype=np.int64),
        member=np.empty(4 * n_steps, dtype=np.int32),
        intercept=np.empty(n_steps),
        first_entry=np.empty(n_steps, dtype=np.int64),
        column=np.empty(n_entries, dtype=np.int32),
        value=np.empty(n_entries),
    )


def lengthen(trace: Trace) -> Trace:
    """Return a trace with the same steps and twice the room."""
    return Trace(*(np.concatenate([array, np.empty_like(array)]) for array in trace))
