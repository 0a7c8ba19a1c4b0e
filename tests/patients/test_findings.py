"""What is suspicious is found, and nothing else is accused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from flat_options import prognostic_model
from messy import MESSY, UNUSABLE
from scipy.optimize import OptimizeResult
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import shortlist as sl
from shortlist.patients import verify_model
from shortlist.patients.column import similar_levels
from shortlist.patients.finding import separating_predictors, similar_predictors
from shortlist.patients.suspicion import SERIOUS, remarks, suspicious_columns
from shortlist.sample_size import judge_sample_size

N = 200


@pytest.fixture(scope="module")
def clean():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.normal(60, 10, N).round(),
            "lab": rng.gamma(2.0, 2.0, N).round(2),
            "sex": rng.choice(["f", "m"], N),
            "stage": rng.choice(["I", "II", "III"], N),
        }
    )
    y = (0.08 * (table["age"] - 60) + rng.logistic(size=N) > 0).astype(int)
    return table, y


def findings(table, y, persons=None, **options):
    options = {"max_features": 3, "ridge": 1.0} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.ShortlistWarning)
        model = prognostic_model(**options).fit(table, y, persons)
    return {f.topic: f for f in model.findings_}


def public_tables():
    """Clean tables with outcomes of two classes."""
    for name in ("breast_cancer", "wine", "iris"):
        data = getattr(datasets, f"load_{name}")(as_frame=True)
        rows = data.target < 2
        yield pytest.param(data.data[rows], data.target[rows], id=name)
    data = datasets.load_diabetes(as_frame=True, scaled=False)
    yield pytest.param(data.data, (data.target > 140).astype(int), id="diabetes")
    for seed in range(4):
        drawn = sl.datasets.make_prognostic(random_state=seed)
        yield pytest.param(drawn.X, drawn.y, id=f"make_prognostic-{seed}")


@pytest.mark.parametrize(("table", "y"), list(public_tables()))
def test_no_column_of_a_clean_table_is_accused(table, y):
    assert remarks(table, pd.Series(y)) == {}
    found = findings(table, y)
    about_columns = {"Leak", "Patient numbers", "Codes for missing values", "Rare levels"}
    assert about_columns.isdisjoint(found)
    of_columns = {"Similar levels", "Many levels", "Copies", "Knots", "Negligible predictors"}
    assert of_columns.isdisjoint(found)


def test_nothing_is_said_about_enough_clean_patients(clean):
    table, y = clean
    assert set(findings(table, y)) <= {"Sample size"}
    several = np.arange(N) // 2
    assert "100 persons" not in findings(table, y)["Sample size"].text
    assert "there are 100," in findings(table, y, several)["Sample size"].text


def test_messy_columns_are_named_in_findings_warnings_and_remarks(messy):
    table, y = messy
    found = {}
    with pytest.warns(sl.ShortlistWarning) as caught:
        model = sl.PrognosticModel(
            max_features=2,
            ridge=1.0,
            exclude=list(UNUSABLE),
            preparation=sl.Preparation(missing_codes={"pulse": 999}),
        ).fit(table, y)
    for finding in model.findings_:
        for name in finding.columns:
            found.setdefault(name, set()).add(finding.topic)
    for name, topic in MESSY.items():
        assert topic in found[name], name
    told = " ".join(str(warning.message) for warning in caught)
    for name, topic in MESSY.items():
        if topic in SERIOUS and topic != "Copies":
            assert f"{topic}: {name!r}" in told
    noted = remarks(table, y)
    assert set(noted) == {*MESSY, *UNUSABLE, "pulse"}
    for name, text in UNUSABLE.items():
        assert text in noted[name]
    assert "the same information as 'age'" in noted["age in months"]
    assert "pulse" not in found  # its code is declared


def test_declared_codes_and_synonyms_are_kept_for_predictions(messy, tmp_path):
    table, y = messy
    options = {"ridge": 1.0, "include": ["glucose", "smoking"], "max_features": 2}
    columns = ["glucose", "smoking", "age"]
    codes, synonyms = {"glucose": 0, "*": [-9]}, {"smoking": {"quit": "former"}}
    model = sl.PrognosticModel(
        **options,
        preparation=sl.Preparation(missing_codes=codes, synonyms=synonyms, merge_levels=True),
    ).fit(table[columns], y)
    clean = table[columns].assign(
        glucose=table["glucose"].replace(0, np.nan),
        smoking=table["smoking"].replace({"Never": "never", "curent": "current", "quit": "former"}),
    )
    expected = prognostic_model(**options).fit(clean, y)
    assert model.objective_ == expected.objective_
    assert {"Codes for missing values", "Similar levels"}.isdisjoint(
        finding.topic for finding in model.findings_
    )
    model.card_.save(tmp_path / "m.json")
    card = sl.ModelCard.load(tmp_path / "m.json")
    new = pd.DataFrame({"glucose": [0, 100], "smoking": ["curent", "quit"]})
    same = pd.DataFrame({"glucose": [np.nan, 100], "smoking": ["current", "former"]})
    assert card.probability(new).tolist() == expected.card_.probability(same).tolist()
    assert card.imputed(new)["glucose"].tolist() == [True, False]
    proof = model.certificate_
    assert verify_model(card, proof, table[columns], (y == "yes").astype(int)).valid


def test_predictions_fold_case_and_ask_what_was_meant(patients):
    table, y = patients
    model = sl.PrognosticModel(include=["sex"], max_features=1, ridge=1.0).fit(
        table.assign(sex=table["sex"].map({"f": "female", "m": "male"})), y
    )
    said = pd.DataFrame({"sex": ["Female ", "MALE"]})
    known = pd.DataFrame({"sex": ["female", "male"]})
    assert model.card_.probability(said).tolist() == model.card_.probability(known).tolist()
    with pytest.warns(sl.ShortlistWarning, match=r"'femal' \(did you mean 'female'\?\)"):
        model.card_.probability(pd.DataFrame({"sex": ["femal"]}))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"I": 50, "II": 5, "III": 1}, {}),
        ({"male": 90, "female": 10}, {}),
        ({"grade 1": 50, "grade 2": 2}, {}),
        ({"left": 50, "lift": 40}, {}),
        ({"non-smoker": 50, "Non smoker": 3}, {"Non smoker": "non-smoker"}),
        ({"former": 50, "fomrer": 1}, {"fomrer": "former"}),
        ({"-": 50, "+": 2, "--": 1}, {}),
        ({"yes": 9, "YES": 8, "Yes": 7}, {"YES": "yes", "Yes": "yes"}),
    ],
)
def test_similar_levels(counts, expected):
    assert similar_levels(counts) == expected


@pytest.mark.parametrize(
    ("values", "code"),
    [
        (np.arange(1, 5), 9),  # not 9 of 1 to 7
        (np.array([0, 1]), 9),
        (np.arange(20, 90), -1),
        (np.arange(70, 140), 0),
    ],
)
def test_a_value_apart_is_suspected(clean, values, code):
    table, y = clean
    lab = pd.Series(np.resize(values, N)).where(np.arange(N) % 20 > 0, code)
    text = findings(table.assign(lab=lab), y)["Codes for missing values"].text
    assert f"'lab' is {code} in 10 rows" in text


@pytest.mark.parametrize(
    "values", [[1, 2, 3, 4, 5, 6, 7, 9], [-1, 0, 1], [0, 1, 2, 3], [0, 50, 100, 150], [0, 5, 10]]
)
def test_a_value_like_others_is_not_suspected(clean, values):
    table, y = clean
    lab = pd.Series(np.random.default_rng(0).choice(values, N))
    assert "Codes for missing values" not in findings(table.assign(lab=lab), y)


def test_negligible_predictors_are_named_with_their_price(clean):
    table, y = clean
    rng = np.random.default_rng(4)
    table = table.assign(noise=0.02 * rng.normal(size=N))
    table["noise"] -= np.polyval(np.polyfit(y, table["noise"], 1), y)  # says nothing of y alone
    costs = {"age": 10, "lab": 30, "sex": 30, "stage": 30, "noise": 2.5}
    found = findings(table, y, max_features=None, budget=12.5, costs=costs)["Negligible predictors"]
    assert found.columns == ("noise",)
    assert found.text.startswith(
        "2.5 of 12.5 buys 'noise', which lowers the loss by less than 0.01%"
    )
    assert "would cost 10 without it." in found.text
    assert "Negligible predictors" not in findings(
        table, y, max_features=None, budget=10, costs=costs
    )


def test_lost_knots_are_named(clean):
    table, y = clean
    table = table.assign(count=np.resize([0, 0, 0, 0, 0, 0, 1, 2, 3, 4], N))
    found = findings(table, y, include=["count", "lab"], spline_knots=4)["Knots"]
    assert found.columns == ("count",)


@pytest.mark.parametrize("scale", [1.0, -12.0, 1e-9])
def test_copies_are_named_and_are_worse_if_both_are_bought(clean, scale):
    table, y = clean
    table = table.assign(months=scale * table["age"] + 3)
    found = findings(table, y, include=["age", "months"])["Copies"]
    assert found.level == "warning"
    assert "'age' and 'months' carry the same information" in found.text
    assert findings(table, y, max_features=1)["Copies"].level == "note"


def test_renamed_levels_are_copies_and_other_factors_are_not(clean):
    table, y = clean
    table = table.assign(code=table["stage"].map({"I": "c", "II": "a", "III": "b"}))
    pairs = similar_predictors(sl.PrognosticModel(ridge=1.0).problem(table, y))
    assert [(first, second) for first, second, _ in pairs] == [("stage", "code")]


def test_near_collinearity_and_sums(clean):
    table, y = clean
    rng = np.random.default_rng(1)
    near = table.assign(again=table["age"] + rng.normal(0, 1, N))
    assert (
        "'age' and 'again' have a correlation of 0.99" in findings(near, y)["Nearly collinear"].text
    )
    part = rng.normal(size=N)
    total = table.assign(part=part, total=table["lab"] + part)
    assert "'lab', 'part', 'total' determine each other" in findings(total, y)["Sums"].text


def test_codes_for_missing_values(clean):
    table, y = clean
    for code in (-9, -999, 999):
        lab = table["lab"].where(np.arange(N) % 20 > 0, code)
        text = findings(table.assign(lab=lab), y)["Codes for missing values"].text
        assert f"'lab' is {code} in 10 rows" in text
    # 99 in a column that goes to 120 is a value like others.
    wide = table.assign(lab=np.linspace(0, 120, N).round().clip(0, 120))
    assert "Codes for missing values" not in findings(wide, y)


def test_duplicated_rows_count_unless_everything_is_coarse(clean):
    table, y = clean
    twice = pd.concat([table, table[:7]], ignore_index=True)
    labels = pd.concat([y, y[:7]], ignore_index=True)
    assert "7 rows repeat" in findings(twice, labels)["Duplicated rows"].text
    assert "Duplicated rows" not in findings(table[["sex", "stage"]], y, max_features=1)
    assert "Duplicated rows" not in findings(twice, labels, persons=np.arange(N + 7))


def test_many_levels(clean):
    table, y = clean
    site = [f"site {number % 25}" for number in range(N)]
    assert (
        "'site' has 25 levels, 25 of them"
        in findings(table.assign(site=site), y)["Many levels"].text
    )


def test_separation_names_who_separates_alone_and_nobody_else(clean):
    table, y = clean
    rng = np.random.default_rng(2)
    sign = ((y == 1) & (rng.random(N) < 0.4)).astype(int)
    found = findings(table.assign(sign=sign), y, include=["sign", "age", "lab"])
    assert found["Separation"].text.startswith("'sign' separates some patients perfectly")


def test_separation_by_several_together_names_the_smallest_set():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = (X[:, 1] > X[:, 3]).astype(int)
    problem = sl.SubsetProblem(X, y, ridge=1.0, max_features=4)
    assert separating_predictors(problem, (0, 1, 2, 3)) == ["x1", "x3"]
    assert separating_predictors(problem, (0, 1, 2)) == []


def test_a_failed_linear_program_decides_nothing(monkeypatch):
    problem = sl.SubsetProblem(np.eye(6), [0, 1] * 3, ridge=1.0, max_features=2)
    failed = OptimizeResult(status=4, x=None, fun=None)
    monkeypatch.setattr("shortlist.patients.finding.linprog", lambda *_, **__: failed)
    assert separating_predictors(problem, (0, 1)) is None


def test_a_leak_is_named(clean):
    table, y = clean
    rng = np.random.default_rng(3)
    leak = table.assign(days_in_ward=10 * y + rng.normal(0, 1, N))
    found = findings(leak, y)
    assert "'days_in_ward' alone would almost suffice" in found["Nearly perfect"].text
    assert "'days_in_ward'" in found["Large odds ratios"].text
    assert "'age'" not in found["Large odds ratios"].text


def test_a_ridge_at_the_edge(clean):
    found = findings(*clean, ridge=None, ridges=(1.0, 1e-6))
    assert "1 is the strongest of those tried" in found["Ridge"].text
    assert "a stronger one may predict better" in found["Ridge"].text
    assert "Ridge" not in findings(*clean, ridge=1.0)


def test_who_lost_by_missing_values(clean):
    table, y = clean
    gaps = table.assign(lab=table["lab"].where(np.arange(N) % 2 == 0))
    found = findings(gaps, y, max_features=1)
    assert "'lab' (50% missing)" in found["Excess missingness"].text
    assert "Excess missingness" not in findings(gaps, y, include=["lab"])


def numbered(values):
    """Return the finding about a column's being numbers of patients."""
    frame = pd.DataFrame({"value": values})
    found = suspicious_columns(frame, {"value": "numeric"}, None)
    return {finding.topic: finding.level for finding in found}.get("Patient numbers")


