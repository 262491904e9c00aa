"""The file of a package that its line in an index names by hash."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from neurogym_registry import package_files
from neurogym_registry.client import catalogue
from neurogym_registry.commands.shared import look_for
from neurogym_registry.errors import RegistryError
from neurogym_registry.index import build_index, package_file, split
from neurogym_registry.index_text import row_text
from neurogym_registry.packed import packed, unpacked

makers = sys.modules["ngym_test_registry_makers"]
NAME, OTHER = "neurogym-task-dots", "neurogym-task-reaching"
INDEX, FILE = "/index.json.gz", f"/{package_file(NAME)}"


class Server:
    """Serves a folder; `asked` has the paths of the requests."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                path = folder / self.path.lstrip("/")
                self.send_response(200 if path.is_file() else 404)
                self.end_headers()
                self.wfile.write(path.read_bytes() if path.is_file() else b"")

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def took(self) -> list[str]:
        """Return the paths of the requests since the last call."""
        asked, self.asked = self.asked, []
        return asked


@pytest.fixture
def published(keeper, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A registry of two packages in a folder, its server, and a client of that."""
    package_files.read_package_file.cache_clear()
    keeper.package(NAME, "1.0.0", "1.1.0")
    row = makers.task_row("neurogym_task_reaching", "Wobble-v0")
    keeper.package(OTHER, "2.0.0", tasks=[row])
    keeper.entry("neurogym-task-empty")
    keeper.build()
    keeper.server = Server(keeper.folder)
    monkeypatch.setenv("NGYM_CACHE", str(tmp_path / "cache"))
    port = keeper.server.http.server_port
    monkeypatch.setenv("NGYM_REGISTRY", f"http://127.0.0.1:{port}")
    yield keeper
    keeper.server.http.shutdown()
    keeper.server.http.server_close()


def forget() -> None:
    """Forget the files of this process, as a new process does."""
    package_files.read_package_file.cache_clear()


def test_a_search_downloads_the_slim_index_only(published, ngym) -> None:
    rows = json.loads(ngym("search", "dots", "--json").stdout)
    assert [row["package"] for row in rows] == [NAME, OTHER]  # both have a task of dots
    assert (rows[0]["version"], rows[0]["id"]) == ("1.1.0", "dots/Dots-v0")
    assert published.server.took() == [INDEX]
    line = catalogue().named(NAME).row
    assert set(line) == {
        "name", "schema", "summary", "status", "latest", "tasks", "offers", "package_sha256",
    }  # fmt: skip


def test_the_file_of_a_package_is_downloaded_once_and_is_its_complete_row(published) -> None:
    complete = {row["name"]: row for row in build_index_of(published)["packages"]}
    assert dict(catalogue().named(NAME).package) == complete[NAME]
    assert dict(catalogue().named("neurogym-task-empty").package) == complete["neurogym-task-empty"]
    assert published.server.took() == [INDEX, FILE]
    forget()
    assert list(catalogue().named(NAME).releases) == ["1.0.0", "1.1.0"]
    assert published.server.took() == []


def build_index_of(keeper) -> dict[str, Any]:
    from neurogym_registry.folder import read_registry

    return build_index(read_registry(keeper.folder))


def test_offline_only_the_copy_of_a_file_is_used(published) -> None:
    catalogue()
    with pytest.raises(RegistryError, match=r"There is no copy of .*--offline"):
        _ = catalogue(offline=True).named(NAME).releases
    _ = catalogue().named(NAME).releases
    forget()
    published.server.took()
    assert list(catalogue(offline=True).named(NAME).releases) == ["1.0.0", "1.1.0"]
    assert published.server.took() == []


def other_hashes(text: str) -> str:
    return text.replace("a" * 64, "b" * 64)


@pytest.mark.parametrize("on_web", [True, False])
def test_a_file_that_the_index_does_not_name_is_refused(published, monkeypatch, on_web) -> None:
    path = published.folder / package_file(NAME)
    text = unpacked(path.read_bytes(), 10**6).decode()
    path.write_bytes(packed(other_hashes(text)))
    if not on_web:
        monkeypatch.setenv("NGYM_REGISTRY", str(published.folder))
    with pytest.raises(RegistryError, match="another file than the index names"):
        _ = catalogue().named(NAME).releases
    path.write_bytes(packed(text))
    assert list(catalogue().named(NAME).releases) == ["1.0.0", "1.1.0"]


def test_a_changed_copy_of_a_file_is_not_used(published, tmp_path: Path) -> None:
    _ = catalogue().named(NAME).releases
    (copy,) = (tmp_path / "cache" / "files").iterdir()
    copy.write_text(other_hashes(copy.read_text("utf-8")), "utf-8")
    forget()
    assert catalogue().named(NAME).releases["1.0.0"]["files"][0]["sha256"] == "a" * 64
    assert published.server.took() == [INDEX, FILE, FILE]


@pytest.mark.parametrize("gone", [True, False])
def test_a_package_released_after_the_copy_was_made_is_asked_for(published, gone, ngym) -> None:
    """Its file on the server is not the one that the copy of the index names, or is there no more.

    The copy is less than a day old, so that the server would not be asked."""
    catalogue()
    published.release(NAME, "1.2.0")
    published.build()
    if gone:
        (published.folder / package_file(OTHER)).unlink()
        published.release(OTHER, "2.1.0")
    published.build()
    found, listing = look_for("dots", offline=False, refresh=False)
    assert (listing.latest, list(listing.releases)) == ("1.2.0", ["1.0.0", "1.1.0", "1.2.0"])
    assert list(found.named(OTHER).releases)[-1] == ("2.1.0" if gone else "2.0.0")


def test_info_of_a_package_released_after_the_copy_was_made_has_the_release(
    published, ngym
) -> None:
    catalogue()
    row = makers.task_row("neurogym_task_dots", docstring="Follow the dots.\n\nA long text.")
    published.release(NAME, "1.2.0", tasks=[row])
    published.build()
    assert "1.2.0" in ngym("info", NAME).stdout
    assert "A long text." in ngym("info", "dots/Dots-v0").stdout


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "cannot be read"),
        (packed("x" * 100)[:-3], "end early"),
        (packed("x")[:-1] + b"?", "damaged"),
        (None, "cannot be read"),
    ],
    ids=["empty", "cut", "damaged", "missing"],
)
def test_a_damaged_file_of_a_folder_is_one_sentence(published, monkeypatch, data, said) -> None:
    path = published.folder / package_file(NAME)
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    monkeypatch.setenv("NGYM_REGISTRY", str(published.folder))
    with pytest.raises(RegistryError, match=rf"(?s){said}.*ngym registry build"):
        _ = catalogue().named(NAME).releases


def test_a_file_of_another_package_is_refused_though_its_hash_is_named(published) -> None:
    """Only a hostile registry makes such an index."""
    complete = build_index_of(published)
    parts = split(complete)
    evil = {row["name"]: row for row in parts.index["packages"]}
    evil[NAME]["package_sha256"] = evil[OTHER]["package_sha256"]
    text = (published.folder / package_file(OTHER)).read_bytes()
    (published.folder / package_file(NAME)).write_bytes(text)
    listing = catalogue().indexes[0].listing(evil[NAME])
    with pytest.raises(RegistryError, match=f"no file of {NAME}"):
        _ = listing.releases


def test_an_unknown_name_makes_no_request(published, ngym) -> None:
    """The error suggests tasks of the copy, without the descriptions in files of releases."""
    catalogue()
    published.server.took()
    said = " ".join(ngym("run", "Wobbel-v0").stderr.split())
    assert "'reaching/Wobble-v0' of neurogym-task-reaching, which is not installed" in said
    assert published.server.took() == []


def test_compressing_is_the_same_each_time_and_unpacking_is_limited() -> None:
    text = row_text({"name": "x", "summary": "ü" * 1000})
    assert packed(text) == packed(text)
    assert unpacked(packed(text), 10**6).decode() == text
    with pytest.raises(ValueError, match="more than 100 bytes"):
        unpacked(packed(text), 100)
