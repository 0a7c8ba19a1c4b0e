"""Settings of all tests, and a Ctrl-C that comes at a moment of their choice."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# No test may fail because a machine is slow.
settings.register_profile(
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("patient")


@pytest.fixture
def interrupt_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Ctrl-C in the place of the n-th slice of a search of the core, counted from here."""
    from shortlist.native import search

    def interrupt(n: int) -> None:
        slices, search_of_core = iter(range(1, n)), search.core.Search

        class Interrupted:
            def __init__(self, *arguments: Any) -> None:
                self._search = search_of_core(*arguments)

            def __getattr__(self, name: str) -> Any:
                return getattr(self._search, name)

            def run(self, *arguments: Any) -> bool:
                if next(slices, None) is None:
                    raise KeyboardInterrupt
                return bool(self._search.run(*arguments))

        monkeypatch.setattr(search, "core", SimpleNamespace(Search=Interrupted))

    return interrupt