def test_numbers_of_rows_are_named_whatever_they_are_called():
    rng = np.random.default_rng(7)
    gaps = np.sort(rng.choice(5000, N, replace=False)).astype(float)
    assert numbered(gaps) == "warning"  # rows of a larger table
    assert numbered(rng.permutation(3 * N)[:N].astype(float)) == "warning"
    assert numbered(np.repeat(np.arange(N // 4), 4).astype(float)) == "warning"  # four visits each
    assert numbered(rng.choice(10**7, N, replace=False).astype(float)) == "note"  # or a population
    assert numbered(rng.normal(60, 10, N).round()) is None
    assert numbered(np.sort(rng.normal(60, 10, N).round())) is None  # a table sorted by age
    assert numbered(np.arange(10.0)) is None


def test_a_text_of_its_own_in_each_row_is_named(clean):
    table, y = clean
    few, labels = table[:40], y[:40]
    found = findings(few.assign(name=[f"patient {i}" for i in range(40)]), labels)
    assert "'name' has a level of its own in each row" in found["Patient numbers"].text
    assert "Many levels" not in found


def test_a_number_that_defines_the_outcome_is_named_before_any_fit(clean):
    table, _ = clean
    rng = np.random.default_rng(5)
    weight = pd.Series(rng.normal(2900, 700, N).round())
    y = (weight < 2500).astype(int)
    text = remarks(table.assign(weight=weight), y)["weight"]
    assert "defines the outcome: at most 24" in text
    assert findings(table.assign(weight=weight), y)["Leak"].columns == ("weight",)
    # Two kinds that a number tells apart are not defined by it, nor does a sorted table define.
    apart = weight + 3000 * (weight > 2900)
    assert "apart" not in remarks(table.assign(apart=apart), (weight > 2900).astype(int))
    order = table.assign(row=np.arange(N) + 1.0)
    assert "defines" not in remarks(order, pd.Series(np.arange(N) > 80).astype(int))["row"]


def test_indicators_of_values_missing_together_are_no_sums(clean):
    table, y = clean
    rng = np.random.default_rng(6)
    gap = rng.random(N) < 0.2
    panel = {f"panel_{i}": np.where(gap, np.nan, rng.normal(size=N)) for i in range(3)}
    preparation = sl.Preparation(missing_indicator=True)
    found = findings(table.assign(**panel), y, preparation=preparation)
    assert "Sums" not in found


def test_duplicated_rows_say_what_was_compared(clean):
    table, y = clean
    twice = pd.concat([table, table[:4]], ignore_index=True)
    labels = pd.concat([y, y[:4]], ignore_index=True)
    assert "all 4 candidates; if" in findings(twice, labels)["Duplicated rows"].text
    numbered_rows = twice.assign(id=np.arange(N + 4))
    text = findings(numbered_rows, labels, exclude=["id"])["Duplicated rows"].text
    assert "all 4 candidates (columns that were left out were not compared)" in text


def test_words_for_missing_values_are_levels_in_text_and_gaps_among_numbers(clean):
    table, y = clean
    rng = np.random.default_rng(8)
    coma = rng.choice(["None", "Stupor", "Coma"], N, p=[0.8, 0.1, 0.1]).astype(object)
    drinks = pd.Series(rng.integers(0, 9, N).astype(object)).where(np.arange(N) % 20 > 0, "null")
    mixed = table.assign(coma=coma, drinks=drinks)
    with pytest.warns(sl.ShortlistWarning, match=r"'drinks' \(null\): words in a column of num"):
        model = sl.PrognosticModel(max_features=6, ridge=1.0).fit(mixed, y)
    assert model.kinds_["coma"] == "categorical" and model.kinds_["drinks"] == "numeric"
    assert "None" in next(t.levels for t in model.card_.terms if t.name == "coma")
    assert model.card_.imputed(mixed)["drinks"].sum() == N / 20
    text = findings(mixed, y)["Words for missing values"].text
    assert "'coma' has the level 'None' in" in text and '--missing-codes "coma=None"' in text
    declared = sl.Preparation(missing_codes={"coma": ["None"]})
    found = findings(mixed, y, preparation=declared)
    assert "Words for missing values" not in found
    with pytest.raises(sl.InvalidProblemError, match='missing-codes "drinks=unclear"'):
        findings(mixed.assign(drinks=drinks.where(drinks != 3, "unclear")), y)


def test_a_free_predictor_that_cross_validation_rejects_is_named(clean):
    table, y = clean
    rng = np.random.default_rng(7)
    coins = pd.DataFrame(rng.integers(0, 2, (N, 4)), columns=[f"coin {i}" for i in range(4)])
    free = dict.fromkeys(coins, 0)
    costs = free | {"age": 2, "lab": 2, "sex": 2, "stage": 2}
    found = findings(table.join(coins), y, max_features=None, budget=4, costs=costs)
    assert "is free" in found["Free predictors"].text or "are free" in found["Free predictors"].text
    assert set(found["Free predictors"].columns) <= set(coins)
    # What predicts is not named, nor what was asked for, nor what has a price.
    found = findings(table, y, max_features=None, budget=0, costs=dict.fromkeys(table, 0))
    assert "age" not in found["Free predictors"].columns
    asked = findings(table.join(coins), y, max_features=None, budget=4, costs=costs, include=free)
    assert "Free predictors" not in asked


def test_a_grid_of_ridges_widens_until_the_best_is_inside():
    rng = np.random.default_rng(11)
    weak = pd.DataFrame(rng.normal(size=(400, 12)), columns=[f"x{i}" for i in range(12)])
    y = (weak.sum(axis=1) * 0.06 + rng.logistic(size=400) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.ShortlistWarning)
        search = sl.PrognosticModel(max_features=10).fit(weak, y).card_.search
    tried = [entry.ridge for entry in search.tuning]
    assert tried[0] > search.ridge >= 10
    assert tried == sorted(tried, reverse=True)
    given = findings(weak, y, max_features=10, ridge=None, ridges=(3.0, 1.0))
    assert "3 is the strongest of those tried" in given["Ridge"].text


def test_riley_is_judged_by_the_full_model(clean):
    """R2 by statsmodels' formulas: the likelihood ratio of all candidates, shrunk by it."""
    table, y = clean
    model = prognostic_model(max_features=1, ridge=5.0).fit(table, y)
    found = judge_sample_size(model.problem(table, y))
    X = pd.get_dummies(table, drop_first=True).astype(float)
    X = (X - X.mean()) / X.std()
    fit = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y)
    null = log_loss(y, np.full(N, y.mean()), normalize=False)
    ratio = 2 * (null - log_loss(y, fit.predict_proba(X), normalize=False))
    assert found.n_parameters == X.shape[1]
    r2 = (1 - X.shape[1] / ratio) * (1 - np.exp(-ratio / N))
    assert found.r2 == pytest.approx(r2, rel=1e-4)
    separated = judge_sample_size(sl.SubsetProblem(np.asarray(y)[:, None], y, ridge=1.0))
    assert separated.is_default
