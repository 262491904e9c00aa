"""Every rule of the registry: violations are found, with file and field; valid registries pass."""

from __future__ import annotations

import base64
import hashlib
import shutil
import sys
from pathlib import Path

import environments
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neurogym_check.digest import agree
from neurogym_registry.drawings import fault_of
from neurogym_registry.folder import dumps
from neurogym_registry.names import MANY, Similar, distance, likeness, might_resemble
from neurogym_registry.rules import RULES, validate
from neurogym_registry.writing import write_bytes, write_text

makers = sys.modules["ngym_test_registry_makers"]
REGISTRY = environments.REPOSITORY / "registry"
NAME = "neurogym-task-dots"
MODULE = "neurogym_task_dots"
CONFORMANCE = makers.release(NAME)["conformance"]


def row(**fields):
    return makers.task_row(MODULE, **fields)


BROKEN_RELEASES = {
    "schema": {"license": 3},
    "file-name": {"version": "1.0.1"},
    "wheel-name": {
        "files": [{"filename": "other-1.0.0-py3-none-any.whl", "sha256": "a" * 64, "size": 1}]
    },
    "core-bound": {"requires_core": ">=1.0"},
    "python-bound": {"requires_python": ""},
    "licence": {"license": "Do what I say"},
    "own-modules": {"tasks": [row(entry_point="numpy.random:Dots")]},
    "requirements": {"requires": ["neurogym-core>=1.0,<2", "evil @ https://example.org/e.tar.gz"]},
    "template": {"tasks": [row(docstring="Walk.\n\nCite here the paper that the task follows.")]},
    "unique-names": {"tasks": [row(), row()]},
    "plain-text": {"tasks": [row(title="Dots\u202e")]},
    "conformance": {"conformance": {**CONFORMANCE, "failed": 1}},
    "figure": {"tasks": [row(figure={"file": "1.0.0/Dots-v0.svg", "sha256": "b" * 64})]},
}


def test_a_good_registry_breaks_no_rule(keeper) -> None:
    keeper.package(NAME, "1.0.0", "1.1.0")
    keeper.revoke(
        {"name": NAME, "versions": ["1.0.0"], "reason": "Deletes files.", "date": "2026-11-21"}
    )
    keeper.build()
    assert validate(keeper.folder) == []


@pytest.mark.parametrize("rule", BROKEN_RELEASES)
def test_a_release_that_breaks_a_rule_is_named_with_file_and_rule(keeper, rule: str) -> None:
    keeper.package(NAME, "1.0.0", change=BROKEN_RELEASES[rule])
    found = [one for one in validate(keeper.folder) if one.level == "error"]
    assert {one.rule for one in found} == {rule}
    assert {one.file for one in found} == {f"releases/{NAME}/1.0.0.json"}
    assert all(one.field and one.message for one in found)


@pytest.mark.parametrize(
    ("core", "good"),
    [
        (">=1.0,<2", True),
        ("~=1.2", True),
        ("==1.*", True),
        ("<2", False),
        (">=1", False),
        ("", False),
        ("1 to 2", False),
    ],
)
def test_the_core_s_bounds(keeper, core: str, good: bool) -> None:
    keeper.package(NAME, "1.0.0", requires_core=core)
    assert (keeper.rules() == set()) is good


@pytest.mark.parametrize(
    ("licence", "good"),
    [
        ("MIT", True),
        ("MIT OR (Apache-2.0 AND BSD-3-Clause)", True),
        ("", False),
        ("()", False),
        ("MIT WITH x", False),
        ("MIT AND", False),
        ("((MIT", False),
        ("MIT BSD-3-Clause", False),
        ("Apache-2.0 WITH LLVM-exception", True),
    ],
)
def test_licences(keeper, licence: str, good: bool) -> None:
    keeper.package(NAME, "1.0.0", license=licence)
    assert (keeper.rules() == set()) is good


@pytest.mark.parametrize(
    "change",
    [
        {"modules": [MODULE, "numpy"]},
        {"modules": ["gymnasium"]},
        {"offers": {"commands": {"x": "os:system"}}},
        {"offers": {"plugins": {"x": "neurogym_task_dots_evil.hooks"}}},
        {"wrappers": [row(entry_point="numpy.random:X") | {"name": "X"}]},
    ],
)
def test_modules_and_entry_points_are_of_the_package_itself(keeper, change) -> None:
    keeper.package(NAME, "1.0.0", change=change)
    assert keeper.rules() == {("error", "own-modules")}


