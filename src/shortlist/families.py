"""Families of outcomes: the loss of a row, given its outcome y and linear predictor u.

    logistic        log(1 + exp(-y u))               labels y of -1 and 1
    squared_hinge   max(0, 1 - y u)^2                labels
    hinge           max(0, 1 - y u)                  labels
    squared_error   (y - u)^2 / 2                    numbers
    poisson         exp(u) - y u - y + y log y       counts: half the deviance at the mean exp(u)
    cox             see `event_times`                times to an event: rows at risk are coupled

Each but the last is the maximum of H(a) + a u over the a that it allows, H being concave: that is
all that lower bounds rest on (see `problem`). The a of a linear predictor is the derivative of the
loss in u. With labels -y a is at least 0, and at most 1 but for the squared hinge; H is its entropy
for the logistic loss, -y a - a^2 / 4 for the squared hinge and -y a for the hinge. For the squared
error H is -a y - a^2 / 2. For counts a + y, the mean of another model, is at least 0.

A dual point is an a for each row with sum_m w_m a_m = 0, as the intercept is free. Classes are
scaled to that, a squared error loses its mean, and means of counts are scaled.

Of the rows of Cox's partial likelihood no one has a loss of its own. What all families have is the
loss of all rows together, `Family.of_rows`, with its derivatives and a dual point.

The hinge has no derivative at y u = 1, so it is smoothed there: -y a = clip((1 - y u) / smoothing,
0, 1).

Whatever differs from family to family is an attribute of `Family`. Only `conic`, `verification` and
the compiled core know families by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import entr, xlogy

from .arguments import Float
from .errors import InvalidProblemError
from .event_times import PartialLikelihood, Survival
from .response import Response

# Where numbers are nearly met, or counts are large, the objective is a small difference: it is
# rounded as much as bounds are.
_HARMLESS_OF_NUMBERS = 1e-10
_FARTHEST = 600.0  # linear predictor of a count


def _of_no_row(*_: Any) -> Any:
    raise TypeError("the loss of a row depends on the other rows")


def _no_mean(u: Float) -> Float:
    return np.full_like(u, np.nan)


class RowSums(NamedTuple):
    """Sums over the rows of each stratum, of many points.

    Attributes
    ----------
    entropy, mass : ndarray of shape (n_strata, n_points)
        Of w H(a) and of w a.
    slope : ndarray of shape (n_strata, n_columns, n_points)
        Of w a x.
    """

    entropy: Float
    mass: Float
    slope: Float


class RowMoments(NamedTuple):
    """Sums over all rows, of w (x, 1), of w y (x, 1), and of w y log y."""

    weight: Float
    outcome: Float
    x_log_x: float


class Scale(NamedTuple):
    """What accuracies of objectives are relative to.

    Attributes
    ----------
    unit : float
        A loss that stands for the data's size: the weight of the events for a partial likelihood,
        which is mostly a constant. 0: the objective itself.
    least : float
        No loss is below it.
    """

    unit: float = 0.0
    least: float = 0.0

    def of(self, objective: float) -> float:
        """Return what a share of the objective is a share of.

        Examples
        --------
        >>> from shortlist.families import Scale
        >>> Scale().of(300.0), Scale(unit=40.0).below(300.0, 0.1)
        (300.0, 296.0)
        """
        return self.unit or abs(objective)

    def above(self, objective: float, share: float) -> float:
        """Return an objective that is higher by a share."""
        return objective + share * self.unit if self.unit else objective * (1.0 + share)

    def below(self, objective: float, share: float) -> float:
        """Return an objective that is lower by a share."""
        return objective - share * self.unit if self.unit else objective * (1.0 - share)

    def excess(self, objective: float, best: float) -> float:
        """Return by which share an objective is above the best one."""
        if self.unit:
            return max(0.0, (objective - best) / self.unit)
        return max(0.0, objective / best - 1.0)


#: Accuracies are relative to the objective itself.
RELATIVE = Scale()


class RowsLoss(Protocol):
    """The loss of all rows as a function of their linear predictors."""

    def loss(self, u: Float) -> float:
        """Return the sum over the rows."""

    def slope(self, u: Float) -> Float:
        """Return its derivative."""

    def weigh(self, u: Float, X: Float) -> Float:
        """Return W X, W being the second derivative."""

    def root(self, u: Float, X: Float, penalty: Float) -> tuple[Float, Float]:
        """Return a factor L and a scale with L L' / (scale scale') = X' W X + diag(penalty)."""

    def dual_point(self, u: Float, a: Float | None = None) -> tuple[float, float, Float]:
        """Return the entropy of a dual point, the size of its parts, and its w a.

        `a` is the rows' a if u does not tell it.
        """


