"""The peers, by the name that tables show."""

from __future__ import annotations

from importlib import import_module

from shortlist.errors import MissingDependencyError

from .answer import Peer
from .backend import peer_of

_ADAPTERS = {
    "cuts, HiGHS": "highs_cuts",
    "cuts, SCIP": "scip_cuts",
    "abess": "abess_splicing",
    "SequentialFeatureSelector": "sequential",
}
_BACKENDS = {
    "conic, SCIP": "scip",
    "forward": "forward",
    "backward": "backward",
    "L1 path": "lasso",
    "univariable": "univariable",
}
NAMES = ("conic, SCIP", "cuts, HiGHS", "cuts, SCIP", *list(_ADAPTERS)[2:], *list(_BACKENDS)[1:])


def load(name: str) -> Peer:
    """Return a peer; MissingDependencyError says which package it lacks."""
    if name in _BACKENDS:
        return peer_of(_BACKENDS[name])
    try:
        peer: Peer = import_module(f".{_ADAPTERS[name]}", __package__).solve
    except ImportError as error:
        raise MissingDependencyError(f"{name}: {error.name} is not installed.") from None
    return peer
