"""Scikit-learn's own checks, on tables that have no names."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import shortlist as sl


# No check is expected to fail. The one of the array API skips itself where it is not enabled.
@parametrize_with_checks(
    [sl.PrognosticModel(ridge=1.0), sl.PrognosticModel(max_features=1, spline_knots=3)]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
