"""The branch and bound of this package: exact, certified, needs no other solver."""

from __future__ import annotations

from ..native.search import branch_and_bound
from ..problem import SubsetProblem
from ..solution import Options, Solution
from .backend import Backend


class NativeBackend(Backend):
    """Branch and bound on safe dual bounds; see `docs/method.md`."""

    def solve(self, problem: SubsetProblem, options: Options) -> Solution:
        """Return the best model found, with an honest status and lower bound."""
        if options.sample is not None:
            from ..sampling import solve_on_sample  # needed here alone

            return solve_on_sample(problem, options, options.sample)
        return branch_and_bound(problem, options)
