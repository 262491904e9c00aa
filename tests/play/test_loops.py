"""Periods that repeat, slots that are answered again, and columns of `trial_state`."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_records import read_csv

from neurogym_core import (
    STAY,
    Choice,
    Dataset,
    RecordTrials,
    Task,
    make,
    make_vec,
    run,
)
from neurogym_core.errors import TrialLayoutError, UnknownNameError
from neurogym_core.tasks.state import state_of

pytestmark = pytest.mark.usefixtures("kernel")

REST, HARVEST, LEAVE = range(3)


class Patch(Task):
    """Harvest as often as you like, then leave."""

    again: bool = True
    max_duration: float | None = 5000
    timing = {"decide": float("inf"), "harvest": 200, "travel": 300}
    supervised = False

    def define(self):
        self.observe(berries=1)
        self.act(rest=1, go=2)
        self.vary(richness=Choice((1.0, 2.0)))

    def new_trial(self, trial):
        repeat = ("decide", "harvest")
        trial.periods(*repeat, "travel", then={"harvest": "decide"}, repeat=repeat)
        trial.show("berries", trial["richness"], during="decide")
        leads = ("harvest", "travel")
        trial.offer("go", (1, 0), during="decide", then=leads, again=self.again)


def steps_of(env, actions):
    """Play and return the rewards, and the periods of the steps."""
    env.reset(seed=1)
    results = [env.step(action) for action in actions]
    return [result[1] for result in results], [result[4]["period"] for result in results], results


def test_a_slot_is_answered_again_on_each_visit():
    actions = [REST, HARVEST, REST, REST, HARVEST, REST, REST, REST, LEAVE, REST, REST, REST]
    rewards, periods, results = steps_of(make(Patch, info="full"), actions)
    assert rewards == [0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert periods == [
        *["decide"] * 2, *["harvest"] * 2, "decide", *["harvest"] * 2, *["decide"] * 2,
        *["travel"] * 3,
    ]  # fmt: skip
    trial = results[-1][4]["trial"]
    assert trial["reward"] == 2
    assert trial["choice"] == 1  # the last visit: leave
    assert trial["reaction_time"] == 200  # from the onset of the last visit


def test_a_slot_is_answered_once_by_default():
    actions = [HARVEST, REST, REST, HARVEST, LEAVE]
    rewards, periods, _ = steps_of(make(Patch, again=False, info="full"), actions)
    assert rewards == [1, 0, 0, 0, 0]
    assert periods[-2:] == ["decide", "decide"]


class Rounds(Task):
    """Two rounds of a cue and a window."""

    again: bool = False
    max_duration: float | None = 250  # 3 steps
    timing = {"window": 100, "gap": 100}
    rewards = {"miss": -1.0}

    def define(self):
        self.observe(x=1)
        self.act(rest=1, go=1)

    def new_trial(self, trial):
        trial.periods("window", "gap", repeat=("window", "gap"), then={"gap": "window"})
        trial.answer("go", 0, during="window", then="wait", again=self.again)


@pytest.mark.parametrize(("again", "outcome"), [(False, "miss"), (True, "correct")])
def test_a_slot_that_was_missed_can_be_answered_on_the_next_visit_only_again(again, outcome):
    rewards, periods, results = steps_of(make(Rounds(again=again), info="full"), (REST, REST, 1))
    assert periods == ["window", "gap", "window"]
    assert rewards == [-1, 0, float(again)]
    assert results[-1][4]["trial"]["outcome"] == outcome


def test_the_last_visit_is_a_miss_where_the_trial_runs_out_of_time():
    env = make(Patch, max_duration=1000)
    env.reset(seed=1)
    for _ in range(20):
        *_, info = env.step(HARVEST if info_period(env) == "decide" and _ < 1 else REST)
        if "trial" in info:
            break
    assert info["trial"]["outcome"] == "miss"
    assert info["trial"]["choice"] == -1
    assert "reaction_time" not in info["trial"]


def info_period(env):
    return env.unwrapped.period


def test_envs_side_by_side_play_as_alone():
    """Every env of a vector env is at another visit; its trials are those of an env alone."""
    actions = np.random.default_rng(1).choice([REST, HARVEST, HARVEST, LEAVE], (400, 3))
    vector = make_vec(Patch, 3, conditions={"richness": 1.0}, info="full")
    vector.reset(seed=1)
    together = [vector.step(row) for row in actions]
    for k in range(3):
        env = make(Patch, conditions={"richness": 1.0}, info="full")
        env.reset(seed=1)
        for step, action in enumerate(actions[:, k].tolist()):
            _, reward, *_, info = env.step(action)
            _, rewards, *_, infos = together[step]
            assert rewards[k] == reward
            assert infos["period"][k] == info["period"]
            if "trial" in info:
                for name in ("choice", "outcome", "reward", "steps", "aborts"):
                    assert infos["trial"][name][k] == info["trial"][name]


def test_each_kernel_gives_the_records_of_the_plain_one(monkeypatch):
    def records():
        return [run(task, "random", 60, num_envs=3, seed=2) for task in (Patch, Counted)]

    played = records()
    monkeypatch.setenv("NGYM_KERNEL", "plain")
    assert played == records()


def test_a_dataset_of_a_loop_follows_the_oracle_to_the_end_of_the_trial():
    batch = next(Dataset(Patch, batch_size=4, seed=1, targets="best"))
    assert batch.inputs.shape[1] == 50  # until max_duration: one step to decide, two of the harvest
    assert (batch.score(batch.targets)["reward"] == 17).all()
    assert (run(Patch, "oracle", 4, seed=1)["reward"] == 17).all()


def test_periods_that_repeat_are_known_to_the_task_and_to_its_wrappers():
    assert state_of(Patch()).repeated == {"decide", "harvest"}


def test_a_name_in_repeat_that_is_no_period_is_refused():
    class Wrong(Patch):
        def new_trial(self, trial):
            trial.periods("decide", "harvest", "travel", repeat="harvests")

    with pytest.raises(UnknownNameError, match="Did you mean 'harvest'"):
        Wrong()


def test_calls_of_one_slot_agree_on_again():
    class Wrong(Patch):
        def new_trial(self, trial):
            trial.periods("decide", "harvest", "travel")
            trial.record("richness")
            trial.offer("go", 1, "decide", again=True)
            trial.offer("go", 1, "travel")

    with pytest.raises(TrialLayoutError, match="give both calls the same again="):
        Wrong()


# ---------------------------------------------------------------------- trial_state in the record


class Counted(Patch):
    """A hook counts the harvests, which deplete the patch."""

    trial_state = {"harvests": 0, "found": (0.0, 0.0)}

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.record("harvests", "found")

    def step_action(self, now, action):
        taken = now.in_period("decide") & (action == HARVEST)
        found = taken * now.conditions["richness"] * 0.5 ** now.trial_state["harvests"]
        now.trial_state["harvests"] = now.trial_state["harvests"] + taken
        both = np.column_stack((found, taken))
        now.trial_state["found"] = now.trial_state["found"] + both
        return found, STAY


def test_the_last_values_of_trial_state_are_in_the_record_of_every_player(tmp_path):
    env = RecordTrials(make(Counted, seed=1), tmp_path / "trials.csv")
    env.reset(seed=1)
    actions = [HARVEST, REST, REST, HARVEST, REST, REST, LEAVE, REST, REST, REST]
    for action in [*actions, *actions[6:], *actions]:
        *_, info = env.step(action)
    assert info["trial"]["harvests"] == 2
    assert env.record["harvests"].tolist() == [2, 0, 2]
    assert env.record["found"][:, 1].tolist() == [2, 0, 2]
    assert np.allclose(env.record["reward"], env.record["found"][:, 0])
    assert read_csv(tmp_path / "trials.csv") == env.record


def test_each_subject_beside_others_has_its_own_values():
    record = run(Counted, "random", 90, num_envs=3, seed=4)
    assert np.allclose(record["found"][:, 0], record["reward"])
    assert (record["found"][:, 1] == record["harvests"]).all()
    assert len(set(record["harvests"].tolist())) > 3


def test_a_fraction_that_a_hook_puts_into_an_array_of_ints_is_kept():
    class Half(Counted):
        def step_action(self, now, action):
            now.trial_state["harvests"] = now.trial_state["harvests"] + 0.5
            return None, STAY

    record = run(Half, "random", 5, num_envs=1, seed=1)
    assert np.allclose(record["harvests"], record["steps"] / 2)


def test_arrays_that_a_record_cannot_hold_are_refused_when_the_task_is_made():
    class Wrong(Counted):
        trial_state = {"harvests": np.zeros((2, 2)), "found": 0.0}

        def step_action(self, now, action):
            return None, STAY

    with pytest.raises(TrialLayoutError, match=r"shape \(2, 2\)"):
        Wrong()


def test_arrays_with_the_name_of_a_column_are_refused():
    class Wrong(Patch):
        trial_state = {"reward": 0.0}

        def new_trial(self, trial):
            super().new_trial(trial)
            trial.record("reward")

        def step_action(self, now, action):
            return None, STAY

    with pytest.raises(TrialLayoutError, match="the name of a column"):
        Wrong()