@pytest.mark.parametrize(
    ("reason", "rules"),
    [
        ("x", {("error", "conformance"), ("warning", "conformance")}),
        ("Its sessions have no trials of equal length.", {("warning", "conformance")}),
    ],
)
def test_excused_checks_of_new_releases_are_shown_and_need_a_reason(
    keeper, tmp_path: Path, reason: str, rules: set
) -> None:
    before = shutil.copytree(keeper.folder, tmp_path / "before")
    excuse = {"task": "Dots-v0", "check": "A001", "reason": reason}
    keeper.package(NAME, "1.0.0", conformance={**CONFORMANCE, "expected_failures": [excuse]})
    assert keeper.rules(against=before) == rules
    (shown,) = (one for one in validate(keeper.folder, before) if one.level == "warning")
    assert f"A001 of Dots-v0 fails: {reason!r}" in shown.message
    assert keeper.rules(against=keeper.folder) == {one for one in rules if one[0] == "error"}


def test_excuses_that_break_the_schema_are_its_violations(keeper, tmp_path: Path) -> None:
    before = shutil.copytree(keeper.folder, tmp_path / "before")
    said = {**CONFORMANCE, "expected_failures": [{"task": "Dots-v0"}, {"reason": 3}, "A001"]}
    keeper.package(NAME, "1.0.0", conformance=said)
    assert keeper.rules(against=before) == {("error", "schema")}


def test_a_word_outside_the_vocabulary_is_a_warning(keeper) -> None:
    keeper.package(NAME, "1.0.0", tasks=[row(tags=["best-ever"])])
    assert keeper.rules() == {("warning", "vocabulary")}


def test_one_version_in_two_spellings(keeper) -> None:
    keeper.package(NAME, "1.0", "1.0.0")
    assert keeper.rules() == {("error", "same-version")}


def test_a_file_that_cannot_be_read_and_one_that_does_not_belong(keeper) -> None:
    keeper.package(NAME, "1.0.0")
    write_text(keeper.folder / "releases" / NAME / "2.0.0.json", "{")
    write_text(keeper.folder / "packages" / "setup.py", "print('hello')")
    assert keeper.rules() == {("error", "readable"), ("error", "layout")}


def test_a_release_without_an_entry(keeper) -> None:
    keeper.release(NAME)
    assert keeper.rules() == {("error", "entry-missing")}


def test_contents_without_a_folder_are_of_no_package(keeper) -> None:
    keeper.entry(NAME)
    write_text(keeper.folder / "sources" / f"{NAME}.json", dumps({"schema": 1, "name": NAME}))
    assert keeper.rules() == {("error", "sources")}


def test_an_entry_under_another_name(keeper) -> None:
    keeper.entry(NAME, makers.entry_text("neurogym-task-other"))
    assert keeper.rules() == {("error", "file-name")}


@pytest.mark.parametrize("more", ['status = "superseded"', 'superseded_by = "neurogym-task-other"'])
def test_half_of_superseding(keeper, more: str) -> None:
    keeper.entry(NAME, more=more)
    keeper.entry("neurogym-task-other")
    assert keeper.rules() == {("error", "superseded")}


def test_superseding(keeper) -> None:
    keeper.entry(NAME, more='status = "superseded"\nsuperseded_by = "neurogym-task-other"')
    keeper.entry("neurogym-task-other")
    assert keeper.rules() == set()


@pytest.mark.parametrize(
    ("other", "level"),
    [
        ("neurogym-task-dot", "error"),
        ("neurogym-task-d0ts", "error"),
        ("neurogym-task-do-ts", "error"),
        ("neurogym-task-dost", "error"),
        ("neurogym-dots", "error"),
        ("nuerogym-task-dots", "error"),
        ("neurogyn-task-dots", "error"),
        ("neurogym-tasks-dots", "error"),
        ("neurogymtask-dots", "error"),
        ("neuro-gym-task-dots", "error"),
        ("neurogym-core-dots", "error"),
        ("neurogym-task-dice", None),
        ("neurogym-task-lots-of-dots", None),
    ],
)
def test_names_that_look_alike(keeper, other: str, level: str | None) -> None:
    keeper.entry(NAME)
    keeper.entry(other, added="2026-11-22")
    found = [one for one in validate(keeper.folder) if one.rule == "look-alike"]
    assert [one.level for one in found] == ([level] if level else [])
    assert all(one.file == f"packages/{other}.toml" for one in found)  # the later one is wrong


