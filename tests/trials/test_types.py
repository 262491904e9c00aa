"""Trials with equal conditions share a type, which is built once; results must not depend on it."""

from __future__ import annotations

import ngym_test_random_tasks as random_tasks
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogym_core import Choice, Dataset, TaskEnv, TaskVectorEnv, Uniform
from neurogym_core.play import dealer
from neurogym_core.tasks.task import Task

pytestmark = pytest.mark.filterwarnings("ignore:Period .* lasts:UserWarning")

ROWS = 80
"""Trials drawn together: few, so that blocks are renewed often."""

FEW = {f"u{k}": {"choice": [0.2, 0.7]} for k in range(random_tasks.N_CONDITIONS)}
"""Conditions with few values, so that many trials share a type; by default they are continuous."""


def played(env, seed: int, steps: int = 160, shared: bool = True) -> list:
    """The results of an env with random actions."""
    env.stepper.dealer.block_rows = ROWS
    env.stepper.dealer.types.useless = not shared
    rng = np.random.default_rng(seed)
    said = [env.reset(seed=seed)[0]]
    n = getattr(env, "num_envs", None)
    size = env.task.actions.size
    for _ in range(steps):
        obs, reward, terminated, truncated, info = env.step(
            rng.integers(size, size=n) if n else int(rng.integers(size))
        )
        said += [obs, reward, terminated, truncated, info["gt"], info["period"]]
        if "trial" in info:
            said += [value for name, value in sorted(info["trial"].items()) if name != "env"]
        if n is None and (terminated or truncated):
            said.append(env.reset()[0])
    return said


def assert_same(one: list, other: list) -> None:
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


def types_in(env) -> int:
    """How many types of trials the block that is played has."""
    return len(env.stepper.any_block.tables)


@pytest.mark.parametrize("n", [None, 1, 7])
@random_tasks.held(15)
@given(description=random_tasks.descriptions(), seed=st.integers(0, 99))
def test_players_do_not_notice(n, description, seed):
    task = random_tasks.playable(description, conditions=FEW)

    def env():
        return (
            TaskEnv(task, info="full")
            if n is None
            else TaskVectorEnv(task, n, autoreset_mode="SameStep", info="full")
        )

    one, other = env(), env()
    assert_same(played(one, seed), played(other, seed, shared=False))
    assert types_in(other) == ROWS
    drawn = any(hasattr(ms, "bounds") for ms in description.timing.values())
    if not (drawn or description.frames):
        assert types_in(one) <= 2**random_tasks.N_CONDITIONS < ROWS


@random_tasks.held(10)
@given(description=random_tasks.descriptions(fixed=True), seed=st.integers(0, 99))
def test_datasets_do_not_notice(description, seed):
    task = random_tasks.playable(description, conditions=FEW)

    def said(shared: bool) -> list:
        dataset = Dataset(
            task, 330, 100, seed=seed, targets="action" if task.supervised else "best"
        )
        dataset._source.dealer.block_rows = 1500
        dataset._source.dealer.types.useless = not shared
        batches = [next(dataset) for _ in range(3)]
        return [
            values
            for one in batches
            for values in (one.inputs, one.targets, one.weights, one.new_trial, one.start)
        ]

    assert_same(said(True), said(False))


# ---------------------------------------------------------------------- which trials are alike


class Dots(Task):
    """Some conditions, most combinations of which come up soon."""

    timing = {"fixation": 200, "stimulus": 500, "decision": 300}

    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(side=Choice(2), coherence=Choice((0, 25, 50)))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show("fixation", 1, during=("fixation", "stimulus"))
        trial.show(
            "stimulus",
            (trial["side"][:, None] == [0, 1]) * trial["coherence"][:, None] / 100,
            during="stimulus",
            noise=1.0,
        )
        trial.answer("choose", trial["side"], during="decision")


