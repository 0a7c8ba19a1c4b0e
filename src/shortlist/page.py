"""Templates that are filled in, and pages: HTML files with their style and scripts inside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .errors import import_extra


def template_environment(
    folder: Path, filters: Mapping[str, Callable[..., str]], *, is_html: bool = True
) -> Any:
    """Return what fills in the templates of a folder; on pages everything is escaped."""
    jinja2 = import_extra("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=is_html,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters)
    return environment


def render(
    template: Path,
    *,
    scripts: Sequence[str] = (),
    filters: Mapping[str, Callable[..., str]],
    data: str = "",
    **content: Any,
) -> str:
    """Return a page whose policy allows its own style and scripts, and no others.

    Parameters
    ----------
    template : Path
        Beside it are `page.css` and the scripts.
    scripts : sequence of str
        Names of files.
    filters : mapping
        What the template calls to format values.
    data : str
        JSON that is safe inside a script.
    **content
        What the template shows, with everything escaped.
    """
    from markupsafe import Markup

    folder = template.parent
    environment = template_environment(folder, filters)
    css = (folder / "page.css").read_text(encoding="utf-8")
    script = "\n".join((folder / name).read_text(encoding="utf-8") for name in scripts)
    allowed = _sha256(script) if script else "'none'"
    policy = (
        f"default-src 'none'; style-src {_sha256(css)}; "
        f"script-src {allowed}; "
        "base-uri 'none'; form-action 'none'"
    )
    inside = {"css": css, "script": script, "policy": policy, "data": data}
    page: str = environment.get_template(template.name).render(
        {name: Markup(text) for name, text in inside.items()}, **content
    )
    return page


def _sha256(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
