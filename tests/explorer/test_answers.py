"""What the explorer answers is what the library answers."""

import json

import numpy as np
import pandas as pd
import pytest
from explorer_page import table_of
from messy import MESSY, UNUSABLE, make_messy
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import shortlist as sl
from shortlist.explorer import answer, model
from shortlist.explorer.model import make_problem
from shortlist.explorer.state import State
from shortlist.patients import load_proof, verify_model

BUDGETS = [0, 3, 10, 17, 24, 40, 70]


def model_of(prepared, state, **changes):
    """The same settings through the public estimator."""
    state = state | changes
    return sl.PrognosticModel(
        budget=state["budget"] if state["limit"] == "budget" else None,
        max_features=state["count"] if state["limit"] == "count" else None,
        costs=state["costs"],
        fees=[(fee["amount"], fee["members"]) for fee in state["fees"]],
        include=state["must"],
        exclude=state["never"],
        ridge=state["ridge"],
    ).fit(prepared.patients.predictors, prepared.patients.events)


@pytest.mark.filterwarnings("ignore:budget. 0 is below")
@pytest.mark.parametrize(
    "changes",
    [
        {"budget": 0},
        {"budget": 17},
        {"limit": "count", "count": 3},
        {"must": ["uninformative_1"], "budget": 20},
        {"never": ["informative_2", "informative_5"], "budget": 30},
        {"ridge": 0.05},
        {"fees": [{"amount": 7, "members": ["informative_5", "uninformative_2"]}]},
    ],
)
def test_solve_is_the_estimator_s_answer(prepared, page, changes):
    found = page.ask("solve", **changes)
    model = model_of(prepared, page.state)
    assert found["predictors"] == model.selected_features_
    assert found["objective"] == pytest.approx(model.objective_, rel=1e-9)
    assert found["cost"] == pytest.approx(model.cost_)
    assert found["best"]["is_proven"]
    assert found["best"]["lower_bound"] <= found["objective"]
    log_odds = model.decision_function(prepared.patients.predictors)
    assert found["auc"] == pytest.approx(roc_auc_score(prepared.patients.events, log_odds))
    effects = [(effect["predictor"], effect["odds_ratio"]) for effect in found["effects"]]
    expected = model.coefficients_[["predictor", "odds_ratio"]].itertuples(index=False)
    assert effects == [(name, pytest.approx(ratio)) for name, ratio in expected]


def test_an_edited_price_changes_what_is_affordable(page):
    before = page.ask("solve")
    dearest = before["predictors"][0]
    after = page.ask("solve", costs=page.state["costs"] | {dearest: 1000})
    assert dearest in before["predictors"]
    assert dearest not in after["predictors"]


def test_the_staircase_agrees_with_every_budget(page):
    steps = page.ask("staircase")["steps"]
    for budget in BUDGETS:
        step = [step for step in steps if step["limit"] <= budget][-1]
        assert page.ask("solve", budget=budget)["objective"] == pytest.approx(step["objective"])


def test_the_staircase_by_number_knows_no_prices(page):
    steps = page.ask("staircase", limit="count")["steps"]
    assert [step["limit"] for step in steps] == [len(step["predictors"]) for step in steps]
    found = page.ask("solve", count=4)
    assert found["objective"] == pytest.approx(steps[4]["objective"])


def test_alternatives_are_those_of_near_optimal(prepared, page):
    found = page.ask("alternatives", tolerance=0.05)
    problem = make_problem(prepared, State.model_validate_json(json.dumps(page.state)))
    expected = sl.near_optimal(problem, 0.05, answer.MOST_ALTERNATIVES)
    names = [[expected.names[g] for g in model.support] for model in expected]
    assert [model["predictors"] for model in found["models"]] == names
    assert found["is_complete"] == expected.is_complete


def test_a_list_says_whether_it_is_complete(page):
    assert page.ask("alternatives", tolerance=0.0)["is_complete"] is True
    assert page.ask("alternatives", tolerance=0.5)["is_complete"] is False


def test_an_adopted_alternative_is_shown_and_never_called_best(page):
    other = page.ask("alternatives")["models"][1]
    found = page.ask("solve", adopted=other["predictors"])
    assert found["predictors"] == other["predictors"]
    assert found["objective"] == pytest.approx(other["objective"])
    assert found["excess"] == pytest.approx(other["excess"])
    assert found["best"]["objective"] < found["objective"]
    saved = page.ask("save/model")
    assert [term["name"] for term in saved["terms"]] == other["predictors"]
    assert (
        "Only the best selection has a proof" in page.ask("save/certificate", status=400)["error"]
    )


