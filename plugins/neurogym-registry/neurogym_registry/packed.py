"""Compress texts; equal texts give equal bytes."""

from __future__ import annotations

import zlib

_GZIP = zlib.MAX_WBITS | 16
_MAGIC = b"\x1f\x8b"
RATIO, SMALL = 60, 1_000_000
"""An index of 10,000 packages is 8 times as long as its compressed form."""


def packed(text: str) -> bytes:
    """Return a text in the format of gzip, without a time or a name."""
    return zlib.compress(text.encode(), 9, wbits=_GZIP)


def is_packed(data: bytes) -> bool:
    """Whether data begin as files of gzip do."""
    return data.startswith(_MAGIC)


def unpacked(data: bytes, most: int) -> bytes:
    """Return the content of a gzip file.

    Args:
        data: the bytes of the file.
        most: number of bytes above which the content is refused; so is one that is `RATIO` times as
            long as the data, and has more than a million bytes.

    Raises:
        ValueError: the file is damaged, ends early, or has more content; the message completes a
            sentence that begins with its sender.
    """
    most = min(most, max(RATIO * len(data), SMALL))
    machine = zlib.decompressobj(wbits=_GZIP)
    try:
        text = machine.decompress(data, most)
    except zlib.error as error:
        raise ValueError(f"sends damaged data ({error})") from error
    if machine.unconsumed_tail:
        raise ValueError(f"sends more than {most:,} bytes, compressed")
    if not machine.eof:
        raise ValueError("sent compressed data that end early")
    return text
