"""Phrases that `docs/_make/prose.py` has to find, and sentences that it has to accept."""

from __future__ import annotations

import subprocess

import pytest
from scripts import loaded


@pytest.fixture(scope="module")
def prose():
    return loaded("prose")


BAD = {
    "nobody": ["A name that nobody declared.", "A map for somebody who wants to change it.",
               "Whoever controls the address decides."],
    "in hand": ["The trial in hand ends."],
    "what …": ["What is shown goes with the answer.", "A subject that does what is right.",
               "It stays as what the task\nmade it.", "Lazy dicts of what few look at.",
               "Looks up what `draw` returns."],
    "tells": ["The cue tells the side.", "A cue, told apart from others."],
    "of its own": ["A generator of its own.", "An order of the author's own.",
                   "A task of your own."],
    "laid out": ["Trials are laid out by the block."],
    "worked out": ["Columns are worked out later.", "It works it out on access."],
    "anew": ["The count begins anew."],
    "who …": ["Who lets go begins again.", "The least of who knows the targets.",
              "- who rests while it should", "It plays a trial: who rests is paid."],
    "as a whole": ["Nothing can look at a trial as a whole."],
    "all the same": ["It was shown all the same."],
    "once more": ["It is played once more."],
    "for good": ["The stage is left for good."],
    "of ours": ["An entry point of ours."],
    "besides": ["What it reads besides.", "It takes lists besides; see below."],
    "stands in": ["The reason stands in the README."],
    "holds to": ["It holds the task to these numbers.", "Files held to the rules.",
                 "Every file keeps to its schema."],
    "is not there": ["The file is not there."],
    "bad day": ["Only servers have bad days.", "Both envs are coats of it."],
}  # fmt: skip

GOOD = [
    "What is a trial?",
    "What does the task pay? It pays 1.",
    "The message says what to do about it.",
    "Ask what the maintainers said; see what changed.",
    "The core defines what a task is.",
    "In what order, and with what probability, do they come.",
    "An author who writes a task needs NumPy.",
    "Subjects, who rest, are paid.",
    "Who are you?",
    "The subject holds its gaze for 300 ms, and holds on to the lever.",
    "`hold(None)` may be used in `what is left`.",
    "It has a second argument besides its name.",
    "Nothing stands in the way.",
    "There is no other task there.",
    "The layout is computed when the trial is drawn.",
    "It owns its own generator.",
    "See [the page](what-is-new.md) of https://example.org/what-is-it.",
]


@pytest.mark.parametrize(("name", "sentence"), [(n, s) for n, all_ in BAD.items() for s in all_])
def test_a_turn_of_phrase_is_found_in_each_place(prose, name, sentence):
    comment = "# " + sentence.replace("\n", "\n# ")
    for file, text in [
        ("a.md", sentence),
        ("a.py", f'"""{sentence}"""\n'),
        ("a.py", f"def f():\n    pass\n\n\n{comment}\n"),
        ("a.toml", comment + "\n"),
    ]:
        assert any(f": {name}: " in hit for hit in prose.hits(file, text)), (file, text)


@pytest.mark.parametrize("sentence", GOOD)
def test_plain_english_is_left_alone(prose, sentence):
    assert not prose.hits("a.md", sentence)
    assert not prose.hits("a.py", f'"""{sentence}"""\n')


def test_every_turn_of_phrase_has_bad_examples(prose):
    assert set(prose.TICS) == set(BAD)


def test_a_hit_names_file_line_phrase_and_replacement(prose):
    text = "# Title\n\nFirst line,\nand a trial that is\nlaid\nout.\n"
    (hit,) = prose.hits("docs/a.md", text)
    assert hit.startswith("docs/a.md:5: laid out: 'built'")


def test_lines_of_strings_in_several_pieces_are_found(prose):
    text = 'raise ValueError(\n    f"The {3} was given, "\n    "not one that is laid out."\n)\n'
    (hit,) = prose.hits("a.py", text)
    assert hit.startswith("a.py:3:")


def test_messages_and_help_texts_are_read_but_not_code(prose):
    bad = "the trial in hand ends"
    assert prose.hits("a.py", f'click.option("--x", help="So {bad}.")\n')
    assert prose.hits("a.py", f'raise E(f"{{name}}: {bad}")\n')
    assert prose.hits("a.py", f"x = '\"'  # So {bad}.\n")
    assert not prose.hits("a.py", "in_hand = {'in hand': 1}\n")
    assert not prose.hits("tests/test_a.py", f'says("{bad}")\n')
    assert prose.hits("tests/test_a.py", f'"""So {bad}."""\n')
    assert prose.hits("a.c", f"int x; /* {bad} */\n")
    assert prose.hits("a.js", f"const a = 1; // {bad}\n")
    assert prose.hits("ngym.toml", f'summary = "So {bad}."\n')
    assert prose.hits("a.py", f'{{% if x %}}\n"""So {bad}."""\n{{% endif %}}\n')  # a template


def test_code_blocks_and_headings_are_left_alone(prose):
    assert not prose.hits("a.md", "```python\nx = 1  # the trial in hand\n```\n")
    assert not prose.hits("a.md", "## What it costs\n\n| what it takes | n |\n|---|---|\n")
    assert prose.hits("a.md", "| column | n |\n|---|---|\n| what it takes | 1 |\n")
    assert prose.hits("a.md", "## The trial in hand\n")


def test_a_page_with_a_phrase_ends_with_1_and_a_clean_one_with_0(
    prose, tmp_path, monkeypatch, capsys
):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    page = tmp_path / "a.md"
    page.write_text("The trial in hand.\n", "utf-8")
    assert prose.main([]) == 1
    assert capsys.readouterr().out.startswith("a.md:1: in hand: ")
    page.write_text("The current trial.\n", "utf-8")
    assert prose.main([str(page)]) == 0


def test_the_repository_is_free_of_them(prose, capsys):
    assert prose.main([]) == 0, capsys.readouterr().out
