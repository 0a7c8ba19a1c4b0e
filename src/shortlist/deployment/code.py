"""A model as code: a function in R, a query in SQL, a function in JavaScript.

All forms follow the terms of the model card. They take codes for missing values and synonyms of
levels as the card says, forgive case and blanks of levels, replace missing values and unknown
levels by the equations or stand-ins of the card, report values outside the range of the development
data, and end with a test row whose risk is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..errors import InvalidFileError, InvalidProblemError
from ..files import write_whole
from ..patients import ModelCard
from ..patients.column import as_numbers, as_truth_values, folded
from ..patients.record import Outcome
from ..patients.term import BooleanTerm, CategoricalTerm, NumericTerm, Term

_FOLDER = Path(__file__).parent


def write_model(path: str | Path, card: ModelCard) -> None:
    """Write a model as code or as a workbook; the ending of the name decides.

    Parameters
    ----------
    path : str or Path
        `.R` for a function, `.sql` for a query, `.js` for a function, `.xlsx` for a workbook with
        formulas (extra `excel`).
    card : ModelCard
        The model.

    Examples
    --------
    >>> import pandas as pd, shortlist as sl
    >>> patients = pd.DataFrame({"age": [40, 50, 60, 70], "smoker": [True, False, True, True]})
    >>> model = sl.PrognosticModel(max_features=1, ridge=0.1).fit(patients, [0, 0, 1, 1])
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "model.R"
    >>> sl.deployment.write_model(file, model.card_)
    >>> "risk <- function(patients)" in file.read_text()
    True
    """
    from .workbook import workbook_bytes

    writers: dict[str, Callable[[ModelCard], str | bytes]] = {
        ".r": r_code,
        ".sql": sql_code,
        ".js": javascript_code,
        ".xlsx": workbook_bytes,
    }
    path = Path(path)
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise InvalidFileError(f"{path}: the name must end in .R, .sql, .js or .xlsx.")
    write_whole(path, writer(card))


class Reading(NamedTuple):
    """How the values of a predictor are to be read before its term sees them.

    `codes` stand for missing values. `aliases` are spellings that stand for others: for numbers and
    truth values with the number, for factors with the position of the level from 0.
    """

    codes: list[str]
    aliases: list[tuple[str, float]]


def reading_of(card: ModelCard, term: Term) -> Reading:
    """Return the codes and synonyms of a predictor; those that lead nowhere are left out."""
    codes = list(card.preprocessing.missing_codes.get(term.name, ()))
    aliases = []
    for spelling, meant in card.preprocessing.synonyms.get(term.name, {}).items():
        if spelling in codes:
            continue
        if isinstance(term, CategoricalTerm):
            place = term.position_of(meant)
            if place is not None:
                aliases.append((spelling, float(place)))
            continue
        read = as_truth_values if isinstance(term, BooleanTerm) else as_numbers
        with suppress(InvalidProblemError):
            value = float(read(pd.Series([meant], dtype=object))[0])
            if np.isnan(value):
                codes.append(spelling)
            else:
                aliases.append((spelling, value))
    return Reading(codes, aliases)


def describe(card: ModelCard) -> list[str]:
    """Return lines about a model: what it predicts, from whom, at which cost, and its version."""
    lines = [
        f"Probability of {event_of(card.outcome)}, by logistic regression.",
        f"Developed from {card.data.rows} patients, {card.data.events} with the event.",
    ]
    if card.limits.budget is not None:
        lines.append(f"Its predictors cost {card.cost:g} per patient.")
    if card.update is not None:
        lines.append(f"Then {card.update.how} with {card.update.rows} patients.")
    if any(isinstance(term, CategoricalTerm) for term in card.terms):
        lines.append("Case and blanks of levels do not matter; unknown levels count as missing.")
    lines.append(f"Written by shortlist {card.shortlist_version}; data {card.data.sha256[:12]}.")
    return lines


def event_of(outcome: Outcome) -> str:
    """Return the event in words: the name of the outcome, with the value where it says more."""
    name, event = one_line(outcome.name or "the event"), one_line(outcome.event)
    return name if event.lower() in ("1", "true", "yes") else f"{name} = {event}"


def one_line(text: str) -> str:
    """Return a text without line ends and other control characters, for comments."""
    return re.sub(r"\s+", " ", "".join(c if c.isprintable() else " " for c in text)).strip()


def example_patient(card: ModelCard) -> tuple[dict[str, float | str], float]:
    """Return a made-up patient, untypical in every predictor, and the risk."""
    patient: dict[str, float | str] = {}
    for term in card.terms:
        if isinstance(term, NumericTerm):
            patient[term.name] = term.quartiles[1]
        elif isinstance(term, BooleanTerm):
            patient[term.name] = float(not term.fill)
        else:
            others = [level for level in term.levels if level != term.reference]
            patient[term.name] = others[-1] if others else term.reference
    table = pd.DataFrame({name: [value] for name, value in patient.items()}, index=[0])
    return patient, float(card.probability(table)[0])


def plain_form(card: ModelCard) -> dict[str, Any]:
    """Return the model as `predict.js` reads it; levels are pairs, so that any name is harmless."""

    def plain(term: Term) -> dict[str, Any]:
        entry = {"name": term.name, "kind": term.kind, "missing": term.missing_coefficient or 0.0}
        entry |= reading_of(card, term)._asdict()
        entry["imputation"] = (
            None if term.imputation is None else term.imputation.model_dump(mode="json")
        )
        if isinstance(term, CategoricalTerm):
            levels = [[level, term.coefficients[level]] for level in term.levels]
            return entry | {"reference": term.reference, "levels": levels}
        if isinstance(term, BooleanTerm):
            return entry | {"fill": int(term.fill), "coefficients": [term.coefficient]}
        return entry | term.model_dump(
            mode="json", include={"fill", "range", "knots", "coefficients"}
        )

    return {"intercept": card.intercept, "terms": [plain(term) for term in card.terms]}


def javascript_code(card: ModelCard) -> str:
    """Return a script that defines `model` and `predict(model, patient)`, for browsers and node."""
    patient, risk = example_patient(card)
    about = "".join(f"// {line}\n" for line in describe(card))
    script = (_FOLDER / "predict.js").read_text(encoding="utf-8")
    return (
        f"{about}\n{script}\n"
        f"const model = {as_json(plain_form(card))};\n\n"
        "// A test row: a copy that was damaged does not load.\n"
        f"const testRow = {as_json({'patient': list(patient.items()), 'risk': risk})};\n"
        "const testRisk = predict(model, Object.fromEntries(testRow.patient)).risk;\n"
        "if (!(Math.abs(testRisk - testRow.risk) <= 1e-9)) {\n"
        '  throw new Error("the model does not give the risk of its test row");\n'
        "}\n"
        'if (typeof module !== "undefined") module.exports = { model, predict };\n'
    )


def as_json(value: Any) -> str:
    """Return JSON that is safe inside a script of a page."""
    return json.dumps(value).replace("<", "\\u003c")


def r_code(card: ModelCard) -> str:
    """Return a function in R, from a data frame to risks."""
    patient, risk = example_patient(card)
    values = ", ".join(_r_value(value) for value in patient.values())
    about = "".join(f"# {line}\n" for line in describe(card))
    reads = "\n".join(_r_read(number, term, card) for number, term in enumerate(card.terms, 1))
    lines = [line for i, term in enumerate(card.terms, 1) for line in _r_term(i, term, card)]
    terms = "\n".join(lines)
    names = ", ".join(map(_r_text, patient))
    return f"""{about}#
