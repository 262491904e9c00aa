"""A server of scripted replies on this machine."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Scripted(ThreadingHTTPServer):
    """Answers with `said`: a function (path, body) -> (status, bytes or data for JSON)."""

    def __init__(self, said):
        super().__init__(("127.0.0.1", 0), Handler)
        self.said, self.requests = said, []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body, dict(self.headers)))
        status, data = self.server.said(self.path, body)
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def served():
    """Return a function that starts a server with replies."""
    servers = []

    def start(said):
        server = Scripted(said)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
