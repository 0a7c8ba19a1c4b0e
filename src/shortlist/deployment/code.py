"""A model as code: a function in R, a query in SQL, a function in JavaScript.

All forms follow the terms of the model card. They replace missing values and unknown levels as the
card says, report values outside the range of the development data, and end with a test row whose
risk is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InvalidFileError, InvalidProblemError
from ..files import write_whole
from ..patients import ModelCard
from ..patients.card import Outcome
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
    _check_plain_values(card)
    write_whole(path, writer(card))


def _check_plain_values(card: ModelCard) -> None:
    """Raise if predictions replace values first, which exported code does not."""
    declared = {**card.preprocessing.missing_codes, **card.preprocessing.synonyms}
    for term in card.terms:
        if declared.get(term.name):
            raise InvalidProblemError(
                f"card: {term.name!r} has codes for missing values or synonyms of levels, which "
                "exported code does not know; replace them in the data and fit again."
            )


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
        lines.append("Levels must be spelt as below; others count as missing.")
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
    terms = "\n".join(line for term in card.terms for line in _r_term(term))
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
  column <- function(name) {{
    if (!name %in% names(patients)) stop("the model needs the column ", name)
    x <- patients[[name]]
    if (is.factor(x)) as.character(x) else x
  }}
  is_missing <- function(x) is.na(x) | (is.character(x) & trimws(x) == "")
  numbers <- function(name, words = character()) {{
    x <- column(name)
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
  levels_of <- function(name) {{
    x <- column(name)
    text <- if (is.logical(x)) ifelse(x, "True", "False")
      else if (is.numeric(x)) sprintf("%.15g", x) else trimws(x)
    text[is_missing(x)] <- NA
    text
  }}
  # Curve j of a natural cubic spline; a straight line beyond the last knot.
  curve <- function(x, knots, j) {{
    k <- length(knots)
    last <- knots[k]; before <- knots[k - 1]; knot <- knots[j]
    inside <- pmin(x, last); beyond <- pmax(x - last, 0)
    cubic <- pmax(inside - knot, 0)^3 - (last - knot) * pmax(inside - before, 0)^3 / (last - before)
    (cubic + 3 * (last - knot) * (before - knot) * beyond) / (last - knots[1])^2
  }}

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


def _r_term(term: Term) -> list[str]:
    name = _r_text(term.name)
    if isinstance(term, CategoricalTerm):
        levels = ", ".join(map(_r_text, term.levels))
        effects = ", ".join(repr(term.coefficients[level]) for level in term.levels)
        lines = [
            f"level <- match(levels_of({name}), c({levels}))",
            "missing <- is.na(level)",
            f"log_odds <- log_odds + ifelse(missing, 0, c({effects})[level])",
        ]
    elif isinstance(term, BooleanTerm):
        lines = [
            f'x <- numbers({name}, c("true" = 1, "false" = 0))',
            "missing <- is.na(x)",
            f"x[missing] <- {int(term.fill)}",
            f"log_odds <- log_odds + {term.coefficient!r} * x",
        ]
    else:
        lines = [
            f"x <- numbers({name})",
            "missing <- is.na(x)",
            f"x[missing] <- {term.fill!r}",
            f"log_odds <- log_odds + {term.coefficients[0]!r} * x",
        ]
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
    columns = [_sql_term(number, term) for number, term in enumerate(card.terms, start=1)]
    filled = "".join(f",\n    {x} AS x{i}" for i, (x, *_) in enumerate(columns, start=1))
    added = "".join(f"\n      + {log_odds}" for _, log_odds, *_ in columns)
    imputed = "\n      + ".join(["0", *(part for *_, part, _ in columns)])
    outside = "\n      + ".join(["0", *(part for *_, part in columns if part)])
    return f"""{about}--
-- Replace "patients" by your table. Columns of numbers must have a type of numbers. The result has
-- all columns of the table; the risk; how many predictors were missing or unknown and had to be
-- replaced; and how many lie outside the range of the development data. A truth value other than
-- 0, 1, true and false has the risk NULL. MySQL needs SET sql_mode = 'ANSI_QUOTES'.
-- Test row: {values} has the risk {risk!r}.
WITH filled AS (
  SELECT patients.*{filled}
  FROM patients
),
summed AS (
  SELECT filled.*,
    {_sql_number(card.intercept)}{added} AS log_odds,
    {imputed} AS n_imputed,
    {outside} AS n_outside
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


def _sql_term(number: int, term: Term) -> tuple[str, str, str, str]:
    """Return four expressions: the value, its log-odds, whether it is imputed, and outside."""
    column = '"' + term.name.replace('"', '""') + '"'
    x = f"x{number}"
    if isinstance(term, NumericTerm):
        low, high = map(_sql_number, term.range)
        is_missing = f"{column} IS NULL"
        value = f"COALESCE({column}, {_sql_number(term.fill)})"
        added = _sql_spline(x, term)
        outside = f"CASE WHEN {column} < {low} OR {column} > {high} THEN 1 ELSE 0 END"
    else:
        longest = max(map(len, getattr(term, "coefficients", [""])))
        text = f"TRIM(CAST({column} AS CHAR({max(255, longest + 1)})))"
        outside = ""
        if isinstance(term, BooleanTerm):
            is_missing = f"{column} IS NULL OR {text} = ''"
            value = (
                f"CASE WHEN {is_missing} THEN {int(term.fill)} "
                f"WHEN LOWER({text}) IN ('1', '1.0', 'true', 't') THEN 1 "
                f"WHEN LOWER({text}) IN ('0', '0.0', 'false', 'f') THEN 0 END"
            )
            added = f"({_sql_number(term.coefficient)}) * {x}"
        else:
            value = text
            spellings = {level: _spellings(level, term) for level in term.levels}
            cases = " ".join(
                f"WHEN {x} IN ({spelt}) THEN {_sql_number(term.coefficients[level])}"
                for level, spelt in spellings.items()
            )
            added = f"CASE {cases} ELSE 0 END"
            known = f"{x} IN ({', '.join(spellings.values())})"
            is_missing = f"{x} IS NULL OR NOT {known}"
    imputed = f"CASE WHEN {is_missing} THEN 1 ELSE 0 END"
    if term.missing_coefficient:
        added += f" + ({_sql_number(term.missing_coefficient)}) * {imputed}"
    return value, added, imputed, outside


def _spellings(level: str, term: CategoricalTerm) -> str:
    """Return the literals of a level; a code 3 is 3.0 in a column of floating-point numbers."""
    spellings = [level]
    if re.fullmatch(r"-?\d+", level) and f"{level}.0" not in term.coefficients:
        spellings.append(f"{level}.0")
    return ", ".join(map(_sql_text, spellings))


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
