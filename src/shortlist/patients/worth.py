"""How much is worth buying: the cross-validated loss of the best selection for every limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from ..arguments import Float, Int
from ..backends.heuristics import ComparedFits
from ..choice import Path, solve_path
from ..cross_validation import cross_validate, make_folds
from ..sample_size import persons_by_outcome

if TYPE_CHECKING:
    from ..problem import SubsetProblem
    from .design import Design
    from .model import PrognosticModel
    from .table import PlainTable

N_FOLDS, N_REPEATS = 10, 3
STANDARD_ERROR = "1se"
_NORMAL = 1.959964  # half the width of a 95 % interval in standard errors
_OF_GAIN = "-of-gain"


def gain_share(within: Any) -> float | None:
    """Return the share in a text such as "5%-of-gain" or "0.05-of-gain"; None if it is not one.

    Examples
    --------
    >>> from shortlist.patients.worth import gain_share
    >>> gain_share("5%-of-gain"), gain_share("0.05-of-gain"), gain_share("5%"), gain_share(0.05)
    (0.05, 0.05, None, None)
    """
    if not isinstance(within, str) or not within.endswith(_OF_GAIN):
        return None
    text = within.removesuffix(_OF_GAIN)
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        return None
    return share if 0 <= share < 1 else None


@dataclass(frozen=True)
class LimitCurve:
    """The cross-validated log loss of the best selection for every limit of a staircase.

    Attributes
    ----------
    limit_name : str
        "budget" or "max_features".
    table : DataFrame
        Per step, the cheapest first: `limit`, `log_loss`, its `difference` to the least one, and
        the standard `error` of that difference, over patients.
    predictions : OutOfFold
        The predictions that the losses are of, a column per step.
    n_folds : int
        The number of folds, which were drawn three times.
    is_proven : bool
        Whether every search ended with a proof.
    """

    limit_name: str
    table: pd.DataFrame
    predictions: OutOfFold
    n_folds: int
    is_proven: bool

    @property
    def best(self) -> float:
        """The limit with the least loss; of several, the lowest."""
        return float(self.table["limit"].iloc[int(self.table["log_loss"].argmin())])

    @property
    def enough(self) -> float:
        """The lowest limit whose loss is within a standard error of the least."""
        within = self.table["difference"] <= self.table["error"]
        return float(self.table["limit"][within].iloc[0])


@dataclass(frozen=True)
class OutOfFold:
    """The log-odds of patients by models that were fitted without them.

    Attributes
    ----------
    plain : PlainTable
        The patients.
    persons : array or None
        The person of each row.
    log_odds : ndarray of shape (N_REPEATS, n_rows, n_models)
        A row is predicted once for every way in which the folds were drawn.
    """

    plain: PlainTable
    persons: NDArray[Any] | None
    log_odds: Float

    def losses(self) -> pd.DataFrame:
        """Return the log loss of each model and its difference to the least, as a table."""
        signs = (1 - 2 * self.plain.labels)[:, np.newaxis]
        losses = np.logaddexp(0.0, signs * self.log_odds).mean(axis=0)
        return loss_differences(losses, self.plain.weights, self.persons)

    def test_tradeoff(self, before: int, after: int, threshold: float) -> dict[str, float]:
        """Return how many patients a model must be measured in for one more true positive.

        That is 1 over the difference of two net benefits (Van Calster and others 2013), with the
        ends of its 95 % interval; infinite where the later model has no larger one.
        """
        harm = threshold / (1 - threshold)
        worth = np.where(self.plain.labels == 1, 1.0, -harm)[:, np.newaxis]
        acted = expit(self.log_odds[:, :, [before, after]]) >= threshold
        benefit = (acted * worth).mean(axis=0)
        gain = benefit[:, 1] - benefit[:, 0]
        mean, parts = float(gain.mean()), gain - gain.mean()
        if self.persons is not None:
            parts = np.bincount(np.unique(self.persons, return_inverse=True)[1], parts)
        width = _NORMAL * sqrt(float(parts @ parts)) / len(gain)
        found = {"tests": mean, "tests_lower": mean + width, "tests_upper": mean - width}
        return {name: 1 / value if value > 0 else inf for name, value in found.items()}


def cross_validate_limits(
    model: PrognosticModel,
    plain: PlainTable,
    path: Path,
    persons: NDArray[Any] | None,
    announce: Callable[[str], None] = lambda text: None,
    **highest: Any,
) -> LimitCurve:
    """Return the cross-validated loss at each limit of the staircase of all patients.

    In every fold the patients are prepared anew and the whole staircase is solved anew; a limit
    there buys the best selection that it can. The ridge is the path's. A model that is
    `stable` narrows the candidates anew in every fold, at its own limit.

    Parameters
    ----------
    model : PrognosticModel
        Whose preprocessing, prices and limits are used.
    plain : PlainTable
        The patients.
    path : Path
        The staircase of all patients.
    persons : array, optional
        The person of each row, who is in one fold.
    announce : callable
        Called with a sentence on the progress.
    **highest
        A budget or a number of predictors instead of the model's, as the path has.
    """
    limits, paths = [step.limit for step in path], [path]

    def fit(problem: SubsetProblem, train: Int) -> Iterator[Any]:
        if model.stable:
            owners_of_part = None if persons is None else persons[train]
            problem = model.narrowed(problem, len(train), owners_of_part).problem
        fold_path = solve_path(
            problem.with_limits(**highest) if highest else problem,
            time_limit=model.time_limit,
            threads=model.threads,
        )
        paths.append(fold_path)
        yield from (fold_path.at(limit).solution for limit in limits)

    found = _predict(model, plain, persons, path[0].problem.ridge, fit, announce)
    table = found.losses()
    table.insert(0, "limit", limits)
    is_proven = all(each.is_certified for each in paths)
    return LimitCurve(path.limit_name, table, found, _n_folds(plain, persons), is_proven)


def cross_validate_selections(
    model: PrognosticModel,
    plain: PlainTable,
    problem: SubsetProblem,
    supports: Sequence[Sequence[int]],
    persons: NDArray[Any] | None,
) -> pd.DataFrame:
    """Return the cross-validated loss of each selection, fitted anew in every fold.

    The selections were made with all patients, so that all of them look better than they are; their
    differences tell them apart.

    Parameters
    ----------
    model, plain, persons
        As in `cross_validate_limits`.
    problem : SubsetProblem
        The problem whose predictors the selections are of.
    supports : sequence of sequences of int
        The selections.

    Returns
    -------
    DataFrame
        As `loss_differences` gives it, a row per selection.
    """

    def fit(part: SubsetProblem, train: Int) -> Iterator[Any]:
        fits = ComparedFits(part)
        yield from (fits.fit(support) for support in supports)

    return _predict(model, plain, persons, problem.ridge, fit, lambda text: None).losses()


def _predict(
    model: PrognosticModel,
    plain: PlainTable,
    persons: NDArray[Any] | None,
    ridge: float,
    fit: Callable[[SubsetProblem, Int], Iterator[Any]],
    announce: Callable[[str], None],
) -> OutOfFold:
    """Return what models of the other folds predict; `fit` gives those of a part of the rows."""
    seed, n_folds = model.random_state, _n_folds(plain, persons)
    folds = make_folds(n_folds, plain.frame, plain.labels, persons, seed, N_REPEATS)

    def fit_part(train: Int) -> Iterator[tuple[Design, Any]]:
        part = plain.rows(train)
        design = model.design_of(part)
        problem = model.problem_from(part, design, ridge)
        for found in fit(problem, train):
            yield design.for_predicting([problem.name_of(g) for g in found.support]), found

    def predict(found: tuple[Design, Any], test: Int) -> Float:
        design, fitted = found
        log_odds: Float = design.transform(plain.frame.iloc[test]) @ fitted.coef + fitted.intercept
        return log_odds

    def tell(fold: str) -> None:
        announce(f"Choosing the limit: {fold}")

    of_folds = cross_validate(folds, fit_part, predict, announce=tell)
    log_odds = np.empty((N_REPEATS, len(plain.labels), len(of_folds[0])))
    for number, ((_, test), of_models) in enumerate(zip(folds, of_folds, strict=True)):
        log_odds[number // n_folds, test] = np.column_stack(of_models)
    return OutOfFold(plain, persons, log_odds)


def _n_folds(plain: PlainTable, persons: NDArray[Any] | None) -> int:
    return int(np.clip(min(persons_by_outcome(plain.labels, persons)), 2, N_FOLDS))


def loss_differences(
    losses: Float, weights: Float | None = None, persons: NDArray[Any] | None = None
) -> pd.DataFrame:
    """Return the mean of each column of losses, its difference to the least, and that one's error.

    The error is the standard error of a mean of paired differences, which are summed within persons
    first.
    """
    counts = np.ones(len(losses)) if weights is None else weights
    means = counts @ losses / counts.sum()
    best = int(means.argmin())
    paired = counts[:, np.newaxis] * (losses - losses[:, [best]] - (means - means[best]))
    if persons is not None:
        owners = np.unique(persons, return_inverse=True)[1]
        paired = np.array([np.bincount(owners, column) for column in paired.T]).T
    errors = np.sqrt((paired**2).sum(axis=0)) / counts.sum()
    return pd.DataFrame({"log_loss": means, "difference": means - means[best], "error": errors})
