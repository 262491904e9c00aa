"""The catalogue page of a registry: one self-contained HTML file, without server or network.

The page is built from elements that escape their text, so that no text of a package can become
markup."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from neurogym_core.tools import Reference, as_text, clean
from neurogym_registry.folder import Registry
from neurogym_registry.index import build_index
from neurogym_registry.wheels import sha256_of

_ASSETS = Path(__file__).with_name("page_assets")
_VOID = ("meta", "input", "img", "link")


class Html(str):
    """Markup that is inserted into the page unchanged; any other text is escaped."""

    __slots__ = ()


def element(name: str, /, *children: Any, **attributes: Any) -> Html:
    """Return an element.

    Underscores in attribute names become hyphens, and ``class_`` becomes ``class``. An attribute
    that is None is left out; True writes it without a value.
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        label = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(f" {label}")
        elif value is not None and value is not False:
            parts.append(f' {label}="{html.escape(clean(str(value)), quote=True)}"')
    body = "".join(
        child if isinstance(child, Html) else escaped(child)
        for child in children
        if child is not None
    )
    return Html("".join(parts) + ">" + ("" if name in _VOID else f"{body}</{name}>"))


def escaped(text: Any) -> Html:
    """Return a text as HTML, without control and reordering characters."""
    return Html(html.escape(clean(str(text), keep_lines=True), quote=True))


def page(registry: Registry) -> str:
    """Return the page of a valid registry; equal files give equal pages."""
    index = build_index(registry, full=True)
    packages = index["packages"]
    tasks = [(package, task) for package in packages for task in package["tasks"]]
    css, script = _asset("catalogue.css"), _asset("catalogue.js")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(css, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", "Tasks for neurogym-core"),
        element("link", rel="icon", href="data:,"),
        element("style", Html(css)),
    )
    body = element(
        "body",
        element("a", "To the tasks", href="#tasks", class_="skip"),
        element("h1", "Tasks for neurogym-core"),
        element(
            "p",
            f"{len(tasks)} tasks in {len(packages)} packages. Serial of the registry:"
            f" {index['serial']}.",
            class_="soft",
        ),
        _filters(packages, tasks),
        element(
            "main",
            *[_task(registry, package, task) for package, task in tasks],
            id="tasks",
            tabindex="-1",
        ),
        element("section", element("h2", "Packages"), *[_package(one) for one in packages]),
        element("script", Html(script)),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")


def _policy(css: str, script: str) -> str:
    """Return a policy without network: the page's style and script, by hash, and inline images."""
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (css, script)
    ]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


# -- searching --------------------------------------------------


def _filters(
    packages: Sequence[Mapping[str, Any]], tasks: Sequence[tuple[Any, Mapping[str, Any]]]
) -> Html:
    words = {
        kind: sorted({word for _, task in tasks for word in task[kind]})
        for kind in ("tags", "species")
    }
    names = [package["name"] for package in packages if package["tasks"]]
    search = element(
        "input",
        id="search",
        type="search",
        autocomplete="off",
        placeholder="all of these words",
    )
    return element(
        "div",
        element("label", "Search ( / )", search),
        _choice("tags", "Tag", words["tags"]),
        _choice("species", "Species", words["species"]),
        _choice("package", "Package", names),
        element(
            "p",
            element("span", id="count", role="status"),
            " ",
            element("button", "Show all", id="reset", type="button"),
        ),
        class_="filters needs-script",
        role="search",
        hidden=True,
    )


def _choice(name: str, label: str, values: Iterable[str]) -> Html:
    options = [
        element("option", "all", value=""),
        *(element("option", value, value=value) for value in values),
    ]
    return element("label", label, element("select", *options, id=name))


# -- one task --------------------------------------------------


def _task(registry: Registry, package: Mapping[str, Any], task: Mapping[str, Any]) -> Html:
    identity = f"{package['namespace']}/{task['name']}"
    return element(
        "details",
        element(
            "summary",
            element("span", task["title"], class_="title"),
            " ",
            element("span", identity, class_="id"),
            element("p", task["summary"]),
            element(
                "p",
                *[
                    element("span", word, class_="tag")
                    for word in (*task["tags"], *task["species"])
                ],
            ),
        ),
        element("div", *_inside(registry, package, task, identity)),
        id=identity,
        class_="task",
        data_text=_text(package, task, identity),
        data_tags=" ".join(task["tags"]),
        data_species=" ".join(task["species"]),
        data_package=package["name"],
    )


def _text(package: Mapping[str, Any], task: Mapping[str, Any], identity: str) -> str:
    """Return the searched text of a task, in lower case."""
    references = (str(value) for reference in task["references"] for value in reference.values())
    words = (
        identity,
        task["title"],
        task["summary"],
        package["name"],
        *task["tags"],
        *task["species"],
    )
    return " ".join((*words, *task.get("aliases", ()), *references)).lower()


