"""A model as a query over a table of patients, in the SQL that databases share.

What a step computes has a name that no column of the model has, whatever its case, and stands
before the columns of the table: of two columns of one name SQLite and DuckDB take the first, and
others refuse the query.
"""

from __future__ import annotations

import re
import unicodedata

import numpy as np

from ..errors import InvalidProblemError, shown
from ..patients import ModelCard
from ..patients.column import folded
from ..patients.term import BooleanTerm, CategoricalTerm, NumericTerm, Term
from .code import (
    check_texts,
    describe,
    equation_parts,
    example_patient,
    fill_in,
    one_line,
    reading_of,
)


def sql_code(card: ModelCard) -> str:
    """Return a query over a table `patients`."""
    # MySQL takes a backslash for an escape, others do not; control characters end lines.
    check_texts(card, "SQL", r"[\\\x00-\x1f\x7f-\x9f]", "a backslash or a control character")
    patient, risk = example_patient(card)
    p, risk_name, imputed, outside = _free_names(card)
    texts, measured, used = (
        [f"{p}{step}{i + 1}" for i in range(len(card.terms))] for step in "tmx"
    )
    terms = list(zip(card.terms, texts, measured, used, strict=True))
    return fill_in(
        "model.sql",
        about="".join(f"-- {line}\n" for line in describe(card)),
        values="; ".join(f"{one_line(name)} = {one_line(str(v))}" for name, v in patient.items()),
        chance=repr(risk),
        p=p,
        risk=risk_name,
        imputed=imputed,
        outside=outside,
        texts="".join(f"\n    {_text_of(term)} AS {t}," for term, t, _, _ in terms),
        measured="".join(f"\n    {_read(term, card, t)} AS {m}," for term, t, m, _ in terms),
        filled="".join(
            f"\n    {_filled(term, card, m, measured)} AS {x}," for term, _, m, x in terms
        ),
        log_odds=_number(card.intercept)
        + "".join(f"\n      + {_log_odds(term, m, x)}" for term, _, m, x in terms),
        n_imputed="".join(f"\n    + CASE WHEN {m} IS NULL THEN 1 ELSE 0 END" for m in measured),
        n_outside="".join(
            f"\n    + CASE WHEN {m} < {_number(term.range[0])} OR {m} > {_number(term.range[1])} "
            "THEN 1 ELSE 0 END"
            for term, _, m, _ in terms
            if isinstance(term, NumericTerm)
        ),
    )


def _free_names(card: ModelCard) -> list[str]:
    """Return how names of steps begin, and the names of the results, which no column has."""
    taken: dict[str, str] = {}
    for term in card.terms:
        plain = _without_case(term.name)
        if plain in taken:
            raise InvalidProblemError(
                f"{shown(taken[plain])} and {shown(term.name)} differ in case or accents only, "
                "which databases may not tell apart; rename one and fit the model again."
            )
        taken[plain] = term.name
    prefix = "shortlist_"
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    results = ("risk", "n_imputed", "n_outside")
    return [prefix, *(prefix + name if name in taken else name for name in results)]


def _without_case(name: str) -> str:
    """Return a name as the most forgiving database compares it: without case and accents."""
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return "".join(c for c in parts if not unicodedata.combining(c)).rstrip()


def _number(value: float) -> str:
    """Return a literal that every database takes for a floating-point number."""
    text = repr(float(value))
    return text if "e" in text else f"{text}E0"


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _text_of(term: Term) -> str:
    """Return the expression of a value: as it is if it is a number, else as text."""
    column = 'source."' + term.name.replace('"', '""') + '"'
    if isinstance(term, NumericTerm):
        return column
    longest = max(map(len, getattr(term, "coefficients", [""])))
    return f"TRIM(CAST({column} AS CHAR({max(255, longest + 1)})))"


