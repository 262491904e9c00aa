"""Laws that every task and every player must obey, on random tasks.

One law is that both kernels say the same bits. The others need only the kernel in use, but for
those of memory, which differs between kernels. `test_against_reference.py` checks the meaning of
a step; these tests check that players agree.
"""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import ngym_test_random_tasks as random_tasks
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ngym_test_random_tasks import held

from neurogym_core import Dataset, TaskEnv, TaskVectorEnv
from neurogym_core.errors import MissingDependencyError
from neurogym_core.play import kernels
from neurogym_core.play.kernel import Kernel
from neurogym_core.tasks.state import state_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:Period .* lasts:UserWarning"),
    pytest.mark.usefixtures("few_trials_at_a_time"),
]
SEEDS = st.integers(0, 99)
MODES = ("NextStep", "SameStep")


def acted(task, rng, n):
    """Actions of n envs: often at rest, so that trials go on for a while."""
    if task.actions.continuous:
        actions = rng.uniform(-1, 1, (n, task.actions.size)).astype(np.float32)
        actions[rng.random(n) < 0.6] = 0
        return actions
    return np.where(
        rng.random(n) < 0.5, task.actions.rest or 0, rng.integers(task.actions.size, size=n)
    )


def one_step(env, action):
    """The results of a step of a single or vector env, as a list; resets single envs if needed."""
    seen, reward, terminated, truncated, info = env.step(action)
    said = [
        seen.copy(),
        reward,
        terminated,
        truncated,
        info["gt"],
        info["period"],
        info["new_trial"],
    ]
    if "trial" in info:
        said += [info["performance"], dict(info["trial"])]
    if not hasattr(env, "num_envs") and (terminated or truncated):
        said.append(env.reset()[0].copy())
    return said


def played(env, rng, steps):
    """The results of all steps of a vector env."""
    return [one_step(env, acted(env.task, rng, env.num_envs)) for _ in range(steps)]


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_equal(a, b)


# ---------------------------------------------------------------------- agreement of players


@pytest.mark.parametrize("mode", MODES)
@held(20)
@given(task=random_tasks.tasks(), seed=SEEDS)
def test_a_vector_env_of_one_is_the_single_env_in_all_sessions(task, seed, mode):
    single, vector = (
        TaskEnv(task, info="full"),
        TaskVectorEnv(task, 1, autoreset_mode=mode, info="full"),
    )
    rng = np.random.default_rng(seed)
    seen, wide = single.reset(seed=seed)[0], vector.reset(seed=seed)[0]
    for _ in range(80):
        np.testing.assert_array_equal(seen, wide[0])
        action = acted(task, rng, 1)
        seen, reward, terminated, truncated, info = single.step(action[0])
        wide, rewards, ends, cuts, infos = vector.step(action)
        assert (reward, terminated, truncated) == (rewards[0], ends[0], cuts[0])
        for name in ("gt", "period", "new_trial"):
            np.testing.assert_array_equal(info[name], infos[name][0])
        assert ("trial" in info) == ("trial" in infos)
        if "trial" in info:
            assert info["performance"] == infos["performance"][0]
            for name, value in info["trial"].items():
                np.testing.assert_array_equal(value, infos["trial"][name][0])
        if terminated or truncated:
            if mode == "NextStep":  # a step that is ignored
                wide, rewards, *_ = vector.step(acted(task, rng, 1))
                assert rewards[0] == 0
            seen = single.reset()[0]


