"""The record of a search, from which its certificate is made.

The trace is a list of steps, each about one node, and a list of primal points (coefficients and
intercept). A node's steps say why no selection that agrees with its decisions beats the bound:

    FIX     the reference is a point that bounds all selections which decide a member otherwise;
            member g >= 0 is forbidden from here on, ~g is bought
    BOUND   the reference is a point that bounds the whole node
    BRANCH  the one member is forbidden in the node that is the reference, bought in the next
    ONE     no two free predictors are affordable together: the reference is a point that bounds
            the selections which add one of the members, or none
    NONE    what is bought is not affordable
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from .fields import Array, Record
from .reference import kernel

NO_POINT = np.int64(-1)


class Kind(IntEnum):
    """Kinds of steps."""

    FIX = 0
    BOUND = 1
    BRANCH = 2
    ONE = 3
    NONE = 4


class Trace(NamedTuple):
    """Steps, their members, points and their entries."""

    kind: Array("n_steps", dtype=np.int8)
    node: Array("n_steps", dtype=np.int64)
    reference: Array("n_steps", dtype=np.int64)
    first_member: Array("n_steps", dtype=np.int64)
    member: Array("n_members", dtype=np.int32)
    intercept: Array("n_points")
    intercept_step: Array("n_points")  # not a number if the point is not moved
    width: Array("n_points")  # of the band on which the hinge is smoothed
    first_entry: Array("n_points", dtype=np.int64)
    column: Array("n_entries", dtype=np.int32)
    value: Array("n_entries")
    step: Array("n_entries")
    now: Record(n_steps=0, n_members=0, n_points=0, n_entries=0)


@register_jitable
def has_room(trace, n_steps, n_members, n_columns, n_fit):
    """Whether the largest node fits, with points on up to n_fit columns for its steps.

    It also has steps and points of its own, one of them on all columns. The driver provides more
    room when it does not fit.
    """
    now = trace.now
    return (
        now.n_steps + n_steps + 3 <= trace.kind.size
        and now.n_members + n_members + 1 <= trace.member.size
        and now.n_points + n_steps + 2 <= trace.intercept.size
        and now.n_entries + n_columns + (n_steps + 1) * n_fit <= trace.column.size
    )


@kernel
def record_point(trace, theta, theta0, width):
    """Write down a primal point; return its number."""
    return record_difference(trace, theta, theta, theta0, np.nan, width)


@kernel
def record_difference(trace, theta, moved, theta0, step0, width):
    """Write down a primal point and the step that moves its dual point; return its number.

    The step is that from theta to other coefficients, and step0 that of the intercept.
    """
    point = _begin_point(trace, theta0, step0, width)
    for j in range(theta.size):
        if theta[j] != 0.0 or moved[j] != 0.0:
            _record_entry(trace, j, theta[j], moved[j] - theta[j])
    return point


@kernel
def record_moved(trace, theta, theta0, columns, step, n_columns, step0, width):
    """The same where the step is given, and theta is 0 outside the listed columns."""
    point = _begin_point(trace, theta0, step0, width)
    for i in range(n_columns):
        _record_entry(trace, columns[i], theta[columns[i]], step[i])
    return point


@kernel
def _begin_point(trace, theta0, step0, width):
    point = trace.now.n_points
    trace.first_entry[point] = trace.now.n_entries
    trace.intercept[point] = theta0
    trace.intercept_step[point] = step0
    trace.width[point] = width
    trace.now.n_points += 1
    return point


@kernel
def _record_entry(trace, column, value, step):
    n = trace.now.n_entries
    trace.column[n] = column
    trace.value[n] = value
    trace.step[n] = step
    trace.now.n_entries += 1


@kernel
def record_step(trace, kind, node, reference):
    """Write down a step; its members follow."""
    step = trace.now.n_steps
    trace.kind[step] = kind
    trace.node[step] = node
    trace.reference[step] = reference
    trace.first_member[step] = trace.now.n_members
    trace.now.n_steps += 1


@kernel
def record_member(trace, member):
    """Add a member to the last step."""
    trace.member[trace.now.n_members] = member
    trace.now.n_members += 1
