"""The procedure that is evaluated, and its evaluation on one resample.

Procedure: the ridge with the best mean score over the validation folds, then the selection and the
fit with that ridge on all rows. If the experiment asks for stable predictors, each selection is
narrowed by resamples of the rows that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import Float, Int
from ..backends import solve_ridges
from ..blocks import one_thread
from ..choice.stable import draw_counts, stable_candidates
from ..cross_validation import cross_validate, widen
from ..problem import SubsetProblem
from ..solution import Solution, Status
from .experiment import Experiment, ModelMatrix, Sample, draw, scorable_folds
from .metric import accuracy, auc, brier, brier_by_chance, log_loss, outside_scores, scores

TEST_METRICS = {"auc": auc, "accuracy": accuracy, "brier": brier, "log_loss": log_loss}


def _neg_log_loss(y: Int, log_odds: Float, weights: Int) -> float:
    return -log_loss(y, log_odds, weights)


class FittedModel(NamedTuple):
    """A fitted model, and the features of all rows and probes, which it can predict."""

    ridge: float
    solution: Solution
    X: Float

    def log_odds(self, rows: Int) -> Float:
        """Return the predicted log-odds of some rows."""
        used = self.solution.coef.nonzero()[0]
        X = self.X[np.ix_(rows, used)]
        log_odds: Float = X @ self.solution.coef[used] + self.solution.intercept
        return log_odds

    def score(self, measure: Callable[[Int, Float, Int], Any], y: Int, sample: Sample) -> Any:
        """Return measures of the risks of a sample, whose outcomes are in y."""
        return measure(y[sample.rows], self.log_odds(sample.rows), sample.weights)


class CrossValidation(NamedTuple):
    """The mean of each metric over outer folds, their number, and the log-odds of each test row.

    None where a value is not defined.
    """

    means: Mapping[str, float | None] = dict.fromkeys(TEST_METRICS)
    n_folds: int = 0
    log_odds: NDArray[Any] = np.empty(0)


class Procedure:
    """Tunes and fits on parts of one resample, and counts its solves and nodes.

    No solve starts from the selection of another: the native backend finds its optimum so early
    that it saved nothing, and a heuristic would depend on it.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.solves = self.nodes = self.unproven = 0
        self._problem: SubsetProblem | None = None
        # Of all rows and probes.
        self._columns = ModelMatrix(np.empty((0, 0)), np.empty(0, dtype=np.int64))
        self._sample = Sample.of_copies(np.arange(0))  # of the last problem
        self._n_imputations = 0

    def problem(self, sample: Sample) -> SubsetProblem:
        """Return the problem on the rows of a sample."""
        experiment, problem = self.experiment, self._problem
        self._sample = sample
        if problem is None or experiment.preprocessor is not None:
            self._columns = experiment.columns(sample.copies)
            problem = self._problem = experiment.problem_of(self._columns)
        fitted = self._columns.preprocessor
        self._n_imputations = n = getattr(fitted, "n_imputations_", 0)
        if n:
            response = problem.response.rows(np.tile(sample.copies, n))
            return problem.with_rows(fitted.matrix, response, np.full(len(fitted.matrix), 1 / n))
        return problem.with_weights(sample.counts(problem.n_rows))

    def fit(self, sample: Sample, ridges: Sequence[float]) -> list[FittedModel]:
        """Select and fit on the rows of a sample, with each ridge."""
        return self.solve(self.problem(sample), ridges)

    def solve(self, problem: SubsetProblem, ridges: Sequence[float]) -> list[FittedModel]:
        """Solve a problem with each ridge, and count the work."""
        if self.experiment.stable is None:
            solutions = self._solve(problem, ridges)
        else:
            solutions = [self._solve(self._narrowed(problem, r), [r])[0] for r in ridges]
        return [
            self.fitted(ridge, solution) for ridge, solution in zip(ridges, solutions, strict=True)
        ]

    def _solve(self, problem: SubsetProblem, ridges: Sequence[float]) -> list[Solution]:
        experiment = self.experiment
        solutions = solve_ridges(
            problem,
            ridges,
            experiment.backend,
            gap=experiment.gap,
            node_limit=experiment.node_limit,
        )
        for solution in solutions:
            self.solves += 1
            self.nodes += solution.nodes
            self.unproven += solution.status is not Status.OPTIMAL
        return solutions

    def _narrowed(self, problem: SubsetProblem, ridge: float) -> SubsetProblem:
        """Return the last problem without the predictors that its resamples select rarely."""
        copies, units = self._sample.copies, self._sample.units(self.experiment.persons)

        def draw(rng: np.random.Generator) -> Float:
            counts = draw_counts(rng, len(copies), units)
            if self._n_imputations:  # its rows are the copies
                return problem.weights * np.tile(counts, self._n_imputations)
            weights = np.zeros(problem.n_rows)
            np.add.at(weights, copies, counts)
            return weights

        return stable_candidates(
            problem.with_ridge(ridge),
            draw,
            seed=self.experiment.stable or 0,
            solve=lambda resample: self._solve(resample, [ridge])[0],
        ).problem

    def fitted(self, ridge: float, solution: Solution) -> FittedModel:
        """Return a solution of the last problem with the columns by which it predicts."""
        columns = self.experiment.columns_for_predicting(self._columns, solution.support)
        return FittedModel(ridge, solution, columns)

    def tune(self, sample: Sample, rng: np.random.Generator) -> FittedModel:
        """Choose the ridge by cross-validation on a sample, then select and fit with it."""
        is_choice = len(self.experiment.ridges) > 1
        n_folds = self.experiment.tuning_folds
        folds = scorable_folds(self.experiment, sample, rng, n_folds) if is_choice else []
        return self.fit(sample, [self.best_ridge(folds)])[0]

    def best_ridge(self, folds: Sequence[tuple[Sample, Sample]]) -> float:
        """Return the ridge with the best mean score over folds; of several, the strongest."""
        experiment = self.experiment
        if not folds:
            return experiment.ridges[0]
        measure = auc if experiment.scoring == "roc_auc" else _neg_log_loss

        def run(ridges: list[float]) -> list[list[float]]:
            return cross_validate(
                folds,
                lambda train: self.fit(train, ridges),
                lambda model, test: model.score(measure, experiment.y, test),
            )

        tried = list(experiment.ridges)
        scores = run(tried)
        if experiment.is_open:
            tried, scores = widen(tried, scores, run, float, experiment.n_rows)
        return tried[int(np.mean(scores, axis=0).argmax())]

    def cross_validate(self, sample: Sample, rng: np.random.Generator) -> CrossValidation:
        """Tune on the training part of each outer fold, and score on its test part."""
        experiment = self.experiment
        out_of_fold = np.full(experiment.n_rows, None)

        def score(model: FittedModel, test: Sample) -> list[float]:
            log_odds = out_of_fold[test.rows] = model.log_odds(test.rows)
            labels = experiment.y[test.rows]
            return [f(labels, log_odds, test.weights) for f in TEST_METRICS.values()]

        folds = scorable_folds(experiment, sample, rng)
        found = cross_validate(folds, lambda train: [self.tune(train, rng)], score)
        scored = [of_fold for (of_fold,) in found]
        means = np.mean(scored, axis=0).tolist() if scored else [None] * len(TEST_METRICS)
        return CrossValidation(
            dict(zip(TEST_METRICS, means, strict=True)), len(scored), out_of_fold
        )


