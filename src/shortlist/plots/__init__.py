"""Figures: each function takes a DataFrame, draws it on matplotlib Axes and returns them.

They need the extra `shortlist[plots]`. Colours are told apart with any colour vision (the palette
of Okabe and Ito), and methods by marker and line or hatching too, so that grey print is legible.
"""

from .fractions import plot_fractions
from .inclusion import plot_inclusion
from .intervals import plot_intervals
from .profile import plot_profile
from .spread import plot_spread

__all__ = [
    "plot_fractions",
    "plot_inclusion",
    "plot_intervals",
    "plot_profile",
    "plot_spread",
]
