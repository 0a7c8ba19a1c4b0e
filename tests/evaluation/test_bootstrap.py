"""What an evaluation says, and that nothing but its experiment decides it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from flat_options import experiment_of
from naive_evaluation import NaiveEvaluation
from sample_data import make_data
from scipy.special import expit

import shortlist as sl
from shortlist.evaluation import Evaluation, evaluate_all, read_journal
from shortlist.evaluation.metric import point_632_plus

N_RESAMPLES = 9


@pytest.fixture(scope="module")
def experiment() -> sl.Experiment:
    X, y = make_data()
    return experiment_of(pd.DataFrame(X, columns=list("abcde")), y, max_features=2)


@pytest.fixture(scope="module")
def evaluation(experiment: sl.Experiment) -> Evaluation:
    return sl.evaluate(experiment, N_RESAMPLES)


@pytest.fixture(scope="module")
def naive(experiment: sl.Experiment) -> list[dict[str, Any]]:
    return [
        NaiveEvaluation(experiment.X, experiment.y, "clean", 0, resample, max_features=2).run()
        for resample in range(N_RESAMPLES + 1)
    ]


def test_rows_and_selection(evaluation: Evaluation, naive: list[dict[str, Any]]) -> None:
    assert evaluation.rows["resample"].tolist() == list(range(N_RESAMPLES + 1))
    assert evaluation.rows["test_auc"].tolist() == pytest.approx([n["test_auc"] for n in naive])
    assert evaluation.selection.columns.tolist() == list("abcde")
    assert evaluation.selection.index.tolist() == list(range(1, N_RESAMPLES + 1))
    for row, expected in zip(evaluation.selection.to_numpy(), naive[1:], strict=True):
        assert np.flatnonzero(row).tolist() == expected["support"]
    assert evaluation.selected == tuple("abcde"[g] for g in naive[0]["support"])


def test_summary(evaluation: Evaluation, naive: list[dict[str, Any]]) -> None:
    summary = evaluation.summary(level=0.8)
    assert summary.index.tolist() == ["auc", "accuracy", "brier", "log_loss"]
    for metric, line in summary.iterrows():
        values = sorted(result[f"test_{metric}"] for result in naive[1:])
        assert line["estimate"] == pytest.approx(naive[0][f"test_{metric}"], rel=1e-4)
        assert line["mean"] == pytest.approx(np.mean(values), rel=1e-4)
        # Of 9 values the first and the last leave a tenth on each side.
        assert line[["lower", "upper"]].tolist() == pytest.approx(values[:: len(values) - 1])
        assert line["n_resamples"] == N_RESAMPLES


def test_calibration_is_corrected_by_harrells_bootstrap(
    evaluation: Evaluation, naive: list[dict[str, Any]]
) -> None:
    table = evaluation.optimism(level=0.8)
    assert table.index.tolist()[:2] == ["auc", "brier"]
    for metric, line in table.iloc[2:].iterrows():
        apparent = naive[0][f"data_{metric}"]
        own, data = ([each[f"{p}_{metric}"] for each in naive[1:]] for p in ("resample", "data"))
        optimism = np.mean(own) - np.mean(data)
        assert line["apparent"] == pytest.approx(apparent, rel=1e-4)
        assert line["optimism"] == pytest.approx(optimism, abs=1e-4)
        assert line["corrected"] == pytest.approx(apparent - optimism, abs=1e-4)
        assert line["n_resamples"] == N_RESAMPLES
    assert table["lower"].isna().all()  # nine are too few for the middle of an interval


def test_auc_and_brier_score_are_corrected_by_the_632_bootstrap(
    evaluation: Evaluation, naive: list[dict[str, Any]]
) -> None:
    table = evaluation.optimism()
    outside = evaluation.resamples["outside_auc"]
    assert 0 < table.loc["auc", "error"] <= outside.std() / np.sqrt(len(outside)) * (1 + 1e-9)
    chances = {"auc": 0.5, "brier": naive[0]["brier_by_chance"]}
    for metric, chance in chances.items():
        apparent = naive[0][f"data_{metric}"]
        outside = np.mean([each[f"outside_{metric}"] for each in naive[1:]])
        weight = 0.632 / (1 - 0.368 * (apparent - outside) / (apparent - chance))
        expected = (1 - weight) * apparent + weight * outside
        assert table.loc[metric, "corrected"] == pytest.approx(expected, abs=1e-4)
        assert table.loc[metric, "optimism"] == pytest.approx(apparent - expected, abs=1e-4)
    assert table.loc["auc", "optimism"] > 0 > table.loc["brier", "optimism"]


def test_point_632_at_its_ends() -> None:
    assert point_632_plus(0.8, 0.8, 0.5) == 0.8
    assert point_632_plus(0.8, 0.5, 0.5) == 0.5
    assert point_632_plus(0.8, 0.4, 0.5) == 0.5  # worse than chance outside is chance
    assert point_632_plus(0.25, 0.26, 0.25) == 0.25  # a model without information
    assert point_632_plus(0.8, 0.81, 0.5) == pytest.approx(0.368 * 0.8 + 0.632 * 0.81)
    assert point_632_plus(0.1, 0.2, 0.3) == pytest.approx(0.1 + 0.1 * 0.632 / (1 - 0.184))


def test_difference_is_paired(evaluation: Evaluation, experiment: sl.Experiment) -> None:
    fewer = experiment.problem.with_limits(max_features=1)
    other = sl.evaluate(replace(experiment, problem=fewer), N_RESAMPLES)
    table = evaluation.difference(other, level=0.8)
    differences = evaluation.rows["test_auc"] - other.rows["test_auc"]
    line = table.loc["auc", ["estimate", "mean", "lower", "upper"]]
    resamples = differences[1:]
    assert line.tolist() == pytest.approx(
        [differences[0], resamples.mean(), resamples.min(), resamples.max()]
    )
    with pytest.raises(sl.InvalidProblemError, match="other: has other resamples"):
        evaluation.difference(sl.evaluate(experiment, 1))


def test_predictions_are_out_of_fold(evaluation: Evaluation, experiment: sl.Experiment) -> None:
    predictions = evaluation.predictions
    assert predictions is not None
    assert predictions["y"].tolist() == experiment.y.tolist()
    plain = NaiveEvaluation(experiment.X, experiment.y, "clean", 0, 0, max_features=2)
    train, test = plain.folds(plain.copies)[0]
    model = plain.tuned_model(train)
    assert predictions["probability"][test].tolist() == pytest.approx(
        model.predict_proba(plain.X[test])[:, 1], rel=1e-4
    )


@pytest.mark.slow
def test_processes_change_nothing(evaluation: Evaluation, experiment: sl.Experiment) -> None:
    parallel = sl.evaluate(experiment, N_RESAMPLES, n_jobs=2)
    assert parallel.rows.to_csv() == evaluation.rows.to_csv()


def test_rows_survive_a_csv_file(evaluation: Evaluation, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    evaluation.rows.to_csv(path, index=False)
    rows = pd.read_csv(path, dtype={"support": str})
    again = Evaluation(rows, evaluation.names, evaluation.predictions)
    pd.testing.assert_frame_equal(again.summary(), evaluation.summary())
    pd.testing.assert_frame_equal(again.optimism(), evaluation.optimism())
    pd.testing.assert_frame_equal(again.selection, evaluation.selection)
    alone = Evaluation(rows, evaluation.names).optimism()
    assert alone["corrected"].equals(evaluation.optimism()["corrected"])
    assert alone[["lower", "upper"]].isna().all(axis=None)


def test_resamples_can_be_added(experiment: sl.Experiment, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    few = sl.evaluate(experiment, 2, journal=path)
    more = sl.evaluate(experiment, 4, journal=path)
    pd.testing.assert_frame_equal(more.rows[:3], few.rows)
    assert len(read_journal(path).results) == 5
    assert sl.evaluate(experiment, 2, journal=path).rows.to_csv() == few.rows.to_csv()


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"protocol": "paper"},
        {"backend": "enumeration"},
        {"problem": sl.SubsetProblem(*make_data(), ridge=1.0, max_features=3)},
        {"ridges": (0.1, 0.02)},
        {"gap": 1e-4},
    ],
)
def test_a_journal_belongs_to_its_experiment(
    experiment: sl.Experiment, tmp_path: Path, change: dict[str, Any]
) -> None:
    path = tmp_path / "journal.jsonl"
    sl.evaluate(experiment, 0, journal=path)
    sl.evaluate(replace(experiment), 0, journal=path)
    with pytest.raises(sl.InvalidProblemError, match="other work"):
        sl.evaluate(replace(experiment, **change), 0, journal=path)


def test_data_are_part_of_an_experiment_and_cannot_be_changed() -> None:
    X, y = make_data()
    own = experiment_of(X, y, max_features=2)
    before = own.fingerprint
    assert experiment_of(X.copy(), y, max_features=2).fingerprint == before
    X[3, 2] = np.nextafter(X[3, 2], 9)
    assert experiment_of(X, y, max_features=2).fingerprint != before
    assert own.fingerprint == before
    with pytest.raises(ValueError, match="read-only"):
        own.X[0, 0] = 3
    with pytest.raises(AttributeError):
        own.seed = 3  # type: ignore[misc]


def test_several_experiments_share_a_run(experiment: sl.Experiment, tmp_path: Path) -> None:
    experiments = {b: replace(experiment, backend=b) for b in ("native", "enumeration")}
    path = tmp_path / "journal.jsonl"
    together = evaluate_all(experiments, 1, journal=path)
    assert list(read_journal(path).results) == [
        "native/0", "native/1", "enumeration/0", "enumeration/1",
    ]  # fmt: skip
    for name, alone in experiments.items():
        assert together[name].rows.to_csv() == sl.evaluate(alone, 1).rows.to_csv()


def test_no_resamples_leave_the_estimate(experiment: sl.Experiment) -> None:
    summary = sl.evaluate(experiment, 0).summary()
    assert summary["estimate"].notna().all()
    assert summary[["mean", "lower", "upper"]].isna().all(axis=None)


def test_numbers_are_checked(experiment: sl.Experiment, evaluation: Evaluation) -> None:
    for n_resamples in (-1, 2.5, "many"):
        with pytest.raises(sl.InvalidProblemError, match="n_resamples: must be an integer"):
            sl.evaluate(experiment, n_resamples)  # type: ignore[arg-type]
    for level in (0, 1, 95):
        with pytest.raises(sl.InvalidProblemError, match="level: must be between 0 and 1"):
            evaluation.summary(level)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"backend": "magic"}, "backend: there is no 'magic'"),
        ({"backend": ["native"]}, "backend: there is no"),
        ({"protocol": "dirty"}, "protocol: must be 'clean' or 'paper'"),
        ({"scoring": "accuracy"}, "scoring: must be 'neg_log_loss' or 'roc_auc'"),
        ({"persons": [1] * 60, "protocol": "paper"}, "persons: the paper protocol"),
        ({"persons": [1, 2]}, "persons: expected 60 labels"),
        ({"followed": [0, 60]}, "followed: must be numbers of rows from 0 to 59, not 60"),
        ({"ridges": ()}, "ridges: must be a sequence"),
        ({"ridges": (0.1, 0)}, "ridges: must be a sequence"),
        ({"ridges": 0.1}, "ridges: must be a sequence"),
        ({"n_folds": 1}, "n_folds: must be an integer of at least 2"),
        ({"seed": -1}, "seed: must be an integer of at least 0"),
        ({"seed": 0.5}, "seed: must be an integer"),
        ({"loss": "hinge"}, "problem: an experiment measures risks"),
        ({"sample_weight": [2] * 60}, "problem: an experiment .* weighs rows itself"),
        ({"table": [[0]] * 60}, "table: goes with a preprocessor"),
        ({"costs": [1, 2]}, "costs: expected 5 values"),
        ({"max_features": -1}, "max_features: must be an integer"),
    ],
)
def test_bad_experiments(arguments: dict[str, Any], message: str) -> None:
    X, y = make_data()
    with pytest.raises(sl.InvalidProblemError, match=message):
        experiment_of(X, y, **arguments)


def test_probes_show_coefficients() -> None:
    data = sl.datasets.make_prognostic(n_samples=100, random_state=1)
    probes = np.vstack([np.zeros(data.X.shape[1]), np.eye(data.X.shape[1])])
    experiment = experiment_of(data.X, data.y, max_features=3, ridges=(0.1,), probes=probes)
    found = sl.evaluate(experiment, 2).probes
    assert found is not None
    problem = sl.SubsetProblem(data.X, data.y, ridge=0.1, max_features=3)
    coef = sl.solve(problem).coef
    assert (found.iloc[0, 1:] - found.iloc[0, 0]).tolist() == pytest.approx(coef, abs=1e-4)


def test_individual_risks_are_those_of_the_models_of_resamples() -> None:
    data = sl.datasets.make_prognostic(n_samples=90, random_state=0)
    probes = data.X.iloc[[7, 3]]
    experiment = experiment_of(
        data.X, data.y, max_features=2, ridges=(0.1,), probes=probes, followed=[7, 3]
    )
    evaluation = sl.evaluate(experiment, 39, progress=False)
    assert evaluation.probes is not None
    risks = expit(evaluation.probes.to_numpy())
    found = evaluation.individual_risks()
    assert found.index.tolist() == [7, 3]
    assert found["risk"].tolist() == pytest.approx(risks[0].tolist())
    differences = np.abs(risks[1:] - risks[0]).mean(axis=0)
    assert found["difference"].tolist() == pytest.approx(differences.tolist())
    # With 39 values the ends of a 95 % percentile interval are the smallest and the largest.
    assert found["lower"].tolist() == pytest.approx(risks[1:].min(axis=0).tolist())
    assert found["upper"].tolist() == pytest.approx(risks[1:].max(axis=0).tolist())
    without = sl.evaluate(replace(experiment, followed=()), 1, progress=False)
    with pytest.raises(sl.InvalidProblemError, match="followed: the experiment follows no rows"):
        without.individual_risks()
