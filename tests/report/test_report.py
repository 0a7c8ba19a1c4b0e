"""The report says what the model, the problem and the evaluation say, and nothing else."""

import json
import re
from html.parser import HTMLParser
from math import log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from by_hand import draws
from flat_options import prognostic_model
from hostile_names import HOSTILE, LEVELS
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import shortlist as sl
from shortlist.errors import MissingDependencyError
from shortlist.patients.design import Design
from shortlist.report import (
    ReportContent,
    describe_model,
    render_report,
    validate_model,
    write_report,
)
from shortlist.report.equation import describe_splines
from shortlist.report.manuscript import draft_methods
from shortlist.report.page import draw_figures
from shortlist.report.text import default_title, describe_checks, describe_decision
from shortlist.sample_size import cox_snell_r2, largest_r2, riley_sample_sizes

MINUS = "\N{MINUS SIGN}"


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
        "A slope below 1",
        "it is 1 if all agree",
        "In simulations of 100 patients and 10 or 20 candidates the corrected slope was about 0.1 "
        "too low, and intervals of AUC and Brier score held the truth in 91 to 94%",
        "Riley's criteria (2019, 2020)",
        "(Riley and Collins 2023)",
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
    assert page.title.startswith("Logistic regression for </title><script>")


def test_figures_have_text_and_a_table(report, content):
    text = report.read_text()
    assert text.count("<svg role=") == 7
    # The table of a figure follows it, with a row per value or centre.
    for figure, rows in (
        ("splines", [at for s in content["splines"] for at in s["at_knots"]]),
        ("forest", content["centres"]["rows"]),
    ):
        body = text[text.index(f'aria-labelledby="{figure}-title') :].split("<tbody>", 1)[1]
        assert body.split("</tbody>", 1)[0].count("<tr") == len(rows)
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
    assert "apparent, so optimistic" in text
    assert content["decision"]["caution"]["topic"] == "Optimism"
    methods = draft_methods(ReportContent.model_validate(content))
    assert "by cross-validation in the same patients" in methods
    assert "not corrected for optimism" in methods
    assert "resample" not in methods[methods.index("12a") : methods.index("12d")]
    json.loads((tmp_path / "r.json").read_text(), parse_constant=pytest.fail)


def cut_short(patients):
    """A model whose search is stopped long before its proof, and its patients."""
    table, y = patients
    rng = np.random.default_rng(0)
    many = pd.DataFrame(rng.normal(size=(len(y), 16)), columns=[f"marker {i}" for i in range(16)])
    many += rng.normal(size=(len(y), 1))
    table = pd.concat([table[["age", "lab"]].fillna(60.0), many], axis=1)
    with pytest.warns(ConvergenceWarning):
        model = sl.PrognosticModel(max_features=6, ridge=0.001, node_limit=1, gap=1e-12).fit(
            table, y
        )
    return model, table, y


def test_a_search_that_was_cut_short_says_so(patients, tmp_path):
    model, table, y = cut_short(patients)
    other = sl.PrognosticModel(max_features=1, ridge=1.0).fit(table, y)
    evaluation = validate_model(other, table, y, n_resamples=2)
    model.time_limit = 0.5  # for what other budgets buy, and what is nearly as good
    content = write_report(tmp_path / "r.html", model, table, y, evaluation=evaluation)
    assert not content["proof"]["is_optimal"]
    text = (tmp_path / "r.html").read_text()
    assert "Not proven" in text
    # No step or row that is another selection is marked as the model.
    bought = set(model.selected_features_)
    assert any(row["topic"] == "Search" for row in content["checks"])
    for row in (*content["staircase"]["steps"], *content["alternatives"]["models"]):
        assert row["is_chosen"] <= (set(row["predictors"]) == bought)
    assert {row["predictor"] for row in content["stability"]["inclusion"] if row["is_bought"]} == (
        bought
    )
    # And the evaluation is that of another model, which is told too.
    assert "The evaluation selects other predictors on the same patients" in text


