"""The number of trials of a block: large, but without a noticeable delay."""

from __future__ import annotations

from neurogym_core import Choice, Task, TaskEnv
from neurogym_core.tasks.wrapper import TaskWrapper


class OneStep(Task):
    """Trials of one step, drawn one by one."""

    def define(self):
        self.observe(cue=1)
        self.act(choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def draw(self, session, rng):
        return self.draw_conditions(rng, len(session))

    def new_session(self, session, rng):
        session.count = rng.integers(2, size=len(session))

    def new_trial(self, trial):
        trial.periods("decision", decision=100)
        trial.answer("choose", trial["side"], during="decision")


class Together(OneStep):
    """The same trials, drawn together."""

    def draw_ahead(self, session, rng, trials):
        return {"side": rng.integers(2, size=(trials, len(session)))}


def _rows(task) -> int:
    env = TaskEnv(task)
    env.reset(seed=0)
    return env.stepper.dealer.block_rows


def test_trials_that_are_drawn_one_by_one_are_drawn_a_thousand_at_a_time():
    assert _rows(OneStep()) == 1024
    assert _rows(Together()) == 32768


class Ahead(TaskWrapper):
    """A wrapper that decides about trials ahead, as `TrialHistory` does."""

    def draw_ahead(self, session, rng, trials):
        return self.draw_wrapped(session, rng, trials, {}, None)


def test_so_are_those_that_a_wrapper_has_drawn_one_by_one():
    """A task with session state draws the trials of such a wrapper one after another, although it
    can draw its own together."""
    assert _rows(Ahead(Together())) == _rows(Ahead(OneStep())) == 1024
    assert _rows(TaskWrapper(OneStep())) == 1024
    assert _rows(TaskWrapper(Together())) == 32768


def test_a_block_of_another_size_has_other_trials_but_is_as_long_as_was_asked():
    env = TaskEnv(OneStep())
    env.stepper.dealer.block_rows = 20
    env.reset(seed=0)
    assert len(env.stepper.any_block) == 20
