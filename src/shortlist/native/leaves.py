"""The leaves of a proof, and the bounds that dual points evaluated elsewhere give them."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import Float, Int
from ..certificate import Bound, Branch, Fix, One, Step
from ..problem import SubsetProblem
from .core import core, core_limits

FREE, IN, OUT = 0, 1, 2  # decisions about a predictor, as in core/data.hpp


class Leaves(NamedTuple):
    """Sets of selections, each of which a point of the proof bounds.

    Attributes
    ----------
    point : ndarray of shape (n_leaves,)
        The point of each leaf.
    decisions : ndarray of shape (n_leaves, n_predictors)
        What is bought, forbidden or free; free is only what is affordable.
    most : ndarray of shape (n_leaves,)
        How many of the free predictors may be bought; limits may leave fewer.
    """

    point: Int
    decisions: NDArray[np.int8]
    most: Int

    @property
    def can_buy(self) -> NDArray[np.bool_]:
        """Whether some selection of a leaf buys a predictor; shape (n_leaves, n_predictors)."""
        return np.asarray(self.decisions != OUT)


def leaves_of(problem: SubsetProblem, useless: Iterable[int], steps: Iterable[Step]) -> Leaves:
    """Return the leaves that the steps of a proof lead to, as docs/certificate.md describes.

    Useless predictors, those that are constant, are bought only if they are included.
    """
    of_node: dict[int, list[Step]] = {}
    for step in steps:
        of_node.setdefault(step.node, []).append(step)
    n, limits = problem.n_predictors, problem.limits
    root = np.zeros(n, dtype=np.int8)
    root[[*limits.exclude, *useless]] = OUT
    root[list(limits.include)] = IN
    nodes = [(0, root)]
    leaves: list[tuple[int, NDArray[np.int8], int]] = []
    while nodes:
        node, decisions = nodes.pop()
        for step in of_node[node]:
            match step:
                case Fix(point=point, forbidden=outs, bought=ins):
                    leaves += [(point, _decided(decisions, g, IN), n) for g in outs]
                    leaves += [(point, _decided(decisions, g, OUT), n) for g in ins]
                    decisions = _decided(_decided(decisions, ins, IN), outs, OUT)
                case Bound(point=point):
                    leaves.append((point, decisions, n))
                case Branch(predictor=g, without=without, including=including):
                    nodes.append((without, _decided(decisions, g, OUT)))
                    nodes.append((including, _decided(decisions, g, IN)))
                case One(point=point, predictors=members):
                    others = np.flatnonzero(decisions == FREE)
                    others = others[~np.isin(others, members)]
                    leaves.append((point, _decided(decisions, others, OUT), 1))
    points, decided, most = zip(*leaves, strict=True)
    found = Leaves(np.array(points), np.array(decided), np.array(most))
    # To bound them forbids what is not affordable. Leaves without any selection are left out.
    n_points = int(found.point.max()) + 1
    bounds = bound_leaves(problem, np.zeros(n_points), np.zeros((n_points, n)), found)
    return Leaves._make(array[bounds < inf] for array in found)


def _decided(decisions: NDArray[np.int8], predictors: Any, decision: int) -> NDArray[np.int8]:
    copy = decisions.copy()
    copy[list(predictors) if isinstance(predictors, tuple) else predictors] = decision
    return copy


def bound_leaves(problem: SubsetProblem, entropies: Float, values: Float, leaves: Leaves) -> Float:
    """Return a lower bound on all models of each leaf.

    Parameters
    ----------
    problem : SubsetProblem
        Its limits hold.
    entropies : ndarray of shape (n_points,)
        sum_m w_m H(a_m) of each point.
    values : ndarray of shape (n_points, n_predictors)
        The v_g of each point.
    leaves : Leaves
        Their points are rows of these. What is not affordable becomes forbidden.

    Returns
    -------
    ndarray of shape (n_leaves,)
        Infinite where nothing is affordable.
    """
    taken = core.price_leaves(core_limits(problem.limits), np.ascontiguousarray(values), *leaves)
    bounds: Float = entropies[leaves.point] - taken
    return bounds
