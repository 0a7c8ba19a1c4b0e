"""`shortlist verify`: whether a proof holds, from the data alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InvalidFileError
from .parameter import AsJson, DataFile
from .place import check_places
from .progress import noting, working

if TYPE_CHECKING:
    from ..prognostic import ModelCard


def verify(
    proof: Annotated[
        Path,
        typer.Argument(metavar="PROOF", help="A proof that `shortlist fit --certificate` wrote."),
    ],
    data: DataFile,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A model file: check that this model, not only that in PROOF, is the proven one.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a proof against the data, trusting neither the solver nor the file.

    PROOF carries the model and the problem that was posed: columns, preprocessing, ridge, prices,
    limits. The problem is built again from that and from DATA, its digest has to be that of the
    proof, and an independent checker computes bounds that hold whatever the rounding was. The
    answer repeats prices and limits: see whether they are yours. Exit code 1: the proof does not
    hold.
    """
    from ..prognostic import ModelCard, load_proof, verify_model
    from ..prognostic.patients import read_patients

    check_places([proof, data], [])
    with noting() as notes, working("Checking the proof"):
        card, certificate = load_proof(proof)
        if model is not None:
            card = ModelCard.load(model)
        if card.outcome.name is None:
            raise InvalidFileError(f"{model or proof}: does not say which column is the outcome.")
        patients = read_patients(data, card.outcome.name, card.outcome.event, None)
        verdict = verify_model(card, certificate, patients.predictors, patients.events)
    if as_json:
        record = {
            "valid": verdict.valid,
            "reason": verdict.reason,
            "lower_bound": verdict.lower_bound if verdict.valid else None,
            "upper_bound": verdict.upper_bound if verdict.valid else None,
            "gap": verdict.gap if verdict.valid else None,
            "bought": [term.name for term in card.terms],
            "cost": card.cost,
            "limits": card.limits.model_dump(mode="json"),
            "costs": {candidate.name: candidate.cost for candidate in card.candidates},
            "notes": notes,
        }
        typer.echo(json.dumps(record, indent=2))
    elif verdict.valid:
        typer.echo(
            f"The proof holds. {_question(card)}, no selection has a penalised loss below "
            f"{verdict.lower_bound:.6f}; the model has at most {verdict.upper_bound:.6f} "
            f"(gap {verdict.gap:.1e})."
        )
    else:
        typer.echo(f"The proof does not hold: {verdict.reason}")
    if not verdict.valid:
        raise typer.Exit(1)


def _question(card: ModelCard) -> str:
    """Return in words what was affordable."""
    from .fit_view import plain

    limits = card.limits
    parts = [f"Of {len(card.candidates)} predictors"]
    if limits.budget is not None:
        prices = ", ".join(f"{plain(item.name)} {item.cost:g}" for item in card.candidates)
        parts.append(f"within {limits.budget:g} at these prices ({prices})")
        for fee in limits.fees:
            members = ", ".join(map(plain, fee.members))
            parts.append(f"a fee of {fee.amount:g} for any of {members}")
    if limits.max_features is not None:
        parts.append(f"at most {limits.max_features}")
    if limits.include:
        parts.append(f"always with {', '.join(map(plain, limits.include))}")
    return ", ".join(parts)
