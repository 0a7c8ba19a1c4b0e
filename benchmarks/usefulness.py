"""Coverage of the intervals of net benefit and of shares: `python -m benchmarks.usefulness`.

A replication draws patients from a population whose risks are known, a tenth or a third of whom
have the event, and acts on risks above a threshold. Intervals of the net benefit, of how much it
exceeds that of treating all, and of sensitivity, specificity and predictive values are compared
with the truth in the population. "Normal" is the interval of normal errors that reports had before,
for what is more than treating all. Writes simulated/usefulness.csv, and its table of the page.
"""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from shortlist.evaluation import share_of, worth_interval

from .simulation import run_command, to_markdown

KEYS = ["prevalence", "n_rows", "threshold"]
COLUMNS = {
    "treating all, normal": "treating all, normal",
    "treating all": "more than treating all",
    "net benefit": "net benefit",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "PPV": "PPV",
    "NPV": "NPV",
}
_INTERCEPTS = {0.1: -3.2, 0.3: -1.15}
_SPREAD, _N_POPULATION = 1.5, 200_000


class Setting(NamedTuple):
    """A share of events, a number of patients and a threshold, and how often it is simulated."""

    prevalence: float
    n_rows: int
    threshold: float
    replications: int = 2000


SETTINGS = tuple(
    Setting(prevalence, n_rows, threshold)
    for prevalence in _INTERCEPTS
    for n_rows in (200, 1000)
    for threshold in (0.01, 0.02, 0.05, 0.1, 0.2)
)


@cache
def draw_risks(prevalence: float) -> Any:
    """Return the risks of a population."""
    normal = np.random.default_rng(1).normal(size=_N_POPULATION)
    return expit(_INTERCEPTS[prevalence] + _SPREAD * normal)


def replicate(setting: Setting, replication: int) -> list[dict[str, Any]]:
    """Return the truth and the interval of every measure for one simulated study."""
    seed = (setting.n_rows, round(1000 * setting.threshold), replication)
    rng, risk = np.random.default_rng(seed), draw_risks(setting.prevalence)
    harm = setting.threshold / (1 - setting.threshold)
    own = risk[rng.integers(len(risk), size=setting.n_rows)]
    event, acted = rng.random(setting.n_rows) < own, own >= setting.threshold
    truth = true_values(setting.prevalence, setting.threshold)
    spared, missed = ~acted & ~event, ~acted & event
    worth = harm * spared - missed
    width = norm.ppf(0.975) * worth.std() / sqrt(len(worth))
    found = {
        "treating all, normal": (worth.mean() - width, worth.mean() + width),
        "treating all": worth_interval((spared, harm), (missed, 1.0)),
        "net benefit": worth_interval((acted & event, 1.0), (acted & ~event, harm)),
        "sensitivity": share_of(acted[event])[1:],
        "specificity": share_of(~acted[~event])[1:],
        "PPV": share_of(event[acted])[1:],
        "NPV": share_of(~event[~acted])[1:],
    }
    facts = {"missed": int(missed.sum())}
    return [
        {"measure": name, "truth": truth[name], "lower": lower, "upper": upper} | facts
        for name, (lower, upper) in found.items()
    ]


@cache
def true_values(prevalence: float, threshold: float) -> dict[str, float]:
    """Return the measures in the population."""
    risk, harm = draw_risks(prevalence), threshold / (1 - threshold)
    above = risk >= threshold
    more = float(np.where(~above, harm * (1 - risk) - risk, 0.0).mean())
    return {
        "treating all, normal": more,
        "treating all": more,
        "net benefit": float(np.where(above, risk - harm * (1 - risk), 0.0).mean()),
        "sensitivity": _share(above, risk),
        "specificity": _share(~above, 1 - risk),
        "PPV": float(risk[above].mean()),
        "NPV": 1 - float(risk[~above].mean()),
    }


def _share(has: Any, weights: Any) -> float:
    return float(weights @ has / weights.sum())


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return per setting and measure the coverage, and the mean number of events below."""
    known = rows.dropna(subset=["lower", "upper"])
    covered = (known["lower"] <= known["truth"]) & (known["truth"] <= known["upper"])
    groups = known.assign(coverage=covered).groupby([*KEYS, "measure"], sort=False)
    table = groups[["coverage", "missed"]].mean()
    table["intervals"] = groups.size()
    return table.reset_index()


def page_table(table: pd.DataFrame) -> str:
    """Return the table of the page, a line per setting, and what else it says."""
    lines = []
    for (prevalence, n_rows, threshold), part in table.groupby(KEYS):
        found = part.set_index("measure")
        facts = [f"{prevalence:.0%}", f"{n_rows}", f"{threshold:.0%}"]
        shares = [f"{found.loc[name, 'coverage']:.1%}" for name in COLUMNS]
        lines.append([*facts, f"{found['missed'].max():.1f}", *shares])
    head = ["events", "patients", "threshold", "events below", *COLUMNS.values()]
    error = 100 * sqrt(0.95 * 0.05 / table["intervals"].max())
    return to_markdown(head, lines) + f"\nMonte-Carlo error of 95 %: {error:.1f} points.\n"


if __name__ == "__main__":
    run_command("usefulness")
