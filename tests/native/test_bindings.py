"""Whatever Python passes to the core: it answers, or raises an error, and never crashes or hangs.

`make test-slow` runs this file under sanitizers too: see `test_memory`.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.families import FAMILIES
from shortlist.native.core import core

MANY = settings(max_examples=1000)
SEEDS = st.integers(0, 2**32 - 1)
INTEGERS = [-(2**64), -(2**63), -(2**31), -1, 0, 1, 2, 2**31, 2**62, 2**63 - 1, 2**63, 2**64]
NUMBERS = [0.0, -0.0, 1.0, 0.1, 1e-9, 5e-324, 1e155, 1e308, -1.0, math.inf, -math.inf, math.nan]
DTYPES = [np.float64, np.float32, np.int64, np.int32, np.int8, np.bool_, np.complex128, ">f8", "O"]
LAYOUTS = [
    lambda array: np.repeat(array, 2, axis=0)[::2],
    lambda array: array[::-1],
    np.asfortranarray,
    lambda array: np.broadcast_to(array[:1], array.shape) if len(array) else array,
    lambda array: array[:-1],
    lambda array: np.concatenate([array, array]),
    lambda array: array[np.newaxis],
    lambda array: None,
]


def attempt(function, *arguments):
    """Return what a call returns; None if it raises what it should."""
    try:
        return function(*arguments)
    except (ValueError, TypeError, MemoryError):
        return None


class Fuzz:
    """Random arguments: mostly right, now and then absurd."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.harm = self.pick([0.0, 0.2, 1.0])

    def is_harmed(self, share):
        return self.chance(share * self.harm)

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, choices):
        return choices[self.rng.integers(len(choices))]

    def integer(self, high, low=0):
        return (
            int(self.rng.integers(low, high + 1))
            if not self.is_harmed(0.1)
            else self.pick(INTEGERS)
        )

    def integers(self, high, most):
        return [self.integer(high) for _ in range(self.rng.integers(most + 1))]

    def number(self, usual=(0.1, 1.0, 1e-6)):
        return self.pick(NUMBERS if self.is_harmed(0.2) else usual)

    def spoilt(self, array):
        """Return the array, now and then in another layout, shape or type."""
        if not self.is_harmed(0.1):
            return array
        if self.chance(0.5):
            return self.pick(LAYOUTS)(array)
        with np.errstate(all="ignore"):
            return array.astype(self.pick(DTYPES))

    def vector(self, n, usual=(0.0, 1.0, -0.3, 2.0), dtype=np.float64):
        array = self.rng.choice(usual, n).astype(dtype)
        if dtype is np.float64 and self.is_harmed(0.2):
            array = np.where(self.rng.random(n) < 0.3, self.rng.choice(NUMBERS, n), array)
        return self.spoilt(array)

    def table(self, n_rows, n_columns, kinds=(np.float64, np.float32)):
        table = self.rng.normal(size=(n_rows, n_columns)).round(self.pick([0, 1, 15]))
        if self.is_harmed(0.4):
            is_wild = self.rng.random(table.shape) < self.pick([0.05, 1.0])
            table = np.where(is_wild, self.rng.choice(NUMBERS, table.shape), table)
        with np.errstate(all="ignore"):
            table = table.astype(self.pick(kinds))
        return self.pick(LAYOUTS[:4])(table) if self.chance(0.5) else self.spoilt(table)

    def problem(self, n_predictors):
        rng, n_rows = self.rng, int(self.rng.integers(2, 13)) * (not self.is_harmed(0.05))
        n_columns = n_predictors + int(rng.integers(3)) * (n_predictors > 0)
        owner = rng.permutation(np.arange(n_columns) % max(n_predictors, 1))
        owner = rng.integers(-2, 8, n_columns) if self.is_harmed(0.1) else owner
        factor, outcome = self.vector(n_rows, (1.0, -1.0)), self.vector(n_rows)
        table = attempt(
            core.Table, self.table(n_rows, n_columns), factor, outcome, self.spoilt(owner),
            self.integer(n_predictors, n_predictors), *self.times(n_rows),
        )  # fmt: skip
        data = attempt(core.Data, table, self.vector(n_rows, (1.0, 2.0, 0.5, 0.0)))
        intervals = ()
        if self.chance(0.3):
            lower, upper = (-1.0, 0.0, -math.inf), (1.0, 0.0, math.inf)
            intervals = self.vector(n_columns, lower), self.vector(n_columns, upper)
        family = "huber" if self.is_harmed(0.1) else self.pick(list(FAMILIES))
        return attempt(core.Problem, data, self.number(), family, *intervals)

    def times(self, n_rows):
        """Return nothing, or the block and the stratum of each row and whether ties are Efron's."""
        if self.chance(0.6):
            return ()
        block = self.rng.integers(-1, 5, n_rows)
        stratum = self.rng.integers(0, 2, n_rows) if self.is_harmed(0.3) else block // 3
        wild = (-(2**63), -7, 0, 3, 2**63 - 1)
        return (
            self.vector(n_rows, wild, np.int64) if self.is_harmed(0.1) else self.spoilt(block),
            self.vector(n_rows, wild, np.int64) if self.is_harmed(0.1) else self.spoilt(stratum),
            self.chance(0.5),
        )

    def limits(self, n):
        prices = self.pick([(1,), (0, 1, 2, 5), (0, 2**60, 3 * 2**200, 2**249)])
        members = [self.integers(max(n - 1, 0), 4) for _ in range(self.rng.integers(3))]
        few = 2 * self.chance(0.3)
        return attempt(
            core.Limits,
            words(self.pick(prices) for _ in range(n)),
            words(self.pick(prices) for _ in members),
            members,
            self.pick([None, words([self.pick((0, 1, 3, 2**62, 2**202))])]),
            self.integer(n),
            self.integers(max(n - 1, 0), few),
            self.integers(max(n - 1, 0), few),
        )