class _SumOverRows(NamedTuple):
    """The loss of rows that are not coupled: a `RowsLoss`."""

    family: Family
    y: Float
    weights: Float

    def loss(self, u: Float) -> float:
        return float(self.weights @ self.family.value(self.y, u))

    def slope(self, u: Float) -> Float:
        return self.weights * self._a(u)

    def weigh(self, u: Float, X: Float) -> Float:
        return self._curvature(u)[:, np.newaxis] * X

    def root(self, u: Float, X: Float, penalty: Float) -> tuple[Float, Float]:
        """Return the factor by a QR factorisation, which never forms the Hessian."""
        curvature = self._curvature(u)
        roots = np.vstack([np.sqrt(curvature)[:, np.newaxis] * X, np.diag(np.sqrt(penalty))])
        scale = 1.0 / np.linalg.norm(roots, axis=0)
        return np.transpose(np.linalg.qr(roots * scale, mode="r")), scale

    def dual_point(self, u: Float, a: Float | None = None) -> tuple[float, float, Float]:
        a = self.family.feasible(self.y, self._a(u) if a is None else a, self.weights)
        entropies = self.family.entropy(self.y, a) * self.weights
        return float(entropies.sum()), float(np.abs(entropies).sum()), a * self.weights

    def _a(self, u: Float) -> Float:
        return self.family.slope(self.y, u, self.family.smoothing)

    def _curvature(self, u: Float) -> Float:
        return self.weights * self.family.curvature(self.y, u, self.family.smoothing)


@dataclass(frozen=True)
class Family:
    """Functions of arrays of outcomes, linear predictors and the a that they lead to.

    Attributes
    ----------
    name : str
        As in `SubsetProblem`.
    outcome : str
        The kind of `Response`: "labels", "numbers", "counts" or "times".
    value : callable
        The loss of outcomes and linear predictors.
    slope : callable
        The a of outcomes, linear predictors and the smoothing, which a smooth loss ignores.
    entropy : callable
        H of outcomes and a.
    curvature : callable
        The change of a per unit of the linear predictor.
    allowed : callable
        The nearest a that the loss of an outcome allows.
    feasible : callable
        A dual point near some a, given outcomes and weights.
    feasible_sums : callable
        The entropy and the slopes of that dual point, given the sums over rows of those a, and
        moments of the rows.
    null_intercept : callable
        The intercept of the best model without coefficients, given outcomes and weights.
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
    scoring : str
        The score of scikit-learn by which a ridge is chosen.
    mean_of : callable
        The expected outcome of linear predictors: a probability, a number or the mean of a count;
        NaN if scores of classes are not log-odds.
    takes_intervals : bool
        Whether coefficients may be limited.
    takes_sample : bool
        Whether a search on a sample of the rows can be proven on all of them.
    has_intercept : bool
        Whether the loss changes when a number is added to all linear predictors.
    """

    name: str
    outcome: str
    value: Callable[[Float, Float], Float] = _of_no_row
    slope: Callable[[Float, Float, float], Float] = _of_no_row
    entropy: Callable[[Float, Float], Float] = _of_no_row
    curvature: Callable[[Float, Float, float], Float] = _of_no_row
    allowed: Callable[[Float, Float], Float] = _of_no_row
    feasible: Callable[[Float, Float, Float], Float] = _of_no_row
    feasible_sums: Callable[[RowSums, RowMoments], tuple[Float, Float]] = _of_no_row
    null_intercept: Callable[[Float, Float], float] = lambda y, weights: 0.0
    resolution: float = 1e-9
    rounding: float = 1e-12
    slack: float = 1e-9
    harmless_rounding: float = 5e-7  # claims that the checker refused had at least 40 times that
    smoothing: float = 0.0
    scoring: str = "roc_auc"
    mean_of: Callable[[Float], Float] = _no_mean
    takes_intervals: bool = True
    takes_sample: bool = True
    has_intercept: bool = True

    @property
    def is_coupled(self) -> bool:
        """Whether the loss of a row depends on other rows, so that no function has a row's own."""
        return self.value is _of_no_row

    def of_rows(self, response: Response, weights: Float) -> RowsLoss:
        """Return the loss of rows, on all of which it depends (`Response.at_risk`)."""
        if isinstance(response, Survival):
            return PartialLikelihood(response, weights)
        return _SumOverRows(self, response.values, weights)

    def scale(self, response: Response, weights: Float) -> Scale:
        """Return what accuracies of the objective are relative to."""
        if not isinstance(response, Survival):
            return RELATIVE
        rows = response.at_risk(weights)
        likelihood = PartialLikelihood(response.rows(rows), weights[rows])
        return Scale(float(likelihood.total.sum()), float(likelihood.least()))

    @property
    def gives_risks(self) -> bool:
        """Whether linear predictors are log-odds, so that there are risks and likelihoods."""
        return self.outcome == "labels" and self.mean_of is not _no_mean

    @property
    def is_smoothed(self) -> bool:
        """Whether the loss has no derivative somewhere, and is smoothed there."""
        return self.smoothing > 0.0

    def __reduce__(self) -> tuple[Callable[[str], Family], tuple[str]]:
        """Pickle by name, so that a process has one object for each family."""
        return family_of, (self.name,)


