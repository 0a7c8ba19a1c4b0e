"""The paper's conic model, solved by MOSEK, as the paper does.

As with SCIP, the selection found is fitted again and scored by the problem, and what MOSEK's
tolerance may have added to its lower bound is taken off.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..arguments import Float
from ..conic.model import Cone, ConicModel, conic_model
from ..errors import MissingDependencyError
from ..options import Options
from ..problem import SubsetProblem
from ..result import Solution, Status
from . import Backend
from .conclusion import conclude
from .support_fit import SupportFits

_TOLERANCE = 1e-8  # of MOSEK's interior-point method, whose bounds are those of the nodes
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
        started = perf_counter()
        mosek = _import_mosek()
        fits = SupportFits(problem)
        best, _ = fits.fit(options.warm_start or problem.constraints.include)
        model = conic_model(problem, scaled=True)
        with mosek.Task() as task:
            fill_task(task, model)
            # Half of the gap is left to the tolerance.
            task.putdouparam(mosek.dparam.mio_tol_rel_gap, 0.5 * options.gap)
            task.putdouparam(mosek.dparam.mio_tol_abs_gap, 0.0)
            task.putintparam(mosek.iparam.num_threads, 1)
            nodes = 0
            while True:
                if options.time_limit is not None:
                    left = options.time_limit - (perf_counter() - started)
                    task.putdouparam(mosek.dparam.optimizer_max_time, max(0.0, left))
                if options.node_limit is not None:
                    left_nodes = max(1, options.node_limit - nodes)
                    task.putintparam(mosek.iparam.mio_max_num_relaxs, left_nodes)
                outcome = _optimise(task)
                nodes += outcome.nodes
                if outcome.x is None:
                    break
                support = model.support_of(outcome.x)
                if problem.constraints.is_affordable(support):
                    found, _ = fits.fit(support)
                    best = found if found.objective < best.objective else best
                    break
                _forbid(task, model, support)
        if outcome.ending not in _ENDINGS:
            raise RuntimeError(f"MOSEK ended with {outcome.ending!r}.")
        return conclude(
            problem,
            best,
            lower_bound=outcome.lower_bound - _TOLERANCE * float(model.cost.sum()),
            stopped=_ENDINGS[outcome.ending],
            gap=options.gap,
            nodes=nodes,
            started=started,
        )


class MosekRun(NamedTuple):
    """What MOSEK says about a run."""

    ending: str  # the name of its termination code
    x: Float | None  # the solution, if there is one
    lower_bound: float
    nodes: int


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


def _optimise(task: Any) -> MosekRun:
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
    return MosekRun(
        ending=_name(ending),
        x=np.array(task.getxx(kind)) if has_solution else None,
        lower_bound=task.getdouinf(mosek.dinfitem.mio_obj_bound),
        nodes=task.getintinf(mosek.iinfitem.mio_num_solved_nodes),
    )


def _forbid(task: Any, model: ConicModel, support: tuple[int, ...]) -> None:
    """No selection buys all of these, which are affordable within MOSEK's tolerance only."""
    row = task.getnumcon()
    task.appendcons(1)
    first = model.blocks["z"].start
    task.putarow(row, [first + g for g in support], [1.0] * len(support))
    task.putconbound(row, _import_mosek().boundkey.up, 0.0, len(support) - 1)


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
    try:
        import mosek
    except ImportError:
        raise MissingDependencyError(
            "MOSEK is not installed; install shortlist[mosek] and a licence, or use the backend "
            "'native', which needs neither."
        ) from None
    return mosek