@MANY
@given(SEEDS)
def test_searches(seed):
    fuzz = Fuzz(seed)
    n = fuzz.integer(6) % 7
    search = attempt(core.Search, fuzz.problem(n), fuzz.limits(n), fuzz.number((0.0, 1e-6)))
    if search is None:
        return
    if fuzz.chance(0.5):
        plan = fuzz.integer(3), fuzz.integer(3, 1), fuzz.integer(4, 1)
        attempt(core.testing.plan_rounds, search, *plan)
    methods = {
        "suggest": lambda: [fuzz.integers(max(n - 1, 0), 5)],
        "list_models": lambda: [fuzz.number((1.0, 10.0, math.inf)), fuzz.integer(9, 1)],
        "find_staircase": lambda: [fuzz.integer(30, 1)],
        "limit_trace": lambda: [fuzz.integer(10_000)],
        "run": lambda: [fuzz.integer(70), fuzz.integer(200), fuzz.integer(3), fuzz.number((9.0,))],
    }
    plain = ("incumbent", "models", "stairs", "open_nodes", "polish")
    plain += ("take_trace", "take_part_of_trace")
    for i in range(fuzz.rng.integers(1, 9)):
        name = fuzz.pick([*methods] if i == 0 else [*methods, *plain, "run", "run", "run"])
        found = attempt(getattr(search, name), *methods.get(name, list)())
        if isinstance(found, core.Trace):
            for part, size in (("steps", 32), ("members", 8), ("points", 32), ("columns", 4)):
                assert len(getattr(found, part)) % size == 0
                getattr(found, part).sum()  # reads all of it
        for name in ("nodes", "n_open", "lower_bound", "objective", "is_started", "n_left_out"):
            attempt(getattr, search, name)


