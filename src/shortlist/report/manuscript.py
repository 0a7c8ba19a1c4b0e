"""Tables and figures of a report as separate files, for a manuscript."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from pydantic import ValidationError

from ..errors import (
    InvalidFileError,
    MissingDependencyError,
    ShortlistWarning,
    import_extra,
)
from ..evaluation.metric import METRICS
from ..files import make_folder, write_whole
from ..page import template_environment
from ..patients.term import NumericTerm
from ..tables import csv_text
from .content import BaselineRow, EquationPart, ReportContent, labelled
from .group import SHOWN
from .page import make_figures, require_packages

_METHODS = Path(__file__).with_name("methods.txt")
_INTRODUCTION = (
    "Draft sentences for a methods section. The numbers are those of the TRIPOD+AI checklist "
    "(Collins and others 2024).\nOnly the authors can report items 1 to 6, 8, 9b, 9c, 14, 17 to "
    "19, 20a and 25 to 27."
)
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def write_manuscript(folder: str | Path, report: str | Path) -> list[Path]:
    """Write tables and equation of a report as CSV, LaTeX and Word, and its figures as SVG and PNG.

    Parameters
    ----------
    folder : str or Path
        Where the files go; it is made if it is missing.
    report : str or Path
        The JSON file beside a report that `write_report` wrote.

    Returns
    -------
    list of Path
        The files: `characteristics` (Table 1), `coefficients`, `performance`, `thresholds`, and
        `centres`, `heterogeneity` and `subgroups` if the report has them, as `.csv` and `.tex`,
        `equation.tex`, `methods.txt` (a draft by items of TRIPOD+AI), all tables and the equation
        in `tables.docx` (extra `word`; a warning without it), and a `.svg` and a `.png` for each
        figure.
    """
    require_packages()
    from matplotlib import pyplot, rc_context

    try:
        content = ReportContent.model_validate(json.loads(Path(report).read_text(encoding="utf-8")))
    except OSError as error:
        raise InvalidFileError(f"{report}: cannot be read ({error.strerror}).") from None
    except (ValidationError, ValueError):
        raise InvalidFileError(f"{report}: is not the JSON file of a report.") from None
    content = labelled(content)
    folder = Path(folder)
    make_folder(folder)
    files: dict[str, str | bytes] = {
        "equation.tex": latex_equation(content),
        "methods.txt": draft_methods(content),
    }
    tables = manuscript_tables(content)
    for name, (header, rows) in tables.items():
        files[f"{name}.csv"] = csv_text(header, rows)
        files[f"{name}.tex"] = latex_table(header, rows)
    try:
        files["tables.docx"] = word_document(content, tables)
    except MissingDependencyError as error:
        warnings.warn(f"tables.docx was not written. {error}", ShortlistWarning, stacklevel=2)
    for name, figure in make_figures(content).items():
        for ending in ("svg", "png"):
            buffer = BytesIO()
            metadata = {"Date": None} if ending == "svg" else None
            with (
                rc_context({"svg.hashsalt": "shortlist"}),
                warnings.catch_warnings(action="ignore"),
            ):
                # Of characters that the font lacks
                figure.savefig(buffer, format=ending, dpi=300, metadata=metadata)
            files[f"{name}.{ending}"] = buffer.getvalue()
        pyplot.close(figure)
    for name, text in files.items():
        write_whole(folder / name, text)
    return [folder / name for name in files]


def draft_methods(content: ReportContent) -> str:
    """Return a draft of the methods, by items of TRIPOD+AI (Collins et al. 2024)."""
    known = dict(content) | {"card": content.model, "size": content.sample_size}
    sections = (f"{title}\n{filled(words, known)}\n" for title, words in methods_templates())
    return f"{_INTRODUCTION}\n\n" + "\n".join(sections)


def methods_templates() -> Iterator[tuple[str, Any]]:
    """Yield item with heading, and the template, of each section of `methods.txt`."""
    environment = template_environment(_METHODS.parent, {"f": format}, is_html=False)
    for section in _METHODS.read_text(encoding="utf-8").removeprefix("## ").split("\n## "):
        title, _, words = section.partition("\n")
        yield title.replace(" | ", " "), environment.from_string(words)


def filled(template: Any, known: Mapping[str, Any]) -> str:
    """Return the text of a section; its lines are parts of it."""
    return " ".join(line for line in template.render(known).split("\n") if line)


Cell = str | float | None
Table = tuple[list[str], list[list[Cell]]]

_PARTS: Final = ("apparent", "optimism", "corrected", "lower", "upper")
_GROUPS: Final = ("all", "event", "no_event")
_ENDS = ("estimate", "lower", "upper")


def manuscript_tables(content: ReportContent) -> dict[str, Table]:
    """Return the header and the rows of each table."""
    coefficients: list[list[Cell]] = [["intercept", "", content.model.intercept, None]]
    coefficients += [[*effect, effect.odds_ratio] for effect in content.model.effects()]
    measures: list[list[Cell]] = [
        [METRICS[row["metric"]], *(row[part] for part in _PARTS)]
        for row in content.performance.corrected
        if row["metric"] in METRICS
    ]
    header = ["predictor", "difference", "coefficient", "odds ratio"]
    tables: dict[str, Table] = {
        "characteristics": _characteristics(content.baseline),
        "coefficients": (header, coefficients),
        "performance": (["measure", *_PARTS], measures),
    }
    if content.performance.curves is not None:
        rows = [_flat(row) for row in content.performance.curves.thresholds]
        tables["thresholds"] = _as_table(rows, {name: _words(name) for name in rows[0]})
    if content.centres is not None:
        tables["centres"] = _by_group(content.centres.rows, "centre")
        pooled = content.centres.pooled
        tables["heterogeneity"] = _as_table(pooled, {name: _words(name) for name in pooled[0]})
    if content.subgroups:
        tables["subgroups"] = _by_group(content.subgroups, "group")
    return tables


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row whose shares have a column each for the value and the ends of its interval."""
    parts = {"": "value", ", lower": "lower", ", upper": "upper"}
    return {
        name + end: value[part] if isinstance(value, dict) else value
        for name, value in row.items()
        for end, part in (parts if isinstance(value, dict) else {"": ""}).items()
    }


