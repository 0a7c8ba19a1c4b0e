"""Performance and interpretability of a selection, on resamples of the data.

`Experiment` says what is evaluated, `evaluate` does it, and `Evaluation` says what came out. The
functions on selections work on any bool matrix.
"""

from .calibration_curve import SmoothCalibration, smooth_calibration
from .evaluation import Evaluation, evaluate, evaluate_all, task_key, work_of
from .experiment import Experiment
from .intervals import percentile_interval, share_interval
from .journal import Journal, JournalContent, read_journal
from .measure import Measure, interval, measure, net_benefit
from .procedure import FittedModel, Procedure, evaluate_resample
from .resampling import Sample
from .run import run_tasks
from .stability import (
    Stability,
    co_selection,
    inclusion_frequencies,
    model_frequencies,
    stability,
)

__all__ = [
    "Evaluation",
    "Experiment",
    "FittedModel",
    "Journal",
    "JournalContent",
    "Measure",
    "Procedure",
    "Sample",
    "SmoothCalibration",
    "Stability",
    "co_selection",
    "evaluate",
    "evaluate_all",
    "evaluate_resample",
    "inclusion_frequencies",
    "interval",
    "measure",
    "model_frequencies",
    "net_benefit",
    "percentile_interval",
    "read_journal",
    "run_tasks",
    "share_interval",
    "smooth_calibration",
    "stability",
    "task_key",
    "work_of",
]
