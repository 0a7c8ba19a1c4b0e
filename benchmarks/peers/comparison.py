"""Peers on one problem, each next to the native backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from time import process_time

import shortlist as sl
from shortlist.errors import MissingDependencyError

from ..measure import CpuShare, Row, outcome
from ..settings import Settings
from .answer import PeerError, score
from .backend import solve_within
from .registry import load, package_of

NATIVE = "native"
TOLERANCE = 1e-6  # relative, above which an objective is worse
_LONG = 0.1  # seconds, from which on one solve tells enough
_ROUNDS = 3  # of the native backend, before each peer and after it


def measure(
    settings: Settings, make: Callable[[], sl.SubsetProblem], facts: Row, names: Sequence[str]
) -> Iterator[Row]:
    """Make a problem and compare, as far as an earlier run has not done so already.

    A peer that is asked for and gave no answer is asked again.
    """
    done = [
        row
        for row in settings.resume(facts)
        if row["peer"] not in names or row["status"] not in ("not_installed", "failed")
    ]
    yield from done
    known = {row["peer"] for row in done}
    if not known.issuperset({NATIVE, *names}):
        for row in compare(make(), facts, [name for name in names if name not in known]):
            if row["peer"] not in known:
                yield row


def compare(problem: sl.SubsetProblem, facts: Row, names: Sequence[str]) -> Iterator[Row]:
    """Solve a problem with the native backend, and with peers between more solves of it.

    Seconds are CPU seconds of one thread: other work on the machine makes a long solve wait more
    than a short one, and would make the ratio of the two too large.

    Parameters
    ----------
    problem : SubsetProblem
        What to solve.
    facts : dict
        Facts of the problem that all rows repeat; `time_limit` must be among them.
    names : sequence of str
        The peers.

    Yields
    ------
    dict
        A row for the native backend and one for each peer. One that is absent, fails, or cannot
        express the problem has a status that says so, and a reason.
    """
    share, started = CpuShare(), process_time()
    best, status = solve_within(problem, NATIVE, facts["time_limit"])
    first = process_time() - started
    facts = facts | {"optimum": best.objective, "native_status": status}
    seconds = median(_native(problem, first))
    package = f"shortlist {sl.__version__}"
    yield (
        facts
        | {"peer": NATIVE, "package": package, "seconds": seconds, "native_seconds": seconds}
        | outcome(best)
        | {"status": status, "cpu_share": share.read()}
    )
    for name in names:
        before = _native(problem, first)
        row = _ask(name, problem, facts["time_limit"])
        if "seconds" in row:
            row["native_seconds"] = median(before + _native(problem, first))
        yield facts | {"peer": name} | row


def _native(problem: sl.SubsetProblem, first: float) -> list[float]:
    """Return the seconds of some more solves; those of the first, if it was long."""
    if first > _LONG:
        return [first]
    seconds = []
    for _ in range(_ROUNDS):
        started = process_time()
        sl.solve(problem, threads=1)
        seconds.append(process_time() - started)
    return seconds


def _ask(name: str, problem: sl.SubsetProblem, time_limit: float) -> Row:
    share, started = CpuShare(), process_time()
    try:
        answer = load(name)(problem, time_limit)
    except MissingDependencyError as reason:
        return {"status": "not_installed", "reason": str(reason)}
    except PeerError as reason:
        return {"status": "failed", "reason": str(reason)}
    except Exception as error:  # whatever is wrong with a peer, the others go on
        reason = f"{name}: {type(error).__name__}: {error}"
        return {"status": "failed", "reason": reason}
    elapsed = process_time() - started
    if answer is None:
        return {"status": "not_expressible"}
    return {
        "status": answer.status,
        "package": package_of(name),
        "seconds": elapsed if answer.seconds is None else answer.seconds,
        "objective": score(problem, answer),
        "lower_bound": answer.lower_bound,
        "nodes": answer.nodes,
        "support": " ".join(map(str, answer.support)),
        "cpu_share": share.read() if answer.seconds is None else None,
    }
