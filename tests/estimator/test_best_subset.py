"""The classifier: its attributes, its place among scikit-learn's tools, and its errors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import shortlist as sl


def test_attributes_are_those_of_the_solution(data):
    X, y = data
    costs = {"a": 1, "b": 2, "c": 1, "d": 2, "e": 3, "f": 1, "g": 1}
    fees = [(1, ["b", "e"])]
    model = sl.BestSubsetClassifier(budget=6, costs=costs, fees=fees, ridge=0.1).fit(X, y)
    problem = sl.SubsetProblem(X, y, ridge=0.1, budget=6, costs=costs, fees=fees)
    solution = sl.solve(problem)
    assert model.support_.tolist() == list(solution.support)
    assert model.selected_features_ == [X.columns[g] for g in solution.support]
    assert model.cost_ == solution.cost == problem.limits.cost_of(solution.support)
    assert model.objective_ == solution.objective
    assert model.lower_bound_ == solution.lower_bound
    assert model.gap_ == solution.gap <= 1e-6
    assert model.status_ is sl.Status.OPTIMAL
    assert model.solution_.support == solution.support
    assert model.coef_.shape == (1, 7)
    assert model.intercept_.shape == (1,)
    assert np.flatnonzero(model.coef_[0]).tolist() == list(solution.support)
    assert model.classes_.tolist() == ["healthy", "ill"]
    assert model.n_features_in_ == 7
    assert model.feature_names_in_.tolist() == list("abcdefg")


def test_predictions_are_those_of_the_coefficients(data):
    X, y = data
    model = sl.BestSubsetClassifier(max_features=2).fit(X, y)
    log_odds = X.to_numpy() @ model.coef_[0] + model.intercept_[0]
    assert model.decision_function(X) == pytest.approx(log_odds, rel=1e-12)
    probabilities = model.predict_proba(X)
    assert probabilities[:, 1] == pytest.approx(expit(log_odds), rel=1e-12)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert (model.predict(X) == np.where(log_odds > 0, "ill", "healthy")).all()
    assert model.predict_log_proba(X) == pytest.approx(np.log(probabilities), rel=1e-9)


def test_log_probabilities_do_not_underflow():
    model = sl.BestSubsetClassifier(ridge=1e-6).fit([[0.0], [1.0]], [0, 1])
    far = model.predict_log_proba([[1e4]])
    assert np.isfinite(far).all()
    assert far[0, 0] < -1000


def test_finds_the_columns_that_matter_with_and_without_names(data):
    X, y = data
    model = sl.BestSubsetClassifier(max_features=3).fit(X, y)
    assert model.selected_features_ == ["b", "d", "e"]
    assert model.score(X, y) > 0.75
    model.fit(X.to_numpy(), y)
    assert model.selected_features_ == ["x1", "x3", "x4"]
    assert not hasattr(model, "feature_names_in_")


def test_transform_takes_all_columns_of_the_predictors_bought(data):
    X, y = data
    groups = ["lab", "history", "lab", "history", "age", "sex", "sex"]
    model = sl.BestSubsetClassifier(max_features=2, groups=groups, exclude=["lab"]).fit(X, y)
    assert model.selected_features_ == ["history", "age"]
    assert model.support_.tolist() == [1, 2]
    assert model.get_support().tolist() == [False, True, False, True, True, False, False]
    assert model.get_support(indices=True).tolist() == [1, 3, 4]
    assert model.get_feature_names_out().tolist() == ["b", "d", "e"]
    assert np.array_equal(model.transform(X), X[["b", "d", "e"]])
    restored = model.inverse_transform(model.transform(X))
    assert np.array_equal(restored[:, [1, 3, 4]], X[["b", "d", "e"]])
    assert not restored[:, [0, 2, 5, 6]].any()
    as_frame = clone(model).set_output(transform="pandas").fit(X, y).transform(X)
    assert list(as_frame.columns) == ["b", "d", "e"]


def test_a_column_of_coefficient_zero_is_still_a_column_bought(data):
    X, y = data
    model = sl.BestSubsetClassifier(include=["h"], max_features=1).fit(X.assign(h=0.0), y)
    assert model.selected_features_ == ["h"]
    assert not model.coef_.any()
    assert model.get_support(indices=True).tolist() == [7]


def test_pipeline_and_grid_search(data):
    X, y = data
    pipeline = make_pipeline(MinMaxScaler(), sl.BestSubsetClassifier())
    grid = {"bestsubsetclassifier__max_features": [1, 3], "bestsubsetclassifier__ridge": [1.0, 0.1]}
    search = GridSearchCV(pipeline, grid, cv=3, scoring="roc_auc").fit(X, y)
    assert search.best_params_["bestsubsetclassifier__max_features"] == 3
    assert search.predict_proba(X).shape == (120, 2)
    assert (cross_val_score(pipeline, X, y, scoring="roc_auc", cv=3) > 0.7).all()
    selector = make_pipeline(sl.BestSubsetClassifier(max_features=2), LogisticRegression())
    assert selector.fit(X, y)[-1].n_features_in_ == 2


def test_clone_and_parameters(data):
    X, y = data
    costs, fees = dict.fromkeys(X.columns, 1.0), [(2.0, ["a", "b"])]
    model = sl.BestSubsetClassifier(budget=4, costs=costs, fees=fees, include=["c"])
    before = model.get_params()
    model.fit(X, y)
    assert model.get_params() == before
    assert model.costs is costs
    assert model.fees is fees
    copy = clone(model)
    assert copy.get_params() == before
    assert not hasattr(copy, "coef_")
    assert copy.fit(X, y).coef_.tolist() == model.coef_.tolist()
    pickled = pickle.loads(pickle.dumps(model))
    assert np.array_equal(pickled.predict_proba(X), model.predict_proba(X))
    assert pickled.status_ is sl.Status.OPTIMAL
    assert pickled.solution_.support == model.solution_.support


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (2.0, 7.0), (False, True), ("a", "b")])
def test_any_two_labels(data, labels):
    X, y = data
    model = sl.BestSubsetClassifier(max_features=2).fit(X, np.where(y == "ill", *labels[::-1]))
    assert model.classes_.tolist() == list(labels)
    assert set(model.predict(X)) == set(labels)
    reference = sl.BestSubsetClassifier(max_features=2).fit(X, y)
    assert np.array_equal(model.coef_, reference.coef_)


def test_three_classes():
    message = r"Only binary .*, but y has 3 classes; select"
    with pytest.raises(sl.InvalidProblemError, match=message):
        sl.BestSubsetClassifier().fit(np.eye(3), ["a", "b", "c"])


WEIGHT = "class_weight: the weight of 'ill' must"
BAD = [
    ({"ridge": 0}, "ridge: must be greater than 0"),
    ({"costs": [1, 2]}, "costs: expected 7 values"),
    ({"include": ["z"]}, "include: there is no predictor 'z'"),
    ({"backend": "magic"}, "backend: there is no 'magic'"),
    ({"time_limit": -1}, "time_limit: must be"),
    ({"threads": 0}, "threads: must be"),
    ({"signs": "up"}, "signs: the sign of"),
    ({"loss": "exponential"}, "loss: must be one of"),
    ({"class_weight": "even"}, "class_weight: must be 'balanced', a dict"),
    ({"class_weight": {"dead": 2}}, "class_weight: there is no class 'dead'"),
    ({"class_weight": {"ill": 0}}, WEIGHT),
    ({"class_weight": {"ill": np.nan}}, WEIGHT),
    ({"class_weight": {"ill": "2"}}, WEIGHT),
    *(
        ({"ridge": None, "ridges": ridges}, "ridges: must be a sequence of numbers greater than 0")
        for ridges in ((), (0.1, 0.0), (0.1, -1.0), (np.nan,), ("a",), 0.1, (np.inf,))
    ),
]


@pytest.mark.parametrize(("parameters", "expected"), BAD)
def test_a_failed_fit_leaves_the_estimator_as_it_was(data, parameters, expected):
    X, y = data
    model = sl.BestSubsetClassifier(**parameters)
    with pytest.raises(sl.InvalidProblemError) as caught:
        model.fit(X, y)
    assert str(caught.value).startswith(expected)
    assert vars(model).keys() == vars(sl.BestSubsetClassifier()).keys()


def test_a_failed_second_fit_keeps_the_first(data):
    X, y = data
    model = sl.BestSubsetClassifier(max_features=2).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError):
        model.fit(X[["a", "b", "c"]], np.full(len(y), "ill"))
    assert np.array_equal(model.predict_proba(X), before)


def test_limits_warn_and_never_claim_optimality(data):
    X, y = data
    model = sl.BestSubsetClassifier(max_features=3, backend="enumeration", node_limit=2)
    with pytest.warns(ConvergenceWarning, match="'node_limit' and a gap of 1, so a better") as seen:
        model.fit(X, y)
    assert seen[0].filename == __file__
    assert model.status_ is sl.Status.NODE_LIMIT
    assert model.gap_ == 1


def test_an_interrupt_ends_the_fit(data, monkeypatch):
    X, y = data

    def interrupted(*arguments, **options):
        found = sl.solve(sl.SubsetProblem([[0], [1]], [0, 1], ridge=1), "enumeration")
        return type(found)(**{**vars(found), "status": sl.Status.INTERRUPTED})

    monkeypatch.setattr("shortlist.estimator.selection.solve", interrupted)
    model = sl.BestSubsetClassifier()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_sparse_is_dense(data):
    X, y = data
    holes = X.where(X > 0.5, 0.0).to_numpy()
    dense = sl.BestSubsetClassifier(max_features=3).fit(holes, y)
    for container in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        model = sl.BestSubsetClassifier(max_features=3).fit(container(holes), y)
        assert np.array_equal(model.coef_, dense.coef_)
        assert model.predict_proba(container(holes)) == pytest.approx(dense.predict_proba(holes))


def test_balanced_classes_weigh_the_same(data):
    X, y = data
    keep = np.flatnonzero((y == "ill") | (np.arange(len(y)) % 3 == 0))
    X, y = X.iloc[keep], y[keep]
    n_ill, n_healthy = (y == "ill").sum(), (y == "healthy").sum()
    by_hand = {"ill": len(y) / (2 * n_ill), "healthy": len(y) / (2 * n_healthy)}
    balanced = sl.BestSubsetClassifier(max_features=2, class_weight="balanced").fit(X, y)
    explicit = sl.BestSubsetClassifier(max_features=2, class_weight=by_hand).fit(X, y)
    assert balanced.coef_ == pytest.approx(explicit.coef_, rel=1e-9)
    # At the optimum of a free intercept the mean probability is the share of the positive weight.
    weights = np.where(y == "ill", by_hand["ill"], by_hand["healthy"])
    mean = np.average(balanced.predict_proba(X)[:, 1], weights=weights)
    assert mean == pytest.approx(0.5, abs=1e-6)


def test_class_weights_multiply_sample_weights(data):
    X, y = data
    rng = np.random.default_rng(0)
    sample_weight = rng.integers(1, 4, len(y)).astype(float)
    model = sl.BestSubsetClassifier(max_features=2, class_weight={"ill": 3})
    model.fit(X, y, sample_weight=sample_weight)
    product = sample_weight * np.where(y == "ill", 3, 1)
    reference = sl.BestSubsetClassifier(max_features=2).fit(X, y, sample_weight=product)
    assert np.array_equal(model.coef_, reference.coef_)


def test_prediction_wants_the_names_of_the_fit(data):
    X, y = data
    model = sl.BestSubsetClassifier(max_features=2).fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[list("gfedcba")])


def test_limits_on_coefficients(data):
    X, y = data
    free = sl.BestSubsetClassifier(max_features=2).fit(X, y)
    first = free.selected_features_[0]
    sign = "negative" if free.coef_[0, free.support_[0]] > 0 else "positive"
    limits = {"max_coefficient": 0.5, "signs": {first: sign}}
    model = sl.BestSubsetClassifier(max_features=2, **limits).fit(X, y)
    assert np.abs(model.coef_).max() == 0.5
    assert model.coef_[0, free.support_[0]] == 0
    assert model.objective_ > free.objective_
    assert model.problem(X, y).limits.has_intervals
    chosen = sl.BestSubsetClassifier(ridge=None, max_features=2, **limits).fit(X, y)
    assert np.abs(chosen.coef_).max() <= 0.5


def test_a_heuristic_backend_needs_no_warning(data, recwarn):
    X, y = data
    model = sl.BestSubsetClassifier(max_features=3, backend="forward").fit(X, y)
    assert model.status_ is sl.Status.HEURISTIC
    assert len(model.support_) == 3
    sl.BestSubsetClassifier(ridge=None, max_features=3, backend="forward").fit(X, y)
    assert not [w for w in recwarn if issubclass(w.category, ConvergenceWarning)]


@pytest.mark.parametrize(
    ("change", "options", "told"),
    [
        (lambda X, y: (X.assign(a=1000 * X["a"]), y), {}, "X: the values of a spread over "),
        (lambda X, y: (X, np.where(y == "ill", "sick", "well")), {}, "y: 'well' comes last in"),
        (lambda X, y: (X, y), {"ridge": None, "ridges": (9.0, 8.0)}, "ridge: "),
        (lambda X, y: (X, np.where(y == "ill", 1, 0)), {}, None),
    ],
)
def test_scales_classes_and_ridges_that_mislead_are_told(data, recwarn, change, options, told):
    sl.BestSubsetClassifier(max_features=2, **options).fit(*change(*data))
    messages = [str(warning.message) for warning in recwarn]
    assert len(messages) == (told is not None)
    assert told is None or messages[0].startswith(told)


@pytest.mark.parametrize(("value", "what"), [("m", "text"), (None, "missing values")])
def test_a_table_without_numbers_is_refused_by_its_column(value, what):
    table = pd.DataFrame({"age": [40.0, 50.0, 60.0, 70.0], "sex": [0, 1, 1, value]})
    with pytest.raises(sl.InvalidProblemError) as refusal:
        sl.BestSubsetClassifier(max_features=1, ridge=1.0).fit(table, [0, 1, 0, 1])
    assert str(refusal.value) == f"X: column 'sex' has {what}; PrognosticModel takes such columns."
