"""A server on loopback for one page; it serves only clients with the link.

A request must have the token of the link, the server's address as Host, and no foreign Origin. The answer to
any other request is 403. The link is valid for one process.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.message import Message
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from perhop.errors import PerhopError
from perhop.inputs import parsed_json
from perhop.viewing.hub import Hub

#: The only address on which the server listens.
LOOPBACK = "127.0.0.1"
# The maximum number of simultaneous connections, and the maximum silence of a connection during a read or a
# write, seconds.
_MOST_CONNECTIONS = 32
_PATIENCE_S = 10.0
# The maximum time in which a whole request must arrive.
_REQUEST_WITHIN_S = 5.0
_LONGEST_QUESTION = 4096
# The shortest and the longest time between events for a page; regular events detect a closed page.
_TELL_EVERY_S, _REMIND_EVERY_S = 0.04, 2.0
_TAKEN_WITHIN_S = 1.0
_TOKEN_BYTES = 32

#: The answer to a request of a page.
Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Server:
    """The server of the page, its events and its requests."""

    def __init__(self, hub: Hub, page: Callable[[str], str], answer: Answer) -> None:
        """Listen on a free port; `page` returns the page for a nonce of its scripts."""
        self._hub, self._page, self._answer = hub, page, answer
        self._token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._listening = _Listening(self)
        self._serving: threading.Thread | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        return LOOPBACK, int(self._listening.server_address[1])

    @property
    def link(self) -> str:
        """The link to the page."""
        return f"{self.origin}/?token={self._token}"

    @property
    def origin(self) -> str:
        """The origin of this server in a browser."""
        return f"http://{self.host}"

    @property
    def host(self) -> str:
        """The only accepted `Host` of requests."""
        return f"{LOOPBACK}:{self.address[1]}"

    def start(self) -> None:
        """Start to answer requests, in threads that end with the process."""
        self._serving = threading.Thread(target=self._listening.serve_forever, args=(0.2,), daemon=True)
        self._serving.start()

    def close(self) -> None:
        """Stop answering requests."""
        self._hub.end(_TAKEN_WITHIN_S)
        if self._serving is not None:
            self._listening.shutdown()
        self._listening.server_close()

    def allows(self, headers: Message, token: str, *, changes: bool) -> bool:
        """Whether a request comes from the page of the link."""
        # Compare bytes, because `compare_digest` does not accept text outside of ASCII.
        knows = hmac.compare_digest(token.encode(errors="replace"), self._token.encode())
        is_here = headers.get("Host") == self.host
        origin, site = headers.get("Origin"), headers.get("Sec-Fetch-Site")
        # A browser sends the Origin with every POST, and with requests of other pages.
        is_own = origin == self.origin or (origin is None and not changes)
        return knows and is_here and is_own and site in (None, "none", "same-origin")

    def page(self, nonce: str) -> str:
        """Return the page, which enters when its script runs."""
        self._hub.load()
        return self._page(nonce)

    def answer(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer a question."""
        return self._answer(question)

    def stream(self, write: Callable[[bytes], object]) -> None:
        """Send events to a page until the page or the server ends; raises `OSError` if the page is closed."""
        page = self._hub.enter()
        try:
            is_over = False
            while not is_over:
                # `is_over` is read before the events, so that all events until the end are sent.
                is_over = self._hub.is_over
                update = self._hub.take(page, _REMIND_EVERY_S)
                text = json.dumps(update, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
                write(f"data: {text}\n\n".encode())
                time.sleep(_TELL_EVERY_S)
        finally:
            self._hub.leave(page)


class _Listening(socketserver.ThreadingMixIn, HTTPServer):
    """The socket, with one thread for each connection and a limit on connections."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, server: Server) -> None:
        self.server = server
        self._lock = threading.Lock()
        # Connections whose request has not arrived, the oldest first, and connections with the token.
        self._unknown: dict[Any, None] = {}
        self._known: set[Any] = set()
        super().__init__((LOOPBACK, 0), _Handler)

    def server_bind(self) -> None:
        """Bind without the lookup of a name for the address, which `HTTPServer` makes."""
        socketserver.TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as socketserver has it
        """Serve a connection; above the limit, close the oldest connection that has not sent the token."""
        with self._lock:
            oldest = next(iter(self._unknown), None) if len(self._unknown) >= _MOST_CONNECTIONS else None
            if oldest is not None:
                self._unknown.pop(oldest)
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)
            self._unknown[request] = None
        super().process_request(request, client_address)

    def admit(self, request: Any) -> bool:  # noqa: ANN401 - as socketserver has it
        """Count a connection that has sent the token; `False` if there are too many."""
        with self._lock:
            self._unknown.pop(request, None)
            if len(self._known) < _MOST_CONNECTIONS:
                self._known.add(request)
            return request in self._known

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as socketserver has it
        """Serve a connection; end the connection if its request does not arrive in time."""
        late = threading.Timer(_REQUEST_WITHIN_S, self._end_if_unknown, (request,))
        late.daemon = True
        late.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            late.cancel()
            with self._lock:
                self._unknown.pop(request, None)
                self._known.discard(request)

    def _end_if_unknown(self, request: Any) -> None:  # noqa: ANN401 - as socketserver has it
        with self._lock:
            if request in self._unknown:
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as socketserver has it
        """Print one line for a fault of this program, and nothing for a connection that broke."""
        fault = sys.exc_info()[1]
        if not isinstance(fault, OSError):
            sys.stderr.write(f"perhop: the page got no answer: {type(fault).__name__}\n")


class _Handler(BaseHTTPRequestHandler):
    """One request. A connection has only one request."""

    timeout = _PATIENCE_S
    server: _Listening

    def do_GET(self) -> None:
        """Send the page, or its events."""
        if not self._is_allowed(changes=False):
            return
        match urlsplit(self.path).path:
            case "/":
                nonce = secrets.token_urlsafe(16)
                self._give("text/html; charset=utf-8", self.server.server.page(nonce).encode(), nonce)
            case "/events":
                self._begin("text/event-stream; charset=utf-8")
                with suppress(OSError):
                    self.server.server.stream(self._write)
            case _:
                self._refuse()

    def do_POST(self) -> None:
        """Answer a question."""
        length = self.headers.get("Content-Length", "")
        is_json = self.headers.get("Content-Type") == "application/json"
        is_short = length.isdecimal() and int(length) <= _LONGEST_QUESTION
        if not self._is_allowed(changes=True):
            return
        if not (is_json and is_short and urlsplit(self.path).path == "/ask"):
            self._refuse()
            return
        answer, status = self._answered(self.rfile.read(int(length)))
        # Encode as ASCII, because a request may contain half of a surrogate pair, which UTF-8 cannot encode.
        text = json.dumps(answer, allow_nan=False, separators=(",", ":"))
        self._give("application/json", text.encode(), status=status)

    def _answered(self, text: bytes) -> tuple[Mapping[str, Any], HTTPStatus]:
        try:
            question = parsed_json(text)
            if not isinstance(question, dict):
                raise TypeError("expected an object")
            return self.server.server.answer(question), HTTPStatus.OK
        except PerhopError as error:
            return {"error": {"message": str(error)}}, HTTPStatus.BAD_REQUEST
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            return {"error": {"message": f"not a question: {error}"}}, HTTPStatus.BAD_REQUEST

    def _is_allowed(self, *, changes: bool) -> bool:
        """Whether the request is allowed; otherwise this method refuses it."""
        try:
            given = parse_qs(urlsplit(self.path).query).get("token", [""])
        except ValueError:  # such as `//[`, which is not an address
            given = [""]
        allowed = self.server.server.allows(self.headers, given[0], changes=changes)
        allowed = allowed and self.server.admit(self.connection)
        if not allowed:
            self._refuse()
        return allowed

    def _refuse(self) -> None:
        """Answer only with 403."""
        self.close_connection = True
        with suppress(OSError):
            self.wfile.write(b"HTTP/1.0 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer malformed requests and other methods with 403, like forbidden requests."""
        self._refuse()

    def _give(
        self, kind: str, body: bytes, nonce: str | None = None, status: HTTPStatus = HTTPStatus.OK
    ) -> None:
        with suppress(OSError):
            self._begin(kind, nonce, len(body), status)
            self.wfile.write(body)

    def _begin(
        self,
        kind: str,
        nonce: str | None = None,
        length: int | None = None,
        status: HTTPStatus = HTTPStatus.OK,
    ) -> None:
        scripts = f"'nonce-{nonce}'" if nonce else "'none'"
        lines = {
            "Content-Type": kind,
            "Cache-Control": "no-store",
            "Connection": "close",
            "Content-Security-Policy": f"default-src 'none'; script-src {scripts}; connect-src 'self'; "
            "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        if length is not None:
            lines["Content-Length"] = str(length)
        self.send_response_only(status)
        for name, value in lines.items():
            self.send_header(name, value)
        self.end_headers()

    def _write(self, part: bytes) -> None:
        self.wfile.write(part)
        self.wfile.flush()

    def log_message(self, format: str, *arguments: object) -> None:
        """Print no log, because the terminal shows the results."""
