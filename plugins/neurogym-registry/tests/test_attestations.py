"""Attestations of a wheel are found on the package indexes of pip's configuration, and verified."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import made_packages as packages
import pytest
from neurogym_registry import attestations, pip
from neurogym_registry.addresses import GITHUB_ISSUER
from neurogym_registry.attestations import ACCEPT, INTEGRITY, attested, provenance_of, said_of
from neurogym_registry.errors import RegistryError
from neurogym_registry.wheels import read_wheel

makers = sys.modules["ngym_test_registry_makers"]

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


REPOSITORY = "https://github.com/lab/dots"


@pytest.fixture(scope="module")
def services() -> Iterator[Any]:
    """A sigstore instance, with the keys that clients have."""
    pytest.importorskip("pypi_attestations", reason="pypi-attestations is not installed")
    import sigstore_services

    found = sigstore_services.Services()
    yield found
    found.close()


class Signing:
    """Signs wheels as workflows of repositories, and serves the attestations."""

    def __init__(self, services: Any, index: PackageIndex, folder: Path, patch: Any) -> None:
        from sigstore.models import ClientTrustConfig
        from sigstore.verify import Verifier

        self.index = index
        self.trust = lambda one: ClientTrustConfig.from_json(
            one.trust_config(folder / "trust.json").read_text("utf-8")
        )
        self.services = services
        self.offline: list[bool] = []

        def production(*, offline: bool = False) -> Any:
            self.offline.append(offline)
            return Verifier(trusted_root=self.trust(services).trusted_root)

        address = f"http://127.0.0.1:{index.http.server_port}/provenance"
        patch.setattr(Verifier, "production", production)
        patch.setattr(attestations, "provenance_of", lambda name, sha256: address)

    def sign(self, wheel: Any, repository: str = "lab/dots", services: Any = None) -> Any:
        """The attestation of a wheel by the workflow release.yml of a repository."""
        import sigstore_services
        from pypi_attestations import Attestation, Distribution
        from sigstore.oidc import IdentityToken
        from sigstore.sign import SigningContext

        source = f"https://github.com/{repository}"
        workflow = f"{source}/.github/workflows/release.yml@refs/tags/v1"
        token = sigstore_services.token(
            workflow, GITHUB_ISSUER, issued_by=GITHUB_ISSUER, repository=source, ref="refs/tags/v1",
            workflow=workflow,
        )  # fmt: skip
        context = SigningContext.from_trust_config(self.trust(services or self.services))
        file = Distribution(name=wheel.path.name, digest=wheel.sha256)
        with context.signer(IdentityToken(token)) as signer:
            return json.loads(Attestation.sign(signer, file).model_dump_json())

    def serve(self, *found: Any, repository: str = "lab/dots") -> None:
        publisher = {"kind": "GitHub", "repository": repository, "workflow": "release.yml"}
        bundle = {"publisher": publisher, "attestations": list(found)}
        self.index.body = json.dumps({"version": 1, "attestation_bundles": [bundle]}).encode()


@pytest.fixture
def signing(
    services: Any, index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Signing:
    return Signing(services, index, tmp_path, monkeypatch)


def folder_in(path: Path) -> Path:
    (path / "other").mkdir()
    return path / "other"


@pytest.fixture
def wheel(tmp_path: Path) -> Any:
    return read_wheel(packages.wheel(makers.dots_package(), tmp_path))


@pytest.mark.parametrize("entry", [REPOSITORY, f"{REPOSITORY}.git", "https://github.com/Lab/dots/"])
def test_an_attestation_by_a_workflow_of_the_repository_holds(
    signing: Signing, wheel: Any, entry: str
) -> None:
    signing.serve(signing.sign(wheel))
    found = attested(wheel, entry)
    assert found is not None
    assert (found["repository"], found["workflow"]) == (REPOSITORY, "release.yml")
    assert signing.offline == [True]
    assert signing.index.asked == [("/provenance", INTEGRITY)]
    assert said_of(found).startswith("uploaded by release.yml of https://github.com/lab/dots")


def test_an_attestation_of_another_file_does_not_hold(
    signing: Signing, wheel: Any, tmp_path: Path
) -> None:
    """The same name and version, with other content."""
    other = packages.wheel(makers.dots_package(source=f"{makers.TASK}#"), folder_in(tmp_path))
    signing.serve(signing.sign(read_wheel(other)))
    with pytest.raises(RegistryError, match="does not match distribution digest"):
        attested(wheel, REPOSITORY)


@pytest.mark.parametrize(
    ("signed_by", "stated", "entry"),
    [
        ("thief/dots", "thief/dots", REPOSITORY),
        ("thief/dots", "lab/dots", REPOSITORY),
        ("lab/dots", "lab/dots", "https://gitlab.com/lab/dots"),
        ("lab/dots", "lab/dots", ""),
    ],
    ids=["of another repository", "that states another signer", "of another host", "no entry"],
)
def test_an_attestation_of_others_does_not_hold(
    signing: Signing, wheel: Any, signed_by: str, stated: str, entry: str
) -> None:
    signing.serve(signing.sign(wheel, signed_by), repository=stated)
    with pytest.raises(RegistryError, match="does not hold"):
        attested(wheel, entry)


def test_an_attestation_that_another_instance_signed_does_not_hold(
    signing: Signing, wheel: Any
) -> None:
    import sigstore_services

    others = sigstore_services.Services()
    try:
        signing.serve(signing.sign(wheel, services=others))
    finally:
        others.close()
    with pytest.raises(RegistryError, match="does not hold"):
        attested(wheel, REPOSITORY)


def test_one_false_signature_beside_a_good_one_is_refused(
    signing: Signing, wheel: Any, tmp_path: Path
) -> None:
    other = packages.wheel(makers.dots_package(source=f"{makers.TASK}#"), folder_in(tmp_path))
    signing.serve(signing.sign(wheel), signing.sign(read_wheel(other)))
    with pytest.raises(RegistryError, match="does not hold"):
        attested(wheel, REPOSITORY)


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[" * 100_000, b'{"version": 1, "attestation_bundles": []}',
     b'{"version": 2, "attestation_bundles": []}'],
    ids=["empty", "no fields", "deep", "no signature", "another version"],
)  # fmt: skip
def test_what_is_no_attestation_is_refused(signing: Signing, wheel: Any, body: bytes) -> None:
    signing.index.body = body
    with pytest.raises(RegistryError, match="does not hold"):
        attested(wheel, REPOSITORY)


def test_an_attestation_that_cannot_be_verified_is_refused(
    wheel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attestations, "provenance_of", lambda name, sha256: ADDRESS)
    monkeypatch.setitem(sys.modules, "pypi_attestations", None)
    with pytest.raises(
        RegistryError, match="cannot be verified: pypi-attestations is not installed"
    ):
        attested(wheel, REPOSITORY)


def test_a_wheel_without_attestation_has_none(wheel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(attestations, "provenance_of", lambda *given: asked.append(given))
    assert attested(wheel, REPOSITORY) is None
    digest = hashlib.sha256(wheel.path.read_bytes()).hexdigest()
    assert asked == [("neurogym-task-dots", digest)]
    assert said_of(None) == "none on the package index"
