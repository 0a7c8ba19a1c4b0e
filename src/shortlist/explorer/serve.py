"""Serve the explorer on this machine."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import webbrowser
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..backends import solve
from ..choice import near_optimal
from ..errors import InvalidProblemError, import_extra
from .model import make_problem
from .prepared import PreparedPatients
from .state import State, check_names, parse

if TYPE_CHECKING:
    from uvicorn import Server

ADDRESS = "127.0.0.1"
_MOST_MESSAGES = 100  # on the terminal, which may be a file


def serve(
    prepared: PreparedPatients,
    *,
    ridge: float = 1.0,
    port: int = 0,
    settings: str | None = None,
    open_browser: bool = True,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve the explorer on 127.0.0.1 until it is interrupted.

    Parameters
    ----------
    prepared : PreparedPatients
        The data that every page starts with.
    ridge : float
        The ridge that it starts with.
    port : int
        The port; 0 takes one that is free.
    settings : str, optional
        The content of a settings file to start with.
    open_browser : bool
        Whether to open the page.
    announce : callable
        Called with the address.
    """
    fragment = "" if settings is None else f"#{_fragment(settings, prepared)}"
    with (
        listening_server(prepared, ridge, port) as (server, listener, address),
        TemporaryDirectory(prefix="shortlist-") as folder,  # which other users cannot read
    ):
        announce(address + fragment)
        if open_browser:  # by way of a file, because others see the command line of a browser
            page = Path(folder) / "explorer.html"
            page.write_text(
                f'<meta http-equiv="refresh" content="0; url={escape(address + fragment)}">'
            )
            webbrowser.open(page.as_uri())
        server.run(sockets=[listener])


def check_installed() -> None:
    """Raise if the packages of the extra are not installed."""
    for package in ("starlette", "uvicorn"):
        import_extra(package, "explore")


@contextmanager
def listening_server(
    prepared: PreparedPatients, ridge: float, port: int
) -> Iterator[tuple[Server, socket.socket, str]]:
    """Give a server, its socket and its address, which has a secret key in it."""
    check_installed()
    from uvicorn import Config, Server

    from .app import Connection, make_app

    # Solve once, so that a first visit does not wait for imports.
    problem = make_problem(prepared, prepared.first_state())
    solve(problem, node_limit=1)
    near_optimal(problem, 0.0, 1, time_limit=0.1)
    key = secrets.token_urlsafe(16)
    app = make_app(prepared, ridge=ridge, key=key)
    with _listen(port) as listener:
        address = f"http://{ADDRESS}:{listener.getsockname()[1]}/{key}/"
        config = Config(app, http=Connection, log_level="warning", timeout_graceful_shutdown=1)
        for name in ("uvicorn.error", "asyncio"):
            logging.getLogger(name).addFilter(_FirstMessages())
        yield Server(config), listener, address


class _FirstMessages(logging.Filter):
    """Let through as many messages as somebody may read, whoever causes more of them."""

    n_messages = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Count a message; the last one says that it is the last."""
        self.n_messages += 1
        if self.n_messages == _MOST_MESSAGES:
            record.msg = f"{record.msg}\nFurther messages are not shown."
        return self.n_messages <= _MOST_MESSAGES


def _fragment(text: str, prepared: PreparedPatients) -> str:
    """Return the part of the address that holds the settings, as the page writes it."""
    state = parse(State, text)
    if state.data != prepared.digest:
        raise InvalidProblemError("--settings: belong to other data; pass those data too.")
    check_names(state, prepared.design.names)
    return urlsafe_b64encode(state.model_dump_json().encode()).decode().rstrip("=")


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server((ADDRESS, port), backlog=128)  # so that early requests wait
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise InvalidProblemError(
            f"--port: {port} cannot be used ({reason}); use another one, or 0."
        ) from None
