"""The check of the documentation site finds what would break it for a reader without a network."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.check_site import complaints


def site(folder: Path, body: str) -> Path:
    (folder / "other.html").write_text('<p id="here">text</p>')
    (folder / "image one.svg").write_text("<svg/>")
    (folder / "index.html").write_text(f"<html><body>{body}</body></html>")
    return folder.resolve()


@pytest.mark.parametrize(
    "body",
    [
        '<a href="other.html#here">x</a><a href="other.html">x</a><a href="#">x</a>',
        '<p id="a">x</p><a href="#a">x</a>',
        '<img src="image%20one.svg"><img src="data:image/png;base64,AA==">',
        '<a href="https://example.org/">elsewhere is fine to point at</a>',
    ],
)
def test_a_whole_site_passes(tmp_path: Path, body: str) -> None:
    assert complaints(site(tmp_path, body)) == []


@pytest.mark.parametrize(
    "body",
    [
        '<a href="missing.html">x</a>',
        '<a href="other.html#there">x</a>',
        '<a href="#a">x</a>',
        '<img src="missing.png">',
        '<img srcset="missing.png 2x">',
        '<script src="https://cdn.example.org/x.js"></script>',
        '<link rel="stylesheet" href="//cdn.example.org/x.css">',
    ],
)
def test_what_is_missing_or_elsewhere_is_found(tmp_path: Path, body: str) -> None:
    assert len(complaints(site(tmp_path, body))) == 1


def test_a_font_from_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "x.css").write_text('@font-face { src: url("https://fonts.example.org/f.woff2") }')
    assert len(complaints(site(tmp_path, ""))) == 1
