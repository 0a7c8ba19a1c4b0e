"""The peers, by the name that tables show."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version

import shortlist as sl
from shortlist.errors import MissingDependencyError

from .answer import Peer
from .backend import peer_of
from .environment import version_of


@dataclass(frozen=True)
class _Entry:
    """Where a peer is: a file here, or one of our backends; and the package that does the work."""

    package: str
    module: str = ""
    backend: str = ""
    is_exact: bool = False
    is_isolated: bool = False


_PEERS = {
    "conic, SCIP": _Entry("pyscipopt", backend="scip", is_exact=True),
    "l0l2learn": _Entry("l0l2learn", "l0l2learn_conic", is_exact=True),
    "cuts, HiGHS": _Entry("scipy", "highs_cuts", is_exact=True),
    "cuts, SCIP": _Entry("pyscipopt", "scip_cuts", is_exact=True),
    "cuts, Gurobi": _Entry("gurobipy", "gurobi_cuts", is_exact=True),
    "El0ps": _Entry("el0ps", "el0ps_tree", is_exact=True, is_isolated=True),
    "abess": _Entry("abess", "abess_splicing"),
    "FasterRisk": _Entry("fasterrisk", "fasterrisk_beam", is_isolated=True),
    "bcselector": _Entry("bcselector", "bcselector_order", is_isolated=True),
    "L1 path": _Entry("scikit-learn", "l1_path"),
    "SequentialFeatureSelector": _Entry("scikit-learn", "sequential"),
    "L1 order of entry": _Entry("shortlist", backend="lasso"),
    "forward": _Entry("shortlist", backend="forward"),
    "backward": _Entry("shortlist", backend="backward"),
    "univariable": _Entry("shortlist", backend="univariable"),
}
NAMES = tuple(_PEERS)
EXACT = tuple(name for name, entry in _PEERS.items() if entry.is_exact)
# What runs in this process, and needs no other environment.
IN_PROCESS = tuple(name for name, entry in _PEERS.items() if not entry.is_isolated)


def load(name: str) -> Peer:
    """Return a peer; MissingDependencyError says which package it lacks."""
    entry = _PEERS[name]
    if entry.backend:
        return peer_of(entry.backend)
    try:
        peer: Peer = import_module(f".{entry.module}", __package__).solve
    except ImportError as error:
        raise MissingDependencyError(f"{name}: {error.name} is not installed.") from None
    return peer


def package_of(name: str) -> str:
    """Return the package that does a peer's work and its version, once it is loaded."""
    entry = _PEERS[name]
    if entry.package == "shortlist":
        return f"shortlist {sl.__version__}"
    known = version_of(entry.package) if entry.is_isolated else version(entry.package)
    return f"{entry.package} {known}"
