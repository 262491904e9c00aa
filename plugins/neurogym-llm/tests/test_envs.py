"""The env of texts: a step is a choice."""

from __future__ import annotations

import numpy as np
from gymnasium.utils.env_checker import check_env
from neurogym_llm import TextEnv

from neurogym_core import run

DOTS = "perceptual/PerceptualDecisionMaking-v0"


def test_it_is_a_gymnasium_env():
    check_env(TextEnv(DOTS, trials_per_session=3), skip_render_check=True)


def test_a_step_is_a_choice_and_the_records_are_those_of_the_task():
    env = TextEnv(DOTS, trials_per_session=4)
    text, _ = env.reset(seed=5)
    records, rewards, over = [], [], False
    while not over:
        seen = env.words.read(text)
        side = "right" if seen[:, 1].sum() >= seen[:, 2].sum() else "left"
        text, reward, terminated, truncated, info = env.step(env.words.choices.index(side))
        records.append(info["trial"])
        rewards.append(reward)
        over = terminated or truncated
    assert len(records) == 4
    same = run(DOTS, "integrator", 4, num_envs=1, seed=5, trials_per_session=4)
    assert [one["coherence"] for one in records] == same["coherence"].tolist()
    assert rewards == [float(one["reward"]) for one in records]


def test_a_choice_with_two_stages_is_two_steps():
    env = TextEnv("value/DawTwoStep-v0")
    text, _ = env.reset(seed=1)
    stages = []
    for _ in range(6):
        names = text.splitlines()[-1]
        assert names.startswith("Choose: ")
        text, _, _, _, info = env.step(1)
        stages.append("trial" in info)
    assert stages == [False, True] * 3


def test_every_choice_of_a_trial_without_rest_is_a_step():
    env = TextEnv("value/Bandit-v0")
    env.reset(seed=1)
    choices = [k for k in range(env.action_space.n) if k != env.words.rest]
    for k in range(20):
        *_, info = env.step(choices[k % len(choices)])
        assert np.isfinite(info["performance"])
