"""The loop of a worker: a line of JSON with a problem in, a line of JSON with an answer out."""

import json
import os
import sys
import time

import numpy as np

SMALL = {"ridge": 1.0, "time_limit": 60.0, "max_features": 1, "costs": [1, 2, 3], "budget": 3}


def serve(solve):
    """Answer requests until the input ends.

    `solve` takes X, the signs (-1.0 or 1.0) and the request, and returns a dict with `support` and
    the other fields of an `Answer`. Its prints go to standard error. A small problem comes
    first, as compilation is no part of solving.
    """
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    X = np.random.default_rng(0).random((20, 3))
    solve(X, np.where(X[:, 0] > X[:, 1], 1.0, -1.0), SMALL)
    for line in sys.stdin:
        request = json.loads(line)
        with np.load(request["data"]) as data:
            X, signs = data["X"], data["signs"].astype(float)
        try:
            started = time.process_time()
            reply = solve(X, signs, request)
            reply["seconds"] = time.process_time() - started
        except Exception as error:  # the worker goes on with the next problem
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
