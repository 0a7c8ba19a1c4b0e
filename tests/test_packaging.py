"""What is published: honest lower bounds, one version, and a citation that agrees with it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import shortlist

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Needed to develop, not to use; the newest ones are used.
DEVELOPMENT = {"bench", "browser", "dev", "docs", "test"}
LICENSED = {"mosek"}


def bounds() -> dict[str, str]:
    """The lower bound of each dependency that a user can install."""
    extras = PROJECT["optional-dependencies"].items()
    wanted = [
        *PROJECT["dependencies"],
        *(w for e, ws in extras if e not in DEVELOPMENT for w in ws),
    ]
    found = [re.fullmatch(r"([\w-]+)>=([\d.]+)", w) for w in wanted if "[" not in w]
    assert all(found), "every dependency has a lower bound and nothing else"
    return {match[1]: match[2] for match in found if match}


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    lines = (ROOT / "oldest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    expected = {name: bound for name, bound in bounds().items() if name not in LICENSED}
    assert pinned.keys() == expected.keys()
    for name, bound in expected.items():
        parts, wanted = pinned[name].split("."), bound.split(".")
        assert parts[: len(wanted)] == wanted
        assert set(parts[len(wanted) :]) <= {"0"}


def test_the_citation_is_that_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == shortlist.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == [{"name": author["name"]} for author in PROJECT["authors"]]
    assert citation["references"][0]["year"] == 2023


def test_the_changelog_has_a_section_for_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(shortlist.__version__)}\]", text, re.M)


@pytest.mark.parametrize("name", ["LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff"])
def test_what_a_reader_looks_for_is_there(name: str) -> None:
    assert (ROOT / name).stat().st_size > 100
