"""The estimator for a table of patients: preprocessing, selection and prediction in one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.utils.validation import _check_n_features, check_is_fitted

from ..arguments import Float, Int, is_integer, is_share
from ..choice import cheapest_within, solve_path
from ..choice.stable import N_RESAMPLES, StableCandidates, draw_counts, stable_candidates
from ..classifier.log_odds import LogOddsClassifier
from ..classifier.tuning import (
    FoldScore,
    RidgeSearch,
    check_ridges,
    make_folds,
    score_ridges,
    search_ridges,
    warn_of_limits,
)
from ..errors import InvalidProblemError, ShortlistWarning
from ..limits import given_limits, limits_without
from ..problem import SubsetProblem
from ..solution import Progress, Solution, Status
from .card import make_card
from .design import Design
from .finding import findings_of
from .record import Outcome, StableRecord, ThriftRecord
from .suspicion import warn_of_mistakes
from .table import PlainTable, as_table, check_limits, check_persons, check_table
from .term import KNOT_QUANTILES, ImputationKind
from .worth import STANDARD_ERROR, cross_validate_limits


class PrognosticModel(LogOddsClassifier):
    """Logistic regression on the best affordable columns of a table of patients.

    A column is bought or not as a whole: a number, the curves of a spline, the levels of a factor,
    an indicator of missing values. Missing numbers and truth values are replaced by what is
    expected given the other columns, those of factors by the most frequent level. Numbers are
    divided by two standard deviations, truth values are 0 and 1, and a factor has a column per
    level, so that one `ridge` is fair to all. Everything is measured on the rows that a model is
    fitted to, in every fold anew.

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
    kinds : mapping from column to "numeric", "boolean" or "categorical", optional
        The kinds of columns. By default 0 and 1 are truth values, other numbers are numbers, and
        text is a factor.
    spline_knots : {3, 4, 5}, optional
        Knots of a natural cubic spline for every number; None is linear.
    missing_indicator : bool
        Whether missing values of a column get an indicator, which may itself predict.
    imputation : {"conditional", "median"}
        How missing numbers and truth values are replaced: by equations that are linear in the other
        columns, or by median and most frequent value. The search knows all columns; the equations
        of `card_`, which predict, use those that were bought.
    imputations : int, optional
        Fit to so many copies of the rows, each of weight 1 over their number, in which missing
        values of all kinds are drawn from the observed ones, given the other columns and the
        outcome. There is one selection, proven for all copies together; `card_` counts the single
        copies that select each column. Predictions impute as without.
    missing_codes : mapping from column to codes, optional
        Values that stand for missing ones, such as `{"glucose": [0], "*": [-9, -99]}`; `*` is every
        column. `card_` keeps them for predictions.
    synonyms : mapping from column to a mapping from level to level, optional
        Levels that stand for others, such as `{"smoking": {"ex": "former"}}`.
    merge_levels : bool
        Whether levels that differ in case, blanks or one letter only are taken for one.
    positive : optional
        The value of the outcome that is the event. By default the obvious one of a pair such as 0
        and 1, no and yes, or alive and dead; else the last in sorted order, with a warning.
    within : float or "1se", optional
        Buy the cheapest selection whose loss is within this share of the best one's, such as 0.01,
        instead of the best; or, with "1se", no more than the lowest limit whose cross-validated log
        loss is within a standard error of the least. The budget (or `max_features`, without
        prices) is lowered to that.
    stable : bool
        Buy the best selection among the columns that at least half of 50 bootstrap resamples
        select, at the same limits and ridge, instead of the best of all; those in `include` stay.
        Resamples draw persons where there are any, and take the columns as prepared from all rows.
        Not with `within`.
    ridge : float, optional
        Strength of the L2 penalty; None chooses one of `ridges` by cross-validation.
    ridges : sequence of float
        Strengths to choose from.
    cv : int, cross-validation splitter or iterable of (train, test) indices
        The folds; a number means stratified and shuffled ones, with each person in one of them,
        and no more of them than there are rows of the rarer outcome.
    n_repeats : int
        How often the patients are split into folds, if `cv` is a number; the mean score over all
        folds counts, so that the ridge depends less on one split.
    scoring : str or callable
        The score to maximise, as in scikit-learn; outcomes are 1 for the event and 0 otherwise.
    random_state : int
        Seed of the folds, of the resamples of `stable`, and of `imputations`.
    n_jobs : int, optional
        Number of processes over the folds; it changes no result.
    backend, gap, node_limit, threads
        As in `BestSubsetClassifier`.
    time_limit : float, optional
        Seconds after which the search stops with the best model so far, and a warning. Choosing the
        ridge may take as long again, and so may the resamples of `stable`, its search of all
        candidates, and the single draws of `imputations`.
    max_coefficient : float or mapping from column to float, optional
        The largest magnitude of a coefficient, of two standard deviations of a number or of a truth
        value or level; None is no limit.
    signs : mapping from column to "positive" or "negative", optional
        Numbers and truth values that may only raise, or only lower, the risk. Not with splines,
        whose curves have no sign; an indicator of missing values has that of its column.

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
        As in `BestSubsetClassifier`; the columns of `solution_` are those of `problem`.
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

    def __init__(
        self,
        max_features: int | None = None,
        budget: float | None = None,
        costs: Mapping[str, float] | None = None,
        fees: Sequence[tuple[float, Sequence[str]]] | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        kinds: Mapping[str, str] | None = None,
        spline_knots: int | None = None,
        missing_indicator: bool = False,
        positive: Any = None,
        ridge: float | None = None,
        ridges: Sequence[float] = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01),
        cv: Any = 5,
        n_repeats: int = 5,
        scoring: str | Callable[..., float] = "neg_log_loss",
        random_state: int = 0,
        n_jobs: int | None = None,
        backend: str = "native",
        gap: float = 1e-6,
        time_limit: float | None = None,
        node_limit: int | None = None,
        max_coefficient: float | Mapping[str, float] | None = None,
        signs: Mapping[str, str] | None = None,
        threads: int | None = None,
        missing_codes: Mapping[str, Any] | None = None,
        synonyms: Mapping[str, Mapping[str, str]] | None = None,
        merge_levels: bool = False,
        within: float | str | None = None,
        imputation: str = "conditional",
        stable: bool = False,
        imputations: int | None = None,
    ) -> None:
        self.max_features = max_features
        self.budget = budget
        self.costs = costs
        self.fees = fees
        self.include = include
        self.exclude = exclude
        self.kinds = kinds
        self.spline_knots = spline_knots
        self.missing_indicator = missing_indicator
        self.positive = positive
        self.ridge = ridge
        self.ridges = ridges
        self.cv = cv
        self.n_repeats = n_repeats
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.backend = backend
        self.gap = gap
        self.time_limit = time_limit
        self.node_limit = node_limit
        self.max_coefficient = max_coefficient
        self.signs = signs
        self.threads = threads
        self.missing_codes = missing_codes
        self.synonyms = synonyms
        self.merge_levels = merge_levels
        self.within = within
        self.imputation = imputation
        self.stable = stable
        self.imputations = imputations

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
    ) -> PrognosticModel:
        """Choose the ridge, unless it is given, and find the best affordable columns.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)
            Patients: numbers, truth values and text, some of them missing; or a `PlainTable`.
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
            The names of the outcome and its values in `card_`; by default those of y.

        Returns
        -------
        self : PrognosticModel
            The fitted estimator.
        """
        if groups is not None and persons is not None:
            raise InvalidProblemError("groups: means the same as persons; give one of them.")
        self.lowered_: dict[str, Any] = {}  # no limit is lowered yet
        self.left_out_: list[str] = []
        plain = self.check(X, y)
        owners = check_persons(persons if groups is None else groups, len(plain.labels))
        plain = plain.weighted(sample_weight)
        if owners is not None and sample_weight is not None:
            owners = owners[np.asarray(sample_weight) > 0]
        search = None
        ridge = self.ridge
        if ridge is None:
            search = self._choose_ridge(plain, owners, announce)
            ridge = search.ridge
        design = self.design_of(plain)
        problem = self.problem_from(plain, design, ridge)

        def callback(progress: Progress) -> None:
            announce(progress.describe())

        within = stable = None
        if self.stable:
            problem, stable = self._narrow(problem, plain, owners, announce)
        elif self.within == STANDARD_ERROR:
            problem, within = self._lower_to_enough(problem, plain, owners, announce)
        elif self.within is not None:
            problem, within = self._lower_limit(problem, callback)
        solution = self._solve(problem, self.time_limit, callback=callback).detached()
        outcome = outcome or plain.outcome(getattr(y, "name", None))
        imputed = self._over_imputations(problem, design, announce)
        self._set_fitted(plain, design, problem, solution, search, outcome, within, stable, imputed)
        warn_of_limits(solution, search)
        announce("Checking data and model")
        found = findings_of(self.card_, plain, problem, solution, owners)
        self.findings_ = [finding for finding in found if finding.level != "good"]
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
            By default that of the fitted model, or else the parameter.
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
        if self.spline_knots not in (None, *KNOT_QUANTILES):
            raise InvalidProblemError(
                f"spline_knots: must be 3, 4, 5 or None, not {self.spline_knots!r}."
            )
        if self.imputation not in get_args(ImputationKind):
            raise InvalidProblemError(
                f"imputation: must be 'conditional' or 'median', not {self.imputation!r}."
            )
        if not (self.within in (None, STANDARD_ERROR) or is_share(self.within)):
            raise InvalidProblemError(
                "within: must be a share from 0 to below 1, such as 0.01, or "
                f"{STANDARD_ERROR!r}, not {self.within!r}."
            )
        if self.stable and self.within is not None:
            raise InvalidProblemError("stable: does not go with within; give one of them.")
        self._check_draws()
        return check_table(
            X,
            y,
            kinds=self.kinds,
            include=self.include,
            exclude=self.exclude,
            positive=self.positive,
            missing_codes=self.missing_codes,
            synonyms=self.synonyms,
            merge_levels=self.merge_levels,
        )

    def _check_draws(self) -> None:
        """Raise unless imputations can be drawn, and drawn again."""
        if self.imputations is not None:
            if not is_integer(self.imputations, 1):
                raise InvalidProblemError(
                    "imputations: must be an integer of at least 1 or None, not "
                    f"{self.imputations!r}."
                )
            if self.imputation != "conditional":
                raise InvalidProblemError(
                    "imputations: are drawn given the other columns; use imputation='conditional'."
                )
        if (self.stable or self.imputations) and not is_integer(self.random_state, 0):
            raise InvalidProblemError(
                "random_state: must be an integer of at least 0 with stable or imputations, not "
                f"{self.random_state!r}."
            )

    def design_of(self, plain: PlainTable) -> Design:
        """Return the preprocessing of this model, fitted to patients."""
        return self.unfitted_design(plain).fit(plain.frame, plain.labels, plain.weights)

    def unfitted_design(self, plain: PlainTable) -> Design:
        """Return the preprocessing of this model, to be fitted to rows of a table."""
        return Design(
            plain.kinds,
            self.spline_knots,
            bool(self.missing_indicator),
            self.imputation,  # type: ignore[arg-type]
            self.imputations,
            self.random_state,
        )

    def limits_of(self, plain: PlainTable) -> dict[str, Any]:
        """Return prices and limits of the columns of a table that can be bought.

        After a fit with `within`, the limit is the lowered one.
        """
        given = given_limits(self) | getattr(self, "lowered_", {})
        limits = limits_without(given, plain.absent)
        check_limits(limits, plain.kinds, self.spline_knots)
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
        self, problem: SubsetProblem, callback: Callable[[Progress], None]
    ) -> tuple[SubsetProblem, ThriftRecord]:
        """Return the problem at the cost of the cheapest selection that is nearly the best."""
        found = cheapest_within(
            problem,
            self.within,  # type: ignore[arg-type]
            time_limit=self.time_limit,
            callback=callback,
            threads=self.threads,
        )
        record = ThriftRecord(
            share=found.tolerance,
            limit=found.limit_name,  # type: ignore[arg-type]
            stated=getattr(self, found.limit_name),
            best_cost=found.best.cost,
            best_objective=found.best.objective,
            is_proven=found.is_proven,
        )
        if not found.is_proven:
            warnings.warn(
                "within: a limit was reached, so a cheaper selection within "
                f"{found.tolerance:.2%} of the best may exist; raise time_limit.",
                ShortlistWarning,
                stacklevel=3,
            )
        return _with_limit(problem, found.limit_name, found.limit), record

    def _lower_to_enough(
        self,
        problem: SubsetProblem,
        plain: PlainTable,
        owners: NDArray[Any] | None,
        announce: Callable[[str], None],
    ) -> tuple[SubsetProblem, ThriftRecord]:
        """Return the problem at the lowest limit that predicts as well as any."""
        path = solve_path(problem, time_limit=self.time_limit, threads=self.threads)
        curve = cross_validate_limits(self, plain, path, owners, announce)
        best = path[-1].solution
        record = ThriftRecord(
            share=None,
            limit=curve.limit_name,  # type: ignore[arg-type]
            stated=getattr(self, curve.limit_name),
            best_cost=best.cost,
            best_objective=best.objective,
            is_proven=curve.is_proven,
        )
        if not curve.is_proven:
            warnings.warn(
                "within: a search ended without a proof, so another limit may be the lowest that "
                "is enough; raise time_limit.",
                ShortlistWarning,
                stacklevel=3,
            )
        return _with_limit(problem, curve.limit_name, curve.enough), record

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
        ridges = check_ridges(self.ridges)
        if not isinstance(self.n_repeats, Integral) or self.n_repeats < 1:
            raise InvalidProblemError(
                f"n_repeats: must be an integer of at least 1, not {self.n_repeats!r}."
            )
        n_repeats = int(self.n_repeats) if isinstance(self.cv, Integral) else 1
        folds = make_folds(self.cv, plain.frame, plain.labels, owners, self.random_state, n_repeats)
        if any(len(np.unique(plain.labels[rows])) < 2 for fold in folds for rows in fold):
            raise InvalidProblemError(
                "cv: a fold has rows of one outcome only; use fewer folds or give a ridge."
            )
        limit = None if self.time_limit is None else self.time_limit / (len(ridges) * len(folds))

        def score_fold(train: Int, test: Int) -> list[FoldScore]:
            return self._score_fold(ridges, plain.rows(train), plain.rows(test), limit)

        return search_ridges(ridges, folds, score_fold, self.n_jobs, announce, n_repeats)

    def _score_fold(
        self, ridges: Sequence[float], train: PlainTable, test: PlainTable, limit: float | None
    ) -> list[FoldScore]:
        scorer = check_scoring(self, scoring=self.scoring)
        design = self.design_of(train)
        problem = self.problem_from(train, design, ridges[0])
        weights = {} if test.weights is None else {"sample_weight": test.weights}

        def fit(
            ridge: float, warm_start: tuple[int, ...] | None
        ) -> tuple[PrognosticModel, Solution]:
            at_ridge = problem.with_ridge(ridge)
            solution = self._solve(at_ridge, limit, warm_start)
            model = clone(self)
            model._set_fitted(train, design, at_ridge, solution, None, train.outcome(None))
            model.classes_, model.event_ = problem.classes, 1  # those of the plain labels
            return model, solution

        def score(model: PrognosticModel) -> float:
            with warnings.catch_warnings():
                # Levels that only test rows have need no warning.
                warnings.simplefilter("ignore", ShortlistWarning)
                return float(scorer(model, test.frame, test.labels, **weights))

        return score_ridges(ridges, fit, score)

    def _set_fitted(
        self,
        plain: PlainTable,
        design: Design,
        problem: SubsetProblem,
        solution: Solution,
        search: RidgeSearch | None,
        outcome: Outcome,
        within: ThriftRecord | None = None,
        stable: StableRecord | None = None,
        imputed: dict[str, int] | None = None,
    ) -> None:
        """Set the attributes of a fit, all at once and after everything that can fail."""
        lowered: dict[str, Any] = {}
        if within is not None:
            lowered = {within.limit: getattr(problem.limits, within.limit)}
        card = make_card(
            plain,
            design,
            problem,
            solution,
            outcome,
            max_features=lowered.get("max_features", self.max_features),
            backend=self.backend,
            gap_target=self.gap,
            tuning=search,
            scoring=None if search is None else str(self.scoring),
            within=within,
            stable=stable,
            imputed=imputed,
        )
        self.lowered_ = lowered
        self.left_out_ = list(card.left_out)
        self._set_solution(problem, solution)
        self.classes_, self.event_ = plain.classes, plain.event
        self.card_ = card
        self.coefficients_ = pd.DataFrame(
            [(*effect, effect.odds_ratio) for effect in card.effects()],
            columns=["predictor", "contrast", "coefficient", "odds_ratio"],
        )
        self.support_ = np.array(
            [plain.names.index(term.name) for term in card.terms], dtype=np.int64
        )
        self.kinds_ = plain.kinds
        self.ridge_ = problem.ridge
        self.cv_results_ = None if search is None else search.results
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


def _with_limit(problem: SubsetProblem, name: str, limit: float) -> SubsetProblem:
    """Return a problem with another budget or number of predictors."""
    if name == "budget":
        return problem.with_limits(budget=limit)
    return problem.with_limits(max_features=int(limit))
