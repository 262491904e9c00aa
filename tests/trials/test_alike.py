"""Trials that are alike share what is written down of them: with and without that, everything must be the same."""

from __future__ import annotations

import ngym_test_random_tasks as random_tasks
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogym_core import Choice, Dataset, TaskEnv, TaskVectorEnv, Uniform
from neurogym_core.play import library, table
from neurogym_core.play.library import Library
from neurogym_core.tasks.task import Task
from neurogym_core.trials import batch as batches

pytestmark = pytest.mark.filterwarnings("ignore:Period .* lasts:UserWarning")

ROWS = 80
"""Trials drawn ahead: few, so that tables are renewed often."""


FEW = {f"u{k}": {"choice": [0.2, 0.7]} for k in range(random_tasks.N_CONDITIONS)}
"""Conditions with few values, so that many trials are alike; on their own they are continuous, and none is."""


def apart(patch: pytest.MonkeyPatch) -> None:
    """Every trial is of a kind of its own."""

    def all_differ(columns):
        return None, np.arange(len(columns[0]))

    patch.setattr(batches, "sorted_by_kind", all_differ)
    patch.setattr(library, "sorted_by_kind", all_differ)
    patch.setattr(library, "MANY", 0)


def played(env, seed: int, steps: int = 160) -> list:
    """All that an env says while somebody plays at random."""
    env.player.stream.block_rows = ROWS
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    n = getattr(env, "num_envs", None)
    size = env.task.actions.size
    said = []
    for _ in range(steps):
        obs, reward, terminated, truncated, info = env.step(rng.integers(size, size=n) if n else int(rng.integers(size)))
        said += [obs, reward, terminated, truncated, info["gt"], info["period"]]
        if "trial" in info:
            said += [value for name, value in sorted(info["trial"].items()) if name != "env"]
        if n is None and (terminated or truncated):
            env.reset()
    return said


def assert_same(one: list, other: list) -> None:
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("n", [None, 1, 7])
@random_tasks.held(15)
@given(description=random_tasks.descriptions(), seed=st.integers(0, 99))
def test_players_do_not_notice(n, description, seed):
    task = random_tasks.playable(description, conditions=FEW)

    def env():
        return TaskEnv(task) if n is None else TaskVectorEnv(task, n, autoreset_mode="SameStep")

    one = env()
    shared = played(one, seed)
    if not any(hasattr(ms, "bounds") for ms in description.timing.values()):
        assert len(one.player.table.rules.batch) <= 2**random_tasks.N_CONDITIONS < ROWS
    with pytest.MonkeyPatch.context() as patch:
        apart(patch)
        assert_same(shared, played(env(), seed))


@random_tasks.held(10)
@given(description=random_tasks.descriptions(fixed=True), seed=st.integers(0, 99))
def test_datasets_do_not_notice(description, seed):
    task = random_tasks.playable(description, conditions=FEW)

    def said() -> list:
        dataset = Dataset(task, 330, 100, seed=seed, targets="action" if task.supervised else "best")
        dataset._source.stream.block_rows = 1500
        batches = [next(dataset) for _ in range(3)]
        return [values for one in batches for values in (one.inputs, one.targets, one.weights, one.new_trial, one.start)]

    shared = said()
    with pytest.MonkeyPatch.context() as patch:
        apart(patch)
        assert_same(shared, said())


# ---------------------------------------------------------------------- which trials are alike


class Dots(Task):
    """Some conditions, of which all but a few combinations come up soon."""

    timing = {"fixation": 200, "stimulus": 500, "decision": 300}

    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice(2), coherence=Choice((0, 25, 50)), answer="side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        trial.show("stimulus", (trial.side[:, None] == [0, 1]) * trial.coherence[:, None] / 100, during="stimulus", noise=1.0)
        trial.answer("choose", trial.side, during="decision")


class Shuffled(Dots):
    """Conditions do not say all of a trial: something else is drawn."""

    def new_trial(self, trial):
        super().new_trial(trial)
        trial.show("stimulus", trial.rng.random((trial.n, 2)), during="fixation")


class Graded(Dots):
    """No two trials are alike."""

    def define(self):
        super().define()
        self.vary(coherence=Uniform(0, 50))


class Contrary(Dots):
    """Reads outcomes: after an error the same side comes again."""

    reads_outcomes = True

    def draw(self, session, rng):
        n, previous = len(session), session.previous
        again = previous["reward"] < 0.5
        side = np.where(again & (previous["choice"] >= 0), previous.get("side", np.zeros(n, int)), rng.integers(2, size=n))
        return {"side": side, "coherence": rng.choice([0, 25, 50], n)}


def test_six_kinds_of_trials_are_six_rows():
    env = TaskVectorEnv(Dots(), 16)
    env.player.stream.block_rows = 100
    env.reset(seed=1)
    played_on = env.player.table
    assert len(played_on.rules.batch) == 6 < len(played_on.batch)
    for _ in range(400):
        env.step(np.full(16, 1))
    assert env.player.table is not played_on
    assert env.player.table.rules is played_on.rules


@pytest.mark.parametrize("task", [Shuffled, Graded])
def test_what_conditions_do_not_say_is_not_shared(task):
    env = TaskEnv(task())
    env.reset(seed=1)
    assert len(env.player.table.rules.batch) == len(env.player.table.batch)
    assert Library.of(task().sample(500, seed=1)) is None


