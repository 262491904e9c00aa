"""A server on this machine's loopback address: the files of a page, and the record that it sends.

Every address begins with a token that no other page knows. The record is data: the actions of a
person, which the kernel plays again."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event
from types import MappingProxyType
from typing import Any

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css",
    "js": "text/javascript",
    "json": "application/json",
    "f32": "application/octet-stream",
}
MOST = 1 << 24
"""Largest record, bytes."""
RECORD = "record"


class PlayServer(ThreadingHTTPServer):
    """Serves a page until it has sent a record.

    Args:
        files: name -> content of each file of the page.
        keep: called with the record, the parsed JSON; returns a line for the page. A `ValueError`
            refuses it, with its text.
        doors: name -> a function that answers the JSON that the page sends under this name with
            JSON. A `ValueError` refuses it.
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
        self.files, self.keep, self.doors, self.played = files, keep, doors, Event()
        self.token = secrets.token_urlsafe(24)
        self.address = f"http://127.0.0.1:{self.server_port}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    server: PlayServer
    timeout = 30
    # A page that plays step by step asks many times: one connection, without waiting for more.
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        name = self._name()
        content = None if name is None else self.server.files.get(name or "index.html")
        if name is None or content is None:
            self._answer(404, b"There is nothing here.")
        else:
            self._answer(200, content, TYPES[(name or "index.html").rpartition(".")[2]])

    def do_POST(self) -> None:
        size, name = self.headers.get("Content-Length", ""), self._name()
        if name != RECORD and name not in self.server.doors:
            self._answer(404, b"There is nothing here.")
        elif not size.isdecimal() or int(size) > MOST:
            self._answer(413, f"A record has at most {MOST} bytes.".encode())
        elif name == RECORD:
            self._keep(int(size))
        else:
            self._ask(self.server.doors[str(name)], int(size))

    def _keep(self, size: int) -> None:
        try:
            said = self.server.keep(json.loads(self.rfile.read(size)))
        except (ValueError, RecursionError, OSError) as error:
            self._answer(400, f"The record was not saved: {error}".encode())
        else:
            self._answer(200, said.encode())
            self.server.played.set()

    def _ask(self, door: Callable[[Any], Any], size: int) -> None:
        try:
            said = door(json.loads(self.rfile.read(size)))
        except (ValueError, RecursionError) as error:
            self._answer(400, f"The step was not played: {error}".encode())
        else:
            self._answer(200, json.dumps(said, allow_nan=False).encode(), TYPES["json"])

    def _name(self) -> str | None:
        """The name behind the token; None without the token, or for another site's requests."""
        # A site whose name was made to lead to this machine would send its own name as the host.
        if self.headers.get("Host") != f"127.0.0.1:{self.server.server_port}":
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
