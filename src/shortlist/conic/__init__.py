"""The paper's mixed-integer conic model: written once, for other solvers, files and checks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..errors import InvalidProblemError
from ..problem import SubsetProblem
from .affine import stack
from .loss import Cone
from .model import ConicModel, conic_model
from .scip import build_scip, with_bounds

__all__ = ["ConicModel", "conic_model", "export"]

_CBF_NAMES = {Cone.EXPONENTIAL: "EXP", Cone.ROTATED: "QR"}


def export(problem: SubsetProblem, path: str | Path) -> None:
    """Write a problem as a mixed-integer model that other solvers read.

    The ending of `path` says in which format:

    - `.cbf`: Conic Benchmark Format, the paper's model as it stands, for MOSEK and other conic
      solvers. A comment says which variables are which.
    - `.nl`: the format of AMPL, for solvers of nonlinear problems such as SCIP, BARON, Bonmin and
      Knitro. Exponential cones become exp, coefficients are scaled by sqrt(ridge), columns are
      centred, and bounds are added that no optimum exceeds. The names of the variables, in the
      order of the file, go into a file beside it that ends in `.col`, names of the rows into one
      that ends in `.row`. SCIP writes them, which needs the extra `shortlist[scip]`.

    Formats of linear and quadratic models, such as MPS and LP, cannot express the logistic loss.
    The squared hinge needs quadratic cones alone, and the hinge linear rows. For Cox's partial
    likelihood the cones are about as many as rows and events.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.
    path : str or Path
        The file; one that exists is replaced once the new one is complete.

    Examples
    --------
    >>> import tempfile, pathlib, shortlist as sl
    >>> problem = sl.SubsetProblem([[0.0], [1.0], [2.0]], [0, 1, 1], ridge=0.1, max_features=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "problem.cbf"
    ...     sl.export(problem, path)
    ...     "EXP 3" in path.read_text()
    True
    """
    path = Path(path)
    if path.suffix not in _WRITERS:
        raise InvalidProblemError(
            f"path: {path.name!r} does not end in a known format; use one of {', '.join(_WRITERS)}."
        )
    if not path.parent.is_dir():
        raise InvalidProblemError(f"path: there is no folder {str(path.parent)!r}; make it first.")
    with TemporaryDirectory(prefix=".shortlist-", dir=path.parent) as folder:
        _WRITERS[path.suffix](problem, Path(folder) / path.name)
        for part in Path(folder).iterdir():
            part.replace(path.parent / part.name)


def _write_cbf(problem: SubsetProblem, path: Path) -> None:
    path.write_text("\n".join(_cbf_lines(problem)) + "\n", encoding="ascii")


def _cbf_lines(problem: SubsetProblem) -> Iterator[str]:
    """Say the model section by section; a constraint is A x + b in a cone."""
    model = conic_model(problem)
    at_most = model.rows_and_bounds()
    functions = stack([at_most, model.conic], model.n_variables)
    yield f"# Best-subset selection, {problem.family.name} loss, written by shortlist."
    for name, place in model.blocks.items():
        if place.stop > place.start:
            yield f"# {name}: variables {place.start} to {place.stop - 1}"
    yield from ("VER", "3", "", "OBJSENSE", "MIN", "")
    yield from ("VAR", f"{model.n_variables} 1", f"F {model.n_variables}", "")
    whole = np.flatnonzero(model.integer)
    yield from ("INT", str(len(whole)), *map(str, whole), "")
    cones = [f"{_CBF_NAMES[kind]} {size}" for kind, size in model.cones]
    yield from ("CON", f"{len(functions)} {1 + len(cones)}", f"L- {len(at_most)}", *cones, "")
    yield from _coordinates("OBJACOORD", model.cost)
    entries = functions.matrix.tocoo()
    yield from ("ACOORD", str(entries.nnz))
    for i, j, value in zip(entries.row, entries.col, entries.data.tolist(), strict=True):
        yield f"{i} {j} {value!r}"
    yield ""
    yield from _coordinates("BCOORD", functions.offset)


def _coordinates(section: str, values: Any) -> Iterator[str]:
    places = np.flatnonzero(values)
    yield from (section, str(len(places)))
    yield from (f"{i} {values[i].item()!r}" for i in places)
    yield ""


def _write_nl(problem: SubsetProblem, path: Path) -> None:
    intercept = problem.family.null_intercept(problem.response.values, problem.weights)
    nothing_bought = problem.objective(np.zeros(problem.n_columns), intercept)
    model = conic_model(problem, scaled=True)
    scip, _ = build_scip(with_bounds(model, nothing_bought, problem.scale.least))
    scip.writeProblem(str(path), verbose=False)


_WRITERS = {".cbf": _write_cbf, ".nl": _write_nl}
