"""A fitted model on a terminal and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text
from sklearn.metrics import roc_auc_score

from ..prognostic import ModelCard, PrognosticModel
from ..prognostic.patients import Patients
from ..prognostic.term import Effect
from ..solution import Status
from .terminal import plain, plain_console

_HINTS = {
    "model": "Predict with: shortlist predict {} NEW.csv",
    "certificate": "Verify it with: shortlist verify {} DATA.csv",
}


@dataclass(frozen=True)
class Fitted:
    """A model, what it was fitted to, and what was noticed on the way."""

    card: ModelCard
    estimator: PrognosticModel
    patients: Patients
    files: dict[str, Path | None]
    notes: list[str]
    seconds: float

    @property
    def auc(self) -> float:
        """The area under the ROC curve on the patients that the model was fitted to."""
        log_odds = self.card.log_odds(self.patients.predictors)
        return float(roc_auc_score(self.patients.events, log_odds))


def as_record(fitted: Fitted) -> dict[str, Any]:
    """Return the model as JSON-ready values."""
    return {
        "model": fitted.card.model_dump(mode="json"),
        "effects": [
            effect._asdict()
            | {"odds_ratio": effect.odds_ratio if isfinite(effect.odds_ratio) else None}
            for effect in fitted.card.effects()
        ],
        "apparent_auc": fitted.auc,
        "seconds": fitted.seconds,
        "notes": fitted.notes,
    } | {f"{name}_file": None if path is None else str(path) for name, path in fitted.files.items()}


def render(fitted: Fitted) -> None:
    """Print what was bought, what it says about patients, and what is proven."""
    console = plain_console()
    console.print()
    console.print(_introduction(fitted))
    if fitted.card.terms:
        console.print(_table(fitted.card))
    for sentence in _conclusions(fitted):
        console.print(Text(sentence))


def _introduction(fitted: Fitted) -> Text:
    card = fitted.card
    outcome, data, budget = card.outcome, card.data, card.limits.budget
    spent = "" if budget is None else f" for {card.cost:g} of {budget:g}"
    bought = f"{len(card.terms)} of {len(card.candidates)} predictors bought{spent}"
    persons = fitted.patients.persons
    n_persons = data.rows if persons is None else persons.nunique()
    several = n_persons < data.rows
    who = f"{data.rows} rows of {n_persons} persons" if several else f"{data.rows} patients"
    return Text(bought, style="bold").append(
        f"\n{who}, {data.events} {'rows ' if several else ''}with "
        f"{plain(outcome.name or 'the outcome')} = {plain(outcome.event)}.",
        style="not bold",
    )


def _table(card: ModelCard) -> Table:
    has_prices = card.limits.budget is not None
    costs = {candidate.name: candidate.cost for candidate in card.candidates}
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("predictor", overflow="fold")
    if has_prices:
        table.add_column("cost", justify="right")
    table.add_column("difference", overflow="fold")
    table.add_column("odds ratio", justify="right")
    for term in card.terms:
        name, cost = plain(term.name), f"{costs[term.name]:g}"
        for effect in term.effects():
            cells = [Text(name), Text(cost)] if has_prices else [Text(name)]
            table.add_row(*cells, Text(plain(effect.contrast)), _odds_ratio(effect))
            name = cost = ""
    if has_prices:
        bought = {term.name for term in card.terms}
        for fee in card.limits.fees:
            sharing = [plain(name) for name in fee.members if name in bought]
            if sharing:
                table.add_row("fee", f"{fee.amount:g}", Text(f"for {', '.join(sharing)}"), "")
        table.add_section()
        table.add_row("total", f"{card.cost:g}", f"of {card.limits.budget:g}", "")
    return table


def _odds_ratio(effect: Effect) -> str:
    if effect.odds_ratio > 1e6:
        return "over a million"
    return "under a millionth" if effect.odds_ratio < 1e-6 else f"{effect.odds_ratio:.4g}"


def _conclusions(fitted: Fitted) -> list[str]:
    search = fitted.card.search
    if fitted.estimator.status_ is Status.OPTIMAL:
        proof = (
            f"Proven: no affordable selection has a penalised loss below {search.lower_bound:.4f}; "
            f"this one has {search.objective:.4f}."
        )
    else:
        proof = (
            f"Not proven, the search stopped ({search.status.replace('_', ' ')}): this selection "
            f"has a penalised loss of {search.objective:.4f}, and none can be below "
            f"{search.lower_bound:.4f}, {search.gap:.1%} less."
        )
    ridge = f"Ridge {search.ridge:g}"
    if search.tuning:
        tried = ", ".join(f"{entry.ridge:g}" for entry in search.tuning)
        ridge += f", the best of {tried} by {search.folds}-fold cross-validation"
    written = [
        f"{path} written. {_HINTS[name].format(path)}"
        for name, path in fitted.files.items()
        if path is not None and name in _HINTS
    ]
    return [proof, f"{ridge}. AUC {fitted.auc:.3f} (apparent, so optimistic).", *written]