class Shuffled(Dots):
    """Trials depend on more than their conditions: `new_trial` draws from `rng`."""

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
        side = np.where(
            again & (previous["choice"] >= 0),
            previous.get("side", np.zeros(n, int)),
            rng.integers(2, size=n),
        )
        return {"side": side, "coherence": rng.choice([0, 25, 50], n)}


def test_six_types_of_trials_are_six_rows_of_the_tables():
    env = TaskVectorEnv(Dots(), 16, info="full")
    env.stepper.dealer.block_rows = 100
    env.reset(seed=1)
    block = env.stepper.any_block
    assert len(block.tables) == 6 < len(block)
    for _ in range(400):
        env.step(np.full(16, 1))
    assert env.stepper.any_block is not block
    assert env.stepper.any_block.tables is block.tables


class Spawned(Dots):
    """Trials may differ, by a generator that leaves the state of `rng` as it is."""

    def new_trial(self, trial):
        super().new_trial(trial)
        rare = trial.rng.spawn(1)[0].random(trial.n) < 1e-9
        trial.show("stimulus", np.where(rare, 9, 0)[:, None], during="fixation")


class Lengthened(Dots):
    """A duration is drawn, and comes out alike in nearly all trials."""

    timing = {"fixation": Choice((200, 300), p=(1 - 1e-9, 1e-9))}


@pytest.mark.parametrize("task", [Shuffled, Graded, Spawned, Lengthened])
def test_trials_that_draw_beyond_their_conditions_share_no_type(task):
    env = TaskEnv(task(), info="full")
    env.reset(seed=1)
    assert types_in(env) == len(env.stepper.any_block)


def test_types_that_come_up_later_are_built_then():
    index = dealer.TypeIndex(Dots())
    rng = np.random.default_rng(1)

    def kinds(side, coherence):
        found, kind = index.find(
            {"side": np.array(side), "coherence": np.array(coherence)}, len(side), rng, {}
        )
        for name, values in (("side", side), ("coherence", coherence)):
            np.testing.assert_array_equal(index._conditions[name][kind], values)
        return len(found)

    assert kinds([0, 1, 0, 1] * 50, [0, 25, 0, 25] * 50) == 2
    assert kinds([1, 0, 1], [25, 0, 25]) == 2
    assert kinds([1, 1], [25, 0]) == 3
    assert kinds([0, 0, 1], [50, 25, 50]) == 6


class Said(Dots):
    """Two texts, which are shown."""

    def define(self):
        self.observe(fixation=1, stimulus=2)
        self.act(fixate=1, choose=2)
        self.vary(a=Choice(("x", "xy")), b=Choice(("z", "yz")))

    def new_trial(self, trial):
        trial.periods("fixation", "stimulus", "decision")
        trial.show(
            "stimulus",
            np.stack([trial["a"] == "xy", trial["b"] == "yz"], axis=1),
            during="stimulus",
        )
        trial.answer("choose", 0, during="decision")


TEXTS = [(["x", "xy"], ["yz", "z"]), (["x", "xy", "x"], ["z", "yz", "yz"])]
"""(xy, z) and (x, yz) are the same letters."""


@pytest.mark.parametrize(("a", "b"), TEXTS)
def test_texts_of_different_lengths_are_not_mistaken_for_each_other(a, b):
    env = TaskEnv(Said(), info="full")
    for one, other in zip(a, b, strict=True):
        env.reset(seed=0, options={"conditions": {"a": one, "b": other}})
        for _ in range(2):
            seen = env.step(0)[0]
        assert seen[1:].tolist() == [one == "xy", other == "yz"]


@pytest.mark.parametrize("copies", [1, dealer.FEW])
@pytest.mark.parametrize(("a", "b"), TEXTS)
def test_nor_are_they_in_few_trials_or_many(a, b, copies):
    index = dealer.TypeIndex(Said())
    for one, other in zip(a, b, strict=True):
        columns = {
            "a": np.array([one] * copies + ["x"]),
            "b": np.array([other] * copies + ["z"]),
        }
        _, kind = index.find(columns, copies + 1, np.random.default_rng(1), {})
        for name, values in columns.items():
            assert index._conditions[name][kind].tolist() == values.tolist()


