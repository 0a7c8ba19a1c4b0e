"""Whole points for a limited number of binary columns, by FasterRisk and by imodels."""

import numpy as np
from fasterrisk.fasterrisk import RiskScoreOptimizer
from imodels.algebraic.risk_score.fast_risk_score import FastRiskScoreClassifier
from serve import serve


def solve(X, signs, request):
    """Return the points of each column, from -`max_points` to `max_points`."""
    k, most = request["max_features"], request.get("max_points", 5)
    if request.get("method", "FasterRisk") == "FasterRisk":
        search = RiskScoreOptimizer(X, signs, k, lb=-most, ub=most)
        search.optimize()
        points = search.get_models(model_index=0)[2]
    else:
        search = FastRiskScoreClassifier(k, most, binarize=False, time_limit=request["time_limit"])
        points = search.fit(X, signs).coef_
    return {"support": np.flatnonzero(points).tolist(), "points": np.asarray(points).tolist()}


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = (rng.random((60, 3)) < 0.5).astype(float)
    solve(
        X,
        np.where(X[:, 0] > rng.random(60), 1.0, -1.0),
        {  # compiles, which is not solving
            "max_features": 2,
            "method": "FastRiskScoreClassifier",
            "time_limit": 60.0,
        },
    )
    serve(solve)
