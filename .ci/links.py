"""Find the targets of links and pictures in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Blocks and spans of code, and comments: a page renders no links in them.
_CODE = re.compile(
    r"^(?P<indent> *)(?P<fence>```+|~~~+).*?^ *(?P=fence)[`~]*[ \t]*$"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)*?(?<!`)(?P=ticks)(?!`)"
    r"|<!--.*?-->",
    re.S | re.M,
)
_TITLE = r"""(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*"""
_INLINE = re.compile(
    rf"\]\(\s*(?:<(?P<angle>[^<>\n]*)>|(?P<plain>(?:[^\s()<>]|\([^\s()]*\))+)){_TITLE}\)"
)
_REFERENCE = re.compile(
    r"^[ >*+-]{0,8}\[(?!\^)[^\]\n]+\]:\s*(?:<(?P<angle>[^<>\n]*)>|(?P<plain>[^\s<>]+))", re.M
)
_TAG = re.compile(r"<[a-z][^<>]*>", re.I)
_ATTRIBUTE = re.compile(
    r"""\s(?:xlink:)?(?P<name>src|href|srcset|poster|data|action)\s*=\s*"""
    r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<plain>[^\s"'<>]+))""",
    re.I,
)
_CANDIDATE = re.compile(r"(?:^|,)\s*(?P<plain>[^\s,]+)")  # of srcset: an address and its width
_ABSOLUTE = re.compile(r"(https?|ftp)://|//|(mailto|tel|doi|data):|#", re.I)


@dataclass(frozen=True)
class Target:
    """A target, and the place in the text where it begins."""

    text: str
    start: int


def _of(match: re.Match[str]) -> Target:
    """Return the target in one of the named groups."""
    (name,) = {"angle", "plain", "double", "single"} & {
        key for key, one in match.groupdict().items() if one is not None
    }
    return Target(match[name], match.start(name))


def relative_targets(text: str) -> list[Target]:
    """Return the targets in a Markdown text that are paths, in order, without those in code.

    They are those of links, of pictures, of definitions of references, and of HTML elements."""
    rendered = _CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    found = [_of(match) for form in (_INLINE, _REFERENCE) for match in form.finditer(rendered)]
    for tag in _TAG.finditer(rendered):
        for target in _in_tag(tag[0]):
            found.append(Target(target.text, target.start + tag.start()))
    return sorted(
        (one for one in found if not _ABSOLUTE.match(one.text)), key=lambda one: one.start
    )


def _in_tag(tag: str) -> Iterator[Target]:
    """Yield the targets of an HTML element; `srcset` has several."""
    for match in _ATTRIBUTE.finditer(tag):
        target = _of(match)
        if match["name"].lower() != "srcset":
            yield target
            continue
        for one in map(_of, _CANDIDATE.finditer(target.text)):
            yield Target(one.text, target.start + one.start)
