"""Sessions, limits, and what the server refuses."""

import json
import logging
import re
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event, Thread
from time import sleep
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

import anyio
import numpy as np
import pandas as pd
import pytest
from explorer_page import Page, table_of
from starlette.testclient import TestClient

import shortlist as sl
import shortlist.explorer
from shortlist.choice import near_optimal, record
from shortlist.errors import InvalidProblemError, ShortlistWarning
from shortlist.explorer import PreparedPatients, answer, session
from shortlist.explorer.app import make_app
from shortlist.explorer.model import make_problem
from shortlist.explorer.prepared import Upload, UploadChoice, prepare_upload, read_upload
from shortlist.explorer.serve import _fragment, listening_server, serve
from shortlist.explorer.session import (
    Inquiry,
    Session,
    SessionEndedError,
    Sessions,
    SupersededError,
)
from shortlist.explorer.state import PageRequest

STATIC = Path(shortlist.explorer.__file__).parent / "static"


def test_a_state_survives_a_link_and_a_file(prepared, page):
    page.state |= {"budget": 13.5, "must": ["uninformative_3"], "never": ["informative_1"]}
    page.state["fees"] = [{"amount": 1.25, "members": ["informative_5", "redundant_1"]}]
    first = page.ask("solve")
    other = Page(page.client)
    other.state = json.loads(json.dumps(page.state))
    assert other.ask("solve")["predictors"] == first["predictors"]
    fragment = _fragment(json.dumps(page.state), prepared)
    assert re.fullmatch("[A-Za-z0-9_-]+", fragment)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"budget": -1}, "budget"),
        ({"budget": "much"}, "budget"),
        ({"budget": 1e10}, "budget"),
        ({"count": 10**9}, "count"),
        ({"fees": [{"amount": 1e10, "members": []}]}, "fees"),
        ({"fees": [{"amount": 1, "members": []}] * 1001}, "fees"),
        ({"ridge": 0}, "ridge"),
        ({"limit": "time"}, "limit"),
        ({"version": 2}, "version"),
        ({"extra": 1}, "extra"),
        ({"must": ["nobody"]}, "other predictors"),
        ({"costs": {"informative_1": 1}}, "other predictors"),
        ({"must": ["redundant_1"], "never": ["redundant_1"]}, "redundant_1"),
    ],
)
def test_wrong_settings_get_one_sentence(page, change, words):
    error = page.ask("solve", status=400, **change)["error"]
    assert words in error
    assert error.count("\n") == 0


def test_settings_for_other_data_are_told(prepared, page):
    assert "other data" in page.ask("solve", status=400, data="0" * 64)["error"]
    with pytest.raises(InvalidProblemError, match="other data"):
        _fragment(json.dumps(page.state | {"data": "0" * 64}), prepared)


def test_more_must_be_bought_than_the_limit_allows(page):
    must = ["uninformative_6", "informative_3"]
    assert (
        "cost 20, more than the budget of 5;"
        in page.ask("solve", status=400, must=must, budget=5)["error"]
    )
    error = page.ask("solve", status=400, limit="count", count=1)["error"]
    assert error.startswith("2 predictors are required but only 1 may be bought")


def test_a_session_never_sees_another_s_data(client):
    mine, yours = Page(client), Page(client)
    mine.load(table_of(60).to_csv(index=False), "fate", "dead")
    assert {entry["name"] for entry in mine.prepared["predictors"]} == {
        "age", "sex", "grade", "smoker"
    }  # fmt: skip
    assert yours.prepared["rows"] == 1090
    assert "other data" in yours.post("solve", {"number": 9, "state": mine.state}).json()["error"]
    assert Page(client).prepared["rows"] == 1090
    assert Page(client, earlier=mine.session).prepared["rows"] == 60
    assert Page(client, earlier="guess").prepared["rows"] == 1090


def test_an_upload_counts_until_it_is_used(client, prepared, monkeypatch):
    mine, yours = Page(client), Page(client)
    monkeypatch.setattr(session, "MOST_BYTES", prepared.n_bytes + 1000)
    yours.post("upload", table_of(500).to_csv(index=False).encode())
    mine.ask("solve", status=410)
    yours.ask("solve")


