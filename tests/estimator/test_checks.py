"""Scikit-learn's own checks, with the parameters that change the course of a fit."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

import shortlist as sl


class CoxOfNumbers(sl.BestSubsetCox):
    """Takes the numbers that the checks have for y as times of events; the rest is inherited."""

    def _checked(self, X, y):
        X, y = super(sl.BestSubsetCox, self)._checked(X, y)
        return X, sl.survival(y - y.min() + 1.0, np.ones(len(y)))

    def score(self, X, y, sample_weight=None):
        return super().score(X, self._checked(X, y)[1], sample_weight)


ESTIMATORS = [
    sl.BestSubsetClassifier(),
    sl.BestSubsetClassifier(max_features=1, class_weight="balanced"),
    sl.BestSubsetClassifier(max_features=1, loss="hinge"),
    sl.BestSubsetClassifier(loss="squared_hinge"),
    sl.BestSubsetClassifier(ridge=None),
    sl.BestSubsetClassifier(ridge=None, max_features=1, scoring=None),
    sl.BestSubsetRegressor(),
    sl.BestSubsetRegressor(ridge=None, max_features=2),
    CoxOfNumbers(),
    CoxOfNumbers(ridge=None, max_features=2, ties="breslow"),
]


def expected_failures(estimator):
    """Return the checks that must fail, and why."""
    if getattr(estimator, "ties", None) != "efron":
        return {}
    reason = "Efron's formula depends on the number of events at a time: a weight is no repetition"
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


# The check of the array API skips itself where that is not enabled.
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)
