"""ContextSwitch: a mapping that reverses without notice."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_control.context_switch import ContextSwitch

from neurogym_core import Dataset, InvalidValueError, TaskEnv, run
from neurogym_core.players import TaskView


def contexts(p=0.1, sessions=200, trials=200):
    task, rng = ContextSwitch(switch_probability=p), np.random.default_rng(1)
    return (
        task.draw_ahead(TaskView(task).fresh_session(rng, sessions), rng, trials)["context"]
        == "other"
    )


def test_the_context_changes_with_the_given_probability():
    other = contexts()
    switches = other[1:] != other[:-1]
    assert switches.mean() == pytest.approx(0.1, abs=5 * 0.3 / np.sqrt(switches.size))
    # Memoryless: a switch is as likely right after a switch as otherwise.
    after = switches[1:][switches[:-1]]
    assert after.mean() == pytest.approx(0.1, abs=5 * 0.3 / np.sqrt(len(after)))
    assert other[0].mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(200))
    assert not (contexts(p=0.0)[1:] != contexts(p=0.0)[:-1]).any()


def test_drawing_one_by_one_goes_on_with_the_context():
    task, rng = ContextSwitch(switch_probability=0.0), np.random.default_rng(2)
    session = TaskView(task).fresh_session(rng, 50)
    first = task.draw(session, rng)["context"]
    session.trial += 1
    np.testing.assert_array_equal(task.draw(session, rng)["context"], first)
    np.testing.assert_array_equal(task.draw_ahead(session, rng, 3)["context"][-1], first)


@pytest.mark.parametrize("context", ["same", "other"])
@pytest.mark.parametrize("stimulus", [0, 1])
def test_the_mapping(context, stimulus):
    env = TaskEnv(ContextSwitch())
    obs, _ = env.reset(seed=3, options={"conditions": {"context": context, "stimulus": stimulus}})
    np.testing.assert_array_equal(obs, np.arange(2) == stimulus)
    right = stimulus if context == "same" else 1 - stimulus
    assert [env.step(choice)[1] for choice in (right, 1 - right)] == [1, 0]


@pytest.mark.parametrize("dt", [10, 100])
def test_context_switch_oracle_is_at_its_maximum(dt):
    record = run(ContextSwitch(dt=dt), "oracle", 200, seed=4)
    assert (record["reward"] == 1).all()
    assert (record["steps"] == 1).all()


def test_context_switch_makes_a_dataset():
    batch = next(Dataset(ContextSwitch(), batch_size=4, seq_len=30, seed=5))
    assert set(np.unique(batch.targets)) == {0, 1}


def test_an_impossible_switch_probability_is_refused():
    with pytest.raises(InvalidValueError, match="switch_probability"):
        ContextSwitch(switch_probability=1.5)
