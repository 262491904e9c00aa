"""The gallery says for each task that is not learned the cause, with a number."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from scripts import loaded

from neurogym_core import TrialRecord, make_task, run
from neurogym_core.tools import find_task

EARLY = loaded("train_gallery").EARLY
KNOWN = {"look.first": 0.7, "guess": 0.5, "all": 0.8, "oracle": 1.0}
FLAT = [0.5] * 12


def training(tests, final, seed=0, points=None, hardest=None):
    """A training with these tests and performance in new trials."""
    return {
        "task": "control/GoNogo-v0", "trainer": "gru", "seed": seed, "unit": "updates",
        "done": 100 * len(tests), "curve": [[100 * k, one] for k, one in enumerate(tests)],
        "answered": 1.0, "final": final, "psychometric": points and {"points": points},
        "hardest": hardest and {"condition": hardest, "worst": ["1100", 0.41], "best": ["0", 0.95]},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([training(np.linspace(0.5, 0.75, 22), 0.75)], "budget was too small.*0.63 to 0.75"),
        ([training(FLAT, 0.71)], "simpler policy.*the first 100 ms of each stimulus, 0.70"),
        ([training(FLAT, 0.6, 0), training(FLAT, 0.9, 1)], "Seeds differ.*0.90.*0.60"),
        (
            [training(FLAT, 0.75, points=[[-9, 0, 10], [-1, 4, 10], [1, 5, 10], [9, 9, 10]])],
            "Weak evidence.*0.55.*0.95",
        ),
        ([training(FLAT, 0.75, points=[[1, 8, 10], [9, 8, 10]])], "plateau.*0.50 and 0.50"),
        ([training(FLAT, 0.75)], "plateau.*1,200 updates"),
        ([training(FLAT, 0.6)], "best shortcut.*the first 100 ms of each stimulus, 0.70"),
        ([training(FLAT, 0.75, 0, None, "delay")], "`delay` is 1100: 0.41, .*0.95.* 0 .1 of 1"),
        (
            [training(FLAT, 0.75, 0, None, "delay"), training(FLAT, 0.75, 1, None, "stimulus")],
            "plateau",
        ),
    ],
)
def test_the_cause_is_the_one_that_the_numbers_show(runs, said):
    info = replace(find_task("control/GoNogo-v0"), shortcuts=KNOWN, ideal={}, admitted={})
    assert re.search(said, loaded("train_gallery").cause(info, runs))


def test_the_hardest_condition_is_that_of_the_errors():
    """A subject that errs with one sample, and one that errs as often with all; 2,000 trials."""
    maker, task = loaded("train_gallery"), make_task("memory/DelayMatchSample-v0")
    record = run(task, "oracle", 2000, seed=1)
    errs = record["sample"] == 1
    planted = TrialRecord({**record, "performance": np.where(errs, 0.6, 0.9)})
    assert maker.hardest(task, planted) == {
        "condition": "sample", "worst": ["1", 0.6], "best": ["0", 0.9],
    }  # fmt: skip
    even = np.random.default_rng(1).random(2000) < 0.7
    assert maker.hardest(task, TrialRecord({**record, "performance": even * 1.0})) is None


def test_each_task_that_is_not_learned_has_one_cause_with_a_number():
    maker = loaded("train_gallery")
    runs = list(maker.read(maker.MEASURED)["runs"].values())
    said = {
        task: maker.cause(info, runs)
        for task, info in maker.catalogue().items()
        if maker.verdict(info, runs) in ("not learned", "open")
    }
    assert len(said) > 10
    assert [
        task for task, text in said.items() if not re.fullmatch(r"\*\*.*\d\.\d\d.*", text)
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize("task_id", sorted(EARLY))
def test_an_ideal_observer_that_answers_early_earns_what_the_page_says(task_id):
    """1,000 trials or more; 4 SDs of a proportion are 0.063: false alarms 1 in 10**4."""
    step, performance = EARLY[task_id]
    module, _, name = find_task(task_id).ideal["how"].partition(":")
    ideal = getattr(import_module(module), name)

    class Early(ideal):
        def begin(self, env):
            super().begin(env)
            if hasattr(self, "bounds"):
                assert step == 1
                self.bounds[:] = 0  # any evidence is enough

        def __call__(self, env, observations):
            action = super().__call__(env, observations)
            if not hasattr(self, "bounds"):
                answers = self._decided(env)[1] & (self._steps["response"] >= step)
                action[:, 0] = np.where(env.is_asked & answers, 1, -1)
            return action

    record = run(make_task(task_id), Early(), 1000, seed=1)
    assert record["performance"].mean() == pytest.approx(performance, abs=0.063)
