"""The report says what the model, the problem and the evaluation say, and nothing else."""

import json
import re
from html.parser import HTMLParser
from math import log

import numpy as np
import pandas as pd
import pytest
from hostile_names import HOSTILE, LEVELS
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

import shortlist as sl
from shortlist.errors import MissingDependencyError
from shortlist.prognostic.transformer import DesignTransformer
from shortlist.report import (
    describe_model,
    render_report,
    riley_sample_sizes,
    validate_model,
    write_report,
)
from shortlist.report.checks import separating_predictors
from shortlist.report.sample_size import cox_snell_r2, largest_r2


class Page(HTMLParser):
    """What a reader sees of a page, and what it is made of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words, self.title = [], [], [], ""
        self.inside = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag in ("style", "svg", "title", "desc"):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        if self.inside == ["title"]:
            self.title += data
        elif not self.inside:
            self.words.append(data)


def numbers_of(value):
    """All numbers of a JSON value; those in its texts too."""
    if isinstance(value, dict):
        for item in value.values():
            yield from numbers_of(item)
    elif isinstance(value, list):
        yield float(len(value))  # "all 7 selections"
        for item in value:
            yield from numbers_of(item)
    elif isinstance(value, str):
        yield from (float(match) for match in re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", value))
    elif value is not None:
        yield abs(float(value))


def test_the_page_is_made_from_the_json_alone(report, content):
    assert render_report(content) == report.read_text()


def test_every_number_of_the_page_traces_to_the_json(report, content):
    known = np.array(sorted(set(numbers_of(content))))
    text = re.sub(r"\s+", " ", " ".join(Page(report.read_text()).words))
    # What the page itself says: 1 / (1 + e^x), the ideal values, the formula of splines.
    for sentence in (
        "1 / (1 + e",
        "Ideal are an AUC of 1, a Brier score of 0, a calibration intercept of 0 and a slope of 1; "
        "a slope below 1",
        "it is 1 if all selections agree and 0 if",
        "Accuracy at 50%",
        "(Collins and others 2024)",
        "is 0 if negative",
        "means 0 if negative",
    ):
        text = text.replace(sentence, " ")
    text = re.sub(r"Curve j of x .*? Knots:", " ", text)
    found = re.findall(r"(?<![\w.])(\d+(?:\.\d+)?(?:e[\N{MINUS SIGN}+]?\d+)?)(%?)", text)
    assert len(found) > 200
    for digits, percent in found:
        number = float(digits.replace("\N{MINUS SIGN}", "-"))
        decimals = len(digits.partition(".")[2]) if "e" not in digits else 0
        scale = 100.0 if percent else 1.0
        tolerance = 0.5001 * 10.0**-decimals if "e" not in digits else 0.06 * number
        assert (np.abs(scale * known - number) <= tolerance).any(), digits + percent


def test_numbers_are_those_of_the_library(patients, model, content):
    table, y = patients
    problem = model.problem(table, y)
    assert content["model"] == model.card_.model_dump(mode="json")
    assert content["proof"]["valid"]
    assert content["proof"]["checked_lower_bound"] <= model.objective_
    best = sl.near_optimal(problem)
    assert [row["cost"] for row in content["alternatives"]["models"]] == [m.cost for m in best]
    chosen = [step for step in content["staircase"]["steps"] if step["is_chosen"]]
    assert [step["predictors"] for step in chosen] == [model.selected_features_]
    (auc,) = [row for row in content["performance"]["corrected"] if row["metric"] == "auc"]
    probability = model.predict_proba(table)[:, 1]
    pairs = probability[y == 1][:, None] - probability[y == 0]
    assert auc["apparent"] == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())
    assert content["missing"]["complete_rows"] == 85


def test_the_example_adds_up(content, model):
    example = content["example"]
    total = example["intercept"] + sum(term["adds"] for term in example["terms"])
    assert total == pytest.approx(example["log_odds"])
    assert expit(total) == pytest.approx(example["probability"])


def test_the_equation_is_complete(content, model, patients):
    """Evaluated by hand it predicts what the model predicts."""
    table, _ = patients
    row = table.iloc[[0]]
    parts = content["equation"]["parts"]
    assert {part["predictor"] for part in parts} == set(model.selected_features_)
    total = content["equation"]["intercept"]
    for part in parts:
        value = row[part["predictor"]].iloc[0]
        if part["what"] == "is":
            level = value if isinstance(value, str) else f"{value:g}"
            total += part["coefficient"] * (level == part["level"])
        elif part["what"] == "times":
            total += part["coefficient"] * value
        elif part["what"] == "curve":
            (knots,) = [
                spline["knots"]
                for spline in content["equation"]["splines"]
                if spline["predictor"] == part["predictor"]
            ]
            cubes = [max(value - knot, 0.0) ** 3 for knot in knots]
            t, j = knots, int(part["level"]) - 1
            curve = (
                cubes[j]
                - cubes[-2] * (t[-1] - t[j]) / (t[-1] - t[-2])
                + cubes[-1] * (t[-2] - t[j]) / (t[-1] - t[-2])
            ) / (t[-1] - t[0]) ** 2
            total += part["coefficient"] * curve
    assert total == pytest.approx(model.decision_function(row)[0])


def test_the_page_runs_and_loads_nothing(report, hostile_report):
    for path in (report, hostile_report):
        page = Page(path.read_text())
        assert not {"script", "link", "iframe", "img", "object", "embed"} & set(page.tags)
        for name, value in page.attributes:
            assert not name.startswith("on"), (name, value)
            if name in ("src", "href", "xlink:href"):
                assert value.startswith("#"), value
        assert "http://" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", path.read_text())
        assert "default-src 'none'" in path.read_text()


def test_hostile_names_are_shown_as_they_are(hostile_report):
    page = Page(hostile_report.read_text())
    text = " ".join(page.words)
    for name in (*HOSTILE.values(), *LEVELS.values()):
        assert name in text
    assert page.title.startswith("Prognostic model for </title><script>")


def test_figures_have_text_and_a_table(report, content):
    text = report.read_text()
    assert text.count("<svg role=") == 5
    labels = re.findall(r'aria-labelledby="(\S+) (\S+)"', text)
    for title, description in labels:
        assert f'<title id="{title}">' in text
        assert f'<desc id="{description}">' in text
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_a_model_of_nothing_without_prices_and_resamples(patients, tmp_path):
    table, y = patients
    model = sl.PrognosticModel(max_features=0, ridge=1.0).fit(table, y)
    content = write_report(tmp_path / "r.html", model, table, y, n_resamples=0)
    assert content["purchase"]["n_bought"] == 0
    assert content["staircase"]["limit_name"] == "max_features"
    # Nothing that was not measured is called corrected, or written as a number.
    assert content["stability"] is None
    assert all(row["corrected"] is None for row in content["performance"]["corrected"])
    text = (tmp_path / "r.html").read_text()
    assert "Not known: fewer than two resamples" in text
    assert "on the same patients, which flatters" in text
    json.loads((tmp_path / "r.json").read_text(), parse_constant=pytest.fail)


def test_a_search_that_was_cut_short_says_so(patients, evaluation, tmp_path):
    table, y = patients
    with pytest.warns(ConvergenceWarning):
        model = sl.PrognosticModel(max_features=2, ridge=0.001, node_limit=1, gap=1e-12).fit(
            table, y
        )
    content = write_report(tmp_path / "r.html", model, table, y, evaluation=evaluation)
    assert not content["proof"]["is_optimal"]
    text = (tmp_path / "r.html").read_text()
    assert "Not proven" in text
    # And the evaluation is that of another model, which is told too.
    assert "It selects other predictors on the same patients" in text


def test_an_evaluation_searches_no_longer_than_a_model_that_ran_out_of_time(patients):
    table, y = patients
    with pytest.warns(ConvergenceWarning):
        model = sl.PrognosticModel(max_features=2, ridge=0.001, node_limit=1, gap=1e-12).fit(
            table, y
        )
    model.node_limit, model.status_ = None, sl.Status.TIME_LIMIT  # as if a clock had stopped it
    rows = validate_model(model, table, y, n_resamples=0).rows
    assert rows["unproven"].iloc[0] > 0


def test_resamples_fit_what_the_model_fits(model, evaluation):
    """On the data as they are, the evaluation has the model itself."""
    assert list(evaluation.selected) == model.selected_features_
    assert evaluation.rows["objective"].iloc[0] == pytest.approx(model.objective_)


def test_the_transformer_is_the_design_and_unknown_levels_count_as_missing(patients, model):
    table, y = patients
    study = model._study(table, y)
    transformer = DesignTransformer(study.kinds, 3, True).fit(study.table)
    assert transformer.transform(study.table).tobytes() == model.problem(table, y).X.tobytes()
    odd, gap = study.table.iloc[[0]].copy(), study.table.iloc[[0]].copy()
    odd["stage"], gap["stage"] = "IV", np.nan
    assert transformer.transform(odd).tolist() == transformer.transform(gap).tolist()


def test_riley_by_definition():
    """Each size is the smallest at which its criterion holds."""
    for p, r2, prevalence in ((10, 0.2, 0.3), (24, 0.05, 0.02), (3, 0.4, 0.5)):
        sizes = riley_sample_sizes(p, r2, prevalence)
        for n, wanted in (
            (sizes.shrinkage, 0.9),
            (sizes.r2_difference, r2 / (r2 + 0.05 * largest_r2(prevalence))),
        ):
            expected = [1 + p / (size * log(1 - r2 / wanted)) for size in (n - 1, n)]
            assert expected[0] < wanted <= expected[1] + 1e-12
        margin = 1.96 * np.sqrt(prevalence * (1 - prevalence) / sizes.overall_risk)
        assert margin <= 0.05
    assert cox_snell_r2(0.0, 0.3) == pytest.approx(largest_r2(0.3))
    assert cox_snell_r2(-(0.3 * log(0.3) + 0.7 * log(0.7)), 0.3) == pytest.approx(0.0)


def test_separation_is_found_and_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.logistic(size=60) > 0).astype(int)
    X[:, 2] = (y == 1) & (rng.random(60) < 0.4)  # never without the event: quasi-complete
    problem = sl.SubsetProblem(
        pd.DataFrame(X, columns=["a", "b", "sign"]), y, ridge=1.0, max_features=3
    )
    assert separating_predictors(problem, (0, 1)) == []
    assert separating_predictors(problem, (0, 1, 2)) == ["sign"]


def test_packages_that_are_missing_are_told_before_the_work(patients, model, monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(MissingDependencyError, match=r"shortlist\[report\]"):
        write_report(tmp_path / "r.html", model, *patients)
    assert list(tmp_path.iterdir()) == []


def test_too_few_events_are_told(patients):
    table, _ = patients
    y = np.arange(len(table)) < 2
    model = sl.PrognosticModel(max_features=1, ridge=1.0).fit(table, y)
    with pytest.raises(sl.InvalidProblemError, match="needs 3 patients of each outcome"):
        validate_model(model, table, y)


def test_the_name_must_be_that_of_a_page(patients, model, tmp_path):
    with pytest.raises(sl.InvalidProblemError, match=r"must end in \.html"):
        write_report(tmp_path / "report.json", model, *patients)


def test_content_is_the_same_every_time(patients, model, evaluation, content):
    again = describe_model(model, *patients, evaluation)
    assert json.loads(json.dumps(again)) == content
