"""The estimator for a table of patients: preprocessing, selection and prediction in one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.utils.validation import _check_n_features, check_is_fitted

from ..arguments import Float, Int, check_integer, is_integer, is_share
from ..choice import cheapest_within, solve_path
from ..choice.stable import N_RESAMPLES, StableCandidates, draw_counts, stable_candidates
from ..cross_validation import (
    GRID,
    RidgeSearch,
    Tuning,
    check_ridges,
    make_folds,
    search_ridges,
    warn_of_limits,
)
from ..errors import InvalidProblemError, ShortlistWarning
from ..estimator.selection import LogOddsClassifier
from ..limits import given_limits, limits_without
from ..problem import SubsetProblem
from ..solution import Progress, Solution, Status
from .card import Making, ModelCard, make_card
from .design import Design
from .finding import findings_of
from .preparation import Preparation
from .record import Codebook, Outcome, StableRecord, ThriftRecord
from .suspicion import warn_of_mistakes
from .table import (
    PlainTable,
    as_table,
    check_codebook,
    check_limits,
    check_persons,
    check_table,
)
from .worth import STANDARD_ERROR, cross_validate_limits, gain_share

_SHARE = 10.0  # seconds of a search in the choice of the ridge
_SLOW = 3.0  # seconds after which a search says what it waits for


@dataclass(eq=False, repr=False)
class PrognosticModel(LogOddsClassifier):
    """Logistic regression on the best affordable columns of a table of patients.

    A column is bought or not as a whole. `Preparation` brings numbers, binary values and levels to
    one scale, so that one `ridge` is fair to all, and replaces missing values. Everything is
    measured on the rows that a model is fitted to, in every fold anew.

    Parameters
    ----------
    max_features : int, optional
        Upper limit on the number of columns.
    budget : float, optional
        Upper limit on the total cost. Without `costs` every column costs 1.
    costs : mapping from column to cost, optional
        Price of each column, at least 0; excluded columns need none.
    fees : sequence of (amount, columns), optional
        Prices paid once if any of the columns is bought.
    include, exclude : sequence of str
        Columns that must, or must not, be bought.
    positive : optional
        The value of the outcome that is the event. By default the obvious one of a pair such as 0
        and 1, no and yes, or alive and dead; else the last in sorted order, with a warning.
    within : float or "1se" or "5%-of-gain", optional
        Buy the cheapest selection whose loss is within this share of the best one's, such as 0.01,
        instead of the best; or, with "5%-of-gain", the cheapest that gives up at most this share of
        what the best one gains over no model, which means the same on every table; or, with "1se",
        no more than the lowest limit whose cross-validated log loss is within a standard error of
        the least. The budget (or `max_features`, without prices) is lowered to that.
    stable : bool
        Buy the best selection among the columns that at least half of 50 bootstrap resamples
        select, at the same limits and ridge, instead of the best of all; those in `include` stay.
        Resamples draw persons where there are any, and take the columns as prepared from all rows.
        Not with `within`.
    ridge : float, optional
        Strength of the L2 penalty; None chooses one by cross-validation, as `tuning` says.
    tuning : Tuning, optional
        The ridges to choose from, the folds and the score; by default as in `Tuning()`.
    preparation : Preparation, optional
        How the table is read and prepared: kinds of columns, splines, missing values, synonyms; by
        default `Preparation()`.
    codebook : Codebook, optional
        Title, labels, units and reference levels, which the card keeps; they change no prediction.
    random_state : int
        Seed of the folds, of the resamples of `stable`, and of imputations.
    backend, gap, node_limit, threads
        As in `BestSubsetClassifier`.
    time_limit : float, optional
        Seconds after which the search stops with the best model so far, and a warning. Choosing the
        ridge may take as long again (without a limit each of its searches stops after 10 s, with a
        warning), and so may the resamples of `stable`, its search of all
        candidates, and the single draws of `imputations`.
    max_coefficient : float or mapping from column to float, optional
        The largest magnitude of a coefficient, of two standard deviations of a number or of a truth
        value or level; None: unlimited.
    signs : mapping from column to "positive" or "negative", optional
        Numbers and binary values that may only raise, or only lower, the risk. Not with splines,
        whose curves have no sign; an indicator of missing values has the sign of its column.

    Attributes
    ----------
    card_ : ModelCard
        The model in original units, which predicts and can be saved.
    coefficients_ : DataFrame
        Differences between patients: `predictor`, `contrast`, `coefficient`, `odds_ratio`.
    support_ : ndarray of int
        Positions of the columns bought.
    selected_features_ : list of str
        Their names.
    kinds_ : dict from str to str
        The kind of each column that could be bought.
    ridge_ : float
        The ridge.
    cv_results_ : dict of ndarray or None
        As in `BestSubsetClassifier`; None if the ridge was given.
    findings_ : list of Finding
        Cautions about the data and the model: `level`, `topic`, `text` and `columns` of each. `fit`
        warns of those that are mistakes in the data.
    event_ : object
        The value of the outcome that is the event, whose probability `card_` predicts.
    cost_, objective_, lower_bound_, gap_, status_, solution_, certificate_, classes_
        As in `BestSubsetClassifier`; the columns of `solution_` are the columns of `problem`.
    n_features_in_, feature_names_in_
        The columns of the table.

    Examples
    --------
    >>> import pandas as pd, shortlist as sl
    >>> patients = pd.DataFrame({
    ...     "age": [41, 50, None, 63, 68, 75], "sex": ["f", "m", "m", "f", "m", "f"],
    ...     "marker": [1.0, 3.0, 2.0, 4.5, 3.5, 5.0],
    ... })
    >>> costs = {"age": 1, "sex": 1, "marker": 20}
    >>> model = sl.PrognosticModel(budget=5, costs=costs, ridge=0.1)
    >>> model.fit(patients, ["well", "well", "well", "ill", "well", "ill"]).selected_features_
    ['age', 'sex']
    >>> model.predict(pd.DataFrame({"sex": ["m"], "age": [None]})).tolist()
    ['well']
    """

    max_features: int | None = None
    budget: float | None = None
    costs: Mapping[str, float] | None = None
    fees: Sequence[tuple[float, Sequence[str]]] | None = None
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    max_coefficient: float | Mapping[str, float] | None = None
    signs: Mapping[str, str] | None = None
    positive: Any = None
    ridge: float | None = None
    within: float | str | None = None
    stable: bool = False
    preparation: Preparation | None = None
    codebook: Codebook | None = None
    tuning: Tuning | None = None
    random_state: int = 0
    backend: str = "native"
    gap: float = 1e-6
    time_limit: float | None = None
    node_limit: int | None = None
    threads: int | None = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        persons: ArrayLike | None = None,
        announce: Callable[[str], None] = lambda text: None,
        *,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        outcome: Outcome | None = None,
        verbose: bool = False,
    ) -> PrognosticModel:
        """Choose the ridge, unless it is given, and find the best affordable columns.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
            Patients: numbers, binary values and text, some of them missing; or a `PlainTable`.
        y : array-like of shape (n_rows,)
            Outcomes of any two values; `positive` says which is the event.
        persons : array-like of shape (n_rows,), optional
            The person of each row; the rows of a person stay together in the folds.
        announce : callable
            Called with a sentence on the progress, now and then.
        groups : array-like of shape (n_rows,), optional
            The name that scikit-learn has for `persons`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows in the loss, in standard deviations and in the scores of the folds.
            A row without weight is left out; medians, knots and levels count the others alike.
        outcome : Outcome, optional
            The names of the outcome and its values in `card_`; by default from y.
        verbose : bool
            Print the log of the search, as `shortlist.solve` does.

        Returns
        -------
        self : PrognosticModel
            The fitted estimator.
        """
        if groups is not None and persons is not None:
            raise InvalidProblemError("groups: means the same as persons; give one of them.")
        outcome_name = outcome.name if outcome is not None else getattr(y, "name", None)
        fresh = clone(self)  # no limit is lowered yet; this one stays as it is if a step fails
        plain = fresh.check(X, y)
        codebook = check_codebook(self.codebook, plain, outcome_name)
        owners = check_persons(persons if groups is None else groups, len(plain.labels))
        plain = plain.weighted(sample_weight)
        if owners is not None and sample_weight is not None:
            owners = owners[np.asarray(sample_weight) > 0]
        search = None
        ridge = self.ridge
        if ridge is None:
            search = fresh._choose_ridge(plain, owners, announce)
            ridge = search.ridge
        design = fresh.design_of(plain)
        problem = fresh.problem_from(plain, design, ridge)

        def callback(progress: Progress) -> None:
            announce(progress.describe())

        within = stable = None
        if self.stable:
            problem, stable = fresh._narrow(problem, plain, owners, announce)
        elif self.within is not None:
            problem, within = fresh._lower_limit(problem, plain, owners, announce)
        solution = self._solve(
            problem, self.time_limit, callback=callback, verbose=verbose
        ).detached()
        made = Making(
            backend=self.backend,
            gap_target=self.gap,
            tuning=search,
            scoring=None if search is None else str((self.tuning or Tuning()).scoring),
            within=within,
            stable=stable,
            imputed=fresh._over_imputations(problem, design, announce),
            codebook=codebook,
        )
        outcome = outcome or plain.outcome(outcome_name)
        card = fresh._card(plain, design, problem, solution, outcome, made)
        announce("Checking data and model")
        found = findings_of(card, plain, problem, solution, owners)
        self._set_fitted(plain, problem, solution, card)
        self.cv_results_ = None if search is None else search.results
        self.findings_ = found
        warn_of_limits(solution, search)
        warn_of_mistakes(self.findings_)
        return self

    def problem(
        self,
        X: Any,
        y: ArrayLike,
        ridge: float | None = None,
        sample_weight: ArrayLike | None = None,
        loss: str = "logistic",
    ) -> SubsetProblem:
        """Return the problem that `fit` solves for these patients, or the same with another loss.

        Parameters
        ----------
        X, y
            As in `fit`.
        ridge : float, optional
            By default the fitted model's ridge, or else the parameter.
        sample_weight : array-like of shape (n_rows,), optional
            As in `fit`.
        loss : str
            As in `SubsetProblem`; `fit` has the logistic loss, which risks need.

        Returns
        -------
        SubsetProblem
            One predictor per column that can be bought, by its name.
        """
        if ridge is None:
            ridge = getattr(self, "ridge_", self.ridge)
        if ridge is None:
            raise InvalidProblemError("ridge: is chosen by `fit`; call that first or give one.")
        plain = self.check(X, y).weighted(sample_weight)
        problem = self.problem_from(plain, self.design_of(plain), ridge, loss)
        return problem.with_limits(exclude=getattr(self, "left_out_", ()))

    def check(self, X: Any, y: ArrayLike) -> PlainTable:
        """Return patients checked and in plain form, which every method with X and y takes as X.

        Parameters
        ----------
        X, y
            As in `fit`; a table that was checked already is returned as it is.

        Returns
        -------
        PlainTable
            The columns that can be bought, and the outcome.
        """
        is_known = self.within in (None, STANDARD_ERROR) or gain_share(self.within) is not None
        if not (is_known or is_share(self.within)):
            raise InvalidProblemError(
                "within: must be a share from 0 to below 1, such as 0.01, or '5%-of-gain', or "
                f"{STANDARD_ERROR!r}, not {self.within!r}."
            )
        if self.stable and self.within is not None:
            raise InvalidProblemError("stable: does not go with within; give one of them.")
        prepared = self.preparation or Preparation()
        if (self.stable or prepared.imputations) and not is_integer(self.random_state, 0):
            raise InvalidProblemError(
                "random_state: must be an integer of at least 0 with stable or imputations, not "
                f"{self.random_state!r}."
            )
        return check_table(
            X, y, prepared, include=self.include, exclude=self.exclude, positive=self.positive
        )

    def design_of(self, plain: PlainTable) -> Design:
        """Return the preprocessing of this model, fitted to patients."""
        return self.unfitted_design(plain).fit(plain.frame, plain.labels, plain.weights)

    def unfitted_design(self, plain: PlainTable) -> Design:
        """Return the preprocessing of this model, to be fitted to rows of a table."""
        return (self.preparation or Preparation()).design(plain.kinds, self.random_state)

    def limits_of(self, plain: PlainTable) -> dict[str, Any]:
        """Return prices and limits of the columns of a table that can be bought.

        After a fit with `within`, the limit is the lowered one.
        """
        given = given_limits(self) | getattr(self, "lowered_", {})
        limits = limits_without(given, plain.absent)
        check_limits(limits, plain.kinds, (self.preparation or Preparation()).spline_knots)
        return limits

    def decision_function(self, X: Any) -> Float:
        """Return the log-odds of the second class.

        Parameters
        ----------
        X : DataFrame
            At least the columns bought, in any order, some values missing; or a table without
            names and with all columns of `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Positive where the second of `classes_` is predicted.
        """
        check_is_fitted(self)
        table = as_table(X)
        has_names = any(isinstance(name, str) for name in getattr(X, "columns", ()))
        if not has_names:  # columns go by position, so none may be missing
            _check_n_features(self, table, reset=False)
        log_odds = self.card_.log_odds(table)
        return log_odds if self.event_ == self.classes_[1] else -log_odds

    def problem_from(
        self, plain: PlainTable, design: Design, ridge: float, loss: str = "logistic"
    ) -> SubsetProblem:
        """Return the problem of patients in plain form, whose columns a design has prepared."""
        n, weights = design.n_imputations_ or 1, plain.weights
        if n > 1:
            weights = np.tile(np.ones(len(plain.labels)) if weights is None else weights, n) / n
        return SubsetProblem(
            design.matrix,
            np.tile(plain.labels, n),
            ridge=ridge,
            groups=design.predictors_,
            sample_weight=weights,
            loss=loss,
            **self.limits_of(plain),
        )

    def _lower_limit(
        self,
        problem: SubsetProblem,
        plain: PlainTable,
        owners: NDArray[Any] | None,
        announce: Callable[[str], None],
    ) -> tuple[SubsetProblem, ThriftRecord]:
        """Return the problem at the lowest limit that is good enough, as `within` says."""
        options: dict[str, Any] = {"time_limit": self.time_limit, "threads": self.threads}
        y, weights = problem.response.values > 0, problem.weights
        masses = np.array([weights[y].sum(), weights[~y].sum()])
        null_objective = -float(masses @ np.log(masses / masses.sum()))
        if self.within == STANDARD_ERROR:
            path = solve_path(problem, **options)
            curve = cross_validate_limits(self, plain, path, owners, announce)
            name, limit, best = curve.limit_name, curve.enough, path[-1].solution
            share, is_proven = None, curve.is_proven
            doubt = "another limit may be the lowest that is enough"
        else:
            of_gain = gain_share(self.within)
            found = cheapest_within(
                problem,
                self.within if of_gain is None else of_gain,  # type: ignore[arg-type]
                null_objective=None if of_gain is None else null_objective,
                callback=lambda progress: announce(progress.describe()),
                **options,
            )
            name, limit, best = found.limit_name, found.limit, found.best
            share, is_proven = found.tolerance, found.is_proven
            doubt = f"a cheaper selection within {share:.2%} of the best may exist"
        if not is_proven:
            warnings.warn(
                f"within: a search ended without a proof, so {doubt}; raise time_limit.",
                ShortlistWarning,
                stacklevel=3,
            )
        record = ThriftRecord(
            share=share,
            limit=name,  # type: ignore[arg-type]
            stated=getattr(self, name),
            best_cost=best.cost,
            best_objective=best.objective,
            is_proven=is_proven,
            of_gain=gain_share(self.within) is not None,
            null_objective=null_objective,
        )
        lowered: dict[str, Any] = {name: limit if name == "budget" else int(limit)}
        return problem.with_limits(**lowered), record

    def narrowed(
        self,
        problem: SubsetProblem,
        n_rows: int,
        owners: NDArray[Any] | None,
        announce: Callable[[str], None] = lambda text: None,
    ) -> StableCandidates:
        """Return a problem of some rows without the columns that resamples select rarely."""
        persons = None if owners is None else np.unique(owners, return_inverse=True)[1]
        limit = None if self.time_limit is None else self.time_limit / N_RESAMPLES

        def draw(rng: np.random.Generator) -> Float:
            counts = draw_counts(rng, n_rows, persons)
            return problem.weights * np.tile(counts, problem.n_rows // n_rows)

        return stable_candidates(
            problem,
            draw,
            seed=self.random_state,
            solve=lambda resample: self._solve(resample, limit),
            announce=announce,
        )

    def _narrow(
        self,
        problem: SubsetProblem,
        plain: PlainTable,
        owners: NDArray[Any] | None,
        announce: Callable[[str], None],
    ) -> tuple[SubsetProblem, StableRecord]:
        """Return the problem of the columns that resamples select often."""
        found = self.narrowed(problem, len(plain.labels), owners, announce)
        best = self._solve(problem, self.time_limit)
        record = StableRecord(
            resamples=found.n_resamples,
            times={problem.name_of(g): times for g, times in enumerate(found.times)},
            best_objective=best.objective,
            is_proven=found.is_proven and best.status is Status.OPTIMAL,
        )
        if not record.is_proven:
            warnings.warn(
                "stable: a search on a resample or of all candidates ended without a proof, so "
                "other columns may be those that half of the resamples select; raise time_limit.",
                ShortlistWarning,
                stacklevel=3,
            )
        return found.problem, record

    def _over_imputations(
        self, problem: SubsetProblem, design: Design, announce: Callable[[str], None]
    ) -> dict[str, int] | None:
        """Return how many single imputations select each column; None without imputations.

        With `stable` they select among the columns that are left.
        """
        n = design.n_imputations_
        if not n:
            return None
        times = np.zeros(problem.n_predictors, dtype=np.int64)
        limit = None if self.time_limit is None else self.time_limit / n
        rows = problem.n_rows // n
        for number in range(n):
            announce(f"Selecting in imputation {number + 1} of {n}")
            weights = np.zeros(problem.n_rows)
            part = slice(number * rows, (number + 1) * rows)
            weights[part] = n * problem.weights[part]
            times[list(self._solve(problem.with_weights(weights), limit).support)] += 1
        return {problem.name_of(g): count for g, count in enumerate(times.tolist())}

    def _choose_ridge(
        self, plain: PlainTable, owners: NDArray[Any] | None, announce: Callable[[str], None]
    ) -> RidgeSearch:
        tuning = self.tuning or Tuning()
        ridges = check_ridges(GRID if tuning.ridges is None else tuning.ridges)
        check_integer("n_repeats", tuning.n_repeats, 1)
        n_repeats = int(tuning.n_repeats) if isinstance(tuning.cv, Integral) else 1
        folds = make_folds(
            tuning.cv, plain.frame, plain.labels, owners, self.random_state, n_repeats
        )
        if any(len(np.unique(plain.labels[rows])) < 2 for fold in folds for rows in fold):
            raise InvalidProblemError(
                "cv: a fold has rows of one outcome only; use fewer folds or give a ridge."
            )
        n_searches = len(ridges) * len(folds)
        share = _SHARE if self.time_limit is None else self.time_limit / n_searches
        said = ""

        def tell(news: str) -> None:
            nonlocal said
            said = news
            announce(news)

        def tell_of_search(progress: Progress) -> None:
            if progress.seconds > _SLOW:
                announce(
                    f"{said}, whose search at one ridge stops after {share:.3g} s at most (another "
                    "--time-limit changes that, and --ridge NUMBER needs no folds)"
                )

        scorer = check_scoring(self, scoring=tuning.scoring)

        def fit(rows: Int, ridges: list[float]) -> Iterator[PrognosticModel]:
            train = plain.rows(rows)
            design = self.design_of(train)
            problem = self.problem_from(train, design, ridges[0])
            for at_ridge, solution in self._solve_along(problem, ridges, share, tell_of_search):
                model = clone(self)
                outcome = train.outcome(None)
                card = self._card(train, design, at_ridge, solution, outcome, Making())
                model._set_fitted(train, at_ridge, solution, card)
                # From the plain labels.
                model.classes_, model.event_ = problem.response.classes, 1
                yield model

        def score(model: PrognosticModel, rows: Int) -> float:
            test = plain.rows(rows)
            weights = {} if test.weights is None else {"sample_weight": test.weights}
            with warnings.catch_warnings(action="ignore", category=ShortlistWarning):
                # Levels that only test rows have need no warning.
                return float(scorer(model, test.frame, test.labels, **weights))

        n_rows = len(plain.labels) if tuning.ridges is None else None
        return search_ridges(
            ridges, folds, fit, score, tuning.n_jobs, tell, n_repeats, share, n_rows
        )

    def _card(
        self,
        plain: PlainTable,
        design: Design,
        problem: SubsetProblem,
        solution: Solution,
        outcome: Outcome,
        made: Making,
    ) -> ModelCard:
        """Return the card of a solution."""
        is_lowered = made.within is not None and made.within.limit == "max_features"
        most = problem.limits.max_features if is_lowered else self.max_features
        return make_card(plain, design, problem, solution, outcome, most, made)

    def _set_fitted(
        self, plain: PlainTable, problem: SubsetProblem, solution: Solution, card: ModelCard
    ) -> None:
        """Set the attributes of a model; nothing can fail any more."""
        within = card.search.within
        self.lowered_: dict[str, Any] = {}
        if within is not None:
            self.lowered_ = {within.limit: getattr(problem.limits, within.limit)}
        self.left_out_ = list(card.left_out)
        self._set_solution(problem, solution)
        self.classes_, self.event_ = plain.classes, plain.event
        self.card_ = card
        self.coefficients_ = pd.DataFrame(
            [(*effect, effect.odds_ratio) for effect in card.effects()],
            columns=["predictor", "contrast", "coefficient", "odds_ratio"],
        )
        self.support_ = np.array([plain.names.index(name) for name in card.bought], dtype=np.int64)
        self.kinds_ = plain.kinds
        self.ridge_ = problem.ridge
        self.n_features_in_ = len(plain.names)
        self.feature_names_in_ = np.array(plain.names, dtype=object)

    def _html_repr(self) -> str:
        """Show the card once fitted; before that, the parameters, as scikit-learn does."""
        fitted = hasattr(self, "card_")
        html: str = self.card_._repr_html_() if fitted else super()._html_repr()
        return html

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