def test_columns_that_hold_one_value_are_told(page):
    with pytest.warns(ShortlistWarning, match="cannot be bought"):
        page.load(table_of(60).assign(site="A").to_csv(index=False), "fate", "dead")
    assert page.prepared["left_out"] == ["site"]


def test_an_unknown_session_is_told_to_load_the_page(page):
    page.session = "guess"
    assert "reload the page" in page.ask("solve", status=410)["error"]


def test_a_lower_number_is_superseded(page):
    page.ask("solve", number=7)
    assert page.ask("solve", number=3, status=409) == {"superseded": True}
    page.ask("staircase", number=4)  # numbers count for one topic


def test_a_running_solve_ends_when_a_newer_one_comes(prepared, monkeypatch):
    monkeypatch.setattr("shortlist.native.search._FIRST_SLICE", 0)
    mine, state = Session(prepared), prepared.first_state()
    turn = mine.begin("solve", 1, state)
    mine.fit(prepared, state, turn)
    mine.begin("solve", 2, state)
    with pytest.raises(SupersededError):
        mine.fit(prepared, prepared.first_state(ridge=0.5), turn)
    with pytest.raises(SupersededError):
        mine.begin("solve", 1, state)


def test_other_settings_end_what_depends_on_them(prepared):
    mine, state = Session(prepared), prepared.first_state()
    turns = {
        topic: mine.begin(topic, number, state)
        for number, topic in enumerate(["staircase", "substitutes", "alternatives"], start=1)
    }
    mine.begin("patient", 4, state)
    adopted = state.model_copy(update={"adopted": ("informative_1",)})
    mine.begin("solve", 5, adopted)
    for topic in ("staircase", "substitutes"):
        turns[topic].check()
    with pytest.raises(SupersededError):
        turns["alternatives"].check()
    mine.begin("solve", 6, state.model_copy(update={"budget": 3.0}))
    turns["staircase"].check()  # it is the same at every budget
    with pytest.raises(SupersededError):
        turns["substitutes"].check()
    mine.begin("solve", 7, prepared.first_state(ridge=0.5))
    with pytest.raises(SupersededError):
        turns["staircase"].check()


def test_a_model_is_fitted_once_however_many_ask(prepared, monkeypatch):
    fitted, both_asked = [], Barrier(2)

    def fit_state(*arguments):
        fitted.append(arguments)
        sleep(0.05)
        return fit_state_of_the_library(*arguments)

    def ask(topic):
        turn = mine.begin(topic, 1, state)
        both_asked.wait()
        return mine.fit(prepared, state, turn)

    fit_state_of_the_library = session.fit_state
    monkeypatch.setattr(session, "fit_state", fit_state)
    mine, state = Session(prepared), prepared.first_state()
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(ask, ["solve", "performance"])
    assert first is second
    adopted = state.model_copy(update={"adopted": ()})
    assert mine.fit(prepared, adopted, mine.begin("solve", 2, adopted)).best is first.best
    assert len(fitted) == 1


def test_who_waits_for_a_fit_that_ends_fits_himself(prepared, monkeypatch):
    def fit_state(*arguments):
        monkeypatch.setattr(session, "fit_state", fit_state_of_the_library)
        sleep(0.05)
        raise SupersededError

    fit_state_of_the_library = session.fit_state
    monkeypatch.setattr(session, "fit_state", fit_state)
    mine, state = Session(prepared), prepared.first_state()
    turns = [mine.begin(topic, 1, state) for topic in ("solve", "performance")]
    with ThreadPoolExecutor(2) as threads:
        jobs = [threads.submit(mine.fit, prepared, state, turn) for turn in turns]
    assert {type(job.exception()) for job in jobs} == {SupersededError, type(None)}


def test_the_fit_used_last_is_kept(prepared):
    mine = Session(prepared)
    states = [prepared.first_state(ridge=ridge) for ridge in (1.0, 2.0, 3.0, 4.0, 5.0)]

    def fit(number, state):
        return mine.fit(prepared, state, mine.begin("solve", number, state))

    first, second, *_ = [fit(i, state) for i, state in enumerate(states[:4])]
    assert fit(4, states[0]) is first
    fit(5, states[4])
    assert fit(6, states[0]) is first
    assert fit(7, states[1]) is not second


