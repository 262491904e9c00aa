"""`docs/results.md` agrees with its measurements, which can be repeated."""

from __future__ import annotations

import pytest
from scripts import loaded

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


def test_thresholds_fell_with_every_seed():
    for run in maker.read(maker.MEASURED)["runs"]["thresholds"]:
        known = [value for value in run["thresholds"] if value is not None]
        assert len(known) >= 3
        assert known[-1] < 0.7 * known[0]


@pytest.mark.parametrize("name", NAMES)
def test_the_training_is_that_of_the_command_line_on_the_page(name):
    example = next(example for example in maker.EXAMPLES if example.name == name)
    experiment = maker.experiment_of_words(example.words, 3)
    assert f"```\n{example.words}\n```" in maker.PAGE.read_text("utf-8")
    assert experiment.seed == 3
    for one in experiment.tasks:
        assert one["task"] in example.words
    assert f"--{experiment.kind} {experiment.trainer} " in example.words
    assert f" {experiment.amount} " in example.words


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