def test_an_evaluation_searches_no_longer_than_a_model_that_ran_out_of_time(patients):
    model, table, y = cut_short(patients)
    model.node_limit, model.status_ = None, sl.Status.TIME_LIMIT  # as if a clock had stopped it
    rows = validate_model(model, table, y, n_resamples=0).rows
    assert rows["unproven"].iloc[0] > 0


def test_resamples_fit_what_the_model_fits(model, evaluation):
    """On the data as they are, the evaluation has the model itself."""
    assert list(evaluation.selected) == model.selected_features_
    assert evaluation.rows["objective"].iloc[0] == pytest.approx(model.objective_)


def test_the_transformer_is_the_design_and_unknown_levels_count_as_missing(patients, model):
    table, y = patients
    plain = model.check(table, y)
    transformer = Design(plain.kinds, 3, True).fit(plain.frame)
    assert transformer.transform(plain.frame).tobytes() == model.problem(table, y).X.tobytes()
    odd, gap = plain.frame.iloc[[0]].copy(), plain.frame.iloc[[0]].copy()
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

        def error(n, p=p, share=prevalence):  # van Smeden and others (2019)
            return np.exp(-0.508 + 0.259 * log(share) + 0.504 * log(p) - 0.544 * log(n))

        assert error(sizes.prediction_error) <= 0.05 < error(sizes.prediction_error - 1)
    assert cox_snell_r2(0.0, 0.3) == pytest.approx(largest_r2(0.3))
    assert cox_snell_r2(-(0.3 * log(0.3) + 0.7 * log(0.7)), 0.3) == pytest.approx(0.0)


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


def test_content_is_the_same_every_time(patients, model, evaluation, groups, content):
    again = describe_model(model, *patients, evaluation, **groups)
    assert again.model_dump(mode="json") == content
    assert ReportContent.model_validate(content) == again


def cells(page, first):
    """The cells of the first row of a page that starts with a text."""
    for row in re.findall(r"<tr.*?</tr>", page, re.DOTALL):
        found = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        if found and found[0] == first:
            return found
    raise AssertionError(first)


def test_cells_of_the_page(report, content, evaluation):
    """The numbers that matter most stand where they are said to stand."""
    page = report.read_text()
    optimism = evaluation.optimism()
    for label, metric in (("AUC", "auc"), ("Calibration slope", "calibration_slope")):
        row = optimism.loc[metric]
        # Rounded to the first digit of the Monte-Carlo error.
        digits = min(4, max(1, -int(np.floor(np.log10(row["error"])))))
        found = cells(page, label)
        assert [found[1], found[5]] == [f"{row[n]:.3f}" for n in ("apparent", "cross_validated")]
        assert [found[2], found[4]] == [f"{row[n]:.{digits}f}" for n in ("corrected", "error")]
        assert found[3] == "\N{EN DASH}"  # three resamples are too few for its middle
    known = evaluation.predictions.dropna()
    row = content["performance"]["curves"]["thresholds"][1]
    threshold, harm = row["threshold"], row["threshold"] / (1 - row["threshold"])
    first = f"{100 * threshold:g}%"
    y, acted = known["y"].to_numpy() == 1, known["probability"].to_numpy() >= threshold
    benefit = ((acted & y).sum() - harm * (acted & ~y).sum()) / len(y)
    everyone = (y.sum() - harm * (~y).sum()) / len(y)
    usefulness = cells(page[page.index("More than treating all") :], first)
    assert [usefulness[1], usefulness[3]] == [f"{v:.3f}" for v in (benefit, benefit - everyone)]
    assert row["everyone"] == pytest.approx(everyone)
    sensitivity, specificity = (acted & y).sum() / y.sum(), (~acted & ~y).sum() / (~y).sum()
    shares = (sensitivity, specificity, y[acted].mean(), (~y)[~acted].mean())
    ratios = (sensitivity / (1 - specificity), (1 - sensitivity) / specificity)
    found = cells(page[page.index('<th class="n">Sensitivity') :], first)
    assert found[1] == f"{acted.sum()}, {(~acted).sum()}"
    assert [cell.partition("<br>")[0] for cell in found[2:6]] == [
        f"{share:.1%}".replace(".0%", "%") for share in shares
    ]
    assert found[6:] == [f"{ratio:.2f}" for ratio in ratios]
    needed = content["sample_size"]["needed"]
    assert f"{needed['overall_risk']} for an overall risk within 0.05" in page
    assert f"{needed['shrinkage']} for a shrinkage of 0.9" in page