# risk(patients) returns a data frame with a row per patient: the risk, the predictors whose value
# was missing or unknown and had to be replaced, and those outside the range of the development
# data.

risk <- function(patients) {{
  log_odds <- rep({card.intercept!r}, nrow(patients))
  imputed <- outside <- rep("", nrow(patients))
  mark <- function(marks, where, name)
    ifelse(where, paste0(marks, ifelse(marks == "", "", "; "), name), marks)
  is_missing <- function(x) is.na(x) | (is.character(x) & trimws(x) == "")
  text_of <- function(x) {{
    text <- if (is.logical(x)) ifelse(x, "True", "False")
      else if (is.numeric(x)) sprintf("%.15g", x) else trimws(x)
    text[is_missing(x)] <- NA
    text
  }}
  # A column without codes for missing values; `aliases` are spellings and what they stand for.
  column <- function(name, codes, aliases) {{
    if (!name %in% names(patients))
      stop("the model needs the column ", name, "; read.csv(check.names = FALSE) keeps names")
    x <- patients[[name]]
    if (is.factor(x)) x <- as.character(x)
    text <- text_of(x)
    x[text %in% codes] <- NA
    known <- text %in% names(aliases) & !is.na(x)
    if (any(known)) {{
      x <- ifelse(is.na(x), NA, text_of(x))
      x[known] <- aliases[text[known]]
    }}
    x
  }}
  numbers <- function(name, codes = NULL, aliases = NULL, words = character()) {{
    x <- column(name, codes, aliases)
    missing <- is_missing(x)
    if (is.character(x)) {{
      text <- tolower(trimws(x))
      x <- ifelse(text %in% names(words), words[text], text)
    }}
    x <- suppressWarnings(as.numeric(x))
    if (any(!missing & !(abs(x) <= 1e100 & !is.na(x)))) stop(name, " has a value that is no number")
    if (length(words) && any(!missing & !x %in% c(0, 1)))
      stop(name, " has a value other than 0 and 1")
    x[missing] <- NA
    x
  }}
  folded <- function(text) {{
    low <- tolower(text)
    ifelse(grepl("[[:alpha:]]", low), gsub("[[:space:]_.-]+", "", low), low)
  }}
  # The number of each level, NA if it is missing or unknown.
  level_of <- function(name, levels, codes = NULL, aliases = NULL) {{
    text <- text_of(column(name, codes, aliases))
    exact <- match(text, levels, incomparables = NA)
    alike <- length(levels) + 1 - match(folded(text), rev(folded(levels)), incomparables = NA)
    ifelse(is.na(exact), alike, exact)
  }}
  within <- function(x, low, high) pmin(pmax(x, low), high)
  # Curve j of a natural cubic spline; a straight line beyond the last knot.
  curve <- function(x, knots, j) {{
    k <- length(knots)
    last <- knots[k]; before <- knots[k - 1]; knot <- knots[j]
    inside <- pmin(x, last); beyond <- pmax(x - last, 0)
    cubic <- pmax(inside - knot, 0)^3 - (last - knot) * pmax(inside - before, 0)^3 / (last - before)
    (cubic + 3 * (last - knot) * (before - knot) * beyond) / (last - knots[1])^2
  }}

  # What was measured: numbers, or the number of a level.
{reads}

{terms}
  data.frame(risk = plogis(log_odds), imputed = imputed, outside = outside)
}}

