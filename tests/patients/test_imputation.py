"""Missing values are imputed from the other predictors."""

import json

import numpy as np
import pandas as pd
import pytest
from flat_options import prognostic_model
from scipy.special import expit
from sklearn.linear_model import LinearRegression

import shortlist as sl
from shortlist.evaluation import evaluate_resample
from shortlist.evaluation.experiment import draw, scorable_folds
from shortlist.patients import verify_model
from shortlist.patients.column import mend
from shortlist.patients.imputation import _donors, draw_missing, fit_equation
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
    return prognostic_model(**{"max_features": 3, "ridge": 1.0} | options).fit(table, y)


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


def test_medians_are_there_on_request(gaps):
    table, _, _ = gaps
    card = fit(gaps, imputation="median").card_
    assert all(term.imputation is None for term in card.terms)
    medians = {t.name: t.typical for t in card.terms}
    filled = table.fillna(medians)
    assert card.log_odds(table) == pytest.approx(card.log_odds(filled))
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


@pytest.mark.parametrize("n_inputs", [3, 40])
def test_a_weight_of_two_is_two_copies(n_inputs):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, n_inputs))
    values = np.where(rng.random(60) < 0.3, np.nan, X[:, 0] + rng.normal(size=60))
    counts = rng.integers(1, 4, 60)
    once, copies = (
        {f"x{i}": {None: column} for i, column in enumerate(rows.T)}
        for rows in (X, np.repeat(X, counts, axis=0))
    )
    weighted = fit_equation("own", values, once, counts.astype(float))
    copied = fit_equation("own", np.repeat(values, counts), copies)
    assert weighted.values(once) == pytest.approx(copied.values(once), abs=1e-6)
    unweighted = fit_equation("own", values, once)
    assert np.abs(weighted.values(once) - unweighted.values(once)).max() > 1e-3


def draws(table, y, number=1, **options):
    """Return the draws of the design of a model, columns with gaps by name."""
    model = prognostic_model(max_features=3, ridge=1.0, imputations=number, **options)
    plain = model.check(table, y)
    design = model.design_of(plain)
    values = {name: plain.frame[name].to_numpy() for name in plain.frame}
    inputs = {name: item.inputs(values[name]) for name, item in design.encodings.items()}
    gappy = {name: column for name, column in values.items() if pd.isna(column).any()}
    return design, list(draw_missing(gappy, inputs, plain.labels.astype(float), None, number, 0))


def test_drawn_values_are_observed_ones_and_known_ones_stay(gaps):
    table, y, _ = gaps
    design, drawn = draws(table, y, 3)
    assert len(design.matrix) == 3 * N
    for columns in drawn:
        assert set(columns) == set(table.columns)
        for name, column in columns.items():
            known = table[name].notna().to_numpy()
            assert (column[known] == table[name][known].to_numpy()).all()
            assert set(column) <= set(table[name][known])
    gone = table["age"].isna().to_numpy()
    assert (drawn[0]["age"] != drawn[1]["age"])[gone].mean() > 0.5


def test_draws_keep_spread_and_relations(gaps):
    """A regression on draws has the slope and the residuals of that on the data without gaps."""
    table, y, full = gaps
    _, drawn = draws(table, y, 20)

    def line(frame):
        age, weight = frame["age"].astype(float), frame["weight"].astype(float)
        slope, intercept = np.polyfit(age, weight, 1)
        return slope, (weight - slope * age - intercept).std()

    found = np.mean([line(columns) for columns in drawn], axis=0)
    assert found == pytest.approx(line(full), rel=0.1)
    shares = [(columns["stage"] == "II").mean() for columns in drawn]
    assert np.mean(shares) == pytest.approx((full["stage"] == "II").mean(), abs=0.03)


def test_a_donor_is_one_of_the_five_nearest():
    rng = np.random.default_rng(0)
    known = np.array([*range(20), *([7.0] * 30)], dtype=float)
    sought = np.array([-5.0, 3.2, 7.0, 100.0] * 200)
    chosen = known[_donors(known, sought, rng)]
    for value, allowed in (
        (-5.0, range(5)),
        (3.2, range(1, 6)),
        (7.0, [7]),
        (100.0, range(15, 20)),
    ):
        assert set(chosen[sought == value]) == {float(v) for v in allowed}
    donors = _donors(known, np.full(500, 7.0), rng)
    assert len(set(donors)) > 20  # of equal ones any is as near


def test_one_selection_of_all_draws_is_proven(gaps, tmp_path):
    table, y, _ = gaps
    model = fit(gaps, imputations=4, random_state=3)
    card = model.card_
    assert (card.preprocessing.draws.number, card.preprocessing.draws.seed) == (4, 3)
    problem = model.problem(table, y)
    assert problem.n_rows == 4 * N and problem.weights.sum() == pytest.approx(N)
    assert sl.solve(problem, "enumeration").support == model.solution_.support
    assert (card.data.rows, card.data.events) == (N, int(y.sum()))
    assert verify_model(card, model.certificate_, table, y).valid
    assert not verify_model(fit(gaps).card_, model.certificate_, table, y).valid
    other = card.preprocessing.model_copy(
        update={"draws": card.preprocessing.draws.model_copy(update={"seed": 4})}
    )
    tampered = card.model_copy(update={"preprocessing": other})
    assert not verify_model(tampered, model.certificate_, table, y).valid
    card.save(tmp_path / "m.json")
    assert sl.ModelCard.load(tmp_path / "m.json") == card
    assert fit(gaps, imputations=4, random_state=3).card_ == card


