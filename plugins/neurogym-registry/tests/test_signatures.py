"""Signed indexes: real certificates, logs and signatures, by a sigstore instance of the tests."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from neurogym_registry import keeping
from neurogym_registry.addresses import GITHUB_ISSUER, Address, Signer, read_address, registries
from neurogym_registry.client import catalogue, one_registry
from neurogym_registry.errors import RegistryError
from neurogym_registry.sources import remember, remembered

services_of = pytest.importorskip(
    "sigstore_services", reason="the library sigstore is not installed"
)
makers = sys.modules["ngym_test_registry_makers"]
NAME = "neurogym-task-dots"
WORKFLOW = "https://github.com/lab/registry/.github/workflows/publish.yml@refs/heads/main"
KEEPER = Signer(WORKFLOW, GITHUB_ISSUER)


@pytest.fixture(scope="module")
def services() -> Iterator[Any]:
    """The instance of which clients have the keys."""
    found = services_of.Services()
    yield found
    found.close()


@pytest.fixture(scope="module")
def others() -> Iterator[Any]:
    """Another instance, with other keys."""
    found = services_of.Services()
    yield found
    found.close()


class Published:
    """A signed registry in a folder, and a server of this folder."""

    def __init__(self, keeper: Any, services: Any, ngym: Any, folder: Path) -> None:
        self.keeper, self.services, self.ngym = keeper, services, ngym
        self.trust = services.trust_config(folder / "trust.json")
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                path = keeper.folder / self.path.lstrip("/")
                data = path.read_bytes() if path.is_file() else b""
                etag = hashlib.sha256(data).hexdigest()
                current = self.headers["If-None-Match"] == etag
                self.send_response(404 if not path.is_file() else 304 if current else 200)
                self.send_header("ETag", etag)
                self.end_headers()
                self.wfile.write(b"" if current else data)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}"

    @property
    def index(self) -> Path:
        return self.keeper.folder / "index.json"

    @property
    def bundle(self) -> Path:
        return self.keeper.folder / "index.json.sigstore.json"

    def signer(self, **changes: str) -> Signer:
        return KEEPER._replace(trust_config=str(self.trust))._replace(**changes)

    def address(self, **changes: str) -> str:
        return str(Address(f"{self.url}/index.json", self.signer(**changes)))

    def sign(
        self, identity: str = WORKFLOW, issuer: str = GITHUB_ISSUER, trust: Path | None = None
    ) -> Any:
        """Build the index, and sign it with the keeper's command, `services.age` ago."""
        self.keeper.build()
        age = self.services.age

        class Clock(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:
                return datetime.now(tz) - age

        token = services_of.token(identity, issuer)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sigstore.sign.datetime", Clock)
            return self.ngym(
                "registry", "sign", str(self.keeper.folder), "--trust-config",
                str(trust or self.trust), SIGSTORE_IDENTITY_TOKEN=token,
            )  # fmt: skip

    def signed(self, **options: Any) -> None:
        result = self.sign(**options)
        assert result.exit_code == 0, result.output


@pytest.fixture
def published(
    keeper: Any, services: Any, ngym: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Published]:
    monkeypatch.setenv("NGYM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(services, "age", timedelta())
    keeper.package(NAME, "1.0.0")
    found = Published(keeper, services, ngym, tmp_path)
    found.signed()
    monkeypatch.setenv("NGYM_REGISTRY", found.address())
    yield found
    found.http.shutdown()
    found.http.server_close()


def names(**options: Any) -> list[str]:
    return [one.name for one in catalogue(**options).listings]


def test_a_signed_index_is_believed(published: Published) -> None:
    found = catalogue()
    assert ([one.name for one in found.listings], found.notes) == ([NAME], ())
    assert published.asked == ["/index.json", "/index.json.sigstore.json"]
    names()
    assert len(published.asked) == 2


def test_the_signature_of_a_compressed_index_is_that_of_its_text(
    published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NGYM_REGISTRY", str(Address(published.url, published.signer())))
    found = catalogue()
    assert found.listings[0].releases["1.0.0"]["files"][0]["sha256"] == "a" * 64
    asked = ["/index.json.gz", "/index.json.sigstore.json", f"/index/{NAME}.json.gz"]
    assert (found.notes, published.asked) == ((), asked)


def test_signing_prints_the_setting_of_clients(published: Published) -> None:
    assert f"export NGYM_REGISTRY='ADDRESS#identity={WORKFLOW}&trust" in published.sign().stdout
    result = published.sign("ana@example.org", "https://accounts.example.org")
    assert "#identity=ana@example.org&issuer=https://accounts.example.org" in result.stdout


def unsigned(published: Published, others: Any) -> None:
    published.bundle.unlink()


def changed(published: Published, others: Any) -> None:
    text = published.index.read_text("utf-8")
    assert '"latest":"1.0.0"' in text
    published.index.write_text(text.replace('"latest":"1.0.0"', '"latest":"2.0.0"'), "utf-8")


def replaced(published: Published, others: Any) -> None:
    """Another index, with the signature of the right one."""
    published.keeper.package("neurogym-task-evil", "1.0.0")
    published.keeper.build()


def by_another_account(published: Published, others: Any) -> None:
    published.signed(
        identity="https://github.com/lab/other/.github/workflows/x.yml@refs/heads/main"
    )


def from_another_branch(published: Published, others: Any) -> None:
    published.signed(identity=WORKFLOW.replace("main", "feature"))


def by_another_issuer(published: Published, others: Any) -> None:
    published.signed(issuer="https://accounts.example.org")


def by_other_services(published: Published, others: Any) -> None:
    """The right identity, certified by services that the client does not know."""
    published.signed(trust=others.trust_config(published.trust.with_name("others.json")))


def of_another_registry(published: Published, others: Any) -> None:
    """A valid signature of the signer, for other bytes."""
    before = published.index.read_bytes()
    published.keeper.package("neurogym-task-evil", "1.0.0")
    published.signed()
    published.index.write_bytes(before)


def no_bundle(published: Published, others: Any) -> None:
    published.bundle.write_text("{}", "utf-8")


def nested_bundle(published: Published, others: Any) -> None:
    published.bundle.write_text("[" * 100_000, "utf-8")


def without_log(published: Published, others: Any) -> None:
    bundle = json.loads(published.bundle.read_text("utf-8"))
    bundle["verificationMaterial"]["tlogEntries"] = []
    published.bundle.write_text(json.dumps(bundle), "utf-8")


def with_a_later_time(published: Published, others: Any) -> None:
    """The log's promise covers the time at which it has seen the signature."""
    bundle = json.loads(published.bundle.read_text("utf-8"))
    (entry,) = bundle["verificationMaterial"]["tlogEntries"]
    entry["integratedTime"] = str(int(entry["integratedTime"]) + 60)
    published.bundle.write_text(json.dumps(bundle), "utf-8")


ATTACKS = {
    unsigned: "has no signature of its index",
    changed: "VerificationError",
    replaced: "VerificationError",
    by_another_account: "do not match",
    from_another_branch: "do not match",
    by_another_issuer: "does not match",
    by_other_services: "does not hold",
    of_another_registry: "VerificationError",
    no_bundle: "does not hold",
    nested_bundle: "does not hold",
    without_log: "does not hold",
    with_a_later_time: "inclusion promise",
}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_an_index_without_a_valid_signature_of_its_signer_is_refused(
    published: Published, others: Any, attack: Any
) -> None:
    attack(published, others)
    found = catalogue()
    assert ATTACKS[attack] in found.notes[0]
    assert f"Expected one by {KEEPER}" in found.notes[0] or (
        f"Expected a signature by {KEEPER}" in found.notes[0]
    )
    assert "maintainers" in found.notes[0]
    assert NAME not in [one.name for one in found.listings]
    assert "the list bundled" in found.notes[0]
    # The same for a folder, for which there is no copy and no list to use instead.
    with pytest.raises(RegistryError, match=ATTACKS[attack]):
        one_registry(Address(str(published.keeper.folder), published.signer()))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_the_verified_copy_is_used_instead(published: Published, others: Any, attack: Any) -> None:
    names()
    attack(published, others)
    found = catalogue(refresh=True)
    assert ATTACKS[attack] in found.notes[0]
    assert [one.name for one in found.listings] == [NAME]
    assert found.listings[0].releases["1.0.0"]["files"][0]["sha256"] == "a" * 64


def test_a_signed_index_of_the_past_is_refused(published: Published) -> None:
    before = published.index.read_bytes(), published.bundle.read_bytes()
    row = {"name": NAME, "versions": ["1.0.0"], "reason": "Bad.", "date": "2026-11-21"}
    published.keeper.revoke(row)
    published.signed()
    names()
    published.index.write_bytes(before[0])
    published.bundle.write_bytes(before[1])
    found = catalogue(refresh=True)
    assert "Expected the serial to grow" in found.notes[0] or "newer" in found.notes[0]
    assert found.revocation(NAME, "1.0.0") == "Bad."


def test_an_index_with_the_same_serial_signed_earlier_is_refused(published: Published) -> None:
    published.services.age = timedelta(days=2)
    published.keeper.entry(NAME, summary="Before.")
    published.signed()
    before = published.index.read_bytes(), published.bundle.read_bytes()
    published.services.age = timedelta()
    published.keeper.entry(NAME, summary="After.")
    published.signed()
    names()
    published.index.write_bytes(before[0])
    published.bundle.write_bytes(before[1])
    found = catalogue(refresh=True)
    assert "Expected signatures to become newer" in found.notes[0]
    assert found.listings[0].row["summary"] == "After."


def test_a_copy_that_was_never_verified_is_not_used(
    published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NGYM_REGISTRY", f"{published.url}/index.json")
    changed(published, None)
    assert names() == [NAME]
    monkeypatch.setenv("NGYM_REGISTRY", published.address())
    assert NAME not in names()
    assert NAME not in names(offline=True)


def test_a_copy_verified_for_another_signer_is_not_used(
    published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    names()
    monkeypatch.setenv("NGYM_REGISTRY", published.address(identity="ana@example.org", issuer="x"))
    assert NAME not in names(offline=True)


def test_the_signature_of_an_unchanged_index_can_be_renewed(published: Published) -> None:
    published.services.age = timedelta(days=40)
    published.signed()
    (note,) = catalogue().notes
    assert "signed 40 days ago, expected at most 30" in note
    assert catalogue().notes == (note,)
    published.services.age = timedelta()
    published.signed()
    assert catalogue(refresh=True).notes == ()
    assert catalogue().notes == ()
    assert published.asked.count("/index.json") == 2


def test_without_a_signer_in_the_address_no_signature_is_asked_for(
    published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    published.bundle.unlink()
    monkeypatch.setenv("NGYM_REGISTRY", f"{published.url}/index.json")
    assert names() == [NAME]
    assert published.asked == ["/index.json"]


def test_without_the_library_a_signed_registry_is_refused_with_the_command_that_installs_it(
    published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sigstore.models", None)
    assert "pip install 'sigstore>=4.5'" in catalogue().notes[0]
    result = published.sign()
    assert (result.exit_code, "sigstore>=4.5" in result.stderr) == (1, True)


def test_signing_needs_an_index_and_an_identity(
    published: Published, ngym: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("GITHUB_ACTIONS", "GITLAB_CI", "CIRCLECI", "BUILDKITE"):
        monkeypatch.delenv(variable, raising=False)
    folder = str(published.keeper.folder)
    before = published.bundle.read_bytes()
    for token in ("", "nonsense", services_of.token("x", "y")[:40]):
        result = ngym("registry", "sign", folder, SIGSTORE_IDENTITY_TOKEN=token)
        assert "cannot be signed" in result.stderr
        assert "id-token: write" in result.stderr
        assert token == "" or token not in result.output
    assert published.bundle.read_bytes() == before
    published.index.unlink()
    assert "ngym registry build" in ngym("registry", "sign", folder).stderr


def test_services_that_refuse_are_one_message(published: Published, others: Any) -> None:
    trust = others.trust_config(published.trust.with_name("gone.json"))
    trust.write_text(trust.read_text("utf-8").replace(others.url, "http://127.0.0.1:9"), "utf-8")
    before = published.bundle.read_bytes()
    result = published.sign(trust=trust)
    assert (result.exit_code, "was not signed" in result.stderr) == (1, True)
    assert published.bundle.read_bytes() == before


def test_a_signed_registry_is_a_valid_one(published: Published, ngym: Any) -> None:
    result = ngym("registry", "validate", str(published.keeper.folder))
    assert result.exit_code == 0, result.output


def test_a_remembered_registry_keeps_its_signer(
    published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    (listing,) = catalogue().listings
    remember(NAME, listing.address)
    assert remembered() == {NAME: published.address()}
    assert one_registry(read_address(remembered()[NAME])).names == [NAME]


class TestAddresses:
    def test_those_with_and_without_a_signer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ana = "https://lab.example/r#identity=ana@lab.example&issuer=https://accounts.example"
        monkeypatch.setenv("NGYM_REGISTRY", f"folder#1, {ana} ,https://x/#identity={WORKFLOW}")
        assert registries() == [
            Address("folder#1"),
            Address("https://lab.example/r", Signer("ana@lab.example", "https://accounts.example")),
            Address("https://x/", KEEPER),
        ]
        assert str(registries()[1]) == ana
        assert str(registries()[2]) == f"https://x/#identity={WORKFLOW}"

    @pytest.mark.parametrize(
        "rest",
        ["", "ana@lab.example", "ana@x&issuer=", f"{WORKFLOW}&isuer=x", "a&issuer=b&issuer=b"],
    )
    def test_a_signer_that_is_incomplete_or_mistyped_is_refused(
        self, rest: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("NGYM_REGISTRY", f"https://lab.example/r#identity={rest}")
        with pytest.raises(RegistryError, match="Expected the signer of the index as"):
            catalogue(offline=True)


def step(name: str) -> str:
    """Return the script of a step of the workflow that publishes an index."""
    text = (Path(keeping.__file__).parent / "new_registry/workflows/publish.yml").read_text("utf-8")
    script = text.split(f"- name: {name}\n")[1].split("run: |\n")[1].split("      - name:")[0]
    return "\n".join(line.removeprefix(" " * 10) for line in script.splitlines())


@pytest.mark.skipif(sys.platform == "win32", reason="the workflow runs on Linux")
def test_the_workflow_signs_and_publishes_index_signature_and_page(
    published: Published, ngym: Any, tmp_path: Path
) -> None:
    """Its own scripts, but for pip, the roots of trust, and the address of the repository."""
    folder, remote = tmp_path / "work" / "registry", tmp_path / "remote.git"
    assert (
        ngym("registry", "new", str(folder), "--keeper", "Kim", "--github-id", "3").exit_code == 0
    )
    for part in ("packages", "releases"):
        shutil.copytree(published.keeper.folder / part, folder / part)
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    script = tmp_path / "bin" / "ngym"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m neurogym_core "$@"\n', "utf-8")
    script.chmod(0o755)
    build = step("Build, and sign the index").splitlines()
    kept = [line for line in build if "pip install" not in line]
    assert len(build) - len(kept) == 2
    env = {
        **os.environ,
        "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}",
        "SIGSTORE_IDENTITY_TOKEN": services_of.token(WORKFLOW, GITHUB_ISSUER),
        "TOKEN": "t",
        "GITHUB_SHA": "0" * 40,
        "GITHUB_REPOSITORY": "lab/registry",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{remote.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://x-access-token:t@github.com/lab/registry.git",
    }
    text = "\n".join(kept) + "\n(" + step("Publish") + ")\n"
    text = text.replace(
        "registry sign registry", f"registry sign registry --trust-config {published.trust}"
    )
    done = subprocess.run(
        ["bash", "-e", "-c", text], cwd=folder.parent, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(
        ["git", "-C", str(remote), "ls-tree", "--name-only", "gh-pages"],
        check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    wanted = {"index.json", "index.json.gz", "index.json.sigstore.json", "index.html", ".nojekyll"}
    assert {*wanted, "index"} <= {*listed}
    assert not {".git", ".github", ".gitignore"} & {*listed}
    site = tmp_path / "site"
    subprocess.run(
        ["git", "clone", "--quiet", "--branch", "gh-pages", str(remote), str(site)], check=True
    )
    found = one_registry(Address(str(site), published.signer()))
    assert found.names == [NAME]
    assert list(found.named(NAME).releases) == ["1.0.0"]