# A test row: a copy that was damaged does not load.
local({{
  patient <- data.frame({values})
  names(patient) <- c({names})
  stopifnot(abs(risk(patient)$risk - {risk!r}) <= 1e-9)
}})
"""


def _r_text(text: str) -> str:
    """Return a string literal; whatever is not plain ASCII is escaped."""
    escaped = "".join(
        c if " " <= c <= "~" and c not in '"\\' else f"\\U{{{ord(c):X}}}" for c in text
    )
    return f'"{escaped}"'


def _r_value(value: float | str) -> str:
    return _r_text(value) if isinstance(value, str) else repr(value)


def _r_read(number: int, term: Term, card: ModelCard) -> str:
    """Return the line that reads the column of a predictor."""
    reading, arguments = reading_of(card, term), [_r_text(term.name)]
    if isinstance(term, CategoricalTerm):
        arguments.append(f"c({', '.join(map(_r_text, term.levels))})")
    if reading.codes:
        arguments.append(f"codes = c({', '.join(map(_r_text, reading.codes))})")
    if reading.aliases:
        meant = [
            term.levels[int(value)] if isinstance(term, CategoricalTerm) else repr(value)
            for _, value in reading.aliases
        ]
        pairs = ", ".join(
            f"{_r_text(spelling)} = {_r_text(text)}"
            for (spelling, _), text in zip(reading.aliases, meant, strict=True)
        )
        arguments.append(f"aliases = c({pairs})")
    if isinstance(term, BooleanTerm):
        arguments.append('words = c("true" = 1, "false" = 0)')
    function = "level_of" if isinstance(term, CategoricalTerm) else "numbers"
    return f"  x{number} <- {function}({', '.join(arguments)})"


def equation_parts(term: Term, card: ModelCard) -> list[tuple[float, int, Term, int | None]]:
    """Return weight, number of the other predictor from 1, its term, and position of the level."""
    numbers = {other.name: i for i, other in enumerate(card.terms, start=1)}
    parts = []
    for part in term.imputation.weights if term.imputation else ():
        number = numbers[part.predictor]
        other = card.terms[number - 1]
        level = other.levels.index(part.level or "") if isinstance(other, CategoricalTerm) else None
        parts.append((part.weight, number, other, level))
    return parts


def _r_equation(term: NumericTerm | BooleanTerm, card: ModelCard) -> str:
    """Return the expression that stands in for a missing value."""
    if term.imputation is None:
        return repr(float(term.fill))
    text = repr(term.imputation.intercept)
    for weight, number, other, level in equation_parts(term, card):
        x = f"x{number}"
        if isinstance(other, CategoricalTerm):
            assert level is not None
            reference = other.levels.index(other.reference) + 1
            text += f" + {weight!r} * (ifelse(is.na({x}), {reference}, {x}) == {level + 1})"
        else:
            text += f" + {weight!r} * ifelse(is.na({x}), {float(other.fill)!r}, {x})"
    low, high = term.imputation.range
    return f"within({text}, {low!r}, {high!r})"


def _r_term(number: int, term: Term, card: ModelCard) -> list[str]:
    name, own = _r_text(term.name), f"x{number}"
    lines = [f"missing <- is.na({own})"]
    if isinstance(term, CategoricalTerm):
        effects = ", ".join(repr(term.coefficients[level]) for level in term.levels)
        lines.append(f"log_odds <- log_odds + ifelse(missing, 0, c({effects})[{own}])")
    else:
        lines.append(f"x <- ifelse(missing, {_r_equation(term, card)}, {own})")
        if isinstance(term, BooleanTerm):
            lines.append(f"log_odds <- log_odds + {term.coefficient!r} * x")
        else:
            lines.append(f"log_odds <- log_odds + {term.coefficients[0]!r} * x")
            if term.knots:
                lines.append(f"knots <- c({', '.join(map(repr, term.knots))})")
                lines += [
                    f"log_odds <- log_odds + {coefficient!r} * curve(x, knots, {j})"
                    for j, coefficient in enumerate(term.coefficients[1:], start=1)
                ]
            low, high = term.range
            where = f"!missing & (x < {low!r} | x > {high!r})"
            lines.append(f"outside <- mark(outside, {where}, {name})")
    if term.missing_coefficient:
        lines.append(f"log_odds <- log_odds + {term.missing_coefficient!r} * missing")
    lines.append(f"imputed <- mark(imputed, missing, {name})")
    return [f"  # {one_line(term.name)}", *(f"  {line}" for line in lines), ""]


def sql_code(card: ModelCard) -> str:
    """Return a query over a table `patients`, in the SQL that most databases share."""
    patient, risk = example_patient(card)
    about = "".join(f"-- {line}\n" for line in describe(card))
    values = "; ".join(f"{one_line(name)} = {one_line(str(v))}" for name, v in patient.items())
    terms = list(enumerate(card.terms, start=1))
    texts = "".join(f",\n    {_sql_text_of(t)} AS t{i}" for i, t in terms if t.kind != "numeric")
    read = "".join(f",\n    {_sql_read(i, t, card)} AS m{i}" for i, t in terms)
    filled = "".join(f",\n    {_sql_filled(i, t, card)} AS x{i}" for i, t in terms)
    added = "".join(f"\n      + {_sql_log_odds(i, t)}" for i, t in terms)
    imputed = "".join(f"\n      + CASE WHEN m{i} IS NULL THEN 1 ELSE 0 END" for i, _ in terms)
    outside = "".join(
        f"\n      + CASE WHEN m{i} < {_sql_number(t.range[0])} OR m{i} > {_sql_number(t.range[1])} "
        "THEN 1 ELSE 0 END"
        for i, t in terms
        if isinstance(t, NumericTerm)
    )
    return f"""{about}--
