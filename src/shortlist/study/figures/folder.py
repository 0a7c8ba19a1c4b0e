"""All figures of a study's folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ...files import make_folder
from ..compare import compare
from ..saved import data_set_name, read_features, read_parkinson, read_summary, rows_of
from .features import draw_features
from .fractions import draw_fractions, draw_fractions_beyond
from .performance import draw_parkinson, draw_protocols, draw_seeds
from .save import print_style, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = re.compile(r"(fig1[ab](-beyond)?|appendix-.*|protocols|seeds|parkinson)\.(svg|png)")
_PANELS = {"cardinality": "fig1a", "budget": "fig1b"}


def draw_figures(
    folder: str | os.PathLike[str], out: str | os.PathLike[str] | None = None
) -> list[Path]:
    """Draw all figures of a study, as SVG and PNG.

    `fig1a` and `fig1b` are the paper's Fig. 1 and `fig1a-beyond` and `fig1b-beyond` the same for
    methods that are not in the paper; `appendix-*` are its appendix, a figure per data set and
    study; `protocols`, `seeds` and `parkinson` show what the intervals depend on. What the results
    do not have is not drawn, and such figures of an older run are deleted. The same results give
    the same bytes.

    Parameters
    ----------
    folder : path-like
        The folder of the study.
    out : path-like, optional
        Where the files go; by default `figures` in that folder. In another place nothing is
        deleted.

    Returns
    -------
    list of Path
        The files.
    """
    place = Path(folder) / "figures" if out is None else Path(out)
    tables = read_summary(folder), read_features(folder), read_parkinson(folder), compare(folder)
    paths = []
    with print_style():
        make_folder(place)
        for name, figure in _figures(*tables):
            if figure is not None:
                paths += save_figure(figure, place, name)
    if out is None:  # what an older run has drawn there and this one has not is out of date
        for path in set(place.iterdir()) - set(paths):
            if _NAMES.fullmatch(path.name):
                path.unlink()
    return paths


def _figures(
    summary: pd.DataFrame,
    features: pd.DataFrame,
    parkinson: pd.DataFrame | None,
    comparison: pd.DataFrame,
) -> Iterator[tuple[str, Figure | None]]:
    for study, name in _PANELS.items():
        yield name, draw_fractions(summary, study)
        yield f"{name}-beyond", draw_fractions_beyond(summary, study)
    keys = ["study", "label_noise", "epv", "n_samples", "n_features"]
    for _, part in rows_of(features).groupby(keys):
        first = part.iloc[0]
        yield f"appendix-{data_set_name(first)}", draw_features(part, first["study"])
    yield "protocols", draw_protocols(summary)
    yield "seeds", draw_seeds(comparison)
    yield "parkinson", draw_parkinson(parkinson)
