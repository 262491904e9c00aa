"""NAltConditionalVisuomotor: pairs that are constant in a block and change without notice."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from neurogym_task_control.conditional_visuomotor import NAltConditionalVisuomotor

from neurogym_core import Dataset, InvalidValueError, TaskEnv
from neurogym_core.players import TaskView


def drawn(task, sessions: int, trials: int, seed: int = 1) -> dict:
    """Conditions of parallel sessions, name -> (trials, sessions, …)."""
    rng = np.random.default_rng(seed)
    return task.draw_ahead(TaskView(task).fresh_session(rng, sessions), rng, trials)


@pytest.mark.parametrize("pictures", [2, 4])
def test_pictures_differ_and_stay_for_a_session_and_are_new_in_the_next(pictures):
    task = NAltConditionalVisuomotor(pictures=pictures)
    patterns = drawn(task, 50, 60)["patterns"].reshape(60, 50, pictures, 10)
    assert (patterns == patterns[0]).all()
    for session in patterns[0]:
        assert len(np.unique(session, axis=0)) == pictures
        assert session.any(axis=1).all()
    assert len({session.tobytes() for session in patterns[0]}) > 45


@pytest.mark.parametrize("pictures", [2, 3, 5])
def test_every_movement_changes_with_the_block(pictures):
    task = NAltConditionalVisuomotor(pictures=pictures, shortest_block=5, longest_block=9)
    movements = drawn(task, 20, 200)["movements"]
    assert (np.sort(movements, axis=2) == np.arange(pictures)).all()
    for session in np.moveaxis(movements, 1, 0):
        edges = np.flatnonzero((session[1:] != session[:-1]).any(axis=1)) + 1
        assert (session[edges] != session[edges - 1]).all()
        lengths = [b - a for a, b in itertools.pairwise([0, *edges])]
        assert set(lengths) <= set(range(5, 10))
        assert len(set(lengths)) > 1


def test_the_movement_of_the_picture_that_was_shown_is_right(oracle):
    for trial in oracle(NAltConditionalVisuomotor(pictures=3, trials_per_session=20), 60):
        assert trial["outcome"] == "correct"
        assert trial["choice"] == trial["movements"][trial["picture"]]


def test_the_picture_is_shown_and_nothing_after_it():
    task = NAltConditionalVisuomotor()
    batch = task.sample(40, seed=2)
    shown = batch.shown[:, :, task.channels["stimulus"]]
    patterns = batch.conditions["patterns"].reshape(40, 2, 10)[
        np.arange(40), batch.conditions["picture"]
    ]
    for segment, p in enumerate(batch.period):
        np.testing.assert_array_equal(
            shown[:, segment], patterns * (batch.period_names[p] == "stimulus")
        )
    assert batch.noise[..., 0].max() == 0
    assert batch.noise.max() == pytest.approx(0.1 / np.sqrt(100))


def test_old_answers_are_errors_after_a_reversal():
    """With two pictures a reversal makes every old answer wrong."""
    task = NAltConditionalVisuomotor(shortest_block=3, longest_block=3, trials_per_session=12)
    env = TaskEnv(task)
    env.reset(seed=3)
    first = env.conditions["movements"]
    outcomes = []
    while len(outcomes) < 12:
        asked = env.period == "decision"
        *_, info = env.step(1 + first[env.conditions["picture"]] if asked else 0)
        if info["new_trial"]:
            outcomes.append(info["trial"]["outcome"])
    assert outcomes == (["correct"] * 3 + ["error"] * 3) * 2


@pytest.mark.parametrize("dt", [10, 20, 100])
def test_oracle_is_right_and_the_dataset_agrees(oracle, dt):
    assert {trial["reward"] for trial in oracle(NAltConditionalVisuomotor(dt=dt), 10)} == {1}
    batch = next(iter(Dataset(NAltConditionalVisuomotor(dt=dt), 4, seed=4)))
    np.testing.assert_array_equal(batch.score(batch.targets)["performance"], 1)


def test_acting_early_costs(premature):
    for period in ("fixation", "stimulus", "delay"):
        assert premature(NAltConditionalVisuomotor(), period) == {-0.1}


def test_single_env_and_vector_env_agree(same_in_both):
    same_in_both(
        NAltConditionalVisuomotor(shortest_block=2, longest_block=4, trials_per_session=10)
    )


def test_impossible_settings_are_refused():
    with pytest.raises(InvalidValueError, match="at least 2"):
        NAltConditionalVisuomotor(pictures=1)
    with pytest.raises(InvalidValueError, match="can differ"):
        NAltConditionalVisuomotor(pictures=5, units=2)
    with pytest.raises(InvalidValueError, match="shorter bound first"):
        NAltConditionalVisuomotor(shortest_block=9, longest_block=3)


def test_noise_does_not_hide_the_picture(averages):
    """The pattern read from averages, in 2,000 trials."""
    task = NAltConditionalVisuomotor()
    batch = task.sample(2000, seed=11)
    patterns = batch.conditions["patterns"].reshape(2000, task.pictures, task.units)
    shown = patterns[np.arange(2000), batch.conditions["picture"]]
    np.testing.assert_array_equal(averages(task, batch, "stimulus", "stimulus") > 0.5, shown == 1)
