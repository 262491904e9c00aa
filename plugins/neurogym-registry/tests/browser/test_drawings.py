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


def svg(body: str) -> str:
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"<svg {names}>{body}</svg>"


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
    "nested groups": "<g>" * 40 + '<rect width="2"/>' + "</g>" * 40,
    "nested svg": '<svg x="3" width="9" height="9" viewBox="0 0 9 9"><rect width="9"/></svg>',
    "use of a group": '<g id="q"><path d="M0 0h9"/></g><use href="#q" y="2" transform="scale(2)"/>',
    "use by xlink": '<defs><path id="a" d="M0 0v9"/></defs><use xlink:href="#a" x="4"/>',
    "marks as Matplotlib writes them": '<defs><path id="m" d="M0 3C1 3 2 2 3 0" style="stroke: '
    '#1f77b4"/></defs><g clip-path="url(#k)"><use xlink:href="#m" x="5" style="fill: #1f77b4"/></g>'
    '<clipPath id="k"><rect width="9" height="9"/></clipPath>',
    "a style with a selector": "<style>g > rect:first-child, .x{fill:rgb(0, 0, 0)}</style><g><rect/></g>",
    "a style with gradients": '<style>rect{fill:url(#g)}</style><linearGradient id="g"/><rect/>',
    "a style with a variable": "<style>:root{--c: red} rect{fill: var(--c)}</style><rect width='4'/>",
    "a style with calc": "<style>rect{stroke-width: calc(1px + 2px)}</style><rect width='4'/>",
    "a style in upper case": "<style>RECT{FILL: #CCC}</style><rect width='4'/>",
    "a style with a comment": "<style>/* a trial */ rect{fill: #ccc}</style><rect width='4'/>",
    "style attributes": '<rect style="fill: none; stroke: #000; stroke-dasharray: 3 1" width="9"/>',
    "dashes": '<path d="M0 0h99" stroke-dasharray="3,1" stroke-dashoffset="2" stroke="red"/>',
    "line ends": '<path d="M0 0h9" stroke-linecap="round" stroke-linejoin="bevel"/>',
    "opacity": '<g opacity=".5"><rect fill-opacity=".2" stroke-opacity="1" width="9"/></g>',
    "arcs": '<path d="M0 0a4 4 0 1 1 3 3Q 1 1 2 2T 3 3S 1 1 2 2z" fill-rule="evenodd"/>',
    "units": '<pattern id="p" patternUnits="userSpaceOnUse" patternContentUnits="userSpaceOnUse" '
    'patternTransform="rotate(4)" width="2" height="2"><rect width="1"/></pattern>'
    '<rect fill="url(#p)" width="9" height="9"/>',
    "clip units": '<clipPath id="c" clipPathUnits="objectBoundingBox"><rect width="1"/></clipPath>'
    '<rect clip-path="url(#c)" clip-rule="evenodd" width="9" height="9"/>',
    "gradient units": '<linearGradient id="g" gradientUnits="userSpaceOnUse" x1="0" x2="9" '
    'gradientTransform="rotate(9)"><stop offset="0" stop-opacity=".5"/></linearGradient>'
    '<rect fill="url(#g)" width="9" height="9"/>',
    "text with fonts": '<text font-family="DejaVu Sans, sans-serif" font-size="9" font-weight="bold" '
    'font-style="italic" text-anchor="middle">cos θ ± σ</text>',
    "text on lines": '<text><tspan x="0" dy="9">one</tspan><tspan x="0" dy="9">two</tspan></text>',
    "escaped text": "<text>a &lt; b &amp; &#955; &quot;c&quot;</text>",
    "text of data": "<text><![CDATA[<script>fetch('/hit')</script>]]></text>",
    "a comment with a script": "<!-- <script>fetch('/hit')</script> --><rect/>",
    "an address as text": "<text>https://example.org/hit</text>",
    "a long path": '<path d="M0 0' + "L1 2" * 5000 + '"/>',
    "ten thousand elements": "<g>" + "<rect/>" * 10_000 + "</g>",
    "pictures": f'<image href="data:image/png;base64,{PIXEL}" width="9" height="9"/>' * 20,
    "a picture by xlink": f'<image xlink:href="data:image/png;base64,{PIXEL}" width="9"/>',
    "a picture with a ratio": f'<image preserveAspectRatio="none" href="data:image/png;base64,{PIXEL}" '
    'width="9" height="9" transform="scale(1 -1)"/>',
    "metadata as Matplotlib writes them": '<metadata><r:RDF xmlns:c="http://creativecommons.org/ns#" '
    'xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:d="http://purl.org/dc/elements/1.1/"><c:Work><d:date>2026-11-26</d:date><d:format>'
    "image/svg+xml</d:format><d:creator><c:Agent><d:title>Matplotlib</d:title></c:Agent></d:creator>"
    "</c:Work></r:RDF></metadata>",
    "languages": '<text xml:lang="en">left</text><text xml:lang="de">links</text>',
    "an empty drawing": "",
}
ACTIVE = {
    "script": "<script>fetch('@/hit')</script>",
    "script in metadata": f"<metadata><h:script {HTML}>fetch('@/hit')</h:script></metadata>",
    "image in metadata": f'<metadata><h:img {HTML} src="@/hit"/></metadata>',
    "image set": "<style>svg{background-image:image-set('@/hit' 1x)}</style><rect/>",
    "base": '<image href="hit" width="9" height="9" xml:base="@/"/>',
    "image": '<image href="@/hit" width="9" height="9"/>',
    "image by xlink": '<image xlink:href="@/hit" width="9" height="9"/>',
    "import": "<style>AT-import '@/hit';</style><rect/>",
    "import of an address": "<style>AT-import url(@/hit);</style><rect/>",
    "style of the drawing": "<style>svg{background:url(@/hit)}</style><rect/>",
    "style with an escape": "<style>svg{background:u\\72l(@/hit)}</style><rect/>",
    "use of another file": '<use href="@/hit#a"/>',
    "event": "<rect width='9'/><g><image href='data:,' onerror=\"fetch('@/hit')\"/></g>",
    "picture in a filter": '<filter id="f"><feImage href="@/hit"/></filter>'
    '<rect filter="url(#f)" width="9" height="9"/>',
    "page within": f'<foreignObject width="9" height="9"><h:iframe {HTML} src="@/hit"/></foreignObject>',
    "page element within": f'<foreignObject width="9" height="9"><h:img {HTML} src="@/hit"/></foreignObject>',
    "animation": '<image width="9" height="9"><set attributeName="href" to="@/hit"/></image>',
    "script of an address": '<script href="@/hit"/>',
    "script of a page": f"<h:script {HTML}>fetch('@/hit')</h:script>",
    "stylesheet of a page": f'<h:link {HTML} rel="stylesheet" href="@/hit"/>',
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
    # A frame later, everything that the drawing loads was asked for.
    browser.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => setTimeout(done, 30))"
    )
    return [one for one in server.asked if one not in (path, "/favicon.ico")]


