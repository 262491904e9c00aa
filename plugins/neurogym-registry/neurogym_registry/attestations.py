"""Find and verify the attestations of a released wheel (PEP 740), of the package indexes of pip."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from neurogym_core.tools import canonical, clean, said_by
from neurogym_registry.errors import RegistryError
from neurogym_registry.fetch import allowed, fetch
from neurogym_registry.pip import configuration

if TYPE_CHECKING:
    from neurogym_registry.wheels import Wheel

PYPI = "https://pypi.org/simple"
ACCEPT = "application/vnd.pypi.simple.v1+json"
INTEGRITY = "application/vnd.pypi.integrity.v1+json"
HOSTS = {"GitHub": "https://github.com/", "GitLab": "https://gitlab.com/"}
"""Publisher, as an attestation names it -> start of the address of its repositories."""
_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~/%+@=-]*)?")


def provenance_of(name: str, sha256: str) -> str | None:
    """Return the address of the attestations that an index has for a file, or None.

    Indexes that do not answer, or do not speak JSON (PEP 691), have none.

    Args:
        name: the package.
        sha256: hash of the wheel.
    """
    for index in _indexes():
        try:
            page = fetch(f"{index}/{canonical(name)}/", accept=ACCEPT).body or b""
            rows = json.loads(page)["files"]
            found = [row["provenance"] for row in rows if row["hashes"].get("sha256") == sha256]
        except (RegistryError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        for address in found:
            if isinstance(address, str) and len(address) <= 200 and _ADDRESS.fullmatch(address):
                return address
    return None


def attested(wheel: Wheel, repository: str) -> dict[str, str] | None:
    """Return the facts that the attestation of a wheel proves, or None if no index has one.

    The signatures are verified here, with the roots of trust in the library `sigstore`: the file
    with this hash was uploaded by a workflow of the repository.

    Args:
        wheel: the wheel.
        repository: address of the sources in the entry of the package.

    Returns:
        ``{"address": …, "repository": …, "workflow": …}``.

    Raises:
        RegistryError: an attestation does not hold, or is of another repository, or the library
            that verifies it is not installed.
    """
    address = provenance_of(wheel.name, wheel.sha256)
    if address is None:
        return None
    try:
        library = importlib.import_module("pypi_attestations")
    except ImportError as error:
        raise RegistryError(
            f"{wheel.path.name} has an attestation, which cannot be verified: pypi-attestations is"
            " not installed. Expected the extra `sign` of neurogym-registry. Install it. Nothing"
            " was written."
        ) from error
    file = library.Distribution(name=wheel.path.name, digest=wheel.sha256)
    try:
        found = library.Provenance.model_validate_json(fetch(address, accept=INTEGRITY).body or b"")
        publishers = []
        for bundle in found.attestation_bundles:
            for one in bundle.attestations:
                one.verify(bundle.publisher, file, offline=True)
                publishers.append(bundle.publisher)
    except Exception as error:  # of pydantic, sigstore and the index
        reason = said_by(error)
    else:
        wanted = _plain(repository)
        for one in publishers:
            place = f"{HOSTS.get(one.kind, '')}{getattr(one, 'repository', '')}"
            if _plain(place) == wanted:
                workflow = getattr(one, "workflow", None) or getattr(one, "workflow_filepath", "")
                return {"address": address, "repository": place, "workflow": clean(workflow)}
        reason = (
            f"it is of {', '.join(str(getattr(one, 'repository', one.kind)) for one in publishers)}"
            if publishers
            else "it has no signature"
        )
    raise RegistryError(
        f"The attestation of {wheel.path.name} at {address} does not hold: {clean(reason)[:300]}."
        f" Expected a signature of this file by a workflow of {clean(repository) or 'no one'}, the"
        " repository in the entry. Ask the maintainers of the package. Nothing was written."
    )


def said_of(attestation: Mapping[str, str] | None) -> str:
    """Return a sentence about an attestation."""
    if attestation is None:
        return "none on the package index"
    return (
        f"uploaded by {attestation['workflow']} of {attestation['repository']}; verified by the"
        " keepers"
    )


def _plain(address: str) -> str:
    """Return the address of a repository in one spelling."""
    return address.rstrip("/").removesuffix(".git").lower()


def _indexes() -> Iterator[str]:
    """Yield the addresses of the indexes in pip's configuration that can be asked."""
    found = configuration()
    if found.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        return
    addresses = f"{found.get('index-url') or PYPI} {found.get('extra-index-url', '')}"
    for address in dict.fromkeys(addresses.split()):
        if allowed(address) and "@" not in address:
            yield address.rstrip("/")
