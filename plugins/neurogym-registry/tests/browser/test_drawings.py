"""Drawings that the check accepts load nothing and run nothing when a browser opens them alone.

As a control, some drawings that it refuses do: the test would see them.
"""

from __future__ import annotations

import base64
import io
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from neurogym_registry.drawings import fault_of

PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c6360f8cf500f0003030100c9fe92ef0000000049454e44ae426082"
    )
).decode()
HTML = 'xmlns:h="http://www.w3.org/1999/xhtml"'


def svg(body: str, attributes: str = "") -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{body}</svg>'


SAFE = {
    "shapes": '<g transform="scale(2)"><rect width="9" height="9"/><circle r="3"/><ellipse rx="2" '
    'ry="1"/><line x2="9"/><polyline points="0,0 1,1"/><polygon points="0,0 1,1 0,1"/></g>',
    "path and text": '<path d="M0 0L9 9"/><text x="3" y="9">go <tspan dx="2">now</tspan></text>',
    "title and description": "<title>a trial</title><desc>two curves</desc>",
    "use": '<defs><rect id="a" width="9" height="9"/></defs><use href="#a"/><use href="#a" x="9"/>',
    "symbol": '<symbol id="s"><circle r="3"/></symbol><use href="#s"/>',
    "style": "<style>*{stroke-linejoin: round} .a{fill: #ccc}</style><rect class='a'/>",
    "gradient": '<linearGradient id="g"><stop offset="1" stop-color="red"/></linearGradient>'
    '<rect fill="url(#g)" width="9" height="9"/>',
    "radial gradient": '<radialGradient id="g"/><rect style="fill: url(#g)" width="9"/>',
    "pattern": '<pattern id="p" width="3" height="3"><rect width="1"/></pattern>'
    "<rect fill=\"url('#p')\" width='9' height='9'/>",
    "mask": '<mask id="m"><rect width="9"/></mask><rect mask="url(#m)" width="9" height="9"/>',
    "clip": '<clipPath id="c"><rect width="4"/></clipPath><rect clip-path="url(#c)" width="9"/>',
    "picture": f'<image href="data:image/png;base64,{PIXEL}" width="9" height="9"/>',
    "links to nothing": '<use href="#missing"/><rect fill="url(#missing)"/>',
    "space": '<text xml:space="preserve">a  b</text>',
    "metadata": '<metadata><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:d="http://purl.org/dc/elements/1.1/"><d:type r:resource="http://x/y"/></r:RDF></metadata>',
    "a thousand points": '<defs><circle id="p" r="1"/></defs>' + '<use href="#p" x="3"/>' * 1000,
    "words of scripts": "<text>javascript onload script</text>",
}
ACTIVE = {
    "script": "<script>fetch('@/hit')</script>",
    "script in metadata": f"<metadata><h:script {HTML}>fetch('@/hit')</h:script></metadata>",
    "image in metadata": f'<metadata><h:img {HTML} src="@/hit"/></metadata>',
    "image set": "<style>svg{background-image:image-set('@/hit' 1x)}</style><rect/>",
    "base": '<image href="hit" width="9" height="9" xml:base="@/"/>',
    "image": '<image href="@/hit" width="9" height="9"/>',
    "font": "<style>AT-font-face{font-family:a;src:url(@/hit)}text{font-family:a}</style>"
    "<text y='9'>a</text>",
}


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.drawings: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.address = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        data = self.server.drawings.get(self.path)
        self.send_response(404 if data is None else 200)
        self.send_header("Content-Type", "image/svg+xml")
        self.end_headers()
        self.wfile.write(data or b"")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def opened(browser: Any, server: Server, name: str, data: bytes) -> list[str]:
    """Open a drawing by itself; return the other requests that the server saw."""
    path = f"/{name.replace(' ', '-')}.svg"
    server.drawings[path] = data
    server.asked.clear()
    browser.get(server.address + path)
    before = browser.execute_script("return document.documentElement.outerHTML")
    # A frame later, everything that the drawing loads was asked for.
    browser.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => setTimeout(done, 30))"
    )
    assert browser.execute_script("return document.documentElement.outerHTML") == before
    return [one for one in server.asked if one not in (path, "/favicon.ico")]


@pytest.mark.parametrize("name", SAFE)
def test_an_accepted_drawing_loads_nothing(browser: Any, server: Server, name: str) -> None:
    data = svg(SAFE[name]).encode()
    assert fault_of(data) is None
    assert opened(browser, server, name, data) == []


def test_a_figure_of_matplotlib_is_accepted_and_loads_nothing(browser: Any, server: Server) -> None:
    from matplotlib.figure import Figure

    figure, file = Figure(), io.BytesIO()
    axes = figure.subplots()
    axes.scatter(range(500), range(500), label="trials")
    axes.imshow([[0, 1], [1, 0]])
    axes.legend()
    figure.savefig(file, format="svg")
    assert fault_of(file.getvalue()) is None
    assert opened(browser, server, "figure", file.getvalue()) == []


@pytest.mark.parametrize("name", ACTIVE)
def test_a_refused_drawing_would_have_loaded_something(
    browser: Any, server: Server, name: str
) -> None:
    data = svg(ACTIVE[name].replace("@/", server.address + "/").replace("AT-", "@")).encode()
    assert fault_of(data) is not None
    assert "/hit" in opened(browser, server, name, data)