def test_a_fit_for_the_data_before_is_not_kept(prepared, monkeypatch):
    def fit_state(*arguments):
        mine.use(other)
        return fit_state_of_the_library(*arguments)

    fit_state_of_the_library = session.fit_state
    monkeypatch.setattr(session, "fit_state", fit_state)
    mine, other, state = Session(prepared), replace(prepared), prepared.first_state()
    turn = mine.begin("solve", 1, state)
    assert mine.fit(prepared, state, turn) is not mine.fit(other, state, turn)


def test_a_page_that_is_loaded_again_leaves_no_upload_behind(prepared):
    sessions = Sessions(prepared)
    name, mine = sessions.open(None)
    mine.upload = read_upload("table.csv", table_of(20).to_csv(index=False).encode())
    sessions.open(name)
    assert mine.upload is None


def test_data_prepared_in_another_way_are_other_data(prepared):
    patients = prepared.patients
    persons = pd.Series(range(len(patients.events))) // 2
    ways = [
        PreparedPatients.prepare("again", patients),
        PreparedPatients.prepare("curved", patients, preparation=sl.Preparation(spline_knots=3)),
        PreparedPatients.prepare(
            "gaps", patients, preparation=sl.Preparation(missing_indicator=True)
        ),
        PreparedPatients.prepare("pairs", replace(patients, persons=persons)),
        PreparedPatients.prepare("triples", replace(patients, persons=persons // 2)),
    ]
    assert ways[0].digest == prepared.digest
    assert len({way.digest for way in ways}) == len(ways)


def test_prices_of_the_command_are_limited_too(prepared):
    with pytest.raises(InvalidProblemError, match="costs: no price may be above 1000000000"):
        PreparedPatients.prepare("dear", prepared.patients, costs={"informative_1": 1e10})
    dear = PreparedPatients.prepare(
        "dear", prepared.patients, costs=dict.fromkeys(prepared.costs, 1e9)
    )
    assert dear.first_state().budget == 1e9


def test_stability_of_settings_without_a_model_gets_one_sentence(page):
    error = page.ask("stability", status=400, must=["uninformative_6"], budget=3)["error"]
    assert "cost 10, more than the budget of 3" in error


def test_a_refusal_in_the_middle_of_the_resamples_is_a_line(page, monkeypatch):
    def draw(*arguments):
        yield {"done": 1}
        raise InvalidProblemError("That is too much.")

    monkeypatch.setattr(answer, "draw_selections", draw)
    text = page.post("stability", {"number": 1, "state": page.state}).text
    assert [json.loads(line) for line in text.splitlines()] == [
        {"done": 1}, {"error": "That is too much."}
    ]  # fmt: skip


def test_the_session_that_rested_longest_ends_first(prepared, monkeypatch):
    monkeypatch.setattr(session, "MOST_SESSIONS", 3)
    sessions = Sessions(prepared)
    names = [sessions.open(None)[0] for _ in range(3)]
    sessions.find(names[0])
    sessions.open(None)
    assert len(sessions) == 3
    sessions.find(names[0])
    with pytest.raises(SessionEndedError):
        sessions.find(names[1])


def test_data_of_all_sessions_together_are_limited(prepared, monkeypatch):
    monkeypatch.setattr(session, "MOST_BYTES", int(1.5 * prepared.n_bytes))
    sessions = Sessions(prepared)
    for _ in range(4):
        sessions.open(None)
    assert len(sessions) == 4  # they share the data they start with
    frame = prepared.patients.predictors.assign(outcome=prepared.patients.events)
    other = prepare_upload(Upload("copy", frame, 0), UploadChoice(outcome="outcome", event="1"))
    _, newest = sessions.open(None)
    newest.use(other)
    sessions.make_room()
    assert len(sessions) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\x00\x01\x02,\x03\n\x04,\x05\n", "binary"),
        (b"a,b\n1,2\n3\n", "row 2 has 1 cells"),
        (b"a,a\n1,2\n", "two columns are named 'a'"),
        (b"caf\xe9,b\n1,2\n", "not UTF-8"),
        (b"a\n1\n2\n", "one column"),
        (b"a,b\n", "no rows"),
        (b"," * 5000 + b"\n", "more than 1000 columns"),
    ],
)
def test_a_broken_file_gets_one_sentence(page, content, words):
    response = page.post("upload", content, **{"x-file-name": "my%20data.csv"})
    assert response.status_code == 400
    error = response.json()["error"]
    assert words in error
    assert error.startswith("my data.csv: ")
    assert "/" not in error.replace("my data.csv", "")
    page.ask("solve")  # the data from before are still there


