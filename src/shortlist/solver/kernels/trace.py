"""What the search writes down, so that its result can be proven to others.

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

from numba import njit

from .layout import ENTRIES, MEMBERS, POINTS, STEPS

FIX, BOUND, BRANCH, ONE, NONE = range(5)


@njit(cache=True, error_model="numpy")
def has_room(trace, counter, n_predictors, n_columns, n_fit):
    """Whether the largest node fits: one step, point and support per predictor, and one of its own.

    The driver provides more room when it does not.
    """
    return (
        counter[STEPS] + n_predictors + 3 <= trace.kind.size
        and counter[MEMBERS] + 2 * n_predictors + 1 <= trace.member.size
        and counter[POINTS] + n_predictors + 2 <= trace.intercept.size
        and counter[ENTRIES] + n_columns + (n_predictors + 1) * n_fit <= trace.column.size
    )


@njit(cache=True, error_model="numpy")
def record_point(trace, counter, theta, theta0):
    """Write down a primal point; return its number."""
    n = counter[ENTRIES]
    point = counter[POINTS]
    trace.first_entry[point] = n
    trace.intercept[point] = theta0
    for j in range(theta.size):
        if theta[j] != 0.0:
            trace.column[n] = j
            trace.value[n] = theta[j]
            n += 1
    counter[ENTRIES] = n
    counter[POINTS] += 1
    return point


@njit(cache=True, error_model="numpy")
def record_step(trace, counter, kind, node, reference):
    """Write down a step; its members follow."""
    step = counter[STEPS]
    trace.kind[step] = kind
    trace.node[step] = node
    trace.reference[step] = reference
    trace.first_member[step] = counter[MEMBERS]
    counter[STEPS] += 1


@njit(cache=True, error_model="numpy")
def record_member(trace, counter, member):
    """Add a member to the last step."""
    trace.member[counter[MEMBERS]] = member
    counter[MEMBERS] += 1
