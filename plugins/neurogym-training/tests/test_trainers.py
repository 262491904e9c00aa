"""All trainers: settings, the watch, the experiment as data."""

from __future__ import annotations

import json

import pytest
from neurogym_training import Experiment, Run, trainer_named
from neurogym_training.trainers import checked_settings, settings_of, trainer_names

from neurogym_core import InvalidValueError, NotSupportedError, UnknownNameError


@pytest.fixture
def toy(toys):
    return trainer_named("toy", "model")


def test_trainers_of_installed_packages_are_listed_without_importing_them(toys):
    import sys

    assert {"toy", "toy-agent"} <= set(trainer_names())
    assert "toy_trainers" not in sys.modules


def test_an_unknown_trainer_is_refused_with_the_nearest_name(toys):
    with pytest.raises(UnknownNameError, match="toy-agent"):
        trainer_named("toy-agnet")


def test_settings_need_the_type_of_their_defaults(toy):
    assert checked_settings(toy, "toy", {"hidden": 3.0, "rate": 1}) == {"hidden": 3, "rate": 1.0}
    for wrong in ({"hidden": 3.5}, {"hidden": True}, {"rate": "fast"}):
        with pytest.raises(InvalidValueError, match="needs a value like its default"):
            checked_settings(toy, "toy", wrong)


def test_settings_include_those_that_a_trainer_passes_to_its_base(toys):
    agent = trainer_named("toy-agent", "algo")
    assert {"wrap", "hidden", "rate"} <= set(settings_of(agent))
    assert checked_settings(agent, "toy-agent", {"hidden": 3.0}) == {"hidden": 3}


def test_a_criterion_can_be_a_function_of_the_record(toy, sides):
    trainer = toy(sides)
    seen = []
    why = trainer.train(100, criterion=lambda record: seen.append(len(record)) or len(seen) == 3)
    assert (why, trainer.done) == ("criterion", 20)
    assert seen == [50, 50, 50]


@pytest.mark.parametrize("criterion", [0, 1.5, True, "high"])
def test_an_impossible_criterion_is_refused(toy, sides, criterion):
    with pytest.raises(InvalidValueError, match=r"such as 0\.85"):
        toy(sides).train(10, criterion=criterion)


def test_resuming_after_the_criterion_was_met_changes_nothing(toy, sides):
    trainer = toy(sides, rate=1.0)
    trainer.train(50, criterion=0.9)
    done = trainer.done
    assert trainer.train(100, criterion=0.9) == "criterion"
    assert trainer.done == done


def test_a_trainer_needs_a_task(toy):
    with pytest.raises(InvalidValueError, match="no task"):
        toy([])


def test_an_experiment_survives_json(toys, sides):
    experiment = Experiment(
        tasks=({"task": sides, "strengths": [1.0]},),
        kind="model",
        trainer="toy",
        amount=10,
        seed=4,
        criterion=0.8,
        parameters={"timing": {"fixation": 400}},
        wrap=({"name": "TrialHistory"},),
        options={"hidden": 2},
    )
    again = Experiment.from_plain(json.loads(json.dumps(experiment.to_plain())))
    assert again.to_plain() == experiment.to_plain()
    assert again.with_amount(20).amount == 20


def test_the_progress_bar_shows_the_newest_numbers(toy, sides, capsys):
    toy(sides).train(20, progress=True)
    said = capsys.readouterr().err
    assert "20/20" in said
    assert "accuracy" in said


def test_a_new_run_has_not_started(toys, sides, tmp_path):
    experiment = Experiment(tasks=({"task": sides},), kind="model", trainer="toy", amount=10)
    run = Run.create(tmp_path / "run", experiment)
    assert not run.started
    assert run.trainer().done == 0


@pytest.mark.parametrize(("text", "hint"), [("{", "is not JSON"), ('{"format": 99}', "format 99")])
def test_invalid_settings_files_are_refused(tmp_path, text, hint):
    (tmp_path / "settings.json").write_text(text, "utf-8")
    with pytest.raises(InvalidValueError, match=hint):
        Run.open(tmp_path)


def test_an_agents_wrappers_of_envs_reach_it_and_those_of_tasks_its_task(toys, sides):
    experiment = Experiment(
        tasks=({"task": sides},),
        kind="algo",
        trainer="toy-agent",
        amount=10,
        wrap=({"name": "TrialHistory", "probs": 0.9}, {"name": "PassReward"}),
    )
    trainer = experiment.make_trainer()
    assert trainer.wrap == [("PassReward", {})]
    assert "TrialHistory" in type(trainer.tasks[0]).__name__
    with pytest.raises(NotSupportedError, match="toy-agent"):
        trainer_named("toy-agent", "model")


def test_every_public_name_exists_without_importing_torch():
    import subprocess
    import sys

    program = (
        "import sys, neurogym_training; [getattr(neurogym_training, name) for name in"
        " neurogym_training.__all__]; print('torch' in sys.modules, len(neurogym_training.__all__))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    torch_is_loaded, names = result.stdout.split()
    assert torch_is_loaded == "False"
    assert int(names) > 0
