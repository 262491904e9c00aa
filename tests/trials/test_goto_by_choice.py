"""`then=` may lead each choice to another place, trial by trial."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import END, STAY, Choice, Task, make, make_vec
from neurogym_core.errors import TrialLayoutError, UnknownNameError


class Fork(Task):
    """The first choice leads to one of two rooms; which one may differ from trial to trial."""

    by_answer: bool = False
    fixed: bool = False
    timing: ClassVar = {"door": 200, "red": 300, "blue": 400}
    supervised = False

    def define(self):
        self.observe(cue=1)
        self.act(rest=1, go=2)
        self.vary(swap=Choice((False, True)), room=Choice(2))

    def new_trial(self, trial):
        trial.periods("door", "red", "blue", then={"red": "end"})
        trial.show("cue", trial["room"] + 1, during="door")
        rooms = np.where(trial["swap"][:, None], ("blue", "red"), ("red", "blue"))
        then = ("red", "blue") if self.fixed else rooms
        if self.by_answer:
            trial.answer("go", trial["room"], during="door", slot="door", then=then)
        else:
            trial.offer(
                "go",
                0,
                during="door",
                worth=trial["room"][:, None] == (0, 1),
                slot="door",
                then=then,
            )
        trial.offer("go", (1, 2), during=("red", "blue"), slot="room")


def room_of(swap, choice, fixed):
    return "blue" if (choice ^ (swap and not fixed)) else "red"


@pytest.mark.parametrize("by_answer", [False, True])
@pytest.mark.parametrize("fixed", [False, True])
def test_the_choice_decides_where_the_trial_goes_right_or_wrong(by_answer, fixed):
    env = make(Fork, by_answer=by_answer, fixed=fixed)
    env.reset(seed=3)
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(100):
        trial, choice = env.unwrapped.conditions, int(rng.integers(2))
        assert env.unwrapped.period == "door"
        _, reward, *_ = env.step(1 + choice)
        wanted = room_of(trial["swap"], choice, fixed)
        assert env.unwrapped.period == wanted
        assert reward == (float(choice == trial["room"]) if by_answer else 0.0)
        info = env.step(2)[4]
        assert info["new_trial"]
        assert info["trial"]["steps"] == 2
        seen.add((trial["swap"], choice, wanted))
    assert len(seen) == 4


def test_vector_env_jumps_as_the_single_env():
    single, vector = make(Fork, seed=5, info="full"), make_vec(Fork, 1, seed=5, info="full")
    single.reset(seed=5)
    vector.reset(seed=5)
    for action in np.random.default_rng(1).integers(0, 3, 300):
        obs, reward, _, over, info = single.step(int(action))
        many = vector.step(np.array([action]))
        assert (obs == many[0][0]).all()
        assert reward == many[1][0]
        assert info["period"] == many[4]["period"][0]
        assert over == many[3][0]
        if over:
            single.reset()
            vector.step(np.array([0]))


def test_the_oracle_path_follows_the_aimed_choice():
    batch = Fork().sample(50, seed=0)
    swap, room = batch.conditions["swap"], batch.conditions["room"]
    blue = (room == 1) ^ swap
    red_steps, blue_steps = (batch.path[:, batch.period == p].sum(axis=1) for p in (1, 2))
    assert (red_steps == np.where(blue, 0, 3)).all()
    assert (blue_steps == np.where(blue, 4, 0)).all()


def test_a_choice_may_end_the_trial_or_wait():
    class Mixed(Fork):
        def new_trial(self, trial):
            trial.periods("door", "red", "blue")
            trial.show("cue", trial["room"] + trial["swap"], during="door")
            trial.offer("go", 0, during="door", then=("end", "wait"))

    batch = Mixed().sample(4, seed=0)
    assert (batch.table("goto")[:, 0, 1] == END).all()
    assert (batch.table("goto")[:, 0, 2] == STAY).all()


def _lay_out(then, **terms):
    class Bad(Fork):
        def new_trial(self, trial):
            trial.periods("door", "red", "blue")
            trial.show("cue", trial["room"] + trial["swap"], during="door")
            trial.offer("go", 0, during="door", slot="first")
            trial.offer("go", 0, during="red", then=then, **terms)

    return Bad()


def test_wrong_places_raise_and_name_the_known_ones():
    with pytest.raises(UnknownNameError, match="blue"):
        _lay_out(("red", "bleu"))
    with pytest.raises(TrialLayoutError, match="shape"):
        _lay_out(("red", "blue", "end"))
    with pytest.raises(TrialLayoutError, match="shape"):
        _lay_out(np.array([["red", "blue"]] * 3))
    with pytest.raises(TrialLayoutError, match="by choice"):
        _lay_out(("red", "blue"), needs="first")


def test_the_best_priced_choice_scores_exactly_one():
    class Prices(Task):
        timing: ClassVar = {"choice": 100}
        supervised = False

        def define(self):
            self.observe(cue=1)
            self.act(arm=3)
            self.vary(worth=lambda rng, prior: rng.random((prior.n, 3)))

        def new_trial(self, trial):
            trial.periods("choice")
            trial.offer("arm", trial["worth"], during="choice")

    score = Prices().sample(200, seed=0).table("score")[:, 0]
    assert (score.max(axis=1) == 1).all()
