"""Sessions: one per open page, with its own data; no request reaches those of another."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

import pandas as pd

from ..options import Progress
from .cohort import Cohort
from .fitted import Callback, Fitted, fit_state
from .state import State

MOST_SESSIONS = 64
MOST_BYTES = 1_000_000_000  # of all data together; the sessions that rested longest end first
_KEPT_FITS = 4


class SupersededError(Exception):
    """A newer request of the same page made this one pointless."""


class SessionEndedError(Exception):
    """There is no such session, or no longer."""


class OtherDataError(Exception):
    """The settings of a request are for other data than those of the session."""


@dataclass
class Upload:
    """A table that was read, and waits to hear which column is the outcome."""

    name: str
    table: pd.DataFrame


@dataclass(frozen=True)
class Turn:
    """A request that goes on until a newer one on its topic begins; its solves call it back."""

    newest: dict[str, int]
    topic: str
    number: int

    def check(self) -> None:
        """Raise if a newer request has begun."""
        if self.newest.get(self.topic, 0) > self.number:
            raise SupersededError

    def __call__(self, progress: Progress) -> None:
        """End the solve of a superseded request."""
        self.check()


@dataclass
class Session:
    """What one page works on."""

    cohort: Cohort
    upload: Upload | None = None
    _newest: dict[str, int] = field(default_factory=dict)
    _fits: OrderedDict[str, Fitted] = field(default_factory=OrderedDict)

    def begin(self, topic: str, number: int) -> Turn:
        """Supersede the requests on a topic that have lower numbers."""
        turn = Turn(self._newest, topic, number)
        turn.check()
        self._newest[topic] = number
        return turn

    def use(self, cohort: Cohort) -> None:
        """Go on with other data."""
        self.cohort = cohort
        self.upload = None
        self._fits.clear()

    def fit(self, cohort: Cohort, state: State, callback: Callback) -> Fitted:
        """Return the model of a state for its data; those asked for last are kept."""
        key = state.model_dump_json()
        fitted = self._fits.get(key)
        if fitted is None:
            fitted = fit_state(cohort, state, callback)
            self._fits[key] = fitted
            while len(self._fits) > _KEPT_FITS:
                self._fits.popitem(last=False)
        return fitted


class Sessions:
    """The sessions by their secret names, the one used last at the end."""

    def __init__(self, cohort: Cohort) -> None:
        self._cohort = cohort
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, earlier: str | None) -> tuple[str, Session]:
        """Start a session with the data of an earlier one, as a page does that is loaded again."""
        cohort = self._cohort
        if earlier is not None and earlier in self._sessions:
            cohort = self._sessions[earlier].cohort
        name = secrets.token_urlsafe(24)
        self._sessions[name] = Session(cohort)
        self.make_room()
        return name, self._sessions[name]

    def find(self, name: str | None) -> Session:
        """Return a session by its name."""
        if name is None or name not in self._sessions:
            raise SessionEndedError
        self._sessions.move_to_end(name)
        return self._sessions[name]

    def make_room(self) -> None:
        """End the sessions that rested longest until the others are within the limits."""
        while len(self._sessions) > 1 and (
            len(self._sessions) > MOST_SESSIONS or self._n_bytes() > MOST_BYTES
        ):
            self._sessions.popitem(last=False)

    def _n_bytes(self) -> int:
        sessions = self._sessions.values()
        cohorts = {id(session.cohort): session.cohort for session in sessions}
        uploads = (session.upload for session in sessions if session.upload is not None)
        return sum(cohort.n_bytes for cohort in cohorts.values()) + sum(
            int(upload.table.memory_usage(deep=True).sum()) for upload in uploads
        )
