"""How many nodes compiled code processes before Python looks at the limits again."""

from __future__ import annotations

_FIRST_SLICE = 4e6  # entries of X that the nodes of the first slice may read once
_SLICE_SECONDS = 0.05


def first_slice(n_entries: int) -> int:
    """Return a number of nodes that is done soon, for an X of so many entries."""
    return max(1, int(_FIRST_SLICE / (1 + n_entries)))


def next_slice(n_nodes: int, seconds: float) -> int:
    """Return the next number of nodes, given how long these took.

    Slices of equal time are aimed at, so that limits and Ctrl-C are noticed soon.
    """
    ratio = _SLICE_SECONDS / max(seconds, 1e-6)
    return max(1, int(n_nodes * min(max(ratio, 0.25), 4.0)))