def test_an_adopted_selection_that_is_too_dear_is_refused(page):
    everything = list(page.state["costs"])
    error = page.ask("solve", status=400, adopted=everything)["error"]
    assert error.startswith("Your selection is no longer affordable")


def test_substitutes_are_the_best_models_without_each(page):
    best = page.ask("solve")
    for entry in page.ask("substitutes")["substitutes"]:
        without = page.ask("solve", never=[entry["without"]])
        assert without["objective"] / best["objective"] - 1 == pytest.approx(
            entry["excess"], abs=1e-9
        )
        assert set(entry["gained"]) == set(without["predictors"]) - set(best["predictors"])


def test_roc_and_calibration_are_of_the_model(prepared, page):
    found = page.ask("performance")
    roc = np.array([list(point.values()) for point in found["roc"]])
    assert roc[0].tolist() == [0, 0]
    assert roc[-1].tolist() == [1, 1]
    assert np.trapezoid(roc[:, 1], roc[:, 0]) == pytest.approx(found["auc"], abs=0.01)
    rows = [entry["n"] for entry in found["calibration"]]
    observed = [entry["observed"] for entry in found["calibration"]]
    assert np.dot(rows, observed) == pytest.approx(prepared.patients.events.sum())


def test_a_patient_s_risk_is_the_model_s_and_the_parts_add_up(prepared, page):
    found = page.ask("solve")
    row = prepared.patients.predictors.iloc[[7]]
    values = {name: float(row[name].iloc[0]) for name in found["predictors"]}
    risk = page.ask("patient", values=values)
    model = model_of(prepared, page.state)
    assert risk["risk"] == pytest.approx(model.predict_proba(row)[0, 1])
    base = np.log(risk["average"] / (1 - risk["average"]))
    total = base + sum(part["contribution"] for part in risk["parts"])
    assert 1 / (1 + np.exp(-total)) == pytest.approx(risk["risk"])
    assert not any(part["missing"] or part["outside"] for part in risk["parts"])
    assert all(part["missing"] for part in page.ask("patient")["parts"])


def test_a_patient_of_whom_nothing_is_known_has_no_risk(page):
    bought = page.ask("solve")["predictors"]
    assert page.ask("patient", values={})["risk"] is None
    assert page.ask("patient", values={"uninformative_8": 0.5})["risk"] is None
    assert page.ask("patient", values={bought[0]: 0.5})["risk"] is not None
    nothing = page.ask("patient", budget=0)  # of a model that asks for nothing
    assert nothing["risk"] == pytest.approx(nothing["average"])


def test_a_patient_with_words_for_numbers_gets_a_sentence(page):
    name = page.ask("solve")["predictors"][0]
    assert "is not a number" in page.ask("patient", status=400, values={name: "tall"})["error"]


def test_stability_comes_resample_by_resample(page, monkeypatch):
    monkeypatch.setattr(answer, "N_RESAMPLES", 5)
    response = page.post("stability", {"number": 1, "state": page.state})
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert [line["done"] for line in lines] == [1, 2, 3, 4, 5]
    again = page.post("stability", {"number": 2, "state": page.state})
    assert again.text == response.text
    assert all(0 <= entry["frequency"] <= 1 for entry in lines[-1]["inclusion"])
    assert lines[0]["risks"] is None
    risks = lines[-1]["risks"]
    assert 0 < risks["difference"] < 0.2
    assert [group["risk"] for group in risks["groups"]] == sorted(
        g["risk"] for g in risks["groups"]
    )


