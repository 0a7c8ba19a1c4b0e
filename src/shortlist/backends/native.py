"""The branch and bound of this package: exact, certified, needs no other solver."""

from __future__ import annotations

from collections.abc import Sequence

from ..problem import SubsetProblem
from ..solution import Options, Solution
from ..solver.branch_and_bound import branch_and_bound
from ..solver.compilation import ready_kernels
from ..solver.packed import packed_of
from .backend import Backend, uninterrupted


class NativeBackend(Backend):
    """Branch and bound on safe dual bounds; see `docs/method.md`."""

    def solve(self, problem: SubsetProblem, options: Options) -> Solution:
        """Return the best model found, with an honest status and lower bound."""
        if options.sample is not None:
            from ..sampling import solve_on_sample  # needed here alone

            return solve_on_sample(problem, options, options.sample)
        return branch_and_bound(problem, options)

    def solve_ridges(
        self, problem: SubsetProblem, ridges: Sequence[float], options: Options
    ) -> list[Solution]:
        """Return what `solve` returns at each ridge; the data are packed once."""
        ready_kernels()
        packed = packed_of(problem)
        return [
            uninterrupted(branch_and_bound(problem.with_ridge(ridge), options, packed))
            for ridge in ridges
        ]
