"""From a problem to the structs of the kernels, and back."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

import numpy as np
from numpy.typing import NDArray

from ..constraints import Constraints
from ..problem import SubsetProblem
from .kernels.endgame import LARGEST_BATCH, Endgame
from .kernels.fit import Fit
from .kernels.gram import BLOCK_COLUMNS, BLOCK_ROWS, Gram
from .kernels.hessian import Hessian
from .kernels.heuristic import Heuristic
from .kernels.incumbent import Incumbent
from .kernels.layout import FREE, IN, OUT, Data
from .kernels.listing import Listing
from .kernels.model import Model, System
from .kernels.oracle import Limits, Values
from .kernels.pack import constant_columns, merge_rows, pack_columns, pack_rows
from .kernels.point import Moved, Rows
from .kernels.reference import new_record
from .kernels.relaxation import Relaxation
from .kernels.search import Search

_LARGEST_MODEL = 1000  # columns that a working set may hold


@dataclass(frozen=True)
class Prepared:
    """One problem in the layout of the kernels."""

    search: Search
    columns: NDArray[np.int64]  # the problem's column at each place

    def coefficients(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return coefficients in the problem's order of columns."""
        coef = np.zeros(len(theta))
        coef[self.columns] = theta
        return coef


def prepare(problem: SubsetProblem, threshold: float = inf, n_places: int = 0) -> Prepared:
    """Order rows by class and columns by predictor, merge identical rows, allocate.

    With places, the search lists the models below the threshold.
    """
    constraints = problem.constraints
    n_columns, n_predictors = problem.n_columns, problem.n_predictors
    if problem.has_groups:
        columns = np.argsort(problem.column_predictor, kind="stable")
        owner = problem.column_predictor[columns]
        start = np.searchsorted(owner, np.arange(n_predictors + 1))
        widest = int(np.diff(start).max(initial=1))
    else:
        columns = owner = np.arange(n_columns)
        start = np.arange(n_columns + 1)
        widest = 1
    X, w, n_positive = _pack(problem, columns)
    positive, negative = float(w[:n_positive].sum()), float(w[n_positive:].sum())
    null_objective = positive * log(1.0 + negative / positive) + negative * log(
        1.0 + positive / negative
    )
    limits = problem.coef_limits
    data = Data(
        X, w, n_positive, start, owner, limits.lower[columns], limits.upper[columns],
        problem.ridge, log(positive / negative), null_objective,
    )  # fmt: skip
    # The largest support, and a batch of the endgame on top of it.
    n_fit = min(n_columns, widest * (constraints.max_features + LARGEST_BATCH))
    n_model = min(n_columns, _LARGEST_MODEL)
    n_rows = len(w)
    search = Search(
        data=data,
        limits=_limits(constraints),
        relaxation=_relaxation(n_rows, n_columns, n_predictors, n_model),
        fit=Fit(
            rows=_rows(n_rows),
            hessian=_hessian(n_fit, n_rows),
            theta=np.empty(n_columns),
            gradient=np.empty(n_columns),
            target=np.empty(n_rows),
            moved=_moved(n_rows),
            now=new_record(n_moved=0, intercept=0.0),
        ),
        heuristic=Heuristic(
            trial=_status(n_predictors), held=_status(n_predictors), gain=np.empty(n_predictors)
        ),
        endgame=Endgame(
            trial=_status(n_predictors),
            base=_rows(n_rows),
            theta=np.empty(n_columns),
            slope=np.empty(n_columns),
            cross=np.empty((n_columns, n_fit)),
            square=np.empty(n_columns),
            mean=np.empty(n_columns),
            hessian=_hessian(n_fit, n_rows),
            gain=np.empty(n_predictors),
            step=np.empty(n_fit),
            moved=_moved(n_rows),
            now=new_record(
                intercept=0.0,
                objective=0.0,
                mismatch=0.0,
                total=0.0,
                n_bought=0,
                is_solved=0,
                step0=0.0,
            ),  # fmt: skip
        ),
        incumbent=Incumbent(
            status=_status(n_predictors),
            theta=np.empty(n_columns),
            score=new_record(objective=threshold, intercept=0.0),
        ),
        listing=Listing(
            status=np.empty((n_places, n_predictors), dtype=np.int8),
            theta=np.empty((n_places, n_columns)),
            theta0=np.empty(n_places),
            objective=np.empty(n_places),
            now=new_record(n_listed=0, n_left_out=0),
        ),
        root=_root_status(constraints, data),
        status=_status(n_predictors),
    )
    return Prepared(search, columns)


