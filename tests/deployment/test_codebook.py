"""Labels, units and a title in everything that leaves Python."""

import numpy as np
import pandas as pd
import pytest

import shortlist as sl
from shortlist.deployment import write_calculator, write_model
from shortlist.deployment.nomogram import nomogram_scales
from shortlist.deployment.workbook import workbook_bytes


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(4)
    table = pd.DataFrame(
        {"sodsom": rng.normal(140, 4, 120).round(), "drug": rng.choice(["a", "b", "c"], 120)}
    )
    y = pd.Series((table["sodsom"] + rng.normal(0, 4, 120) > 140).astype(int), name="dthhosp")
    return table, y


@pytest.fixture(scope="module")
def book():
    return sl.Codebook(
        title="Risk of death",
        labels={"sodsom": "Sodium", "dthhosp": "death in hospital"},
        units={"sodsom": "mmol/l"},
        references={"drug": "c"},
    )


def test_every_form_shows_the_codebook_and_computes_the_same(patients, book, tmp_path):
    table, y = patients
    plain = sl.PrognosticModel(max_features=2, ridge=1.0).fit(table, y)
    model = sl.PrognosticModel(max_features=2, ridge=1.0, codebook=book).fit(table, y)
    card = model.card_
    assert (card.log_odds(table) == plain.card_.log_odds(table)).all()
    contrasts = [effect.contrast for effect in card.effects()]
    assert [text for text in contrasts if text.endswith("vs c")] == ["a vs c", "b vs c"]
    assert "per 1 mmol/l" in contrasts
    write_calculator(tmp_path / "page.html", card)
    page = (tmp_path / "page.html").read_text()
    assert "<h1>Risk of death</h1>" in page and "Sodium <span" in page and "(mmol/l)" in page
    for ending in ("R", "js", "sql"):
        write_model(tmp_path / f"model.{ending}", card)
        code = (tmp_path / f"model.{ending}").read_text()
        assert "sodsom: Sodium, mmol/l." in code and "Probability of death in hospital" in code
    assert workbook_bytes(card)
    assert "Sodium, mmol/l" in [scale.name for scale in nomogram_scales(card)]
    chart = sl.points(model, table, y)
    assert "Sodium, mmol/l" in chart.page() and "risk of death in hospital" in chart.page()
    assert sl.deployment.PointsChart.load(_saved(chart, tmp_path)).codebook == chart.codebook


def _saved(chart, folder):
    chart.save(folder / "points.json")
    return folder / "points.json"


def test_a_model_file_keeps_the_codebook_and_others_have_none(patients, book, tmp_path):
    table, y = patients
    model = sl.PrognosticModel(max_features=1, ridge=1.0, codebook=book).fit(table, y)
    model.card_.save(tmp_path / "model.json")
    assert sl.ModelCard.load(tmp_path / "model.json").codebook == book
    plain = sl.PrognosticModel(max_features=1, ridge=1.0).fit(table, y).card_
    assert "codebook" not in plain.model_dump(mode="json")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"units": {"sodium": "mmol/l"}}, "there is no column 'sodium'"),
        ({"labels": {"death": "x"}}, "there is no column 'death'"),
        ({"references": {"sodsom": "1"}}, "has no levels"),
        ({"references": {"drug": "d"}}, "'d' is no level of 'drug'; use one of 'a', 'b', 'c'"),
    ],
)
def test_wrong_codebooks(patients, wrong, message):
    model = sl.PrognosticModel(max_features=1, ridge=1.0, codebook=sl.Codebook(**wrong))
    with pytest.raises(sl.InvalidProblemError, match=message):
        model.fit(*patients)