def _read(term: Term, card: ModelCard, text: str) -> str:
    """Return the expression of what was measured: a number, or the number of a level."""
    reading = reading_of(card, term)
    cases = []
    if isinstance(term, NumericTerm):
        numbers = [_number(float(code)) for code in reading.codes if _is_number(code)]
        if numbers:
            cases.append(f"WHEN {text} IN ({', '.join(numbers)}) THEN NULL")
        cases += [
            f"WHEN {text} = {_number(float(spelling))} THEN {_number(value)}"
            for spelling, value in reading.aliases
            if _is_number(spelling)
        ]
        return f"CASE {' '.join(cases)} ELSE {text} END" if cases else text
    codes = [spelt for code in reading.codes for spelt in _spellings(code)]
    cases.append(f"WHEN {text} IS NULL OR {text} IN ({_list(['', *codes])}) THEN NULL")
    if isinstance(term, BooleanTerm):
        cases += [
            f"WHEN {text} IN ({_list(_spellings(spelling))}) THEN {int(value)}"
            for spelling, value in reading.aliases
        ]
        return (
            f"CASE {' '.join(cases)} WHEN LOWER({text}) IN ('1', '1.0', 'true', 't') THEN 1 "
            f"WHEN LOWER({text}) IN ('0', '0.0', 'false', 'f') THEN 0 ELSE -1 END"
        )
    # A synonym stands before a level of that spelling, and a level before a number that looks so.
    places = {s: place for place, level in enumerate(term.levels) for s in _spellings(level)}
    places |= {level: place for place, level in enumerate(term.levels)}
    places |= {s: int(place) for spelling, place in reading.aliases for s in _spellings(spelling)}
    for place in range(len(term.levels)):
        texts = [spelling for spelling, own in places.items() if own == place]
        cases += [f"WHEN {text} IN ({_list(texts)}) THEN {place + 1}"] if texts else []
    low = f"LOWER({text})"
    for ignored in " _.-":
        low = f"REPLACE({low}, '{ignored}', '')"
    alike = {folded(level): place for place, level in enumerate(term.levels)}
    cases += [
        f"WHEN {low} = {_text(level)} THEN {place + 1}"
        for level, place in alike.items()
        if any(c.isalpha() for c in level)
    ]
    return f"CASE {' '.join(cases)} END"


def _filled(term: Term, card: ModelCard, m: str, measured: list[str]) -> str:
    """Return the expression of a number, binary value or level that was measured or is expected."""
    if isinstance(term, CategoricalTerm):
        return m
    stand_in = _number(term.fill)
    if term.imputation is not None:
        text = _number(term.imputation.intercept)
        for weight, other_number, other, level in equation_parts(term, card):
            x = measured[other_number - 1]
            if isinstance(other, CategoricalTerm):
                assert level is not None
                reference = other.levels.index(other.reference) + 1
                value = f"CASE WHEN COALESCE({x}, {reference}) = {level + 1} THEN 1 ELSE 0 END"
            else:
                value = f"COALESCE({x}, {_number(other.fill)})"
            text += f" + ({_number(weight)}) * {value}"
        low, high = map(_number, term.imputation.range)
        stand_in = (
            f"CASE WHEN {text} < {low} THEN {low} WHEN {text} > {high} THEN {high} ELSE {text} END"
        )
    wrong = f"WHEN {m} = -1 THEN NULL " if isinstance(term, BooleanTerm) else ""
    return f"CASE WHEN {m} IS NULL THEN {stand_in} {wrong}ELSE {m} END"


def _log_odds(term: Term, m: str, x: str) -> str:
    """Return what a predictor adds to the log-odds."""
    if isinstance(term, NumericTerm):
        added = _spline(x, term)
    elif isinstance(term, BooleanTerm):
        added = f"({_number(term.coefficient)}) * {x}"
    else:
        cases = " ".join(
            f"WHEN {x} = {place} THEN {_number(term.coefficients[level])}"
            for place, level in enumerate(term.levels, start=1)
        )
        added = f"CASE {cases} ELSE 0 END"
    if term.missing_coefficient:
        missing = _number(term.missing_coefficient)
        added += f" + CASE WHEN {m} IS NULL THEN {missing} ELSE 0 END"
    return added


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.\d+)?", text) is not None


def _list(texts: list[str]) -> str:
    return ", ".join(map(_text, dict.fromkeys(texts)))


def _spellings(text: str) -> list[str]:
    """Return how a text may be written; a code 3 is 3.0 in a column of floating-point numbers."""
    return [text, f"{text}.0"] if re.fullmatch(r"-?\d+", text) else [text]


def _spline(x: str, term: NumericTerm) -> str:
    """Return the log-odds of a number; its curves as `spline_curves` computes them."""
    parts = [f"({_number(term.coefficients[0])}) * {x}"]
    if term.knots:
        *_, before, last = term.knots
        inside = f"CASE WHEN {x} < {_number(last)} THEN {x} ELSE {_number(last)} END"

        def cube(knot: float) -> str:
            k = _number(knot)
            return f"CASE WHEN {x} > {k} THEN POWER({inside} - ({k}), 3) ELSE 0 END"

        beyond = f"CASE WHEN {x} > {_number(last)} THEN {x} - ({_number(last)}) ELSE 0 END"
        for knot, coefficient in zip(term.knots[:-2], term.coefficients[1:], strict=True):
            unit = coefficient / (last - term.knots[0]) ** 2
            late = -unit * (last - knot) / (last - before)
            line = 3.0 * unit * (last - knot) * (before - knot)
            weights = np.array([unit, late, line]).tolist()
            curves = (cube(knot), cube(before), beyond)
            parts += [
                f"({_number(weight)}) * ({curve})"
                for weight, curve in zip(weights, curves, strict=True)
            ]
    return "\n      + ".join(parts)
