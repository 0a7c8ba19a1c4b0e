"""Whether a version is ready to be released: run by `make release-check`.

    python tests/release.py dist

Package, archives, citation and changelog have the same version, and the section of the changelog
has a date and nothing above it. Every complaint is a line, and the exit code is 1 if there are any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

import shortlist

ROOT = Path(__file__).resolve().parents[1]


def complaints(version: str, changelog: str, citation: str, archives: list[str]) -> Iterator[str]:
    """Yield what a release lacks, a sentence each."""
    sections = re.findall(r"^## (.*)\n([^#]*)", changelog, re.M)
    heading = next((text for text, _ in sections if text.startswith(f"[{version}]")), None)
    if heading is None:
        yield f"CHANGELOG.md: has no section for version {version}."
    elif not re.fullmatch(rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d", heading):
        yield f"CHANGELOG.md: the section {heading!r} is not '[{version}] - ' and a date."
    if any(text == "Unreleased" and body.strip() for text, body in sections):
        yield f"CHANGELOG.md: what is unreleased belongs to the section of version {version}."
    if yaml.safe_load(citation)["version"] != version:
        yield f"CITATION.cff: the version is not {version}."
    kinds = {".whl": "wheel", ".tar.gz": "source archive"}
    for ending, kind in kinds.items():
        if not any(n.startswith(f"shortlist-{version}") and n.endswith(ending) for n in archives):
            yield f"dist: has no {kind} of version {version}."


def main() -> None:
    """Print the complaints, and fail if there are any."""
    found = list(
        complaints(
            shortlist.__version__,
            (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
            (ROOT / "CITATION.cff").read_text(encoding="utf-8"),
            [path.name for path in Path(sys.argv[1]).iterdir()],
        )
    )
    print("\n".join(found) or f"Version {shortlist.__version__} is ready.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