def test_the_library_knows_what_it_met_and_nothing_else():
    batch = Dots().sample({"side": np.repeat([0, 1], 100), "coherence": np.repeat([0, 25], 100)}, seed=1)
    known = Library.of(batch)
    found = known.find({"side": np.array([1, 0, 1]), "coherence": np.array([25, 0, 25])})
    np.testing.assert_array_equal(found.conditions["side"], [1, 0, 1])
    np.testing.assert_array_equal(found.target, batch.take([150, 50, 150]).target)
    np.testing.assert_array_equal(found.shown, batch.take([150, 50, 150]).shown)
    assert known.find({"side": np.array([1, 1]), "coherence": np.array([25, 0])}) is None
    assert known.find({"side": np.array([1])}) is None


def test_rows_of_equal_hash_are_compared(monkeypatch):
    monkeypatch.setattr(batches, "hash_words", lambda words: np.zeros(words.shape[1], np.uint64))
    first, kind = batches.sorted_by_kind([np.repeat([0, 1, 2], 100)])
    assert first is None  # all of one kind, says the hash
    np.testing.assert_array_equal(kind, np.arange(300))


@pytest.mark.parametrize("n", [None, 1, 9])
def test_outcome_readers_play_alike_whether_trials_are_kept_or_laid_out_anew(n, monkeypatch):
    def env():
        return TaskEnv(Contrary()) if n is None else TaskVectorEnv(Contrary(), n, autoreset_mode="SameStep")

    kept = played(env(), 3, 600)
    monkeypatch.setattr(library, "MANY", 0)
    assert_same(kept, played(env(), 3, 600))


def test_outcome_readers_that_have_met_everything_lay_nothing_out():
    env = TaskEnv(Contrary())
    env.reset(seed=1)
    for _ in range(3000):
        env.step(1)
    rules, task = env.player.table.rules, env.task
    laid_out = []
    lay_out = type(task).lay_out
    type(task).lay_out = lambda *args, **kwargs: laid_out.append(1) or lay_out(*args, **kwargs)
    try:
        for _ in range(500):
            env.step(1)
    finally:
        type(task).lay_out = lay_out
    assert not laid_out
    assert env.player.table.rules is rules
    assert isinstance(rules, table.Rules)
    assert len(rules.batch) <= 6


def test_outcome_readers_that_meet_something_new_in_every_trial_do_not_keep_it():
    class Endless(Contrary):
        def define(self):
            super().define()
            self.vary(coherence=Uniform(0, 50))

        def draw(self, session, rng):
            return {**super().draw(session, rng), "coherence": rng.uniform(0, 50, len(session))}

    env = TaskVectorEnv(Endless(), 3)
    env.reset(seed=1)
    for _ in range(3000):
        env.step(np.ones(3, int))
    assert len(env.player.table.batch) < 20


class Sometimes(Task):
    """Reads outcomes; a second question comes in some trials only, and is answered in the same period."""

    timing = {"decision": 400}
    reads_outcomes = True
    batched = False

    def define(self):
        self.observe(go=1)
        self.act(wait=1, first=2, second=2)
        self.vary(side=Choice(2), two=Choice((False, True)), answer="side")

    def draw(self, session, rng):
        n = len(session)
        return {"side": rng.integers(2, size=n), "two": rng.random(n) < 0.3 + 0.4 * (session.previous["reward"] > 0)}

    def new_trial(self, trial):
        trial.periods("decision")
        trial.show("go", 1, during="decision")
        if trial.two:
            trial.answer("second", trial.side, during="decision", then="wait", slot="second")
        trial.answer("first", trial.side, during="decision", then="wait", slot="first")


@pytest.mark.parametrize("seed", [4, 5, 6])
@pytest.mark.parametrize("many", [0, 256])
def test_questions_that_come_in_some_trials_only(many, seed, monkeypatch):
    """The first trials of an env may lack a question that later ones have, and which trials a table holds changes."""
    monkeypatch.setattr(library, "MANY", many)
    env, single = TaskVectorEnv(Sometimes(), 2, autoreset_mode="SameStep"), TaskEnv(Sometimes())
    rng = np.random.default_rng(0)
    given: list[dict] = [{}, {}]
    env.reset(seed=seed)
    seen = set()
    for _ in range(800):
        conditions, actions = env.trial, rng.integers(5, size=2)
        asked = {"first": np.ones(2, bool), "second": conditions["two"]}
        for i, action in enumerate(actions.tolist()):
            name = ("", "first", "first", "second", "second")[action]
            if name and asked[name][i]:
                given[i].setdefault(name, (action - 1) % 2)
        info = env.step(actions)[4]
        for i in np.flatnonzero(info["new_trial"]):
            for name in ("first", "second"):
                if f"{name}.choice" in info["trial"]:
                    assert info["trial"][f"{name}.choice"][i] == given[i].get(name, -1)
                    seen.add((name, name in given[i]))
            given[i] = {}
    assert seen >= {("first", True), ("second", True), ("second", False)}
    one = TaskVectorEnv(Sometimes(), 1, autoreset_mode="SameStep")
    one.reset(seed=5), single.reset(seed=5)
    for action in rng.integers(5, size=600):
        obs, reward, _, over, info = one.step(np.array([action]))
        alone = single.step(action)
        assert (obs[0] == alone[0]).all()
        assert (reward[0], over[0], info["new_trial"][0]) == (alone[1], alone[3], alone[4]["new_trial"])
        if over[0]:
            single.reset()
