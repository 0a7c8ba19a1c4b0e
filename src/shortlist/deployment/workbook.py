"""A model as a workbook whose formulas predict; every number of the model is a cell.

The sheet "Patients" takes a patient per row and shows the risk beside the contributions; the sheet
"Model" has the coefficients, the values that replace missing ones, ranges, levels and the test row.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any

from ..errors import import_extra
from ..patients import ModelCard
from ..patients.term import CategoricalTerm, NumericTerm, Term

N_ROWS = 1000
HEADER_ROW = 4


def workbook_bytes(card: ModelCard, n_rows: int = N_ROWS) -> bytes:
    """Return the workbook, with formulas for some number of patients."""
    openpyxl = import_extra("openpyxl", "excel")
    from openpyxl.styles import Alignment, Font, PatternFill
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    from .code import describe, example_patient

    book = openpyxl.Workbook()
    sheet, model = book.active, book.create_sheet("Model")
    sheet.title = "Patients"
    numbers = _Numbers(model)
    bold, soft = Font(bold=True), Font(color="808080")
    for row, text in enumerate(describe(card)[:2], start=1):
        _put(sheet, row, 1, text)
    _put(
        sheet,
        3,
        1,
        "Fill in the blue columns; leave a cell empty if it was not measured. "
        "The coefficients are on the sheet Model.",
    ).font = soft
    n_terms = len(card.terms)
    results = ["Risk", "Replaced", "Outside the range", "Log-odds"]
    headers = [term.name for term in card.terms] + results
    headers += [f"Log-odds of {term.name}" for term in card.terms]
    for column, text in enumerate(headers, start=1):
        cell = _put(sheet, HEADER_ROW, column, text)
        cell.font, cell.alignment = bold, Alignment(wrap_text=True, vertical="top")
        sheet.column_dimensions[get_column_letter(column)].width = 15
    for row, line in enumerate(describe(card), start=1):
        _put(model, row, 1, line)
    numbers.row = len(describe(card)) + 2
    intercept = numbers.add("intercept", "", card.intercept)
    patterns = [_patterns(term, numbers) for term in card.terms]
    letters = [get_column_letter(i + 1) for i in range(len(headers))]
    first, last = HEADER_ROW + 1, HEADER_ROW + n_rows
    blue = PatternFill("solid", fgColor="DDEBF7")
    for row in range(first, last + 1):
        cells = [f"{letter}{row}" for letter in letters]
        inputs = cells[:n_terms]
        for cell in inputs:
            sheet[cell].fill = blue
        risk, replaced, outside, log_odds = cells[n_terms : n_terms + 4]
        parts = cells[n_terms + 4 :]
        entered = f"COUNTA({inputs[0]}:{inputs[-1]})=0" if inputs else "FALSE"
        sums = {"missing": replaced, "outside": outside}
        for what, target in sums.items():
            counts = [p[what].format(x=x) for p, x in zip(patterns, inputs, strict=True)]
            sheet[target] = f'=IF({entered},"",{"+".join(["0", *filter(None, counts)])})'
        for pattern, x, part in zip(patterns, inputs, parts, strict=True):
            sheet[part] = "=" + pattern["log_odds"].format(x=x)
            sheet[part].font = soft
        total = "+".join([intercept, *parts])
        sheet[log_odds] = f'=IF({entered},"",{total})'
        sheet[risk] = (
            f'=IF({entered},"",IF({log_odds}<-700,0,IF({log_odds}>700,1,1/(1+EXP(-{log_odds})))))'
        )
        sheet[risk].number_format, sheet[risk].font = "0.0%", bold
    for term, pattern, letter in zip(card.terms, patterns, letters, strict=False):
        where = f"{letter}{first}:{letter}{last}"
        if isinstance(term, CategoricalTerm):
            choice = DataValidation("list", formula1=pattern["levels"], errorStyle="warning")
            choice.error = "The model does not know this level and takes it for missing."
        elif isinstance(term, NumericTerm):
            low, high = map(repr, term.range)
            choice = DataValidation("decimal", "between", low, high, errorStyle="warning")
            choice.error = "This is no number within the range of the development data."
        else:
            choice = DataValidation("list", formula1='"0,1"')
        choice.showErrorMessage, choice.allow_blank = True, True
        choice.add(where)
        sheet.add_data_validation(choice)
    patient, chance = example_patient(card)
    numbers.row += 1
    _put(model, numbers.row, 1, "Test row, as the sheet Patients must show it").font = bold
    for name, value in [*patient.items(), ("risk", chance)]:
        numbers.row += 1
        _put(model, numbers.row, 1, name)
        _put(model, numbers.row, 3, value)
    model.column_dimensions["A"].width = model.column_dimensions["B"].width = 28
    sheet.freeze_panes = f"A{first}"
    buffer = BytesIO()
    book.save(buffer)
    return buffer.getvalue()


class _Numbers:
    """The numbers of the model, one per row of a sheet, by which formulas refer to them."""

    def __init__(self, sheet: Any) -> None:
        self.sheet, self.row = sheet, 1

    def add(self, predictor: str, what: str, value: float | str) -> str:
        """Write a number and return the reference to it."""
        for column, content in enumerate([predictor, what, value], start=1):
            _put(self.sheet, self.row, column, content)
        self.row += 1
        return f"Model!$C${self.row - 1}"


def _put(sheet: Any, row: int, column: int, value: Any) -> Any:
    """Set a cell; a text stays a text, also one that looks like a formula."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if isinstance(value, str):
        value = ILLEGAL_CHARACTERS_RE.sub("", value)
    cell = sheet.cell(row, column, value)
    if isinstance(value, str):
        cell.data_type = "s"
    return cell