@MANY
@given(SEEDS)
def test_steps_of_a_problem(seed):
    fuzz, testing = Fuzz(seed), core.testing
    n = fuzz.integer(6) % 7
    problem, limits, number = fuzz.problem(n), fuzz.limits(n), fuzz.number
    members = fuzz.integers(max(n - 1, 0), 5)
    n_columns = n if problem is None else len(core.fit(problem, [])[0])
    coef, step = fuzz.vector(n_columns), fuzz.vector(n_columns)
    start = fuzz.pick(["model", "rows", "predictor", "nothing"])
    decisions = fuzz.vector(n, (0, 0, 1, 2, 3) if fuzz.is_harmed(0.1) else (0, 0, 1, 2), np.int8)
    attempt(core.fit, problem, members, number())
    attempt(core.relax_root, problem, limits, int(fuzz.rng.integers(-3, 6)), number())
    attempt(
        testing.fit_from, problem, members, coef, number(), start, number((math.inf,)), number()
    )
    attempt(testing.dual_point, problem, coef, number(), step, number(), number(), number())
    attempt(testing.relax, problem, limits, decisions, coef, number(), number(), number())


@MANY
@given(SEEDS)
def test_questions_about_limits(seed):
    fuzz = Fuzz(seed)
    n, n_leaves = fuzz.integer(6) % 7, int(fuzz.rng.integers(4))
    limits, v, decisions = fuzz.limits(n), fuzz.vector(n), fuzz.vector(n, (0, 0, 1, 2), np.int8)
    attempt(core.testing.ask_oracle, limits, v, decisions)
    skipped = fuzz.integer(n, -1)
    attempt(core.testing.value_table, limits, v, decisions, fuzz.integer(50), skipped)
    leaves = fuzz.spoilt(fuzz.rng.integers(0, 3, (n_leaves, n)).astype(np.int8))
    point, most = (
        fuzz.vector(n_leaves, (0, 1, 2), int),
        fuzz.vector(n_leaves, (-1, 0, 1, 2, 9), int),
    )
    attempt(core.price_leaves, limits, fuzz.table(3, n, [float]), point, leaves, most)


@MANY
@given(SEEDS)
def test_rows_and_systems(seed):
    fuzz = Fuzz(seed)
    n = int(fuzz.rng.integers(10))
    rows = [fuzz.vector(n) for _ in range(5)]
    attempt(core.testing.evaluate_rows, fuzz.pick([*FAMILIES, "huber"]), *rows, fuzz.number())
    matrix = fuzz.table(n, n, [float])
    attempt(core.testing.solve_system, matrix, fuzz.vector(n), fuzz.integer(n))


# --- absurd sizes ---

ROWS = {
    "X": np.eye(2), "factor": np.array([1.0, -1.0]), "outcome": np.zeros(2),
    "owner": np.arange(2), "n_predictors": 2,
}  # fmt: skip


def table(**changes):
    return core.Table(**ROWS | changes)


def words(amounts):
    """Whole numbers in 256 bits each."""
    return np.array(
        [[amount >> shift & (2**64 - 1) for shift in (0, 64, 128, 192)] for amount in amounts],
        dtype=np.uint64,
    ).reshape(-1, 4)


def new_search(n_columns=2, **changes):
    owner = np.arange(n_columns)
    rows = table(X=np.ones((2, n_columns)), owner=owner, n_predictors=n_columns)
    problem = core.Problem(core.Data(rows, np.ones(2)), 1.0, "logistic")
    limits = {
        "budget": words([1]),
        "max_features": n_columns,
        "include": [],
        "exclude": [],
    } | changes
    costs = {"costs": words([1] * n_columns), "fees": words([]), "members": []}
    return core.Search(problem, core.Limits(**costs | limits), 0.0)


def million():
    return {
        "X": np.broadcast_to(1.0, (10**6, 10**6)),
        "factor": np.tile([1.0, -1.0], 500_000),
        "outcome": np.zeros(10**6),
        "owner": np.arange(10**6),
        "n_predictors": 10**6,
    }


