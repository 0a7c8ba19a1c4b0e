"""Kernels are tested by calling them, so machine code of older sources must go first."""

import pytest

from shortlist.solver.compilation import ready_kernels


@pytest.fixture(scope="session", autouse=True)
def current_kernels():
    ready_kernels()