@pytest.mark.parametrize(
    ("name", "other"), [("motor", "rnotor"), ("window", "vvindow"), ("trial", "triai")]
)
def test_letters_that_look_like_others(name: str, other: str) -> None:
    assert likeness(f"neurogym-task-{name}", f"neurogym-task-{other}") == 0


def test_a_name_of_the_previous_registry_is_never_the_later_one(keeper, tmp_path: Path) -> None:
    """A squatter writes an old date into its entry."""
    keeper.entry(NAME)
    before = Path(shutil.copytree(keeper.folder, tmp_path / "before"))
    keeper.entry("neurogym-task-dot", added="2001-01-01")
    (found,) = [one for one in validate(keeper.folder, before) if one.rule == "look-alike"]
    assert found.file == "packages/neurogym-task-dot.toml"


@given(st.text("abmnrvwdcl01-", min_size=1, max_size=9), st.text("abmnrvwdcl01-", max_size=9))
def test_no_resemblance_is_missed_by_the_fast_test(one: str, other: str) -> None:
    for prefix in ("", "neurogym-task-"):
        if likeness(prefix + one, "neurogym-task-" + other) is not None:
            assert might_resemble(prefix + one, "neurogym-task-" + other)


def test_long_names_two_letters_apart_are_a_warning(keeper) -> None:
    keeper.entry("neurogym-task-saccades")
    keeper.entry("neurogym-task-sakkades")
    assert keeper.rules() == {("warning", "look-alike")}


def test_each_name_of_a_series_is_reported_once(keeper) -> None:
    """Forty names that differ in a number look like each other: 780 pairs, but 39 packages."""
    for number in range(40):
        keeper.entry(f"neurogym-task-laboratory{number + 20}")
    found = [one for one in validate(keeper.folder) if one.rule == "look-alike"]
    assert len({one.file for one in found}) == len(found) == 39


def test_an_error_comes_before_an_earlier_warning(keeper) -> None:
    keeper.entry("neurogym-task-saccades")
    keeper.entry("neurogym-task-zakkades")
    keeper.entry("neurogym-task-sakkades", added="2026-11-28")  # two letters and one letter
    (found,) = [
        one
        for one in validate(keeper.folder)
        if one.file.endswith("sakkades.toml") and "sakk" in one.file
    ]
    assert (found.level, "zakkades" in found.message) == ("error", True)


@pytest.mark.parametrize("name", ["numpy", "nunpy", "neurogym", "neurogym-c0re", "gymnasium"])
def test_names_of_well_known_packages_are_taken(keeper, name: str) -> None:
    keeper.entry(name)
    assert ("error", "look-alike") in keeper.rules()


def test_edit_distance() -> None:
    cases = {
        ("", ""): 0,
        ("a", ""): 1,
        ("ab", "ba"): 1,
        ("abc", "abd"): 1,
        ("abcd", "acbx"): 2,
        ("abc", "xyz"): 3,
    }
    for (left, right), apart in cases.items():
        assert distance(left, right, 2) == distance(right, left, 2) == apart
    assert likeness(NAME, NAME) is None


def test_a_task_that_changed_needs_a_new_version_of_its_name(keeper) -> None:
    changed = row(digest={"declared": f"{'1' * 16} 1.000000"})
    keeper.package(NAME, "1.0.0")
    keeper.release(NAME, "1.1.0", tasks=[changed])
    (found,) = [one for one in validate(keeper.folder) if one.rule == "digest"]
    assert found.file == f"releases/{NAME}/1.1.0.json"
    assert "new -vN" in found.message
    keeper.release(NAME, "1.1.0", tasks=[row(), {**changed, "name": "Dots-v1"}])
    assert keeper.rules() == set()


@pytest.mark.parametrize("other", ["1.000010", "1.000030", "-1.000000"])
def test_numbers_that_differ_by_rounding_are_no_change(keeper, other: str) -> None:
    """The rule and the conformance kit agree."""
    keeper.package(NAME, "1.0.0")
    keeper.release(NAME, "1.1.0", tasks=[row(digest={"declared": f"{'0' * 16} {other}"})])
    assert (
        (keeper.rules() == set())
        is agree(f"{'0' * 16} 1.000000", f"{'0' * 16} {other}")
        is (other == "1.000010")
    )


