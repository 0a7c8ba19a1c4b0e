"""The log of a search, a line at most once a second: `solve(verbose=True)`."""

from __future__ import annotations

from math import inf
from time import perf_counter

from .problem import SubsetProblem
from .solution import Options, Progress, Solution

SECONDS_BETWEEN = 1.0
_ROW = "{:>10} {:>10} {:>14} {:>14} {:>10} {:>8}"


class SearchLog:
    """Print what is searched, how far the search is, and how it ended.

    Parameters
    ----------
    problem : SubsetProblem
        What is searched.
    options : Options
        The limits of the search; its callback is called as without a log.
    """

    def __init__(self, problem: SubsetProblem, options: Options) -> None:
        self._scale, self._callback = problem.scale, options.callback
        self._printed = perf_counter()
        print(f"{_size(problem)}\n{_limits(problem)}\n{_stops(options)}")
        print(_ROW.format("nodes", "open", "incumbent", "bound", "gap", "seconds"), flush=True)

    def show(self, progress: Progress) -> None:
        """Print a line if the one before it is a second old: the callback of the search."""
        now = perf_counter()
        if now - self._printed >= SECONDS_BETWEEN:
            self._printed = now
            self._print(progress, str(progress.open_nodes))
        if self._callback is not None:
            self._callback(progress)

    def end(self, solution: Solution) -> None:
        """Print the result as the last line, and the status."""
        self._print(solution, "")
        bought = ", ".join(solution.names) or "no predictor"
        print(f"status: {solution.status.value}; bought for {solution.cost:g}: {bought}")

    def _print(self, state: Progress | Solution, n_open: str) -> None:
        found, bound = state.objective, state.lower_bound
        has_model = found < inf
        gap = max(0.0, found - bound) / self._scale.of(found) if has_model else inf
        cells = (
            state.nodes,
            n_open,
            f"{found:.6f}" if has_model else "",
            f"{bound:.6f}",
            f"{gap:.4%}" if has_model else "",
            f"{state.seconds:.1f}",
        )
        print(_ROW.format(*cells), flush=True)


def _size(problem: SubsetProblem) -> str:
    return (
        f"{problem.n_rows} rows, {problem.n_columns} columns, {problem.n_predictors} predictors; "
        f"loss {problem.family.name}, ridge {problem.ridge:g}"
    )


def _limits(problem: SubsetProblem) -> str:
    limits = problem.limits
    parts = []
    if limits.budget < inf:
        everything = limits.cost_of(tuple(range(limits.n_predictors)))
        parts.append(f"budget {limits.budget:g} (everything costs {everything:g})")
    if limits.max_features < limits.n_predictors:
        parts.append(f"at most {limits.max_features} predictors")
    for name, chosen in (("included", limits.include), ("excluded", limits.exclude)):
        if chosen:
            parts.append(f"{len(chosen)} {name}")
    if limits.has_intervals:
        parts.append("coefficients limited")
    return f"limits: {', '.join(parts) or 'none'}"


def _stops(options: Options) -> str:
    parts = [f"gap {options.gap:g}"]
    for value, text in (
        (options.time_limit, "{:g} seconds"),
        (options.node_limit, "{} nodes"),
        (options.memory_limit, "{:g} bytes"),
    ):
        if value is not None:
            parts.append(text.format(value))
    if options.sample is not None:
        parts.append(f"sample of {options.sample} rows")
    return f"stops at: {', '.join(parts)}"
