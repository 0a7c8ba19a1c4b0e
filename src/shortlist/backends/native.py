"""The branch and bound of this package: exact, certified, needs no other solver."""

from __future__ import annotations

from ..errors import InvalidProblemError
from ..options import Options
from ..problem import SubsetProblem
from ..result import Solution
from ..solver.branch_and_bound import branch_and_bound
from . import Backend


class NativeBackend(Backend):
    """Branch and bound on safe dual bounds; see `docs/method.md`."""

    def solve(self, problem: SubsetProblem, options: Options) -> Solution:
        """Return the best model found, with an honest status and lower bound."""
        if problem.coef_limits.are_given:
            raise InvalidProblemError(
                "backend: 'native' does not know max_coefficient and signs yet; use 'enumeration' "
                "or 'scip'."
            )
        return branch_and_bound(problem, options)
