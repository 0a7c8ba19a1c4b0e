"""The verdicts of the page: recomputed independently, and steady when resamples are added."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recompute_verdicts import verdicts

from study.claims import CLAIMS, judge
from study.draws import Draws, mean_of, read_draws
from study.plan import KEYS, METHODS, NUMBERS, Run
from study.tables import chosen, measures, read_table

RESULTS = Path(__file__).parents[2] / "study" / "results"
N_ADDED, N_REPEATS, LARGEST_SHARE = 5, 40, 0.05


def test_every_verdict_is_that_of_an_independent_script():
    kept = pd.read_csv(RESULTS / "claims.csv").query("place != 5.1").set_index("key")["verdict"]
    assert verdicts() == kept.to_dict()


def supports(text):
    return [[int(g) for g in part.split()] for part in text.split(",")]


def test_runs_follow_from_selections():
    selections = read_table(RESULTS, "selections.csv.gz").sample(300, random_state=0)
    runs = read_table(RESULTS, "runs.csv.gz").set_index(list(KEYS))
    for values in selections.itertuples(index=False):
        run = Run(*values[:-1])
        own = measures(run, chosen(supports(values.selected), run.n_features))
        line = runs.loc[tuple(values[:-1])]
        for name, value in own.items():
            assert line[name] == pytest.approx(value, rel=1e-5, abs=1e-9)


class Selections:
    """What every resample of every run selects, from which draws with more resamples are made."""

    def __init__(self):
        table = read_table(RESULTS, "selections.csv.gz")
        self.n_features = table["n_features"].to_numpy()
        self.n_informative = np.where(table["study"] == "budget", 5, table["run"])
        parts = [supports(text) for text in table["selected"]]
        self.matrix = np.stack([chosen(part, 53) for part in parts])
        epv = (0.23 * table["n_samples"] / table["n_features"]).round(2)
        self.keys = table.assign(epv=epv)

    def runs(self, rng):
        """Return the measures of all runs with some resamples more, drawn from their own."""
        n_runs, n_resamples, _ = self.matrix.shape
        more = rng.integers(n_resamples, size=(n_runs, N_ADDED))
        counts = self.matrix.sum(axis=1) + self.matrix[np.arange(n_runs)[:, None], more].sum(axis=1)
        total = n_resamples + N_ADDED
        before = np.cumsum(counts, axis=1)
        rows = np.arange(n_runs)
        informative = before[rows, self.n_informative - 1]
        redundant = counts[rows, self.n_informative]
        selected = before[:, -1]
        frequency = counts / total
        share = selected / total / self.n_features
        variance = (frequency * (1 - frequency)).sum(axis=1) * total / (total - 1)
        uninformative = self.n_features - self.n_informative - 1
        return self.keys.assign(
            informative=informative / total / self.n_informative,
            redundant=redundant / total,
            uninformative=(selected - informative - redundant) / total / uninformative,
            stability=1 - variance / self.n_features / (share * (1 - share)),
        )


@pytest.mark.slow
def test_no_verdict_hangs_on_five_resamples():
    """With five resamples more in every run, hardly a verdict changes."""
    selections = Selections()
    kept = pd.read_csv(RESULTS / "claims.csv").set_index("key")["verdict"]
    aucs = read_table(RESULTS, "runs.csv.gz").set_index(list(KEYS))["auc"]
    intervals = read_table(RESULTS, "intervals.csv.gz")
    rng = np.random.default_rng(1)
    flips = Counter()
    for _ in range(N_REPEATS):
        runs = selections.runs(rng).join(aucs, on=list(KEYS))
        for study in NUMBERS:
            draws = Draws(runs, intervals, study)
            assert len(draws.seeds) == 101
            for key, claim in CLAIMS.items():
                if key.startswith(study):
                    again = judge(claim.groups(draws, claim.thresholds[1])).verdict
                    flips[key] += again != kept[key]
    shares = pd.Series(flips) / N_REPEATS
    assert (shares < LARGEST_SHARE).all(), shares[shares >= LARGEST_SHARE].to_dict()


def test_added_resamples_keep_the_measures_of_runs():
    """The test above has the right measures: without added ones they are those of the table."""
    selections = Selections()
    runs = read_table(RESULTS, "runs.csv.gz").set_index(list(KEYS))
    again = selections.runs(np.random.default_rng(2)).set_index(list(KEYS))
    for name in ("informative", "stability"):
        difference = again[name] - runs[name].reindex(again.index)
        assert abs(difference.mean()) < 0.005
        assert difference.abs().max() < 0.5


def test_the_words_of_the_page_are_true_of_the_tables():
    """What `page.md` says in words, without a number that would change with the tables."""
    table = pd.read_csv(RESULTS / "averages.csv")
    ahead = table[(table["method"] == "difference") & (table["epv"] != "all")]
    ahead = ahead.assign(epv=ahead["epv"].astype(float), noise=ahead["label_noise"].astype(float))
    ahead = ahead.set_index(["study", "measure", "noise", "epv"]).sort_index()
    stability, auc = (
        ahead.xs(("budget", "stability")),
        ahead.xs(("cardinality", "auc")),
    )
    assert set(stability[stability["upper"] < 0].index.get_level_values("epv")) == {0.36, 1.35}
    assert set(stability[stability["lower"] > 0].index.get_level_values("epv")) <= {4.73, 17.91}
    assert auc["upper"][0.05, 0.36] < 0
    many = auc.loc[auc.index.get_level_values("epv") > 4]
    assert (many["lower"] > 0).all()
    assert many["estimate"].idxmin() == (0.05, 17.91)
    assert many["estimate"].idxmax() == (0.0, 4.73)
    effects = pd.read_csv(RESULTS / "effects.csv").set_index(
        ["study", "measure", "method", "effect"]
    )
    for measure in ("informative", "stability"):
        lost = [effects["estimate"]["cardinality", measure, method, "noise"] for method in METHODS]
        assert lost[0] < 3 * lost[1] < 0
    methods = pd.read_csv(RESULTS / "methods.csv").set_index(["study", "method", "measure"])
    assert methods["estimate"]["cardinality", "full", "auc"] < 0
    assert methods["estimate"]["budget", "full", "auc"] > 0


def test_intervals_over_draws_cover_the_mean():
    """As many draws as we have, taken from ours at random: the interval has their mean."""
    rng = np.random.default_rng(3)
    draws = read_draws(RESULTS)
    covered = []
    for own in draws.values():
        for measure in ("informative", "uninformative", "redundant", "stability", "auc"):
            for values in (
                own.differences(measure, 1).T[0],
                own.cells(METHODS[0], measure, 0).T[-1],
            ):
                truth = values.mean()
                means = [mean_of(rng.choice(values, len(values))) for _ in range(400)]
                covered.append(np.mean([mean.lower <= truth <= mean.upper for mean in means]))
    assert len(covered) == 2 * 5 * 2
    assert 0.93 < np.mean(covered) < 0.97
    assert min(covered) > 0.9
