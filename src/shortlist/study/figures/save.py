"""Figures to files: the same figure always gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from ...files import write_whole
from ...plots.style import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 150
# What the file says about its making, such as the time, is left out.
_METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


@contextmanager
def print_style() -> Iterator[None]:
    """Draw with small type for print, whatever the user's own settings are."""
    require_matplotlib()
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {"font.size": 8, "svg.fonttype": "none", "svg.hashsalt": "shortlist"}
        )
        yield


def save_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as SVG and PNG, close it, and return the files."""
    from matplotlib import pyplot

    paths = []
    for kind, metadata in _METADATA.items():
        buffer = BytesIO()
        figure.savefig(buffer, format=kind, dpi=_DPI, metadata=metadata)
        paths.append(folder / f"{name}.{kind}")
        write_whole(paths[-1], buffer.getvalue())
    pyplot.close(figure)
    return paths