@pytest.mark.parametrize(
    ("outcome", "event", "words"),
    [
        ("grade", "1", "must have 2 different values"),
        ("fate", "gone", "Event: 'gone' is not a value"),
        ("fat", "dead", "there is no column 'fat' for the outcome"),
    ],
)
def test_an_outcome_that_is_none_gets_one_sentence(page, outcome, event, words):
    page.post("upload", table_of(40).to_csv(index=False).encode())
    response = page.post("patients", {"outcome": outcome, "event": event})
    assert response.status_code == 400
    assert words in response.json()["error"]


def test_prices_from_a_file(page):
    response = page.post("prices", b"predictor,cost\ninformative_1,4.5\n")
    assert response.json() == {"costs": {"informative_1": 4.5}}
    response = page.post("prices", b"nobody,4.5\n", **{"x-file-name": "prices.csv"})
    assert "there is no predictor 'nobody'" in response.json()["error"]
    response = page.post("prices", b"informative_1,1e10\n", **{"x-file-name": "prices.csv"})
    assert "prices.csv: no price may be above 1000000000" in response.json()["error"]


def test_prices_of_columns_that_are_no_predictors_are_left_out(page):
    page.load(table_of(60).to_csv(index=False), "fate", "dead", exclude=["grade"])
    response = page.post("prices", b"age,2\ngrade,3\n")
    assert response.json() == {"costs": {"age": 2.0}}


def test_data_without_predictors_are_told_in_words_of_the_page(page):
    page.post("upload", table_of(40).to_csv(index=False).encode(), **{"x-file-name": "t.csv"})
    choice = {"outcome": "fate", "event": "dead", "exclude": ["age", "sex", "grade", "smoker"]}
    assert page.post("patients", choice).json()["error"].startswith("t.csv: no predictor is left")


def test_a_file_that_is_too_large_is_not_read(page, monkeypatch):
    monkeypatch.setattr(shortlist.explorer.app, "MOST_UPLOAD_BYTES", 1000)
    response = page.post("upload", b"a,b\n" + b"1,2\n" * 1000)
    assert response.status_code == 400
    assert "The file has more than 0.001 MB" in response.json()["error"]
    monkeypatch.setattr(shortlist.explorer.app, "_MOST_JSON_BYTES", 100)
    assert "The settings have more than" in page.ask("solve", status=400)["error"]


def test_names_travel_as_they_are(page):
    name = '<img src=x onerror="alert(1)">'
    frame = table_of(80).rename(columns={"age": name, "sex": "__proto__"})
    page.load(frame.to_csv(index=False), "fate", "dead")
    assert name in [entry["name"] for entry in page.prepared["predictors"]]
    assert page.ask("solve", must=[name])["predictors"][0] == name


def test_only_this_machine_may_ask(prepared, page):
    rebound = TestClient(make_app(prepared), base_url="http://evil.example")
    assert rebound.post("/api/session", content="{}").status_code == 400
    for origin in ("http://evil.example", "null", "https://127.0.0.1"):
        assert page.post("session", {}, origin=origin).status_code == 403
    assert page.post("session", {}, origin="http://127.0.0.1").status_code == 200


def test_without_the_key_there_is_nothing(prepared):
    client = TestClient(make_app(prepared, key="secret"), base_url="http://127.0.0.1")
    for path in ("/", "/index.html", "/wrong/", "/wrong/api/session"):
        assert client.get(path).status_code == 404
    assert client.get("/secret/").status_code == 200
    assert client.post("/secret/api/session", content="{}").status_code == 200


