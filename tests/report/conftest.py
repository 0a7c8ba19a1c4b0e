"""A model with every kind of column, gaps, fees and hostile names, and a report about it."""

import json

import numpy as np
import pandas as pd
import pytest
from hostile_names import HOSTILE, LEVELS

import shortlist as sl
from shortlist.external import write_external
from shortlist.report import validate_centres, validate_model, write_report


@pytest.fixture(scope="session")
def patients():
    rng = np.random.default_rng(3)
    n = 90
    age, stage = rng.normal(60, 12, n).round(), rng.choice(["I", "II", "III"], n)
    table = pd.DataFrame(
        {
            "age": age,
            "lab": rng.random(n).round(3),
            "stage": stage,
            "smoker": (rng.random(n) < 0.4).astype(float),
            "noise": rng.random(n),
        }
    )
    risk = 0.1 * (age - 60) + 2 * (stage == "III") + 2 * table["lab"] - 1.5
    y = pd.Series((risk + rng.logistic(size=n) > 0).astype(int), name="dead")
    table.loc[[3, 17], "age"] = np.nan
    table.loc[[5, 6, 40], "stage"] = None
    return table, y


def fitted(table, y, names):
    costs = {"age": 1, "lab": 5, "stage": 3, "smoker": 1, "noise": 1}
    return sl.PrognosticModel(
        budget=11,
        costs={names.get(name, name): cost for name, cost in costs.items()},
        fees=[(2.5, [names.get(name, name) for name in ("stage", "lab")])],
        ridge=1.0,
        preparation=sl.Preparation(missing_indicator=True, spline_knots=3),
    ).fit(table.rename(columns=names), y)


@pytest.fixture(scope="session")
def model(patients):
    return fitted(*patients, {})


@pytest.fixture(scope="session")
def evaluation(patients, model):
    return validate_model(model, *patients, n_resamples=3)


@pytest.fixture(scope="session")
def groups(patients, model):
    """Centres, one of them small, and subgroups."""
    places = np.where(np.arange(len(patients[1])) < 5, "small", np.arange(len(patients[1])) % 3)
    return {
        "centres": validate_centres(model, *patients, places),
        "subgroups": ["smoker,age>60", "stage=III"],
    }


@pytest.fixture(scope="session")
def report(patients, model, evaluation, groups, tmp_path_factory):
    """The path of a report with plain names."""
    path = tmp_path_factory.mktemp("plain") / "report.html"
    write_report(path, model, *patients, evaluation=evaluation, **groups)
    return path


@pytest.fixture(scope="session")
def validation(patients, model, tmp_path_factory):
    """The path of a page about the model on other patients."""
    path = tmp_path_factory.mktemp("validation") / "validation.html"
    table, y = (part.iloc[::2].reset_index(drop=True) for part in patients)
    groups = {"centres": np.arange(len(y)) % 2, "subgroups": ["smoker"]}
    write_external(path, model.card_, table, y, **groups)
    return path


@pytest.fixture(scope="session")
def hostile_report(patients, tmp_path_factory):
    """The path of a report whose columns, levels and outcome try to break it."""
    table, y = patients
    table = table.assign(stage=table["stage"].replace(LEVELS))
    model = fitted(table, y, HOSTILE)
    outcome = model.card_.outcome.model_copy(
        update={"name": "</title><script>", "event": "'\"><svg onload=alert(1)>"}
    )
    model.card_ = model.card_.model_copy(update={"outcome": outcome})
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    write_report(path, model, table.rename(columns=HOSTILE), y, n_resamples=2)
    return path


@pytest.fixture(scope="session")
def content(report):
    return json.loads(report.with_suffix(".json").read_text())
