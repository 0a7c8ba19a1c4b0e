"""Support vector machines as estimators: scores and labels, but no probabilities."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC

import shortlist as sl

MACHINES = pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])


@MACHINES
def test_scores_and_labels_are_those_of_the_solution(data, loss):
    X, y = data
    model = sl.BestSubsetClassifier(max_features=3, ridge=0.5, loss=loss).fit(X, y)
    problem = sl.SubsetProblem(X, y, ridge=0.5, max_features=3, loss=loss)
    solution = sl.solve(problem)
    assert model.objective_ == solution.objective
    assert model.selected_features_ == list(solution.names)
    scores = X.to_numpy() @ solution.coef + solution.intercept
    assert model.decision_function(X) == pytest.approx(scores, rel=1e-12)
    assert (model.predict(X) == np.where(scores > 0, "ill", "healthy")).all()
    assert sl.verify(model.problem(X, y), model.certificate_).valid


@MACHINES
@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
def test_there_are_no_probabilities_and_the_error_says_what_makes_some(data, loss, method):
    X, y = data
    model = sl.BestSubsetClassifier(max_features=2, ridge=0.5, loss=loss).fit(X, y)
    assert not hasattr(model, method)
    with pytest.raises(AttributeError, match=method) as caught:
        getattr(model, method)
    assert "CalibratedClassifierCV" in str(caught.value.__cause__)
    calibrated = CalibratedClassifierCV(model, cv=2).fit(X, y)
    assert calibrated.predict_proba(X).sum(axis=1) == pytest.approx(1)


def test_without_limits_it_is_the_machine_of_scikit_learn(data):
    X, y = data
    model = sl.BestSubsetClassifier(ridge=0.5, loss="hinge").fit(X, y)
    other = SVC(kernel="linear", C=2.0, tol=1e-8).fit(X, y)
    assert model.coef_ == pytest.approx(other.coef_, abs=5e-3)
    assert (model.predict(X) == other.predict(X)).mean() > 0.99


@MACHINES
def test_a_ridge_is_chosen_by_scores(data, loss):
    X, y = data
    model = sl.BestSubsetClassifier(ridge=None, max_features=2, ridges=(10.0, 0.1), loss=loss).fit(
        X, y
    )
    assert model.loss == loss
    assert model.ridge_ in (10.0, 0.1)
    assert 0.5 < model.best_score_ <= 1