@pytest.mark.parametrize(
    "earlier", [{"version": "1.0.0rc1"}, {"version": "1.0.0", "yanked": "Wrong timing."}]
)
def test_a_pre_release_and_a_yanked_one_bind_nobody(keeper, earlier: dict) -> None:
    keeper.entry(NAME)
    keeper.release(NAME, **earlier)
    keeper.release(NAME, "1.1.0", tasks=[row(digest={"declared": f"{'1' * 16} 1.000000"})])
    assert keeper.rules() == set()


def test_a_name_that_was_never_listed_can_be_revoked(keeper) -> None:
    keeper.revoke({"name": "evil", "versions": ["*"], "reason": "Steals.", "date": "2026-11-21"})
    assert keeper.rules() == set()


def test_revoking_what_is_not_there(keeper) -> None:
    keeper.package(NAME, "1.0.0")
    keeper.revoke({"name": NAME, "versions": ["2.0.0"], "reason": "Steals.", "date": "2026-11-21"})
    assert keeper.rules() == {("error", "revocation")}


def test_a_drawing_that_doubles_itself_or_nests_its_metadata_is_judged_soon() -> None:
    """Both took the time of all other packages: minutes, or a number too long to be written."""
    uses = "".join(
        f'<g id="g{k}"><use href="#g{k - 1}"/><use href="#g{k - 1}"/></g>' for k in range(1, 20_000)
    )
    doubled = svg(f'<defs><g id="g0"/>{uses}</defs><use href="#g19999"/>')
    assert "more than 100,000 elements" in str(fault_of(doubled.encode()))
    nested = svg("<metadata>" * 30_000 + "</metadata>" * 30_000)
    assert fault_of(nested.encode()) is not None


HEAD = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def picture(data: bytes) -> str:
    text = base64.b64encode(data).decode()
    return f'<image href="data:image/png;base64,{text}" width="9" height="9"/>'


def svg(body: str, attributes: str = "") -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{body}</svg>'


