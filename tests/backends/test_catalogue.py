"""Every backend on the catalogue of problems with known optima."""

import numpy as np
import pytest
from answers import check_model
from catalogue import CATALOGUE, LIMITED

import shortlist as sl
from shortlist.errors import MissingDependencyError

EXACT = [
    name
    for name, description in sl.available_backends().items()
    if not description.startswith("heuristic:")
]


CASES = [
    (backend, name, known) for name, known in (CATALOGUE | LIMITED).items() for backend in EXACT
]


@pytest.mark.parametrize(
    ("backend", "known"), [(b, k) for b, _, k in CASES], ids=[f"{b}-{n}" for b, n, _ in CASES]
)
def test_known_optimum(backend, known):
    problem = known.problem()
    try:
        solution = sl.solve(problem, backend)
    except MissingDependencyError as reason:
        pytest.skip(str(reason))  # an optional solver or its licence; the message names it
    assert solution.status is sl.Status.OPTIMAL
    assert solution.gap <= 1e-6
    # Found to 10 digits by all, as the selection is the same and is fitted to the end.
    assert solution.objective == pytest.approx(known.objective, rel=2e-9)
    assert solution.lower_bound <= known.objective * (1 + 2e-9)
    assert solution.support in known.supports
    check_model(problem, solution)


def test_the_catalogue_has_every_kind_of_problem():
    problems = [known.problem() for known in CATALOGUE.values()]
    limits = [problem.limits for problem in problems]
    with_budget = [c for c in limits if c.budget < np.inf]
    assert {c.prices.is_short for c in with_budget} == {True, False}
    assert any(c.prices.unit.denominator > 1 for c in with_budget)
    assert any((c.costs == 0).any() for c in with_budget)
    assert any(c.max_features < c.n_predictors for c in with_budget)
    assert any(c.fees for c in with_budget)
    assert any(c.include for c in limits)
    assert any(c.exclude for c in limits)
    assert any(problem.has_groups for problem in problems)
    assert any((problem.weights == 0).any() for problem in problems)