@held(25)
@given(
    description=random_tasks.descriptions(jumps=False, drawn=(None, "before")),
    seed=SEEDS,
    n=st.sampled_from([1, 3]),
)
def test_a_dataset_shows_what_an_env_shows_and_scores_as_it_pays(description, seed, n):
    """Trial by trial, where no action leads to another period."""
    task = random_tasks.playable(description)
    n = (
        n if state_of(task).stateful else 1
    )  # else it is the pace of the envs that says which gets which trial
    dataset = Dataset(task, n, seed=seed, targets="action" if task.supervised else "best")
    env, rng = (
        TaskVectorEnv(task, n, autoreset_mode="SameStep", info="full"),
        np.random.default_rng(seed),
    )
    now = env.reset(seed=seed)[0]
    batches = [next(dataset) for _ in range(4)]
    actions = [np.zeros(batch.inputs.shape[:2], int) for batch in batches]
    records = [[None] * n for _ in batches]
    trial, step = np.zeros((2, n), int)
    rows = np.arange(n)
    while (trial < len(batches)).any():
        chosen, on = acted(task, rng, n), trial < len(batches)
        for row in rows[on]:
            batch, at = batches[trial[row]], (row, step[row])
            assert step[row] < batch.stop[row]
            np.testing.assert_array_equal(batch.inputs[at], now[row])
            assert batch.targets[at] == env.target[row]
            assert batch.weights[at] == env.stepper.table("weight")[row]
            actions[trial[row]][at] = chosen[row]
        now, _, _, _, info = env.step(chosen)
        step += 1
        for row in np.flatnonzero(info["new_trial"] & on):
            assert (
                step[row] <= batches[trial[row]].stop[row]
            )  # an answer in its last period ends it
            records[trial[row]][row] = {name: values[row] for name, values in info["trial"].items()}
        trial += info["new_trial"]
        step[info["new_trial"]] = 0
    for batch, given_actions, expected in zip(batches, actions, records, strict=True):
        scored = batch.score(given_actions)
        for row in rows:
            for name in set(scored.columns) - {"trial", "env", "session"}:
                value = expected[row][name]
                if name.endswith("reaction_time") and not expected[row][f"_{name}"]:
                    value = np.nan
                np.testing.assert_array_equal(scored[name][row], value, err_msg=name)


@pytest.mark.parametrize("n", [1, 4])
@held(40)
@given(task=random_tasks.tasks(), seed=SEEDS)
def test_both_kernels_say_the_same_bits(n, task, seed):
    assert_kernels_agree(n, task, seed)


@held(20)
@given(task=random_tasks.sequences(), n=st.sampled_from([1, 4]), seed=SEEDS)
def test_both_kernels_say_the_same_bits_of_several_tasks_in_one_session(task, n, seed):
    assert_kernels_agree(n, task, seed)


@pytest.mark.slow
@held(20)
@given(task=random_tasks.sequences(), seed=SEEDS)
def test_several_tasks_in_one_session_are_the_same_in_a_vector_env_of_one(task, seed):
    single, vector = (
        TaskEnv(task, info="full"),
        TaskVectorEnv(task, 1, autoreset_mode="SameStep", info="full"),
    )
    rng = np.random.default_rng(seed)
    np.testing.assert_array_equal(single.reset(seed=seed)[0], vector.reset(seed=seed)[0][0])
    for _ in range(80):
        action = acted(task, rng, 1)
        seen, reward, terminated, truncated, info = single.step(action[0])
        wide, rewards, ends, cuts, infos = vector.step(action)
        assert (reward, terminated, truncated) == (rewards[0], ends[0], cuts[0])
        assert ("trial" in info) == ("trial" in infos)
        for name, value in info.get("trial", {}).items():
            np.testing.assert_array_equal(value, infos["trial"][name][0])
        if terminated or truncated:
            seen = single.reset()[0]
        np.testing.assert_array_equal(seen, wide[0])


def assert_kernels_agree(n, task, seed):
    with pytest.MonkeyPatch.context() as patch:
        said = []
        for name in ("plain", "compiled"):
            patch.setenv(kernels.VARIABLE, name)
            skip_unless_built()
            env = TaskVectorEnv(task, n, info="full")
            said.append([env.reset(seed=seed)[0], *played(env, np.random.default_rng(seed), 80)])
    assert_same(*said)


def skip_unless_built():
    try:
        kernels.kernel_in_use()
    except MissingDependencyError as error:
        pytest.skip(str(error))


# ---------------------------------------------------------------------- seeds


@held(20)
@given(task=random_tasks.tasks(hooks=False), seed=SEEDS)
def test_trials_and_their_noise_are_the_same_whatever_is_played(task, seed):
    """Noise depends on serial number and step of the trial, not on other trials or envs."""
    seen: dict = {}
    if task.reads_outcomes:
        return
    for player in range(3):
        env, rng = TaskVectorEnv(task, 2, info="full"), np.random.default_rng([seed, player])
        env.reset(seed=seed)
        for _ in range(60):
            state = {
                name: env.stepper.state(name)
                for name in ("block", "row", "type", "segment", "clock", "entered")
            }
            now = env.stepper.observations()
            for i in range(2):
                block = env.stepper._blocks[state["block"][i]]
                place = [
                    block.first_serial + state["row"][i],
                    *(state[name][i] for name in ("segment", "clock", "entered")),
                ]
                drawn = [values[state["row"][i]] for values in block.conditions.values()]
                here = seen.setdefault(tuple(place), (now[i], drawn))
                np.testing.assert_array_equal(here[0], now[i])
                np.testing.assert_array_equal(here[1], drawn)
            env.step(acted(task, rng, 2))


