"""The addresses of registries in `NGYM_REGISTRY`, and the signer that each of them names.

An address may end in a fragment that names the signer of the index:
``https://lab.example/registry#identity=IDENTITY&issuer=ISSUER``. The client then refuses an index
without a valid signature of this identity (see `signatures`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from neurogym_core.tools import clean
from neurogym_registry.errors import RegistryError

VARIABLE = "NGYM_REGISTRY"
GITHUB = "https://github.com/"
GITHUB_ISSUER = "https://token.actions.githubusercontent.com"
_MARK = "#identity="


class Signer(NamedTuple):
    """The account or workflow that signs an index.

    Attributes:
        identity: an email address, or the address of a workflow with its branch, as in
            ``https://github.com/lab/registry/.github/workflows/publish.yml@refs/heads/main``.
        issuer: address of the service that vouches for the identity.
        trust_config: file with the roots of trust of another sigstore instance; "" for the public
            one.
    """

    identity: str
    issuer: str
    trust_config: str = ""

    def __str__(self) -> str:
        """Return the signer as text, for messages."""
        return f"{clean(self.identity)} (issuer {clean(self.issuer)})"


class Address(NamedTuple):
    """Place of a registry: an https address, a ``file://`` address or a path, and its signer."""

    place: str
    signer: Signer | None = None

    def __str__(self) -> str:
        """Return the address in the form that `read_address` reads."""
        return self.place if self.signer is None else f"{self.place}{fragment(self.signer)}"


NOWHERE = Address("")  # of the list bundled with this package


def registries() -> list[Address]:
    """Return the addresses in `NGYM_REGISTRY`, which are separated by commas.

    Raises:
        RegistryError: the signer in one of them is incomplete.
    """
    parts = (part.strip() for part in os.environ.get(VARIABLE, "").split(","))
    return [read_address(part) for part in parts if part]


def read_address(text: str) -> Address:
    """Return the address in a text.

    Raises:
        RegistryError: its signer is incomplete, or has an unknown field.
    """
    place, mark, rest = text.partition(_MARK)
    if not mark:
        return Address(text)
    identity, *others = rest.split("&")
    fields = dict(other.partition("=")[::2] for other in others)
    issuer = fields.pop("issuer", "")
    trust_config = fields.pop("trust-config", "")
    if not issuer and identity.startswith(GITHUB):
        issuer = GITHUB_ISSUER
    if not identity or not issuer or fields or len(others) != len({*others}):
        raise RegistryError(
            f"{VARIABLE} was given {clean(text)!r}. Expected the signer of the index as"
            " ADDRESS#identity=IDENTITY&issuer=ISSUER; workflows of GitHub need no issuer. Copy the"
            " line from the registry's page, with quotation marks around it."
        )
    return Address(place, Signer(identity, issuer, trust_config))


def fragment(signer: Signer) -> str:
    """Return the part of an address that names its signer."""
    issuer = "" if signer.identity.startswith(GITHUB) and signer.issuer == GITHUB_ISSUER else (
        f"&issuer={signer.issuer}"
    )  # fmt: skip
    trust = f"&trust-config={signer.trust_config}" if signer.trust_config else ""
    return f"{_MARK}{signer.identity}{issuer}{trust}"


def absolute(address: Address) -> Address:
    """Return the address with absolute paths."""
    place, signer = address
    if "://" not in place:
        place = str(Path(place).resolve())
    if signer is not None and signer.trust_config:
        signer = signer._replace(trust_config=str(Path(signer.trust_config).resolve()))
    return Address(place, signer)