-- Replace "patients" by your table. Columns of numbers must have a type of numbers. The result has
-- all columns of the table; the risk; how many predictors were missing or unknown and had to be
-- replaced; and how many lie outside the range of the development data. A truth value other than
-- 0, 1, true and false has the risk NULL. MySQL needs SET sql_mode = 'ANSI_QUOTES'.
-- Test row: {values} has the risk {risk!r}.
WITH texts AS (
  SELECT patients.*{texts}
  FROM patients
),
measured AS (  -- numbers, or the number of a level; NULL is missing, -1 a wrong truth value
  SELECT texts.*{read}
  FROM texts
),
filled AS (
  SELECT measured.*{filled}
  FROM measured
),
summed AS (
  SELECT filled.*,
    {_sql_number(card.intercept)}{added} AS log_odds,
    0{imputed} AS n_imputed,
    0{outside} AS n_outside
  FROM filled
)
SELECT summed.*,
  CASE WHEN log_odds < -700 THEN 0 WHEN log_odds > 700 THEN 1
    ELSE 1 / (1 + EXP(-log_odds)) END AS risk
FROM summed;
"""


def _sql_number(value: float) -> str:
    """Return a literal that every database takes for a floating-point number."""
    text = repr(float(value))
    return text if "e" in text else f"{text}E0"


def _sql_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _sql_column(term: Term) -> str:
    return '"' + term.name.replace('"', '""') + '"'


def _sql_text_of(term: Term) -> str:
    """Return the expression of a value as text."""
    longest = max(map(len, getattr(term, "coefficients", [""])))
    return f"TRIM(CAST({_sql_column(term)} AS CHAR({max(255, longest + 1)})))"


def _sql_read(number: int, term: Term, card: ModelCard) -> str:
    """Return the expression of what was measured: a number, or the number of a level."""
    reading, text = reading_of(card, term), f"t{number}"
    cases = []
    if isinstance(term, NumericTerm):
        x = _sql_column(term)
        numbers = [_sql_number(float(code)) for code in reading.codes if _is_number(code)]
        if numbers:
            cases.append(f"WHEN {x} IN ({', '.join(numbers)}) THEN NULL")
        cases += [
            f"WHEN {x} = {_sql_number(float(spelling))} THEN {_sql_number(value)}"
            for spelling, value in reading.aliases
            if _is_number(spelling)
        ]
        return f"CASE {' '.join(cases)} ELSE {x} END" if cases else x
    codes = [spelt for code in reading.codes for spelt in _spellings(code)]
    cases.append(f"WHEN {text} IS NULL OR {text} IN ({_sql_list(['', *codes])}) THEN NULL")
    if isinstance(term, BooleanTerm):
        cases += [
            f"WHEN {text} IN ({_sql_list(_spellings(spelling))}) THEN {int(value)}"
            for spelling, value in reading.aliases
        ]
        return (
            f"CASE {' '.join(cases)} WHEN LOWER({text}) IN ('1', '1.0', 'true', 't') THEN 1 "
            f"WHEN LOWER({text}) IN ('0', '0.0', 'false', 'f') THEN 0 ELSE -1 END"
        )
    taken = set(term.levels)
    spelt = {
        place: [s for s in _spellings(level) if s == level or s not in taken]
        for place, level in enumerate(term.levels)
    }
    for spelling, value in reading.aliases:
        spelt[int(value)] += _spellings(spelling)
    cases += [
        f"WHEN {text} IN ({_sql_list(texts)}) THEN {place + 1}" for place, texts in spelt.items()
    ]
    low = f"LOWER({text})"
    for filler in " _.-":
        low = f"REPLACE({low}, '{filler}', '')"
    alike = {folded(level): place for place, level in enumerate(term.levels)}
    cases += [
        f"WHEN {low} = {_sql_text(level)} THEN {place + 1}"
        for level, place in alike.items()
        if any(c.isalpha() for c in level)
    ]
    return f"CASE {' '.join(cases)} END"


def _sql_filled(number: int, term: Term, card: ModelCard) -> str:
    """Return the expression of a number, truth value or level that was measured or is expected."""
    m = f"m{number}"
    if isinstance(term, CategoricalTerm):
        return m
    stand_in = _sql_number(term.fill)
    if term.imputation is not None:
        text = _sql_number(term.imputation.intercept)
        for weight, other_number, other, level in equation_parts(term, card):
            x = f"m{other_number}"
            if isinstance(other, CategoricalTerm):
                assert level is not None
                reference = other.levels.index(other.reference) + 1
                value = f"CASE WHEN COALESCE({x}, {reference}) = {level + 1} THEN 1 ELSE 0 END"
            else:
                value = f"COALESCE({x}, {_sql_number(other.fill)})"
            text += f" + ({_sql_number(weight)}) * {value}"
        low, high = map(_sql_number, term.imputation.range)
        stand_in = (
            f"CASE WHEN {text} < {low} THEN {low} WHEN {text} > {high} THEN {high} ELSE {text} END"
        )
    wrong = f"WHEN {m} = -1 THEN NULL " if isinstance(term, BooleanTerm) else ""
    return f"CASE WHEN {m} IS NULL THEN {stand_in} {wrong}ELSE {m} END"


def _sql_log_odds(number: int, term: Term) -> str:
    """Return what a predictor adds to the log-odds."""
    x = f"x{number}"
    if isinstance(term, NumericTerm):
        added = _sql_spline(x, term)
    elif isinstance(term, BooleanTerm):
        added = f"({_sql_number(term.coefficient)}) * {x}"
    else:
        cases = " ".join(
            f"WHEN {x} = {place} THEN {_sql_number(term.coefficients[level])}"
            for place, level in enumerate(term.levels, start=1)
        )
        added = f"CASE {cases} ELSE 0 END"
    if term.missing_coefficient:
        missing = _sql_number(term.missing_coefficient)
        added += f" + CASE WHEN m{number} IS NULL THEN {missing} ELSE 0 END"
    return added


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?", text) is not None


def _sql_list(texts: list[str]) -> str:
    return ", ".join(map(_sql_text, dict.fromkeys(texts)))


def _spellings(text: str) -> list[str]:
    """Return how a text may be written; a code 3 is 3.0 in a column of floating-point numbers."""
    return [text, f"{text}.0"] if re.fullmatch(r"-?\d+", text) else [text]


def _sql_spline(x: str, term: NumericTerm) -> str:
    """Return the log-odds of a number; its curves as `spline_curves` computes them."""
    parts = [f"({_sql_number(term.coefficients[0])}) * {x}"]
    if term.knots:
        *_, before, last = term.knots
        inside = f"CASE WHEN {x} < {_sql_number(last)} THEN {x} ELSE {_sql_number(last)} END"

        def cube(knot: float) -> str:
            k = _sql_number(knot)
            return f"CASE WHEN {x} > {k} THEN POWER({inside} - ({k}), 3) ELSE 0 END"

        beyond = f"CASE WHEN {x} > {_sql_number(last)} THEN {x} - ({_sql_number(last)}) ELSE 0 END"
        for knot, coefficient in zip(term.knots[:-2], term.coefficients[1:], strict=True):
            unit = coefficient / (last - term.knots[0]) ** 2
            late = -unit * (last - knot) / (last - before)
            line = 3.0 * unit * (last - knot) * (before - knot)
            weights = np.array([unit, late, line]).tolist()
            curves = (cube(knot), cube(before), beyond)
            parts += [
                f"({_sql_number(weight)}) * ({curve})"
                for weight, curve in zip(weights, curves, strict=True)
            ]
    return "\n      + ".join(parts)
