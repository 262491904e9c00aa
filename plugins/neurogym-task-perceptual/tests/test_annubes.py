"""Annubes: modalities, catch trials, runs, and one answer per trial."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from neurogym_task_perceptual.annubes import Annubes

from neurogym_core import InvalidValueError, TaskEnv, run
from neurogym_core.players import TaskView

RESPOND = 1


def drawn(task, sessions: int, trials: int, seed: int = 1) -> np.ndarray:
    """Stimuli of parallel sessions, (trials, sessions)."""
    rng = np.random.default_rng(seed)
    return task.draw_ahead(TaskView(task).fresh_session(rng, sessions), rng, trials)["stimulus"]


def longest_runs(stimuli: np.ndarray) -> dict[str, int]:
    """Largest number of consecutive trials of each stimulus, without catch trials."""
    longest: dict[str, int] = {}
    for session in stimuli.T:
        for name, group in itertools.groupby(session[session != "catch"]):
            longest[name] = max(longest.get(name, 0), len(list(group)))
    return longest


def test_stimuli_come_as_often_as_their_weights_and_catch_trials_say():
    """20,000 trials: shares within 0.02, more than 5 SD."""
    stimuli = drawn(Annubes(catch=0.2, weights=(2, 1, 1)), 100, 200)
    for name, share in (
        ("catch", 0.2),
        ("auditory", 0.4),
        ("visual", 0.2),
        ("auditory+visual", 0.2),
    ):
        assert abs(np.mean(stimuli == name) - share) < 0.02


@pytest.mark.parametrize("limit", [(2,), (1, 3, 2)])
def test_runs_are_limited_for_all_or_for_each(limit):
    runs = longest_runs(drawn(Annubes(max_sequential=limit, catch=0.3), 50, 200))
    each = limit * 3 if len(limit) == 1 else limit
    assert runs == dict(zip(("auditory", "visual", "auditory+visual"), each, strict=True))
    assert min(longest_runs(drawn(Annubes(), 50, 200)).values()) > 4


def test_only_modalities_of_the_stimulus_are_shown_with_independent_noise():
    task = Annubes(dt=50)
    batch = task.sample(300, seed=2)
    assert list(task.channels) == ["fixation", "start", "auditory", "visual"]
    p = batch.period_names.index("stimulus")
    shown, noise = (
        np.broadcast_to(a, batch.shown.shape)[:, batch.period == p][:, 0]
        for a in (batch.shown, batch.noise)
    )
    for k, modality in enumerate(("auditory", "visual")):
        there = np.char.find(batch.conditions["stimulus"].astype(str), modality) >= 0
        np.testing.assert_allclose(
            shown[:, 2 + k], there * batch.conditions["strengths"][:, k], atol=1e-6
        )
        np.testing.assert_allclose(noise[:, 2 + k], there * 0.01 * np.sqrt(2 * 100 / 50), atol=1e-6)
    assert set(batch.conditions["strengths"].ravel()) == {0.8, 0.9, 1.0}
    assert (shown[:, 1] == 1).all()  # catch trials have a start cue too
    assert (noise[:, :2] == 0).all()


@pytest.mark.parametrize(
    ("stimulus", "responding", "resting"),
    [("visual", 1, 0), ("auditory+visual", 1, 0), ("catch", 0, 1)],
)
def test_a_trial_has_one_outcome(constant, stimulus, responding, resting):
    options = {"conditions": {"stimulus": stimulus}}
    task = Annubes(rewards={"abort": 0})
    for action, right in ((RESPOND, responding), (0, resting)):
        trial = constant(task, action, 1, options=options)[0]
        assert (trial["performance"], trial["reward"]) == (right, right)


def test_acting_at_random_is_right_in_half_of_the_trials():
    """1,000 trials: SD 0.016, 5 SD."""
    assert (
        abs(np.mean(run(Annubes(), "random", 1000, num_envs=20, seed=3)["performance"]) - 0.5)
        < 0.08
    )


def test_observations_are_within_their_space_and_seeds_reach_everything():
    env, other = TaskEnv(Annubes(noise=0.3)), TaskEnv(Annubes(noise=0.3))
    for e in (env, other):
        e.reset(seed=4)
    for _ in range(200):
        one, two = env.step(0)[0], other.step(0)[0]
        assert one in env.observation_space
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"weights": (1, 1)}, "one weight for each"),
        ({"catch": 1.5}, "a probability"),
        ({"max_sequential": (0,)}, "1 or more"),
        ({"stimuli": ("visual",), "weights": (1,), "max_sequential": (2,)}, "at least two stimuli"),
    ],
)
def test_impossible_settings_are_refused(settings, said):
    with pytest.raises(InvalidValueError, match=said):
        Annubes(**settings)


def test_the_declared_evidence_is_the_sum_of_the_strengths_that_are_shown():
    task = Annubes()
    conditions = dict(task.sample(300, seed=3).conditions)
    evidence, strengths = TaskView(task).evidence(conditions), conditions["strengths"]
    shown = {"catch": 0, "auditory": strengths[:, 0], "visual": strengths[:, 1]}
    shown["auditory+visual"] = strengths.sum(axis=1)
    for stimulus, expected in shown.items():
        here = conditions["stimulus"] == stimulus
        assert here.any()
        assert evidence[here] == pytest.approx(np.broadcast_to(expected, 300)[here])