@pytest.mark.parametrize("n", [None, 1, 9])
def test_outcome_readers_play_alike_whether_types_are_kept_or_rebuilt(n):
    def env():
        return (
            TaskEnv(Contrary(), info="full")
            if n is None
            else TaskVectorEnv(Contrary(), n, autoreset_mode="SameStep", info="full")
        )

    assert_same(played(env(), 3, 900), played(env(), 3, 900, shared=False))


def test_outcome_readers_that_know_all_types_build_none(monkeypatch):
    env = TaskEnv(Contrary(), info="full")
    env.reset(seed=1)
    for _ in range(3000):
        env.step(1)
    tables, laid_out = env.stepper.any_block.tables, []
    build = dealer.build_trials
    monkeypatch.setattr(dealer, "build_trials", lambda *given: laid_out.append(1) or build(*given))
    for _ in range(500):
        env.step(1)
    assert not laid_out
    assert env.stepper.any_block.tables is tables
    assert len(tables) <= 6


def test_outcome_readers_that_meet_something_new_in_every_trial_do_not_keep_it():
    class Endless(Contrary):
        def define(self):
            super().define()
            self.vary(coherence=Uniform(0, 50))

        def draw(self, session, rng):
            return {**super().draw(session, rng), "coherence": rng.uniform(0, 50, len(session))}

    env = TaskVectorEnv(Endless(), 3, info="full")
    env.reset(seed=1)
    for _ in range(3000):
        env.step(np.ones(3, int))
    assert types_in(env) < 20


class Sometimes(Task):
    """Reads outcomes; some trials have a second slot, answered in the same period."""

    timing = {"decision": 400}
    reads_outcomes = True

    def define(self):
        self.observe(go=1)
        self.act(wait=1, first=2, second=2)
        self.vary(side=Choice(2), two=Choice((False, True)))
        self.correct_choice("side")

    def draw(self, session, rng):
        n = len(session)
        return {
            "side": rng.integers(2, size=n),
            "two": rng.random(n) < 0.3 + 0.4 * (session.previous["reward"] > 0),
        }

    def new_trial(self, trial):
        trial.periods("decision")
        trial.show("go", 1, during="decision")
        if trial["two"].any():
            trial.answer(
                "second",
                trial["side"],
                during="decision",
                then="wait",
                slot="second",
                where=trial["two"],
            )
        trial.answer("first", trial["side"], during="decision", then="wait", slot="first")


@pytest.mark.parametrize("seed", [4, 5, 6])
@pytest.mark.parametrize("shared", [True, False])
def test_slots_that_only_some_trials_have(shared, seed):
    """The first trials of an env may lack a slot of later ones, and blocks hold other trials."""
    env, single = (
        TaskVectorEnv(Sometimes(), 2, autoreset_mode="SameStep", info="full"),
        TaskEnv(Sometimes(), info="full"),
    )
    rng = np.random.default_rng(0)
    for each in (env, single):
        each.stepper.dealer.types.useless = not shared
    given: list[dict] = [{}, {}]
    env.reset(seed=seed)
    seen = set()
    for _ in range(800):
        conditions, actions = env.conditions, rng.integers(5, size=2)
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
    one = TaskVectorEnv(Sometimes(), 1, autoreset_mode="SameStep", info="full")
    one.stepper.dealer.types.useless = not shared
    one.reset(seed=5), single.reset(seed=5)
    for action in rng.integers(5, size=600):
        obs, reward, _, over, info = one.step(np.array([action]))
        alone = single.step(action)
        assert (obs[0] == alone[0]).all()
        assert (reward[0], over[0], info["new_trial"][0]) == (
            alone[1],
            alone[3],
            alone[4]["new_trial"],
        )
        if over[0]:
            single.reset()