def evaluate_resample(
    experiment: Experiment,
    resample: int,
    nested: bool = True,
    procedure: type[Procedure] = Procedure,
) -> dict[str, Any]:
    """Run the procedure on a resample: its selection, and how well the model predicts.

    A pure function of its arguments: the same on any number of processes.

    Parameters
    ----------
    experiment : Experiment
        The procedure, the data and the protocol.
    resample : int
        Number of the resample; 0 is the data as they are.
    nested : bool
        Whether there is an outer loop of cross-validation. Without it `test_*` are not defined, and
        a quarter of the solves is left.
    procedure : type
        A subclass of `Procedure` that selects in another way.

    Returns
    -------
    dict
        `ridge`, `support` (predictor indices), `cost`, `objective` and `lower_bound` of the model
        of the whole resample; `test_*`, the mean over outer folds of each metric on the test part,
        and `test_folds`, the number of folds with rows of both classes in both parts, over which
        that mean is; `resample_*` and `data_*`, the metrics of the model of the whole resample on
        the resample and on the data as they are, of which Harrell's optimism is the difference;
        `outside_auc` and `outside_brier`, on the rows that the resample does not have, and
        `brier_by_chance`, what its risks would score if they were dealt at random;
        `solves`, `nodes` and `unproven`, the number of solves that did not end with a proof (with
        a heuristic, all); `probe_log_odds`, those that the model of the whole resample predicts for
        the probes of the experiment, if it has any, and `followed_log_odds`, those for the rows
        that it follows. A value that is not defined is None. For
        resample 0 also `log_odds`: for each row those predicted by the model of the outer fold that
        had it in its test part.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.evaluation import evaluate_resample
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import minmax_scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> problem = sl.SubsetProblem(minmax_scale(X[:, :10]), y, ridge=1.0, max_features=3)
    >>> experiment = sl.Experiment(problem)
    >>> result = evaluate_resample(experiment, resample=1)
    >>> result["ridge"], result["support"], result["solves"], round(result["test_auc"], 2)
    (0.02, [1, 3, 7], 40, 0.99)
    """
    with one_thread():
        chosen = procedure(experiment)
        sample, rng = draw(experiment, resample)
        validated = chosen.cross_validate(sample, rng) if nested else CrossValidation()
        own = None if resample else experiment.own_ridge
        model = chosen.tune(sample, rng) if own is None else chosen.fit(sample, [own])[0]
        result = evaluate_model(chosen, model, sample, validated)
    return result | ({"log_odds": validated.log_odds.tolist()} if nested and not resample else {})