def test_scores_are_corrected_by_the_bootstrap(prepared, page, monkeypatch):
    monkeypatch.setattr(answer, "N_RESAMPLES", 4)
    response = page.post("stability", {"number": 1, "state": page.state})
    found = {e["name"]: e for e in json.loads(response.text.splitlines()[-1])["corrected"]}
    rng = np.random.default_rng(0)
    state = prepared.first_state()
    y, X = prepared.plain.labels, prepared.design.matrix

    def scores(model, rows):
        log_odds = model.decision_function(X[rows])
        line = LogisticRegression(C=np.inf, tol=1e-10).fit(log_odds[:, None], y[rows])
        return np.array([roc_auc_score(y[rows], log_odds), line.coef_[0, 0]])

    def fit(rows):
        limits = {"budget": state.budget, "costs": list(state.costs.values())}
        names = list(prepared.design.names)
        fees = [(f.amount, [names.index(m) for m in f.members]) for f in state.fees]
        return sl.BestSubsetClassifier(**limits, fees=fees, ridge=1.0).fit(X[rows], y[rows])

    everyone = np.arange(len(y))
    optimism, outside = [], []
    for _ in range(4):
        rows = rng.integers(len(y), size=len(y))
        model = fit(np.sort(rows))
        optimism.append(scores(model, rows)[1] - scores(model, everyone)[1])
        outside.append(scores(model, np.setdiff1d(everyone, rows))[0])
    apparent = scores(fit(everyone), everyone)
    overfitting = (apparent[0] - np.mean(outside)) / (apparent[0] - 0.5)
    weight = 0.632 / (1 - 0.368 * overfitting)
    auc = (1 - weight) * apparent[0] + weight * np.mean(outside)
    slope = apparent[1] - np.mean(optimism)
    assert found["AUC"]["apparent"] == pytest.approx(apparent[0])
    assert found["AUC"]["corrected"] == pytest.approx(auc, abs=1e-6)
    assert found["Calibration slope"]["apparent"] == pytest.approx(apparent[1], rel=1e-4)
    assert found["Calibration slope"]["corrected"] == pytest.approx(slope, rel=1e-4)
    assert found["AUC"]["n_resamples"] == 4


def test_copies_leaks_and_collinear_predictors_are_noted_as_in_fit(page):
    table = table_of(120)
    leak = (table["fate"] == "dead") * 10.0 + np.arange(120) / 120
    table = table.assign(years=table["age"], nearly=table["age"] + 0.01 * np.arange(120), leak=leak)
    page.load(table.to_csv(index=False), "fate", "dead")
    notes = page.ask("notes", count=4, limit="count")["notes"]
    with pytest.warns(sl.ShortlistWarning, match="Copies: 'age' and 'years' carry the same"):
        model = sl.PrognosticModel(max_features=4, ridge=1.0).fit(
            table.drop(columns="fate"), table["fate"]
        )
    assert [(n["topic"], n["text"]) for n in notes] == [(f.topic, f.text) for f in model.findings_]
    assert {"Copies", "Nearly collinear", "Nearly perfect"} <= {note["topic"] for note in notes}


def test_every_defect_is_noted(page):
    table, y = make_messy()
    page.load(table.assign(fate=y).to_csv(index=False), "fate", "yes", exclude=list(UNUSABLE))
    notes = page.ask("notes", count=2, limit="count")["notes"]
    named = {(note["topic"], name) for note in notes for name in note["columns"]}
    assert {(topic, name) for name, topic in MESSY.items()} <= named
    assert "Sample size" in {note["topic"] for note in notes}


@pytest.mark.parametrize("limit", ["budget", "count"])
def test_what_is_enough_is_what_fit_takes(page, limit):
    table = table_of(120)
    page.load(table.to_csv(index=False), "fate", "dead")
    found = page.ask("enough", limit=limit, budget=3.0, count=3)
    model = sl.PrognosticModel(
        **({"budget": 3.0} if limit == "budget" else {"max_features": 3}), ridge=1.0, within="1se"
    ).fit(table.drop(columns="fate"), table["fate"])
    (expected,) = model.lowered_.values()
    assert found["limit"] == expected <= 3


@pytest.mark.parametrize("limit", ["budget", "count"])
def test_the_cheapest_selection_within_a_share(prepared, page, limit):
    found = page.ask("cheapest", tolerance=0.05, limit=limit, budget=30, count=9)
    before = page.ask("solve")
    assert found["is_proven"]
    name = "budget" if limit == "budget" else "count"
    cheaper = page.ask(
        "solve", **{name: found["limit"] if limit == "budget" else int(found["limit"])}
    )
    assert cheaper["objective"] / before["objective"] - 1 == pytest.approx(
        found["excess"], rel=1e-6
    )
    assert 0 < found["excess"] <= 0.05
    assert (
        page.ask("solve", **{name: int(found["limit"]) - 1})["objective"]
        > 1.05 * before["objective"]
    )


def test_a_ridge_is_tuned_where_nothing_is_affordable(page):
    assert page.ask("tune", budget=0)["ridge"] > 0


