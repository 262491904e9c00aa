"""Attestations of a wheel are looked for on the package indexes of pip's configuration."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from neurogym_registry import attestations, pip
from neurogym_registry.attestations import ACCEPT, provenance_of

SHA256 = "a" * 64
ADDRESS = "https://pypi.org/integrity/neurogym-task-dots/1.0.0/x.whl/provenance"


class PackageIndex:
    """A package index that answers with `body`."""

    def __init__(self) -> None:
        self.body, self.asked = b"", list[tuple[str, str]]()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append((self.path, self.headers["Accept"]))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def serve(self, **fields: Any) -> None:
        file = {"filename": "x.whl", "hashes": {"sha256": SHA256}, "provenance": ADDRESS, **fields}
        self.body = json.dumps({"files": [{"filename": "x", "hashes": {}}, file]}).encode()


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    found = PackageIndex()
    own = f"http://127.0.0.1:{found.http.server_port}/simple/"
    settings = {"index-url": own, "extra-index-url": "file:///nowhere"}
    monkeypatch.setattr(attestations, "configuration", lambda: settings)
    found.serve()
    yield found
    found.http.shutdown()
    found.http.server_close()


def test_the_attestations_of_this_file_are_found(index: PackageIndex) -> None:
    index.body = json.dumps(
        {"files": [{"filename": "x", "provenance": None, "hashes": {"sha256": SHA256}}]}
    ).encode()
    assert provenance_of("Neurogym_Task.dots", SHA256) is None
    index.serve()
    assert provenance_of("Neurogym_Task.dots", SHA256) == ADDRESS
    assert index.asked[0] == ("/simple/neurogym-task-dots/", ACCEPT)
    assert provenance_of("neurogym-task-dots", "b" * 64) is None


@pytest.mark.parametrize(
    "address",
    [None, 3, "", "http://pypi.org/x", "https://pypi.org/x y", "https://x/\x1b[31m",
     "javascript:alert(1)", "https://pypi.org/" + "x" * 300],
)  # fmt: skip
def test_an_address_that_the_registry_could_not_store_counts_as_none(
    index: PackageIndex, address: Any
) -> None:
    index.serve(provenance=address)
    assert provenance_of("dots", SHA256) is None


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"files": 3}', b'{"files": [3]}'])
def test_an_index_that_speaks_no_json_has_none(index: PackageIndex, body: bytes) -> None:
    index.body = body
    assert provenance_of("dots", SHA256) is None


def test_without_indexes_none_is_asked(
    index: PackageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {**attestations.configuration(), "no-index": "1"}
    monkeypatch.setattr(attestations, "configuration", lambda: settings)
    assert provenance_of("dots", SHA256) is None
    assert index.asked == []


def test_settings_of_pip_come_from_the_environment_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pip.conf"
    text = "[global]\nindex-url = https://one.example/simple\nextra-index-url =\n a\n b\n"
    file.write_text(text, "utf-8")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(file))
    monkeypatch.setenv("PIP_INDEX_URL", "https://two.example/simple")
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    found = pip.configuration()
    assert found["index-url"] == "https://two.example/simple"
    assert found["extra-index-url"].split() == ["a", "b"]
