"""Access to a live view: only clients on this machine that have its link."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from perhop.errors import InvalidInputError
from perhop.viewing.hub import MOST_KEPT, MOST_WAITING, Hub
from perhop.viewing.server import Server


def answer(question: Mapping[str, Any]) -> Mapping[str, Any]:
    if question["ask"] == "bad":
        raise InvalidInputError("that is bad")
    return {"asked": question["ask"]}


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(Hub(), lambda nonce: f"<p>the page, {nonce}</p>", answer)
    server.start()
    yield server
    server.close()


def request(
    server: Server,
    method: str = "GET",
    path: str = "/",
    *,
    token: str | None = None,
    body: str | None = None,
    **headers: str,
) -> tuple[int, dict[str, str], bytes]:
    """The answer to a request of the page, with the given changes."""
    own = server.link.partition("token=")[2]
    given = {"Host": server.host, **({"Origin": server.origin} if method == "POST" else {})}
    given |= {"Content-Type": "application/json"} if body is not None else {}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection(*server.address, timeout=20)
    connection.putrequest(method, f"{path}?token={own if token is None else token}", skip_host=True)
    for name, value in given.items():
        if value:
            connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body.encode() if body is not None else None)
    found = connection.getresponse()
    read = b"" if found.headers["Content-Type"] == "text/event-stream; charset=utf-8" else found.read()
    connection.close()
    return found.status, dict(found.headers.items()), read


def test_the_link_opens_the_page(server: Server) -> None:
    status, headers, body = request(server)
    assert status == 200
    assert body.startswith(b"<p>the page, ")
    nonce = body.partition(b", ")[2].partition(b"<")[0].decode()
    policy = headers["Content-Security-Policy"]
    assert f"script-src 'nonce-{nonce}'" in policy
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert not any(name.startswith("Access-Control") or name == "Server" for name in headers)
    assert nonce not in request(server)[2].decode(), "another one each time"


REFUSED: list[dict[str, Any]] = [
    {"token": ""},
    {"token": "x"},
    {"token": "%C3%A9"},
    {"Host": "localhost:80"},
    {"Host": "evil.example"},
    {"Host": "127.0.0.1"},
    {"Host": ""},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Sec_Fetch_Site": "cross-site"},
    {"Sec_Fetch_Site": "same-site"},
]


@pytest.mark.parametrize("path", ["/", "/events", "/ask"])
@pytest.mark.parametrize("wrong", REFUSED, ids=str)
def test_other_requests_get_an_empty_403(server: Server, path: str, wrong: dict[str, Any]) -> None:
    asked = {"method": "POST", "body": '{"ask": "x"}'} if path == "/ask" else {"method": "GET"}
    status, headers, body = request(server, path=path, **asked, **wrong)
    assert (status, body) == (403, b"")
    assert set(headers) == {"Content-Length", "Connection"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"Origin": ""},
        {"Content_Type": "text/plain"},
        {"path": "/"},
        {"path": "/ask/"},
        {"method": "PUT"},
        {"method": "OPTIONS"},
        {"method": "HEAD"},
    ],
    ids=str,
)
def test_only_the_page_can_post_requests(server: Server, wrong: dict[str, str]) -> None:
    asked = {"method": "POST", "path": "/ask", "body": '{"ask": "x"}'}
    assert request(server, **asked)[0] == 200
    status, _, body = request(server, **(asked | wrong))
    assert (status, body) == (403, b"")


def test_valid_requests_are_answered_and_invalid_ones_refused(server: Server) -> None:
    def ask(body: str) -> tuple[int, Any]:
        status, _, text = request(server, "POST", "/ask", body=body)
        return status, json.loads(text)

    assert ask('{"ask": "x"}') == (200, {"asked": "x"})
    status, answer = ask('{"ask": "bad"}')
    assert (status, answer["error"]["message"]) == (400, "that is bad")
    for malformed in ("", "[]", "{", '{"no": 1}', "\x00"):
        assert ask(malformed)[0] == 400
    assert request(server, "POST", "/ask", body=" " * 5000)[0] == 403


def test_the_server_listens_on_loopback_only(server: Server) -> None:
    host, port = server.address
    assert host == "127.0.0.1"
    listening = server._listening.socket
    assert listening.getsockname() == ("127.0.0.1", port)
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)}
    for address in [*(others - {"127.0.0.1"}), "127.0.0.2"]:
        with socket.socket() as trying:
            trying.settimeout(2)
            assert trying.connect_ex((str(address), port)) != 0, address


def test_two_servers_have_two_tokens(server: Server) -> None:
    other = Server(Hub(), lambda nonce: "", answer)
    try:
        assert other.link.partition("token=")[2] != server.link.partition("token=")[2]
        assert len(other.link.partition("token=")[2]) >= 43, "256 bits"
    finally:
        other.close()


def test_events_are_reported_as_they_happen() -> None:
    hub = Hub()
    server = Server(hub, lambda nonce: "", answer)
    server.start()
    hub.publish("started", {"name": "first"})
    hub.frame({"at": 1})
    with socket.create_connection(server.address, timeout=20) as connection:
        token = server.link.partition("token=")[2]
        connection.sendall(f"GET /events?token={token} HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
        lines = connection.makefile("r", encoding="utf-8")
        event = next(line for line in lines if line.startswith("data: "))
        assert json.loads(event[6:]) == {"started": {"name": "first"}, "frames": [{"at": 1}], "left_out": 0}
        hub.publish("done", {"summary": 1})
        event = next(line for line in lines if line.startswith("data: "))
        assert json.loads(event[6:]) == {"done": {"summary": 1}}
    server.close()


def test_a_page_that_does_not_read_delays_nothing() -> None:
    hub = Hub()
    page = hub.enter()
    for at in range(10_000):
        hub.frame({"at": at})
        hub.publish("state", {"at": at})
    taken = hub.take(page, 0.0)
    assert [frame["at"] for frame in taken["frames"]] == [*range(10_000 - MOST_WAITING, 10_000)]
    assert taken["left_out"] == 10_000 - MOST_WAITING, "and the page receives the number"
    assert taken["state"] == {"at": 9999}
    assert hub.take(page, 0.0) == {}
    later = hub.take(hub.enter(), 0.0)["frames"]
    assert len(later) <= MOST_KEPT
    assert later[-1]["at"] == 9999, "the newest is kept"
    assert [frame["at"] for frame in later] == sorted(frame["at"] for frame in later)


def test_the_server_stays_while_a_page_is_open() -> None:
    hub = Hub()
    page = hub.enter()
    staying = threading.Thread(target=hub.wait_until_left, args=(60.0, 0.05), daemon=True)
    staying.start()
    staying.join(0.3)
    assert staying.is_alive()
    hub.leave(page)
    staying.join(20)
    assert not staying.is_alive()
    hub.wait_until_left(60.0, 0.0)


def test_the_server_ends_after_the_last_page_closes() -> None:
    hub = Hub()
    staying = threading.Thread(target=hub.wait_until_left, args=(600.0, 0.05), daemon=True)
    staying.start()
    staying.join(0.1)
    hub.leave(hub.enter())
    staying.join(20)
    assert not staying.is_alive(), "it does not go on to wait for the first one"


def test_it_waits_for_a_page_that_loads_slowly() -> None:
    """After its document is loaded, a second page has more time to load its script than to be opened."""
    hub = Hub()
    hub.leave(hub.enter())
    hub.load()
    staying = threading.Thread(target=hub.wait_until_left, args=(60.0, 0.05), daemon=True)
    staying.start()
    staying.join(0.5)
    assert staying.is_alive()
    page = hub.enter()
    staying.join(0.2)
    assert staying.is_alive()
    hub.leave(page)
    staying.join(20)
    assert not staying.is_alive()
