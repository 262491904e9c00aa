"""Check that an SVG file is a drawing and nothing else.

A page of a registry shows drawings of other people. A drawing that a browser opens by itself can
run scripts and load files, unless it has only the elements and attributes listed here."""

from __future__ import annotations

import base64
import binascii
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_ELEMENTS = frozenset(
    ["svg", "g", "defs", "style", "path", "use", "text", "tspan", "rect", "circle", "ellipse",
     "line", "polyline", "polygon", "clipPath", "image", "title", "desc", "metadata", "symbol",
     "linearGradient", "radialGradient", "stop", "pattern", "mask"]
)  # fmt: skip
_ATTRIBUTES = frozenset(
    ["id", "class", "style", "d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry",
     "dx", "dy", "width", "height", "viewBox", "version", "transform", "points", "clip-path",
     "clip-rule", "clipPathUnits", "fill", "fill-opacity", "fill-rule", "font-family", "font-size",
     "font-style", "font-weight", "gradientTransform", "gradientUnits", "mask", "offset", "opacity",
     "patternContentUnits", "patternTransform", "patternUnits", "preserveAspectRatio", "stop-color",
     "stop-opacity", "stroke", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap",
     "stroke-linejoin", "stroke-miterlimit", "stroke-opacity", "stroke-width", "text-anchor",
     "type"]
)  # fmt: skip
_DOCTYPE = (
    '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"\n'
    '  "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
)
_PICTURE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=\s]*")
_PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
_UNSAFE_STYLE = re.compile(
    r"url\((?!\s*['\"]?#)|@|\\|//|(image|image-set|src|cross-fade|element|paint|expression)\s*\("
    r"|javascript|behavior|binding",
    re.IGNORECASE,
)
_RDF, _CC, _DC = (
    "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}",
    "{http://creativecommons.org/ns#}",
    "{http://purl.org/dc/elements/1.1/}",
)
_DESCRIBING = frozenset(
    [f"{_RDF}RDF", f"{_CC}Work", f"{_CC}Agent", f"{_RDF}Bag", f"{_RDF}li"]
    + [f"{_DC}{name}" for name in ("type", "date", "format", "creator", "title", "subject",
                                   "description", "rights", "publisher", "language")]
)  # fmt: skip
"""Elements within metadata: those that Matplotlib writes."""
_DESCRIBED_BY = frozenset([f"{_RDF}resource", f"{_RDF}about"])
_XML = frozenset("{http://www.w3.org/XML/1998/namespace}" + name for name in ("space", "lang"))
_REFERENCE = re.compile(r"url\(\s*['\"]?#([^)'\"\s]+)")
MOST_DRAWN = 100_000
"""Largest number of elements that a drawing may have, those counted again that it repeats."""


MOST_PIXELS = 20_000_000
"""Largest number of pixels in all pictures of a drawing: their files can be very small."""


def fault_of(data: bytes) -> str | None:
    """Return why a file is not only a drawing, or None if it is one."""
    try:
        text = data.decode("utf-8").replace("\r\n", "\n").replace(_DOCTYPE, "", 1)
        if "<!DOCTYPE" in text or "<!ENTITY" in text or "<?xml-stylesheet" in text:
            return "has a document type, an entity or an external style sheet"
        root = ElementTree.fromstring(text)
    except (UnicodeDecodeError, ElementTree.ParseError, ValueError, RecursionError):
        return "is not SVG in UTF-8"
    if root.tag != f"{_SVG}svg":
        return "is not SVG"
    return next(_faults(root), None) or _fault_of_pixels(root) or _fault_of_size(root)


def _faults(root: ElementTree.Element) -> Iterator[str]:
    pending = [(root, False)]  # elements, and whether they are within metadata
    while pending:
        element, described = pending.pop()
        within = described or element.tag == f"{_SVG}metadata"
        pending += [(one, within) for one in reversed(element)]
        if described:
            if element.tag not in _DESCRIBING:
                yield f"has {element.tag.removeprefix(_SVG)[:60]!r} in its metadata"
            for key in element.attrib.keys() - _DESCRIBED_BY:
                yield f"has the attribute {key[:60]!r} in its metadata"
            continue
        name = element.tag.removeprefix(_SVG)
        if not element.tag.startswith(_SVG) or name not in _ELEMENTS:
            yield f"contains the element {name[:60]!r}"
        if name == "style" and (len(element) or _UNSAFE_STYLE.search("".join(element.itertext()))):
            yield "has a style that loads something, or has elements"
        for key, value in element.attrib.items():
            picture = name == "image" and _PICTURE.fullmatch(value)
            if key in (_LINK, "href"):
                if not (value.startswith("#") or picture):
                    yield f"has a link to {value[:60]!r}"
            elif key not in _ATTRIBUTES and key not in _XML:
                yield f"has the attribute {key[:60]!r}"
            elif _UNSAFE_STYLE.search(value):
                yield f"has {value[:60]!r} in {key!r}"


def _fault_of_pixels(root: ElementTree.Element) -> str | None:
    """Return why the pictures of a drawing are none, or need too much memory."""
    pixels = 0
    for element in root.iter(f"{_SVG}image"):
        for key in (_LINK, "href"):
            if not element.attrib.get(key, "").startswith("data:"):
                continue
            text = "".join(element.attrib[key].partition(",")[2].split())
            try:
                head = base64.b64decode(text[:32], validate=True)
            except binascii.Error:
                head = b""
            if not head.startswith(_PNG) or len(head) < len(_PNG) + 8:
                return "has a picture that is not PNG"
            width, height = (int.from_bytes(head[at : at + 4], "big") for at in (16, 20))
            pixels += width * height
    if pixels > MOST_PIXELS:
        return f"has pictures of {pixels:,} pixels; at most {MOST_PIXELS:,}"
    return None


def _fault_of_size(root: ElementTree.Element) -> str | None:
    """Return why a drawing takes a browser's memory: it repeats its parts too often, or for ever.

    Links, and patterns, masks and so on that an attribute or a style names, count as their content.
    """
    named = {one.attrib["id"]: one for one in root.iter() if "id" in one.attrib}
    # A style may apply to any element, so all that the styles name counts for each element.
    styled = {
        name
        for style in root.iter(f"{_SVG}style")
        for name in _REFERENCE.findall("".join(style.itertext()))
    }
    sizes: dict[ElementTree.Element, int] = {}
    pending: list[tuple[ElementTree.Element, bool]] = [(root, False)]
    open_: set[ElementTree.Element] = set()
    while pending:
        element, seen = pending.pop()
        parts = [*element, *_named_by(element, named)]
        if seen:
            open_.discard(element)
            size = 1 + len(styled) + sum(sizes[part] for part in parts)
            sizes[element] = min(size, MOST_DRAWN + 1)  # doubled a thousand times, it is a long one
            continue
        if element in sizes:
            continue
        if element in open_:
            return "repeats a part within itself"
        open_.add(element)
        pending.append((element, True))
        pending += [(part, False) for part in parts if part not in sizes]
        if any(part in open_ for part in parts):
            return "repeats a part within itself"
    if sizes[root] > MOST_DRAWN:
        return f"has more than {MOST_DRAWN:,} elements, with those that it repeats"
    return None


def _named_by(
    element: ElementTree.Element, named: dict[str, ElementTree.Element]
) -> list[ElementTree.Element]:
    """Return the elements that the attributes of an element name."""
    found = []
    for key, value in element.attrib.items():
        names = [value[1:]] if key in (_LINK, "href") else _REFERENCE.findall(value)
        found += [named[name] for name in names if name in named]
    return found