def evaluate_model(
    procedure: Procedure,
    model: FittedModel,
    sample: Sample,
    validated: CrossValidation | None = None,
) -> dict[str, Any]:
    """Return what `evaluate_resample` does, for the model of a sample and its cross-validation."""
    experiment, validated = procedure.experiment, validated or CrossValidation()
    everyone = Sample.of_copies(np.arange(experiment.n_rows))
    result: dict[str, Any] = {
        "ridge": model.ridge,
        "support": list(model.solution.support),
        "cost": model.solution.cost,
        "objective": model.solution.objective,
        "lower_bound": model.solution.lower_bound,
        "test_folds": validated.n_folds,
    }
    result |= {f"test_{name}": mean for name, mean in validated.means.items()}
    others = Sample.of_copies(np.setdiff1d(everyone.rows, sample.rows))
    found = {
        "resample": model.score(scores, experiment.y, sample),
        "data": model.score(scores, experiment.y, everyone),
        "outside": model.score(outside_scores, experiment.y, others),
    }
    result |= {
        f"{place}_{name}": None if np.isnan(value) else value
        for place, values in found.items()
        for name, value in values.items()
    }
    result["brier_by_chance"] = model.score(brier_by_chance, experiment.y, everyone)
    result |= {name: getattr(procedure, name) for name in ("solves", "nodes", "unproven")}
    if experiment.probes is not None:
        probes = np.arange(experiment.n_rows, len(model.X))
        result["probe_log_odds"] = model.log_odds(probes).tolist()
    if len(experiment.followed):
        result["followed_log_odds"] = model.log_odds(np.array(experiment.followed)).tolist()
    return result
