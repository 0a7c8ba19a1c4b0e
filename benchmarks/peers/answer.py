"""The answer of a peer, and its score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import shortlist as sl
from shortlist.backends.support_fit import SupportFits


@dataclass(frozen=True)
class Answer:
    """A support and the claims of the peer about it.

    Attributes
    ----------
    support : tuple of int
        Sorted predictors.
    status : str
        `optimal` if the peer claims that nothing is better, `time_limit`, `heuristic`, or
        `between_penalties` if no penalty of a penalised form gives the number asked for.
    lower_bound : float
        The peer's lower bound on all objectives; 0 for a heuristic.
    nodes : int
        Nodes of its trees, 0 for a heuristic.
    seconds : float, optional
        CPU seconds that it took, if it ran in a process of its own.
    """

    support: tuple[int, ...]
    status: str = "heuristic"
    lower_bound: float = 0.0
    nodes: int = 0
    seconds: float | None = None


class PeerError(Exception):
    """A peer gave no answer; the message is a sentence that says why."""


# From a problem and CPU seconds to an answer, or None if the peer cannot express the problem.
Peer = Callable[[sl.SubsetProblem, float], Answer | None]


def score(problem: sl.SubsetProblem, answer: Answer) -> float:
    """Return the objective of the best model on the support, infinite if it is not affordable."""
    if not problem.limits.is_affordable(answer.support):
        return float("inf")
    return SupportFits(problem).fit(answer.support)[0].objective


def is_plain(problem: sl.SubsetProblem) -> bool:
    """Whether a predictor is a column, no row weighs more, and nothing is included or excluded."""
    limits = problem.limits
    return not (
        problem.has_groups or limits.include or limits.exclude or np.ptp(problem.weights) > 0
    )


def is_number_only(problem: sl.SubsetProblem) -> bool:
    """Whether a number of columns is the only limit."""
    return is_plain(problem) and problem.limits.budget == np.inf
