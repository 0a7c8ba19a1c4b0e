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
class Entry:
    """The package that does the work; a function in a file here, or one of our backends."""

    package: str
    function: str = ""
    backend: str = ""
    is_exact: bool = False
    is_isolated: bool = False
    is_for_machines: bool = False  # for support vector machines alone


PEERS = {
    "conic, SCIP": Entry("pyscipopt", backend="scip", is_exact=True),
    "l0l2learn": Entry("l0l2learn", "l0l2learn_conic.solve", is_exact=True),
    "cuts, HiGHS": Entry("scipy", "highs_cuts.solve", is_exact=True),
    "cuts, SCIP": Entry("pyscipopt", "scip_cuts.solve", is_exact=True),
    "cuts, Gurobi": Entry("gurobipy", "gurobi_cuts.solve", is_exact=True),
    "El0ps": Entry("el0ps", "isolated.solve_el0ps", is_exact=True, is_isolated=True),
    "abess": Entry("abess", "abess_splicing.solve"),
    "FasterRisk": Entry("fasterrisk", "isolated.solve_fasterrisk", is_isolated=True),
    "bcselector": Entry("bcselector", "isolated.solve_bcselector", is_isolated=True),
    "L1 path": Entry("scikit-learn", "scikit_learn.solve_l1_path"),
    "SequentialFeatureSelector": Entry("scikit-learn", "scikit_learn.solve_sequential"),
    "L1 order of entry": Entry("shortlist", backend="lasso"),
    "forward": Entry("shortlist", backend="forward"),
    "backward": Entry("shortlist", backend="backward"),
    "univariable": Entry("shortlist", backend="univariable"),
    "big-M, SCIP": Entry("pyscipopt", "big_m.solve", is_exact=True, is_for_machines=True),
    "LinearSVC, L1": Entry("scikit-learn", "scikit_learn.solve_l1_machine", is_for_machines=True),
    "LinearSVC, RFE": Entry("scikit-learn", "scikit_learn.solve_elimination", is_for_machines=True),
}
NAMES = tuple(name for name, entry in PEERS.items() if not entry.is_for_machines)
# Those that know the losses of support vector machines.
MACHINES = ("big-M, SCIP", "conic, SCIP", "cuts, HiGHS", "LinearSVC, L1", "LinearSVC, RFE")
EXACT = tuple(name for name, entry in PEERS.items() if entry.is_exact)
# Those that run in this process and need no other environment.
IN_PROCESS = tuple(name for name in NAMES if not PEERS[name].is_isolated)


def load(name: str) -> Peer:
    """Return a peer; MissingDependencyError says which package it lacks."""
    entry = PEERS[name]
    if entry.backend:
        return peer_of(entry.backend)
    module, _, function = entry.function.rpartition(".")
    try:
        peer: Peer = getattr(import_module(f".{module}", __package__), function)
    except ImportError as error:
        raise MissingDependencyError(f"{name}: {error.name} is not installed.") from None
    return peer


def package_of(name: str) -> str:
    """Return the package that does a peer's work and its version, once it is loaded."""
    entry = PEERS[name]
    if entry.package == "shortlist":
        return f"shortlist {sl.__version__}"
    known = version_of(entry.package) if entry.is_isolated else version(entry.package)
    return f"{entry.package} {known}"
