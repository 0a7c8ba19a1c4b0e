"""The examples of docs/choice.md run and show what it says."""

from __future__ import annotations

import doctest
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "choice.md"


def test_examples_run() -> None:
    result = doctest.testfile(
        str(DOCUMENT),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE,
        encoding="utf-8",
    )
    assert result.attempted > 12
    assert result.failed == 0
