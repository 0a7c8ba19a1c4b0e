"""The losses as conic models have them: t_m is at least the loss of the margin of row m.

    logistic        [u_m, 1, -margin_m - t_m] and [v_m, 1, -t_m] in the exponential cone,
                    u_m + v_m <= 1                                               (the paper's eq. 4)
    squared_hinge   [t_m, 1/2, e_m] in the rotated quadratic cone, e_m >= 1 - margin_m, e_m >= 0
    hinge           t_m >= 1 - margin_m, t_m >= 0

so that the hinge has linear rows alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ..arguments import Float
from ..losses import HINGE, LOGISTIC, SQUARED_HINGE
from .affine import Affine, constant, interleave


class Cone(Enum):
    """The kinds of cone, with the order of coordinates that MOSEK and the CBF format use too."""

    EXPONENTIAL = "exponential"
    ROTATED = "rotated quadratic"


@dataclass(frozen=True)
class LossRows:
    """What a model has for each row of the data.

    Attributes
    ----------
    values : callable
        The variables beside t, a block of each name, as functions of margins and losses.
    positive : tuple of str
        The blocks that must not be negative.
    rows : callable
        Functions of margin, t and these variables that must not be positive.
    cones : callable
        Functions that must lie in cones, a row of the data after the other, with the kind of each
        stack; all cones have three dimensions.
    largest : callable
        The largest value of each block, given the largest t.
    shortfall : callable
        The largest value of -margin, given the largest t.
    """

    values: dict[str, Callable[[Float, Float], Float]]
    positive: tuple[str, ...]
    rows: Callable[..., list[Affine]]
    cones: Callable[..., list[tuple[Cone, Affine]]]
    largest: Callable[[Float], dict[str, Float]]
    shortfall: Callable[[Float], Float]


def _constant(value: float, like: Affine) -> Affine:
    return constant(value, len(like), like.matrix.shape[1])


def _logistic_cones(margin: Affine, t: Affine, u: Affine, v: Affine) -> list[tuple[Cone, Affine]]:
    one = _constant(1.0, t)
    return [
        (Cone.EXPONENTIAL, interleave(u, one, -margin - t)),
        (Cone.EXPONENTIAL, interleave(v, one, -t)),
    ]


LOSS_ROWS = {
    LOGISTIC.name: LossRows(
        values={
            "u": lambda margins, losses: np.exp(-margins - losses),
            "v": lambda margins, losses: np.exp(-losses),
        },
        positive=(),
        rows=lambda margin, t, u, v: [u + v - _constant(1.0, t)],
        cones=_logistic_cones,
        largest=lambda t: {"u": np.ones_like(t), "v": np.ones_like(t)},
        shortfall=lambda t: t,
    ),
    SQUARED_HINGE.name: LossRows(
        values={"e": lambda margins, losses: np.sqrt(losses)},
        positive=("e",),
        rows=lambda margin, t, e: [_constant(1.0, t) - margin - e],
        cones=lambda margin, t, e: [(Cone.ROTATED, interleave(t, _constant(0.5, t), e))],
        largest=lambda t: {"e": np.sqrt(t)},
        shortfall=np.sqrt,
    ),
    HINGE.name: LossRows(
        values={},
        positive=("t",),
        rows=lambda margin, t: [_constant(1.0, t) - margin - t],
        cones=lambda margin, t: [],
        largest=lambda t: {},
        shortfall=lambda t: t,
    ),
}
