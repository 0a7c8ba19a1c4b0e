"""The example of docs/evaluation.md runs and shows what it says."""

from __future__ import annotations

import doctest
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "evaluation.md"


def test_example_runs() -> None:
    result = doctest.testfile(
        str(DOCUMENT),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE,
        encoding="utf-8",
    )
    assert result.attempted > 8
    assert result.failed == 0
