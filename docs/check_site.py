"""Check a built site: it needs no other host, and its links lead somewhere.

    python docs/check_site.py build/site

Sphinx checks the links between sources. This looks at what came out: every script, style, font and
image lies in the site, and every link within it has a page and a place on that page.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes by which a page loads what it needs, and those by which it only points somewhere.
_LOADS = {"script": "src", "img": "src", "source": "src", "iframe": "src", "link": "href"}
_STYLE_LOADS = re.compile(r"@import\s+[\"']?([^\"';)]+)|url\(\s*[\"']?([^\"')]+)")


class Page(HTMLParser):
    """What a page loads, where it links to, and which places on it can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect from one tag."""
        attributes = {name: value or "" for name, value in attrs}
        self.places.update(attributes[name] for name in ("id", "name") if name in attributes)
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        if _LOADS.get(tag) in attributes:
            self.loads.append(attributes[_LOADS[tag]])
        if "srcset" in attributes:
            self.loads += [part.split()[0] for part in attributes["srcset"].split(",")]

    def has(self, place: str) -> bool:
        """Whether there is such a place; the page itself is one without a name."""
        return place == "" or place in self.places


def complaints(site: Path) -> list[str]:
    """Return one line for everything that is missing or elsewhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        for address in [*page.loads, *page.links]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if address in page.loads and parts.scheme != "data":
                    found.append(f"{name}: loads {address}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                found.append(f"{name}: there is no {address}")
            elif target in pages and not pages[target].has(unquote(parts.fragment)):
                found.append(f"{name}: {address} has no such place")
    for style in sorted(site.rglob("*.css")):
        for either in _STYLE_LOADS.findall(style.read_text(encoding="utf-8")):
            address = either[0] or either[1]
            if "//" in address and not address.startswith("data:"):
                found.append(f"{style.relative_to(site)}: loads {address}")
    return found


def main() -> None:
    """Print the complaints, and fail if there are any."""
    site = Path(sys.argv[1]).resolve()
    found = complaints(site)
    print("\n".join(found) or f"{site.name}: nothing is missing, nothing comes from elsewhere")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
