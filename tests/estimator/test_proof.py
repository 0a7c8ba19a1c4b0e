"""What a fitted estimator keeps: its proof, but not the data; and the problem that it solved."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import shortlist as sl

ESTIMATORS = {
    "fixed": sl.BestSubsetClassifier(
        budget=5,
        costs={name: 1 + i % 3 for i, name in enumerate("abcdefg")},
        fees=[(1.0, ["a", "b"])],
        exclude=["c"],
        class_weight="balanced",
        ridge=0.1,
    ),
    "cv": sl.BestSubsetClassifier(
        ridge=None, max_features=2, include=["e"], class_weight={"ill": 2.0}
    ),
}
both = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS.keys())


@both
def test_the_certificate_proves_the_model_for_the_problem(estimator, data):
    X, y = data
    weights = np.arange(len(y)) % 3 + 0.5
    model = estimator.fit(X, y, weights)
    problem = model.problem(X, y, weights)
    verdict = sl.verify(problem, model.certificate_)
    assert verdict.valid, verdict.reason
    assert verdict.lower_bound <= model.objective_ <= verdict.upper_bound * (1 + 1e-12)
    assert verdict.lower_bound == pytest.approx(model.lower_bound_, rel=1e-6)
    assert problem.objective(model.coef_[0], model.intercept_[0]) == model.objective_
    assert not sl.verify(model.problem(X, y), model.certificate_).valid
    assert sl.near_optimal(problem)[0].support == tuple(model.support_)
    assert sl.solve_path(problem)[-1].solution.support == tuple(model.support_)
    assert {s.predictor for s in sl.substitutes(problem)} <= set(model.support_)


@both
def test_the_data_are_not_kept(estimator, data):
    X, y = data
    features = X.copy()
    by_index = np.asfortranarray(X.to_numpy())
    plain = sl.BestSubsetClassifier(max_features=2).fit(by_index, y)
    model = estimator.fit(features, y)
    gone = [weakref.ref(features), weakref.ref(by_index)]
    del features, by_index
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
    assert model.solution_.prover is None
    assert plain.certificate_ is plain.solution_.certificate
    assert sl.verify(model.problem(X, y), model.certificate_).valid
    assert sl.verify(plain.problem(X.to_numpy(), y), plain.certificate_).valid


@both
def test_the_proof_is_pickled(estimator, data):
    X, y = data
    model = estimator.fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.certificate_ == model.certificate_
    assert sl.verify(copy.problem(X, y), copy.certificate_).valid


def test_a_detached_solution_is_the_same_solution(data):
    X, y = data
    solution = sl.solve(sl.SubsetProblem(X, y, ridge=0.1, max_features=2))
    detached = solution.detached()
    assert detached.prover is None
    assert detached.certificate == solution.certificate
    assert detached.objective == solution.objective
    assert detached.coef is solution.coef
    assert detached.detached().certificate is detached.certificate


def test_a_heuristic_proves_nothing(data):
    model = sl.BestSubsetClassifier(max_features=2, backend="forward").fit(*data)
    assert model.certificate_ is None


def test_the_ridge_is_known_after_fit_only(data):
    with pytest.raises(NotFittedError):
        sl.BestSubsetClassifier(ridge=None).problem(*data)
    for estimator in (sl.BestSubsetClassifier(), sl.BestSubsetClassifier(ridge=None)):
        with pytest.raises(NotFittedError):
            estimator.certificate_  # noqa: B018
        assert not hasattr(estimator, "certificate_")
    assert sl.BestSubsetClassifier(ridge=0.3).problem(*data).ridge == 0.3


def test_a_problem_of_bad_data(data):
    X, y = data
    with pytest.raises(ValueError, match="has missing values"):
        sl.BestSubsetClassifier().problem(X.mask(X < 0.1), y)
    with pytest.raises(sl.InvalidProblemError, match="class_weight: there is no class 'sick'"):
        sl.BestSubsetClassifier(class_weight={"sick": 2}).problem(X, y)