ACTIVE = {
    "script": svg("<script>alert(1)</script>"),
    "script of a namespace": svg(
        '<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>'
    ),
    "onload": svg("", 'onload="alert(1)"'),
    "onload on a new line": svg("", '\nonload="alert(1)"'),
    "onmouseover": svg('<rect onmouseover="alert(1)"/>'),
    "animate": svg('<animate onbegin="alert(1)" attributeName="x"/>'),
    "set": svg('<set attributeName="href" to="javascript:alert(1)"/>'),
    "link": svg('<a href="https://x"><text>x</text></a>'),
    "link in single quotes": svg("<use href='https://x/y.svg#z'/>"),
    "image": svg('<image href="https://x/y.png"/>'),
    "svg image": svg('<image href="data:image/svg+xml;base64,AAAA"/>'),
    "import": svg("<style>@import url(//x/y.css);</style>"),
    "url in a style": svg("<style>rect { fill: url(//x/y) }</style>"),
    "url in an attribute": svg('<rect fill="url(//x/y#z)"/>'),
    "escapes in a style": svg("<style>rect { fill: u\\72l(//x/y) }</style>"),
    "foreign object": svg("<foreignObject><p/></foreignObject>"),
    "html": svg('<x:iframe xmlns:x="http://www.w3.org/1999/xhtml" src="https://x"/>'),
    "script in metadata": svg("<metadata><script>alert(1)</script></metadata>"),
    "entity": '<!DOCTYPE svg [<!ENTITY e "x">]>' + svg("&e;"),
    "document type": '<!DOCTYPE svg SYSTEM "https://x/y.dtd">' + svg(""),
    "style sheet": '<?xml-stylesheet href="https://x/y.css"?>' + svg(""),
    "html script in metadata": svg(
        '<metadata><h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script></metadata>'
    ),
    "html image in metadata": svg(
        '<metadata><h:img xmlns:h="http://www.w3.org/1999/xhtml" src="https://x/y"/></metadata>'
    ),
    "html link in metadata": svg(
        '<metadata><h:link xmlns:h="http://www.w3.org/1999/xhtml" rel="stylesheet" href="//x"/>'
        "</metadata>"
    ),
    "handler in metadata": svg(
        '<metadata><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" onload="x()"/>'
        "</metadata>"
    ),
    "metadata in metadata": svg("<metadata><metadata/></metadata>"),
    "image set": svg('<style>svg { background-image: image-set("https://x" 1x) }</style>'),
    "image set with spaces": svg('<style>svg { background: image-set ("a" 1x) }</style>'),
    "image function": svg('<rect style="fill: image(red)"/>'),
    "source function": svg('<style>rect { fill: src("x") }</style>'),
    "address in a style": svg("<style>rect { --x: http://x/y }</style>"),
    "import after an element": svg('<style>a{}<title/>@import url("https://x");</style>'),
    "element in a style": svg("<style>a{}<title/></style>"),
    "base": svg('<use href="#a" xml:base="https://x/"/>'),
    "base of the drawing": svg('<use href="#a"/>', 'xml:base="https://x/"'),
    "nine times ten": svg(
        '<defs><rect id="a0"/>'
        + "".join(f'<g id="a{k}">' + f'<use href="#a{k - 1}"/>' * 10 + "</g>" for k in range(1, 10))
        + '</defs><use href="#a9"/>'
    ),
    "patterns of patterns": svg(
        '<defs><pattern id="p0"><rect/></pattern>'
        + "".join(
            f'<pattern id="p{k}">' + f'<rect fill="url(#p{k - 1})"/>' * 10 + "</pattern>"
            for k in range(1, 8)
        )
        + '</defs><rect fill="url(#p7)"/>'
    ),
    "itself": svg('<g id="a"><use href="#a"/></g>'),
    "each other": svg(
        '<defs><g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g></defs><use href="#a"/>'
    ),
    "a mask of itself": svg('<mask id="m"><rect mask="url( \'#m\' )"/></mask>'),
    "a huge picture in a small file": svg(picture(HEAD + (60_000).to_bytes(4, "big") * 2)),
    "many large pictures": svg(picture(HEAD + (2_000).to_bytes(4, "big") * 2) * 6),
    "a picture without a size": svg(picture(HEAD)),
    "a picture that is a script": svg(picture(b"<script>alert(1)</script> and more")),
    "a picture with another chunk first": svg(picture(HEAD.replace(b"IHDR", b"tEXt") + bytes(8))),
    "html file": "<html><script>alert(1)</script></html>",
    "nothing": "",
}


@pytest.mark.parametrize("drawing", ACTIVE.values(), ids=ACTIVE)
def test_a_picture_that_is_more_than_a_picture(keeper, drawing: str) -> None:
    listed_figure(keeper, drawing.encode())
    assert keeper.rules() == {("error", "figure")}


def test_a_picture_in_another_encoding_is_refused(keeper) -> None:
    listed_figure(keeper, svg("<script>alert(1)</script>").encode("utf-16"))
    assert keeper.rules() == {("error", "figure")}


def test_a_drawing_by_matplotlib_is_accepted(keeper, tmp_path: Path) -> None:
    import matplotlib.figure

    figure = matplotlib.figure.Figure()
    axes = figure.subplots()
    axes.plot([0, 1], label="stimulus")
    axes.imshow([[0, 1], [1, 0]])
    axes.legend()
    figure.savefig(tmp_path / "x.svg")
    listed_figure(keeper, (tmp_path / "x.svg").read_bytes())
    assert keeper.rules() == set()


def listed_figure(keeper, data: bytes) -> None:
    digest = hashlib.sha256(data).hexdigest()
    keeper.package(
        NAME, "1.0.0", tasks=[row(figure={"file": "1.0.0/Dots-v0.svg", "sha256": digest})]
    )
    write_bytes(keeper.folder / "releases" / NAME / "1.0.0" / "Dots-v0.svg", data)


