"""Other solvers and packages that a user could take instead, each scored by our objective.

An adapter is a function from a problem and a time limit to an `Answer`, or None for a problem that
the peer cannot express. The peer's own objective is dropped: `score` fits its support to the end
and evaluates ours.
"""
