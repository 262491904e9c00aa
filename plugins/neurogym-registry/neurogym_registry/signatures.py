"""Sign ``index.json`` with sigstore, and verify its signature.

The signature is a sigstore bundle in ``index.json.sigstore.json``, beside the index: a certificate
of ten minutes for the identity of the signer, the signature, and the proof that both are in a
public log. The library `sigstore` is the extra ``sign`` of this package, and is imported when a
registry is signed or its settings name a signer."""

from __future__ import annotations

import importlib
import logging
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from neurogym_core.tools import clean, said_by
from neurogym_registry.addresses import Signer
from neurogym_registry.errors import RegistryError
from neurogym_registry.writing import write_text

SUFFIX = ".sigstore.json"
INSTALL = "`pip install 'sigstore>=4.5'`"
FRESH_DAYS = 30  # the workflow of `ngym registry new` signs every week


class Signed(NamedTuple):
    """A signed index: path of the bundle, and the signer that clients have to expect."""

    bundle: Path
    signer: Signer


def verify(index: bytes, bundle: bytes, signer: Signer, where: str, *, offline: bool) -> float:
    """Return the time of the signature of an index, in seconds since 1970.

    Args:
        index: the bytes of ``index.json``.
        bundle: the bytes of its bundle.
        signer: the expected signer.
        where: the registry, for messages.
        offline: do not ask the public sigstore instance for new keys of its services.

    Raises:
        RegistryError: the signature is not one of this index by this signer, or cannot be verified.
    """
    models = _library("sigstore.models")
    from sigstore.verify import Verifier, policy

    try:
        read = models.Bundle.from_json(bundle)
        verifier = Verifier(trusted_root=_trust(models, signer.trust_config, offline).trusted_root)
        expected = policy.Identity(identity=signer.identity, issuer=signer.issuer)
        verifier.verify_artifact(index, read, expected)
    except RegistryError:
        raise
    except Exception as error:  # malformed bundles raise errors of several libraries
        raise RegistryError(
            f"The registry {where} has an index whose signature does not hold:"
            f" {_reason(error)} Expected a signature by {signer}. While a new index is being"
            " published, try again in some minutes; otherwise report this to the registry's"
            " maintainers."
        ) from error
    # The log has vouched that the signature was made while the certificate was valid.
    return read.signing_certificate.not_valid_before_utc.timestamp()


def sign(folder: Path, token: str | None, trust_config: str) -> Signed:
    """Sign ``index.json`` of a registry, and write the bundle beside it.

    Args:
        folder: the registry.
        token: an OpenID Connect token of the signer for the audience ``sigstore``; None for the
            token of the workflow in which this runs.
        trust_config: file with addresses and roots of trust of a sigstore instance; "" for the
            public one.

    Raises:
        RegistryError: there is no index or no token, or a service of sigstore refused.
    """
    index = folder / "index.json"
    if not index.is_file():
        raise RegistryError(
            f"{folder} has no index.json. Expected a registry with an index. Write it with `ngym"
            " registry build`."
        )
    models = _library("sigstore.models")
    from sigstore import oidc
    from sigstore.sign import SigningContext

    identity = _identity(oidc, token)
    data = index.read_bytes()
    try:
        context = SigningContext.from_trust_config(_trust(models, trust_config, offline=False))
        with context.signer(identity) as signer:
            bundle = signer.sign_artifact(data)
    except RegistryError:
        raise
    except Exception as error:  # of requests, the services, and the library
        raise RegistryError(
            f"{index} was not signed: {_reason(error)} Expected a certificate and an entry in the"
            " log from the services of sigstore. Try again later."
        ) from error
    expected = Signer(identity.identity, identity.issuer, trust_config)
    verify(data, bundle.to_json().encode(), expected, str(folder), offline=True)
    target = index.with_name(index.name + SUFFIX)
    write_text(target, bundle.to_json() + "\n")
    return Signed(target, expected)


def _identity(oidc: ModuleType, token: str | None) -> Any:
    """Return the identity in a token.

    Raises:
        RegistryError: there is no token, or it has expired or another form.
    """
    try:
        found = token or oidc.detect_credential()
        if found is not None:
            return oidc.IdentityToken(found)
        reason = "no token was given, and this is no workflow that may request one"
    except oidc.IdentityError as error:
        reason = said_by(error)
    raise RegistryError(
        f"The index cannot be signed: {clean(reason)}. Expected the identity of a signer. Run"
        " `ngym registry sign` in a workflow with the permission `id-token: write`, set"
        " SIGSTORE_IDENTITY_TOKEN, or sign as yourself in a browser: `python -m sigstore sign"
        " index.json`."
    )


def _trust(models: ModuleType, file: str, offline: bool) -> Any:
    """Return the roots of trust and the addresses of a sigstore instance.

    Raises:
        RegistryError: the file cannot be read.
    """
    if file:
        try:
            return models.ClientTrustConfig.from_json(Path(file).read_text("utf-8"))
        except Exception as error:  # of pydantic too
            raise RegistryError(
                f"The trust configuration {clean(file)} cannot be read ({_reason(error)}) Expected"
                " a file of sigstore, a `ClientTrustConfig`. Correct `trust-config`."
            ) from error
    if offline:
        return models.ClientTrustConfig.production(offline=True)
    try:
        return models.ClientTrustConfig.production()
    except Exception:  # without network, the keys of the last update or of the library are used
        return models.ClientTrustConfig.production(offline=True)


def _library(name: str) -> ModuleType:
    """Import a module of sigstore.

    Raises:
        RegistryError: it is not installed.
    """
    # Its warnings on stderr would repeat the errors of `verify` and `sign`.
    logging.getLogger("sigstore").addHandler(logging.NullHandler())
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise RegistryError(
            "The signature of an index needs the library sigstore, which cannot be imported here"
            f" ({clean(said_by(error))}). Expected it to be installed: {INSTALL}."
        ) from error


def _reason(error: Exception) -> str:
    text = " ".join(clean(said_by(error)).split())
    return (text if len(text) <= 300 else f"{text[:297]}...").rstrip(".") + "."
