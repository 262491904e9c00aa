"""A sigstore instance of the tests: it issues certificates and keeps a log, as the public one does.

Its keys are its own; the formats are those of Fulcio (certificates with an embedded timestamp of
the certificate log, RFC 6962) and of Rekor (entries with an inclusion proof and a promise)."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import threading
import time
import uuid
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import rfc8785
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

ISSUER_EXTENSION = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
TIMESTAMPS_EXTENSION = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
EXTENSIONS = {
    name: x509.ObjectIdentifier(f"1.3.6.1.4.1.57264.1.{number}")
    for name, number in (("issued_by", 8), ("repository", 12), ("ref", 14), ("workflow", 18))
}
SHA256 = hashes.SHA256()


def token(identity: str, issuer: str, **extensions: str) -> str:
    """Return an unsigned OpenID Connect token; the service, not the client, would check one.

    Args:
        identity: the account or workflow.
        issuer: the service that vouches for it.
        extensions: names of `EXTENSIONS` -> texts of the certificate, which Fulcio derives itself.
    """
    now = int(time.time())
    claims = {
        "aud": "sigstore", "sub": identity, "iss": issuer, "iat": now, "nbf": now, "exp": now + 600,
        "extensions": extensions,
    }  # fmt: skip
    parts = ({"alg": "none", "typ": "JWT"}, claims)
    texts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts]
    return b".".join([*texts, b"c2ln"]).decode()


def public_bytes(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def key_id(key: ec.EllipticCurvePrivateKey) -> bytes:
    return hashlib.sha256(public_bytes(key)).digest()


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


class Services:
    """Certificate authority, certificate log and log of signatures, with an HTTP server.

    Attributes:
        age: how long ago certificates and entries are issued.
    """

    def __init__(self) -> None:
        self.authority, self.certificate_log, self.log = (
            ec.generate_private_key(ec.SECP256R1()) for _ in range(3)
        )
        self.age = timedelta()
        self.started = datetime.now(UTC) - timedelta(days=400)
        self.root = self.root_certificate()
        self.entries = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path == "/api/v2/signingCert":
                    bearer = self.headers["Authorization"].removeprefix("Bearer ")
                    answer = outer.signing_certificate(body, bearer)
                else:
                    answer = outer.entry(body)
                data = json.dumps(answer).encode()
                self.send_response(201)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}"

    @property
    def now(self) -> datetime:
        return datetime.now(UTC) - self.age

    def trust_config(self, path: Path) -> Path:
        """Write sigstore's file with the addresses and the roots of trust of this instance."""
        since = {"start": self.started.strftime("%Y-%m-%dT%H:%M:%SZ")}
        service = {"url": self.url, "majorApiVersion": 1, "validFor": since, "operator": "test"}
        config = {
            "mediaType": "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
            "trustedRoot": {
                "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
                "tlogs": [self.log_instance(self.log, since)],
                "ctlogs": [self.log_instance(self.certificate_log, since)],
                "certificateAuthorities": [
                    {
                        "subject": {"organization": "test", "commonName": "test"},
                        "uri": self.url,
                        "certChain": {
                            "certificates": [
                                {
                                    "rawBytes": encoded(
                                        self.root.public_bytes(serialization.Encoding.DER)
                                    )
                                }
                            ]
                        },
                        "validFor": since,
                    }
                ],
                "timestampAuthorities": [],
            },
            "signingConfig": {
                "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
                "caUrls": [service],
                "oidcUrls": [service],
                "rekorTlogUrls": [service],
                "tsaUrls": [],
                "rekorTlogConfig": {"selector": "ANY"},
                "tsaConfig": {"selector": "ANY"},
            },
        }
        path.write_text(json.dumps(config), "utf-8")
        return path

    def log_instance(self, key: ec.EllipticCurvePrivateKey, since: dict[str, str]) -> Any:
        return {
            "baseUrl": self.url,
            "hashAlgorithm": "SHA2_256",
            "publicKey": {
                "rawBytes": encoded(public_bytes(key)),
                "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                "validFor": since,
            },
            "logId": {"keyId": encoded(key_id(key))},
        }

    def root_certificate(self) -> x509.Certificate:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self.authority.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self.started)
            .not_valid_after(datetime.now(UTC) + timedelta(days=400))
            .add_extension(x509.BasicConstraints(ca=True, path_length=1), critical=True)
            .add_extension(self.usage(key_cert_sign=True, crl_sign=True), critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(self.authority.public_key()),
                critical=False,
            )
        )
        return builder.sign(self.authority, SHA256)

    def usage(self, **chosen: bool) -> x509.KeyUsage:
        names = (
            "digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
            "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
        )  # fmt: skip
        return x509.KeyUsage(**{name: chosen.get(name, False) for name in names})

    def signing_certificate(self, body: dict[str, str], bearer: str) -> Any:
        """Return a certificate of ten minutes for the identity in a token."""
        part = bearer.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        request = x509.load_pem_x509_csr(base64.b64decode(body["certificateSigningRequest"]))
        identity = claims["sub"]
        name = (
            x509.UniformResourceIdentifier(identity)
            if "://" in identity
            else x509.RFC822Name(identity)
        )
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(self.root.subject)
            .public_key(request.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self.now - timedelta(seconds=5))
            .not_valid_after(self.now + timedelta(minutes=10))
            .add_extension(self.usage(digital_signature=True), critical=True)
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.authority.public_key()),
                critical=False,
            )
            .add_extension(x509.SubjectAlternativeName([name]), critical=True)
            .add_extension(
                x509.UnrecognizedExtension(ISSUER_EXTENSION, claims["iss"].encode()),
                critical=False,
            )
        )
        for name, text in claims["extensions"].items():
            data = text.encode()
            length = bytes([len(data)]) if len(data) < 128 else b"\x81" + bytes([len(data)])
            extension = x509.UnrecognizedExtension(EXTENSIONS[name], b"\x0c" + length + data)
            builder = builder.add_extension(extension, critical=False)
        without = builder.sign(self.authority, SHA256).tbs_certificate_bytes
        timestamps = x509.UnrecognizedExtension(TIMESTAMPS_EXTENSION, self.timestamps(without))
        certificate = builder.add_extension(timestamps, critical=False).sign(self.authority, SHA256)
        chain = [
            one.public_bytes(serialization.Encoding.PEM).decode()
            for one in (certificate, self.root)
        ]
        return {"signedCertificateEmbeddedSct": {"chain": {"certificates": chain}}}

    def timestamps(self, precertificate: bytes) -> bytes:
        """Return the extension by which the certificate log vouches for a certificate."""
        when = int(self.now.timestamp() * 1000)
        length = len(precertificate).to_bytes(3, "big")
        signed = struct.pack("!BBQH", 0, 0, when, 1) + key_id(self.authority) + length
        signature = self.certificate_log.sign(signed + precertificate + b"\0\0", ec.ECDSA(SHA256))
        head = b"\0" + key_id(self.certificate_log) + struct.pack("!QH", when, 0)
        one = head + struct.pack("!BBH", 4, 3, len(signature)) + signature
        inner = struct.pack("!HH", len(one) + 2, len(one)) + one
        return (
            b"\x04"
            + (bytes([len(inner)]) if len(inner) < 128 else b"\x81" + bytes([len(inner)]))
            + inner
        )

    def statement(self, proposed: Any) -> Any:
        """Return the log's form of a signed statement: hashes and signatures, not the text."""
        envelope = json.loads(proposed["envelope"])
        texts = {
            "envelopeHash": proposed["envelope"].encode(),
            "payloadHash": base64.b64decode(envelope["payload"]),
        }
        signatures = [
            {"signature": one["sig"], "verifier": proposed["verifiers"][0]}
            for one in envelope["signatures"]
        ]
        found = {
            name: {"algorithm": "sha256", "value": hashlib.sha256(text).hexdigest()}
            for name, text in texts.items()
        }
        return {**found, "signatures": signatures}

    def entry(self, body: Any) -> Any:
        """Return the entry of a signature: the log has no other one, so its tree is one leaf."""
        if body["kind"] == "dsse":
            body = {**body, "spec": self.statement(body["spec"]["proposedContent"])}
        data = rfc8785.dumps(body)
        root = hashlib.sha256(b"\0" + data).digest()
        note = f"test\n1\n{encoded(root)}\n"
        mark = key_id(self.log)[:4] + self.log.sign(note.encode(), ec.ECDSA(SHA256))
        when, index = int(self.now.timestamp()), 0
        promise = rfc8785.dumps(
            {
                "body": encoded(data),
                "integratedTime": when,
                "logID": key_id(self.log).hex(),
                "logIndex": index,
            }
        )
        self.entries += 1
        return {
            uuid.uuid4().hex: {
                "body": encoded(data),
                "integratedTime": when,
                "logID": key_id(self.log).hex(),
                "logIndex": index,
                "verification": {
                    "signedEntryTimestamp": encoded(self.log.sign(promise, ec.ECDSA(SHA256))),
                    "inclusionProof": {
                        "logIndex": index,
                        "rootHash": root.hex(),
                        "treeSize": 1,
                        "hashes": [],
                        "checkpoint": f"{note}\n\u2014 test {encoded(mark)}\n",
                    },
                },
            }
        }
