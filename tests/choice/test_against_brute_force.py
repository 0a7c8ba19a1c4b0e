"""Near-optimal and cheapest models, paths, substitutes, price ranges: against all selections."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from random_problems import limited_problem, random_arguments, random_problem

import shortlist as sl
from shortlist.backends.support_fit import SupportFits

pytestmark = pytest.mark.filterwarnings("ignore:budget")

TIE = 1e-9  # objectives that differ by less, as a share of the problem's scale, count as equal
ROUNDING = 1e-11  # of an objective, as such a share
N_DEFAULT, N_SLOW, CHUNK = 60, 860, 40  # seeds, of which half and two thirds are small enough
MOST_FREE_DEFAULT, MOST_FREE_SLOW = 6, 8
N_LIMITED, MOST_FREE_LIMITED = 40, 5


def n_free(seed):
    arguments = random_arguments(seed)
    n_predictors = 1 + max(arguments.get("groups", [arguments["X"].shape[1] - 1]))
    return n_predictors - len(arguments.get("include", ())) - len(arguments.get("exclude", ()))


class BruteForce:
    """The model of every selection that respects all limits but the budget."""

    def __init__(self, problem):
        self.problem = problem
        limits = problem.limits
        fits = SupportFits(problem)
        decided = {*limits.include, *limits.exclude}
        free = [g for g in range(problem.n_predictors) if g not in decided]
        most = min(len(free), limits.max_features - len(limits.include))
        self.models = {}
        for size in range(most + 1):
            for added in combinations(free, size):
                support = tuple(sorted((*limits.include, *added)))
                self.models[support] = fits.fit(support)[0]

    def objectives(self, limits):
        """The objective of each selection that is affordable."""
        return {s: m.objective for s, m in self.models.items() if limits.is_affordable(s)}


def check_near_optimal(brute):
    problem = brute.problem
    objectives = brute.objectives(problem.limits)
    for tolerance in (0.0, 0.01, 0.1):
        found = sl.near_optimal(problem, tolerance, limit=5000)
        assert found.is_complete
        assert found.tolerance == tolerance
        supports = [model.support for model in found]
        assert len(set(supports)) == len(supports)
        # What is closer to a threshold than rounding may be listed or not.
        threshold = problem.scale.above(min(objectives.values()), max(tolerance, TIE))
        rounding = ROUNDING * problem.scale.of(threshold)
        surely = {s for s, v in objectives.items() if v < threshold - rounding}
        maybe = {s for s, v in objectives.items() if v < threshold + rounding}
        surely = {s for s in surely if gain(brute, s) > 1e-11}
        maybe = {s for s in maybe if gain(brute, s) > 1e-13}
        assert surely <= set(supports) <= maybe
        for model, following in pairwise(found):
            assert following.objective >= problem.scale.below(model.objective, 1e-12)
        for model in found:
            check_fit(brute, model)
    check_truncation(problem, found)


def gain(brute, support):
    """By which share the objective falls with the most dispensable of the predictors."""
    required, scale = brute.problem.limits.include, brute.problem.scale
    objective = brute.models[support].objective
    without = [tuple(h for h in support if h != g) for g in support if g not in required]
    rises = [brute.models[s].objective - objective for s in without]
    return min((rise / scale.of(objective) for rise in rises), default=math.inf)


def close(problem, expected, share):
    """The same objective but for a share of the problem's scale."""
    return pytest.approx(expected, rel=0, abs=share * problem.scale.of(expected))


def check_fit(brute, model):
    problem, reference = brute.problem, brute.models[model.support]
    assert model.cost == problem.limits.cost_of(model.support)
    assert model.objective == problem.objective(model.coef, model.intercept)
    assert model.objective == close(problem, reference.objective, ROUNDING)
    # The penalised loss grows by ridge/2 times the squared distance from its minimum, at least.
    distance = np.linalg.norm(model.coef - reference.coef)
    assert problem.ridge / 2 * distance**2 <= 10 * ROUNDING * problem.scale.of(model.objective)


