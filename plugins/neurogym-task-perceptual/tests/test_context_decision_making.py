"""ContextDecisionMaking: relevant and irrelevant feature, implicit and cued context, go cue."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from neurogym_task_perceptual.context_decision_making import MODALITIES, ContextDecisionMaking

from neurogym_core import InvalidValueError, TaskEnv
from neurogym_core.players import TaskView

BEFORE = ("fixation", "stimulus", "delay")


def relevant(conditions: dict, context: str) -> np.ndarray:
    if context != "cued":
        return conditions[context]
    return np.where(conditions["context"] == "motion", conditions["motion"], conditions["colour"])


@pytest.fixture(params=[*MODALITIES, "cued"])
def context(request):
    return request.param


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_oracle_is_always_right_and_paid_in_full(oracle, context, dt):
    trials = oracle(ContextDecisionMaking(context=context, dt=dt), 30)
    assert all(trial["performance"] == 1 and trial["reward"] == 1 for trial in trials)


def test_durations_and_conditions_are_those_declared():
    batch = ContextDecisionMaking(context="cued", dt=10).sample(2000, seed=1)
    ms = {name: steps * 10 for name, steps in batch.period_steps.items()}
    for name, wanted in (("fixation", 300), ("stimulus", 750), ("decision", 300)):
        assert set(ms[name]) == {wanted}
    assert ms["delay"].min() >= 300
    assert ms["delay"].max() <= 3000
    drawn = batch.conditions
    assert set(drawn["context"]) == set(MODALITIES)
    assert set(drawn["motion_coherence"]) == set(drawn["colour_coherence"]) == {5, 15, 50}
    assert set(zip(drawn["motion"], drawn["colour"], strict=True)) == set(
        itertools.product((0, 1), (0, 1))
    )


def test_only_the_feature_that_the_context_asks_for_decides(context):
    batch = ContextDecisionMaking(context=context).sample(300, seed=2)
    decision = batch.target[:, batch.period == batch.period_names.index("decision")][:, 0]
    np.testing.assert_array_equal(decision - 1, relevant(batch.conditions, context))


def test_both_features_are_shown_as_strongly_as_their_coherence_says():
    task = ContextDecisionMaking(directions=4)
    batch = task.sample(100, seed=3)
    stimulus = batch.shown[:, batch.period == 1][:, 0]
    for feature in MODALITIES:
        shown = stimulus[:, task.channels[feature]]
        np.testing.assert_array_equal(shown.argmax(axis=1), batch.conditions[feature])
        np.testing.assert_allclose(
            shown.max(axis=1), 0.5 + batch.conditions[f"{feature}_coherence"] / 200, atol=1e-6
        )


def test_a_context_is_cued_throughout_or_nowhere_shown():
    cued = ContextDecisionMaking(context="cued")
    batch = cued.sample(50, seed=4)
    cue = batch.shown[:, :, cued.channels["context"]]
    wanted = batch.conditions["context"][:, None] == np.array(MODALITIES)
    np.testing.assert_array_equal(cue, np.broadcast_to(wanted[:, None], cue.shape))
    assert "context" not in ContextDecisionMaking().channels


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_the_go_cue_can_be_seen_and_leaves_time_to_answer(context, dt):
    """The decision follows a random delay, so subjects need an observable go cue."""
    task = ContextDecisionMaking(context=context, dt=dt)
    batch = task.sample(50, seed=5)
    fixation = batch.shown[:, :, task.channels["fixation"]][..., 0]
    asked = batch.period == batch.period_names.index("decision")
    assert (fixation[:, ~asked] == 1).all()
    assert (fixation[:, asked] == 0).all()
    assert (batch.period_steps["decision"] > 1).all()


@pytest.mark.parametrize("period", BEFORE)
def test_premature_answers_cost_in_every_period(period):
    task = ContextDecisionMaking()
    env = TaskEnv(task)
    env.reset(seed=6)
    seen = set()
    for _ in range(200):
        now = env.period
        premature = now == period
        _, reward, *_ = env.step(1 if premature else env.target)
        if premature:
            seen.add(reward)
    assert seen == {-0.1}


def test_imposed_answers_are_honoured():
    task = ContextDecisionMaking(context="cued")
    drawn = task.draw_conditions(np.random.default_rng(7), 200, correct_choice=np.ones(200, int))
    assert (relevant(drawn, "cued") == 1).all()


def test_single_env_and_vector_env_agree(same_in_both, context):
    same_in_both(ContextDecisionMaking(context=context))


def test_an_unknown_context_is_refused():
    with pytest.raises(InvalidValueError, match="'motion', 'colour' or 'cued'"):
        ContextDecisionMaking(context="color")


@pytest.mark.parametrize("context", ["motion", "colour", "cued"])
def test_the_declared_evidence_is_the_relevant_coherence_signed_by_the_answer(context):
    task = ContextDecisionMaking(context=context)
    conditions = dict(task.sample(200, seed=3).conditions)
    evidence = TaskView(task).evidence(conditions)
    assert set(np.abs(evidence)) == set(np.abs(task.coherences).astype(float))
    assert ((evidence > 0) == (TaskView(task).answer(conditions) == 1)).all()
    relevant = conditions.get("context", np.full(200, context))
    expected = np.where(
        relevant == "motion", conditions["motion_coherence"], conditions["colour_coherence"]
    )
    assert (np.abs(evidence) == expected).all()