def _words(name: str) -> str:
    return name.replace("_", " ")


def _as_table(rows: Sequence[Any], header: Mapping[str, str]) -> Table:
    lines: list[list[Cell]] = [
        [METRICS.get(row[name], row[name]) for name in header] for row in rows
    ]
    return list(header.values()), lines


def _characteristics(baseline: list[BaselineRow]) -> Table:
    """Return Table 1: a column per group of patients, and the missing values of each."""
    groups = list(map(_words, _GROUPS))
    header = ["predictor", "level", *groups, *(f"missing, {name}" for name in groups)]
    lines: list[list[Cell]] = []
    for row in baseline:
        parts = [row[group] for group in _GROUPS]
        if row["kind"] == "numeric":
            cells = [
                ""
                if part["median"] is None
                else "{median:.4g} ({q1:.4g} to {q3:.4g})".format(**part)
                for part in parts
            ]
        else:
            cells = [
                "" if part["share"] is None else f"{part['count']} ({part['share']:.1%})"
                for part in parts
            ]
        lines.append(
            [row["predictor"], row["level"] or "", *cells, *(part["missing"] for part in parts)]
        )
    return header, lines


def _by_group(groups: Sequence[Any], name: str) -> Table:
    """Return a table of measures by group, three columns for each measure."""
    header = [name, "n", "events"]
    header += [
        f"{METRICS[metric]}{part}" for metric in SHOWN for part in ("", ", lower", ", upper")
    ]
    lines: list[list[Cell]] = []
    for group in groups:
        values = [each[part] for each in group["measures"] for part in _ENDS]
        values = values or [None] * (3 * len(SHOWN))
        lines.append([group[name], group["n"], group["events"], *values, group["reason"] or ""])
    return [*header, "not measured"], lines