def test_groups_of_the_page(report, content):
    """Centres, their summary, subgroups and Table 1 stand where they are said to stand."""
    page = report.read_text()
    centres = {row["centre"]: row for row in content["centres"]["rows"]}
    assert len(centres) == 4
    part = page[page.index("<summary>Performance by centre") :]
    for name, row in centres.items():
        found = cells(part, name)
        assert found[1:3] == [str(row["n"]), str(row["events"])]
        if row["reason"]:
            assert found[3] == "fewer than 10 with the event"
        else:
            auc = row["measures"][0]
            assert found[3] == (
                f"{auc['estimate']:.2f}<br><small>{auc['lower']:.2f} to {auc['upper']:.2f}</small>"
            )
    pooled = content["centres"]["pooled"][0]
    found = cells(part[part.index("Over centres") :], "AUC")
    assert found[1] == f"{pooled['estimate']:.2f}"
    assert found[3] == f"{pooled['prediction_lower']:.2f} to {pooled['prediction_upper']:.2f}"
    part = page[page.index("<summary>Performance by subgroup") :]
    for row in content["subgroups"]:
        found = cells(part, row["group"].replace(">", "&gt;").replace("<", "&lt;"))
        assert found[1:3] == [str(row["n"]), str(row["events"])]
    part = page[page.index("Candidates by outcome") :]
    (row,) = [row for row in content["baseline"] if row["level"] == "II"]
    found = cells(part, "stage: II")
    assert found[1] == f"{row['all']['count']}<br><small>{100 * row['all']['share']:.1f}%</small>"
    assert [found[5], found[6]] == ["", ""]  # missing values stand in the first row of a factor
    (row,) = [row for row in content["baseline"] if row["level"] == "I"]
    found = cells(part, "stage: I")
    assert [cell.partition("<")[0] for cell in found[4:7]] == [
        str(row[group]["missing"]) for group in ("all", "event", "no_event")
    ]


def test_bands_of_splines_are_percentiles_when_selected(patients, model):
    evaluation = validate_model(model, *patients, n_resamples=45)
    plain = model.check(*patients)
    table, y = patients
    refitted = []
    for resample in range(1, 46):
        rows = draws(len(y), resample)
        refitted.append(clone(model).fit(table.iloc[rows], y.iloc[rows]).card_)
    for curve in describe_splines(model.card_, plain, evaluation):
        points = pd.DataFrame(curve["points"])
        name = curve["predictor"]
        ends = pd.Series([points["value"].iloc[-1], curve["reference"]])
        found = [
            -np.diff(term.contribution(ends).log_odds)[0]
            for card in refitted
            for term in card.terms
            if term.name == name
        ]
        assert len(found) == evaluation.selection[name].sum()
        if len(found) >= 39:
            expected = np.exp(np.quantile(found, [0.025, 0.975], method="weibull"))
            assert points[["lower", "upper"]].iloc[-1].tolist() == pytest.approx(expected.tolist())
        chosen = evaluation.selection[name].sum()
        assert points["lower"].notna().all() == (chosen >= 39)
        if chosen >= 39:
            assert (points["lower"] <= points["upper"]).all()
        counts = pd.DataFrame(curve["histogram"])
        assert counts["events"].sum() == patients[1][patients[0][name].notna()].sum()
        assert counts[["events", "others"]].to_numpy().sum() == patients[0][name].notna().sum()
    another = validate_model(
        sl.PrognosticModel(max_features=1, ridge=1.0).fit(*patients), *patients, n_resamples=2
    )
    assert "lower" not in describe_splines(model.card_, plain, another)[0]["points"][0]


