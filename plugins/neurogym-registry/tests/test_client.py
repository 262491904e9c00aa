"""The client, against a real server on this machine that may fail in many ways."""

from __future__ import annotations

import gzip
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from neurogym_registry import cache, fetch
from neurogym_registry.client import catalogue
from neurogym_registry.commands import shared
from neurogym_registry.errors import RegistryError
from neurogym_registry.index_text import IndexText, written

from neurogym_core import UnknownTaskError

makers = sys.modules["ngym_test_registry_makers"]
NAME = "neurogym-task-dots"


class Server:
    """Answers with `status`, `headers` and `body`, or by `behave`; `asked` has request headers."""

    def __init__(self) -> None:
        self.status, self.headers, self.body = (
            200,
            {"ETag": '"1"'},
            json.dumps(makers.small_index()).encode(),
        )
        self.behave: Any = None
        self.asked: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(dict(self.headers))
                (outer.behave or outer.answer)(self)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.block_on_close = False
        self.thread = threading.Thread(
            target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        if self.status == 200 and handler.headers.get("If-None-Match") == self.headers.get("ETag"):
            handler.send_response(304)
            handler.end_headers()
            return
        handler.send_response(self.status)
        for name, value in {"Content-Length": str(len(self.body)), **self.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(self.body)

    def serve(self, **changes: Any) -> None:
        """Serve an index with these changes."""
        self.body = json.dumps({**makers.small_index(), **changes}).encode()
        self.headers = {"ETag": f'"{hash(self.body)}"'}

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def registry(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Server:
    monkeypatch.setenv("NGYM_REGISTRY", server.url)
    monkeypatch.setenv("NGYM_CACHE", str(tmp_path / "cache"))
    return server


def begin(failure: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make the server fail, and return the expected message; time-outs are shortened."""
    server.behave, said = FAILURES[failure]
    if server.behave in (hang, drip):
        monkeypatch.setattr(fetch, "SOCKET_SECONDS", 0.3)
        monkeypatch.setattr(fetch, "TOTAL_SECONDS", 0.8)
    monkeypatch.setattr(fetch, "MAX_BYTES", 10_000_000)
    return said


def names(**options: bool) -> list[str]:
    return [one.name for one in catalogue(**options).listings]


def age_the_copy(url: str, days: float = 3) -> None:
    kept = cache.read(f"{url}/index.json.gz")
    cache.write(f"{url}/index.json.gz", kept._replace(fetched=time.time() - days * 86400))


def test_an_index_is_got_once_a_day(registry: Server) -> None:
    assert names() == [NAME]
    assert names() == [NAME]
    assert len(registry.asked) == 1
    names(refresh=True)
    assert len(registry.asked) == 2


def test_an_old_copy_is_asked_about_and_304_makes_it_fresh(registry: Server) -> None:
    names()
    age_the_copy(registry.url)
    found = catalogue()
    assert registry.asked[-1]["If-None-Match"] == '"1"'
    assert (found.listings[0].name, found.notes) == (NAME, ())
    names()
    assert len(registry.asked) == 2


def test_a_changed_index_takes_the_place_of_the_old_one(registry: Server) -> None:
    names()
    registry.serve(serial=2, packages=[])
    assert names(refresh=True) == []
    assert names(offline=True) == []


def hang(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(2)


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Send a byte every 0.1 s, so that no single wait is too long."""
    handler.send_response(200)
    handler.end_headers()
    try:
        for _ in range(20):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.1)
    except OSError:
        pass


def huge(handler: BaseHTTPRequestHandler) -> None:
    """Send 50 MB without announcing the length."""
    handler.send_response(200)
    handler.end_headers()
    try:
        for _ in range(50):
            handler.wfile.write(b" " * 1_000_000)
    except OSError:
        pass


def elsewhere(address: str):
    def redirect(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", address)
        handler.end_headers()

    return redirect


def answer(status: int = 200, body: bytes = b"", **headers: str):
    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return behave


INDEX = makers.small_index()
INDEX_BYTES = json.dumps(INDEX).encode()
FAILURES = {
    "500": (answer(500), "answered 500"),
    "404": (answer(404), "answered 404"),
    "304 without an ETag": (answer(304), "answered 304"),
    "hanging": (hang, "did not answer in"),
    "dripping": (drip, "did not answer in"),
    "truncated": (answer(body=b'{"schema": 1', Content_Length="9000"), "of 9,000 bytes"),
    "truncated without a length": (answer(body=json.dumps(INDEX).encode()[:-20]), "no JSON"),
    "garbage": (answer(body=b"\xff\xfe<html>"), "no JSON"),
    "nesting": (answer(body=b"[" * 100_000), "no JSON"),
    "a list": (answer(body=b"[]"), "no index"),
    "no packages": (answer(body=b'{"schema": 1, "serial": 1, "revoked": []}'), "no index"),
    "a wrong serial": (answer(body=json.dumps({**INDEX, "serial": "9"}).encode()), "serial"),
    "a newer schema": (
        answer(body=json.dumps({**INDEX, "schema": 2}).encode()),
        "Use a newer neurogym-registry",
    ),
    "50 MB": (huge, "more than 10,000,000 bytes"),
    "50 MB, as announced": (answer(body=b" ", Content_Length="50000000"), "at most 10,000,000"),
    "a redirect to plain http": (elsewhere("http://example.org/index.json"), "not https"),
    "a redirect to a file": (elsewhere("file:///etc/passwd"), "is not allowed"),
    "an endless redirect": (elsewhere("/index.json"), "302"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_if_the_server_fails_the_copy_is_used_and_the_reason_given(
    registry: Server, failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names()
    age_the_copy(registry.url)
    said = begin(failure, registry, monkeypatch)
    before = cache.read(f"{registry.url}/index.json.gz")
    if failure.startswith("304"):  # without an ETag the request was not conditional
        cache.write(f"{registry.url}/index.json.gz", before._replace(etag=""))
        before = cache.read(f"{registry.url}/index.json.gz")
    found = catalogue()
    assert [one.name for one in found.listings] == [NAME]
    assert said in found.notes[0]
    assert "3 days ago" in found.notes[0]
    assert cache.read(f"{registry.url}/index.json.gz") == before


@pytest.mark.parametrize("failure", FAILURES)
def test_if_the_server_fails_at_first_the_bundled_list_is_used(
    registry: Server, failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = begin(failure, registry, monkeypatch)
    found = catalogue()
    assert "neurogym-task-perceptual" in [one.name for one in found.listings]
    assert said in found.notes[0]
    assert "the list bundled with neurogym-registry" in found.notes[0]
    assert cache.read(f"{registry.url}/index.json.gz") is None


def test_a_server_that_cannot_be_reached(registry: Server) -> None:
    names()
    age_the_copy(registry.url)
    registry.close()
    registry.close = lambda: None
    found = catalogue()
    assert [one.name for one in found.listings] == [NAME]
    assert "cannot be reached" in found.notes[0]


def test_an_index_that_went_back_is_refused(registry: Server) -> None:
    registry.serve(serial=5)
    names()
    registry.serve(serial=4, packages=[])
    found = catalogue(refresh=True)
    assert [one.name for one in found.listings] == [NAME]
    assert "serial 4, after one with 5" in found.notes[0]


def test_an_index_that_went_back_is_refused_even_where_the_copy_is_of_no_use(
    registry: Server,
) -> None:
    registry.serve(serial=5)
    names()
    kept = cache.read(f"{registry.url}/index.json.gz")
    cache.write(f"{registry.url}/index.json.gz", kept._replace(text="{"))
    registry.serve(serial=4)
    assert "serial 4, after one with 5" in catalogue(refresh=True).notes[0]


def test_an_index_that_lost_a_revocation_is_refused(registry: Server) -> None:
    row = {"name": NAME, "versions": ["1.0.0", "1.1.0"], "reason": "Bad.", "date": "2026-11-21"}
    registry.serve(serial=2, revoked=[row])
    names()
    registry.serve(serial=3, revoked=[{**row, "versions": ["1.0.0"]}])
    found = catalogue(refresh=True)
    assert f"without the revocation of {NAME} 1.1.0" in found.notes[0]
    assert found.revocation(NAME, "1.1.0") == "Bad."


def test_an_index_may_come_compressed(registry: Server) -> None:
    registry.behave = answer(body=gzip.compress(INDEX_BYTES), Content_Encoding="gzip")
    assert names() == [NAME]
    assert registry.asked[-1]["Accept-Encoding"] == "gzip"


@pytest.mark.parametrize(
    ("body", "encoding", "said"),
    [
        (gzip.compress(b" " * 2_000_000), "gzip", "more than 1,000,000 bytes, compressed"),
        (gzip.compress(b"{}")[:-9], "gzip", "end early"),
        (b"{}", "gzip", "damaged"),
        (b"{}", "br", "gzip was asked for"),
    ],
    ids=["large", "cut", "damaged", "unknown"],
)
def test_compressed_data_are_limited_and_whole(
    registry: Server, body: bytes, encoding: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "MAX_TEXT", 1_000_000)
    registry.behave = answer(body=body, Content_Encoding=encoding)
    assert said in catalogue().notes[0]


def test_a_small_file_does_not_become_a_huge_text(registry: Server) -> None:
    """An index of 0.8 MB took 1.9 GB of memory and wrote 468 MB into the cache."""
    registry.behave = answer(body=gzip.compress(INDEX_BYTES[:-1] + b" " * 40_000_000 + b"}"))
    assert ", compressed" in catalogue().notes[0]
    # Rows that are much alike compress well, and are still read.
    registry.behave = answer(body=gzip.compress(INDEX_BYTES[:-1] + b" " * 900_000 + b"}"))
    assert catalogue(refresh=True).notes == ()


def test_a_large_index_that_arrives_quickly_has_more_time(
    registry: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def steady(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(INDEX_BYTES[:-2] + b" " * 200_000)
        handler.wfile.flush()
        time.sleep(1.2)
        handler.wfile.write(INDEX_BYTES[-2:])

    monkeypatch.setattr(fetch, "TOTAL_SECONDS", 1.0)
    monkeypatch.setattr(fetch, "BYTES_PER_SECOND", 1_000)
    registry.behave = steady
    assert names() == [NAME]


def test_fields_for_newer_clients_are_no_reason_to_leave_anything_out(registry: Server) -> None:
    (row,) = makers.small_index()["packages"]
    row["later"] = 1
    row["status"] = "archived"
    row["maintainers"][0]["orcid"] = "0000-0000-0000-0000"
    row["releases"][0]["attestations"] = []
    row["releases"][0]["files"][0]["provenance"] = "https://example.org"
    row["releases"][0]["conformance"]["level"] = "extreme"
    row["tasks"][0]["references"][0]["pmid"] = 3
    revoked = {"name": "x", "versions": ["*"], "reason": "Bad.", "date": "2026-11-21", "cve": "y"}
    registry.serve(packages=[row], revoked=[revoked], serial=2, later={})
    found = catalogue()
    assert (names(), found.notes) == ([NAME], ())
    assert found.revocation("x", "1") == "Bad."


def test_an_index_with_a_package_a_line_says_the_same_as_any_other_json(registry: Server) -> None:
    (row,) = makers.small_index()["packages"]
    other = {**row, "name": "neurogym-task-other", "summary": "Gött \u202e"}
    index = {**makers.small_index(), "packages": [row, other]}
    for text in (json.dumps(index), json.dumps(index, indent=2), written(index)):
        read = IndexText(text)
        assert list(read.rows()) == [row, other]
        assert read.names() == [NAME, "neurogym-task-other"]
        assert read.row(NAME) == row
        assert read.row("neurogym-task") is read.row('x"') is None
        assert list(read.with_words(["gött"])) == [row, other]
        assert list(read.with_words(["other", "tasks"])) == [other]
        assert list(read.with_words(["nowhere"])) == []
        assert list(read.with_words([""])) == [row, other]
        assert list(read.with_words(["\n"])) == []
    assert list(IndexText(written({**index, "packages": []})).rows()) == []


def test_lines_that_only_look_like_rows_are_not_read(registry: Server) -> None:
    (row,) = makers.small_index()["packages"]
    text = written({**makers.small_index(), "packages": [row, row]})
    for evil in ('{"name":"a"},{"name":"b"}', '{"name":"a"', "]}\n{"):
        lines = text.split("\n")
        lines[2] = evil
        try:
            read = IndexText("\n".join(lines))
        except (ValueError, TypeError):
            continue
        assert all(one == row for one in read.rows())


def test_an_enormous_serial_does_not_lock_clients_out(registry: Server) -> None:
    names()
    registry.serve(serial=10**4000)
    assert "serial" in catalogue(refresh=True).notes[0]
    registry.serve(serial=7)
    assert catalogue(refresh=True).notes == ()


def test_an_address_with_a_password_is_refused_without_repeating_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NGYM_REGISTRY", "https://ana:secret@example.org/registry")
    with pytest.raises(RegistryError, match=r"user name or password .*example\.org") as raised:
        catalogue()
    assert "secret" not in str(raised.value)


def test_a_namespace_follows_from_the_name_of_the_package(registry: Server) -> None:
    (row,) = makers.small_index()["packages"]
    squatter = {**row, "name": "neurogym-task-aaa", "namespace": "dots"}
    registry.serve(packages=[squatter, row])
    found = catalogue()
    assert found.find("dots").name == NAME
    assert [one.name for one, _ in found.find_task("dots/Dots-v0")] == [NAME]


def test_a_package_that_is_missing_in_the_copy_is_asked_for(registry: Server) -> None:
    """It was listed after the copy was made, less than a day ago."""
    names()
    (row,) = makers.small_index()["packages"]
    registry.serve(serial=2, packages=[row, {**row, "name": "neurogym-task-new"}])
    assert shared.look_for("dots", offline=False, refresh=False)[1].name == NAME
    assert len(registry.asked) == 1
    assert shared.look_for("new", offline=False, refresh=False)[1].name == "neurogym-task-new"
    with pytest.raises(UnknownTaskError):
        shared.look_for("newer", offline=True, refresh=False)
    assert len(registry.asked) == 2


def test_rows_that_are_not_understood_are_left_out_and_counted(registry: Server) -> None:
    newer = {**makers.small_index()["packages"][0], "name": "neurogym-task-newer", "schema": 2}
    registry.serve(packages=[*makers.small_index()["packages"], newer, {}, None])
    found = catalogue()
    assert [one.name for one in found.listings] == [NAME]
    assert "3 packages of" in found.notes[0]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"url": 3}', '{"url": "x", "text": "{}"}', "\x00"]
)
def test_a_broken_copy_is_no_copy(registry: Server, text: str) -> None:
    names()
    (path,) = Path(cache.cache_folder()).iterdir()
    path.write_text(text)
    assert names() == [NAME]
    assert len(registry.asked) == 2


def test_a_copy_from_the_future_is_not_fresh(registry: Server) -> None:
    names()
    age_the_copy(registry.url, days=-1)
    names()
    assert len(registry.asked) == 2


def test_a_cache_that_cannot_be_written_is_no_failure(
    registry: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NGYM_CACHE", str(tmp_path / "file" / "cache"))
    assert names() == [NAME]


def test_a_link_in_a_shared_cache_changes_no_file_of_the_user(
    registry: Server, tmp_path: Path
) -> None:
    """Another user who can write into the cache lays links where the copies will be."""
    mine = tmp_path / "mine"
    mine.write_text("precious", "utf-8")
    names()
    folder = Path(cache.cache_folder())
    (path,) = folder.iterdir()
    path.unlink()
    path.symlink_to(mine)
    assert names() == [NAME]
    assert mine.read_text("utf-8") == "precious"
    assert not path.is_symlink()
    assert len(registry.asked) == 2
    cache.write_file("https://example.org/x", b"1")
    (copy,) = (folder / "files").iterdir()
    copy.unlink()
    copy.symlink_to(mine)
    cache.write_file("https://example.org/x", b"2")
    assert mine.read_text("utf-8") == "precious"
    assert cache.read_file("https://example.org/x") == b"2"
    assert sorted(one.name for one in folder.iterdir()) == sorted(["files", path.name])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_in_a_shared_cache_is_no_copy(registry: Server) -> None:
    """Reading it would wait for ever for a writer."""
    names()
    (path,) = Path(cache.cache_folder()).iterdir()
    path.unlink()
    os.mkfifo(path)
    assert cache.read(f"{registry.url}/index.json.gz") is None
    assert names() == [NAME]


def test_a_cache_that_is_a_link_works(
    registry: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "scratch")
    monkeypatch.setenv("NGYM_CACHE", str(tmp_path / "linked"))
    assert names() == names() == [NAME]
    assert len(registry.asked) == 1


class TestOffline:
    def test_uses_the_copy_however_old(self, registry: Server) -> None:
        names()
        age_the_copy(registry.url, days=300)
        found = catalogue(offline=True)
        assert [one.name for one in found.listings] == [NAME]
        assert "300 days ago" in found.notes[0]
        assert len(registry.asked) == 1

    def test_uses_the_bundled_list_without_a_copy(self, registry: Server) -> None:
        found = catalogue(offline=True)
        assert "neurogym-task-perceptual" in [one.name for one in found.listings]
        assert registry.asked == []


class TestAddresses:
    def test_without_one_the_bundled_list_is_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("NGYM_REGISTRY", raising=False)
        found = catalogue()
        assert "neurogym-task-perceptual" in [one.name for one in found.listings]
        assert "No registry is set" in found.notes[0]

    def test_folders_and_files_are_read(self, keeper, monkeypatch: pytest.MonkeyPatch) -> None:
        keeper.package(NAME, "1.0.0")
        index = keeper.build()
        for address in (str(keeper.folder), str(index), keeper.folder.as_uri(), index.as_uri()):
            monkeypatch.setenv("NGYM_REGISTRY", address)
            assert names() == [NAME]

    def test_of_several_the_first_that_lists_a_name_wins(
        self, registry: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = makers.Keeper(tmp_path / "own")
        own.package(NAME, "9.0.0")
        own.package("neurogym-task-ours", "1.0.0")
        own.build()
        for order, latest in (
            ((own.folder, registry.url), "9.0.0"),
            ((registry.url, own.folder), "1.0.0"),
        ):
            monkeypatch.setenv("NGYM_REGISTRY", ", ".join(map(str, order)))
            found = catalogue()
            assert [(one.name, one.latest) for one in found.listings] == [
                (NAME, latest),
                ("neurogym-task-ours", "1.0.0"),
            ]

    @pytest.mark.parametrize(
        "address", ["http://example.org", "ftp://example.org", "/nowhere", "file:///nowhere"]
    )
    def test_others_are_refused(self, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NGYM_REGISTRY", address)
        with pytest.raises(RegistryError, match="NGYM_REGISTRY was given"):
            catalogue()


def test_only_https_and_this_machine_are_asked() -> None:
    good = ("https://example.org/x", "http://localhost:1/", "http://127.0.0.1/", "http://[::1]:8/")
    bad = (
        "http://example.org",
        "ftp://localhost",
        "file:///x",
        "http://127.0.0.1.example.org",
        "https://",
        "localhost",
    )
    assert all(map(fetch.allowed, good))
    assert not any(map(fetch.allowed, bad))
    with pytest.raises(RegistryError, match="neither https"):
        fetch.fetch("http://example.org/index.json")
