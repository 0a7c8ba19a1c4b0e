"""A model as code: a function in R or JavaScript, or what a query and a workbook have to say.

All forms follow the terms of the model card. They take codes for missing values and synonyms of
levels as the card says, forgive case and blanks of levels, replace missing values and unknown
levels by the equations or stand-ins of the card, report values outside the range of the development
data, and have a test row whose risk is known. The programs are `model.R`, `model.js` and
`model.sql`, in which what is marked @{so} is filled in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from string import Template
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from ..errors import InvalidFileError, InvalidProblemError, shown
from ..files import write_whole
from ..patients import ModelCard
from ..patients.column import as_numbers, as_truth_values
from ..patients.record import Codebook, Outcome
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
    >>> "risk <- local" in file.read_text()
    True
    """
    from .query import sql_code
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


class HasOutcome(Protocol):
    """A card or a chart of points."""

    @property
    def outcome(self) -> Outcome:
        """The outcome."""

    @property
    def codebook(self) -> Codebook:
        """What the columns mean."""


class Reading(NamedTuple):
    """How the values of a predictor are to be read before its term sees them.

    `codes` stand for missing values. `aliases` are spellings that stand for others: for numbers and
    binary values with the number, for factors with the position of the level from 0.
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
        f"Probability of {event_of(card)}, by logistic regression.",
        f"Developed from {card.data.rows} patients, {card.data.events} with the event.",
    ]
    if card.limits.budget is not None:
        lines.append(f"Its predictors cost {card.cost:g} per patient.")
    if card.update is not None:
        lines.append(f"Then {card.update.how} with {card.update.rows} patients.")
    if any(isinstance(term, CategoricalTerm) for term in card.terms):
        lines.append("Case and blanks of levels do not matter; unknown levels count as missing.")
    headings = ((name, one_line(card.codebook.heading(name))) for name in card.bought)
    lines += [f"{one_line(name)}: {heading}." for name, heading in headings if heading != name]
    if card.codebook.title:
        lines.insert(0, f"{one_line(card.codebook.title)}.")
    lines.append(f"Written by shortlist {card.shortlist_version}; data {card.data.sha256[:12]}.")
    return lines


def event_of(model: HasOutcome) -> str:
    """Return the event in words: the outcome, with the value where that says more."""
    outcome = model.outcome
    name = one_line(model.codebook.label(outcome.name) if outcome.name else "the event")
    event = one_line(outcome.event)
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
    return fill_in(
        "model.js",
        about="".join(f"// {line}\n" for line in describe(card)),
        predict=(_FOLDER / "predict.js").read_text(encoding="utf-8"),
        model=as_json(plain_form(card)),
        test=as_json({"patient": list(patient.items()), "risk": risk}),
    )


def as_json(value: Any) -> str:
    """Return JSON that is safe inside a script of a page."""
    return json.dumps(value).replace("<", "\\u003c")


def r_code(card: ModelCard) -> str:
    """Return a function in R, from a data frame to risks."""
    check_texts(card, "R", "\0", "the character 0")
    patient, risk = example_patient(card)
    return fill_in(
        "model.R",
        about="".join(f"# {line}\n" for line in describe(card)),
        model=_in_r(plain_form(card)),
        values=", ".join(map(_in_r, patient.values())),
        names=", ".join(map(_in_r, patient)),
        risk=repr(risk),
    )


def _in_r(value: Any) -> str:
    """Return a value of a plain form as R; whatever is not plain ASCII is escaped."""
    if isinstance(value, str):
        plain = (c if " " <= c <= "~" and c not in '"\\' else f"\\U{{{ord(c):X}}}" for c in value)
        return f'"{"".join(plain)}"'
    if isinstance(value, dict):
        return f"list({', '.join(f'{name} = {_in_r(own)}' for name, own in value.items())})"
    if isinstance(value, list | tuple):
        between = ",\n    " if value and isinstance(value[0], dict) else ", "
        return f"list({between.join(map(_in_r, value))})"
    return "NULL" if value is None else repr(value)


class _Marked(Template):
    """A program with places such as @{model}."""

    delimiter = "@"


def fill_in(name: str, **places: str) -> str:
    """Return a program of this folder with its marked places filled, none of them read again."""
    return _Marked((_FOLDER / name).read_text(encoding="utf-8")).substitute(places)


def check_texts(card: ModelCard, form: str, wrong: str, what: str, *, names: bool = True) -> None:
    """Refuse levels, codes and synonyms, and names, with a character that a form may misread."""
    for term in card.terms:
        reading = reading_of(card, term)
        levels = term.levels if isinstance(term, CategoricalTerm) else ()
        texts = [*levels, *reading.codes, *dict(reading.aliases)]
        for text in [term.name] * names + texts:
            if re.search(wrong, text):
                raise InvalidProblemError(
                    f"{shown(term.name)}: {shown(text)} has {what}, which is not safe in {form}; "
                    "rename it and fit the model again."
                )


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
