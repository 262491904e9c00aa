"""Values that a subject, a hook or an author reads: times, units, rewards and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neurogym_core import Choice, Dataset, InverseSquare, Ring, Task, make, make_task


class Aim(Task):
    """Answer in one of eight directions."""

    timing = {"light": 200, "choice": 300}
    bounds: Any = (1, 2)

    def define(self):
        self.observe(light=1)
        self.act(rest=1, aim=Ring(8))
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("light", "choice")
        trial.show("light", 1, during="light")
        trial.answer("aim", trial["side"], during="choice")


class Timed(Aim):
    """The hook shows the time since the onset of the period."""

    def step_observation(self, now, obs):
        obs[:, 0] = now.elapsed
        return obs


class Streak(Aim):
    """Trials depend on outcomes, so that a dataset plays them step by step."""

    reads_outcomes = True

    def new_session(self, session, rng):
        session.count = np.zeros(len(session), int)


def test_a_ring_is_read_by_its_population_vector_and_not_by_its_largest_unit():
    actions = make(Aim).unwrapped.task.actions
    outputs = np.array([0, 0, 1, 0.9, 0.9, 0, 0, 0, 0])  # rest, and eight directions
    assert actions.decode_units(outputs) == 3
    outputs[0] = 0.6
    assert actions.decode_units(outputs) == 0


def test_elapsed_is_0_on_the_first_step_of_every_period(kernel):
    env = make(Timed)
    shown = [env.reset(seed=0)[0][0]]
    shown += [env.step(0)[0][0] for _ in range(9)]
    assert shown == [0, 100, 0, 100, 200] * 2


@pytest.mark.parametrize("seq_len", [12, 13])
def test_the_trial_under_way_at_the_end_of_a_chunk_is_incomplete(kernel, seq_len):
    batch = next(iter(Dataset(Streak, batch_size=3, seq_len=seq_len, seed=0)))
    last = [batch.stop[batch.row == row].max() for row in range(3)]
    assert min(last) > seq_len


def test_the_inverse_square_of_a_distance():
    paid = InverseSquare(most=4)(np.array([0, 1, 3]), np.array(1))
    np.testing.assert_array_equal(paid, [4, 1, 0.25])


def test_a_parameter_of_any_type_keeps_the_value_it_is_given():
    assert make_task(Aim, bounds=3).bounds == 3
