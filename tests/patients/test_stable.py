"""The best selection among stable predictors: fit, proof, card, and the report's resamples."""

import json

import numpy as np
import pandas as pd
import pytest
from flat_options import experiment_of

import shortlist as sl
from shortlist.choice.stable import stable_candidates
from shortlist.evaluation import evaluate_resample
from shortlist.evaluation.experiment import Sample, draw
from shortlist.patients import load_proof, problem_of, save_proof, verify_model
from shortlist.patients.worth import cross_validate_limits
from shortlist.report import validate_model
from shortlist.report.validation import make_experiment

pytestmark = pytest.mark.filterwarnings("ignore::shortlist.ShortlistWarning")
OPTIONS = {"max_features": 5, "ridge": 1.0, "stable": True}


@pytest.fixture(scope="module")
def data():
    return sl.datasets.make_prognostic(n_samples=150, random_state=4)


@pytest.fixture(scope="module")
def model(data):
    return sl.PrognosticModel(**OPTIONS).fit(data.X, data.y)


def test_it_is_the_best_of_what_half_of_the_resamples_select(data, model):
    plain = sl.PrognosticModel(max_features=5, ridge=1.0).fit(data.X, data.y)
    problem = plain.problem(data.X, data.y)
    found = stable_candidates(problem)
    record = model.card_.search.stable
    names = list(data.X.columns)
    assert record.times == dict(zip(names, found.times, strict=True))
    assert record.best_objective == pytest.approx(plain.objective_)
    kept = [name for name, times in record.times.items() if times >= 25]
    assert 0 < len(kept) < 5  # the rule says something here
    assert set(names) - set(model.card_.left_out) == set(kept)
    best = sl.solve(sl.SubsetProblem(problem.X[:, [names.index(n) for n in kept]], data.y, ridge=1))
    assert model.objective_ == pytest.approx(best.objective, rel=1e-6)
    assert model.selected_features_ == kept  # five would be affordable
    assert f"{len(kept)} predictors that at least half of 50 resamples" in model.card_.among


def test_the_proof_is_that_of_the_others_excluded(data, model, tmp_path):
    save_proof(tmp_path / "p.json", model.card_, model.certificate_)
    card, certificate = load_proof(tmp_path / "p.json")
    X = pd.DataFrame(data.X)
    assert card == model.card_
    assert verify_model(card, certificate, X, data.y).valid
    problem = problem_of(card, X, data.y)
    assert problem.digest == model.problem(data.X, data.y).digest
    assert [problem.name_of(g) for g in problem.limits.exclude] == list(card.left_out)
    times = card.search.stable.times | {card.left_out[0]: 50}  # claims a wider problem
    stable = card.search.stable.model_copy(update={"times": times})
    search = card.search.model_copy(update={"stable": stable})
    assert not verify_model(
        card.model_copy(update={"search": search}), certificate, X, data.y
    ).valid
    none = card.search.model_copy(update={"stable": None})  # claims the best of all
    assert not verify_model(card.model_copy(update={"search": none}), certificate, X, data.y).valid


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record["times"].popitem(), "counted of other predictors"),
        (lambda record: record.update(resamples=10), "more often than there are"),
        (lambda record: record.update(resamples=0), "resamples"),
        (lambda record: record["times"].update(informative_1=3), "too few resamples select"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(model, tmp_path, change, message):
    content = json.loads(model.card_.model_dump_json())
    change(content["search"]["stable"])
    (tmp_path / "m.json").write_text(json.dumps(content))
    with pytest.raises(sl.InvalidFileError, match=message):
        sl.ModelCard.load(tmp_path / "m.json")


def test_what_is_included_stays_and_nothing_may_remain():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(80, 8)), columns=list("abcdefgh"))
    y = rng.integers(0, 2, 80)
    options = {"max_features": 1, "ridge": 1.0, "stable": True}
    alone = sl.PrognosticModel(**options).fit(X, y)
    assert max(alone.card_.search.stable.times.values()) < 25
    assert alone.selected_features_ == []
    assert "Stable predictors" in [finding.topic for finding in alone.findings_]
    assert verify_model(alone.card_, alone.certificate_, X, y).valid
    options |= {"max_features": 2, "include": ["h"]}
    required = sl.PrognosticModel(**options).fit(X, y)
    assert "h" in required.selected_features_ and "h" not in required.card_.left_out
    assert required.card_.search.stable.times["h"] == 50


def test_fit_on_copies_is_the_procedure_on_their_resample(data, model):
    experiment = make_experiment(model, data.X, data.y, None, 0)
    for resample in (1, 2):
        found = evaluate_resample(experiment, resample, nested=False)
        rows = draw(experiment, resample)[0].copies
        again = sl.PrognosticModel(**OPTIONS).fit(data.X.iloc[rows], np.asarray(data.y)[rows])
        assert [experiment.names[g] for g in found["support"]] == again.selected_features_
        assert found["objective"] == pytest.approx(again.objective_, rel=1e-9)
        assert found["solves"] == 51


def test_the_evaluation_repeats_the_rule_whatever_the_number_of_processes(data, model):
    one, two = (
        validate_model(model, data.X, data.y, n_resamples=3, n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    assert list(one.selected) == model.selected_features_
    pd.testing.assert_frame_equal(one.rows, two.rows, check_exact=True)


def test_persons_are_drawn_as_wholes(data):
    persons = np.arange(150) // 3
    together = sl.PrognosticModel(**OPTIONS).fit(data.X, data.y, persons)
    apart = sl.PrognosticModel(**OPTIONS).fit(data.X, data.y)
    assert together.card_.search.stable != apart.card_.search.stable
    experiment = make_experiment(together, data.X, data.y, persons, 0)
    found = evaluate_resample(experiment, 0, nested=False)
    assert found["objective"] == pytest.approx(together.objective_, rel=1e-9)
    units = Sample(np.array([0, 1, 3]), np.array([2, 2, 1])).units(np.array([0, 0, 1, 2]))
    assert units.tolist() == [0, 1, 0, 1, 2]  # a person drawn twice is two


def test_limits_are_cross_validated_with_the_rule_in_every_fold(data, model):
    plain = model.check(data.X, data.y)
    path = sl.solve_path(model.problem(data.X, data.y))
    curve = cross_validate_limits(model, plain, path, None)
    fixed = sl.PrognosticModel(
        max_features=5, ridge=1.0, exclude=list(model.card_.left_out)
    )  # as if the others had never been candidates
    narrow = fixed.check(data.X, data.y)
    optimistic = cross_validate_limits(fixed, narrow, path, None)
    assert curve.table["log_loss"].iloc[-1] > optimistic.table["log_loss"].iloc[-1]


def test_within_is_refused(data):
    both = sl.PrognosticModel(**OPTIONS, within=0.01)
    with pytest.raises(sl.InvalidProblemError, match=r"^stable: does not go with within"):
        both.fit(data.X, data.y)
    with pytest.raises(sl.InvalidProblemError, match=r"^stable: must be an integer"):
        experiment_of(data.X, data.y, max_features=3, stable="yes")