def is_as_written(browser: Any, data: bytes) -> bool:
    """Whether the open document is the one in the file: nothing in it has changed it."""
    return browser.execute_script(
        "const written = new DOMParser().parseFromString(arguments[0], 'image/svg+xml');"
        "return document.isEqualNode(written)",
        data.decode(),
    )


@pytest.mark.parametrize("name", SAFE)
def test_an_accepted_drawing_loads_and_changes_nothing(
    browser: Any, server: Server, name: str
) -> None:
    data = svg(SAFE[name]).encode()
    assert fault_of(data) is None
    assert opened(browser, server, name, data) == []
    assert is_as_written(browser, data)


def test_a_drawing_that_changes_itself_is_seen(browser: Any, server: Server) -> None:
    """The control of `is_as_written`."""
    data = svg("<script>document.documentElement.append('x')</script>").encode()
    assert fault_of(data) is not None
    assert opened(browser, server, "changing", data) == []
    assert not is_as_written(browser, data)


def test_at_least_sixty_drawings_are_opened() -> None:
    assert len(SAFE) + len(ACTIVE) >= 60


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
    assert is_as_written(browser, file.getvalue())


@pytest.mark.parametrize("name", ACTIVE)
def test_a_refused_drawing_would_have_loaded_something(
    browser: Any, server: Server, name: str
) -> None:
    data = svg(ACTIVE[name].replace("@/", server.address + "/").replace("AT-", "@")).encode()
    assert fault_of(data) is not None
    assert "/hit" in opened(browser, server, name, data)
