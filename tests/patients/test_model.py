"""The estimator over a table: what it buys, in which units it speaks, and what it refuses."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from flat_options import prognostic_model
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, roc_auc_score

import shortlist as sl
from shortlist.cross_validation import search_ridges
from shortlist.patients import problem_of, verify_model

COSTS = {"age": 1, "marker": 10, "sex": 1, "stage": 3, "smoker": 1, "noise": 1}
EVERY_PREPROCESSING = pytest.mark.parametrize(
    "options",
    [
        {},
        {"spline_knots": 3},
        {"spline_knots": 5, "missing_indicator": True},
        {"missing_indicator": True},
    ],
)


def fit(patients, weights=None, **parameters):
    """A model of two predictors with a ridge of 1, unless the parameters say otherwise."""
    model = prognostic_model(**{"max_features": 2, "ridge": 1.0} | parameters)
    return model.fit(*patients, sample_weight=weights)


@EVERY_PREPROCESSING
def test_the_equation_and_the_matrix_of_the_problem_are_the_same_model(patients, options):
    table, y = patients
    # With equations, predictions of incomplete rows know the predictors bought only.
    model = fit(patients, max_features=4, ridge=0.3, imputation="median", **options)
    solution = model.solution_
    log_odds = model.problem(table, y).decision_function(solution.coef, solution.intercept)
    assert model.decision_function(table) == pytest.approx(log_odds, abs=1e-9)
    loss = log_loss(y, model.predict_proba(table), normalize=False, labels=model.classes_)
    penalty = 0.5 * 0.3 * solution.coef @ solution.coef
    assert loss + penalty == pytest.approx(model.objective_)
    model = fit(patients, max_features=4, ridge=0.3, **options)
    solution = model.solution_
    log_odds = model.problem(table, y).decision_function(solution.coef, solution.intercept)
    complete = table.notna().all(axis=1).to_numpy()
    assert 20 < complete.sum() < len(table)
    assert model.decision_function(table)[complete] == pytest.approx(log_odds[complete], abs=1e-9)


def test_limits_on_coefficients(patients):
    table, y = patients
    options = {"max_features": 3, "ridge": 0.3}
    free = fit(patients, **options)
    assert "age" in free.selected_features_  # raises the risk that the outcome is not "alive"
    signs = {"age": "negative", "smoker": "positive", "gone": "positive"}
    limits = {"signs": signs, "max_coefficient": {"stage": 0.4}}
    more = (table.assign(gone=1.0), y)
    model = fit(more, **options, **limits, exclude=["gone"])
    owner, coef = model.problem(*more).column_predictor, model.solution_.coef
    assert model.objective_ > free.objective_
    assert coef[owner == 0].tolist() == [0.0]
    assert np.abs(coef[owner == 3]).max() == 0.4
    by_name = {item.name: item for item in model.card_.candidates}
    assert by_name["age"].sign == "negative"
    assert by_name["smoker"].sign == "positive"
    assert by_name["stage"].max_coefficient == 0.4
    assert by_name["sex"].sign is by_name["sex"].max_coefficient is None
    # The card states the problem, limits included, so that a proof can be checked.
    assert problem_of(model.card_, table, y).digest == model.problem(*more).digest
    assert problem_of(free.card_, table, y).digest == free.problem(table, y).digest
    assert sl.ModelCard.model_validate_json(model.card_.model_dump_json()) == model.card_
    assert "sign" not in free.card_.model_dump_json()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"signs": {"stage": "positive"}}, "signs: 'stage' is a factor"),
        ({"signs": {"age": "positive"}, "spline_knots": 3}, "signs: 'age' is bent by a spline"),
        ({"signs": ["positive"]}, "signs: must be a mapping"),
        ({"signs": {"height": "positive"}}, "signs: there is no predictor 'height'"),
        ({"signs": {"age": "up"}}, "signs: the sign of age must be"),
        ({"max_coefficient": {"age": 0}}, "max_coefficient of age: must be greater than 0"),
    ],
)
def test_limits_on_coefficients_that_make_no_sense(patients, options, message):
    with pytest.raises(sl.InvalidProblemError, match=f"^{message}"):
        fit(patients, **options)


@EVERY_PREPROCESSING
def test_buys_the_selection_of_enumeration(patients, options):
    prices = {"budget": 6, "costs": COSTS, "fees": [(2, ["age", "sex"])], "max_features": None}
    model = fit(patients, **prices, **options)
    reference = fit(patients, **prices, **options, backend="enumeration")
    assert model.selected_features_ == reference.selected_features_
    assert model.objective_ == pytest.approx(reference.objective_, rel=1e-6)
    assert model.cost_ == reference.cost_ <= 6
    assert model.gap_ <= 1e-6
    assert [patients[0].columns[i] for i in model.support_] == model.selected_features_


def test_complete_numbers_are_a_best_subset_of_scaled_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(3, [1, 20, 300, 0.1], (90, 4)), columns=list("abcd"))
    y = (X["b"] / 20 + X["d"] * 10 + rng.logistic(size=90) > 33).astype(int)
    model = fit((X, y))
    scaled = (X - X.mean()) / (2 * X.std(ddof=0))
    reference = sl.BestSubsetClassifier(max_features=2, ridge=1.0).fit(scaled, y)
    assert model.selected_features_ == reference.selected_features_
    assert model.objective_ == pytest.approx(reference.objective_, rel=1e-9)
    assert model.predict_proba(X) == pytest.approx(reference.predict_proba(scaled), abs=1e-7)


def test_units_and_the_order_of_levels_do_not_matter(patients):
    table, y = patients
    other = table.assign(
        age=365.25 * table["age"] + 17, stage=table["stage"].map({"I": "z", "II": "k", "III": "a"})
    )
    first, second = (fit((X, y), max_features=3) for X in (table, other))
    assert first.selected_features_ == second.selected_features_
    assert first.objective_ == pytest.approx(second.objective_, rel=1e-9)
    assert first.predict_proba(table) == pytest.approx(second.predict_proba(other), abs=1e-6)


def test_truth_values_numbers_and_two_levels_are_the_same_predictor(patients):
    table, y = patients
    table = table.dropna()
    y = y[table.index]
    male = table["sex"] == "m"
    objectives = [
        fit((table.assign(sex=column), y), include=["sex"]).objective_
        for column in (table["sex"], male, male.astype(int), male.astype(float))
    ]
    assert objectives == pytest.approx([objectives[0]] * 4, rel=1e-9)


def test_coefficients_are_differences_of_log_odds(patients):
    model = fit(
        patients, max_features=None, include=list(COSTS), missing_indicator=True,
        imputation="median",
    )  # fmt: skip
    base = {"age": 50, "marker": 2.0, "sex": "f", "stage": "I", "smoker": False, "noise": 0.5}

    def log_odds(**changes):
        return model.decision_function(pd.DataFrame([base | changes]))[0]

    effects = model.coefficients_.set_index(["predictor", "contrast"])
    changes = {
        ("age", "per 10 units"): {"age": 60},
        ("stage", "III vs I"): {"stage": "III"},
        ("smoker", "1 vs 0"): {"smoker": True},
    }
    for key, change in changes.items():
        assert log_odds(**change) - log_odds() == pytest.approx(effects["coefficient"][key])
        assert np.exp(effects["coefficient"][key]) == pytest.approx(effects["odds_ratio"][key])
    [numeric] = [term for term in model.card_.terms if term.name == "age"]
    assert log_odds(age=None) - log_odds(age=numeric.fill) == pytest.approx(
        effects["coefficient"]["age", "missing"]
    )


@EVERY_PREPROCESSING
def test_a_row_without_any_value_has_a_prediction(patients, options):
    empty = pd.DataFrame([dict.fromkeys(COSTS)])
    assert 0 < fit(patients, max_features=6, **options).predict_proba(empty)[0, 1] < 1


def test_prediction_needs_only_the_columns_bought_in_any_order(patients):
    table, _ = patients
    model = fit(patients)
    bought = table[model.selected_features_[::-1]]
    assert np.array_equal(model.predict_proba(bought), model.predict_proba(table))
    with pytest.raises(sl.InvalidProblemError, match="needs the column"):
        model.predict(table.drop(columns=model.selected_features_[0]))


def test_an_unknown_level_counts_as_missing_and_is_told(patients):
    model = fit(patients, include=["stage"], max_features=1)
    new = pd.DataFrame({"stage": ["IV", None]})
    with pytest.warns(sl.ShortlistWarning, match="does not know 'IV'"):
        unknown, missing = model.decision_function(new)
    assert unknown == missing
    assert model.card_.imputed(new)["stage"].tolist() == [True, True]


def test_include_exclude_and_fees_go_by_column(patients):
    table, y = patients
    junk = table.assign(
        visit=pd.date_range("2020-01-01", periods=len(table)), code=[f"x{i}" for i in table.index]
    )
    model = fit(
        (junk, y),
        budget=12,
        costs=COSTS,  # none for columns that are excluded
        fees=[(5, ["marker", "visit"])],
        include=["noise"],
        exclude=["visit", "code", "age"],
    )
    assert "noise" in model.selected_features_
    assert not {"visit", "code", "age"} & set(model.selected_features_)
    assert model.card_.limits.exclude == ("age", "visit", "code")
    assert model.feature_names_in_.tolist() == list(junk.columns)


def test_tuning_fits_everything_inside_every_fold(patients):
    """Each score is that of a model fitted to the training rows alone, preprocessing and all."""
    table, y = patients
    shared = {"kinds": fit(patients).kinds_, "spline_knots": 3, "missing_indicator": True}
    folds = [(np.arange(50, 150), np.arange(50)), (np.arange(100), np.arange(100, 150))]
    model = fit(patients, **shared, ridge=None, ridges=(0.1, 3.0), cv=folds)
    for number, (train, test) in enumerate(folds):
        for position, ridge in enumerate((3.0, 0.1)):
            alone = fit((table.iloc[train], y.iloc[train]), **shared, ridge=ridge)
            score = -log_loss(y.iloc[test], alone.predict_proba(table.iloc[test]))
            assert model.cv_results_[f"split{number}_test_score"][position] == pytest.approx(score)
    assert model.ridge_ == model.cv_results_["ridge"][model.cv_results_["mean_test_score"].argmax()]
    assert model.card_.search.folds == 2
    alone = fit(patients, **shared, ridge=model.ridge_)
    assert alone.objective_ == pytest.approx(model.objective_)


def test_a_level_that_only_a_test_fold_has_is_no_obstacle(patients):
    table, y = patients
    rare = table.assign(stage=table["stage"].where(table.index >= 3, "rare"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit((rare, y), ridge=None, cv=3)
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()


@EVERY_PREPROCESSING
def test_columns_that_are_empty_in_a_training_fold_are_no_obstacle(patients, options):
    table, y = patients
    train, test = np.arange(75), np.arange(75, 150)
    table = table.copy()
    table.loc[train, ["marker", "stage", "smoker"]] = np.nan
    model = fit((table, y), ridge=None, cv=[(train, test)], **options)
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()


@pytest.mark.slow  # other processes have to start
def test_jobs_and_repetition_change_nothing(patients):
    first, second = (fit(patients, ridge=None, n_jobs=n) for n in (None, 2))
    assert first.card_ == second.card_
    other_seed = fit(patients, ridge=None, random_state=1)
    assert first.card_.search.tuning != other_seed.card_.search.tuning


def test_persons_stay_together(patients, monkeypatch):
    table, y = patients
    persons = np.arange(len(y)) // 5
    seen = []

    def recorded(ridges, folds, *rest):
        seen.extend(folds)
        return search_ridges(ridges, folds, *rest)

    monkeypatch.setattr("shortlist.patients.model.search_ridges", recorded)
    sl.PrognosticModel(max_features=1, tuning=sl.Tuning(cv=3, n_repeats=2)).fit(
        table, y, persons=persons
    )
    assert len(seen) == 6
    for train, test in seen:
        assert not set(persons[train]) & set(persons[test])
    with pytest.raises(sl.InvalidProblemError, match="persons: expected 150 values"):
        sl.PrognosticModel(max_features=1).fit(table, y, persons=persons[:10])


def test_a_limit_is_told(patients):
    with pytest.warns(ConvergenceWarning, match="node_limit"):
        model = fit(patients, backend="enumeration", node_limit=2)
    assert model.card_.search.status == "node_limit"


def test_progress_is_announced(patients):
    words = []
    sl.PrognosticModel(max_features=2, tuning=sl.Tuning(cv=3, n_repeats=1)).fit(
        *patients, announce=words.append
    )
    assert "Choosing the ridge: fold 2 of 3" in words


def test_clone_and_pickle(patients):
    model = fit(patients, spline_knots=4)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict_proba(patients[0]), model.predict_proba(patients[0]))
    assert clone(model).fit(*patients).card_ == model.card_


def test_columns_of_one_value_cannot_be_bought(patients):
    table, y = patients
    table = table.assign(hospital="A", empty=np.nan, version=3.0)
    with pytest.warns(sl.ShortlistWarning, match="'hospital', 'empty', 'version' cannot be bought"):
        model = fit((table, y), max_features=None)
    assert model.selected_features_ == list(COSTS)
    with pytest.raises(sl.InvalidProblemError, match="include: 'hospital' has the same value"):
        fit((table, y), include=["hospital"])


def wrong_inputs(table, y):
    text = table["marker"].astype(object)
    text[4] = "high"
    yield "most values are", table.assign(marker=text), y, {}
    yield "infinite or too large", table.assign(marker=np.inf), y, {}
    yield "too large to compute", table.assign(marker=1e200), y, {}
    yield "too large to compute", table.assign(marker=[10**400, *range(149)]), y, {}
    yield "neither numbers nor text", table.assign(noise=[{} for _ in y]), y, {}
    dates = table.assign(noise=pd.Timestamp("2020-01-01"))
    yield "dates such as '2020-01-01'; make n", dates, y, {}
    yield "dates such as '1.2.2020'", table.assign(noise="1.2.2020"), y, {}
    yield "dates such as '3/12/98'", table.assign(noise=["3/12/98", None] * 75), y, {}
    yield "dates such as '12-Mar-2020 10:15'", table.assign(noise="12-Mar-2020 10:15"), y, {}
    yield "positive: 'ill' is not a value of y; use alive or dead", table, y, {"positive": "ill"}
    yield "different texts", table.assign(noise=[f"id{i}" for i in range(len(y))]), y, {}
    yield "two columns are named 'age'", pd.concat([table, table[["age"]]], axis=1), y, {}
    yield "must be text", table.rename(columns={"age": 3}), y, {}
    yield "y has 3 classes", table, ["a", "b", "c"] * 50, {}
    yield "only 1 class", table, ["a"] * 150, {}
    yield "1 row has no outcome, the first is row 1", table, [None, *y[1:]], {}
    yield "expected 150 outcomes", table, y[:10], {}
    yield "is not a number", table, y, {"kinds": {"sex": "numeric"}}
    yield "neither 0 nor 1", table, y, {"kinds": {"age": "boolean"}}
    yield "kinds: there is no column", table, y, {"kinds": {"agee": "numeric"}}
    yield "must be one of", table, y, {"kinds": {"age": "ordinal"}}
    yield "include: there is no column", table, y, {"include": ["agee"]}
    yield "exclude: expected a list", table, y, {"exclude": "age"}
    yield "no predictor is left", table, y, {"exclude": list(table.columns)}
    yield "no cost for 'noise'", table, y, {"costs": dict(list(COSTS.items())[:-1])}
    yield "there is no predictor 'chol'", table, y, {"costs": COSTS | {"chol": 1}}
    yield "must be a mapping", table, y, {"costs": [1, 2, 3]}
    yield "fees", table, y, {"fees": [(1, ["chol"])]}
    yield "fees", table, y, {"fees": [3]}
    yield "spline_knots", table, y, {"spline_knots": 7}
    yield "ridge: must be greater than 0", table, y, {"ridge": 0}
    yield "ridges", table, y, {"ridge": None, "ridges": ()}
    yield "ridge: cannot be chosen", table, y, {"ridge": None, "cv": 1}
    apart = [(np.flatnonzero(y == "dead"), np.flatnonzero(y == "alive"))]
    yield "one outcome only", table, y, {"ridge": None, "cv": apart}
    yield "cv: .* cannot split the rows", table, y, {"ridge": None, "cv": "five"}


def test_wrong_input_is_told_in_one_sentence(patients):
    table, y = patients
    for message, X, outcome, parameters in wrong_inputs(table, y):
        model = prognostic_model(**{"max_features": 2, "ridge": 1.0} | parameters)
        with pytest.raises(sl.InvalidProblemError, match=message) as caught:
            model.fit(X, outcome)
        assert "\n" not in str(caught.value), message
        assert not hasattr(model, "card_")


def test_text_that_holds_numbers_is_numbers(patients):
    table, y = patients
    written = table.assign(marker=table["marker"].map(lambda v: None if pd.isna(v) else repr(v)))
    first, second = (fit((X, y)) for X in (table, written))
    assert first.card_.terms == second.card_.terms


@pytest.mark.parametrize(
    "dtypes",
    [
        {"age": "Int64", "marker": "Float64", "sex": "string", "smoker": "boolean"},
        {"age": "category", "sex": "category", "stage": "category"},
        {"age": "float64[pyarrow]", "sex": "string[pyarrow]", "smoker": "bool[pyarrow]"},
        {"age": object, "marker": object, "sex": object, "smoker": object},
    ],
    ids=str,
)
def test_types_of_pandas_do_not_matter(patients, dtypes):
    table, y = patients
    other = table.astype(dtypes)
    first, second = (fit((X, y), kinds={"age": "numeric"}) for X in (table, other))
    assert first.card_ == second.card_
    assert np.array_equal(first.predict_proba(table), second.predict_proba(other))


def test_a_budget_that_buys_nothing(patients):
    table, y = patients
    with pytest.warns(sl.ShortlistWarning, match="intercept alone"):
        model = fit(patients, budget=0.5)
    assert model.selected_features_ == []
    assert model.predict_proba(table)[:, 1] == pytest.approx(np.mean(y == "dead"))
    assert model.card_.imputed(table).shape == (150, 0)


def test_hash_knows_values_not_types(patients):
    table, y = patients
    hashes = [
        fit((X, outcome)).card_.data.sha256
        for X, outcome in (
            (table, y),
            (table.astype({"sex": "category"}), y == "dead"),
            (table.assign(noise=table["noise"] + 1e-12), y),
            (table, np.where(y == "dead", "alive", "dead")),
        )
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_all_columns_that_cannot_be_used_are_named_at_once(patients):
    table, y = patients
    table = table.assign(pid=[f"p{i}" for i in range(150)], visit="2020-01-02", birth="1.2.1950")
    with pytest.raises(sl.InvalidProblemError) as caught:
        fit((table, y))
    message = str(caught.value)
    assert message.startswith("3 columns cannot be used as they are; column 'pid': has 150 diff")
    assert "'visit': holds dates" in message and "'birth': holds dates" in message
    assert message.endswith("to leave all of them out, exclude pid,visit,birth.")
    fit((table, y), exclude=["pid", "visit", "birth"])
    kinds = {"visit": "categorical", "birth": "categorical"}
    with pytest.warns(sl.ShortlistWarning, match="cannot be bought: the same value"):
        fit((table, y), exclude=["pid"], kinds=kinds)


def test_the_event_is_the_obvious_value_or_the_one_that_is_named(patients):
    table, fate = patients
    for words in (["live", "die"], ["nein", "ja"], ["no", "yes"], [0, 1], [False, True], [-1, 1]):
        y = pd.Series(np.where(fate == "dead", words[1], words[0]))
        model = fit((table, y))
        assert model.event_ == words[1]
        assert model.card_.outcome.event == str(words[1])
        assert model.classes_.tolist() == sorted(words)
        risk = model.predict_proba(table)[:, sorted(words).index(words[1])]
        assert np.allclose(risk, model.card_.probability(table), rtol=1e-12)
        auc = roc_auc_score(y == words[1], model.card_.log_odds(table))
        assert auc > 0.6
    turned, model = fit(patients, positive="alive"), fit(patients)
    assert model.event_ == "dead" and turned.event_ == "alive"
    assert np.allclose(turned.card_.log_odds(table), -model.card_.log_odds(table), atol=1e-9)
    assert np.allclose(turned.predict_proba(table), model.predict_proba(table), atol=1e-9)
    assert turned.predict(table).tolist() == model.predict(table).tolist()


def test_an_event_that_is_not_obvious_is_told(patients):
    table, fate = patients
    y = np.where(fate == "dead", 1, 2)
    with pytest.warns(sl.ShortlistWarning, match="'2' is taken for the event, as the last"):
        model = fit((table, y))
    assert model.card_.outcome.event == "2"
    assert fit((table, y), positive=1).event_ == 1


def test_the_ridge_is_tuned_for_the_event(patients):
    """A score that treats the classes differently has to know which is the event."""
    scores, turned = (
        fit(patients, ridge=None, scoring="average_precision", cv=2, positive=event).cv_results_
        for event in ("dead", "alive")
    )
    assert (turned["mean_test_score"] != scores["mean_test_score"]).all()


def test_polars_keeps_its_names(patients):
    polars = pytest.importorskip("polars")
    table, y = patients
    frame = polars.DataFrame(
        {name: [None if pd.isna(v) else v for v in column] for name, column in table.items()}
    )
    model, other = fit(patients), fit((frame, polars.Series(y.tolist())))
    assert other.feature_names_in_.tolist() == list(table.columns)
    assert other.selected_features_ == model.selected_features_
    assert np.array_equal(other.predict_proba(frame), model.predict_proba(table))
    bought = frame.select(reversed(model.selected_features_))
    assert np.array_equal(other.predict_proba(bought), model.predict_proba(table))


def test_a_table_without_names_needs_all_columns():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)))
    model = fit((table, [0, 1] * 20), max_features=1)
    assert np.array_equal(model.predict_proba(table), model.predict_proba(table.to_numpy()))
    for fewer in (table[[0, 1]], table[[0, 1]].to_numpy()):
        with pytest.raises(ValueError, match="X has 2 features"):
            model.predict(fewer)


def test_a_weight_counts_as_copies_of_a_row(patients):
    table, y = patients
    table = table.dropna().reset_index(drop=True)  # medians and levels do not know weights
    y = y.iloc[: len(table)].reset_index(drop=True)
    weights = np.random.default_rng(0).integers(0, 4, len(table))
    rows = np.repeat(np.arange(len(table)), weights)
    model = fit((table, y), weights)
    weighted, certificate = model.card_, model.certificate_
    copied = fit((table.iloc[rows], y.iloc[rows])).card_
    assert [term.name for term in weighted.terms] == [term.name for term in copied.terms]
    assert np.allclose(weighted.log_odds(table), copied.log_odds(table), atol=1e-7)
    events = (y == "dead").astype(int)
    assert verify_model(weighted, certificate, table, events, weights).valid
    assert not verify_model(weighted, certificate, table, events).valid
    with pytest.raises(sl.InvalidProblemError, match="sample_weight: expected"):
        fit((table, y), [1.0])


def test_a_column_that_varies_only_in_rows_without_weight_can_be_proven(patients):
    table, y = patients
    weights = np.where(np.arange(len(table)) > 0, 1.0, 0.0)
    table = table.assign(site=np.where(weights > 0, "A", "B"))
    model = fit((table, y), weights)
    events = (y == "dead").astype(int)
    assert verify_model(model.card_, model.certificate_, table, events, weights).valid


def test_weights_and_groups_reach_the_folds(patients):
    table, y = patients
    persons = np.arange(150) // 3
    model = sl.PrognosticModel(max_features=2, tuning=sl.Tuning(ridges=(1.0, 0.1), cv=3))
    by_persons = clone(model).fit(table, y, persons=persons).cv_results_["mean_test_score"]
    by_groups = clone(model).fit(table, y, groups=persons).cv_results_["mean_test_score"]
    assert np.array_equal(by_persons, by_groups)
    with pytest.raises(sl.InvalidProblemError, match="groups: means the same as persons"):
        clone(model).fit(table, y, persons, groups=persons)
    weights = np.where(np.arange(150) < 100, 1.0, 0.0)
    scores = clone(model).fit(table, y, groups=persons, sample_weight=weights).cv_results_
    alone = clone(model).fit(table[:100], y[:100], groups=persons[:100]).cv_results_
    assert np.allclose(scores["mean_test_score"], alone["mean_test_score"], rtol=1e-9)


def test_weaker_ridges_are_left_out_once_the_score_falls():
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.normal(size=(90, 30))).add_prefix("x")
    y = (table["x0"] + rng.logistic(size=90) > 0).astype(int)
    tuning = sl.Tuning(ridges=(30.0, 10.0, 1.0, 0.1, 0.01, 0.001), n_repeats=2)
    card = sl.PrognosticModel(max_features=12, tuning=tuning).fit(table, y).card_
    tried = card.search.tried
    assert (*tried, *card.search.untried) == tuning.ridges
    assert 0.001 in card.search.untried and card.search.ridge in tried
    # Each that was tried has the score of all rounds, and no later one would have won.
    alone = sl.Tuning(ridges=tuning.ridges[-3:], n_repeats=2)
    rest = sl.PrognosticModel(max_features=12, tuning=alone).fit(table, y).card_.search
    best = max(entry.score for entry in card.search.tuning if entry.score is not None)
    assert max(entry.score for entry in rest.tuning) < best
