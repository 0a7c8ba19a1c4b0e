"""The paper's conic model, solved by MOSEK, as the paper does.

Its tolerance is its interior-point method's, which also makes the bounds of the nodes;
`conic_search` says how that is dealt with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..conic.loss import Cone
from ..conic.model import ConicModel
from ..errors import MissingDependencyError, import_extra
from ..problem import SubsetProblem
from ..solution import Options, Solution, Status
from .backend import Backend
from .conic_search import ConicSearch, SolverRun

_ENDINGS = {
    "ok": None,
    "trm_max_time": Status.TIME_LIMIT,
    "trm_mio_num_relaxs": Status.NODE_LIMIT,
    "trm_user_callback": Status.INTERRUPTED,
}


class MosekBackend(Backend):
    """MOSEK on the scaled model; needs `shortlist[mosek]` and a licence, and does not call back."""

    def solve(self, problem: SubsetProblem, options: Options) -> Solution:
        """Return the best model found, with an honest status and lower bound."""
        mosek = _import_mosek()
        search = ConicSearch(problem, options)
        with mosek.Task() as task:
            fill_task(task, search.model)
            task.putdouparam(mosek.dparam.mio_tol_rel_gap, search.gap)
            task.putdouparam(mosek.dparam.mio_tol_abs_gap, 0.0)
            task.putintparam(mosek.iparam.num_threads, 1)

            def run(seconds_left: float | None, nodes_left: int | None) -> SolverRun:
                if seconds_left is not None:
                    task.putdouparam(mosek.dparam.optimizer_max_time, seconds_left)
                if nodes_left is not None:
                    task.putintparam(mosek.iparam.mio_max_num_relaxs, nodes_left)
                return _optimise(task)

            def forbid(support: tuple[int, ...]) -> None:
                row, z = task.getnumcon(), search.model.blocks["z"].start
                task.appendcons(1)
                task.putarow(row, [z + g for g in support], [1.0] * len(support))
                task.putconbound(row, mosek.boundkey.up, 0.0, len(support) - 1)

            return search.solve(run, forbid, _ENDINGS)


def fill_task(task: Any, model: ConicModel) -> None:
    """Put a conic model into an empty MOSEK task."""
    mosek = _import_mosek()
    task.appendvars(model.n_variables)
    task.putclist(range(model.n_variables), model.cost)
    for j, (lower, upper) in enumerate(zip(model.lower, model.upper, strict=True)):
        task.putvarbound(j, _bound_key(mosek, lower, upper), lower, upper)
    whole = np.flatnonzero(model.integer).tolist()
    task.putvartypelist(whole, [mosek.variabletype.type_int] * len(whole))
    task.appendcons(len(model.rows))
    entries = model.rows.matrix.tocoo()
    task.putaijlist(entries.row.tolist(), entries.col.tolist(), entries.data)
    for i, offset in enumerate(model.rows.offset):
        task.putconbound(i, mosek.boundkey.up, 0.0, -offset)
    task.appendafes(len(model.conic))
    entries = model.conic.matrix.tocoo()
    task.putafefentrylist(entries.row.tolist(), entries.col.tolist(), entries.data)
    task.putafeglist(range(len(model.conic)), model.conic.offset)
    exponential = task.appendprimalexpconedomain()
    rotated = {
        size: task.appendrquadraticconedomain(size)
        for kind, size in set(model.cones)
        if kind is Cone.ROTATED
    }
    first = 0
    for kind, size in model.cones:
        domain = exponential if kind is Cone.EXPONENTIAL else rotated[size]
        task.appendaccseq(domain, first, None)
        first += size


def _optimise(task: Any) -> SolverRun:
    """Run MOSEK: the one step for which it wants a licence."""
    mosek = _import_mosek()
    try:
        ending = task.optimize()
    except mosek.Error as error:
        name = _name(error.errno)
        if "license" in name:
            raise MissingDependencyError(
                f"MOSEK found no valid licence ({name}); install one from mosek.com, or use the "
                "backend 'native', which needs none."
            ) from None
        raise
    kind = mosek.soltype.itg
    usable = (mosek.solsta.integer_optimal, mosek.solsta.prim_feas)
    has_solution = task.solutiondef(kind) and task.getsolsta(kind) in usable
    return SolverRun(
        ending=_name(ending),
        x=np.array(task.getxx(kind)) if has_solution else None,
        lower_bound=task.getdouinf(mosek.dinfitem.mio_obj_bound),
        nodes=task.getintinf(mosek.iinfitem.mio_num_solved_nodes),
    )


def _bound_key(mosek: Any, lower: float, upper: float) -> Any:
    if lower == upper:
        return mosek.boundkey.fx
    if np.isfinite(lower):
        return mosek.boundkey.ra if np.isfinite(upper) else mosek.boundkey.lo
    return mosek.boundkey.up if np.isfinite(upper) else mosek.boundkey.fr


def _name(code: Any) -> str:
    """Return `trm_max_time` for `rescode.trm_max_time`."""
    return str(code).rpartition(".")[2]


def _import_mosek() -> Any:
    return import_extra("mosek", "mosek", " and a licence, or use the backend 'native'")
