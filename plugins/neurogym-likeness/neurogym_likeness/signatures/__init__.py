"""Published signatures of behaviour: data in TOML files, and one function each.

Packages offer theirs through the entry-point group ``neurogym.signatures``.
"""

from __future__ import annotations

from neurogym_likeness.signatures.model import (
    Animal,
    Signature,
    signature,
    signature_names,
    signatures,
)

__all__ = ["Animal", "Signature", "signature", "signature_names", "signatures"]
