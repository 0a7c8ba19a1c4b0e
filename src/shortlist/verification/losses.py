"""Losses of a margin in balls, and the dual points that margins lead to, with their entropies.

The a of a row may be any that its loss allows, as bounds hold for all of them. So where a ball
leaves open on which side of an end it lies, a is that end, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from flint import arb

# An a of a hinge that is this close to 0, or to 1, is not moved.
_AT_END = arb(2) ** -20


class BallLoss(NamedTuple):
    """One loss.

    `value` returns the loss of a margin. `dual` returns H(a) and a, given the margin, the change of
    the margin along the correction (0 if there is none) and the smoothing.
    """

    value: Callable[[arb], arb]
    dual: Callable[[arb, arb, arb], tuple[arb, arb]]
    is_smoothed: bool = False


def _logistic(margin: arb) -> tuple[arb, arb, arb]:
    """Return log(1 + exp(-margin)), a = sigmoid(-margin), and 1 - a, all of them accurately."""
    if margin > 0:
        odds = (-margin).exp()
        return odds.log1p(), odds / (1 + odds), 1 / (1 + odds)
    odds = margin.exp()
    return odds.log1p() - margin, 1 / (1 + odds), odds / (1 + odds)


def _logistic_dual(margin: arb, move: arb, smoothing: arb) -> tuple[arb, arb]:
    """Return H(a') and a' = a + a (1 - a) t, -t being the change of the margin.

    Then a' is a (1 + (1 - a) t) and 1 - a' is (1 - a) (1 - a t). An a' that may lie outside [0, 1]
    is replaced by the end there, whose entropy is 0.
    """
    loss, a, b = _logistic(margin)
    if move == 0:
        return loss + a * margin, a
    up, down = 1 - b * move, 1 + a * move
    if not up > 0:
        return arb(0), arb(0)
    if not down > 0:
        return arb(0), arb(1)
    a, b = a * up, b * down
    less, more = (a, b) if a < b else (b, a)
    return -less * less.log() - more * (-less).log1p(), a


def _shortfall(margin: arb) -> arb:
    """Return max(0, 1 - margin)."""
    return (1 - margin).max(arb(0))


def _squared_hinge_dual(margin: arb, move: arb, smoothing: arb) -> tuple[arb, arb]:
    """Return H(a) and a = 2 (1 - margin), at least 0, moved unless it is at its end."""
    a = 2 * (1 - margin)
    if a > _AT_END:
        a -= 2 * move
    if not a > 0:
        a = arb(0)
    return a - a * a / 4, a


def _hinge_dual(margin: arb, move: arb, smoothing: arb) -> tuple[arb, arb]:
    """Return a = (1 - margin) / smoothing in [0, 1], moved unless it is at an end, twice.

    For H(a) = a.
    """
    a = (1 - margin) / smoothing
    if a > _AT_END and a < 1 - _AT_END:
        a -= move / smoothing
    if not a > 0:
        a = arb(0)
    elif not a < 1:
        a = arb(1)
    return a, a


LOSSES = {
    "logistic": BallLoss(lambda margin: _logistic(margin)[0], _logistic_dual),
    "squared_hinge": BallLoss(lambda margin: _shortfall(margin) ** 2, _squared_hinge_dual),
    "hinge": BallLoss(_shortfall, _hinge_dual, is_smoothed=True),
}
