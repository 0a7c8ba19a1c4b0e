"""The evaluation written plainly: copied rows, scikit-learn's metrics, our estimator with CV.

Slow and simple, to compare with. It shares the resamples' and folds' seeds with the package, and
nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

import shortlist as sl

Rows = NDArray[np.int64]


def calibrate(labels: Any, log_odds: Any) -> Any:
    """Intercept and slope of the logistic regression of labels on log-odds."""

    def loss(parameters: Any) -> float:
        margins = (2 * labels - 1) * (parameters[0] + parameters[1] * log_odds)
        return float(np.logaddexp(0, -margins).sum())

    return minimize(loss, [0.0, 1.0], method="BFGS", options={"gtol": 1e-8}).x


def shift(labels: Any, log_odds: Any) -> float:
    """What is to be added to all log-odds for as many events to be predicted as there are."""
    return float(brentq(lambda a: expit(a + log_odds).mean() - labels.mean(), -30, 30, xtol=1e-12))


class NaiveEvaluation:
    """Evaluates one resample of a data set."""

    def __init__(self, X: Any, y: Any, protocol: str, seed: int, resample: int, **limits: Any):
        self.X, self.y, self.protocol, self.limits = X, y, protocol, limits
        self.rng = np.random.default_rng((seed, resample))
        n_rows = len(y)
        self.copies = (
            np.arange(n_rows) if resample == 0 else np.sort(self.rng.integers(n_rows, size=n_rows))
        )

    def folds(self, copies: Rows) -> list[tuple[Rows, Rows]]:
        """Positions in `copies` for training and for testing."""
        splitter = StratifiedKFold(3, shuffle=True, random_state=int(self.rng.integers(2**31)))
        if self.protocol == "paper":
            return list(splitter.split(copies, self.y[copies]))
        rows = np.unique(copies)
        return [
            tuple(np.flatnonzero(np.isin(copies, rows[side])) for side in sides)
            for sides in splitter.split(rows, self.y[rows])
        ]

    def tuned_model(self, copies: Rows) -> Any:
        model = sl.BestSubsetClassifier(ridge=None, cv=self.folds(copies), **self.limits)
        return model.fit(self.X[copies], self.y[copies])

    def run(self) -> dict[str, Any]:
        scores = []
        for train, test in self.folds(self.copies):
            model = self.tuned_model(self.copies[train])
            rows = self.copies[test]
            labels, probability = self.y[rows], model.predict_proba(self.X[rows])[:, 1]
            scores.append(
                {
                    "test_auc": roc_auc_score(labels, probability),
                    "test_accuracy": accuracy_score(labels, model.predict(self.X[rows])),
                    "test_brier": brier_score_loss(labels, probability),
                    "test_log_loss": log_loss(labels, probability),
                }
            )
        result = {name: float(np.mean([score[name] for score in scores])) for name in scores[0]}
        model = self.tuned_model(self.copies)
        result |= {"ridge": model.ridge_, "support": model.support_.tolist(), "cost": model.cost_}
        everyone = np.arange(len(self.y))
        for place, rows in (("resample", self.copies), ("data", everyone)):
            labels, log_odds = self.y[rows], model.decision_function(self.X[rows])
            calibration = calibrate(labels, log_odds)
            result |= {
                f"{place}_auc": roc_auc_score(labels, log_odds),
                f"{place}_brier": brier_score_loss(labels, model.predict_proba(self.X[rows])[:, 1]),
                f"{place}_calibration_intercept": calibration[0],
                f"{place}_calibration_slope": calibration[1],
                f"{place}_calibration_in_the_large": shift(labels, log_odds),
                f"{place}_observed_expected": labels.mean() / expit(log_odds).mean(),
            }
        outside = np.setdiff1d(everyone, self.copies)
        if len(outside):
            risk = model.predict_proba(self.X[outside])[:, 1]
            result |= {
                "outside_auc": roc_auc_score(self.y[outside], risk),
                "outside_brier": brier_score_loss(self.y[outside], risk),
            }
        risk = model.predict_proba(self.X)[:, 1]
        every_pair = [(label - risk) ** 2 for label in self.y]
        return result | {"brier_by_chance": float(np.mean(every_pair))}
