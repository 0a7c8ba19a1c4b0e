"""Kernels as functions that tests can call.

Inner kernels have no machine code for calls from Python, and take structs by reference.
`compiled(kernel)` is such a function: `compiled(fit_selection)(data, fit, ...)`. With
NUMBA_DISABLE_JIT=1 it is the kernel itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import config, njit

from shortlist.solver.kernels.reference import by_reference


@cache
def compiled(kernel: Any) -> Callable[..., Any]:
    """Return a function of Python that calls the kernel."""
    if config.DISABLE_JIT:
        return kernel

    def call(*arguments: Any) -> Any:
        return _entry(kernel, tuple(map(_is_struct, arguments)))(*arguments)

    return call


def _is_struct(value: object) -> bool:
    """Whether kernels take the value by reference: not arrays, and not tuples of a few numbers."""
    fields = value if isinstance(value, tuple) else ()
    return any(isinstance(field, np.ndarray | np.record | tuple) for field in fields)


@cache
def _entry(kernel: Any, by_pointer: tuple[bool, ...]) -> Any:
    names = [f"x{i}" for i in range(len(by_pointer))]
    passed = [
        f"refer({x})" if is_struct else x for x, is_struct in zip(names, by_pointer, strict=True)
    ]
    source = f"lambda {', '.join(names)}: kernel({', '.join(passed)})"
    return njit(error_model="numpy")(eval(source, {"kernel": kernel, "refer": by_reference}))
