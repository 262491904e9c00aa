"""A server on this machine's loopback address: the files of a page, and the record that it sends.

Every address begins with a token that no other page knows. The record is data: the actions of a
person, which the kernel plays again. Steps that Python plays come over a WebSocket."""

from __future__ import annotations

import json
import logging
import secrets
import sys
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event
from types import MappingProxyType
from typing import Any

from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css",
    "js": "text/javascript",
    "json": "application/json",
    "f32": "application/octet-stream",
}
MOST = 1 << 24
"""Largest record, bytes."""
MOST_STEP = 1 << 16
"""Largest message of a WebSocket, bytes."""
RECORD, STEPS = "record", "steps"
"""Names of the address that takes the record, and of the WebSocket."""
SILENT = logging.Logger(__name__)
SILENT.addHandler(logging.NullHandler())
SELF = b"default-src 'self'"


class PlayServer(ThreadingHTTPServer):
    """Serves a page until it has sent a record.

    Args:
        files: name -> content of each file of the page.
        keep: called with the record, the parsed JSON; returns a line for the page. A `ValueError`
            refuses it, with its text.
        doors: name -> a function that answers the JSON that the page sends to this name over the
            WebSocket with JSON. A `ValueError` refuses it.
        port: the port; 0: any free one.

    Attributes:
        address: the address of the page, with its token.
        played: set when a record was kept, and the page has its answer.
    """

    daemon_threads = True

    def __init__(
        self,
        files: Mapping[str, bytes],
        keep: Callable[[Any], str],
        doors: Mapping[str, Callable[[Any], Any]] = MappingProxyType({}),
        port: int = 0,
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.files, self.keep, self.doors, self.played = dict(files), keep, doors, Event()
        self.token = secrets.token_urlsafe(24)
        self.host = f"127.0.0.1:{self.server_port}"
        self.address = f"http://{self.host}/{self.token}/"
        if doors and "index.html" in self.files:
            # Not every browser counts a WebSocket of the same host as "self".
            policy = SELF + f"; connect-src 'self' ws://{self.host}".encode()
            self.files["index.html"] = self.files["index.html"].replace(SELF, policy)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write nothing about a page that has gone: it was closed, or loaded again."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: PlayServer
    timeout = 30
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a step is a small message, and is not held back

    def do_GET(self) -> None:
        name = self._name()
        if name == STEPS and self.server.doors:
            self._talk()
            return
        content = None if name is None else self.server.files.get(name or "index.html")
        if name is None or content is None:
            self._answer(404, b"There is nothing here.")
        else:
            self._answer(200, content, TYPES[(name or "index.html").rpartition(".")[2]])

    def do_POST(self) -> None:
        size, name = self.headers.get("Content-Length", ""), self._name()
        if name != RECORD:
            self._answer(404, b"There is nothing here.")
        elif not size.isdecimal() or len(size) > len(str(MOST)) or int(size) > MOST:
            self._answer(413, f"A record has at most {MOST} bytes.".encode())
        else:
            self._keep(int(size))

    def _keep(self, size: int) -> None:
        try:
            said = self.server.keep(json.loads(self.rfile.read(size)))
        except (ValueError, RecursionError, OSError) as error:
            self._answer(400, f"The record was not saved: {error}".encode())
        else:
            self._answer(200, said.encode())
            self.server.played.set()

    def _talk(self) -> None:
        """Answer the messages of a page's WebSocket until it is closed."""
        # Other pages may open WebSockets to any host: their origin is another.
        if self.headers.get("Origin") != f"http://{self.server.host}":
            self._answer(404, b"There is nothing here.")
            return
        self.close_connection = True
        self.connection.settimeout(None)  # a person may pause
        talk = ServerProtocol(max_size=MOST_STEP, logger=SILENT)
        asked = [self.requestline, *(f"{name}: {value}" for name, value in self.headers.items())]
        talk.receive_data("\r\n".join([*asked, "", ""]).encode("latin-1"))
        for request in talk.events_received():
            talk.send_response(talk.accept(request))
        while self._sent(talk) and talk.state is not State.CLOSED:
            if data := self.connection.recv(1 << 16):
                talk.receive_data(data)
            else:
                talk.receive_eof()
            for frame in talk.events_received():
                self._step(talk, frame)

    def _sent(self, talk: ServerProtocol) -> bool:
        """Send the data of a WebSocket; return whether more may follow."""
        for data in talk.data_to_send():
            if not data:
                return False
            self.connection.sendall(data)
        return True

    def _step(self, talk: ServerProtocol, frame: Frame) -> None:
        """Answer a message: JSON with the name of a door, "to", and the value for it, "sent"."""
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return  # of the protocol itself, which has answered it
        if frame.opcode is not Opcode.TEXT or not frame.fin:
            talk.fail(1003)
            return
        try:
            message = json.loads(bytes(frame.data))
            said = {"said": self.server.doors[message["to"]](message["sent"])}
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            known = type(error) is ValueError or isinstance(error, json.JSONDecodeError)
            said = {
                "refused": f"The step was not played: {error if known else 'it has another form'}"
            }
        talk.send_text(json.dumps(said, allow_nan=False).encode())

    def _name(self) -> str | None:
        """The name behind the token; None without the token, or for another site's requests."""
        # A site whose name was made to lead to this machine would send its own name as the host.
        if self.headers.get("Host") != self.server.host or not self.path.startswith("/"):
            return None
        _, token, *name = self.path.split("/", 2)
        known = secrets.compare_digest(token.encode(), self.server.token.encode())
        return name[0] if known and name else None

    def _answer(self, status: int, content: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.close_connection |= status != 200  # the body of a refused request is not read
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Write nothing: the terminal shows the address and the record."""
