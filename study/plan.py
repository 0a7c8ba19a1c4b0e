"""The plan of a study: data sets, methods, protocols and numbers of resamples.

The paper has eight data sets. On each it has four runs with a limit on the number of features, for
2 to 5 informative features, and five runs with a budget, for five draws of costs. Here a seed
gives all eight data sets: the runs with a limit share it whatever the number of informative
features, and the runs with a budget share the data set with five informative features, so that
only costs are drawn anew. A seed is thus one draw of all that the paper reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

import shortlist as sl
from shortlist.datasets import PrognosticData, make_prognostic

Protocol = Literal["clean", "paper"]

METHODS = ("optimal", "univariable")  # the paper's
MOST_FREQUENT = "most_frequent"
HEURISTICS = ("correlation", "forward", "backward", "stepwise", "swap", "lasso")
OTHER_METHODS = (*HEURISTICS, MOST_FREQUENT)  # not in the paper
SHAPES = ((82, 53), (82, 14), (1090, 53), (1090, 14))  # in the order of increasing EPV
LABEL_NOISE = (0.0, 0.05)
# `flip_y = 0.05` of scikit-learn draws 5 % of the labels anew, of which half stay as they are.
FLIP_Y_NOISE = 0.025
SIZES = (2, 3, 4, 5)
COST_DRAWS = (1, 2, 3, 4, 5)
BUDGET = 10.0
MAIN_SEED = 2023  # the year of the paper: fixed before anything was run with it


@dataclass(frozen=True)
class Arm:
    """A part of a study: these methods, on data of these seeds, with this protocol.

    Parameters
    ----------
    methods : tuple of str
        "optimal", or backends that are heuristics.
    resamples : range
        Numbers of the bootstrap resamples of each run; 0 is the data as they are.
    seeds : range
        Seeds of the data, the resamples and the folds.
    nested : bool
        Whether they are cross-validated; if not, only the selection is known, for a quarter
        of the work.
    sizes, cost_draws, label_noise : tuple
        Which runs of each study there are.
    protocol : {"paper", "clean"}
        As in `Experiment`.
    extremes_of : str
        Name of an earlier arm: of its runs, those with the lowest and the highest AUC of each seed,
        study and method alone.
    """

    methods: tuple[str, ...]
    resamples: range
    seeds: range = range(MAIN_SEED, MAIN_SEED + 1)
    nested: bool = True
    sizes: tuple[int, ...] = SIZES
    cost_draws: tuple[int, ...] = COST_DRAWS
    label_noise: tuple[float, ...] = LABEL_NOISE
    protocol: Protocol = "paper"
    extremes_of: str = ""


@dataclass(frozen=True)
class Preset:
    """A study: arms by name in the order in which they run, and the data sets of all of them."""

    arms: Mapping[str, Arm]
    shapes: tuple[tuple[int, int], ...] = SHAPES


def _preset(main: int, seeds: int, resamples: int, others: int, few: int) -> Preset:
    """Return a study with these numbers of seeds and resamples."""
    data = range(1)  # as they are
    first = range(1, seeds + 1)
    fewer = range(1, few + 1)  # with the main seed, as many draws as a verdict takes
    selections = range(1, resamples + 1)
    once: dict[str, Any] = {"sizes": (5,), "cost_draws": (1,)}
    return Preset(
        {
            # The distributions of selections and of the AUC.
            "selections": Arm(METHODS, selections, first, nested=False),
            "aucs": Arm(METHODS, data, first),
            # The paper's protocol on one seed, and its folds without the leak.
            "paper": Arm(METHODS, range(main + 1)),
            "clean": Arm(("optimal",), range(few + 1), protocol="clean", **once),
            # The other meaning of label noise.
            "flip": Arm(METHODS, selections, fewer, nested=False, label_noise=(FLIP_Y_NOISE,)),
            # Other methods; those of the paper have the same data in "aucs".
            "methods": Arm(OTHER_METHODS, data, range(1, others + 1), **once),
            # The ends of the intervals that the paper states.
            "extremes": Arm(METHODS, range(few + 1), fewer, extremes_of="aucs"),
        }
    )


PRESETS = {
    "paper": _preset(399, seeds=100, resamples=2, others=5, few=39),
    "quick": _preset(2, seeds=3, resamples=2, others=1, few=1),
}


@dataclass(frozen=True)
class Run:
    """One of the runs of the paper, by one method.

    Parameters
    ----------
    study : {"cardinality", "budget"}
        What limits the selection.
    seed, protocol, method
        As in `Arm`.
    n_samples, n_features, label_noise
        The data set, as in `make_prognostic`.
    run : int
        With a cardinality constraint the number of informative features, which is also the limit;
        with a budget the number of the draw of costs.
    """

    study: str
    seed: int
    protocol: Protocol
    n_samples: int
    n_features: int
    label_noise: float
    run: int
    method: str

    @property
    def name(self) -> str:
        """The key of the run in a journal."""
        return " ".join(map(str, self.keys().values()))

    @property
    def n_informative(self) -> int:
        """Number of informative features."""
        return 5 if self.study == "budget" else self.run

    @property
    def epv(self) -> float:
        """Events per variable, with two decimals, as the paper names its data sets."""
        return round(0.23 * self.n_samples / self.n_features, 2)

    def keys(self) -> dict[str, Any]:
        """Return the columns that identify the run in a table of results."""
        return dict(vars(self))

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
        limits: dict[str, Any] = (
            {"costs": self.costs(), "budget": BUDGET}
            if self.study == "budget"
            else {"max_features": self.run}
        )
        return sl.Experiment(
            data.X,
            data.y,
            backend=self.method if self.method in ("univariable", *HEURISTICS) else "native",
            scoring="roc_auc",
            protocol=self.protocol,
            seed=self.seed,
            **limits,
        )


KEYS = tuple(field.name for field in fields(Run))


def runs_of(preset: Preset, arm: Arm) -> Iterator[Run]:
    """Yield the runs of an arm, in the order of the paper's figures.

    Examples
    --------
    >>> from study.plan import PRESETS, runs_of
    >>> preset = PRESETS["paper"]
    >>> len(list(runs_of(preset, preset.arms["paper"])))
    144
    """
    for seed in arm.seeds:
        for study, numbers in (("cardinality", arm.sizes), ("budget", arm.cost_draws)):
            for shape in preset.shapes:
                for noise in arm.label_noise:
                    for number in numbers:
                        for method in arm.methods:
                            yield Run(study, seed, arm.protocol, *shape, noise, number, method)
