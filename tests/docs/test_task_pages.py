"""Text on the pages of tasks: docstrings as Markdown, papers, related tasks, snippets."""

from __future__ import annotations

import json
import re
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripts import loaded

from neurogym_core import Task, make_task
from neurogym_core.ecosystem.discovery import installed, load_task
from neurogym_core.ecosystem.records import Reference, TaskInfo

MAKE = Path(__file__).resolve().parents[2] / "docs" / "_make"
INSTALLED = [task for task in installed().tasks if task.usable]
TASKS = [task for task in INSTALLED if issubclass(load_task(task.id), Task)]
PLAIN = [task for task in INSTALLED if task not in TASKS]
"""Gymnasium envs that are not made of a `Task`."""


@pytest.fixture(scope="module")
def maker() -> Any:
    return loaded("task_pages")


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
    monkeypatch.setattr(maker, "load_task", lambda _: type("A", (), {"__doc__": docstring}))
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


def test_the_list_of_packages_has_their_numbers_and_first_titles(
    maker: Any, tmp_path: Path
) -> None:
    fields = {"summary": "", "tags": (), "species": (), "paper": "", "picture": ""}
    pages = [
        maker.TaskPage(id=f"{name}-v0", title=f"{name} *", page=f"tasks/{name}-v0", **fields)
        for name in ("a/A", "b/B", "b/C", "b/D", "b/E")
    ]
    for space in "ab":
        (tmp_path / space).mkdir()
    maker.write_lists(tmp_path, pages)
    text = (tmp_path / "index.md").read_text("utf-8")
    assert "| [a](a/index.md) | 1 | a/A \\* |" in text
    assert "| [b](b/index.md) | 4 | b/B \\*, b/C \\*, b/D \\*, … |" in text


def test_the_description_in_the_head_of_a_page_is_the_summary(maker: Any) -> None:
    yaml = pytest.importorskip("yaml")
    _, head, rest = maker.described_as('Left: "go" \\ or\tnot').split("---\n")
    assert yaml.safe_load(head)["myst"]["html_meta"]["description"] == 'Left: "go" \\ or\tnot'
    assert rest.strip() == ""


def installed_task(name: str) -> TaskInfo:
    from neurogym_core.ecosystem.discovery import installed

    return next(task for task in installed().tasks if task.name == name)


def test_wrappers_on_a_page_fit_the_task(maker: Any) -> None:
    section = maker.task_context.wrappers(installed_task("PerceptualDecisionMaking-v0"))
    assert "(../../docs/wrappers/reaction-time.md)" in section[1]
    # The task lets the subject decide when it answers, so the wrapper does not fit.
    section = maker.task_context.wrappers(installed_task("RoitmanShadlen-v0"))
    assert "ReactionTime" not in section[1]
    for page in re.findall(r"docs/wrappers/([\w-]+)\.md", section[1]):
        assert (MAKE.parent / "wrappers" / f"{page}.md").is_file()