class TestAddOnly:
    @pytest.fixture
    def before(self, keeper, tmp_path: Path) -> Path:
        keeper.package(NAME, "1.0.0", "1.1.0")
        keeper.revoke({"name": NAME, "versions": ["1.0.0"], "reason": "Bad.", "date": "2026-11-21"})
        return Path(shutil.copytree(keeper.folder, tmp_path / "before"))

    def test_additions_and_yanks_are_allowed(self, keeper, before: Path) -> None:
        keeper.release(NAME, "1.2.0")
        keeper.release(NAME, "1.1.0", yanked="Wrong timing.")
        keeper.package("neurogym-task-other", "1.0.0")
        assert keeper.rules(against=before) == set()

    def test_a_release_does_not_change(self, keeper, before: Path) -> None:
        keeper.release(NAME, "1.1.0", license="MIT")
        assert keeper.rules(against=before) == {("error", "add-only")}

    def test_a_yank_is_not_taken_back(self, keeper, before: Path) -> None:
        yanked = Path(shutil.copytree(before, before.with_name("yanked")))
        write_text(
            yanked / "releases" / NAME / "1.1.0.json",
            (before / "releases" / NAME / "1.1.0.json")
            .read_text()
            .replace('"yanked": null', '"yanked": "Bad."'),
        )
        assert keeper.rules(against=yanked) == {("error", "add-only")}

    @pytest.mark.parametrize("gone", [f"packages/{NAME}.toml", f"releases/{NAME}/1.1.0.json"])
    def test_nothing_goes(self, keeper, before: Path, gone: str) -> None:
        (keeper.folder / gone).unlink()
        assert ("error", "add-only") in keeper.rules(against=before)

    def test_a_revocation_stays(self, keeper, before: Path) -> None:
        keeper.revoke()
        assert keeper.rules(against=before) == {("error", "add-only")}


def test_a_registry_may_be_a_repository_of_its_own_without_an_index(keeper) -> None:
    keeper.package(NAME, "1.0.0")
    for name in (".git/HEAD", ".github/workflows/change.yml", ".gitignore", "LICENSE", ".DS_Store"):
        write_text(keeper.folder / name, "x")
    assert validate(keeper.folder) == []


def test_an_index_that_was_not_built_again_is_found(keeper) -> None:
    keeper.package(NAME, "1.0.0")
    keeper.build()
    keeper.release(NAME, "1.1.0")
    (found,) = validate(keeper.folder)
    assert (found.rule, found.file) == ("fresh-index", "index.json")
    assert "serial 1, expected 2" in found.message


def test_the_registry_of_this_project_is_valid_and_lists_every_package_of_the_checkout() -> None:
    folder = REGISTRY
    assert [one for one in validate(folder) if one.level == "error"] == []
    listed = {path.stem for path in (folder / "packages").glob("*.toml")}
    plugins = {path.parent.name for path in (folder.parent / "plugins").glob("*/pyproject.toml")}
    assert plugins <= listed, "write registry/packages/NAME.toml, and run `ngym registry build`"


def test_every_rule_is_in_the_readme_and_can_be_broken() -> None:
    """Rules that are not in the tables above have a separate test in this folder."""
    readme = (REGISTRY / "README.md").read_text("utf-8")
    assert [rule for rule in RULES if f"`{rule}`" not in readme] == []
    source = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert [rule for rule in RULES if f'"{rule}"' not in source] == []


@given(
    st.lists(st.text("abmnrvwdcl01-", min_size=1, max_size=9), min_size=1, max_size=8),
    st.text("abmnrvwdcl01-", min_size=1, max_size=9),
)
def test_no_resemblance_is_missed_in_a_long_list(names: list[str], other: str) -> None:
    listed = [f"neurogym-task-{name}" if k % 2 else name for k, name in enumerate(names)]
    wanted = {one for one in listed if likeness(one, f"neurogym-{other}") is not None}
    for questions in (1, MANY + 1):  # one by one, and all at once
        assert wanted <= set(Similar(listed, questions).of(f"neurogym-{other}"))


@pytest.mark.parametrize(
    ("other", "contains"),
    [
        ("neurogym-task-memory-official", True),
        ("neurogym-task-memories", True),
        ("neurogym-lab-memory", True),
        ("ngym-task-memory", True),
        ("neurogym-task-memorise", False),
    ],
)
def test_names_that_contain_another_are_a_warning(keeper, other: str, contains: bool) -> None:
    assert Similar(["neurogym-task-memory"]).within(other) == ["neurogym-task-memory"] * contains
    renamed = other.replace("memor", "remor")  # "memory" itself is a name of this project
    keeper.entry("neurogym-task-remory", added="2026-11-20")
    keeper.entry(renamed, added="2026-11-21")
    found = [one for one in validate(keeper.folder) if one.rule == "containing"]
    assert [one.level for one in found] == ["warning"] * contains