def test_the_ridge_is_tuned_as_fit_does(page):
    table = table_of(120)
    page.load(table.to_csv(index=False), "fate", "dead")
    found = page.ask("tune", count=2, limit="count")
    model = sl.PrognosticModel(max_features=2).fit(table.drop(columns="fate"), table["fate"])
    assert found["ridge"] == model.ridge_
    assert found["tried"] == [entry.ridge for entry in model.card_.search.tuning]
    assert found["by"] == "5-fold cross-validation, repeated 5 times"


def test_saved_model_and_certificate_can_be_used(prepared, page, tmp_path):
    found = page.ask("solve", budget=12, never=["informative_4"])
    (tmp_path / "model.json").write_text(json.dumps(page.ask("save/model")))
    (tmp_path / "certificate.json").write_text(json.dumps(page.ask("save/certificate")))
    card = sl.ModelCard.load(tmp_path / "model.json")
    assert [term.name for term in card.terms] == found["predictors"]
    assert card.limits.exclude == ("informative_4",)
    model = model_of(prepared, page.state)
    problem = model.problem(prepared.patients.predictors, prepared.patients.events)
    verdict = sl.verify(problem, sl.Certificate.load(tmp_path / "certificate.json"))
    assert verdict.valid, verdict.reason
    proven = verify_model(
        *load_proof(tmp_path / "certificate.json"),
        prepared.patients.predictors,
        prepared.patients.events,
    )
    assert proven.valid, proven.reason


def test_saved_report_is_a_page_about_the_model(page, monkeypatch):
    monkeypatch.setattr(model, "N_RESAMPLES", 1)
    page.load(table_of(120).to_csv(index=False), "fate", "dead")
    question = {"number": 1, "state": page.state | {"count": 2}}
    text = page.post("save/report", question).text
    assert text.lstrip().lower().startswith("<!doctype html>")
    assert "dead" in text


def test_saved_calculator_is_that_of_the_model(page):
    page.load(table_of(120).to_csv(index=False), "fate", "dead")
    question = {"number": 1, "state": page.state | {"count": 2}}
    text = page.post("save/calculator", question).text
    assert "Risk of fate = dead" in text
    assert '"percentiles": [0' in text


def test_gaps_are_imputed_from_what_is_bought(page):
    """As the model predicts: what it has not bought is not known of a patient."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=300)
    frame = pd.DataFrame({f"x{i}": (hidden + 0.3 * rng.normal(size=300)) for i in range(4)})
    frame["fate"] = np.where(hidden + rng.logistic(size=300) > 0, "dead", "alive")
    frame.loc[rng.random(300) < 0.5, "x0"] = np.nan
    page.load(frame.to_csv(index=False), "fate", "dead")
    fate = frame.pop("fate") == "dead"
    wanted = {"count": 1, "must": ["x0"]}
    model = sl.PrognosticModel(max_features=1, include=["x0"], ridge=1.0).fit(frame, fate)
    expected = roc_auc_score(fate, model.decision_function(frame))
    assert page.ask("solve", **wanted)["auc"] == pytest.approx(expected)
    by_count = {step["limit"]: step["auc"] for step in page.ask("staircase", **wanted)["steps"]}
    assert by_count[1] == pytest.approx(expected)


def test_factors_truth_values_and_gaps(page):
    frame = table_of(120)
    page.load(frame.to_csv(index=False), "fate", "dead", categorical=["grade"])
    kinds = {entry["name"]: entry["kind"] for entry in page.prepared["predictors"]}
    assert kinds == {
        "age": "numeric", "sex": "categorical", "grade": "categorical", "smoker": "boolean"
    }  # fmt: skip
    found = page.ask("solve", count=4)
    events = (frame.pop("fate") == "dead").astype(int)
    model = sl.PrognosticModel(
        max_features=4, ridge=1.0, preparation=sl.Preparation(kinds={"grade": "categorical"})
    )
    model.fit(frame, events)
    assert found["predictors"] == model.selected_features_
    assert found["objective"] == pytest.approx(model.objective_, rel=1e-9)
    values = {"age": 63, "sex": "m", "grade": "2", "smoker": True}
    expected = model.predict_proba(pd.DataFrame([values]))[0, 1]
    assert page.ask("patient", values=values)["risk"] == pytest.approx(expected)
    parts = found["equation"]["parts"]
    assert {"grade": "2"} in [{part["predictor"]: part["level"]} for part in parts]
