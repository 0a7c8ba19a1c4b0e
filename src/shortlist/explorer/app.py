"""The explorer's server: the page, its API, the guard in front of them, and its connections."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import h11
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import InvalidFileError, InvalidProblemError, MissingDependencyError
from ..patients.term import StrictModel
from . import answer
from .model import WRITERS, make_problem
from .prepared import (
    MOST_UPLOAD_BYTES,
    PreparedPatients,
    UploadChoice,
    describe_upload,
    prepare_upload,
    read_prices,
    read_upload,
)
from .session import Inquiry, Session, SessionEndedError, Sessions, SupersededError, Turn
from .state import PageRequest, check_names, parse

STATIC = Path(__file__).parent / "static"
_MOST_JSON_BYTES = 1_000_000
_N_THREADS = 4  # a solve keeps Python busy in slices of 50 ms, so more would not be faster
_MOST_CONNECTIONS = 200  # at a time; a page has half a dozen
_PATIENCE = 10.0  # seconds in which a request has to arrive, the largest file too
_REFUSALS = (InvalidProblemError, InvalidFileError, MissingDependencyError)
HOSTS = ["127.0.0.1", "localhost"]
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Opening(StrictModel):
    """A page that was loaded, and the session that it had before."""

    earlier: str | None = None


# The questions about settings; that about stability is answered bit by bit, by its own route.
TOPICS: dict[str, Callable[[Inquiry], dict[str, Any]]] = {
    "solve": answer.describe_model,
    "staircase": answer.describe_staircase,
    "alternatives": answer.describe_alternatives,
    "cheapest": answer.describe_cheapest,
    "substitutes": answer.describe_substitutes,
    "performance": answer.describe_performance,
    "patient": answer.describe_patient,
    "notes": answer.describe_notes,
    "tune": answer.tune_ridge,
    "enough": answer.find_enough,
}


def make_app(prepared: PreparedPatients, *, ridge: float = 1.0, key: str = "") -> Starlette:
    """Return the application; with a key, everything is below a path that only the key opens."""
    explorer = _Explorer(prepared, ridge)
    routes = [
        Route("/api/session", explorer.open_session, methods=["POST"]),
        Route("/api/upload", explorer.take_upload, methods=["POST"]),
        Route("/api/patients", explorer.use_upload, methods=["POST"]),
        Route("/api/prices", explorer.take_prices, methods=["POST"]),
        *(Route(f"/api/{topic}", explorer.answerer(topic), methods=["POST"]) for topic in TOPICS),
        Route("/api/stability", explorer.stability, methods=["POST"]),
        Route("/api/cancel/{topic}", explorer.cancel, methods=["POST"]),
        Route("/api/save/{what}", explorer.save, methods=["POST"]),
        Mount("/", StaticFiles(directory=STATIC, html=True)),
    ]
    return Starlette(
        routes=[Mount(f"/{key}", routes=routes)] if key else routes,
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS), Middleware(Guard)],
        exception_handlers={
            **dict.fromkeys(_REFUSALS, _error_answer(400)),
            ClientDisconnect: _error_answer(400, error="The page has left."),
            SupersededError: _error_answer(409, superseded=True),
            SessionEndedError: _error_answer(
                410, error="This session has expired; reload the page.", ended=True
            ),
            Exception: _error_answer(500, error="Internal error; see the terminal for details."),
        },
    )


class _Explorer:
    def __init__(self, prepared: PreparedPatients, ridge: float) -> None:
        self._sessions = Sessions(prepared)
        self._ridge = ridge
        self._limiter = CapacityLimiter(_N_THREADS)
        # So that a slider does not wait for other answers.
        self._solve_limiter = CapacityLimiter(_N_THREADS)
        self._save_limiter = CapacityLimiter(1)

    async def open_session(self, request: Request) -> Response:
        opening = parse(Opening, await _settings(request))
        name, session = self._sessions.open(opening.earlier)
        started = await self._run(self._start, session.prepared, self._ridge)
        return JSONResponse({"session": name} | started)

    async def take_upload(self, request: Request) -> Response:
        session = self._session(request)
        content = await _file(request, MOST_UPLOAD_BYTES)
        upload = await self._run(read_upload, _file_name(request), content)
        described = await self._run(describe_upload, upload)
        session.upload = upload
        self._sessions.make_room()
        return JSONResponse(described)

    async def use_upload(self, request: Request) -> Response:
        session = self._session(request)
        choice = parse(UploadChoice, await _settings(request))
        upload = session.upload
        if upload is None:
            raise InvalidProblemError("No file is loaded; load one first.")
        prepared = await self._run(prepare_upload, upload, choice)
        started = await self._run(self._start, prepared, 1.0)  # the other one is for other data
        session.use(prepared)
        self._sessions.make_room()
        return JSONResponse(started)

    async def take_prices(self, request: Request) -> Response:
        prepared = self._session(request).prepared
        content = await _file(request, _MOST_JSON_BYTES)
        costs = await self._run(read_prices, _file_name(request), content, prepared)
        return JSONResponse({"costs": costs})

    async def stability(self, request: Request) -> Response:
        inquiry = await self._inquiry(request, "stability")
        await self._run(make_problem, inquiry.prepared, inquiry.state)  # or a refusal
        steps = answer.draw_selections(inquiry)
        return StreamingResponse(_lines(steps, inquiry.turn), media_type="application/x-ndjson")

    async def cancel(self, request: Request) -> Response:
        """End the answer to the last question on a topic."""
        await self._inquiry(request, request.path_params["topic"])
        return JSONResponse({"cancelled": True})

    async def save(self, request: Request) -> Response:
        write = WRITERS.get(request.path_params["what"])
        if write is None:
            return JSONResponse({"error": "There is no such file to save."}, status_code=404)
        inquiry = await self._inquiry(request, "save")
        content = await self._run(
            write, inquiry.prepared, inquiry.state, limiter=self._save_limiter
        )
        return Response(content, media_type="application/octet-stream")

    def answerer(self, topic: str) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint of a topic."""

        async def respond(request: Request) -> Response:
            inquiry = await self._inquiry(request, topic)

            def work() -> dict[str, Any]:
                inquiry.turn.check()  # it may have waited for a thread
                return TOPICS[topic](inquiry)

            limiter = self._solve_limiter if topic == "solve" else self._limiter
            found = await self._run(work, limiter=limiter)
            inquiry.turn.check()
            return JSONResponse({"number": inquiry.question.number} | found)

        return respond

    def _start(self, prepared: PreparedPatients, ridge: float) -> dict[str, Any]:
        state = prepared.first_state(ridge)
        return {"patients": prepared.describe(), "state": state.model_dump(mode="json")}

    def _session(self, request: Request) -> Session:
        return self._sessions.find(request.headers.get("x-session"))

    async def _inquiry(self, request: Request, topic: str) -> Inquiry:
        session = self._session(request)
        question = parse(PageRequest, await _settings(request))
        prepared = session.prepared
        if question.state.data != prepared.digest:
            raise InvalidProblemError("These settings belong to other data; reload the page.")
        check_names(question.state, prepared.design.names)
        turn = session.begin(topic, question.number, question.state)
        return Inquiry(prepared, question, turn)

    async def _run(
        self, work: Callable[..., Any], *arguments: Any, limiter: CapacityLimiter | None = None
    ) -> Any:
        return await to_thread.run_sync(work, *arguments, limiter=limiter or self._limiter)


