"""The page is what the committed results say, and so are its figures."""

import pandas as pd
import pytest

from benchmarks import ladder, peer_grid, render
from benchmarks.catalogue import EXPERIMENTS
from benchmarks.settings import RESULTS, Settings
from benchmarks.table import read_csv, read_rows, write_csv


def test_the_page_is_rendered_from_the_committed_results():
    assert render.PAGE.read_text() == render.render()


def test_figures_are_there_and_have_the_same_bytes_every_time():
    pytest.importorskip("matplotlib", reason="needs shortlist[plots]")
    figures = render.render_figures()
    assert figures == render.render_figures()
    for path, text in figures.items():
        assert path.is_file()
        assert path.name in render.PAGE.read_text()
        assert "<dc:date>" not in text


def test_results_name_their_machine_and_versions():
    for path in sorted(RESULTS.glob("*.csv")):
        if path.stem not in EXPERIMENTS:  # of a simulation, which has a command of its own
            assert (RESULTS.parent / f"{path.stem}.py").is_file()
            continue
        frame = read_csv(path)
        assert (
            frame[["shortlist", "shortlist_sources", "python", "cpu", "date"]].notna().all().all()
        )


def test_a_resumed_run_keeps_rows_with_the_same_facts(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [{"peer": "a", "ridge": 0.1, "support": "0 5"}, {"peer": "b", "ridge": 0.02}]
    write_csv(rows, path)
    settings = Settings(done=read_rows(path))
    (row,) = settings.resume({"ridge": 0.1})
    assert (row["peer"], row["support"]) == ("a", "0 5")
    assert settings.resume({"ridge": 0.004}) == []
    assert read_rows(tmp_path / "none.csv") == ()
    # The machine and the date of the first run stay.
    write_csv([row | {"date": "2001-01-01"}], path)
    assert read_csv(path)["date"].tolist() == ["2001-01-01"]


def test_nothing_to_render_is_said(tmp_path):
    with pytest.raises(SystemExit, match="no results"):
        render.render(tmp_path)


def test_losses_are_told():
    rungs = pd.DataFrame(
        {
            "ladder": "columns", "step": 1000, "time_limit": 60.0, "optimum": 10.0,
            "peer": ["native", "El0ps", "abess"], "status": ["time_limit", "optimal", "heuristic"],
            "seconds": [60.0, 5.0, 1.0], "objective": [10.0, 10.0, 10.5], "gap": [0.2, None, None],
        }
    )  # fmt: skip
    left, exact, heuristic = render.losses_of({"columns": rungs})
    assert left.remark == "a gap of 20% is left"
    assert (exact.who, exact.remark) == ("El0ps", "the same model")
    assert (heuristic.who, heuristic.remark) == ("abess", "5% worse, no proof")
    assert (heuristic.theirs, heuristic.ours, heuristic.size) == ("1 s", "60 s", 60.0)


def test_a_gap_is_told_with_the_limit_on_coefficients():
    cases = pd.DataFrame(
        {
            "rows": [300, 1000, 300], "columns": [300, 1000, 300], "ridge": 1.0, "correlation": 0.5,
            "max_coefficient": [2.0, 2.0, None], "time_limit": 60.0, "seconds": 60.0,
            "status": "time_limit", "gap": [0.1, 0.2, 0.3],
        }
    )  # fmt: skip
    limited, free = render.losses_of({"gaussian": cases})
    assert limited.where == "300 x 300, 1000 x 1000: r = 0.5, ridge 1, coefficients at most 2"
    assert limited.remark == "a gap of 20% is left"
    assert free.where == "300 x 300: r = 0.5, ridge 1"


def test_losses_that_are_left_out_are_counted():
    cases = pd.DataFrame(
        {
            "rows": 300, "columns": 300, "ridge": [float(i) for i in range(1, 13)],
            "correlation": 0.5, "max_coefficient": None, "time_limit": 60.0, "seconds": 60.0,
            "status": "time_limit", "gap": 0.1,
        }
    )  # fmt: skip
    assert "Left out, because smaller: 2.\n" in render._losses_section({"gaussian": cases})


def test_a_comparison_that_was_stopped_says_how_far_it_came():
    frame = read_csv(RESULTS / "peers.csv")
    part = frame[(frame["rows"] == 82) & (frame["columns"] == 53)]
    n_problems = int((part["peer"] == "native").sum())
    told = f"Only {n_problems} of the 12 problems were run: those of 82 x 53."
    assert peer_grid.summarise(part).notes[0] == told


def test_peers_that_are_too_slow_leave_a_ladder(monkeypatch):
    # Those with a limit when they reach it, heuristics when the next rung would be far beyond it.
    seconds = {"native": 99.0, "cuts, SCIP": 19.0, "El0ps": 20.1, "abess": 6.0, "forward": 7.0}

    def measure(settings, make, facts, names):
        for name in ("native", *names):
            yield {"peer": name, "status": "optimal", "seconds": seconds[name], **facts}

    monkeypatch.setattr(ladder, "measure", measure)
    rungs = [ladder.Rung({"step": step}, lambda: None) for step in (1, 2)]
    rows = list(ladder.climb(Settings(full=True), rungs))
    assert [row["peer"] for row in rows if row["step"] == 1] == list(seconds)
    assert [row["peer"] for row in rows if row["step"] == 2] == ["native", "cuts, SCIP", "abess"]
