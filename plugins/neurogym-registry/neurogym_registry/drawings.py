"""Check that an SVG file is a drawing and nothing else.

A page of a registry shows drawings of other people. A drawing that a browser opens by itself can
run scripts and load files, unless it has only the elements and attributes listed here."""

from __future__ import annotations

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
_UNSAFE_STYLE = re.compile(
    r"url\((?!\s*['\"]?#)|@|\\|expression|javascript|behavior", re.IGNORECASE
)


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
    return next(_faults(root), None)


def _faults(root: ElementTree.Element) -> Iterator[str]:
    described = {
        inner for one in root.iter(f"{_SVG}metadata") for inner in one.iter() if inner is not one
    }
    for element in root.iter():
        if element in described:
            if element.tag.startswith(_SVG):
                yield f"has {element.tag.removeprefix(_SVG)!r} in its metadata"
            continue
        name = element.tag.removeprefix(_SVG)
        if not element.tag.startswith(_SVG) or name not in _ELEMENTS:
            yield f"contains the element {name[:60]!r}"
        if name == "style" and _UNSAFE_STYLE.search(element.text or ""):
            yield "has a style that loads something"
        for key, value in element.attrib.items():
            picture = name == "image" and _PICTURE.fullmatch(value)
            if key in (_LINK, "href"):
                if not (value.startswith("#") or picture):
                    yield f"has a link to {value[:60]!r}"
            elif key not in _ATTRIBUTES and not key.startswith("{http://www.w3.org/XML/"):
                yield f"has the attribute {key[:60]!r}"
            elif _UNSAFE_STYLE.search(value):
                yield f"has {value[:60]!r} in {key!r}"
