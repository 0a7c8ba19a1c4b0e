"""Sessions: one per open page, with its own data, which no other page's request reaches."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Condition

from .model import ShownModel, fit_adopted, fit_state
from .prepared import PreparedPatients, Upload
from .state import PageRequest, State

MOST_SESSIONS = 64
MOST_BYTES = 1_000_000_000  # of all data together; sessions that were idle longest end first
_KEPT_FITS = 4
_POLL_SECONDS = 0.1  # between checks whether a request that waits for a fit was superseded

# The settings that an answer does not depend on; the page asks again only when others change.
_IRRELEVANT: dict[str, dict[str, object]] = {
    "staircase": {"adopted": None, "budget": 0.0, "count": 0},
    "substitutes": {"adopted": None},
    "cheapest": {"adopted": None},
    "enough": {"adopted": None},
    "stability": {"adopted": None},
    "notes": {"adopted": None},
    "tune": {"adopted": None, "ridge": 1.0},
}


class SupersededError(Exception):
    """A newer request of the same page has replaced this one."""


class SessionEndedError(Exception):
    """There is no such session, or no longer."""


@dataclass(frozen=True)
class Turn:
    """A request that a newer one may supersede; its solves call it to find out.

    It is superseded by a request on its topic, or by one with other settings that matter to it.
    """

    session: Session
    topic: str
    number: int
    state: State

    def check(self) -> None:
        """Raise if a newer request has begun."""
        if self.session.newest_numbers.get(self.topic, 0) > self.number:
            raise SupersededError
        number, state = self.session.newest
        if number > self.number and self._needed(state) != self._needed(self.state):
            raise SupersededError

    def _needed(self, state: State | None) -> State | None:
        return state and state.model_copy(update=_IRRELEVANT.get(self.topic, {}))

    def __call__(self, news: object) -> None:
        """End the search of a superseded request."""
        self.check()


@dataclass
class Session:
    """The data and models of one page."""

    prepared: PreparedPatients
    upload: Upload | None = None
    newest_numbers: dict[str, int] = field(default_factory=dict)  # of the requests on each topic
    newest: tuple[int, State | None] = (0, None)  # of all requests, with its settings
    _fits: OrderedDict[str, ShownModel] = field(default_factory=OrderedDict)
    _being_fitted: set[str] = field(default_factory=set)
    _changed: Condition = field(default_factory=Condition)  # guards the two above

    def begin(self, topic: str, number: int, state: State) -> Turn:
        """Supersede the requests with lower numbers, on a topic or with other settings."""
        turn = Turn(self, topic, number, state)
        turn.check()
        self.newest_numbers[topic] = number
        if number > self.newest[0]:
            self.newest = (number, state)
        return turn

    def use(self, prepared: PreparedPatients) -> None:
        """Go on with other data."""
        self.prepared = prepared
        self.forget()

    def forget(self) -> None:
        """Drop everything that the page can ask for again."""
        self.upload = None
        with self._changed:
            self._fits.clear()

    def fit(self, prepared: PreparedPatients, state: State, turn: Turn) -> ShownModel:
        """Return the model of a state for its data; those asked for last are kept.

        A request for a model that is being fitted waits for it.
        """
        key = prepared.digest + state.model_dump_json()
        with self._changed:
            while key in self._being_fitted:
                self._changed.wait(_POLL_SECONDS)
                turn.check()
            if key in self._fits:
                self._fits.move_to_end(key)
                return self._fits[key]
            self._being_fitted.add(key)
        try:
            fitted = self._fit_now(prepared, state, turn)
            with self._changed:
                if prepared is self.prepared:  # else the session went on with other data
                    self._fits[key] = fitted
                while len(self._fits) > _KEPT_FITS:
                    self._fits.popitem(last=False)
        finally:
            with self._changed:
                self._being_fitted.remove(key)
                self._changed.notify_all()
        return fitted

    def _fit_now(self, prepared: PreparedPatients, state: State, turn: Turn) -> ShownModel:
        if state.adopted is None:
            return fit_state(prepared, state, turn)
        best = self.fit(prepared, state.without_adoption(), turn)
        return fit_adopted(prepared, state, best)


@dataclass(frozen=True)
class Inquiry:
    """A question, and the data that it is about; the session may go on with other data."""

    prepared: PreparedPatients
    question: PageRequest
    turn: Turn

    @property
    def state(self) -> State:
        """The settings."""
        return self.question.state

    def fit(self) -> ShownModel:
        """Return the model for the settings."""
        return self.turn.session.fit(self.prepared, self.state, self.turn)


class Sessions:
    """The sessions by their secret names, the one used last at the end."""

    def __init__(self, prepared: PreparedPatients) -> None:
        self._prepared = prepared
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, earlier: str | None) -> tuple[str, Session]:
        """Start a session, with the data of an earlier one if the page was loaded again."""
        prepared = self._prepared
        if earlier is not None and earlier in self._sessions:
            prepared = self._sessions[earlier].prepared
            self._sessions[earlier].forget()
        name = secrets.token_urlsafe(24)
        self._sessions[name] = Session(prepared)
        self.make_room()
        return name, self._sessions[name]

    def find(self, name: str | None) -> Session:
        """Return a session by its name."""
        if name is None or name not in self._sessions:
            raise SessionEndedError
        self._sessions.move_to_end(name)
        return self._sessions[name]

    def make_room(self) -> None:
        """End the sessions that were idle longest until the others are within the limits."""
        while len(self._sessions) > 1 and (
            len(self._sessions) > MOST_SESSIONS or self._n_bytes() > MOST_BYTES
        ):
            self._sessions.popitem(last=False)

    def _n_bytes(self) -> int:
        sessions = self._sessions.values()
        datasets = {id(session.prepared): session.prepared for session in sessions}
        uploads = (session.upload for session in sessions if session.upload is not None)
        return sum(prepared.n_bytes for prepared in datasets.values()) + sum(
            upload.n_bytes for upload in uploads
        )