def test_calibration_groups_by_another_way(content, evaluation):
    known = evaluation.predictions.dropna().sort_values("probability", kind="stable")
    groups = content["performance"]["curves"]["calibration"]
    assert sum(group["n"] for group in groups) == len(known)
    start = 0
    for group in groups:
        own = known.iloc[start : start + group["n"]]
        start += group["n"]
        assert group["predicted"] == pytest.approx(own["probability"].mean())
        assert group["observed"] == pytest.approx(own["y"].mean())
        # Wilson: the shares that are just 1.96 of their standard errors from the observed one.
        for end in (group["lower"], group["upper"]):
            error = np.sqrt(end * (1 - end) / group["n"])
            assert abs(end - group["observed"]) == pytest.approx(1.959964 * error, abs=1e-6)


def test_rows_of_persons_are_told(patients, model, evaluation):
    persons = np.arange(len(patients[0])) // 2
    content = describe_model(model, *patients, evaluation, persons)
    assert content.persons.text == "90 rows of 45 persons"
    page = " ".join(Page(render_report(content)).words)
    assert "chosen from 90 rows of 45 persons" in page
    assert "The rows of a person were kept together" in draft_methods(content)
    size = content.sample_size
    assert size.patients == 45
    events = patients[1].to_numpy()
    with_event = len(np.unique(persons[events == 1]))
    without = len(np.unique(persons[events == 0]))
    assert size.events_per_parameter == min(with_event, without) / size.n_parameters
    assert "85 of 90 rows have all candidates" in page


def test_the_ridge_is_tuned_anew_on_every_resample(patients, tmp_path):
    table, y = patients
    tuning = sl.Tuning(ridges=(10.0, 3.0, 1.0), cv=3, n_repeats=1)
    model = sl.PrognosticModel(max_features=2, tuning=tuning).fit(table, y)
    evaluation = validate_model(model, table, y, n_resamples=8)
    assert evaluation.resamples["ridge"].nunique() > 1
    assert evaluation.rows["ridge"].iloc[0] == model.ridge_  # the model itself
    assert evaluation.rows["objective"].iloc[0] == pytest.approx(model.objective_)
    assert set(evaluation.rows["ridge"]) <= {10.0, 3.0, 1.0}
    content = write_report(tmp_path / "r.html", model, table, y, evaluation=evaluation)
    assert content["performance"]["tuning_folds"] == 3
    page = " ".join((tmp_path / "r.html").read_text().split())
    assert "The ridge is chosen in 3 folds there." in page
    fixed = sl.PrognosticModel(max_features=2, ridge=3.0).fit(table, y)
    assert set(validate_model(fixed, table, y, n_resamples=2).rows["ridge"]) == {3.0}


def checks_with(content, topic, section, **changes):
    """The texts on a topic after some changes to a section of the content."""
    changed = ReportContent.model_validate(content | {section: content[section] | changes})
    return [check["text"] for check in describe_checks(changed) if check["topic"] == topic]


@pytest.mark.parametrize(
    ("n_ties", "are_known", "start"),
    [(0, True, None), (0, False, "Unknown"), (2, True, "2 other"), (2, False, "At least 2 other")],
)
def test_ties_are_claimed_only_as_far_as_they_are_known(content, n_ties, are_known, start):
    changes = {"n_ties": n_ties, "ties_are_known": are_known}
    texts = checks_with(content, "Ties", "alternatives", **changes)
    assert [text.startswith(start) for text in texts] == ([] if start is None else [True])