ABSURD = {
    "columns": (
        lambda: table(X=np.broadcast_to(1.0, (2, 10**9))),
        ValueError, "owner: one per column",
    ),
    "columns and their owners": (
        lambda: table(
            X=np.broadcast_to(1.0, (2, 10**9)), owner=np.broadcast_to(np.int64(0), 10**9)
        ),
        TypeError, "incompatible",
    ),
    "rows": (
        lambda: table(X=np.broadcast_to(1.0, (2**40, 2))),
        ValueError, "factor and outcome: one per row",
    ),
    "a table of terabytes": (lambda: table(**million()), MemoryError, None),
    "predictors": (lambda: table(n_predictors=2**62), ValueError, "n_predictors: must be at most"),
    "predictors without columns": (
        lambda: table(owner=np.zeros(2, dtype=int)), ValueError, "every predictor needs a column",
    ),
    "a class without weight": (
        lambda: core.Problem(core.Data(table(), np.array([1.0, 0.0])), 1.0, "logistic"),
        ValueError, "have no model without coefficients",
    ),
    "weights that are not finite": (
        lambda: core.Data(table(), np.array([1.0, math.inf])), ValueError, "must be finite",
    ),
    "budgets": (
        lambda: new_search().find_staircase(2**62), ValueError, "n_budgets: must be from 1",
    ),
    "budgets times columns": (
        lambda: new_search(n_columns=500).find_staircase(100_000), ValueError, "too many for",
    ),
    "budgets below what is included": (
        lambda: new_search(include=[0, 1]).find_staircase(2), ValueError, "costs more",
    ),
    "prices that are not whole": (
        lambda: new_search(costs=np.array([0.5, 1.0])), TypeError, "incompatible",
    ),
    "prices of 512 bits": (
        lambda: new_search(costs=np.ones((2, 8), dtype=np.uint64)), ValueError, "four words",
    ),
    "prices beyond all sums": (
        lambda: new_search(costs=words([2**250, 1])), ValueError, "below 2.250",
    ),
    "prices whose sum is too large": (
        lambda: new_search(costs=words([2**249] * 5), n_columns=5), ValueError, "below 2.251",
    ),
    "two budgets": (lambda: new_search(budget=words([1, 1])), ValueError, "one amount"),
    "more included than allowed": (
        lambda: new_search(include=[0, 1], max_features=1), ValueError, "more than max_features",
    ),
    "a staircase of other prices": (
        lambda: new_search(costs=words([2**60, 1])).find_staircase(2), ValueError, "must be whole",
    ),
    "models without a list": (lambda: new_search().models(), ValueError, "list_models: was not"),
    "stairs without a staircase": (lambda: new_search().stairs(), ValueError, "was not called"),
    "a negative number of nodes": (
        lambda: new_search().run(-1, 1, 1, 1.0), ValueError, "must be at least 0",
    ),
    "bytes": (lambda: new_search().limit_trace(2**64), TypeError, "incompatible"),
}  # fmt: skip


@pytest.mark.parametrize("case", ABSURD.values(), ids=ABSURD)
def test_what_cannot_be_is_an_error(case):
    call, error, message = case
    with pytest.raises(error, match=message):
        call()


def test_numbers_of_any_size_where_they_only_limit():
    search = new_search()
    search.list_models(math.inf, 2**62)
    search.limit_trace(2**63)
    assert search.run(2**63 - 1, 2**63 - 1, 2**31 - 1, math.inf)
    assert len(search.models()) == 1  # constant predictors are not bought
    with pytest.raises(ValueError, match="has begun"):
        search.list_models(1.0, 1)
    with pytest.raises(ValueError, match="has begun"):
        search.find_staircase(1)


def test_a_suggestion_that_is_not_affordable_is_none():
    rng = np.random.default_rng(0)
    n = 60
    outcomes = np.tile([1.0, -1.0], 40), np.zeros(80)
    rows = core.Table(rng.normal(size=(80, n)), *outcomes, np.arange(n), n)
    problem = core.Problem(core.Data(rows, np.ones(80)), 1.0, "logistic")
    limits = core.Limits(words([1] * n), words([]), [], None, 2, [], [])
    found = []
    for support in ([], list(range(n))):
        search = core.Search(problem, limits, 1e-6)
        search.suggest(support)
        assert search.run(10_000, 10_000, 1, math.inf)
        found.append((search.incumbent()[0], search.objective))
    assert found[0][0] == found[1][0]
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-9)
