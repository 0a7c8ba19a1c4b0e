"""Options of a solve, and the progress that its callback receives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """A snapshot of a running search, given to the callback."""

    nodes: int
    open_nodes: int
    objective: float
    lower_bound: float
    seconds: float

    def describe(self) -> str:
        """Return the progress as a sentence."""
        return (
            f"Searching: {self.nodes} nodes, penalised loss {self.objective:.3f}, "
            f"proven at least {self.lower_bound:.3f}"
        )


@dataclass(frozen=True)
class Options:
    """Limits of one solve, as `solve` documents them."""

    gap: float = 1e-6
    time_limit: float | None = None
    node_limit: int | None = None
    callback: Callable[[Progress], None] | None = None
    warm_start: tuple[int, ...] | None = None
    threads: int | None = None
    sample: int | None = None  # rows