@pytest.mark.parametrize(
    ("slope", "lower", "upper", "told"),
    [
        (0.8, 0.6, 0.9, "Risks too extreme (slope 0.80, 0.60 to 0.90)."),
        (0.8, 0.6, 1.1, None),
        (1.3, 1.1, 1.6, "Risks not extreme enough (slope 1.30, 1.10 to 1.60)."),
        (0.5, None, None, None),
    ],
)
def test_risks_are_called_too_extreme_only_if_the_interval_says_so(
    content, slope, lower, upper, told
):
    values = {"corrected": slope, "lower": lower, "upper": upper}
    rows = [
        row | (values if row["metric"] == "calibration_slope" else {})
        for row in content["performance"]["corrected"]
    ]
    texts = checks_with(content, "Calibration", "performance", corrected=rows)
    assert texts == ([] if told is None else [told])


def test_the_first_lines_decide(report, content):
    page = re.sub(r"\s+", " ", " ".join(Page(report.read_text()).words))
    first = page[: page.index("The model")]
    for row in content["purchase"]["bought"]:
        assert row["predictor"] in first
    share = content["sample_size"]["prevalence"]
    assert content["decision"]["brier_of_none"] == pytest.approx(share * (1 - share))
    assert f"({share * (1 - share):.3f} without a model)" in first
    assert content["decision"]["caution"]["text"] in first
    full = ReportContent.model_validate(content)
    leak = {"level": "warning", "topic": "Leak", "text": "x", "columns": []}
    assert describe_decision(full, [*full.checks, leak]).caution["topic"] == "Leak"
    assert describe_decision(full, []).caution is None
    staircase = content["staircase"]
    cheap = staircase["steps"][0]
    changed = full.model_copy(
        update={"staircase": full.staircase.model_copy(update={"enough": cheap["limit"]})}
    )
    found = describe_decision(changed, []).enough
    assert (found.limit, found.predictors) == (cheap["limit"], cheap["predictors"])
    spent = full.staircase.model_copy(update={"enough": content["purchase"]["cost"] + 1.0})
    assert describe_decision(full.model_copy(update={"staircase": spent}), []).enough is None


def test_a_page_is_short_and_prints_what_decides(report, patients, model, evaluation):
    """At most 900 words unfolded and 2800 in all; --unfold opens all of it."""
    text = re.sub(r"(?s)<(style|svg|head)\b.*?</\1>", " ", report.read_text())

    def count(html):
        return len(re.sub(r"<[^>]+>", " ", html).split())

    assert count(re.sub(r"(?s)<details.*?</details>", " ", text)) <= 900
    assert count(text) <= 2800
    assert "<details open" not in text and "<details id=" in text
    unfolded = render_report(describe_model(model, *patients, evaluation, unfold=True))
    assert unfolded.count("<details") == len(re.findall(r'<details id="\w+" open>', unfolded))
    assert "<h1>Logistic regression for dead = 1</h1>" in unfolded
    card = model.card_.model_copy(update={"codebook": sl.Codebook(title="Prognosis")})
    assert default_title(card) == "Prognosis"


def test_notes_of_one_kind_are_one_and_those_of_others_come_last(content):
    bought = content["purchase"]["bought"][0]["predictor"]
    other = content["purchase"]["not_bought"][0]["predictor"]

    def note(topic, *columns):
        return {"level": "note", "topic": topic, "text": f"{columns}.", "columns": list(columns)}

    found = [note("Rare levels", other), note("Codes", bought), note("Rare levels", other)]
    changed = ReportContent.model_validate(content | {"findings": found})
    rows = [row for row in describe_checks(changed) if row["topic"] in ("Rare levels", "Codes")]
    assert [row["topic"] for row in rows] == ["Codes", "Rare levels"]
    assert rows[1]["text"].count(other) == 2


def test_a_threshold_gives_every_step_its_test_tradeoff(patients, model, evaluation):
    content = describe_model(model, *patients, evaluation, thresholds=[0.4]).model_dump()
    steps = [step for step in content["staircase"]["steps"] if step["is_shown"]]
    assert content["staircase"]["threshold"] == 0.4 and "tests" not in steps[0]
    for step in steps[1:]:
        if step["tests"] is not None:
            assert step["tests_lower"] is None or step["tests_lower"] <= step["tests"]
            assert step["tests_upper"] is None or step["tests"] <= step["tests_upper"]
    assert "Test tradeoff" in render_report(content)