# ---------------------------------------------------------------------- copies


@pytest.mark.parametrize("n", [None, 3])
@held(20)
@given(task=random_tasks.tasks(), seed=SEEDS, before=st.integers(0, 40))
def test_copies_in_mid_trial_go_on_alike_and_alone_also_with_the_other_kernel(
    n, task, seed, before
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(kernels.VARIABLE, "plain")
        env = TaskEnv(task, info="full") if n is None else TaskVectorEnv(task, n, info="full")
        rng = np.random.default_rng(seed)
        actions = [acted(task, rng, n or 1)[() if n else 0] for _ in range(before + 40)]
        env.reset(seed=seed)
        for action in actions[:before]:
            one_step(env, action)
        stored = pickle.dumps(env)
        copies = [copy.deepcopy(env), pickle.loads(stored)]
        patch.setenv(kernels.VARIABLE, "compiled")
        skip_unless_built()
        other = pickle.loads(stored)
        copies += [other, pickle.loads(pickle.dumps(other)), copy.deepcopy(other)]
        patch.setenv(kernels.VARIABLE, "plain")
        copies.append(pickle.loads(pickle.dumps(other)))
        assert [not isinstance(each.stepper.kernel, Kernel) for each in copies] == [
            False,
            False,
            True,
            True,
            True,
            False,
        ]
        expected = [one_step(env, action) for action in actions[before:]]
        for each in copies:
            assert_same([one_step(each, action) for action in actions[before:]], expected)


# ---------------------------------------------------------------------- memory of observations


@pytest.mark.parametrize("n", [None, 1, 3])
@held(15)
@given(task=random_tasks.tasks(), seed=SEEDS)
def test_overwriting_what_was_returned_changes_nothing_later(kernel, n, task, seed):
    def said(spoil: bool) -> list:
        env = (
            TaskEnv(task, info="full")
            if n is None
            else TaskVectorEnv(task, n, autoreset_mode="SameStep", info="full")
        )
        rng, kept = np.random.default_rng(seed), []
        returned = [env.reset(seed=seed)[0]]
        for _ in range(60):
            kept.append(returned[-1].copy())
            if spoil:
                returned[-1][...] = -99
            seen, reward, terminated, truncated, info = env.step(
                acted(task, rng, n or 1)[() if n else 0]
            )
            kept += [np.copy(reward), np.copy(info["gt"])]
            if spoil and n:
                reward[:], info["gt"][...], info["new_trial"][:] = -99, 0, True
            returned.append(seen)
            if n is None and (terminated or truncated):
                kept.append(seen.copy())
                if spoil:
                    seen[...] = -99
                returned.append(env.reset()[0])
        if spoil:
            assert all((values == -99).all() for values in returned[:-1])
        return kept

    assert_same(said(True), said(False))


@held(15)
@given(task=random_tasks.tasks(), seed=SEEDS)
def test_no_two_observations_share_memory(kernel, task, seed):
    env, rng = TaskEnv(task, info="full"), np.random.default_rng(seed)
    returned = [env.reset(seed=seed)[0]]
    for _ in range(40):
        seen, _, terminated, truncated, _ = env.step(acted(task, rng, 1)[0])
        returned.append(seen)
        if terminated or truncated:
            returned.append(env.reset()[0])
    for i, one in enumerate(returned):
        assert not any(np.shares_memory(one, other) for other in returned[:i])


# ---------------------------------------------------------------------- counts of trials


@pytest.mark.parametrize("n", [1, 3])
@held(12)
@given(task=random_tasks.tasks(), seed=SEEDS)
def test_trials_are_counted_without_gaps_and_sessions_have_their_length(n, task, seed):
    env = TaskVectorEnv(task, n, info="full")
    env.reset(seed=seed)
    ended: list[list] = [[] for _ in range(n)]
    for _, *_, last in (
        said for said in played(env, np.random.default_rng(seed), 120) if isinstance(said[-1], dict)
    ):
        for i in np.flatnonzero(last["steps"]):
            ended[i].append((last["trial"][i], last["session"][i], last["env"][i]))
    for i, rows in enumerate(ended):
        assert [trial for trial, _, _ in rows] == list(range(len(rows)))
        assert all(of == i for _, _, of in rows)
        length = task.trials_per_session
        assert [session for _, session, _ in rows] == [
            trial // length if length else 0 for trial in range(len(rows))
        ]
        assert all(later >= earlier for (_, earlier, _), (_, later, _) in pairwise(rows))
