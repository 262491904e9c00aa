"""SPDX identifiers of the OSI-approved licences in common use."""

from __future__ import annotations

import re

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

OSI = frozenset({
    "0BSD", "AFL-3.0", "AGPL-3.0-only", "AGPL-3.0-or-later", "Apache-2.0", "Artistic-2.0",
    "BSD-1-Clause", "BSD-2-Clause", "BSD-2-Clause-Patent", "BSD-3-Clause", "BSD-3-Clause-LBNL",
    "BSL-1.0", "BlueOak-1.0.0", "CAL-1.0", "CECILL-2.1", "ECL-2.0", "EPL-2.0", "EUPL-1.2",
    "GPL-2.0-only", "GPL-2.0-or-later", "GPL-3.0-only", "GPL-3.0-or-later", "ISC", "LGPL-2.1-only",
    "LGPL-2.1-or-later", "LGPL-3.0-only", "LGPL-3.0-or-later", "MIT", "MIT-0", "MPL-2.0", "MS-PL",
    "MulanPSL-2.0", "NCSA", "OSL-3.0", "PSF-2.0", "PostgreSQL", "Python-2.0", "UPL-1.0",
    "Unlicense", "Zlib",
})  # fmt: skip


def is_open(expression: str) -> bool:
    """Whether an SPDX expression is valid, and consists of approved licences."""
    try:
        valid = canonicalize_license_expression(expression)
    except InvalidLicenseExpression:
        return False
    words = re.sub(r" WITH \S+", "", valid.replace("(", " ").replace(")", " ")).split()
    return all(word in OSI for word in words if word not in ("AND", "OR"))
