"""Figures: each function takes a DataFrame, draws it on matplotlib Axes and returns them.

They need the extra `shortlist[plots]`. The palette of Okabe and Ito suits any colour vision, and
methods differ by marker and line or hatching too, so that grey print is legible.
"""

from .curves import plot_calibration, plot_decision_curve, plot_effect, plot_roc
from .inclusion import plot_inclusion
from .staircase import plot_staircase

__all__ = [
    "plot_calibration",
    "plot_decision_curve",
    "plot_effect",
    "plot_inclusion",
    "plot_roc",
    "plot_staircase",
]
