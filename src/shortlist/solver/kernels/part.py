"""A part of a search: open nodes that are worked on apart from the others, and what came of them.

Every node is in one tree at any time, because each move is one call. Numbers that a part gives to
nodes and points are its own until `collect` makes them those of the whole.
"""

from .layout import copy
from .reference import by_reference, entry, kernel
from .trace import NO_POINT, Kind
from .tree import DIVE_SLOT, close_leaf, pop, push


@entry
def deal(tree, incumbent, part, part_incumbent, n_nodes):
    """Move the n_nodes nodes of lowest bound to an empty part, which learns the incumbent.

    The tree has room for one more node, and the part for all of them.
    """
    tree, part = by_reference(tree), by_reference(part)
    _copy_incumbent(by_reference(part_incumbent), by_reference(incumbent))
    if tree.now.n_diving == 1:
        _add(tree, tree, DIVE_SLOT, tree.serial[DIVE_SLOT], tree.point[DIVE_SLOT])
        tree.now.n_diving = 0
    part.now.nodes = part.now.nodes_before = tree.now.nodes
    part.now.n_created = part.now.created_before = tree.now.n_created
    part.now.closed = tree.now.closed
    for _ in range(n_nodes):
        slot = pop(tree)
        _add(part, tree, slot, tree.serial[slot], _mirrored(tree.point[slot]))


@entry
def collect(tree, trace, incumbent, part, part_trace, part_incumbent):
    """Move all that is in a part to tree and trace, which have room for it."""
    tree, trace, incumbent = by_reference(tree), by_reference(trace), by_reference(incumbent)
    part, part_incumbent = by_reference(part), by_reference(part_incumbent)
    first, shift = part.now.created_before, tree.now.n_created - part.now.created_before
    first_point = trace.now.n_points
    _append(trace, by_reference(part_trace), first, shift)
    while part.now.n_open + part.now.n_diving > 0:
        slot = DIVE_SLOT if part.now.n_diving == 1 else pop(part)
        part.now.n_diving = 0
        serial = _renumbered(part.serial[slot], first, shift)
        _add(tree, part, slot, serial, _point_of(part.point[slot], first_point))
    tree.now.nodes += part.now.nodes - part.now.nodes_before
    tree.now.n_created += part.now.n_created - part.now.created_before
    part.now.nodes_before, part.now.created_before = part.now.nodes, part.now.n_created
    close_leaf(tree, part.now.closed)
    if part_incumbent.score.objective < incumbent.score.objective:
        _copy_incumbent(incumbent, part_incumbent)


@kernel
def _add(target, source, slot, serial, point):
    """Push the node in a slot of another tree, or of the same."""
    push(
        target, serial, source.status[slot], source.theta[slot], source.theta0[slot],
        source.mu[slot], source.bound[slot], point,
    )  # fmt: skip


@kernel
def _copy_incumbent(target, source):
    copy(target.status, source.status)
    copy(target.theta, source.theta)
    target.score.objective = source.score.objective
    target.score.intercept = source.score.intercept


@kernel
def _mirrored(point):
    """The number that a part has for a point of the whole, and back: those from 0 are its own."""
    return NO_POINT - 1 - point


@kernel
def _point_of(point, first_point):
    """The number that the whole has for a point of a part."""
    return point + first_point if point >= 0 else _mirrored(point)


@kernel
def _renumbered(node, first, shift):
    """The number that the whole has for a node of a part, which created those from `first` on."""
    return node + shift if node >= first else node


@kernel
def _append(trace, part, first, shift):
    """Write down what a part has recorded, and let it start anew."""
    now, then = trace.now, part.now
    for s in range(then.n_steps):
        step, kind, reference = now.n_steps + s, part.kind[s], part.reference[s]
        trace.kind[step] = kind
        trace.node[step] = _renumbered(part.node[s], first, shift)
        if kind == Kind.BRANCH:
            trace.reference[step] = reference + shift
        else:
            trace.reference[step] = _point_of(reference, now.n_points)
        trace.first_member[step] = now.n_members + part.first_member[s]
    for i in range(then.n_members):
        trace.member[now.n_members + i] = part.member[i]
    for p in range(then.n_points):
        point = now.n_points + p
        trace.intercept[point] = part.intercept[p]
        trace.intercept_step[point] = part.intercept_step[p]
        trace.width[point] = part.width[p]
        trace.first_entry[point] = now.n_entries + part.first_entry[p]
    for i in range(then.n_entries):
        entry_number = now.n_entries + i
        trace.column[entry_number] = part.column[i]
        trace.value[entry_number] = part.value[i]
        trace.step[entry_number] = part.step[i]
    now.n_steps += then.n_steps
    now.n_members += then.n_members
    now.n_points += then.n_points
    now.n_entries += then.n_entries
    then.n_steps = 0
    then.n_members = 0
    then.n_points = 0
    then.n_entries = 0