def _lines(steps: Iterator[dict[str, Any]], turn: Turn) -> Iterator[str]:
    """Yield a line of JSON per step, until a newer request comes in."""
    try:
        for step in steps:
            turn.check()
            yield json.dumps(step) + "\n"
    except SupersededError:
        return
    except _REFUSALS as error:
        yield json.dumps({"error": str(error)}) + "\n"


async def _settings(request: Request) -> bytes:
    return await _body(request, _MOST_JSON_BYTES, "The settings have", "use fewer fees.")


async def _file(request: Request, most_bytes: int) -> bytes:
    advice = "keep only the rows and columns you need, or use `shortlist fit`."
    return await _body(request, most_bytes, "The file has", advice)


async def _body(request: Request, most_bytes: int, what: str, advice: str) -> bytes:
    """Return the body of a request, and stop reading as soon as it is too large."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most_bytes:
            raise InvalidFileError(f"{what} more than {most_bytes / 1e6:g} MB; {advice}")
        parts.append(part)
    return b"".join(parts)


def _file_name(request: Request) -> str:
    """Return the name of a file, which is shown and never opened."""
    name = unquote(request.headers.get("x-file-name", "")).strip()
    return "".join(c if c.isprintable() else "?" for c in name)[:80] or "the file"


def _error_answer(status: int, **content: object) -> Callable[..., Awaitable[Response]]:
    """Return a handler of errors; its answer is this content, or else the sentence of the error."""

    async def respond(request: Request, error: Exception) -> Response:
        return JSONResponse(content or {"error": str(error)}, status_code=status)

    return respond


class Guard:
    """Refuse requests of other sites, and add headers that isolate the page.

    `TrustedHostMiddleware`, in front of it, refuses sites whose name points at this machine.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{headers.get('host')}":
            refusal = PlainTextResponse("Another site may not use the explorer.", status_code=403)
            await refusal(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self._app(scope, receive, send_guarded)


class Connection(H11Protocol):
    """A connection that ends if its next request does not arrive, and while there are too many."""

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._patience = self.loop.call_later(_PATIENCE, transport.abort)
        if len(self.connections) > _MOST_CONNECTIONS:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Wait no more once the request is there, whatever its answer takes."""
        super().data_received(data)
        if self.conn.their_state in (h11.DONE, h11.MUST_CLOSE):
            self._patience.cancel()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._patience.cancel()
        self._patience = self.loop.call_later(_PATIENCE, self.transport.abort)
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._patience.cancel()
        super().connection_lost(exc)
