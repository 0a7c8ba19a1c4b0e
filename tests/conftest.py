"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# No test may fail because a machine is slow.
settings.register_profile(
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("patient")
