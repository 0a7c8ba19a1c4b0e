from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from shortlist.cli.app import app


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def record(*arguments: str) -> dict[str, Any]:
    result = run("demo", "--json", *arguments)
    assert result.exit_code == 0, result.output
    parsed: dict[str, Any] = json.loads(result.stdout)
    return parsed


def names(model: dict[str, Any]) -> list[str]:
    return [predictor["name"] for predictor in model["predictors"]]


def test_json_has_what_the_table_shows() -> None:
    demo = record("--backend", "enumeration")
    assert set(demo) == {"data", "budget", "ridge", "backend", "best", "greedy", "greedy_excess"}
    model = {"predictors", "intercept", "cost", "objective", "auc"}
    assert set(demo["greedy"]) == model
    assert set(demo["best"]) == model | {"status", "lower_bound", "gap", "nodes", "seconds"}
    assert set(demo["best"]["predictors"][0]) == {
        "name",
        "role",
        "cost",
        "coefficient",
        "odds_ratio_per_tenth",
    }
    assert demo["best"]["status"] == "optimal"


def test_both_models_are_affordable_and_ours_is_at_least_as_good() -> None:
    demo = record("--backend", "enumeration")
    for model in (demo["best"], demo["greedy"]):
        assert model["cost"] == sum(predictor["cost"] for predictor in model["predictors"]) <= 10
    assert demo["best"]["lower_bound"] <= demo["best"]["objective"] <= demo["greedy"]["objective"]
    assert demo["greedy_excess"] == pytest.approx(
        demo["greedy"]["objective"] / demo["best"]["objective"] - 1
    )


def test_the_default_shows_a_greedy_rule_that_buys_noise() -> None:
    demo = record("--backend", "enumeration")
    assert demo["greedy_excess"] > 0.1
    assert {predictor["role"] for predictor in demo["best"]["predictors"]} == {"informative"}
    assert "uninformative" in {predictor["role"] for predictor in demo["greedy"]["predictors"]}


def test_the_default_backend_agrees_with_enumeration() -> None:
    default, reference = record(), record("--backend", "enumeration")
    assert default["backend"] == "native"
    assert names(default["best"]) == names(reference["best"])
    assert default["best"]["objective"] == pytest.approx(reference["best"]["objective"], rel=1e-6)
    assert default["greedy"]["objective"] == pytest.approx(reference["greedy"]["objective"])


@pytest.mark.slow
@pytest.mark.parametrize("label_noise", ["0", "0.05"])
@pytest.mark.parametrize("seed", [str(seed) for seed in range(12)])
def test_backends_agree_on_other_seeds(seed: str, label_noise: str) -> None:
    arguments = ("--seed", seed, "--label-noise", label_noise)
    native, reference = record(*arguments), record(*arguments, "--backend", "enumeration")
    assert native["best"]["objective"] == pytest.approx(reference["best"]["objective"], rel=1e-6)
    # Each is rounded on its own: equal to the last digit but one.
    assert native["best"]["lower_bound"] <= reference["best"]["objective"] * (1 + 1e-12)
    assert native["greedy_excess"] > -1e-6


def test_table_names_every_purchase_and_says_how_much_worse_greedy_is() -> None:
    demo, result = record("--backend", "enumeration"), run("demo", "--backend", "enumeration")
    assert result.exit_code == 0
    for name in (*names(demo["best"]), *names(demo["greedy"])):
        assert name in result.stdout
    text = " ".join(result.stdout.split())
    assert f"{demo['greedy_excess']:.1%} worse" in text
    assert f"{demo['best']['objective']:.3f}" in text
    assert "chosen to show a difference" in text


def test_table_says_so_when_greedy_is_right() -> None:
    result = run("demo", "--backend", "enumeration", "--seed", "1")
    assert "finds the same selection" in " ".join(result.stdout.split())


def test_help_and_version() -> None:
    assert "demo" in run("--help").stdout
    assert run("--version").stdout.startswith("shortlist ")
    assert run("--version").exit_code == 0


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
def test_wrong_usage_ends_with_2_and_a_message(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr
    assert "Traceback" not in result.output


def test_what_is_not_proven_ends_with_3() -> None:
    assert run("demo", "--backend", "univariable").exit_code == 3


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(28, "No space left on device"), "Error: No space left on device."),
        (OSError("odd"), "Error: odd."),
        (FileNotFoundError(2, "No such file", "a.csv"), "Error: a.csv: No such file."),
    ],
)
def test_an_error_of_the_system_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, error: OSError, message: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("shortlist.datasets.make_prognostic", fail)
    result = run("demo")
    assert result.exit_code == 2
    assert result.stderr.strip() == message
