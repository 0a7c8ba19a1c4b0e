"""Harrell's concordance, against scikit-survival and against all pairs of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sksurv.metrics import concordance_index_censored

from shortlist.estimator.cox import harrell_concordance

ROW = st.tuples(st.integers(1, 5), st.booleans(), st.integers(0, 4), st.integers(0, 3))


def by_pairs(times, events, risks, weights):
    concordant = pairs = 0.0
    for i in np.flatnonzero(events):
        longer = (times > times[i]) | ((times == times[i]) & ~events)
        right = (risks < risks[i]) + 0.5 * (risks == risks[i])
        pairs += weights[i] * weights[longer].sum()
        concordant += weights[i] * (weights * right)[longer].sum()
    return concordant / pairs if pairs else np.nan


@given(st.lists(ROW, min_size=1, max_size=40))
def test_it_is_the_share_of_pairs_in_order(rows):
    times, events, risks, weights = map(np.array, zip(*rows, strict=True))
    found = harrell_concordance(1.0 * times, events, 1.0 * risks, 1.0 * weights)
    assert found == pytest.approx(by_pairs(times, events, risks, weights), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("n_rows", [5, 64, 1000])
def test_it_is_the_one_of_scikit_survival(n_rows):
    rng = np.random.default_rng(n_rows)
    times, risks = rng.integers(1, n_rows, n_rows) * 1.0, rng.normal(size=n_rows).round(1)
    events = rng.random(n_rows) < 0.5
    expected = concordance_index_censored(events, times, risks)[0]
    weights = np.ones(n_rows)
    assert harrell_concordance(times, events, risks, weights) == pytest.approx(expected, rel=1e-12)
    turned = harrell_concordance(times, events, -risks, weights)
    assert turned == pytest.approx(1 - expected, rel=1e-12)
