"""Figures: each function takes a DataFrame, draws it on matplotlib Axes and returns them.

They need the extra `shortlist[plots]`. The palette of Okabe and Ito suits any colour vision.
"""

from .curve import (
    plot_calibration,
    plot_decision_curve,
    plot_effect,
    plot_instability,
    plot_roc,
)
from .forest import plot_forest
from .selection import plot_inclusion, plot_staircase

__all__ = [
    "plot_calibration", "plot_decision_curve", "plot_effect", "plot_forest", "plot_inclusion",
    "plot_instability", "plot_roc", "plot_staircase",
]  # fmt: skip