@pytest.mark.parametrize(
    "path", ["/../app.py", "/%2e%2e/app.py", "/..%2fapp.py", "/static/../../app.py", "/app.py"]
)
def test_no_file_outside_the_page_is_served(client, path):
    assert client.get(path).status_code == 404


def test_the_page_loads_only_its_own_files(client):
    response = client.get("/")
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for file in STATIC.iterdir():
        text = file.read_text(encoding="utf-8")
        own = text.replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in own
        assert "https:" not in own
        assert "innerHTML" not in text
        assert client.get(f"/{file.name}").status_code == 200
    for linked in re.findall(r'(?:src|href)="([^"#]+)"', response.text):
        assert (STATIC / linked).is_file()


def test_wrong_json_and_unknown_files(page):
    assert page.post("solve", b"{").status_code == 400
    assert page.post("solve", b'{"number": NaN}').status_code == 400
    assert page.ask("save/secret", status=404)


def test_what_is_asked_can_be_cancelled(prepared, monkeypatch):
    """A list of alternatives that never ends by itself ends when the page cancels it."""
    running = Event()

    def list_forever(problem, tolerance, limit, *, time_limit, callback):
        running.set()
        while True:
            callback(None)

    monkeypatch.setattr("shortlist.explorer.answer.near_optimal", list_forever)
    with TestClient(make_app(prepared), base_url="http://127.0.0.1") as client:
        page = Page(client)
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(page.ask, "alternatives", number=5, status=409)
            assert running.wait(20)
            page.ask("cancel/alternatives", number=6)
            assert asked.result(20) == {"superseded": True}


def test_a_near_optimal_list_calls_back_and_ends_with_what_that_raises(prepared, monkeypatch):
    problem = make_problem(prepared, prepared.first_state())
    solve = record.solve

    def quietly(*arguments, callback, **options):
        return solve(*arguments, **options)

    def stop(progress):
        raise SupersededError

    monkeypatch.setattr(record, "solve", quietly)
    monkeypatch.setattr("shortlist.native.search._FIRST_SLICE", 0)
    with pytest.raises(SupersededError):
        near_optimal(problem, 0.05, callback=stop)


def test_a_tuning_ends_with_other_limits_but_not_with_another_ridge(prepared):
    mine, state = Session(prepared), prepared.first_state()
    turn = mine.begin("tune", 1, state)
    mine.begin("solve", 2, state.model_copy(update={"ridge": 0.5}))
    turn.check()
    mine.begin("solve", 3, state.model_copy(update={"budget": 3.0}))
    with pytest.raises(SupersededError):
        answer.tune_ridge(Inquiry(prepared, PageRequest(number=1, state=state), turn))


@pytest.mark.parametrize("name", ["t.xlsx", "t.csv", "renamed"])
def test_a_workbook_can_be_loaded(page, tmp_path, name):
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        table_of(60).to_excel(book, sheet_name="all", index=False)
        pd.DataFrame({"x": [1]}).to_excel(book, sheet_name="other", index=False)
    content = (tmp_path / "t.xlsx").read_bytes()
    described = page.post("upload", content, **{"x-file-name": name}).json()
    assert described["rows"] == 60
    assert described["notes"] == [f"{name}: only the first of 2 sheets, 'all', is read."]
    page.load(content, "fate", "dead")
    assert page.prepared["rows"] == 60
    prices = tmp_path / "p.xlsx"
    pd.DataFrame({"predictor": ["age"], "cost": [2.5]}).to_excel(prices, index=False)
    assert page.post("prices", prices.read_bytes()).json() == {"costs": {"age": 2.5}}


@pytest.mark.parametrize(
    ("values", "event"), [("ja nein", "ja"), ("die live", "die"), ("0 1", "1"), ("x y", None)]
)
def test_the_event_that_is_proposed_is_that_of_the_command_line(page, values, event):
    first, second = values.split()
    rows = [f"{i},{first if i % 3 else second}" for i in range(20)]
    text = "\n".join(["age,fate", *rows])
    columns = page.post("upload", text.encode()).json()["columns"]
    assert {column["name"]: column["event"] for column in columns} == {"age": None, "fate": event}


