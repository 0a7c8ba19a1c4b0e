# The public names of the package, a line each: see `lazy`.
from .calculator import write_calculator as write_calculator
from .chart import PointsChart as PointsChart
from .chart import points as points
from .code import write_model as write_model
from .nomogram import plot_nomogram as plot_nomogram