@pytest.mark.slow
def test_a_task_with_published_subjects_has_them_on_its_page(maker: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    section = "\n".join(maker.task_context.animals(installed_task("RoitmanShadlen-v0"), tmp_path))
    assert "monkey 2" in section
    pictures = re.findall(r"\]\((.+?\.png)\)", section)
    assert pictures
    assert all((tmp_path / name).is_file() for name in pictures)
    assert maker.task_context.animals(installed_task("GoNogo-v0"), tmp_path) == []


def test_a_page_has_the_lines_of_the_changelog_that_name_the_task(maker: Any) -> None:
    """Page after page repeated the changes of nine other tasks, in one line."""
    _, found = maker.task_context.changes(installed_task("SpatialSuppressMotion-v0"))
    assert "so that size and contrast matter" in found
    assert "IBL" not in found
    assert "](" not in found
    assert all(" - " not in line.partition(": ")[2] for line in found.splitlines())
    assert maker.task_context.changes(info("NoSuchTaskHere-v0")) == []


@pytest.mark.parametrize(
    ("name", "network", "agent"),
    [("control/AntiReach-v0", True, False), ("value/Bandit-v0", False, True)],
)
def test_pages_say_which_training_is_that_of_the_gallery(
    maker: Any, name: str, network: bool, agent: bool
) -> None:
    """It is read from the results: the environment of the site has no trainers."""
    task = next(task for task in TASKS if task.id == name)
    described = maker.describe(load_task(name))
    text = "\n".join(maker.task_training.training(task, described))
    said = [f"for at most {budget}" in text for budget in ("4,000 updates", "200,000 steps")]
    assert said == [network, agent]
    assert ("trains no agent on this task" in text) == (not agent)


SHORT = {"updates": 2, "trials": 5, "rollout": 8, "minibatch": 128, "steps": 128}
"""Settings of the code on a page, so that it takes a second."""


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_training_code_of_a_page_is_executed_with_less_training(
    maker: Any, monkeypatch: pytest.MonkeyPatch, task: TaskInfo
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("sb3_contrib")
    training = maker.task_training
    monkeypatch.setattr(training, "FULL", {**training.FULL, **SHORT})
    described = maker.describe(load_task(task.id))
    page = "\n\n".join(training.training(task, described))
    found = re.findall(r"```python\n(.*?)\n```", page, re.DOTALL)
    assert len(found) == 1 + bool(described.get("supervised"))
    for code in found:
        exec(compile(code, "<training>", "exec"), {})


def runs_of(task: str, trainer: str, **fields: Any) -> list[dict[str, Any]]:
    run = {"task": task, "trainer": trainer, "unit": "updates", "done": 100, "cpu": 90.0, **fields}
    return [
        {**run, "seed": seed, "final": 0.5 + seed / 4, "curve": [[0, 0.1], [100, 0.5 + seed / 4]]}
        for seed in (0, 1)
    ]


def test_pages_show_the_runs_of_the_gallery(
    maker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    name = "control/AntiReach-v0"  # it has no psychometric function
    task = installed_task("AntiReach-v0")
    found = {name: {"gru": runs_of(name, "gru", wall=120.0), "rnn": runs_of(name, "rnn")}}
    monkeypatch.setattr(maker.task_training, "_gallery", lambda: found)
    section = maker.task_training.trained(task, tmp_path)
    scores = "0, 1 | 100 updates | 0.50, 0.75 | 0.61 [-1.03, 2.26]"
    assert f"| `gru` | {scores} | 90 | 120 |" in section[2]
    assert f"| `rnn` | {scores} | 90 | – |" in section[2]
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {"AntiReach-v0-gru-training.png", "AntiReach-v0-rnn-training.png"}
    assert all(f"]({name})" in "\n".join(section) for name in drawn)
    assert maker.task_training.trained(info("B-v0"), tmp_path) == []


def test_pages_show_psychometric_functions_beside_the_ideal_observer(
    maker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    name = "perceptual/PerceptualDecisionMaking-v0"
    points = [[-51.2, 0, 40], [-6.4, 10, 40], [6.4, 30, 40], [51.2, 40, 40]]
    known = {"kind": "choice", "strength": "coherence", "points": points}
    found = {name: {"gru": runs_of(name, "gru", psychometric=known)}}
    monkeypatch.setattr(maker.task_training, "_gallery", lambda: found)
    monkeypatch.setattr(maker.task_training, "OBSERVER_TRIALS", 600)
    drawn: dict[str, Any] = {}
    draw = maker.task_training.psychometric_figure

    def kept(rows: Any, fits: Any, **labels: Any) -> Any:
        drawn.update(rows=rows, fits=fits)
        return draw(rows, fits, **labels)

    monkeypatch.setattr(maker.task_training, "psychometric_figure", kept)
    task = installed_task("PerceptualDecisionMaking-v0")
    text = "\n".join(maker.task_training.trained(task, tmp_path))
    assert list(drawn["rows"]) == ["gru (2 seeds)", "integrator"]
    assert [(row.k, row.n) for row in drawn["rows"]["gru (2 seeds)"]] == [
        (0, 80), (20, 80), (60, 80), (80, 80),
    ]  # fmt: skip
    assert drawn["fits"]["gru (2 seeds)"].threshold == pytest.approx(0, abs=0.5)
    assert "the ideal observer (`integrator`)" in text
    assert "](PerceptualDecisionMaking-v0-psychometric.png)" in text
    assert (tmp_path / "PerceptualDecisionMaking-v0-psychometric.png").is_file()


@pytest.mark.parametrize("task", PLAIN, ids=lambda task: task.id)
def test_the_page_of_a_plain_env_shows_the_runs_of_the_gallery(
    maker: Any, tmp_path: Path, task: TaskInfo
) -> None:
    pytest.importorskip("matplotlib")
    runs = maker.task_training._gallery()[task.id]
    text = "\n".join(maker.task_training.trained(task, tmp_path))
    assert all(f"| `{trainer}` |" in text for trainer in runs)
    assert "Psychometric" not in text


def test_no_observer_plays_where_no_network_has_a_psychometric_function(
    maker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    name = "perceptual/PerceptualDecisionMaking-v0"
    monkeypatch.setattr(
        maker.task_training, "_gallery", lambda: {name: {"gru": runs_of(name, "gru")}}
    )
    monkeypatch.setattr(maker.task_training, "observe", None)  # not called
    section = maker.task_training.trained(installed_task("PerceptualDecisionMaking-v0"), tmp_path)
    assert "Psychometric" not in "\n".join(section)


def test_points_of_seeds_are_pooled_by_value_or_by_bin(maker: Any) -> None:
    def pooled(*seeds: list[list[float]]) -> list[tuple[float, int, int]]:
        return [(row.value, row.k, row.n) for row in maker.task_training.pooled(seeds)]

    assert pooled([[1, 0, 2], [2, 2, 2]], [[1.2, 1, 2], [1.8, 1, 2]]) == [
        (pytest.approx(1.1), 1, 4), (pytest.approx(1.9), 3, 4),
    ]  # fmt: skip
    assert pooled([[1, 0, 2], [2, 2, 2]], [[2, 1, 2]]) == [(1, 0, 2), (2, 3, 4)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "task",
    ["perceptual/PerceptualDecisionMaking-v0", "timing/ReadySetGo-v0", "memory/ColourWheel-v0"],
)
def test_the_network_of_a_page_is_that_of_the_gallery(maker: Any, task: str) -> None:
    """Three updates of the page's code lead to the weights of the gallery's trainer."""
    torch = pytest.importorskip("torch")
    from neurogym_torch import TorchDataset

    training, gallery = maker.task_training, maker.task_training.train_gallery
    job = gallery.Job(task, "gru", (0,), gallery.UPDATES)
    [trainer] = gallery.trainers_for(job, Path("no-checkpoints"))
    batch = gallery.settings_of(job)["batch"]
    # The trainer has other seeds for its trials; here, both learn from the same ones.
    trainer.data.datasets[0] = TorchDataset(task, batch_size=batch, seed=0, split="train")
    for _ in range(3):
        trainer.update()
    names: dict[str, Any] = {}
    few = {**training.FULL, "batch": batch, "updates": 3, "trials": 2}
    exec(training.TORCH.format(task=task, **few), names)
    learned = dict(names["network"].named_parameters())
    for name, expected in trainer.network.named_parameters():
        assert torch.allclose(learned[name], expected, atol=1e-6), name


@pytest.mark.slow
def test_the_agent_of_a_page_is_that_of_the_gallery(maker: Any) -> None:
    """A rollout of the page's code leads to the weights of the gallery's trainer."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("sb3_contrib")
    training, gallery = maker.task_training, maker.task_training.train_gallery
    task, steps = "value/ProbabilisticReversal-v0", 2048
    job = gallery.Job(task, "recurrent-ppo", (0,), steps)
    [trainer] = gallery.trainers_for(job, Path("no-checkpoints"))
    trainer.model.learn(steps)
    names: dict[str, Any] = {}
    exec(training.REWARD.format(task=task, **{**training.FULL, "trials": 2, "steps": steps}), names)
    learned = names["agent"].policy.state_dict()
    for name, expected in trainer.model.policy.state_dict().items():
        assert torch.allclose(learned[name], expected, atol=1e-6), name


@pytest.mark.parametrize("task", [one for one in TASKS if one.figure], ids=lambda task: task.id)
def test_the_trial_of_a_figure_can_be_imposed(task: TaskInfo) -> None:
    make_task(task.id).sample(2, seed=0, **task.figure)


def test_manifests_and_descriptions_cite_the_same_papers(maker: Any) -> None:
    from neurogym_core.ecosystem.discovery import installed

    own = [task for task in installed().tasks if task.distribution.startswith("neurogym-task-")]
    compared = 0
    for task in own:
        for one in task.references:
            assert all((one.authors, one.year, one.title, one.journal)), f"{task.id}: {one.doi}"
            described = maker.paper_of(task, replace(one, authors="", year=None))
            if described:
                first = one.authors.partition(",")[0].split(" and ")[0]
                assert first in described, f"{task.id}: {described}"
                assert str(one.year) in described, f"{task.id}: {described}"
                compared += 1
    assert compared > 90


def test_the_page_reads_the_results_that_the_gallery_writes(maker: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    name = next(iter(maker.task_training._gallery()))
    section = maker.task_training.trained(installed_task(name.partition("/")[2]), tmp_path)
    assert "wall time (s)" in section[2]


def test_shortcuts_are_on_the_page_with_their_intervals(maker: Any) -> None:
    known, ends = {"oracle": 1.0, "constant": 0.5}, {"constant": (0.48, 0.52)}
    entry = replace(info("A-v0"), shortcuts=known, intervals=ends)
    text = "\n".join(maker._measures(entry))
    assert "48.0 % to 52.0 %" in text
    assert "Chance is 50.0 %" in text
    assert "The best possible performance is not known." in text


def test_results_of_a_person_are_shown_beside_the_ideal_and_the_networks_of_the_gallery(
    maker: Any, tmp_path: Path
) -> None:
    task = installed_task("PerceptualDecisionMakingDelayResponse-v0")
    text = "\n".join(maker.task_play.section(task, tmp_path))
    assert f'href="../../play/index.html?task={task.id}"' in text
    beside = json.loads((tmp_path / f"{task.name}-beside.json").read_text("utf-8"))
    means = dict(beside["performance"])
    assert means["ideal (observer)"] == task.ideal["value"]
    assert means["chance"] < means["leaky RNN, 3 seeds"] < means["ideal (observer)"]
    ideal = next(one for one in beside["curves"] if one["name"] == "ideal observer (integrator)")
    shares = [k / n for _, k, n in ideal["points"]]
    assert shares[0] < 0.05 < 0.95 < shares[-1]  # positive evidence is for the last choice


@pytest.mark.parametrize("broken", ["", "choice", "evidence"])
def test_curves_that_mean_another_choice_or_strength_are_not_shown(maker: Any, broken: str) -> None:
    name = "perceptual/PerceptualDecisionMakingDelayResponse-v0"
    _, behaviour, _ = maker.task_training.observe(name)
    evidence = [-51.2, 6.4]
    if broken == "choice":
        record = {**behaviour.record, "choice": 1 - behaviour.record["choice"]}
        behaviour = types.SimpleNamespace(
            record=record, **{one: getattr(behaviour, one) for one in
                              ("answered", "chose_right", "signed")}
        )  # fmt: skip
    if broken == "evidence":
        evidence[0] *= 100
    assert maker.task_play.beside.agree(behaviour, "choice", evidence) is not bool(broken)


def test_animals_are_beside_a_person_in_their_task_with_their_accuracies(maker: Any) -> None:
    from neurogym_behaviour.references import published

    curves = maker.task_play.beside.beside_of(installed_task("PerceptualDecisionMaking-v0"))[
        "curves"
    ]
    found = {one["name"]: one["points"] for one in curves}
    monkeys = published("roitman-shadlen-2002").subjects
    for monkey in monkeys:
        points = found[f"{monkey.name}, Roitman & Shadlen (2002)"]
        wanted = dict(zip(monkey.strengths, monkey.correct, strict=True))
        for evidence, k, n in points:
            correct = k / n if evidence > 0 else 1 - k / n
            assert abs(correct - wanted[abs(evidence)]) < 1 / n
    others = maker.task_play.beside.beside_of(installed_task("PoissonClicks-v0"))["curves"]
    assert others
    assert not any("monkey" in one["name"] for one in others)


def test_a_task_that_needs_python_says_so_in_place_of_a_game(maker: Any, tmp_path: Path) -> None:
    text = "\n".join(maker.task_play.section(installed_task("LeverPress-v0"), tmp_path))
    assert "since it runs code on every step (step\\_action, step\\_target)." in text
    assert "ngym play value/LeverPress-v0" in text
    assert list(tmp_path.iterdir()) == []