def _inside(
    registry: Registry, package: Mapping[str, Any], task: Mapping[str, Any], identity: str
) -> Iterable[Html | None]:
    yield _figure(registry, package, task)
    yield _papers(task["references"])
    yield _origin(package)
    if task.get("docstring"):
        yield element("h3", "Description")
        yield from _paragraphs(task["docstring"])
    yield _table("Parameters", task.get("parameters"), ("name", "type", "default", "doc"))
    yield _table("Channels", task.get("channels"), ("name", "size", "kind"))
    yield _table("Actions", task.get("actions"), ("name", "size", "kind"))
    yield _table("Periods", task.get("periods"), ("name", "duration"))
    yield _snippet(
        "Install" if package["latest"] else "Install, in a checkout of the repository",
        "Copy the command",
        f"ngym install {package['name']}"
        if package["latest"]
        else f"pip install -e {package['folder']}",
        f"install-{identity}",
    )
    if task["references"]:
        yield _snippet(
            "Cite",
            "Copy the references",
            "\n\n".join(Reference(**one).bibtex for one in task["references"]),
            f"cite-{identity}",
        )


def _paragraphs(docstring: str) -> Iterable[Html]:
    """Yield the paragraphs of a docstring; lists and indented parts as preformatted text."""
    for part in docstring.split("\n\n"):
        lines = part.splitlines()
        preformatted = any(line.startswith((" ", "- ", "* ")) for line in lines)
        yield element("pre", part) if preformatted else element("p", " ".join(lines))


def _figure(registry: Registry, package: Mapping[str, Any], task: Mapping[str, Any]) -> Html | None:
    """Return the figure as an img, in which no script runs; the policy also forbids scripts."""
    figure = task.get("figure")
    if not figure:
        return None
    path = registry.folder / "releases" / package["name"] / figure["file"]
    if not path.is_file() or path.is_symlink() or sha256_of(path) != figure["sha256"]:
        return None
    data = base64.b64encode(path.read_bytes()).decode()
    periods = ", ".join(str(row["name"]) for row in task.get("periods", ()))
    alt = (
        f"One trial of {task['title']}, drawn over time: {periods}."
        if periods
        else f"One trial of {task['title']}."
    )
    return element("img", src=f"data:image/svg+xml;base64,{data}", alt=alt, loading="lazy")


def _papers(references: Sequence[Mapping[str, Any]]) -> Html | None:
    if not references:
        return None
    rows = []
    for one in references:
        year = f"({one['year']})" if one.get("year") else ""
        said = " ".join(
            filter(
                None, [one.get("authors", ""), year, one.get("title", ""), one.get("journal", "")]
            )
        )
        link = element(
            "a",
            f"doi:{one['doi']}",
            href=f"https://doi.org/{quote(one['doi'], safe='/')}",
            rel="noreferrer",
        )
        rows.append(element("p", f"{one['kind']}: {said} ", link))
    return element("div", element("h3", "Papers"), *rows)


def _origin(package: Mapping[str, Any]) -> Html:
    """Return the release that a task is listed from, with its checks and licence.

    A package without a release is listed from its sources, which have neither.
    """
    if package["latest"] is None:
        return element("p", f"{package['name']}, from its sources", class_="soft")
    release = next(one for one in package["releases"] if one["version"] == package["latest"])
    return element(
        "p",
        element("span", f"{package['name']} {release['version']}", class_="soft"),
        " ",
        _badge(release["conformance"]),
        " ",
        element("span", release["license"], class_="badge"),
    )


def _badge(said: Mapping[str, Any] | None) -> Html:
    if said is None:
        return element("span", "not checked", class_="badge bad")
    good = not said["failed"]
    kind = "conformance" if said["isolated"] else "claimed conformance"
    text = f"{kind}: {said['passed']} passed, {said['failed']} failed"
    if said["expected_failures"]:
        text += f", {len(said['expected_failures'])} excused"
    return element("span", text, class_=f"badge {'good' if good else 'bad'}")


def _table(title: str, rows: Any, columns: Sequence[str]) -> Html | None:
    if not rows:
        return None
    head = element("tr", *[element("th", column, scope="col") for column in columns])
    body = [
        element("tr", *[element("td", _cell(row, column)) for column in columns]) for row in rows
    ]
    return element(
        "div", element("h3", title), element("div", element("table", head, *body), class_="wide")
    )


def _cell(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    if column == "duration":
        return as_text(value, "ms") or "computed"
    return as_text(value)


def _snippet(title: str, label: str, text: str, name: str) -> Html:
    return element(
        "div",
        element("h3", title),
        element("pre", text, id=name),
        element(
            "button", label, type="button", data_copies=name, class_="needs-script", hidden=True
        ),
    )


# -- packages --------------------------------------------------


def _package(package: Mapping[str, Any]) -> Html:
    state = package["latest"] or "no release yet"
    if package["status"] != "active":
        state += f", {package['status']}"
    repository = package.get("repository", "")
    link = (
        element("a", repository, href=repository, rel="noreferrer")
        if repository.startswith("https://")
        else None
    )
    folder = package.get("folder")
    return element(
        "div",
        element("h3", f"{package['name']} ({state})"),
        element("p", package["summary"]),
        element(
            "p", "by ", ", ".join(one["name"] for one in package["maintainers"]), class_="soft"
        ),
        (
            element("p", link)
            if link
            else element("p", f"in the repository of the core: {folder}", class_="soft")
        ),
    )
