"""Look for the attestations of a released wheel (PEP 740) on the package indexes of pip."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from neurogym_core.tools import RegistryError, canonical
from neurogym_registry.fetch import allowed, fetch
from neurogym_registry.pip import configuration

PYPI = "https://pypi.org/simple"
ACCEPT = "application/vnd.pypi.simple.v1+json"
_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~/%+@=-]*)?")


def provenance_of(name: str, sha256: str) -> str | None:
    """Return the address of the attestations that an index has for a file, or None.

    The index verified them when the file was uploaded; they are not verified here. Indexes that do
    not answer, or do not speak JSON (PEP 691), have none.

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


def _indexes() -> Iterator[str]:
    """Yield the addresses of the indexes in pip's configuration that can be asked."""
    found = configuration()
    if found.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        return
    addresses = f"{found.get('index-url') or PYPI} {found.get('extra-index-url', '')}"
    for address in dict.fromkeys(addresses.split()):
        if allowed(address) and "@" not in address:
            yield address.rstrip("/")
