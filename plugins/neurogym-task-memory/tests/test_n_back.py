"""NBack: the stream of letters goes over trials, and each is compared with an earlier one."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_memory.n_back import NBack, NBackWithoutLures

from neurogym_core import Dataset, InvalidValueError, run


class Rememberer:
    """Compares each letter with that of `back` trials ago; sees observations only."""

    def __init__(self, back):
        self.back = back

    def begin(self, env):
        self.seen = [[] for _ in range(env.num_envs)]
        self.dark = np.ones(env.num_envs, bool)

    def __call__(self, env, obs):
        actions = []
        for seen, letter, dark in zip(self.seen, obs, self.dark, strict=True):
            if dark and letter.any():
                seen.append(letter.argmax())
            actions.append(1 + (len(seen) > self.back and seen[-1] == seen[-1 - self.back]))
        self.dark = ~obs.any(axis=1)
        return np.array(actions)


@pytest.mark.parametrize("back", [1, 2, 3])
def test_the_answer_is_whether_the_letter_repeats_that_of_some_trials_ago(back):
    record = run(NBackWithoutLures(back=back), "oracle", 300, num_envs=1, seed=1)
    for session in range(5):
        rows = record["session"] == session
        letter = record.codes("letter")[rows]
        np.testing.assert_array_equal(record["earlier"][rows][:back], -1)
        np.testing.assert_array_equal(record["earlier"][rows][back:], letter[:-back])
        assert (record.codes()[rows][:back] == 0).all()
        np.testing.assert_array_equal(record.codes()[rows][back:], letter[back:] == letter[:-back])
    assert (record["performance"] == 1).all()


@pytest.mark.slow
def test_a_third_of_the_letters_are_repetitions_and_others_are_all_equally_likely():
    """The shares within 4.5 standard errors, 22 of them: false alarms 2 in 10,000."""
    record = run(NBackWithoutLures(trials_per_session=None), "oracle", 6000, num_envs=1, seed=2)
    share = record.codes()[2:].mean()
    assert share == pytest.approx(1 / 3, abs=4.5 * np.sqrt(2 / 9 / 6000))
    letters = np.bincount(record.codes("letter"), minlength=20) / 6000
    # Repetitions make letters dependent: the effective number of letters is halved at the least.
    np.testing.assert_allclose(letters, 1 / 20, atol=4.5 * np.sqrt(2 * 0.05 * 0.95 / 6000))


def test_memory_of_two_letters_is_enough_and_of_one_is_not():
    task = NBackWithoutLures(trials_per_session=None)
    assert run(task, Rememberer(2), 400, num_envs=2, seed=3)["performance"].mean() == 1
    assert run(task, Rememberer(1), 400, num_envs=2, seed=3)["performance"].mean() < 0.8


def test_answers_do_not_change_the_pace():
    for subject in ("oracle", "guess", "rest"):
        assert set(run(NBackWithoutLures(), subject, 60, num_envs=1, seed=4)["steps"]) == {25}


def test_streams_side_by_side_are_separate():
    record = run(NBackWithoutLures(), "oracle", 240, num_envs=4, seed=5)
    for env in range(4):
        rows = record["env"] == env
        np.testing.assert_array_equal(
            record["earlier"][rows][2:], record.codes("letter")[rows][:-2]
        )


def test_a_letter_that_make_imposes_is_remembered():
    record = run(NBackWithoutLures(conditions={"letter": 3}), "oracle", 20, num_envs=1, seed=6)
    assert (record.codes()[2:] == 1).all()


def test_the_rows_of_a_dataset_are_streams():
    inputs, targets = (
        NBackWithoutLures().channels,
        next(Dataset(NBackWithoutLures(), 3, seq_len=500, seed=7)),
    )
    letters = targets.inputs[:, ::25, inputs["letter"]].argmax(axis=2)
    answers = targets.targets[:, ::25]
    np.testing.assert_array_equal(answers[:, 2:] == 2, letters[:, 2:] == letters[:, :-2])


@pytest.mark.parametrize("wrong", [{"back": 0}, {"letters": 1}, {"p_match": 1.5}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="NBack"):
        NBackWithoutLures(**wrong)


def test_always_answering_that_the_letter_differs_earns_two_thirds():
    """3,000 trials, five SDs are 4.3 %: 58 of the 60 letters of a session can be repetitions."""

    def differs(env, observations):
        return np.ones(env.num_envs, int)

    record = run(NBackWithoutLures(), differs, 3000, num_envs=50, seed=9)
    assert record["performance"].mean() == pytest.approx(0.678, abs=0.043)


class Familiar:
    """Answers "same" if the letter is among the last `window`, whatever their order."""

    carries_state = True

    def __init__(self, window):
        self.window = window

    def begin(self, env):
        self.last = np.full((env.num_envs, self.window), -1)
        self.dark, self.answer = np.ones(env.num_envs, bool), np.ones(env.num_envs, int)

    def __call__(self, env, obs):
        new = obs.any(axis=1) & self.dark
        letter = obs.argmax(axis=1)[:, None]
        self.answer = np.where(new, 1 + (self.last == letter).any(axis=1), self.answer)
        self.last = np.where(new[:, None], np.hstack([letter, self.last[:, :-1]]), self.last)
        self.dark = ~obs.any(axis=1)
        return self.answer


def familiar(task, window):
    return run(task, Familiar(window), 3000, num_envs=50, seed=1)["performance"].mean()


def test_without_lures_familiarity_is_nearly_enough():
    """Five SEs of 3,000 trials are 0.02: false alarms 1 in 10**6."""
    assert familiar(NBackWithoutLures(), 2) == pytest.approx(0.97, abs=0.02)


def test_with_lures_familiarity_earns_no_more_than_always_answering_different():
    """Five SEs of 3,000 trials are 0.045: false alarms 1 in 10**6."""
    earned = [familiar(NBack(), window) for window in (1, 2, 3, 4)]
    assert earned == pytest.approx([0.59, 0.74, 0.57, 0.57], abs=0.045)
    differs = 1 - run(NBack(), "oracle", 3000, num_envs=50, seed=1).codes().mean()
    assert differs == pytest.approx(0.76, abs=0.045)
    assert run(NBack(), Rememberer(2), 60, num_envs=1, seed=1)["performance"].mean() == 1


def test_a_quarter_of_the_letters_are_repetitions_and_almost_half_are_lures():
    """Five SEs of 6,000 letters are 0.03; lures that happen to be right are no lures."""
    record = run(NBack(trials_per_session=None), "oracle", 6000, num_envs=20, seed=1)
    for env in range(20):
        rows = record["env"] == env
        letter = record.codes("letter")[rows]
        same = np.array([letter[3:] == letter[3 - back : -back] for back in (1, 2, 3)])
        np.testing.assert_array_equal(record.codes()[rows][3:], same[1])
        np.testing.assert_array_equal(record["lure"][rows][3:], (same[0] | same[2]) & ~same[1])
    assert record.codes().mean() == pytest.approx(0.25, abs=0.03)
    assert record["lure"].mean() == pytest.approx(0.47, abs=0.033)


@pytest.mark.parametrize("back", [1, 3])
def test_lures_are_beside_the_letter_to_compare_with(back):
    record = run(NBack(back=back, p_lure=1), "oracle", 400, num_envs=1, seed=2)
    first = record["session"] == 0
    letter, lure = record.codes("letter")[first], record["lure"][first]
    for at in np.flatnonzero(lure):
        beside = [letter[at - gap] for gap in (back - 1, back + 1) if 0 < gap <= at]
        assert letter[at] in beside
    assert lure[back + 1 :].any()


@pytest.mark.parametrize("wrong", [{"letters": 3}, {"p_lure": 1.5}])
def test_impossible_lures_are_refused(wrong):
    with pytest.raises(InvalidValueError, match="p_lure"):
        NBack(**wrong)
