"""Links from the glossary to the API reference, on the site."""

from __future__ import annotations

import re


def linked(glossary: str, api_page: str) -> str:
    """Return the glossary with links from the classes and functions that have a section in the API.

    Args:
        glossary, api_page: text of the two pages, which are in one folder.
    """
    sections = set(re.findall(r"^### (\w+)$", api_page, re.MULTILINE))

    def link(code: re.Match[str]) -> str:
        name = code["name"]
        return f"[{code[0]}](api.md#{name.lower()})" if name in sections else code[0]

    return re.sub(r"`[\w/]+\.py: (?P<name>\w+)[\w.]*`", link, glossary)