def test_a_workbook_is_not_searched_for_delimiters(page):
    content = b"PK\x03\x04" + 2000 * b","
    answer = page.post("upload", content, **{"x-file-name": "p.xlsx"})
    assert answer.status_code == 400
    assert "is not an Excel workbook" in answer.json()["error"]


def test_a_page_that_leaves_during_an_upload_is_no_error(prepared):
    """The server neither raises nor logs when the connection ends before the file."""
    app = make_app(prepared)
    messages = [
        {"type": "http.request", "body": b"age,sex", "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent = []

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    async def run():
        scope = {
            **{"type": "http", "method": "POST", "path": "/api/session", "raw_path": b""},
            **{"query_string": b"", "root_path": "", "http_version": "1.1", "scheme": "http"},
            **{"headers": [(b"host", b"127.0.0.1")], "server": ("127.0.0.1", 80), "client": None},
        }
        await app(scope, receive, send)

    anyio.run(run)
    assert sent[0]["status"] == 400


@pytest.mark.parametrize("budget", [None, 12.5])
def test_the_budget_of_the_command_is_where_the_slider_starts(prepared, budget):
    started = PreparedPatients.prepare("p", prepared.patients, costs=prepared.costs, budget=budget)
    expected = np.ceil(sum(prepared.costs.values()) / 3)
    assert started.first_state().budget == (expected if budget is None else budget)
    assert started.first_state().limit == "budget"


@pytest.fixture
def running(prepared):
    """A server on a port of its own, and its address."""
    with listening_server(prepared, 1.0, 0) as (server, listener, address):
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield address
        server.should_exit = True
        thread.join(10)


def connect(address, request=b""):
    connection = socket.create_connection(("127.0.0.1", urlsplit(address).port), timeout=10)
    connection.sendall(request)
    return connection


@pytest.mark.parametrize(
    "request_",
    [b"", b"GET / HT", b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nabc"],
)
def test_a_request_that_does_not_arrive_is_given_up(running, monkeypatch, request_):
    monkeypatch.setattr(shortlist.explorer.app, "_PATIENCE", 0.2)
    with connect(running, request_) as connection:
        while True:  # an answer may come, but then the end does, before the timeout of the socket
            try:
                if not connection.recv(1000):
                    break
            except ConnectionResetError:
                break
    assert urlopen(running).status == 200


def test_connections_are_limited_in_number(running, monkeypatch):
    monkeypatch.setattr(shortlist.explorer.app, "_MOST_CONNECTIONS", 3)
    first = [connect(running) for _ in range(3)]
    another = connect(running, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    with suppress(ConnectionResetError):
        assert another.recv(1000) == b""
    for connection in (*first, another):
        connection.close()


def test_messages_end(running, caplog):
    logger = logging.getLogger("uvicorn.error")
    with caplog.at_level(logging.WARNING):
        logger.addHandler(caplog.handler)
        for _ in range(300):
            logger.warning("Invalid HTTP request received.")
        logger.removeHandler(caplog.handler)
    texts = {record.getMessage() for record in caplog.records}
    assert 0 < len(caplog.records) <= 200  # the handler hears of each once or twice
    assert any(text.endswith("Further messages are not shown.") for text in texts)


def test_no_key_is_on_the_command_line_of_the_browser(prepared, monkeypatch):
    opened = {}

    def open_page(address):
        path = Path(unquote(urlsplit(address).path))
        opened.update(address=address, page=path.read_text(), folder=path.parent.stat().st_mode)

    monkeypatch.setattr("webbrowser.open", open_page)
    monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: None)
    told = []
    serve(prepared, announce=told.append)
    key = urlsplit(told[0]).path.strip("/")
    assert len(key) > 20
    assert key not in opened["address"]
    assert f"url={told[0]}" in opened["page"]
    assert stat.S_IMODE(opened["folder"]) == 0o700
