"""Columns that look wrong before any model is fitted, and what is suspected of each.

Patient numbers, copies of the outcome, codes for missing values and misspelt levels are named by
`costs-template`, `fit`, the report, the explorer and Python alike: all of them call
`suspicious_columns`. A suspicion is for a person to decide; nothing is changed here.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..arguments import Float, Int
from ..errors import InvalidProblemError, ShortlistWarning, shown
from .column import (
    ColumnKind,
    as_levels,
    infer_kind,
    is_constant,
    level_of,
    may_be_codes,
    read_columns,
    similar_levels,
    words_for_missing,
)

Level = Literal["good", "note", "warning"]

RARE = 5  # patients of a level
MANY_LEVELS = 10
_EQUAL = 0.95  # correlation of a column with the outcome
_FEWEST_ROWS = 20  # below it columns look like the outcome, or like numbers of rows, by chance
_TIES = 8  # expected among different numbers; that there are none then happens once in 3000
_DENSE = 0.5  # the largest gap at a limit, in standard deviations of a side
_COUNTED = 0.1  # persons per row at least
_NEGATIVE = (-1, -9, -99, -999, -9999, -99999)  # often written for a missing value
_POSITIVE = (9, 99, 999, 9999, 99999)
_MOST_CODED = 0.3  # of the values; more of them are a group of patients
_NUMBER_NAME = re.compile(
    r"(?i)(^|[\W_])(id|nr|no|number|nummer|pid|mrn|patient|subject|case|record|identifier)($|[\W_])"
    r"|[a-z](Id|ID|Nr|No)$"
)


class Finding(NamedTuple):
    """A finding about data or model: its level, its topic, a sentence or two, and the columns."""

    level: Level
    topic: str
    text: str
    columns: tuple[str, ...] = ()


# Mistakes in the data, of which `PrognosticModel.fit` warns. The rest is in `findings_` only.
SERIOUS = frozenset(
    {"Leak", "Patient numbers", "Codes for missing values", "Similar levels", "Copies"}
)


def warn_of_mistakes(findings: Iterable[Finding]) -> None:
    """Warn of the findings that are mistakes in the data."""
    for finding in findings:
        if finding.level == "warning" and finding.topic in SERIOUS:
            warnings.warn(f"{finding.topic}: {finding.text}", ShortlistWarning, stacklevel=3)


def suspicious_columns(
    frame: pd.DataFrame, kinds: Mapping[str, ColumnKind], labels: Int | None
) -> Iterator[Finding]:
    """Yield findings about columns in plain form; `labels` are 1 for the event, else 0."""
    for name, kind in kinds.items():
        values = frame[name].to_numpy()
        if labels is not None:
            yield from _leak(name, kind, values, labels)
        if kind == "categorical":
            counts = frame[name].value_counts()
            if len(counts) == len(values) >= _FEWEST_ROWS:
                text = f"{shown(name)} has a level of its own in each row; exclude it."
                yield Finding("warning", "Patient numbers", text, (name,))
            else:
                yield from _levels(name, counts)
        elif kind == "numeric":
            is_known = ~np.isnan(values.astype(np.float64))
            known = values[is_known].astype(np.float64)
            numbers = list(_patient_numbers(name, known, len(values)))
            yield from numbers
            if labels is not None and not numbers:  # rows may be sorted by the outcome
                yield from _definition(name, known, labels[is_known])
            yield from _codes(name, known)


def price_list_of(table: pd.DataFrame, outcome: pd.Series[Any]) -> list[dict[str, str]]:
    """Return what is known of each column of a table: its kind, its most frequent level, a note.

    Whole numbers that may be codes have no kind yet.
    """
    notes = remarks(table, outcome)
    rows = []
    for name in table.columns:
        row = {"predictor": name, "note": notes.get(name, "")}
        with suppress(InvalidProblemError):  # which the note tells
            row["kind"] = infer_kind(table[name])
            if may_be_codes(table[name]):
                del row["kind"]
                asked = "Numeric if these whole numbers are amounts, categorical if they are codes."
                row["note"] = f"{row['note']} {asked}".strip()
            elif row["kind"] == "categorical" and table[name].notna().any():
                counts = Counter(level for level in as_levels(table[name]) if level is not None)
                frequent = min(counts.items(), key=lambda entry: (-entry[1], entry[0]))
                row["reference"] = frequent[0]
        rows.append(row)
    return rows


def remarks(table: pd.DataFrame, outcome: pd.Series[Any]) -> dict[str, str]:
    """Return a remark on each column of a table that looks wrong, before it has prices.

    Unlike a fit, it goes on after a column that cannot be used.
    """
    found: dict[str, list[str]] = {}
    kinds: dict[str, ColumnKind] = {}
    columns: dict[str, NDArray[Any]] = {}
    same: dict[bytes, str] = {}
    for name in table.columns:
        try:
            found_kinds, found_columns = read_columns(table[[name]], {})
        except InvalidProblemError as error:
            text = str(error).removeprefix(f"column {shown(name)}: ")
            found[name] = [text]
            continue
        kind, values = found_kinds[name], found_columns[name]
        if is_constant(values, kind):
            found[name] = ["cannot be bought: the same value in every row, or none."]
            continue
        kinds[name], columns[name] = kind, values
        first = same.setdefault(_pattern(values), name)
        if first != name:
            found[name] = [f"carries the same information as {shown(first)}."]
    values_of_outcome = [level_of(value) for value in outcome.dropna()]
    labels = None
    if len(set(values_of_outcome)) == 2 and outcome.notna().all():
        labels = (np.array(values_of_outcome) == max(values_of_outcome)).astype(np.int64)
    frame = pd.DataFrame({n: pd.Series(v, dtype=v.dtype) for n, v in columns.items()})
    for finding in suspicious_columns(frame, kinds, labels):
        for name in finding.columns:
            found.setdefault(name, []).append(finding.text.removeprefix(f"{shown(name)} "))
    return {name: " ".join(found[name]) for name in table.columns if name in found}


def _pattern(values: NDArray[Any]) -> bytes:
    """Return what copies have in common: numbers up to unit and sign, levels up to their names."""
    if values.dtype == object:
        return b"levels" + bytes(pd.factorize(values)[0].data)
    known = values[~np.isnan(values)]
    centred = (values - known.mean()) / known.std()
    sign = np.sign(centred[np.flatnonzero(~np.isnan(centred))[0]]) or 1.0
    return b"numbers" + bytes((np.round(sign * centred, 7) + 0.0).data)


def _leak(name: str, kind: ColumnKind, values: NDArray[Any], labels: Int) -> Iterator[Finding]:
    """Name a column of two values that equals the outcome, or one that is known for events only."""
    missing = pd.isna(values)
    if _correlation(missing, labels) >= _EQUAL:
        state = "known" if missing[labels == 0].mean() > 0.5 else "missing"
        text = (
            f"{shown(name)} is {state} almost only for patients with the event, as what is "
            "measured after it would be; exclude it."
        )
        yield Finding("warning", "Leak", text, (name,))
        return
    codes = pd.factorize(values[~missing])[0]
    if len(codes) and codes.max() == 1 and _correlation(codes == 1, labels[~missing]) >= _EQUAL:
        text = f"{shown(name)} is almost the same as the outcome; exclude it if it came later."
        yield Finding("warning", "Leak", text, (name,))


def _definition(name: str, known: Float, labels: Int) -> Iterator[Finding]:
    """Name a number that a limit turns into the outcome, as a weight into a low weight at birth.

    The values go on without a gap across the limit; those of two kinds of plants do not.
    """
    others, events = known[labels == 0], known[labels == 1]
    if len(known) < _FEWEST_ROWS or min(len(others), len(events)) < RARE:
        return  # it may happen by chance
    gap = max(events.min() - others.max(), others.min() - events.max())
    if 0 < gap <= _DENSE * min(np.std(others), np.std(events)):
        low, high = (others, events) if events.min() > others.max() else (events, others)
        text = (
            f"{shown(name)} defines the outcome: at most {low.max():g} for the patients "
            f"{'without' if low is others else 'with'} the event, at least {high.min():g} for the "
            "others; exclude it."
        )
        yield Finding("warning", "Leak", text, (name,))


def _correlation(marks: NDArray[np.bool_], labels: Int) -> float:
    if len(marks) < _FEWEST_ROWS or marks.all() or not marks.any() or len(np.unique(labels)) < 2:
        return 0.0
    return abs(float(np.corrcoef(marks, labels)[0, 1]))


def _patient_numbers(name: str, known: Float, n_rows: int) -> Iterator[Finding]:
    """Name whole numbers of which no two are equal, or which count from 0 or 1 down the rows.

    Unless they are sorted, or too close together to differ by chance, or their name says so, they
    may be amounts, so that is a note.
    """
    if len(known) < max(_FEWEST_ROWS, n_rows) or (known != np.floor(known)).any():
        return
    steps, ordered = np.diff(known), np.sort(known)
    if (np.diff(ordered) == 0).any():
        many = max(_FEWEST_ROWS, _COUNTED * len(known))
        if known[0] in (0, 1) and np.isin(steps, (0, 1)).all() and known[-1] >= many:
            text = f"{shown(name)} counts down the rows, as numbers of persons do; exclude it."
            yield Finding("warning", "Patient numbers", text, (name,))
        return
    is_sorted = (steps > 0).all() or (steps < 0).all()
    # Of n numbers drawn from a range about n^2/2 per width are equal.
    ties = len(known) ** 2 / (2 * (ordered[-1] - ordered[0] + 1))
    if is_sorted or ties > _TIES or _NUMBER_NAME.search(name):
        text = f"{shown(name)} numbers the rows: whole, and different in each; exclude it."
        yield Finding("warning", "Patient numbers", text, (name,))
    else:
        text = (
            f"{shown(name)} is whole and different in each row, as numbers of patients are; if it "
            "is one, exclude it."
        )
        yield Finding("note", "Patient numbers", text, (name,))


def _codes(name: str, known: Float) -> Iterator[Finding]:
    """Name numbers such as 0, -9 or 999 that lie apart from all others."""
    for code in (*_NEGATIVE, 0, *_POSITIVE):
        others = known[known != code]
        count = len(known) - len(others)
        if count == 0 or len(others) < 2 or count > _MOST_CODED * len(known):
            continue
        low, high = float(others.min()), float(others.max())
        if low == high:
            continue
        if code == 0:
            is_apart = low > 0 and count > 1 and _is_isolated(code, others)
        elif code < 0:
            is_apart = low >= 0 and (
                code < -1 or _is_isolated(code, others) or len(np.unique(others)) >= 5
            )
        else:
            is_apart = code > high + 2 * (high - low) or (
                code > high and count > 1 and _is_isolated(code, others)
            )
        if is_apart:
            yield Finding(
                "warning",
                "Codes for missing values",
                f"{shown(name)} is {code} in {_rows(count)}, and otherwise "
                f"between {low:g} and {high:g}; if {code} stands for a missing value, "
                f'declare it with --missing-codes "{name}={code}" (in Python missing_codes) or '
                "leave the cell empty.",
                (name,),
            )


def _is_isolated(code: float, others: Float) -> bool:
    """Return whether a value below or above all others is farther off than they are apart.

    The distance is compared with the middle half of the others, and with the largest step between
    neighbours on that side of their median.
    """
    q1, middle, q3 = np.quantile(others, [0.25, 0.5, 0.75]).tolist()
    near = others[others <= middle] if code < middle else others[others >= middle]
    step = np.diff(np.unique(near)).max(initial=0.0)
    distance = float(np.abs(near - code).min())
    return bool(distance >= q3 - q1 and distance > 2 * step)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _levels(name: str, counts: pd.Series[int]) -> Iterator[Finding]:
    for word in words_for_missing(counts.index):
        yield Finding(
            "note",
            "Words for missing values",
            f"{shown(name)} has the level {shown(word)} in {_rows(int(counts[word]))}; if it means "
            f'that nothing is known, declare it with --missing-codes "{name}={word}" (in Python '
            "missing_codes).",
            (name,),
        )
    merged = similar_levels({str(level): int(n) for level, n in counts.items()})
    if merged:
        pairs = ", ".join(f"{shown(old)} and {shown(new)}" for old, new in merged.items())
        yield Finding(
            "warning",
            "Similar levels",
            f"{shown(name)} has levels that may be the same: {pairs}; merge them with "
            "--merge-levels or --synonyms (in Python merge_levels or synonyms).",
            (name,),
        )
    if len(counts) > MANY_LEVELS:
        yield Finding(
            "warning",
            "Many levels",
            f"{shown(name)} has {len(counts)} levels, {int((counts < 10).sum())} of them with "
            "fewer than 10 patients; each takes a parameter, so merge levels that belong together.",
            (name,),
        )
        return
    rare = [str(level) for level, n in counts.items() if n < RARE and str(level) not in merged]
    if rare:
        yield Finding(
            "note",
            "Rare levels",
            f"{shown(name)} has fewer than {RARE} patients with {', '.join(map(shown, rare))}; "
            "merge rare levels with others, as by --synonyms.",
            (name,),
        )
