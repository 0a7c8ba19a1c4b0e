"""bcselector's order of columns by information over cost.

Its information is that of discrete columns, so they are cut into 10 bins of equal size. Its own
budget ends the order at the first column that does not fit, or just fits: the order is bought here,
and what does not fit is skipped.
"""

import numpy as np
from bcselector.variable_selection import FractionVariableSelector
from serve import serve

BINS = 10


def solve(X, signs, request):
    """Order all columns with its default criterion and an exponent of 1 of the costs."""
    edges = np.quantile(X, np.linspace(0.0, 1.0, BINS + 1)[1:-1], axis=0)
    bins = np.column_stack([np.searchsorted(edges[:, j], X[:, j]) for j in range(X.shape[1])])
    selector = FractionVariableSelector()
    selector.fit(bins, (signs > 0).astype(int), costs=request["costs"], r=1.0)
    order, costs = selector.get_cost_results()
    support, left = [], request["budget"]
    for column, cost in zip(order, costs, strict=True):
        if cost <= left:
            support.append(int(column))
            left -= cost
    return {"support": support}


if __name__ == "__main__":
    serve(solve)