def check_truncation(problem, whole):
    for limit in {1, max(1, len(whole) // 2), max(1, len(whole) - 1), len(whole)}:
        cut = sl.near_optimal(problem, whole.tolerance, limit)
        assert len(cut) == limit
        assert cut.is_complete == (limit == len(whole))
        # Of several that tie at the end, any may be returned.
        for model, expected in zip(cut, whole, strict=False):
            assert model.objective == close(problem, expected.objective, ROUNDING)


def check_path(brute, problem):
    limits = problem.limits
    objectives = brute.objectives(limits)
    path = sl.solve_path(problem)
    by_budget = limits.budget < math.inf or bool(limits.fees) or not np.all(limits.costs == 1)
    assert path.limit_name == ("budget" if by_budget else "max_features")
    level = limits.cost_of if by_budget else len
    assert path.is_certified
    assert path[0].limit == pytest.approx(level(limits.include), abs=1e-12)
    before, held = -math.inf, set()
    best = None
    for step in path:
        solution, bought = step.solution, set(step.solution.support)
        assert step.limit == pytest.approx(level(solution.support), rel=1e-12)
        assert step.limit > before
        assert best is None or solution.objective < problem.scale.below(best, 0.99 * TIE)
        assert solution.objective == problem.objective(solution.coef, solution.intercept)
        assert limits.is_affordable(solution.support)
        assert solution.support == tuple(sorted(bought))
        assert (set(step.gained), set(step.lost)) == (bought - held, held - bought)
        before, held, best = step.limit, bought, solution.objective
    # Every limit buys what it can, whether a step starts there or not.
    for limit in {level(support) for support in objectives}:
        reachable = limit * (1 + TIE)
        optimum = min(v for s, v in objectives.items() if level(s) <= reachable)
        assert path.at(limit).solution.objective == close(problem, optimum, 3 * TIE)
    return path


def check_cheapest(brute, problem):
    limits = problem.limits
    objectives = brute.objectives(limits)
    has_prices = limits.budget < math.inf or bool(limits.fees) or not np.all(limits.costs == 1)
    level = limits.cost_of if has_prices else len
    best = min(objectives.values())
    for tolerance in (0.0, 0.01, 0.1):
        found = sl.cheapest_within(problem, tolerance)
        assert found.is_proven
        assert found.best.objective == close(problem, best, 2 * TIE)
        support = found.solution.support
        assert support in objectives
        assert found.limit == pytest.approx(level(support), rel=1e-12)
        highest = problem.scale.above(best, max(tolerance, TIE))
        # What is closer to the threshold than rounding may count or not.
        low, high = (highest + sign * 3 * TIE * problem.scale.of(highest) for sign in (-1, 1))
        assert objectives[support] <= high
        surely = [s for s, v in objectives.items() if v < low]
        cheapest = min(map(level, surely), default=math.inf)
        assert found.limit <= cheapest * (1 + TIE)
        as_cheap = [v for s, v in objectives.items() if level(s) <= found.limit * (1 + TIE)]
        assert found.solution.objective == close(problem, min(as_cheap), 3 * TIE)
        if not any(low <= v <= high for v in as_cheap):
            assert found.limit == pytest.approx(cheapest, rel=TIE)


def check_certificates(path):
    for step in path:
        verdict = sl.verify(step.problem, step.solution.certificate)
        assert verdict.valid, verdict.reason
        scale, objective = step.problem.scale, step.solution.objective
        assert scale.below(objective, 1e-6) <= verdict.lower_bound <= scale.above(objective, 1e-12)


def check_substitutes(brute):
    objectives = brute.objectives(brute.problem.limits)
    found = sl.substitutes(brute.problem, gap=1e-9)
    required = set(brute.problem.limits.include)
    assert [s.predictor for s in found] == [g for g in found.best.support if g not in required]
    for substitute in found:
        optimum = min(v for s, v in objectives.items() if substitute.predictor not in s)
        solution = substitute.solution
        assert solution.support in objectives
        assert substitute.predictor not in solution.support
        assert solution.objective == close(brute.problem, optimum, 2 * TIE)
        assert substitute.increase == solution.objective - found.best.objective
        assert set(substitute.gained) == set(solution.support) - set(found.best.support)
        assert set(substitute.lost) == set(found.best.support) - set(solution.support)


def check_price_ranges(brute):
    problem, limits = brute.problem, brute.problem.limits
    if limits.budget == math.inf:
        with pytest.raises(sl.InvalidProblemError, match="problem: has no budget"):
            sl.price_ranges(problem)
        return
    found = sl.price_ranges(problem)
    chosen, best = found.solution.support, found.solution.objective
    little = 1e-6 * max(1.0, limits.budget)

    def at(g, price):
        """What is affordable when g costs this."""
        costs = limits.costs.copy()
        costs[g] = price
        return brute.objectives(problem.with_limits(costs=costs, include=()).limits)

    for g, r in enumerate(found):
        assert (r.predictor, r.price) == (g, limits.costs[g])
        assert r.low <= r.price <= r.high
        assert r.includes_low == (not r.rival)
        top = r.high if r.high < math.inf else 2 * r.price + limits.budget + 1
        inside = [r.price, top, *np.linspace(r.low, top, 5)[1:-1]]
        inside.append(r.low if r.includes_low else min(r.low + little, r.price))
        for price in inside:
            objectives = at(g, price)
            assert chosen in objectives
            assert min(objectives.values()) >= problem.scale.below(best, 3 * TIE)
        if r.high < math.inf:
            assert chosen not in at(g, r.high + little)
        if not r.includes_low:
            objectives = at(g, r.low)
            assert objectives[r.rival] < problem.scale.below(best, 0.9 * TIE)
            assert g in r.rival
            cheaper = at(g, max(0.0, r.low - little))
            assert min(cheaper.values()) < problem.scale.below(best, 0.9 * TIE)


def check_everything(problem, verify):
    brute = BruteForce(problem)
    check_near_optimal(brute)
    path = check_path(brute, problem)
    if verify:
        check_certificates(path)
    check_cheapest(brute, problem)
    check_substitutes(brute)
    check_price_ranges(brute)
    if problem.limits.budget < math.inf:
        check_path(brute, problem.with_limits(budget=math.inf))
        check_cheapest(brute, problem.with_limits(budget=math.inf))


@pytest.mark.parametrize("seed", [s for s in range(N_DEFAULT) if n_free(s) <= MOST_FREE_DEFAULT])
def test_random_problem(seed):
    check_everything(random_problem(seed), verify=seed % 4 == 0)


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "cox"])
@pytest.mark.parametrize("seed", [s for s in range(24) if n_free(s) <= MOST_FREE_LIMITED])
def test_random_problem_of_another_family(seed, loss):
    check_everything(random_problem(seed, loss), verify=seed % 2 == 0)


@pytest.mark.parametrize("seed", [s for s in range(N_LIMITED) if n_free(s) <= MOST_FREE_LIMITED])
def test_random_problem_with_limits_on_coefficients(seed):
    check_everything(limited_problem(seed), verify=True)


def test_the_cheapest_of_forty_random_problems_with_prices():
    n_checked = n_fees = 0
    for seed in range(10 * N_DEFAULT):
        if n_free(seed) <= MOST_FREE_DEFAULT:
            problem = random_problem(seed)
            if problem.limits.budget < math.inf:
                check_cheapest(BruteForce(problem), problem)
                n_checked += 1
                n_fees += bool(problem.limits.fees)
        if n_checked == 40:
            break
    assert n_checked == 40 and n_fees > 10


@pytest.mark.slow
@pytest.mark.parametrize("first", range(N_DEFAULT, N_SLOW, CHUNK))
def test_many_random_problems(first):
    failures = {}
    for seed in range(first, first + CHUNK):
        if n_free(seed) <= MOST_FREE_SLOW:
            try:
                check_everything(random_problem(seed), verify=True)
                check_everything(limited_problem(seed), verify=True)
            except Exception as error:  # the seeds of all failures are worth more than the first
                failures[seed] = repr(error)
    assert failures == {}