def test_long_names_stay_apart_in_both_figures(patients, tmp_path):
    table, y = patients
    long = {name: f"a very long name of a measurement, {name}" for name in table.columns}
    table = table.rename(columns=long)
    model = sl.PrognosticModel(max_features=2, ridge=1.0).fit(table, y)
    evaluation = validate_model(model, table, y, n_resamples=2)
    content = write_report(tmp_path / "r.html", model, table, y, evaluation=evaluation)
    figures = draw_figures(ReportContent.model_validate(content))
    bought = {name for step in content["staircase"]["steps"] for name in step["predictors"]}
    places = [list(long.values()).index(name) + 1 for name in bought]
    for number in places:
        assert f"… ({number})" in figures["staircase"].inside
        assert f"… ({number})" in figures["inclusion"].inside


def test_resamples_keep_limits_of_coefficients(patients):
    table, y = patients
    model = sl.PrognosticModel(
        max_features=2,
        ridge=0.1,
        max_coefficient={"age": 0.5},
        signs={"lab": "negative"},
    ).fit(table, y)
    evaluation = validate_model(model, table, y, n_resamples=2)
    assert evaluation.rows["objective"].iloc[0] == pytest.approx(model.objective_)


def test_hidden_steps_leave_a_table_that_adds_up(content):
    """What is new and given up from row to row gives the predictors of each row."""
    owned = set()
    hidden = 0
    for step in content["staircase"]["steps"]:
        if not step["is_shown"]:
            hidden += 1
            continue
        owned = (owned - set(step["given_up"])) | set(step["new"])
        assert owned == set(step["predictors"])
    assert hidden == content["staircase"]["n_hidden"]


def test_stable_predictors_and_imputations_are_told(tmp_path):
    data = sl.datasets.make_prognostic(n_samples=120, random_state=1)
    X = data.X.mask(np.random.default_rng(0).random(data.X.shape) < 0.05)
    options = {"max_features": 4, "ridge": 1.0, "stable": True, "imputations": 2}
    model = prognostic_model(**options).fit(X, data.y)
    record = write_report(tmp_path / "r.html", model, X, data.y, n_resamples=2)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    card = model.card_
    assert f"The best selection among {card.among}" in page
    assert f"no other selection of at most 4 of {card.among} fits these patients better" in page
    assert f"{card.terms[0].name} {card.search.stable.times[card.terms[0].name]}" in page
    assert "Missing values were imputed 2 times" in page
    assert record["model"]["search"]["stable"]["times"] == card.search.stable.times
    assert record["model"]["search"]["imputed"] == card.search.imputed
    assert record["evaluated"] == model.selected_features_
    assert record["sample_size"]["patients"] == 120
    assert record["proof"]["valid"]
    methods = draft_methods(ReportContent.model_validate(record))
    assert "imputed 2 times" in methods
    assert "The rule was repeated, its resamples included" in methods
    bought = {name for step in record["staircase"]["steps"] for name in step["predictors"]}
    assert bought.isdisjoint(card.left_out)


def test_the_page_says_how_often_intervals_held_where_events_were_few():
    """About a third of the simulated patients have the event."""
    simulated = Path(__file__).parents[2] / "benchmarks" / "simulated" / "coverage.csv"
    frame = pd.read_csv(simulated)
    few = frame[(frame["n_rows"] / 3 < 5 * frame["n_candidates"])]
    share = few.loc[few["measure"].isin(["auc", "brier"]), "coverage"]
    page = Path(sl.report.__file__).with_name("page.html").read_text(encoding="utf-8")
    assert f"held the truth in {100 * share.min():.0f} to {share.max():.0%}" in page
