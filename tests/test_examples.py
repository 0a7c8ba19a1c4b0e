"""Every example of the gallery runs as it is, and draws something."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    pyplot.close("all")
    runpy.run_path(str(example))
    assert pyplot.get_fignums()
    pyplot.close("all")


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 7
