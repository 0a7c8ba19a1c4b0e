"""What a peer answers, and what it is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import shortlist as sl
from shortlist.backends.support_fit import SupportFits


@dataclass(frozen=True)
class Answer:
    """A support and what the peer claims about it.

    Attributes
    ----------
    support : tuple of int
        Sorted predictors.
    status : str
        `optimal` if the peer claims that nothing is better, `time_limit`, or `heuristic`.
    lower_bound : float
        What the peer claims that no objective is below; 0 for a heuristic.
    nodes : int
        Nodes of its trees, 0 for a heuristic.
    """

    support: tuple[int, ...]
    status: str = "heuristic"
    lower_bound: float = 0.0
    nodes: int = 0


# From a problem and seconds to an answer, or None if the peer cannot express the problem.
Peer = Callable[[sl.SubsetProblem, float], Answer | None]


def score(problem: sl.SubsetProblem, answer: Answer) -> float:
    """Return the objective of the best model on the support, infinite if it is not affordable."""
    if not problem.constraints.is_affordable(answer.support):
        return float("inf")
    return SupportFits(problem).fit(answer.support)[0].objective
