"""`docs/results.md` agrees with its measurements, which can be repeated."""

from __future__ import annotations

import shlex
import sys

import pytest
from scripts import loaded

from neurogym_core.ecosystem.settings_text import read_value

maker = loaded("results")
NAMES = [example.name for example in maker.EXAMPLES]


def test_the_page_is_what_was_measured_last():
    written = maker.PAGE.read_text("utf-8")
    assert written == maker.page(maker.read(maker.MEASURED)), (
        "run `python docs/_make/results.py --page`, and commit docs/results.md"
    )


def test_every_example_was_measured_with_every_seed_and_met_its_criterion():
    measured = maker.read(maker.MEASURED)["runs"]
    for example in maker.EXAMPLES:
        runs = measured[example.name]
        assert [run["seed"] for run in runs] == list(example.seeds)
        assert all(run["met"] for run in runs), (
            f"{example.name}: say on the page which did not, and why"
        )
        assert all(run["cpu"] < 600 for run in runs), (
            "ten minutes on one core, whatever else the machine did"
        )
        assert all(run["fresh"] > 0.8 for run in runs)


def test_the_page_has_the_agents_of_the_readme_and_of_a_task_with_a_delay():
    agents = sys.modules["agents"]
    text = maker.PAGE.read_text("utf-8")
    measured = maker.read(agents.MEASURED)
    for goal, setting in (("readme", "a2c"), ("match", "ppo")):
        runs = agents.found(measured, goal, setting)
        assert len(runs) == agents.SEEDS
        assert all(run["met"] for run in runs)
        assert f"| {goal} | {setting} | {agents.GOALS[goal].criterion:g} | 8 of 8 | " in text


def test_thresholds_fell_with_every_seed():
    for run in maker.read(maker.MEASURED)["runs"]["thresholds"]:
        known = [value for value in run["thresholds"] if value is not None]
        assert len(known) >= 3
        assert known[-1] < 0.7 * known[0]


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_on_the_page_says_what_was_trained(name):
    example = next(example for example in maker.EXAMPLES if example.name == name)
    words = shlex.split(example.words)
    said = {
        option: words[k + 1]
        for k, option in enumerate(words)
        if option.startswith("--") and k + 1 < len(words)
    }
    assert words[:2] == ["ngym", "train"]
    assert tuple(word for word in words[2:] if "-v0" in word) == example.tasks
    assert said.get("--model", said.get("--algo")) == example.trainer
    assert int(said.get("--updates", said.get("--steps"))) == example.until
    options = dict(words[k + 1].split("=") for k, word in enumerate(words) if word == "--option")
    chosen = {key: value for key, value in example.options.items() if not key.startswith("test_")}
    assert {key: read_value(value) for key, value in options.items()} == chosen
    for flag, given in (
        ("--set", example.parameters),
        ("--timing", example.parameters.get("timing", {})),
    ):
        typed = dict(words[k + 1].split("=") for k, word in enumerate(words) if word == flag)
        wanted = {key: value for key, value in given.items() if key != "timing"}
        assert {key: read_value(value) for key, value in typed.items()} == wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_is_learned_again(name):
    # Seeds are fixed, and with each of those on the page the criterion was met (none of 27
    # trainings failed): this one fails only where the numbers of torch change, and then with the
    # failure rate of a fresh seed, by the rule of three below 11 %.
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        example = next(example for example in maker.EXAMPLES if example.name == name)
        run = maker.train(example, example.seeds[0])
    finally:
        torch.set_num_threads(threads)
    assert run["met"]
    assert run["fresh"] > 0.75


@pytest.mark.slow
def test_thresholds_fall_again():
    run = maker.thresholds(0)
    known = [value for value in run["thresholds"] if value is not None]
    assert known[-1] < 0.7 * known[0]
