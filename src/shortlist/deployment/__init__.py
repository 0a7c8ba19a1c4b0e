"""A fitted model outside Python: code, a workbook, a calculator, points and a nomogram.

`write_model` writes R, SQL, JavaScript or Excel, `write_calculator` a page for the bedside, and
`points` finds whole-number points within the same limits.
"""

from .calculator import write_calculator
from .chart import PointsChart, points
from .code import write_model
from .nomogram import plot_nomogram

__all__ = ["PointsChart", "plot_nomogram", "points", "write_calculator", "write_model"]
