"""Settings of all tests."""

import pytest
from hypothesis import HealthCheck, settings

from shortlist.solver.compilation import ready_kernels

# No test may fail because a machine is slow.
settings.register_profile(
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    """Compile the kernels once, before there are workers that would all do it."""
    if not hasattr(config, "workerinput"):
        ready_kernels()
