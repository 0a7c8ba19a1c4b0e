"""Missing values are what the other predictors lead to expect."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import LinearRegression

import shortlist as sl
from shortlist.evaluation import evaluate_resample
from shortlist.evaluation.resampling import draw, scorable_folds
from shortlist.patients.column import mend
from shortlist.patients.imputation import fit_equation
from shortlist.report.validation import make_experiment

pytestmark = pytest.mark.filterwarnings("ignore::shortlist.ShortlistWarning")
N = 400


@pytest.fixture(scope="module")
def gaps():
    """Correlated columns of every kind with a fifth of the values missing, and outcomes."""
    rng = np.random.default_rng(7)
    size = rng.normal(size=N)
    full = pd.DataFrame(
        {
            "age": (60 + 10 * size + rng.normal(0, 4, N)).round(1),
            "weight": (80 + 8 * size + rng.normal(0, 4, N)).round(1),
            "smoker": (size + rng.normal(size=N) > 0).astype(float),
            "stage": np.where(size + rng.normal(size=N) > 0.5, "II", "I"),
            "noise": rng.normal(size=N),
        }
    )
    y = (size + 0.5 * full["smoker"] + rng.logistic(size=N) > 0.5).astype(int)
    table = full.mask(rng.random(full.shape) < 0.2)
    return table, y, full


def fit(gaps, **options):
    table, y, _ = gaps
    return sl.PrognosticModel(**{"max_features": 3, "ridge": 1.0} | options).fit(table, y)


def test_a_code_for_missing_values_is_no_synonym():
    column = mend(pd.Series(["x", "9", "a"]), ["9"], {"9": "a", "x": "b"})
    assert column.isna().tolist() == [False, True, False]
    assert column[0] == "b"


def test_an_equation_is_nearly_that_of_least_squares():
    rng = np.random.default_rng(0)
    x, z = rng.normal(5, 2, 2000), rng.integers(0, 2, 2000).astype(float)
    values = 3 + 2 * x - 4 * z + rng.normal(size=2000)
    gappy = np.where(rng.random(2000) < 0.3, np.nan, values)
    inputs = {"x": {None: x}, "z": {"no": 1 - z, "yes": z}, "own": {None: values}}
    equation = fit_equation("own", gappy, inputs)
    known = ~np.isnan(gappy)
    expected = LinearRegression().fit(np.column_stack([x, z])[known], gappy[known])
    found = equation.values(inputs)
    inside = np.clip(expected.predict(np.column_stack([x, z])), np.nanmin(gappy), np.nanmax(gappy))
    assert np.abs(found - inside).max() < 0.01
    assert {part.predictor for part in equation.weights} == {"x", "z"}  # never from itself
    far = {"x": {None: np.array([1e9])}, "z": {"no": np.ones(1), "yes": np.zeros(1)}}
    assert equation.values(far)[0] == np.nanmax(gappy)


@pytest.mark.parametrize(
    ("values", "inputs"),
    [
        (np.r_[np.arange(19.0), [np.nan] * 50], {"x": {None: np.arange(69.0)}}),
        (np.r_[np.arange(60.0), [np.nan] * 9], {"x": {None: np.ones(69)}}),
        (np.r_[np.arange(60.0), [np.nan] * 9], {}),
        (np.r_[np.ones(60), [np.nan] * 9], {"x": {None: np.arange(69.0)}}),
    ],
    ids=["few values", "constant input", "no input", "constant"],
)
def test_without_information_there_is_no_equation(values, inputs):
    assert fit_equation("own", values, inputs) is None


def test_imputed_values_are_closer_to_the_truth_than_medians(gaps):
    table, _, full = gaps
    model = fit(gaps, include=["age", "weight", "smoker"])
    (age,) = [term for term in model.card_.terms if term.name == "age"]
    inputs = {
        term.name: term.inputs(table[term.name]) for term in model.card_.terms if term.name != "age"
    }
    gone = table["age"].isna().to_numpy()
    truth = full["age"].to_numpy()[gone]
    error = np.abs(age.imputation.values(inputs)[gone] - truth).mean()
    assert error < 0.8 * np.abs(age.fill - truth).mean()


def test_predictions_need_nothing_but_what_was_bought(gaps):
    table, y, _ = gaps
    model = fit(gaps)
    card = model.card_
    bought = [term.name for term in card.terms]
    used = {w.predictor for t in card.terms if t.imputation for w in t.imputation.weights}
    assert used and used <= set(bought) < set(table.columns)
    alone = card.log_odds(table[bought])
    assert np.array_equal(alone, card.log_odds(table))
    problem, solution = model.problem(table, y), model.solution_
    fitted = problem.decision_function(solution.coef, solution.intercept)
    complete = table.notna().all(axis=1).to_numpy()
    assert alone[complete] == pytest.approx(fitted[complete], abs=1e-9)
    assert np.abs(alone - fitted).max() > 1e-3  # other candidates tell the search more
    assert np.corrcoef(alone, fitted)[0, 1] > 0.95


def test_medians_are_there_on_request_and_in_old_files(gaps, tmp_path):
    table, _, _ = gaps
    card = fit(gaps, imputation="median").card_
    assert all(term.imputation is None for term in card.terms)
    medians = {t.name: t.typical for t in card.terms}
    filled = table.fillna(medians)
    assert card.log_odds(table) == pytest.approx(card.log_odds(filled))
    content = json.loads(card.model_dump_json())
    del content["preprocessing"]["imputation"]  # as files were before there were equations
    for term in content["terms"]:
        del term["imputation"]
    (tmp_path / "old.json").write_text(json.dumps(content))
    old = sl.ModelCard.load(tmp_path / "old.json")
    assert np.array_equal(old.log_odds(table), card.log_odds(table))
    with pytest.raises(sl.InvalidProblemError, match="imputation: must be 'conditional'"):
        fit(gaps, imputation="mean")


@pytest.mark.parametrize("change", ["itself", "unknown", "level"])
def test_a_file_whose_equation_uses_what_the_model_lacks_is_refused(gaps, tmp_path, change):
    content = json.loads(fit(gaps).card_.model_dump_json())
    term = next(t for t in content["terms"] if t["imputation"])
    part = term["imputation"]["weights"][0]
    if change == "level":
        part["level"] = "IX"
    else:
        part["predictor"] = term["name"] if change == "itself" else "fever"
    (tmp_path / "m.json").write_text(json.dumps(content))
    with pytest.raises(sl.InvalidFileError, match="uses what the model lacks"):
        sl.ModelCard.load(tmp_path / "m.json")


def test_resamples_predict_as_a_model_fitted_to_their_rows_would(gaps):
    table, y, _ = gaps
    model = fit(gaps)
    experiment = make_experiment(model, table, y, None, 0)
    found = expit(np.array(evaluate_resample(experiment, 0)["log_odds"], dtype=float))
    sample, rng = draw(experiment, 0)
    for train, test in scorable_folds(experiment, sample, rng):
        rows = train.copies
        again = sl.PrognosticModel(max_features=3, ridge=1.0).fit(table.iloc[rows], y.iloc[rows])
        expected = again.card_.probability(table.iloc[test.rows])
        assert found[test.rows] == pytest.approx(expected, abs=1e-9)
        break
