"""Links between the documents lead somewhere, and what they tell to install exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_exist(document: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8"))
    built = ("gallery/", "api/")  # pages that Sphinx makes, whose links its own check follows
    missing = [
        link
        for link in links
        if "://" not in link
        and not link.startswith(built)
        and not (document.parent / link).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_nothing_is_installed_from_a_registry_that_does_not_have_it(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    extras = re.findall(r"'\.\[(\w+)\]'", text)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras) <= set(declared["optional-dependencies"])
    assert not re.search(r"pip install\s+(-U\s+)?'?shortlist\b", text)
    assert "'shortlist[" not in text
