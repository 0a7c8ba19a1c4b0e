"""How much is worth buying: the cross-validated loss of the best selection for every limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..arguments import Float, Int
from ..choice import Path, solve_path
from ..cross_validation import cross_validate, make_folds
from ..sample_size import persons_by_outcome

if TYPE_CHECKING:
    from ..solution import Solution
    from .design import Design
    from .model import PrognosticModel
    from .table import PlainTable

N_FOLDS, N_REPEATS = 10, 3
STANDARD_ERROR = "1se"
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
    n_folds : int
        The number of folds, which were drawn three times.
    is_proven : bool
        Whether every search ended with a proof.
    """

    limit_name: str
    table: pd.DataFrame
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
    ridge, limits = path[0].problem.ridge, [step.limit for step in path]
    n_folds = int(np.clip(min(persons_by_outcome(plain.labels, persons)), 2, N_FOLDS))
    seed = model.random_state
    folds = make_folds(n_folds, plain.frame, plain.labels, persons, seed, N_REPEATS)
    paths = [path]

    def fit(train: Int) -> Iterator[tuple[Design, Solution]]:
        part = plain.rows(train)
        design = model.design_of(part)
        problem = model.problem_from(part, design, ridge)
        if model.stable:
            owners_of_part = None if persons is None else persons[train]
            problem = model.narrowed(problem, len(train), owners_of_part).problem
        fold_path = solve_path(
            problem.with_limits(**highest) if highest else problem,
            time_limit=model.time_limit,
            threads=model.threads,
        )
        paths.append(fold_path)
        for limit in limits:
            solution = fold_path.at(limit).solution
            yield design.for_predicting([fold_path.names[g] for g in solution.support]), solution

    def score(found: tuple[Design, Solution], test: Int) -> Float:
        design, solution = found
        log_odds = design.transform(plain.frame.iloc[test]) @ solution.coef + solution.intercept
        return np.asarray(np.logaddexp(0.0, (1 - 2 * plain.labels[test]) * log_odds))

    def tell(fold: str) -> None:
        announce(f"Choosing the limit: {fold}")

    losses = np.zeros((len(plain.labels), len(limits)))
    of_folds = cross_validate(folds, fit, score, announce=tell)
    for (_, test), of_limits in zip(folds, of_folds, strict=True):
        losses[test] += np.column_stack(of_limits) / N_REPEATS
    is_proven = all(each.is_certified for each in paths)
    table = loss_differences(losses, plain.weights, persons)
    table.insert(0, "limit", limits)
    return LimitCurve(path.limit_name, table, n_folds, is_proven)


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
