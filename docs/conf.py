"""The documentation site, built by `make docs`: Sphinx's settings, and formulas as drawings.

Nothing on the site comes from another host: formulas are drawn here, and search, styles and scripts
are in the packages of the extra `docs`.
"""

import warnings
from html import escape
from pathlib import Path

import matplotlib
import ziamath
from docutils import nodes
from sphinx.application import Sphinx

import shortlist

# A formula that does not fit was drawn wrongly, as some brackets are.
_TALLEST, _WIDEST = 150, 720
ziamath.config.svg2 = False  # drawings that share no parts, since a page has many

matplotlib.use("agg")
warnings.filterwarnings("error", module="shortlist")

project = "shortlist"
author = "the shortlist developers"
project_copyright = author
release = version = shortlist.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
templates_path = ["templates"]
default_role = "py:obj"  # `names` in docstrings: a link where there is such an object
autodoc_typehints = "none"  # numpydoc says what the types are, in words
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

ROOT = Path(__file__).parent.parent
sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py",
    "doc_module": ("shortlist",),
    "reference_url": {"shortlist": None},
    "backreferences_dir": "api/examples",
    "image_srcset": ["2x"],
    "min_reported_time": 1e9,  # no page says how long its build took
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

html_theme = "furo"
html_title = "shortlist"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"footer_icons": [], "navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def _draw(formula: str, *, inline: bool) -> str:
    """Return a formula as SVG in the colour of the text, with its source for those who listen."""
    drawing = ziamath.Latex(" ".join(formula.split()), size=17, color="currentColor", inline=inline)
    width, height = drawing.getsize()
    if height > _TALLEST or width > _WIDEST:
        raise ValueError(f"the formula is drawn {width:.0f} x {height:.0f}: {formula}")
    depth = f' style="vertical-align: {drawing.getyofst():.2f}px"' if inline else ""
    tag = "span" if inline else "div"
    label = escape(formula, quote=True)
    return f'<{tag} class="formula" role="img" aria-label="{label}"{depth}>{drawing.svg()}</{tag}>'


def _inline_math(writer, node: nodes.math) -> None:
    writer.body.append(_draw(node.astext(), inline=True))
    raise nodes.SkipNode


def _displayed_math(writer, node: nodes.math_block) -> None:
    writer.body.append(_draw(node.astext(), inline=False))
    raise nodes.SkipNode


def _is_inherited_from_others(app, kind, name, member, skip, options) -> bool | None:
    """Leave out what scikit-learn and pydantic add to classes; None leaves it to Sphinx."""
    method = getattr(member, "fget", member)
    module = getattr(method, "__module__", None) or "shortlist"
    return None if module.startswith("shortlist") else True


def setup(app: Sphinx) -> None:
    """Draw mathematics without scripts and fonts of others, and document our own methods."""
    app.connect("autodoc-skip-member", _is_inherited_from_others)
    app.add_html_math_renderer(
        "drawn",
        inline_renderers=(_inline_math, None),
        block_renderers=(_displayed_math, None),
    )
    app.config.html_math_renderer = "drawn"
