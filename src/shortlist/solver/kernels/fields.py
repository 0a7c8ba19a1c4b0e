"""The fields of structs: arrays, with names of sizes as their shape, and records of scalars.

A named tuple whose annotations are fields, or other such tuples, says all that is needed to make
it; `scratch.Memory` does. What a field starts with is named here if it is not written before it is
read.
"""

import numpy as np


class Array:
    """An array of floats, unless it is said of what."""

    def __init__(self, *shape: str | int, dtype: type = np.float64, start=None):
        self.shape = shape
        self.dtype = dtype
        self.start = start


class Record:
    """A record of mutable scalars, integers or floats by what they start with."""

    def __init__(self, **start: float):
        self.start = tuple(start.values())
        self.dtype = np.dtype((np.record, [(name, type(value)) for name, value in start.items()]))


# What is decided about each predictor: FREE, IN or OUT.
STATUS = Array("n_predictors", dtype=np.int8, start=0)
