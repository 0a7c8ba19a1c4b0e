"""The registry of backends, and `solve`, which uses them.

It stands above all backends: none of them imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from math import inf
from sys import maxsize
from typing import Any

import numpy as np

from ..arguments import check_integer, is_integer
from ..errors import InvalidProblemError
from ..problem import Predictor, SubsetProblem
from ..solution import Options, Progress, Solution
from .backend import Backend, uninterrupted

__all__ = [
    "Backend",
    "available_backends",
    "check_problem",
    "solve",
    "solve_ridges",
    "uninterrupted",
]


_MOST_THREADS = 2**31 - 1

# A solver is the class `<Name>Backend` of the module of that name, imported when first used. A
# heuristic is an entry of `HEURISTICS` in the module `heuristics`.
_SOLVERS = {
    "native": "branch and bound made for this problem",
    "enumeration": "fits every selection: slow, simple, a reference",
    "scip": "SCIP on the paper's conic model; an extra",
    "mosek": "MOSEK on the paper's conic model; an extra with a licence",
}
_HEURISTICS = {
    "univariable": "largest univariable coefficient first, per cost under a budget",
    "correlation": "largest correlation with the outcome first, per cost under a budget",
    "forward": "forward selection on the loss",
    "backward": "backward elimination on the loss",
    "stepwise": "forward selection that may remove",
    "hierarchical": "significant predictors, from the cheapest tier to the dearest",
    "lasso": "order of entry on the L1 path",
    "swap": "forward selection and exchanges",
}


def available_backends() -> dict[str, str]:
    """Return the names that `solve` accepts as `backend`, each with a one-line description.

    Examples
    --------
    >>> import shortlist as sl
    >>> list(sl.available_backends())[:4]
    ['native', 'enumeration', 'scip', 'mosek']
    """
    return _SOLVERS | {name: f"heuristic: {text}" for name, text in _HEURISTICS.items()}


def solve(
    problem: SubsetProblem,
    backend: str = "native",
    *,
    gap: float = 1e-6,
    time_limit: float | None = None,
    node_limit: int | None = None,
    memory_limit: float | None = None,
    callback: Callable[[Progress], None] | None = None,
    warm_start: Sequence[Predictor] | None = None,
    threads: int | None = None,
    sample: int | str | None = None,
    verbose: bool = False,
) -> Solution:
    """Find the affordable selection of predictors with the lowest objective, and prove it.

    A heuristic backend buys by its rule instead, and proves nothing: its status is
    `Status.HEURISTIC`, its lower bound is the least that the loss can be, and it takes no notice of
    gap, limits, callback and warm start.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.
    backend : str
        The name of a backend, as `available_backends` lists them.
    gap : float
        The relative gap between objective and lower bound at which a model counts as optimal; less
        than 1e-9 counts as 1e-9, the accuracy of the fits; with the hinge that is 1e-6.
    time_limit : float, optional
        Seconds after which the search stops with the best model so far.
    node_limit : int, optional
        Number of nodes after which it stops.
    memory_limit : float, optional
        Bytes that open nodes and the record for the proof may take, with the native backend. By
        default half of the memory that is free, and no more than 128 MiB of that for the record.
        Beyond it the record goes to temporary files, for at most half of the disk that is free;
        without room there it is given up, which is said, and the solution has no certificate. Once
        open nodes alone take half of the bytes, the newest comes first, which takes less memory
        and more time; once they take all of them, the search stops with the best model and the
        bound so far.
    callback : callable, optional
        Called now and then with a `shortlist.solution.Progress`.
    warm_start : sequence of names or indices, optional
        A selection to try first; ignored if it is not affordable.
    threads : int, optional
        Number of threads for a search that has proved to be long, with the native backend. It
        changes the time that the search takes, and nothing else. By default one for each core that
        this process may use; one in a worker process, for example of joblib.
    sample : int or "auto", optional
        Search on a sample of this number of rows, with the native backend, and prove on all rows:
        faster from some 100 000 rows on, and the way to solve a problem whose data are on disk.
        "auto" takes 25 times the square root of the number of rows, at least 5000. The answer is as
        certain as without a sample. If a proof on the sample does not carry over, larger samples
        follow, then the usual search; for data on disk the solve ends instead, with
        `Status.STALLED` and the gap that is proven.
    verbose : bool
        Print a log: size, loss, ridge and limits; at most once a second the nodes, the incumbent's
        objective, the lower bound and the gap; at the end the status.

    Returns
    -------
    Solution
        The best model found. Its `status` is `Status.OPTIMAL` only if its gap is proven.

    Examples
    --------
    >>> import shortlist as sl
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> problem = sl.SubsetProblem(X, ["well", "well", "ill", "ill"], ridge=0.1, max_features=1)
    >>> solution = sl.solve(problem)
    >>> solution.status, solution.support, solution.gap <= 1e-6
    (<Status.OPTIMAL: 'optimal'>, (0,), True)
    >>> sl.solve(problem, backend="forward").status
    <Status.HEURISTIC: 'heuristic'>
    """
    options = Options(gap, time_limit, node_limit, memory_limit, callback, threads=threads)
    _check(problem, backend, options)
    if warm_start is not None:
        support = problem.predictors.support_of("warm_start", warm_start)
        if problem.limits.is_affordable(support):
            options = replace(options, warm_start=support)
    if sample is not None:
        options = replace(options, sample=_sample(problem, backend, sample))
    if not verbose:
        return _load(backend).solve(problem, options)
    from ..search_log import SearchLog  # needed here alone

    log = SearchLog(problem, options)
    solution = _load(backend).solve(problem, replace(options, callback=log.show))
    log.end(solution)
    return solution


def solve_ridges(
    problem: SubsetProblem,
    ridges: Sequence[float],
    backend: str = "native",
    *,
    gap: float = 1e-6,
    node_limit: int | None = None,
) -> list[Solution]:
    """Solve the same problem at several ridges, as one `solve` for each would.

    A heuristic that takes no notice of the ridge chooses once and fits its choice at each.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits; its own ridge plays no part.
    ridges : sequence of float
        Strengths of the L2 penalty.
    backend, gap, node_limit
        As in `solve`; the limits hold for each ridge. Each search has one thread, because callers
        run resamples in parallel.

    Returns
    -------
    list of Solution
        One per ridge.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.backends import solve_ridges
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=1.0, max_features=1)
    >>> [solution.support for solution in solve_ridges(problem, [1.0, 0.1], "univariable")]
    [(0,), (0,)]
    """
    options = Options(gap, node_limit=node_limit, threads=1)
    _check(problem, backend, options)
    return _load(backend).solve_ridges(problem, ridges, options)


def _check(problem: SubsetProblem, backend: str, options: Options) -> None:
    """Check the arguments of a solve."""
    check_problem(problem)
    if not isinstance(backend, str) or backend not in (*_SOLVERS, *_HEURISTICS):
        known = ", ".join(map(repr, available_backends()))
        raise InvalidProblemError(f"backend: there is no {backend!r}; use one of {known}.")
    # Chained comparisons, so that NaN fails them and no conversion costs time.
    if not (_is_number(options.gap) and 0 <= options.gap < inf):
        raise InvalidProblemError(f"gap: must be a number of at least 0, not {options.gap!r}.")
    limit = options.time_limit
    if limit is not None and not (_is_number(limit) and limit >= 0):
        raise InvalidProblemError(
            f"time_limit: must be a number of seconds of at least 0 or None, not {limit!r}."
        )
    memory = options.memory_limit
    if memory is not None and not (_is_number(memory) and memory > 0):
        raise InvalidProblemError(
            f"memory_limit: must be a number of bytes above 0 or None, not {memory!r}."
        )
    for name, number, most in (
        ("node_limit", options.node_limit, maxsize),
        ("threads", options.threads, _MOST_THREADS),
    ):
        check_integer(name, number, 1, or_none=True)
        if number is not None and number > most:
            raise InvalidProblemError(f"{name}: must be at most {most}, not {number!r}.")
    if options.callback is not None and not callable(options.callback):
        raise InvalidProblemError(
            f"callback: must be a function of one argument or None, not {options.callback!r}."
        )


def _sample(problem: SubsetProblem, backend: str, sample: int | str) -> int:
    """Check the argument; return the number of rows."""
    if backend != "native":
        raise InvalidProblemError(f"sample: is for the native backend; {backend!r} takes all rows.")
    if problem.family.is_coupled:
        raise InvalidProblemError(
            "sample: does not go with loss='cox', as rows at risk are others in a sample; leave it "
            "out."
        )
    if problem.limits.has_intervals or not problem.family.takes_sample:
        raise InvalidProblemError(
            "sample: does not go with loss='hinge', max_coefficient and signs; leave it out."
        )
    if sample == "auto":
        from ..sampling import usual_size  # needed here alone, and loads the solver

        return usual_size(problem.n_rows)
    if not is_integer(sample, 1):
        raise InvalidProblemError(
            f"sample: must be a number of rows of at least 1, 'auto' or None, not {sample!r}."
        )
    return int(sample)


def check_problem(problem: SubsetProblem) -> None:
    """Raise unless this is a SubsetProblem."""
    if not isinstance(problem, SubsetProblem):
        raise InvalidProblemError(
            f"problem: must be a SubsetProblem made from X and y, not {type(problem).__name__}."
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


@cache
def _load(name: str) -> Backend:
    if name in _HEURISTICS:
        heuristic: Backend = import_module(".heuristics", __name__).HEURISTICS[name]
        return heuristic
    solver: Backend = getattr(import_module(f".{name}", __name__), f"{name.capitalize()}Backend")()
    return solver
