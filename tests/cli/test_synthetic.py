"""`shortlist demo` and `shortlist simulate`, and how the command line answers errors."""

import pandas as pd
import pytest

import shortlist as sl
from shortlist.tables import read_table

EXACT = ("demo", "--backend", "enumeration")


def names(model):
    return [predictor["name"] for predictor in model["predictors"]]


def test_json_and_table_show_both_purchases(run, record):
    demo, text = record(*EXACT), run(*EXACT).text
    best, greedy = demo["best"], demo["greedy"]
    assert set(demo) == {"data", "budget", "ridge", "backend", "best", "greedy", "greedy_excess"}
    assert set(greedy) == {"predictors", "intercept", "cost", "objective", "auc"}
    assert set(best) - set(greedy) == {"status", "lower_bound", "gap", "nodes", "seconds"}
    assert list(best["predictors"][0]) == [
        *("name", "role", "cost", "coefficient", "odds_ratio_per_tenth")
    ]
    assert best["status"] == "optimal"
    for model in (best, greedy):
        assert model["cost"] == sum(predictor["cost"] for predictor in model["predictors"]) <= 10
        assert all(name in text for name in names(model))
    assert best["lower_bound"] <= best["objective"] <= greedy["objective"]
    assert demo["greedy_excess"] == pytest.approx(greedy["objective"] / best["objective"] - 1)
    # The default shows a greedy rule that buys noise.
    assert demo["greedy_excess"] > 0.1
    assert {predictor["role"] for predictor in best["predictors"]} == {"informative"}
    assert "uninformative" in {predictor["role"] for predictor in greedy["predictors"]}
    assert f"{demo['greedy_excess']:.1%} worse" in text
    assert f"{best['objective']:.3f}" in text
    assert "chosen to show a difference" in text
    assert "finds the same selection" in run(*EXACT, "--seed", "1").text


def test_the_default_backend_agrees_with_enumeration(record):
    default, reference = record("demo"), record(*EXACT)
    assert default["backend"] == "native"
    assert names(default["best"]) == names(reference["best"])
    assert default["best"]["objective"] == pytest.approx(reference["best"]["objective"], rel=1e-6)
    assert default["greedy"]["objective"] == pytest.approx(reference["greedy"]["objective"])


@pytest.mark.slow
@pytest.mark.parametrize("label_noise", ["0", "0.05"])
@pytest.mark.parametrize("seed", [str(seed) for seed in range(12)])
def test_backends_agree_on_other_seeds(record, seed, label_noise):
    arguments = ("--seed", seed, "--label-noise", label_noise)
    native, reference = record("demo", *arguments), record(*EXACT, *arguments)
    assert native["best"]["objective"] == pytest.approx(reference["best"]["objective"], rel=1e-6)
    # Each is rounded on its own: equal to the last digit but one.
    assert native["best"]["lower_bound"] <= reference["best"]["objective"] * (1 + 1e-12)
    assert native["greedy_excess"] > -1e-6


def test_a_heuristic_proves_nothing_and_ends_with_3(run):
    run("demo", "--backend", "univariable", code=3)


def test_simulate_writes_the_patients_of_make_prognostic(run, refusal, tmp_path):
    arguments = ("simulate", tmp_path / "p.csv", tmp_path / "c.csv")
    run(*arguments, "--rows", "100", "--seed", "3")
    data = sl.datasets.make_prognostic(100, random_state=3)
    table = read_table(tmp_path / "p.csv")
    assert table.pop("outcome").tolist() == data.y.tolist()
    pd.testing.assert_frame_equal(table, data.X, check_exact=True, check_column_type=False)
    assert pd.read_csv(tmp_path / "c.csv")["cost"].tolist() == data.costs.tolist()
    assert "n_features" in refusal(*arguments, "--columns", "3")
    assert "is used twice" in refusal("simulate", tmp_path / "p.csv", tmp_path / "p.csv")


def test_help_and_version(run):
    text = run("--help").text
    assert "Exit codes" in text
    for command in (
        *("demo", "simulate", "costs-template", "fit", "predict", "validate"),
        *("path", "alternatives", "verify", "export", "explore"),
    ):
        assert command in text
        assert "Usage" in run(command, "--help").stdout
    assert run("--version").stdout.startswith("shortlist ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("demo", "--no-such-option"),
        ("demo", "--budget", "-1"),
        ("demo", "--ridge", "0"),
        ("demo", "--backend", "no-such-backend"),
        ("no-such-command",),
    ],
)
def test_wrong_usage_ends_with_2_and_a_message(refusal, arguments):
    assert refusal(*arguments)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(28, "No space left on device"), "Error: No space left on device."),
        (OSError("odd"), "Error: odd."),
        (FileNotFoundError(2, "No such file", "a.csv"), "Error: a.csv: No such file."),
    ],
)
def test_an_error_of_the_system_is_one_sentence(refusal, monkeypatch, error, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("shortlist.datasets.make_prognostic", fail)
    assert refusal("demo") == message