def _patterns(term: Term, numbers: _Numbers) -> dict[str, str]:
    """Return formulas with {x} for the cell: log-odds, missing and outside; the cells of levels."""
    name, levels, outside = term.name, "", ""
    if isinstance(term, CategoricalTerm):
        first = numbers.row
        for level in term.levels:
            numbers.add(name, level, term.coefficients[level])
        levels = f"Model!$B${first}:$B${numbers.row - 1}"
        effects = levels.replace("B", "C")
        text = 'IF(ISLOGICAL({x}),IF({x},"True","False"),TRIM({x}))'
        same = f"EXACT({text},TRIM({levels}))"
        missing = f"(SUMPRODUCT(--{same})=0)"
        log_odds = f"SUMPRODUCT({same}*{effects})"
    else:
        fill = numbers.add(name, "if missing", float(term.fill))
        missing = '(TRIM({x})="")'
        if isinstance(term, NumericTerm):
            value = f'IF(ISNUMBER({{x}}),{{x}},IF(TRIM({{x}})="",{fill},NA()))'
            low = numbers.add(name, "lowest in the data", term.range[0])
            high = numbers.add(name, "highest in the data", term.range[1])
            outside = f"IF(ISNUMBER({{x}}),IF({{x}}<{low},1,IF({{x}}>{high},1,0)),0)"
            slope = numbers.add(name, "coefficient", term.coefficients[0])
            log_odds = f"{slope}*{value}" + _spline(term, value, numbers)
        else:
            slope = numbers.add(name, "coefficient", term.coefficient)
            value = (
                f'IF(TRIM({{x}})="",{fill},IF(OR(TRIM({{x}})="1",UPPER(TRIM({{x}}))="TRUE"),1,'
                'IF(OR(TRIM({x})="0",UPPER(TRIM({x}))="FALSE"),0,NA())))'
            )
            value = f"IF(ISLOGICAL({{x}}),IF({{x}},1,0),{value})"
            log_odds = f"{slope}*{value}"
    if term.missing_coefficient:
        effect = numbers.add(name, "is missing", term.missing_coefficient)
        log_odds += f"+IF({missing},{effect},0)"
    return {
        "log_odds": log_odds,
        "missing": f"IF({missing},1,0)",
        "outside": outside,
        "levels": levels,
    }


def _spline(term: NumericTerm, value: str, numbers: _Numbers) -> str:
    """Return the curves of a number as summands; they are straight beyond the last knot."""
    if not term.knots:
        return ""
    knots = [numbers.add(term.name, f"knot {j}", k) for j, k in enumerate(term.knots, start=1)]
    *_, before, last = knots
    parts = ""
    for j, coefficient in enumerate(term.coefficients[1:]):
        slope, knot = numbers.add(term.name, f"coefficient of curve {j + 1}", coefficient), knots[j]
        inside, beyond = f"MIN({value},{last})", f"MAX({value}-{last},0)"
        late = f"({last}-{knot})*MAX({inside}-{before},0)^3/({last}-{before})"
        line = f"3*({last}-{knot})*({before}-{knot})*{beyond}"
        parts += f"+{slope}*(MAX({inside}-{knot},0)^3-{late}+{line})/({last}-{knots[0]})^2"
    return parts
