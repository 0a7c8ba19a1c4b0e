"""What is published: honest lower bounds, one version, and a citation that agrees with it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import shortlist
from tests.release import complaints

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


CHANGELOG = "# Changelog\n\n## Unreleased\n\n## [1.2.0] - 2026-01-31\n\n- Faster.\n"
READY = {
    "version": "1.2.0",
    "changelog": CHANGELOG,
    "citation": "version: 1.2.0\n",
    "archives": ["shortlist-1.2.0-cp312-abi3-linux_x86_64.whl", "shortlist-1.2.0.tar.gz"],
}


def test_a_release_is_ready() -> None:
    assert list(complaints(**READY)) == []


@pytest.mark.parametrize(
    "changed, expected",
    [
        ({"changelog": CHANGELOG.replace(" - 2026-01-31", ", not released yet")}, "and a date"),
        ({"changelog": CHANGELOG.replace("1.2.0", "1.1.0")}, "no section for version 1.2.0"),
        ({"changelog": CHANGELOG.replace("released\n", "released\n\n- More.\n")}, "unreleased"),
        ({"citation": "version: 1.1.0\n"}, "CITATION.cff"),
        ({"archives": ["shortlist-1.2.0.tar.gz"]}, "no wheel"),
        ({"archives": READY["archives"][:1]}, "no source archive"),
    ],
)
def test_what_a_release_lacks_is_said(changed: dict[str, object], expected: str) -> None:
    (sentence,) = complaints(**READY | changed)
    assert expected in sentence


def test_workflows_run_commands_of_the_makefile_and_pin_actions() -> None:
    targets = set(re.findall(r"^([\w-]+)(?: [\w-]+)*:", (ROOT / "Makefile").read_text(), re.M))
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
        for step in (step for job in jobs.values() for step in job["steps"]):
            if "run" in step:
                command, target, *_ = step["run"].split()
                assert (command, target in targets) == ("make", True), step["run"]
            else:
                assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
