"""FasterRisk's beam search for a sparse logistic regression, with its penalty matched to the ridge.

Its risk scores, whole numbers made from this model, are another question.
"""

import numpy as np
from fasterrisk.sparseBeamSearch import sparseLogRegModel
from serve import serve


class Matched(sparseLogRegModel):
    """The search on columns divided by one number, the largest norm.

    FasterRisk divides each column by its own norm, so that one penalty would be another for every
    column. Its step sizes hold for columns of norm 1 or less. Coefficients have no bounds here.
    """

    def __init__(self, X, signs, ridge):
        super().__init__(X, signs, original_lb=-np.inf, original_ub=np.inf)
        norm = self.X_norm.max()
        self.X_norm[:] = norm
        self.X_normalized = (X - self.X_mean) / norm
        self.yX = self.y[:, np.newaxis] * self.X_normalized
        self.yXT = np.ascontiguousarray(self.yX.T)
        self.lambda2 = 0.5 * ridge / norm**2
        self.twoLambda2 = 2.0 * self.lambda2
        self.Lipschitz = 0.25 + self.twoLambda2


def solve(X, signs, request):
    """Search with its default width, 10 parents and 10 children of each."""
    model = Matched(X, signs, request["ridge"])
    model.get_sparse_sol_via_OMP(request["max_features"])
    return {"support": np.flatnonzero(np.abs(model.betas) > 1e-9).tolist()}


if __name__ == "__main__":
    serve(solve)
