"""A model as a workbook whose formulas predict; every number of the model is a cell.

The sheet "Patients" takes a patient per row and shows the risk, and beside it what was read, what
was used where a value is missing, and the contributions. The sheet "Model" has the coefficients,
the values or equations that replace missing ones, ranges, levels and the test row.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any, NamedTuple

from ..errors import import_extra
from ..patients import ModelCard
from ..patients.column import folded
from ..patients.term import BooleanTerm, CategoricalTerm, NumericTerm, Term
from ..tables.table import put_cell
from .code import check_texts, describe, equation_parts, example_patient, reading_of

N_ROWS = 1000
HEADER_ROW = 4


def workbook_bytes(card: ModelCard, n_rows: int = N_ROWS) -> bytes:
    """Return the workbook, with formulas for some number of patients."""
    openpyxl = import_extra("openpyxl", "excel")
    # A cell cannot hold some of these characters, changes others, and reads _x0041_ as A.
    wrong = r"[\x00-\x1f\x7f-\x9f\ufffe\uffff]|_x[0-9A-Fa-f]{4}_"
    check_texts(card, "Excel", wrong, "a control character or the code of one", names=False)
    book = openpyxl.Workbook()
    sheet, model = book.active, book.create_sheet("Model")
    sheet.title = "Patients"
    numbers = _Numbers(model)
    for row, line in enumerate(describe(card), start=1):
        put_cell(model, row, 1, line)
    numbers.row = len(describe(card)) + 2
    intercept = numbers.add("intercept", "", card.intercept)
    formulas = [_formulas(i, card, numbers) for i in range(1, len(card.terms) + 1)]
    look = _Look.made()
    _write_head(sheet, card, look)
    first, last = HEADER_ROW + 1, HEADER_ROW + n_rows
    for row in range(first, last + 1):
        _write_row(sheet, row, intercept, formulas, look)
    for column, (term, formula) in enumerate(zip(card.terms, formulas, strict=True), start=1):
        letter = sheet.cell(first, column).column_letter
        _offer_values(sheet, f"{letter}{first}:{letter}{last}", term, formula)
    patient, chance = example_patient(card)
    numbers.row += 1
    title = "Test row, as the sheet Patients must show it"
    put_cell(model, numbers.row, 1, title).font = look.bold
    for name, value in [*patient.items(), ("risk", chance)]:
        numbers.row += 1
        put_cell(model, numbers.row, 1, name)
        put_cell(model, numbers.row, 3, value)
    model.column_dimensions["A"].width = model.column_dimensions["B"].width = 28
    sheet.freeze_panes = f"A{first}"
    buffer = BytesIO()
    book.save(buffer)
    return buffer.getvalue()


class _Look(NamedTuple):
    """The styles of cells."""

    bold: Any
    soft: Any
    blue: Any

    @classmethod
    def made(cls) -> _Look:
        from openpyxl.styles import Font, PatternFill

        return cls(Font(bold=True), Font(color="808080"), PatternFill("solid", fgColor="DDEBF7"))


def _write_head(sheet: Any, card: ModelCard, look: _Look) -> None:
    """Write what the sheet is, and the names of its columns."""
    from openpyxl.styles import Alignment

    for row, text in enumerate(describe(card)[:2], start=1):
        put_cell(sheet, row, 1, text)
    advice = (
        "Fill in the blue columns; leave a cell empty if it was not measured. "
        "The coefficients are on the sheet Model."
    )
    put_cell(sheet, 3, 1, advice).font = look.soft
    headings = map(card.codebook.heading, card.bought)
    headers = [*headings, "Risk", "Replaced", "Outside the range", "Log-odds"]
    for what in ("Read", "Used", "Log-odds of"):
        headers += [f"{what} {name}" for name in card.bought]
    for column, text in enumerate(headers, start=1):
        cell = put_cell(sheet, HEADER_ROW, column, text)
        cell.font, cell.alignment = look.bold, Alignment(wrap_text=True, vertical="top")
        sheet.column_dimensions[cell.column_letter].width = 15


def _write_row(
    sheet: Any, row: int, intercept: str, formulas: list[_Formulas], look: _Look
) -> None:
    """Write the formulas of a patient, and mark the cells to fill in."""
    n = len(formulas)
    cells = [sheet.cell(row, column).coordinate for column in range(1, 4 * n + 5)]
    inputs, (risk, replaced, outside, log_odds) = cells[:n], cells[n : n + 4]
    read, used, parts = (cells[(i + 1) * n + 4 : (i + 2) * n + 4] for i in range(3))
    for cell in inputs:
        sheet[cell].fill = look.blue
    known = {f"r{i}": cell for i, cell in enumerate(read, start=1)}
    entered = f"COUNTA({inputs[0]}:{inputs[-1]})=0" if inputs else "FALSE"
    missing = [f'IF({cell}="",1,0)' for cell in read]
    beyond = [f.outside.format(**known) for f in formulas if f.outside]
    for target, counts in ((replaced, missing), (outside, beyond)):
        sheet[target] = f'=IF({entered},"",{"+".join(["0", *counts])})'
    for i, formula in enumerate(formulas):
        own = known | {"x": inputs[i], "u": used[i]}
        patterns = (formula.read, formula.used, formula.log_odds)
        for cell, pattern in zip((read[i], used[i], parts[i]), patterns, strict=True):
            sheet[cell] = "=" + pattern.format(**own)
            sheet[cell].font = look.soft
    sheet[log_odds] = f'=IF({entered},"",{"+".join([intercept, *parts])})'
    sheet[risk] = (
        f'=IF({entered},"",IF({log_odds}<-700,0,IF({log_odds}>700,1,1/(1+EXP(-{log_odds})))))'
    )
    sheet[risk].number_format, sheet[risk].font = "0.0%", look.bold


def _offer_values(sheet: Any, where: str, term: Term, formula: _Formulas) -> None:
    """Let the cells of a predictor offer its values, and warn of others."""
    from openpyxl.worksheet.datavalidation import DataValidation

    if isinstance(term, CategoricalTerm):
        choice = DataValidation("list", formula1=formula.levels, errorStyle="warning")
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


class _Numbers:
    """The numbers of the model, one per row of a sheet, by which formulas refer to them."""

    def __init__(self, sheet: Any) -> None:
        self.sheet, self.row = sheet, 1

    def add(self, predictor: str, what: str, value: float | str) -> str:
        """Write a number and return the reference to it."""
        for column, content in enumerate([predictor, what, value], start=1):
            put_cell(self.sheet, self.row, column, content)
        self.row += 1
        return f"Model!$C${self.row - 1}"


class _Formulas(NamedTuple):
    """The formulas of a predictor, with {x} for its cell and {r1}, {r2} ... for what was read.

    `read` is a number, the number of a level or empty; `used` the same without gaps.
    """

    read: str
    used: str
    log_odds: str
    outside: str
    levels: str


def _formulas(number: int, card: ModelCard, numbers: _Numbers) -> _Formulas:
    """Write the numbers of a predictor and return its formulas; {u} is the cell of `used`."""
    term, outside, levels = card.terms[number - 1], "", ""
    own, reading = f"{{r{number}}}", reading_of(card, term)
    text = 'IF(ISLOGICAL({x}),IF({x},"True","False"),{x}&"")'
    if isinstance(term, CategoricalTerm):
        places = {level: place for place, level in enumerate(term.levels, start=1)}
        alike = {folded(level): place for level, place in places.items()}
        places |= {spelling: int(position) + 1 for spelling, position in reading.aliases}
        places |= dict.fromkeys(reading.codes, -1)
        first, exact = _place_of(text, term.name, places, numbers)
        levels = f"Model!$B${first}:$B${first + len(term.levels) - 1}"
        low = f"LOWER({text})"
        for ignored in ('" "', '"_"', '"."', '"-"', "CHAR(9)", "_xlfn.UNICHAR(160)"):
            low = f'SUBSTITUTE({low},{ignored},"")'
        alike = {fold: place for fold, place in alike.items() if any(c.isalpha() for c in fold)}
        _, similar = _place_of(low, term.name, alike, numbers)
        found = f'IF({exact}>0,{exact},IF({exact}<0,"",IF({similar}>0,{similar},"")))'
        read = f'IF({_is_blank(text)},"",{found})'
        first = numbers.row
        for level in term.levels:
            numbers.add(term.name, f"coefficient of {level}", term.coefficients[level])
        used = own
        log_odds = f'IF({own}="",0,INDEX(Model!$C${first}:$C${numbers.row - 1},{own}))'
    else:
        value = "IF(ISNUMBER({x}),{x},NA())"
        if not isinstance(term, NumericTerm):
            value = (
                'IF(OR(TRIM({x})="1",UPPER(TRIM({x}))="TRUE"),1,'
                'IF(OR(TRIM({x})="0",UPPER(TRIM({x}))="FALSE"),0,NA()))'
            )
            value = f"IF(ISLOGICAL({{x}}),IF({{x}},1,0),{value})"
        for spelling, meant in reading.aliases:
            cell = numbers.add(term.name, spelling, meant)
            value = f"IF({_is_same(text, cell.replace('C', 'B'))},{cell},{value})"
        for code in reading.codes:
            cell = numbers.add(term.name, code, "stands for a missing value")
            value = f'IF({_is_same(text, cell.replace("C", "B"))},"",{value})'
        read = f'IF({_is_blank("{x}")},"",{value})'
        used = f'IF({own}="",{_stand_in(term, card, numbers)},{own})'
        if isinstance(term, NumericTerm):
            low = numbers.add(term.name, "lowest in the data", term.range[0])
            high = numbers.add(term.name, "highest in the data", term.range[1])
            outside = f'IF({own}="",0,IF({own}<{low},1,IF({own}>{high},1,0)))'
            slope = numbers.add(term.name, "coefficient", term.coefficients[0])
            log_odds = f"{slope}*{{u}}" + _spline(term, "{u}", numbers)
        else:
            log_odds = f"{numbers.add(term.name, 'coefficient', term.coefficient)}*{{u}}"
    if term.missing_coefficient:
        effect = numbers.add(term.name, "is missing", term.missing_coefficient)
        log_odds += f'+IF({own}="",{effect},0)'
    return _Formulas(read, used, log_odds, outside, levels)


def _is_blank(text: str) -> str:
    return f'TRIM(CLEAN(SUBSTITUTE({text},_xlfn.UNICHAR(160)," ")))=""'


def _is_same(text: str, cells: str) -> str:
    """Return whether a text equals that in cells but for outer blanks: none but these are left.

    TRIM would also join inner blanks, so that two levels could be one.
    """
    return _is_blank(f'SUBSTITUTE({text},{cells},"",1)')


def _place_of(
    text: str, predictor: str, places: dict[str, int], numbers: _Numbers
) -> tuple[int, str]:
    """Write texts with their places; return the first row and the place of a text, 0 for none."""
    first = numbers.row
    for spelling, place in places.items():
        numbers.add(predictor, spelling, place)
    spellings, values = (f"Model!${c}${first}:${c}${numbers.row - 1}" for c in "BC")
    return first, f"SUMPRODUCT(({_is_same(text, spellings)})*{values})" if places else "0"


def _stand_in(term: NumericTerm | BooleanTerm, card: ModelCard, numbers: _Numbers) -> str:
    """Return what replaces a missing value: a cell, or the equation of the other predictors."""
    if term.imputation is None:
        return numbers.add(term.name, "if missing", float(term.fill))
    total = numbers.add(term.name, "if missing: constant", term.imputation.intercept)
    for weight, number, other, level in equation_parts(term, card):
        own = f"{{r{number}}}"
        if isinstance(other, CategoricalTerm):
            assert level is not None
            what = f"if missing: for {other.name} = {other.levels[level]}"
            reference = other.levels.index(other.reference) + 1
            value = f'IF(IF({own}="",{reference},{own})={level + 1},1,0)'
        else:
            what = f"if missing: times {other.name}"
            value = f'IF({own}="",{float(other.fill)!r},{own})'
        total += f"+{numbers.add(term.name, what, weight)}*{value}"
    low, high = (
        numbers.add(term.name, f"if missing: {word}", end)
        for word, end in zip(("at least", "at most"), term.imputation.range, strict=True)
    )
    return f"MIN(MAX({total},{low}),{high})"


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