def _status(n_predictors: int) -> NDArray[np.int8]:
    return np.zeros(n_predictors, dtype=np.int8)


def _rows(n_rows: int) -> Rows:
    u, a, b, d, q, decay, scratch = (np.empty(n_rows) for _ in range(7))
    rho, entropy = (new_record(positive=1.0, negative=1.0) for _ in range(2))
    return Rows(u, a, b, d, q, rho, entropy, decay, scratch)


def _moved(n_rows: int) -> Moved:
    return Moved(np.empty(n_rows), np.empty(n_rows), new_record(positive=1.0, negative=1.0))


def _hessian(n_fit: int, n_rows: int) -> Hessian:
    return Hessian(
        columns=np.empty(n_fit, dtype=np.int64),
        matrix=np.empty((n_fit, n_fit)),
        mean=np.empty(n_fit),
        step=np.empty(n_fit),
        weighted=np.empty(n_rows),
    )


def _relaxation(n_rows: int, n_columns: int, n_predictors: int, n_model: int) -> Relaxation:
    gram = Gram(
        matrix=np.empty((n_model, n_model)),
        mean=np.empty(n_model),
        member=np.empty(n_model, dtype=np.int64),
        position=np.full(n_columns, -1),
        d=np.zeros(n_rows),
        block=np.empty((BLOCK_COLUMNS, BLOCK_ROWS)),
        now=new_record(n_columns=0, total=0.0),
    )
    system = System(
        active=np.empty(n_model, dtype=np.int64),
        matrix=np.empty((n_model, n_model)),
        solution=np.empty(n_model),
        response=np.empty(n_model),
    )
    model = Model(
        gram=gram,
        theta=np.empty(n_columns),
        gradient=np.empty(n_columns),
        price=np.empty(n_predictors),
        root_price=np.empty(n_predictors),
        zone=_status(n_predictors),
        chain=np.empty(n_predictors, dtype=np.int64),
        entry=np.empty(n_predictors),
        linear=np.empty(n_model),
        slope=np.empty(n_model),
        system=system,
    )
    v, value_in, value_out, ranked = (np.empty(n_predictors) for _ in range(4))
    return Relaxation(
        rows=_rows(n_rows),
        values=Values(v, value_in, value_out, ranked),
        model=model,
        z=np.empty(n_predictors),
        u_old=np.empty(n_rows),
        theta_old=np.empty(n_columns),
        moved=_moved(n_rows),
        bought=_status(n_predictors),
        last=new_record(
            loss=0.0, entropy=0.0, mismatch=0.0, is_moved=0, is_loose=0, theta0=0.0, step0=0.0
        ),
    )


def _pack(
    problem: SubsetProblem, columns: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    positive = problem.signs > 0
    used = problem.weights > 0
    rows = np.concatenate([np.flatnonzero(positive & used), np.flatnonzero(~positive & used)])
    X = np.empty((len(columns), len(rows)))
    sign = -problem.signs[rows]
    by_column = problem.X.flags.f_contiguous
    table = (problem.X.T if by_column else np.ascontiguousarray(problem.X)).view()
    table.flags.writeable = False  # always, as that is part of the type
    (pack_columns if by_column else pack_rows)(table, rows, columns, sign, X)
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