@pytest.mark.parametrize("name", ["neurogym-task-perceptual", "neurogym-training", "neurogym-llm"])
def test_names_of_this_project_s_packages_are_reserved_elsewhere(keeper, name: str) -> None:
    keeper.entry(name)
    assert ("error", "reserved") in keeper.rules()


def test_a_folder_is_one_of_the_repository_of_the_registry(keeper) -> None:
    """It had neither wheel, licence nor kit, and was shown as a package of this project."""
    name = "neurogym-torhc"
    text = makers.entry_text(name).replace(
        f'repository = "https://example.org/lab/{name}"', f'folder = "plugins/{name}"'
    )
    keeper.entry(name, text)
    assert ("error", "folder") in keeper.rules()
    project = keeper.folder.parent / "plugins" / name / "pyproject.toml"
    write_text(project, '[project]\nname = "other"\n')
    assert ("error", "folder") in keeper.rules()
    write_text(project, f'[project]\nname = "{name}"\n')
    assert ("error", "folder") not in keeper.rules()


def test_only_packages_of_this_project_are_named_after_libraries(keeper) -> None:
    name = "neurogym-gymnasium"
    text = makers.entry_text(name).replace(
        f'repository = "https://example.org/lab/{name}"', f'folder = "plugins/{name}"'
    )
    keeper.entry(name, text)
    write_text(
        keeper.folder.parent / "plugins" / name / "pyproject.toml", f'[project]\nname = "{name}"\n'
    )
    assert ("error", "look-alike") in keeper.rules()


TRANSFER = '\n[[transfers]]\ndate = {date}\nto = "Bo"\nreason = "She left."\n'


def changed_entry(keeper, tmp_path: Path, before: str, after: str) -> set[tuple[str, str, str]]:
    keeper.entry(NAME, before)
    old = Path(shutil.copytree(keeper.folder, tmp_path / "before"))
    keeper.entry(NAME, after)
    found = validate(keeper.folder, old)
    return {(one.level, one.rule, one.field) for one in found if one.rule in ("add-only", "moved")}


def test_the_transfers_of_a_package_stay(keeper, tmp_path: Path) -> None:
    text = makers.entry_text(NAME)
    one, other = (text + TRANSFER.format(date=date) for date in ("2026-11-22", "2020-01-01"))
    assert changed_entry(keeper, tmp_path, one, other) == {("error", "add-only", "transfers")}


def test_a_transfer_to_nobody_is_refused(keeper, tmp_path: Path) -> None:
    text = makers.entry_text(NAME)
    after = text + TRANSFER.format(date="2026-11-22")
    assert changed_entry(keeper, tmp_path, text, after) == {("error", "add-only", "transfers")}
    (tmp_path / "before").rename(tmp_path / "first")
    after = after.replace('name = "Ana"', 'name = "Bo"')
    assert changed_entry(keeper, tmp_path, text, after) == set()


def test_a_new_entry_tells_of_no_transfers(keeper, tmp_path: Path) -> None:
    old = Path(shutil.copytree(keeper.folder, tmp_path / "before"))
    keeper.entry(NAME, makers.entry_text(NAME) + TRANSFER.format(date="2020-01-01"))
    found = {(one.rule, one.field) for one in validate(keeper.folder, old)}
    assert ("add-only", "transfers") in found


def test_the_date_of_an_entry_stays(keeper, tmp_path: Path) -> None:
    text = makers.entry_text(NAME)
    (date,) = (line for line in text.splitlines() if line.startswith("added = "))
    after = text.replace(date, "added = 2001-01-01")
    assert changed_entry(keeper, tmp_path, text, after) == {("error", "add-only", "added")}


def test_other_maintainers_without_a_transfer_are_a_warning(keeper, tmp_path: Path) -> None:
    text = makers.entry_text(NAME)
    after = text.replace('name = "Ana"', 'name = "Bo"')
    assert changed_entry(keeper, tmp_path, text, after) == {("warning", "moved", "maintainers")}
    (tmp_path / "before").rename(tmp_path / "first")
    more = text + '\n[[maintainers]]\nname = "Bo"\n'
    assert changed_entry(keeper, tmp_path, text, more) == set()


def test_another_repository_is_a_warning(keeper, tmp_path: Path) -> None:
    text = makers.entry_text(NAME)
    after = text.replace("example.org/lab", "example.com/lab")
    assert changed_entry(keeper, tmp_path, text, after) == {("warning", "moved", "repository")}