def test_single_draws_are_counted(gaps):
    table, y, _ = gaps
    model = fit(gaps, imputations=3, max_features=2)
    plain = model.check(table, y)
    matrix = model.design_of(plain).matrix
    problem = model.problem(table, y)
    times = dict.fromkeys(table.columns, 0)
    for block in np.split(matrix, 3):
        single = sl.SubsetProblem(
            block, plain.labels, ridge=1.0, max_features=2, groups=problem.column_predictor
        )
        for g in sl.solve(single, "enumeration").support:
            times[table.columns[g]] += 1
    assert model.card_.search.imputed == times


def test_copies_of_complete_data_with_shares_of_weight_are_the_data(gaps):
    _, y, full = gaps
    X = full[["age", "weight", "smoker", "noise"]].to_numpy()
    X = (X - X.mean(axis=0)) / (2 * X.std(axis=0))
    once = sl.solve(sl.SubsetProblem(X, y, ridge=1.0, max_features=2))
    stacked = sl.SubsetProblem(
        np.tile(X, (5, 1)), np.tile(y, 5), ridge=1.0, max_features=2,
        sample_weight=np.full(5 * N, 0.2),
    )  # fmt: skip
    several = sl.solve(stacked)
    assert several.support == once.support
    assert several.objective == pytest.approx(once.objective, rel=1e-9)


def test_where_nothing_is_missing_nothing_is_drawn(gaps):
    _, y, full = gaps
    models = [
        sl.PrognosticModel(
            max_features=2, ridge=1.0, preparation=sl.Preparation(imputations=m)
        ).fit(full, y)
        for m in (None, 5)
    ]
    assert models[0].card_ == models[1].card_
    assert models[0].problem(full, y).digest == models[1].problem(full, y).digest


def test_predictions_impute_as_without_draws(gaps):
    table, _, _ = gaps
    single, several = fit(gaps, include=["age", "weight"], max_features=2), None
    several = fit(gaps, include=["age", "weight"], max_features=2, imputations=3)
    for one, other in zip(single.card_.terms, several.card_.terms, strict=True):
        assert one.imputation == other.imputation and one.fill == other.fill
    assert np.isfinite(several.card_.log_odds(table)).all()


def test_resamples_draw_anew_as_a_model_fitted_to_their_rows_would(gaps):
    table, y, _ = gaps
    options = {"imputations": 2, "stable": True}
    experiment = make_experiment(fit(gaps, **options), table, y, None, 0)
    found = evaluate_resample(experiment, 1, nested=False)
    rows = draw(experiment, 1)[0].copies
    again = prognostic_model(max_features=3, ridge=1.0, **options)
    again.fit(table.iloc[rows], y.iloc[rows])
    assert [experiment.names[g] for g in found["support"]] == again.selected_features_
    assert found["objective"] == pytest.approx(again.objective_, rel=1e-9)
    assert found["followed_log_odds"] == pytest.approx(again.card_.log_odds(table), abs=1e-6)


def test_levels_splines_weights_and_indicators_go_with_draws(gaps):
    table, y, _ = gaps
    weights = np.random.default_rng(2).integers(1, 4, N).astype(float)
    model = sl.PrognosticModel(
        max_features=3,
        ridge=1.0,
        preparation=sl.Preparation(imputations=2, spline_knots=3, missing_indicator=True),
    ).fit(table, y, sample_weight=weights)
    problem = model.problem(table, y, sample_weight=weights)
    assert problem.weights.sum() == pytest.approx(weights.sum())
    columns = problem.X[:, problem.columns_of([0])]
    indicator = np.tile(table["age"].isna().to_numpy(), 2)
    assert (columns[:, -1] == indicator).all()  # of the gaps, not of what fills them
    verdict = verify_model(model.card_, model.certificate_, table, y, sample_weight=weights)
    assert verdict.valid


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"imputations": 0}, "imputations: must be an integer of at least 1 or None, not 0"),
        ({"imputations": 2.5}, "imputations: must be an integer"),
        ({"imputations": True}, "imputations: must be an integer"),
        ({"imputations": 2, "imputation": "median"}, "use imputation='conditional'"),
        ({"imputations": 2, "random_state": -1}, "random_state: must be an integer of at least 0"),
        ({"stable": True, "random_state": None}, "random_state: must be an integer of at least 0"),
    ],
    ids=str,
)
def test_other_draws_are_refused(gaps, options, message):
    with pytest.raises(sl.InvalidProblemError, match=message):
        fit(gaps, **options)
