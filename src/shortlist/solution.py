"""The options, the progress and the result of a solve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .arguments import Float
from .display import describe_proof, panel
from .families import RELATIVE, Scale
from .problem import SubsetProblem

if TYPE_CHECKING:
    from .certificate import Certificate  # loads pydantic


class Status(Enum):
    """Why a solve ended. Only `OPTIMAL` claims optimality, and only within the gap asked for."""

    OPTIMAL = "optimal"
    TIME_LIMIT = "time_limit"
    NODE_LIMIT = "node_limit"
    MEMORY_LIMIT = "memory_limit"
    INTERRUPTED = "interrupted"
    STALLED = "stalled"  # every node is closed, but floating point kept the gap above the target
    HEURISTIC = "heuristic"


@dataclass(frozen=True)
class Progress:
    """A snapshot of a running search, given to the callback."""

    nodes: int
    open_nodes: int
    objective: float
    lower_bound: float
    seconds: float

    def describe(self) -> str:
        """Return the progress as a sentence."""
        return (
            f"Searching: {self.nodes} nodes, penalised loss {self.objective:.3f}, "
            f"proven at least {self.lower_bound:.3f}"
        )


@dataclass(frozen=True)
class Options:
    """Limits of one solve, as `solve` documents them."""

    gap: float = 1e-6
    time_limit: float | None = None
    node_limit: int | None = None
    memory_limit: float | None = None  # bytes
    callback: Callable[[Progress], None] | None = None
    warm_start: tuple[int, ...] | None = None
    threads: int | None = None
    sample: int | None = None  # rows


@dataclass(frozen=True)
class Solution:
    """The best model found, and a proven lower bound on every affordable model.

    Attributes
    ----------
    status : Status
        Why the solve ended.
    support : tuple of int
        Sorted indices of the predictors bought.
    cost : float
        Their total cost, fees included.
    coef : ndarray of shape (n_columns,)
        One coefficient per column of X, zero outside the support.
    intercept : float
        The unpenalised intercept.
    objective : float
        Penalised loss of this model, evaluated by the problem itself.
    lower_bound : float
        No affordable model has a lower objective than this.
    nodes : int
        Branch-and-bound nodes processed.
    seconds : float
        Wall-clock time.
    names : tuple of str
        Names of the predictors bought, in the order of `support`.
    scale : Scale
        What the gap is relative to: the objective, or with the loss "cox" the weight of the events.
    """

    status: Status
    support: tuple[int, ...]
    cost: float
    coef: Float
    intercept: float
    objective: float
    lower_bound: float
    nodes: int
    seconds: float
    names: tuple[str, ...] = ()
    scale: Scale = RELATIVE
    # Makes the certificate when it is first asked for: most solutions are never asked.
    prover: Callable[[Solution], Certificate] | None = field(
        default=None, repr=False, compare=False
    )

    @cached_property
    def certificate(self) -> Certificate | None:
        """The proof of `lower_bound`, for `shortlist.verify`.

        None if the backend gives no proof, or if the proof grew too long: see `memory_limit` of
        `solve`.
        """
        return None if self.prover is None else self.prover(self)

    def detached(self) -> Solution:
        """Return the same solution with its certificate made, which keeps no data alive."""
        solution = replace(self, prover=None)
        solution.__dict__["certificate"] = self.certificate  # where cached_property looks for it
        return solution

    def __getstate__(self) -> dict[str, Any]:
        return self.detached().__dict__  # the proof travels along, the data do not

    @property
    def gap(self) -> float:
        """Relative distance between the objective and the lower bound; see `scale`."""
        if self.objective == self.lower_bound:
            return 0.0
        return max(0.0, self.objective - self.lower_bound) / self.scale.of(self.objective)

    def _repr_html_(self) -> str:
        return panel(
            describe_proof(self.status.value, self.gap),
            is_proven=self.status is Status.OPTIMAL,
            rows=[
                ("predictors", ", ".join(self.names or map(str, self.support)) or "none"),
                ("cost", f"{self.cost:g}"),
                ("penalised loss", f"{self.objective:.6g}"),
                ("lower bound", f"{self.lower_bound:.6g}, on every affordable model"),
                ("search", f"{self.seconds:.3g} s, nodes: {self.nodes}"),
            ],
        )


@dataclass(frozen=True)
class ListedModel:
    """One of many near-optimal selections, and the ridge fit on it.

    Attributes
    ----------
    support : tuple of int
        Sorted indices of the predictors bought.
    cost : float
        Their total cost, fees included.
    objective : float
        Penalised loss.
    coef : ndarray of shape (n_columns,)
        One coefficient per column of X.
    intercept : float
        The unpenalised intercept.
    """

    support: tuple[int, ...]
    cost: float
    objective: float
    coef: Float
    intercept: float


def solution_of(
    problem: SubsetProblem,
    support: tuple[int, ...],
    coef: Float,
    intercept: float,
    *,
    status: Status,
    lower_bound: float,
    gap: float,
    nodes: int,
    seconds: float,
    prover: Callable[[Solution], Certificate] | None = None,
) -> Solution:
    """Return the solution of a search that ended with a status; it is optimal if the gap is closed.

    The bound and the objective are rounded separately; a bound above the objective is rounding.
    """
    objective = problem.objective(coef, intercept)
    lower_bound = min(lower_bound, objective)
    if status is Status.OPTIMAL and objective - lower_bound > gap * problem.scale.of(objective):
        status = Status.STALLED
    return Solution(
        status=status,
        support=support,
        cost=problem.limits.cost_of(support),
        coef=coef,
        intercept=intercept,
        objective=objective,
        lower_bound=lower_bound,
        nodes=nodes,
        seconds=seconds,
        names=tuple(map(problem.name_of, support)),
        scale=problem.scale,
        prover=prover,
    )
