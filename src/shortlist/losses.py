"""Losses of the margin t = y (x'theta + theta_0), and their duals.

    logistic        log(1 + exp(-t))
    squared_hinge   max(0, 1 - t)^2
    hinge           max(0, 1 - t)

Each is the maximum of H(a) - a t over the a that it allows, H being concave with H(0) = 0: the
entropy for the logistic loss, with a in [0, 1]; a - a^2 / 4 for the squared hinge, with a >= 0; and
a for the hinge, with a in [0, 1]. That is all that lower bounds rest on (see `problem`).

The a that belongs to a margin is minus the derivative of the loss. The hinge has none at t = 1, so
it is smoothed there: a = clip((1 - t) / smoothing, 0, 1).

Whatever differs from loss to loss is an attribute of `Loss`. Only `conic`, `verification` and the
compiled core know losses by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log

import numpy as np

from .arguments import Float
from .errors import InvalidProblemError


@dataclass(frozen=True)
class Loss:
    """Functions of arrays of margins, and of the a that they lead to.

    Attributes
    ----------
    name : str
        As in `SubsetProblem`.
    value : callable
        The loss of each margin.
    dual : callable
        The a of each margin, given the smoothing, which a smooth loss ignores.
    entropy : callable
        H of each a.
    curvature : callable
        The change of a per unit of the margin, given the smoothing.
    largest : float
        The largest a; the least is 0.
    best_intercept : callable
        The intercept of the best model without coefficients, given the weight of each class.
    resolution : float
        Objectives that differ by less, relatively, count as equal: the smallest gap of a solve.
    rounding : float
        The relative error of the objective of a fit.
    slack : float
        How much less a certificate claims than the search computed in floating point, relatively.
    harmless_rounding : float
        Rounding of bounds, relative to the objective, below which they need no check.
    smoothing : float
        The smoothing that a fit starts with; 0 if the loss is smooth.
    gives_risks : bool
        Whether scores are log-odds, so that there are risks and likelihoods.
    takes_intervals : bool
        Whether coefficients may be limited.
    takes_sample : bool
        Whether a search on a sample of the rows can be proven on all of them.
    """

    name: str
    value: Callable[[Float], Float]
    dual: Callable[[Float, float], Float]
    entropy: Callable[[Float], Float]
    curvature: Callable[[Float, float], Float]
    largest: float
    best_intercept: Callable[[float, float], float]
    resolution: float = 1e-9
    rounding: float = 1e-12
    slack: float = 1e-9
    harmless_rounding: float = 5e-7  # claims that the checker refused had at least 40 times that
    smoothing: float = 0.0
    gives_risks: bool = False
    takes_intervals: bool = True
    takes_sample: bool = True

    @property
    def is_smoothed(self) -> bool:
        """Whether the loss has no derivative somewhere, and is smoothed there."""
        return self.smoothing > 0.0

    def __reduce__(self) -> tuple[Callable[[str], Loss], tuple[str]]:
        """Pickle by name, so that a process has one object for each loss."""
        return loss_of, (self.name,)


def _hinge_dual(margins: Float, smoothing: float) -> Float:
    return np.clip((1.0 - margins) / smoothing, 0.0, 1.0)


def _hinge_curvature(margins: Float, smoothing: float) -> Float:
    a = _hinge_dual(margins, smoothing)
    return np.where((a > 0.0) & (a < 1.0), 1.0 / smoothing, 0.0)


def _entropy(a: Float) -> Float:
    """Return -a log a - (1 - a) log(1 - a), to the last digits for tiny a."""
    inner = (a > 0.0) & (a < 1.0)
    a = np.where(inner, a, 0.5)
    return np.where(inner, -a * np.log(a) - (1.0 - a) * np.log1p(-a), 0.0)


def _logistic_curvature(margins: Float, smoothing: float) -> Float:
    decay = np.exp(-np.abs(margins))
    return np.asarray(decay / (1.0 + decay) ** 2)


LOGISTIC = Loss(
    "logistic",
    # The vectorised exponential of numpy: several times faster than logaddexp and expit.
    value=lambda margins: np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0.0),
    dual=lambda margins, smoothing: (
        np.exp(-np.maximum(margins, 0.0)) / (1.0 + np.exp(-np.abs(margins)))
    ),
    entropy=_entropy,
    curvature=_logistic_curvature,
    largest=1.0,
    best_intercept=lambda positive, negative: log(positive / negative),
    gives_risks=True,
)
SQUARED_HINGE = Loss(
    "squared_hinge",
    value=lambda margins: np.maximum(1.0 - margins, 0.0) ** 2,
    dual=lambda margins, smoothing: 2.0 * np.maximum(1.0 - margins, 0.0),
    entropy=lambda a: a - a**2 / 4.0,
    curvature=lambda margins, smoothing: np.where(margins < 1.0, 2.0, 0.0),
    largest=inf,
    best_intercept=lambda positive, negative: (positive - negative) / (positive + negative),
)
HINGE = Loss(
    "hinge",
    value=lambda margins: np.maximum(1.0 - margins, 0.0),
    dual=_hinge_dual,
    entropy=lambda a: a,
    curvature=_hinge_curvature,
    largest=1.0,
    best_intercept=lambda positive, negative: float(np.sign(positive - negative)),
    resolution=1e-6,
    rounding=2e-7,
    slack=1e-7,
    # Its smoothing may be 1e-7: there a depends steeply on the margin, and so on its rounding.
    harmless_rounding=1e-11,
    smoothing=0.2,
    takes_intervals=False,
    takes_sample=False,
)


def risk_of(log_odds: Float) -> Float:
    """Return the probability of the positive class, given the scores of a logistic model.

    Examples
    --------
    >>> from shortlist.losses import risk_of
    >>> risk_of([-1000.0, 0.0, 1000.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    with np.errstate(over="ignore"):  # a risk of 0
        return np.asarray(1.0 / (1.0 + np.exp(-np.asarray(log_odds))))


LOSSES = {loss.name: loss for loss in (LOGISTIC, SQUARED_HINGE, HINGE)}


def loss_of(name: str) -> Loss:
    """Return the loss of a name.

    Examples
    --------
    >>> from shortlist.losses import loss_of
    >>> float(loss_of("squared_hinge").value(-1.0))
    4.0
    """
    if not isinstance(name, str) or name not in LOSSES:
        raise InvalidProblemError(f"loss: must be one of {', '.join(LOSSES)}, not {name!r}.")
    return LOSSES[name]
