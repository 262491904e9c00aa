"""Download an index over HTTP: https or loopback only, with limits of time and size."""

from __future__ import annotations

import ipaddress
import queue
import threading
import time
import urllib.error
import urllib.request
from http.client import HTTPException, HTTPMessage
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from neurogym_core.tools import clean, said_by
from neurogym_registry.errors import RegistryError
from neurogym_registry.packed import is_packed, unpacked

SOCKET_SECONDS = 3.0  # without a byte
TOTAL_SECONDS = 10.0  # and one more for each `BYTES_PER_SECOND` that have arrived
BYTES_PER_SECOND = 1_000_000
MAX_BYTES = 60_000_000  # compressed
MAX_TEXT = 200_000_000  # unpacked


class Fetched(NamedTuple):
    """Answer of a server; ``body`` is None if the caller's copy is current (status 304)."""

    body: bytes | None
    etag: str


def is_loopback(host: str | None) -> bool:
    """Whether a host is this machine."""
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def allowed(url: str) -> bool:
    """Whether an address may be used: https, or http on this machine."""
    parts = urlsplit(url)
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
    )


def fetch(
    url: str, etag: str = "", *, accept: str = "application/json", most: int | None = None
) -> Fetched:
    """Download from an address; a file of gzip is unpacked.

    Args:
        url: the address.
        etag: ETag of the caller's copy.
        accept: type of the file.
        most: number of bytes above which the text is refused; None: `MAX_TEXT`.

    Raises:
        RegistryError: the status is neither 200 nor 304, a redirect leaves https, or the answer is
            too large, too slow or truncated.
    """
    if not allowed(url):
        raise _failure(url, "is neither https nor on this machine")
    answers: queue.Queue[Any] = queue.Queue()
    clock = _Clock()
    # In a thread: the socket's time-out restarts with every byte, and name resolution has none.
    given = (url, etag, accept, MAX_TEXT if most is None else most, clock, answers)
    threading.Thread(target=_answer, args=given, daemon=True).start()
    while True:
        try:
            answer = answers.get(timeout=max(clock.left, 0.01))
            break
        except queue.Empty:
            if clock.left <= 0:
                raise _failure(url, f"did not answer in {clock.allowed:g} s") from None
    if isinstance(answer, Fetched):
        return answer
    if isinstance(answer, RegistryError):
        raise answer
    raise _failure(url, _reason(answer)) from answer


class _Clock:
    """The time that a download may take: more for large files that arrive quickly."""

    def __init__(self) -> None:
        self.began, self.size = time.monotonic(), 0

    @property
    def allowed(self) -> float:
        return TOTAL_SECONDS + self.size / BYTES_PER_SECOND

    @property
    def left(self) -> float:
        return self.began + self.allowed - time.monotonic()


def _answer(
    url: str, etag: str, accept: str, most: int, clock: _Clock, answers: queue.Queue[Any]
) -> None:
    try:
        answers.put(_fetch(url, etag, accept, most, clock))
    except Exception as error:
        answers.put(error)


def _fetch(url: str, etag: str, accept: str, most: int, clock: _Clock) -> Fetched:
    headers = {
        "Accept": accept,
        "Accept-Encoding": "gzip",
        "User-Agent": "ngym",
        **({"If-None-Match": etag} if etag else {}),
    }
    opener = _opener(url)
    try:
        with opener.open(
            urllib.request.Request(url, headers=headers), timeout=SOCKET_SECONDS
        ) as response:
            return Fetched(
                _body(url, response, most, clock), str(response.headers.get("ETag") or "")
            )
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 304 and etag:
                return Fetched(None, etag)
        raise


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Return an opener for HTTP and HTTPS only; urllib's default would follow redirects to ftp."""
    opener = urllib.request.OpenerDirector()
    handlers = [
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
        _Redirects,
    ]
    if not is_loopback(urlsplit(url).hostname):
        handlers.append(urllib.request.ProxyHandler)
    for handler in handlers:
        opener.add_handler(handler())
    return opener


class _Redirects(urllib.request.HTTPRedirectHandler):
    max_redirections = 5

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: Any,
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Follow a redirect, unless it leaves https or leads from another machine to this one."""
        here, there = urlsplit(req.full_url), urlsplit(newurl)
        inward = is_loopback(there.hostname) and not is_loopback(here.hostname)
        if not allowed(newurl) or inward or (here.scheme == "https" and there.scheme != "https"):
            raise _failure(req.full_url, f"redirects to {clean(newurl)}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _body(url: str, response: Any, most: int, clock: _Clock) -> bytes:
    length = str(response.headers.get("Content-Length") or "")
    promised = int(length) if length.isdecimal() else None
    if promised is not None and promised > MAX_BYTES:
        raise _failure(url, f"would send {promised:,} bytes; at most {MAX_BYTES:,} are read")
    parts = []
    while part := response.read1(65536):
        clock.size += len(part)
        if clock.size > MAX_BYTES:
            raise _failure(url, f"sends more than {MAX_BYTES:,} bytes")
        if clock.left < 0:
            raise TimeoutError
        parts.append(part)
    if promised is not None and clock.size < promised:
        raise _failure(url, f"sent {clock.size:,} of {promised:,} bytes")
    body = b"".join(parts)
    encoding = str(response.headers.get("Content-Encoding") or "identity").lower()
    if encoding not in ("identity", "gzip", "x-gzip"):
        raise _failure(url, f"sends the encoding {clean(encoding)[:40]!r}; gzip was asked for")
    try:
        text = body if encoding == "identity" else unpacked(body, most)
        # Some servers send .gz files as such, some as the encoding of the file that is in them.
        return unpacked(text, most) if is_packed(text) else text
    except ValueError as error:
        raise _failure(url, clean(str(error))) from error


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"answered {error.code} {clean(str(error.reason))}"
    if isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError):
        return "did not answer in time"
    if isinstance(error, urllib.error.URLError):
        return f"cannot be reached ({clean(str(error.reason))})"
    if isinstance(error, OSError | HTTPException):
        return f"cannot be read ({clean(said_by(error))})"
    return f"failed ({clean(said_by(error))})"


def _failure(url: str, reason: str) -> RegistryError:
    return RegistryError(
        f"{clean(url)} {reason}. Expected a file of a registry. Try again later, use --offline, or"
        " correct NGYM_REGISTRY."
    )
