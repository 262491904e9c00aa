"""Text on the pages of tasks: docstrings as Markdown, papers, related tasks, snippets."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from neurogym_core.ecosystem.records import Reference, TaskInfo

MAKE = Path(__file__).resolve().parents[2] / "docs" / "_make"


@pytest.fixture(scope="module")
def maker() -> Any:
    spec = importlib.util.spec_from_file_location("docs_task_pages", MAKE / "task_pages.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def info(name: str, **fields: Any) -> TaskInfo:
    settings = {"group": "neurogym.tasks", "value": "x:X", "version": "1", "distribution": "x"}
    return TaskInfo(name=name, namespace="x", **settings, **fields)


def test_signs_of_markdown_in_a_docstring_are_escaped_outside_code(maker: Any) -> None:
    text = "Shows 2 * cos(x) of a_channel, ``a_b[0]``, <script> and ![x](y)."
    assert maker.rendered(text) == (
        r"Shows 2 \* cos(x) of a\_channel, `a_b[0]`, \<script\> and !\[x\](y)."
    )


def test_emphasis_in_a_docstring_is_kept(maker: Any) -> None:
    assert maker.rendered("the *other* option") == "the *other* option"


def test_dois_become_links(maker: Any) -> None:
    text = "Kirchner (1958), J. 55:352, doi:10.1037/h004_8; later."
    assert "[doi:10.1037/h004\\_8](https://doi.org/10.1037/h004_8); later." in maker.rendered(text)


def test_deviations_are_a_section_and_arguments_are_left_to_the_table(maker: Any) -> None:
    docstring = (
        "Do it.\n\nDeviations from the paper:\n\n- one,\n  in two lines;\n- two.\n\n"
        "Angles are in radians.\n\nArgs:\n    size: how large."
    )
    text, deviations = maker.sections(docstring)
    assert text == "Do it.\n\nAngles are in radians."
    assert deviations == "- one,\n  in two lines;\n- two."


@pytest.mark.parametrize(
    ("docstring", "authors"),
    [
        ("After Kiani & Shadlen (2009), Science, doi:10.1/x.", "Kiani & Shadlen (2009)"),
        ("After Robbe & de la Rocha (2020), doi:10.1/x.", "Robbe & de la Rocha (2020)"),
        ("Hopfield's (1982) model, doi:10.1/x.", "Hopfield (1982)"),
        ("See Ito (2001), doi:10.1/other, and doi:10.1/x.", ""),
        (
            "In the model of Daw, O'Doherty, Dayan, et al. (2006), doi:10.1/x",
            "Daw, O'Doherty, Dayan, et al. (2006)",
        ),
    ],
)
def test_a_paper_without_authors_in_the_manifest_has_those_that_the_docstring_cites(
    maker: Any, monkeypatch: pytest.MonkeyPatch, docstring: str, authors: str
) -> None:
    monkeypatch.setattr(maker, "describe", lambda *_: {"docstring": docstring})
    assert maker.paper_of(info("A-v0"), Reference(doi="10.1/x")) == authors


def test_related_tasks_share_tags_and_come_with_the_most_similar_first(maker: Any) -> None:
    task = info("A-v0", tags=("memory", "motor"))
    near, far = info("B-v0", tags=("memory", "motor")), info("C-v0", tags=("motor", "value"))
    others = [info("D-v0", tags=("value",)), far, task, near]
    assert maker.related(task, others) == [(near, ["memory", "motor"]), (far, ["motor"])]


def test_the_code_of_a_page_is_executed_and_shown_with_its_output(maker: Any) -> None:
    assert maker.played("print(1 + 1)") == "```python\nprint(1 + 1)\n```\n```text\n2\n```"
    with pytest.raises(ZeroDivisionError):
        maker.played("1 / 0")


def test_the_wall_escapes_the_texts_of_manifests(maker: Any) -> None:
    page = maker.TaskPage(
        id="x/A-v0",
        title="<b>",
        summary='"><script>',
        tags=("a",),
        species=(),
        paper="",
        page="tasks/x/A-v0",
        picture="p.png",
    )
    assert "<script>" not in maker.wall([page])
    assert "<b>" not in maker.wall([page])