def latex_table(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return a tabular with the rules of booktabs; numbers have four digits."""
    columns = [
        "l" if any(isinstance(c, str) for c in column) else "r"
        for column in zip(*rows, strict=True)
    ]
    lines = [" & ".join(map(_shown, row)) + r" \\" for row in (header, *rows)]
    lines.insert(1, r"\midrule")
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            rf"\begin{{tabular}}{{{''.join(columns)}}}",
            r"\toprule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def word_document(content: ReportContent, tables: Mapping[str, Table]) -> bytes:
    """Return a Word document with the tables and the equation; the same content, the same bytes."""
    docx = import_extra("docx", "word")
    document = docx.Document()
    outcome = content.model.outcome
    document.add_heading(_comment(f"Model of {outcome.name or outcome.event}"), level=1)
    for name, (header, rows) in tables.items():
        document.add_heading(name.capitalize(), level=2)
        table = document.add_table(rows=0, cols=len(header), style="Light List")
        lines: list[Sequence[Cell]] = [header, *rows]
        for line in lines:
            for cell, value in zip(table.add_row().cells, line, strict=True):
                cell.text = _comment(_digits(value))
    document.add_heading("Equation", level=2)
    document.add_paragraph(_comment(_plain_equation(content)))
    buffer, plain = BytesIO(), BytesIO()
    document.save(buffer)
    # The archive says when it was written; without that the same report gives the same file.
    with ZipFile(buffer) as source, ZipFile(plain, "w", ZIP_DEFLATED) as target:
        for item in sorted(source.namelist()):
            target.writestr(ZipInfo(item), source.read(item), ZIP_DEFLATED)
    return plain.getvalue()


def _plain_equation(content: ReportContent) -> str:
    """Return the equation of the log-odds in a line of text."""
    text = f"log-odds = {content.equation.intercept:.4g}"
    for part, summand in _summands(content):
        name = part["predictor"]
        if part["what"] == "curve":
            name = f"curve {part['level']} of {name}"
        elif part["what"] != "times":
            name = f"[{name} is {part['level'] or 'missing'}]"
        text += f" {summand} \N{MULTIPLICATION SIGN} {name}"
    for term in content.model.terms:
        if isinstance(term, NumericTerm) and term.knots:
            text += f"; knots of {term.name}: {', '.join(f'{knot:.4g}' for knot in term.knots)}"
    return text


def _summands(content: ReportContent) -> Iterator[tuple[EquationPart, str]]:
    """Yield the parts of the equation but for references, with sign and size of the coefficient."""
    for part in content.equation.parts:
        if part["what"] != "reference":
            coefficient = part["coefficient"]
            yield part, f"{'-' if coefficient < 0 else '+'} {abs(coefficient):.4g}"


def latex_equation(content: ReportContent) -> str:
    """Return the equation of the log-odds, a summand per line."""
    lines = [f"  & {content.equation.intercept:.4g}"]
    for part, summand in _summands(content):
        predictor = escaped(part["predictor"])
        name = f"\\text{{{predictor}}}"
        if part["what"] == "curve":
            name += f"_{{\\text{{curve {part['level']}}}}}"
        elif part["what"] != "times":
            name = f"[\\text{{{predictor} is {escaped(part['level'] or 'missing')}}}]"
        lines.append(f"  & {summand} \\, {name}")
    splines = "".join(
        f"% Knots of {_comment(spline['predictor'])}: "
        f"{', '.join(f'{knot:g}' for knot in spline['knots'])}\n"
        for spline in content.equation.splines
    )
    body = " \\\\\n".join(lines)
    return (
        f"% needs \\usepackage{{amsmath}}\n{splines}\\begin{{align*}}\n"
        f"  \\log\\frac{{p}}{{1 - p}} = {{}} & \\\\\n{body}\n\\end{{align*}}\n"
    )


def escaped(text: str) -> str:
    """Return a text as LaTeX shows it."""
    return "".join(_SPECIAL.get(c, c) for c in text if c.isprintable())


def _comment(text: str) -> str:
    return "".join(c for c in text if c.isprintable())


def _shown(cell: Cell) -> str:
    return escaped(_digits(cell))


def _digits(cell: Cell) -> str:
    """Return a cell as text, numbers with four digits."""
    return cell if isinstance(cell, str) else "" if cell is None else f"{cell:.4g}"
