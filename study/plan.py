"""The plan of a study: data sets, methods and numbers of resamples.

The paper has eight data sets. On each it has four runs with a limit on the number of features, for
2 to 5 informative features, and five runs with a budget, for five draws of costs. Here a seed
gives all eight data sets: the runs with a limit share it whatever the number of informative
features, and the runs with a budget share the data set with five informative features, so that
only costs are drawn anew. A seed is thus one draw of all that the paper reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

import shortlist as sl
from shortlist.datasets import PrognosticData, make_prognostic

METHODS = OPTIMAL, GREEDY = ("optimal", "univariable")  # the paper's
FULL = "full"  # the ridge model of all candidates, whatever they cost
# Not in the paper. Backward selection from 53 candidates would take as long as all the rest.
OTHER_METHODS = ("correlation", "forward", "stepwise", "swap", "lasso", FULL)
SHAPES = ((82, 53), (82, 14), (1090, 53), (1090, 14))  # in the order of increasing EPV
LABEL_NOISE = (0.0, 0.05)
EVENT_SHARE = 0.23
NUMBERS = {"cardinality": (2, 3, 4, 5), "budget": (1, 2, 3, 4, 5)}  # of the runs of each study
BUDGET = 10.0
MAIN_SEED = 2023  # the year of the paper: fixed before anything was run with it


@dataclass(frozen=True)
class Arm:
    """A part of a study: these methods, on data of these seeds.

    Parameters
    ----------
    methods : tuple of str
        "optimal", "full", or backends that are heuristics.
    resamples : range
        Numbers of the bootstrap resamples of each run; 0 is the data as they are.
    seeds : tuple of int
        Seeds of the data, the resamples and the folds.
    nested, selecting : bool
        Whether they are cross-validated, which is three quarters of the work, and whether it is
        known what they select.
    rotating : bool
        Whether a seed has one run of each data set and study alone, the next seed the next one.
    alternating : bool
        Whether a seed has every other data set alone: a shape with or without label noise, in turn.
    extremes_of : str
        Name of an earlier arm: of its runs, those with the lowest and the highest AUC of each seed,
        study and method alone.
    """

    methods: tuple[str, ...]
    resamples: range
    seeds: tuple[int, ...]
    nested: bool = True
    selecting: bool = True
    rotating: bool = False
    alternating: bool = False
    extremes_of: str = ""

    def numbers(self, study: str, seed: int) -> tuple[int, ...]:
        """Return the numbers of the runs of a study that a seed has."""
        every = NUMBERS[study]
        return (every[seed % len(every)],) if self.rotating else every

    def label_noises(self, study: str, seed: int, position: int) -> tuple[float, ...]:
        """Return the label noises that a seed has at a position among the shapes."""
        turn = seed // len(NUMBERS[study]) + position  # when all runs have had theirs
        return (LABEL_NOISE[turn % 2],) if self.alternating else LABEL_NOISE


@dataclass(frozen=True)
class Preset:
    """A study: arms by name in the order in which they run, and the data sets of all of them."""

    arms: Mapping[str, Arm]
    shapes: tuple[tuple[int, int], ...] = SHAPES


def make_preset(seeds: int, resamples: int, others: int, some: int, ends: int) -> Preset:
    """Return a study with these numbers of seeds in its arms, and of resamples."""
    data, few = range(1), range(39 + 1)  # as few as an interval takes
    draws = (*range(1, seeds + 1), MAIN_SEED)
    return Preset(
        {
            # What is selected, and how well the models predict.
            "selections": Arm(METHODS, range(1, resamples + 1), draws, nested=False),
            "aucs": Arm(METHODS, data, draws),
            # Other methods; those of the paper have the same runs in "aucs".
            "methods": Arm(OTHER_METHODS, data, draws[:others], rotating=True),
            # AUC intervals: of a run per shape, and of those whose ends the paper states.
            "intervals": Arm(
                METHODS, few, draws[:some], selecting=False, rotating=True, alternating=True
            ),
            "extremes": Arm(METHODS, few, draws[:ends], selecting=False, extremes_of="aucs"),
        }
    )


PRESETS = {
    "paper": make_preset(seeds=100, resamples=50, others=50, some=100, ends=39),
    "quick": make_preset(seeds=10, resamples=10, others=5, some=2, ends=2),
    # The paper's own protocol: one draw, 399 resamples of every run, nested cross-validation.
    "as-published": Preset({"published": Arm(METHODS, range(399 + 1), (MAIN_SEED,))}),
}


@dataclass(frozen=True)
class Run:
    """One of the runs of the paper, by one method.

    Parameters
    ----------
    study : {"cardinality", "budget"}
        What limits the selection.
    seed, method
        As in `Arm`.
    n_samples, n_features, label_noise
        The data set, as in `make_prognostic`.
    run : int
        With a cardinality constraint the number of informative features, which is also the limit;
        with a budget the number of the draw of costs.
    """

    study: str
    seed: int
    n_samples: int
    n_features: int
    label_noise: float
    run: int
    method: str

    @property
    def name(self) -> str:
        """The key of the run in a journal."""
        return " ".join(map(str, vars(self).values()))

    @property
    def n_informative(self) -> int:
        """Number of informative features."""
        return 5 if self.study == "budget" else self.run

    @property
    def epv(self) -> float:
        """Events per variable, with two decimals, as the paper names its data sets."""
        return round(EVENT_SHARE * self.n_samples / self.n_features, 2)

    def data(self) -> PrognosticData:
        """Draw the data; runs that differ in label noise alone have the same features."""
        return make_prognostic(
            self.n_samples,
            self.n_features,
            n_informative=self.n_informative,
            label_noise=self.label_noise,
            random_state=self.seed,
        )

    def costs(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Draw the costs, which depend on the seed, the draw and the number of features alone."""
        rng = np.random.default_rng((self.seed, self.run))
        return rng.integers(1, 10, size=self.n_features, endpoint=True)

    def experiment(self) -> sl.Experiment:
        """Return the experiment; methods are compared on the same resamples and folds."""
        data = self.data()
        limits: dict[str, Any] = {"max_features": self.run}
        if self.study == "budget":
            limits = {"costs": self.costs(), "budget": BUDGET}
        if self.method == FULL:
            limits = {"include": range(self.n_features)}
        return sl.Experiment(
            sl.SubsetProblem(data.X, data.y, ridge=1.0, **limits),
            backend="native" if self.method in (OPTIMAL, FULL) else self.method,
            protocol="paper",
            scoring="roc_auc",
            seed=self.seed,
        )


KEYS = tuple(field.name for field in fields(Run))


def runs_of(preset: Preset, arm: Arm) -> Iterator[Run]:
    """Yield the runs of an arm, in the order of the paper's figures.

    Examples
    --------
    >>> from study.plan import PRESETS, runs_of
    >>> preset = PRESETS["paper"]
    >>> len(list(runs_of(preset, preset.arms["aucs"])))
    14544
    """
    for seed in arm.seeds:
        for study in NUMBERS:
            for position, shape in enumerate(preset.shapes):
                for noise in arm.label_noises(study, seed, position):
                    for number in arm.numbers(study, seed):
                        for method in arm.methods:
                            yield Run(study, seed, *shape, noise, number, method)