def _of_margins(
    name: str,
    value: Callable[[Float], Float],
    dual: Callable[[Float, float], Float],
    entropy: Callable[[Float], Float],
    curvature: Callable[[Float, float], Float],
    best_intercept: Callable[[float, float], float],
    largest: float = 1.0,
    **traits: Any,
) -> Family:
    """Return the family of a loss of margins t = y u, given its a in t: minus the derivative."""
    return Family(
        name,
        "labels",
        value=lambda y, u: value(y * u),
        slope=lambda y, u, smoothing: -y * dual(y * u, smoothing),
        entropy=lambda y, a: entropy(-y * a),
        curvature=lambda y, u, smoothing: curvature(y * u, smoothing),
        allowed=lambda y, a: -y * np.clip(-y * a, 0.0, largest),
        feasible=_balanced,
        feasible_sums=_balanced_sums,
        null_intercept=lambda y, weights: best_intercept(
            float(weights[y > 0].sum()), float(weights[y < 0].sum())
        ),
        **traits,
    )


def _balanced(y: Float, a: Float, weights: Float) -> Float:
    """Return a, scaled down in the class with the larger total, by rows along the first axis."""
    positive, negative = (np.abs(weights[rows] @ a[rows]) for rows in (y > 0, y < 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        scales = [
            np.where(mass > other, other / mass, 1.0)
            for mass, other in ((positive, negative), (negative, positive))
        ]
    of_row = y > 0 if a.ndim == 1 else (y > 0)[:, np.newaxis]
    return a * np.where(of_row, *scales)


def _balanced_sums(sums: RowSums, moments: RowMoments) -> tuple[Float, Float]:
    """Scale the heavier class down: H(rho a) >= rho H(a)."""
    mass = np.abs(sums.mass)
    rho = np.minimum(mass[::-1] / mass, 1.0)
    return (rho * sums.entropy).sum(axis=0), np.einsum("cp,cnp->np", rho, sums.slope)


def _centred_sums(sums: RowSums, moments: RowMoments) -> tuple[Float, Float]:
    """Take the mean c off a: H(a - c) = H(a) + c y + c a - c^2 / 2."""
    total = moments.weight[-1]
    mean = sums.mass[0] / total
    entropy = sums.entropy[0] + mean * moments.outcome[-1] + 0.5 * mean**2 * total
    return entropy, sums.slope[0] - np.outer(moments.weight[:-1], mean)


def _scaled_sums(sums: RowSums, moments: RowMoments) -> tuple[Float, Float]:
    """Scale the means a + y by rho: their entropies -m log m become rho (-m log m - m log rho)."""
    counts = moments.outcome[-1]
    rho = counts / (sums.mass[0] + counts)
    minus_m_log_m = sums.entropy[0] - sums.mass[0] - moments.x_log_x
    entropy = rho * minus_m_log_m - counts * np.log(rho) + moments.x_log_x
    of_counts = moments.outcome[:-1, np.newaxis]
    return entropy, rho * (sums.slope[0] + of_counts) - of_counts


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


def _mean_of(u: Float) -> Float:
    """Return exp(u), which may be infinite."""
    with np.errstate(over="ignore"):
        return np.exp(u)


def _deviance(y: Float, u: Float) -> Float:
    """Return y (exp(v) - 1 - v), v = u - log y: less cancels, and nothing is below 0."""
    counts = np.where(y > 0, y, 1.0)
    v = u - np.log(counts)
    with np.errstate(over="ignore", invalid="ignore"):
        of_counts = counts * np.maximum(np.expm1(v) - v, 0.0)
    return np.where(y > 0, of_counts, _mean_of(u))


def risk_of(log_odds: Float) -> Float:
    """Return the probability of the positive class, given the scores of a logistic model.

    Examples
    --------
    >>> from shortlist.families import risk_of
    >>> risk_of([-1000.0, 0.0, 1000.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    with np.errstate(over="ignore"):  # a risk of 0
        return np.asarray(1.0 / (1.0 + np.exp(-np.asarray(log_odds))))


LOGISTIC = _of_margins(
    "logistic",
    # The vectorised exponential of numpy: several times faster than logaddexp and expit.
    value=lambda margins: np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0.0),
    dual=lambda margins, smoothing: (
        np.exp(-np.maximum(margins, 0.0)) / (1.0 + np.exp(-np.abs(margins)))
    ),
    entropy=_entropy,
    curvature=_logistic_curvature,
    best_intercept=lambda positive, negative: log(positive / negative),
    scoring="neg_log_loss",
    mean_of=risk_of,
)
SQUARED_HINGE = _of_margins(
    "squared_hinge",
    value=lambda margins: np.maximum(1.0 - margins, 0.0) ** 2,
    dual=lambda margins, smoothing: 2.0 * np.maximum(1.0 - margins, 0.0),
    entropy=lambda a: a - a**2 / 4.0,
    curvature=lambda margins, smoothing: np.where(margins < 1.0, 2.0, 0.0),
    best_intercept=lambda positive, negative: (positive - negative) / (positive + negative),
    largest=np.inf,
)
HINGE = _of_margins(
    "hinge",
    value=lambda margins: np.maximum(1.0 - margins, 0.0),
    dual=_hinge_dual,
    entropy=lambda a: a,
    curvature=_hinge_curvature,
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
SQUARED_ERROR = Family(
    "squared_error",
    "numbers",
    value=lambda y, u: 0.5 * (y - u) ** 2,
    slope=lambda y, u, smoothing: u - y,
    entropy=lambda y, a: -a * (y + 0.5 * a),
    curvature=lambda y, u, smoothing: np.ones_like(u),
    allowed=lambda y, a: a,
    feasible=lambda y, a, weights: a - weights @ a / weights.sum(),
    feasible_sums=_centred_sums,
    null_intercept=lambda y, weights: float(weights @ y / weights.sum()),
    scoring="neg_mean_squared_error",
    mean_of=lambda u: u,
    harmless_rounding=_HARMLESS_OF_NUMBERS,
)
POISSON = Family(
    "poisson",
    "counts",
    value=_deviance,
    # Beyond its end u has the slope of the end: any mean makes a dual point.
    slope=lambda y, u, smoothing: _mean_of(np.minimum(u, _FARTHEST)) - y,
    entropy=lambda y, a: entr(a + y) + a + xlogy(y, y),
    curvature=lambda y, u, smoothing: _mean_of(np.minimum(u, _FARTHEST)),
    allowed=lambda y, a: np.maximum(a, -y),
    feasible=lambda y, a, weights: (a + y) * (weights @ y / (weights @ (a + y))) - y,
    feasible_sums=_scaled_sums,
    null_intercept=lambda y, weights: log(weights @ y / weights.sum()),
    scoring="neg_mean_poisson_deviance",
    mean_of=_mean_of,
    harmless_rounding=_HARMLESS_OF_NUMBERS,
)

COX = Family(
    "cox",
    "times",
    scoring="",
    takes_sample=False,
    has_intercept=False,
)


FAMILIES = {
    family.name: family for family in (LOGISTIC, SQUARED_HINGE, HINGE, SQUARED_ERROR, POISSON, COX)
}


def family_of(name: str) -> Family:
    """Return the family of a loss's name.

    Examples
    --------
    >>> from shortlist.families import family_of
    >>> float(family_of("squared_hinge").value(1.0, -1.0))
    4.0
    """
    if not isinstance(name, str) or name not in FAMILIES:
        raise InvalidProblemError(f"loss: must be one of {', '.join(FAMILIES)}, not {name!r}.")
    return FAMILIES[name]
