"""Scikit-learn's own checks, with the parameters that change the course of a fit."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import shortlist as sl

ESTIMATORS = [
    sl.BestSubsetClassifier(),
    sl.BestSubsetClassifier(max_features=1, class_weight="balanced"),
    sl.BestSubsetClassifier(max_features=1, loss="hinge"),
    sl.BestSubsetClassifier(loss="squared_hinge"),
    sl.BestSubsetClassifier(ridge=None),
    sl.BestSubsetClassifier(ridge=None, max_features=1, scoring=None),
    sl.BestSubsetRegressor(),
    sl.BestSubsetRegressor(ridge=None, max_features=2),
]


# No check is expected to fail. The one of the array API skips itself where it is not enabled.
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
