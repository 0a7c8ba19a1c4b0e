"""The checker accepts every proof of the search, and no falsified one beyond what is true."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_problems import random_arguments
from sample_data import make_data, make_long_search
from scipy.special import entr, expit
from tampering import (
    changed_steps,
    check_sound,
    corrected,
    limited,
    moved_fixings,
    proven,
    renamed_fixings,
    shortcuts,
    swapped_children,
    with_newton_step,
    with_point,
    with_step,
    without_a_step,
)

import shortlist as sl
from shortlist import verification
from shortlist.certificate import (
    Bound,
    Branch,
    Certificate,
    Fix,
    One,
    Point,
    Step,
    Unaffordable,
)
from shortlist.verification.affordability import Affordability

pytestmark = pytest.mark.filterwarnings("ignore:budget")

N_DEFAULT, N_SLOW, CHUNK = 60, 500, 55


def check_proof(seed: int) -> None:
    problem, certificate, optimum = proven(seed)
    verdict = sl.verify(problem, certificate)
    assert verdict.valid, verdict.reason
    assert verdict.gap <= 1.01e-6
    assert verdict.lower_bound <= optimum * (1 + 1e-12)
    assert verdict.upper_bound >= optimum * (1 - 1e-12)


def check_tampering(seed: int) -> None:
    check_tampered_model(*proven(seed))
    check_tampered_proof(*proven(seed))
    check_other_problems(seed, proven(seed)[1])


def check_limited_proof(seed: int) -> None:
    """Proofs of problems with limits on coefficients, and falsified ones."""
    problem, certificate, optimum = limited(seed)
    verdict = sl.verify(problem, certificate)
    assert verdict.valid, verdict.reason
    assert verdict.gap <= 1e-9
    assert verdict.lower_bound <= optimum * (1 + 1e-12)
    check_tampered_model(problem, certificate, optimum)
    check_tampered_proof(problem, certificate, optimum)
    points = tuple(with_newton_step(problem, point) for point in certificate.points)
    check_sound(problem, replace(certificate, points=points, lower_bound=0.0), optimum)

    # A coefficient that exceeds its limit by the least possible, whatever is claimed of it.
    bought = problem.columns_of(certificate.support)
    limits = problem.limits
    for n, value in zip(bought, limits.lower[bought], strict=True):
        check_beyond_the_limit(problem, certificate, int(n), np.nextafter(value, -inf))
    for n, value in zip(bought, limits.upper[bought], strict=True):
        check_beyond_the_limit(problem, certificate, int(n), np.nextafter(value, inf))


def check_beyond_the_limit(problem, certificate, column, value) -> None:
    if np.isfinite(value):
        entries = dict(zip(certificate.model.columns, certificate.model.values, strict=True))
        entries[column] = float(value)
        model = Point(certificate.model.intercept, tuple(entries), tuple(entries.values()))
        verdict = sl.verify(problem, replace(certificate, model=model, objective=inf))
        assert not verdict.valid
        assert "beyond its limits" in verdict.reason


def check_tampering_with_corrections(seed: int) -> None:
    check_tampered_model(*corrected(seed))
    check_tampered_proof(*corrected(seed))
    check_other_problems(seed, corrected(seed)[1])
    check_tampered_corrections(*corrected(seed))


def check_tampered_model(
    problem: sl.SubsetProblem, certificate: Certificate, optimum: float
) -> None:
    model, limits = certificate.model, problem.limits

    # A coefficient that worsens the model, and objectives and bounds that nothing proves.
    values = np.array(model.values)
    worse = [model._replace(intercept=model.intercept + 0.01)]
    worse += [
        model._replace(values=tuple((values + change).tolist()))
        for change in 0.01 * np.eye(len(values)) * (1 + abs(values))
    ]
    n_worse = 0
    for changed in worse:
        coef = np.zeros(problem.n_columns)
        coef[list(changed.columns)] = changed.values
        objective = problem.objective(coef, changed.intercept)
        if objective > certificate.objective * (1 + 2e-9):
            n_worse += 1
            assert not sl.verify(problem, replace(certificate, model=changed)).valid
            lower, upper = problem.limits.lower, problem.limits.upper
            if not ((lower <= coef) & (coef <= upper)).all():
                continue
            # With its true objective it is a proof again, of a worse model.
            honest = sl.verify(problem, replace(certificate, model=changed, objective=objective))
            assert honest.valid
            assert honest.upper_bound == pytest.approx(objective, rel=1e-12)
    assert n_worse > 0
    below = certificate.objective * (1 - 1e-8)
    assert not sl.verify(problem, replace(certificate, objective=below)).valid
    assert not sl.verify(problem, replace(certificate, objective=nan)).valid
    verdict = sl.verify(problem, certificate)
    for _ in range(3):  # doubles prove a little less than balls, which look at what they leave open
        above = verdict.lower_bound * (1 + 1e-12)
        verdict = sl.verify(problem, replace(certificate, lower_bound=above))
        if not verdict.valid:
            break
        assert verdict.lower_bound <= optimum * (1 + 1e-12)
    assert not verdict.valid
    assert not sl.verify(problem, replace(certificate, lower_bound=nan)).valid

    # A selection that breaks a limit, or does not pay for what it uses.
    everything = tuple(range(problem.n_predictors))
    if not limits.is_affordable(everything):
        assert not sl.verify(problem, replace(certificate, support=everything)).valid
    for g in limits.exclude:
        support = (*certificate.support, g)
        assert not sl.verify(problem, replace(certificate, support=support)).valid
    for g in certificate.support:
        support = tuple(h for h in certificate.support if h != g)
        if g in limits.include or set(model.columns) & set(problem.columns_of([g]).tolist()):
            assert not sl.verify(problem, replace(certificate, support=support)).valid
    for g in (-1, problem.n_predictors):
        support = (*certificate.support, g)
        assert not sl.verify(problem, replace(certificate, support=support)).valid


def check_tampered_proof(
    problem: sl.SubsetProblem, certificate: Certificate, optimum: float
) -> None:
    """Where logic leaves no way out the proof is rejected; else what is accepted must be true.

    Without a fixing, or with a fixing or a child taken for its opposite, what remains can still be
    a proof: if the points bound more than they had to, or if predictors are interchangeable.
    """
    n = problem.n_predictors

    def missing_point(step: Step) -> list[Step]:
        return [step._replace(point=len(certificate.points))]

    def unknown_predictor(step: Branch) -> list[Step]:
        return [step._replace(predictor=n), step._replace(predictor=-1)]

    def unknown_fixing(step: Fix) -> list[Step]:
        return [
            step._replace(forbidden=(*step.forbidden, n)),
            step._replace(bought=(*step.bought, -1)),
        ]

    wrong = [
        *without_a_step(certificate, Bound, Branch, One),
        *changed_steps(certificate, Bound, missing_point),
        *changed_steps(certificate, Branch, unknown_predictor),
        *changed_steps(certificate, Fix, unknown_fixing),
        replace(certificate, steps=()),
    ]
    for falsified in wrong:
        assert not sl.verify(problem, falsified).valid
    doubtful = [
        *without_a_step(certificate, Fix, Unaffordable),
        *changed_steps(certificate, Fix, moved_fixings),
        *changed_steps(certificate, Fix, renamed_fixings(n)),
        *changed_steps(certificate, Branch, swapped_children),
        *shortcuts(certificate, n),
        replace(certificate, steps=certificate.steps * 2),
    ]
    for falsified in doubtful:
        check_sound(problem, falsified, optimum)


def check_tampered_corrections(
    problem: sl.SubsetProblem, certificate: Certificate, optimum: float
) -> None:
    """A correction of another length is rejected, any other at most proves less."""
    model = certificate.model
    wrong = [
        replace(certificate, model=model._replace(correction=(0.0,) * (len(model.columns) + 1)))
    ]
    for i, point in enumerate(certificate.points):
        step = np.array(point.correction)
        for change in (-step, 2 * step, 1e3 * step, 1e300 * np.sign(step), step[::-1] + 0.1):
            changed = point._replace(correction=tuple(change.tolist()))
            check_sound(problem, with_point(certificate, i, changed, lower_bound=0.0), optimum)
        for length in (len(step) - 1, len(step) + 1):
            if length > 0:
                changed = point._replace(correction=(0.0,) * length)
                wrong.append(with_point(certificate, i, changed))
    for falsified in wrong:
        assert not sl.verify(problem, falsified).valid


def other_problems(seed: int) -> dict[str, dict]:
    """The arguments of problems that differ in one thing."""
    arguments = random_arguments(seed)
    X, y = arguments["X"], arguments["y"]
    rows = np.arange(len(y))
    others = {
        "X": arguments | {"X": np.where((rows == 1)[:, None], X + 0.25, X)},
        "ridge": arguments | {"ridge": arguments["ridge"] * 1.5},
        "weight": arguments | {"sample_weight": 1 + arguments.get("sample_weight", 1) * rows},
    }
    frequent = np.flatnonzero(y == (y.mean() > 0.5))
    if len(frequent) > 1:
        others["label"] = arguments | {"y": np.where(rows == frequent[0], ~y, y)}
    if "budget" in arguments:
        costs = np.array(arguments["costs"])
        others["budget"] = arguments | {"budget": arguments["budget"] + 1.0}
        others["cost"] = arguments | {"costs": np.where(costs > 0, costs * 0.5, 0.5)}
        members = [0, len(costs) - 1]
        others["fee"] = arguments | {"fees": [*arguments.get("fees", []), (0.05, members)]}
    if "include" not in arguments and 0 not in arguments.get("exclude", []):
        others["include"] = arguments | {"include": [0]}
        others["exclude"] = arguments | {"exclude": [0]}
    return others


def check_other_problems(seed: int, certificate: Certificate) -> None:
    """A proof belongs to one problem. Even with a forged digest it proves nothing false."""
    for arguments in other_problems(seed).values():
        try:
            other = sl.SubsetProblem(**arguments)
        except sl.InvalidProblemError:  # an included predictor that the budget does not pay for
            continue
        verdict = sl.verify(other, certificate)
        assert not verdict.valid
        assert "another problem" in verdict.reason
        optimum = sl.solve(other).objective
        forged = replace(certificate, problem=other.digest, objective=inf, lower_bound=0.0)
        check_sound(other, forged, optimum)


@pytest.mark.parametrize("seed", range(N_DEFAULT))
def test_proof(seed):
    check_proof(seed)


@pytest.mark.parametrize("seed", range(N_DEFAULT))
def test_tampering(seed):
    check_tampering(seed)


@pytest.mark.parametrize("seed", range(0, N_DEFAULT, 3))
def test_tampering_with_corrections(seed):
    check_tampering_with_corrections(seed)


@pytest.mark.parametrize("seed", range(0, 2 * N_DEFAULT, 3))
def test_proofs_with_limits_on_coefficients(seed):
    check_limited_proof(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(N_DEFAULT, N_SLOW, CHUNK))
def test_many_proofs_and_tamperings(first):
    failures = {}
    for seed in range(first, min(first + CHUNK, N_SLOW)):
        try:
            check_proof(seed)
            check_tampering(seed)
            check_tampering_with_corrections(seed)
            check_limited_proof(seed)
        except Exception as error:  # the seeds of all failures are worth more than the first one
            failures[seed] = repr(error)
    assert failures == {}


def test_most_changed_fixings_and_children_are_rejected():
    """Guards the tests above against tamperings that change nothing."""
    for kind, change in ((Fix, moved_fixings), (Branch, swapped_children)):
        accepted = [
            check_sound(problem, falsified, optimum)
            for problem, certificate, optimum in map(proven, range(N_DEFAULT))
            for falsified in changed_steps(certificate, kind, change)
        ]
        assert len(accepted) > 50
        assert np.mean(accepted) < 0.1  # some points prove the changed step as well


@pytest.mark.parametrize(
    "steps",
    [
        (Branch(0, 0, 0, 0),),
        (Branch(0, 0, 1, 0), Bound(1, 0)),
        (Branch(0, 0, 1, 1), Bound(1, 0)),
        (Fix(0, 0, (0,), ()), Branch(0, 1, 1, 2), Branch(1, 0, 2, 0), Bound(2, 0)),
        (Fix(0, 0, (0,), ()), Fix(0, 0, (1,), ()), Bound(0, 0)),
        (Bound(0, 0), Fix(0, 0, (0,), ())),
        (Bound(0, 0), Bound(0, 0)),
        (Bound(1, 0),),
        (Unaffordable(0),),
    ],
)
def test_what_is_no_tree(steps):
    problem, certificate, _ = proven(0)
    verdict = sl.verify(problem, replace(certificate, steps=steps, lower_bound=0.0))
    assert not verdict.valid
    assert verdict.reason.endswith("not covered.")


finite = st.floats(allow_nan=False, allow_infinity=False)
index = st.integers(-1, 12)
indices = st.lists(index, max_size=4).map(tuple)
values = finite | st.floats(-3, 3)


@st.composite
def points(draw) -> Point:
    entries = draw(st.dictionaries(st.integers(0, 3), values, max_size=3))
    correction = []
    if draw(st.booleans()):
        n = len(entries) + 1 if draw(st.integers(0, 9)) else draw(st.integers(1, 5))
        correction = draw(st.lists(values, min_size=n, max_size=n))
    return Point(draw(values), tuple(entries), tuple(entries.values()), tuple(correction))


steps = st.one_of(
    st.builds(Fix, index, index, indices, indices),
    st.builds(Bound, index, index),
    st.builds(Branch, index, index, index, index),
    st.builds(One, index, index, indices),
    st.builds(Unaffordable, index),
)
tiny_seeds = st.integers(0, 39)


@st.composite
def falsified(draw) -> tuple[sl.SubsetProblem, Certificate, float]:
    """A certificate with points and steps changed at will, which claims no more than it proves."""
    source = draw(st.sampled_from([proven, corrected, limited]))
    problem, certificate, optimum = source(draw(tiny_seeds))
    certificate = replace(certificate, objective=inf, lower_bound=0.0)
    for _ in range(draw(st.integers(1, 3))):
        what = draw(st.sampled_from(["point", "model", "field", "step", "order"]))
        if what == "point":
            changed = list(certificate.points)
            changed[draw(st.integers(0, len(changed) - 1))] = draw(points())
            certificate = replace(certificate, points=tuple(changed))
        elif what == "model":
            changed = (
                {"support": draw(indices)} if draw(st.booleans()) else {"model": draw(points())}
            )
            certificate = replace(certificate, **changed)
        elif what == "order":
            certificate = replace(
                certificate, steps=tuple(draw(st.permutations(certificate.steps)))
            )
        elif certificate.steps:
            position = draw(st.integers(0, len(certificate.steps) - 1))
            step = draw(steps)
            if what == "field":
                step = certificate.steps[position]
                name = draw(st.sampled_from(step._fields))
                values = indices if isinstance(getattr(step, name), tuple) else index
                step = step._replace(**{name: draw(values)})
            certificate = with_step(certificate, position, step)
    return problem, certificate, optimum


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(falsified())
def test_no_certificate_proves_what_is_false(case):
    check_sound(*case)


@pytest.mark.parametrize("source", [proven, limited])
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(tiny_seeds, st.data())
def test_any_points_give_bounds_that_hold(source, seed, data):
    """The whole problem as one leaf, bounded by any point at all."""
    problem, certificate, optimum = source(seed)
    columns = tuple(range(problem.n_columns))
    n = len(columns) + 1
    intercept, *coef = data.draw(st.lists(values, min_size=n, max_size=n))
    correction = data.draw(st.just([]) | st.lists(values, min_size=n, max_size=n))
    point = Point(intercept, columns, tuple(coef), tuple(correction))
    certificate = replace(certificate, points=(point,), steps=(Bound(0, 0),), lower_bound=0.0)
    check_sound(problem, certificate, optimum)


@pytest.mark.parametrize("extreme", [1e3, 1e6, 1e18, 1e150, 1e300, -1e18])
def test_extreme_points_are_no_error(extreme):
    """Exponentials of such margins have exponents that no integer of bits could hold."""
    problem, certificate, optimum = proven(0)
    for point in (
        Point(extreme, (), ()),
        Point(0.0, tuple(range(problem.n_columns)), (extreme,) * problem.n_columns),
        Point(0.0, (), (), (extreme,)),
        Point(0.0, (0,), (1.0,), (-extreme, extreme)),
        Point(extreme, (0,), (-extreme,), (-extreme, extreme)),
    ):
        model = replace(certificate, model=point, support=tuple(range(problem.n_predictors)))
        assert not sl.verify(problem, model).valid
        bound = replace(certificate, points=(point,), steps=(Bound(0, 0),), lower_bound=0.0)
        check_sound(problem, bound, optimum)
        assert sl.verify(problem, bound).valid  # no loss is below 0, whatever the point


def test_two_coefficients_for_a_column_are_refused():
    """Their squares would add up to less than the square of their sum."""
    problem, certificate, _ = proven(0)
    model = certificate.model
    assert model.columns
    halves = tuple(value / 2 for value in model.values)
    doubled = Point(model.intercept, model.columns * 2, halves * 2)
    verdict = sl.verify(problem, replace(certificate, model=doubled))
    assert not verdict.valid
    assert "two coefficients" in verdict.reason


def separable(**limits):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    return sl.SubsetProblem(X, [0, 0, 1, 1], **limits)


@pytest.mark.parametrize("scale", [1e-130, 1e-100, 1e-20, 1e20, 1e100])
def test_the_units_of_the_loss_do_not_matter(scale):
    certificate = sl.solve(separable(ridge=0.1, max_features=1)).certificate
    problem = separable(ridge=0.1 * scale, max_features=1, sample_weight=np.full(4, scale))
    objective, lower_bound = certificate.objective * scale, certificate.lower_bound * scale
    scaled = replace(
        certificate, problem=problem.digest, objective=objective, lower_bound=lower_bound
    )
    verdict = sl.verify(problem, scaled)
    assert verdict.valid, verdict.reason
    assert verdict.gap <= 1e-6


def test_tiny_losses_of_separable_data():
    """Margins of hundreds: the loss and the values are far below 1."""
    problem = separable(ridge=1e-100)
    verdict = sl.verify(problem, sl.solve(problem).certificate)
    assert verdict.valid, verdict.reason
    assert verdict.gap <= 1e-6


@pytest.mark.parametrize("costs", [[1e-310, 0.7], [1e300, 3e-300], [np.pi, 0.0], [1e12, 1.0]])
@pytest.mark.parametrize("budget", [0.0, 1.0, 1e308])
def test_prices_of_any_size(costs, budget):
    problem = separable(ridge=0.1, costs=costs, budget=budget, fees=[(np.e, [0, 1])])
    verdict = sl.verify(problem, sl.solve(problem).certificate)
    assert verdict.valid, verdict.reason
    assert verdict.gap <= 1e-6


def brute_force_value(problem, values, bought, free):
    best = 0
    for mask in range(2 ** len(free)):
        chosen = {g for i, g in enumerate(sorted(free)) if mask >> i & 1}
        if problem.limits.is_affordable(tuple(bought | chosen)):
            best = max(best, sum(values[g] for g in chosen))
    return best


@pytest.mark.parametrize("seed", range(40))
def test_the_largest_value_is_never_underestimated(seed, monkeypatch):
    """Both ways to maximise, for the values that leave an int64 the least room."""
    problem, _, _ = proven(seed)
    limits = Affordability(problem)
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(problem.n_predictors, 0.3))
    values = [int(share * 2**60) for share in shares]
    include = limits.include
    free = sorted(limits.free(include, limits.exclude))
    of_free = np.array([values[g] for g in free], dtype=np.int64)
    exact = brute_force_value(problem, values, include, free)
    with_table = limits.most_valuable(of_free, include, free, problem.n_predictors)
    monkeypatch.setattr(verification.affordability, "_TABLE_CELLS", -1)
    priced = limits.most_valuable(of_free, include, free, problem.n_predictors)
    assert exact <= with_table <= priced <= sum(values)
    if problem.limits.prices.is_short and problem.limits.max_features == problem.n_predictors:
        overlap = [f for fees in limits.fees_of for f in fees[1:]]
        assert overlap or with_table == exact


def test_a_limited_search_proves_the_gap_that_it_has():
    problem = make_long_search()
    optimum = sl.solve(problem).objective
    for status, solution in (
        (sl.Status.NODE_LIMIT, sl.solve(problem, node_limit=5)),
        (sl.Status.TIME_LIMIT, sl.solve(problem, time_limit=0.0)),
        (sl.Status.INTERRUPTED, sl.solve(problem, callback=interrupt)),
    ):
        assert solution.status is status
        verdict = sl.verify(problem, solution.certificate)
        assert verdict.valid, verdict.reason
        # The checker knows the entropy of a moved point, of which the search has a lower bound.
        assert verdict.lower_bound >= solution.lower_bound * (1 - 1e-8)
        assert verdict.upper_bound == pytest.approx(solution.objective, rel=1e-12)
        assert verdict.gap <= solution.gap + 1e-8
        assert verdict.gap > 1e-4
        assert verdict.lower_bound <= optimum <= verdict.upper_bound * (1 + 1e-12)


def interrupt(progress):
    raise KeyboardInterrupt


@pytest.mark.parametrize("seed", range(10))
def test_a_warm_start_is_proven_too(seed):
    problem, certificate, optimum = proven(seed)
    warm = sl.solve(problem, warm_start=problem.limits.include or (0,), node_limit=1)
    assert check_sound(problem, warm.certificate, optimum)
    warm = sl.solve(problem, warm_start=certificate.support)
    assert check_sound(problem, warm.certificate, optimum)


def test_what_is_no_certificate_is_said():
    with pytest.raises(sl.InvalidProblemError, match=r"^certificate: must be a Certificate.*None"):
        sl.verify(proven(0)[0], None)


@pytest.mark.parametrize("source", [proven, corrected, limited])
@pytest.mark.parametrize("seed", range(20))
def test_fewer_bits_never_prove_more(seed, source, monkeypatch):
    """Everything is rounded to the safe side, which few bits make visible."""
    problem, certificate, _ = source(seed)
    modest = replace(certificate, objective=inf, lower_bound=0.0)
    monkeypatch.setattr(verification, "_PRECISION", 400)
    reference = sl.verify(problem, modest)
    for precision in (10, 14, 18, 22, 26, 30, 40, 50):
        monkeypatch.setattr(verification, "_PRECISION", precision)
        verdict = sl.verify(problem, modest)
        if verdict.valid:  # else a point became too extreme
            assert verdict.lower_bound <= reference.lower_bound
            assert verdict.upper_bound >= reference.upper_bound
    assert verdict.valid


# --- corrections ---


def whole_problem_as_one_leaf(ridge: float) -> tuple[sl.SubsetProblem, Certificate, float]:
    """All predictors bought: the bound of a point is then that of the fit on all columns."""
    X, y = make_data(n_columns=6)
    problem = sl.SubsetProblem(X, y, ridge=ridge, include=range(6))
    solution = sl.solve(problem)
    certificate = replace(solution.certificate, steps=(Bound(0, 0),), lower_bound=0.0)
    return problem, certificate, solution.objective


@pytest.mark.parametrize("ridge", [1e-4, 0.004, 0.1])
def test_a_correction_proves_more_than_the_plain_point(ridge):
    """From a point that is off by 2%, the Newton step proves nearly everything."""
    problem, certificate, optimum = whole_problem_as_one_leaf(ridge)
    model = certificate.model
    near = Point(1.02 * model.intercept, model.columns, tuple(1.02 * v for v in model.values))
    coef = np.zeros(problem.n_columns)
    coef[list(near.columns)] = near.values
    excess = problem.objective(coef, near.intercept) - optimum
    plain, exact = (
        sl.verify(problem, with_point(certificate, 0, point)).lower_bound
        for point in (near, with_newton_step(problem, near))
    )
    assert plain <= exact <= optimum * (1 + 1e-12)
    assert plain < optimum - excess  # what the bound loses without the correction
    assert exact > optimum - 0.1 * excess


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 0.5, 1.0, 1.1])
def test_the_bound_of_a_corrected_point_is_what_its_definition_says(scale):
    problem, certificate, _ = whole_problem_as_one_leaf(0.05)
    model = certificate.model
    near = Point(model.intercept, model.columns, tuple(1.01 * v for v in model.values))
    near = with_newton_step(problem, near)
    near = near._replace(correction=tuple(scale * d for d in near.correction))
    y, w, X = problem.response.values, problem.weights, problem.X[:, list(near.columns)]
    a = expit(-y * (X @ near.values + near.intercept))
    a = a - a * (1 - a) * y * (X @ near.correction[1:] + near.correction[0])
    assert a.min() > 0
    assert a.max() < 1
    positive, negative = w[y > 0] @ a[y > 0], w[y < 0] @ a[y < 0]
    rho = np.minimum(1.0, np.where(y > 0, negative / positive, positive / negative))
    entropy = (w * rho) @ (entr(a) + entr(1 - a))
    expected = entropy - np.sum(((w * rho * a * y) @ problem.X) ** 2) / (2 * problem.ridge)
    assert expected > 0
    found = sl.verify(problem, with_point(certificate, 0, near)).lower_bound
    assert found == pytest.approx(expected, rel=1e-9)


def test_a_correction_of_zero_changes_nothing():
    problem, certificate, _ = proven(3)
    points = tuple(
        point if point.correction else point._replace(correction=(0.0,) * (len(point.columns) + 1))
        for point in certificate.points
    )
    assert points != certificate.points
    plain = sl.verify(problem, certificate)
    zero = sl.verify(problem, replace(certificate, points=points))
    assert zero.valid
    assert zero.lower_bound == pytest.approx(plain.lower_bound, rel=1e-14)


def test_rows_that_a_correction_moves_beyond_0_and_1_are_put_on_the_end():
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    problem = sl.SubsetProblem(X, [0, 0, 1, 1], ridge=10.0, include=[0])
    certificate = replace(sl.solve(problem).certificate, steps=(Bound(0, 0),), lower_bound=0.0)
    # a is 1/2; where x is 1, a' is 1 in the first class and 0 in the second. The first is scaled
    # by 1/3, which leaves a slope of 1/3 in the only column.
    point = Point(0.0, (0,), (0.0,), (0.0, 1000.0))
    verdict = sl.verify(problem, with_point(certificate, 0, point))
    assert verdict.valid
    assert verdict.lower_bound == pytest.approx(4 / 3 * np.log(2) - (1 / 3) ** 2 / 20, rel=1e-14)
