"""Scikit-learn's own checks, on tables that have no names."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import shortlist as sl


def expected_failures(model):
    if model.ridge is not None:
        return {}
    reason = "repeated rows fall into other folds than weighted ones, and have other quantiles"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


# No other check is expected to fail. That of the array API skips itself where it is not enabled.
@parametrize_with_checks(
    [
        sl.PrognosticModel(ridge=1.0),
        sl.PrognosticModel(max_features=1, preparation=sl.Preparation(spline_knots=3)),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
