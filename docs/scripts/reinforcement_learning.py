"""Reinforcement learning with Stable-Baselines3, after NeuroGym's notebook of that name.

A subject that acts at random is drawn first. Then an agent with an LSTM learns random-dot motion
from rewards; its inputs are the observation and the last reward. It plays, and a trial and a film
of it are drawn.

    python docs/scripts/reinforcement_learning.py
"""

from __future__ import annotations

from pathlib import Path

from neurogym_plot import frames_of, save_figure, save_film, trace_of, trial_figure
from neurogym_sb3 import AgentSubject, SB3VecEnv
from sb3_contrib import RecurrentPPO

from neurogym_core import make_task, run

TASK = "PerceptualDecisionMaking-v0"
SETTINGS = {
    "dt": 100,
    "sigma": 1.0,
    "timing": {"fixation": 200, "stimulus": 500, "delay": 0, "decision": 300},
    "rewards": {"abort": -0.1, "correct": 1.0, "error": 0.0},
}


def main(
    steps: int = 60_000, trials: int = 500, out: str | Path = ".", n_steps: int = 128
) -> float:
    """Train, play, draw, and return the mean performance."""
    print(make_task(TASK, **SETTINGS))
    trace = trace_of(TASK, "random", seed=2, wrap="PassReward", **SETTINGS)
    save_figure(trial_figure(trace), Path(out) / "random.png")

    envs = SB3VecEnv(TASK, 16, wrap="PassReward", seed=0, **SETTINGS)
    model = RecurrentPPO(
        "MlpLstmPolicy",
        envs,
        n_steps=n_steps,
        batch_size=128,
        learning_rate=3e-3,
        ent_coef=0.01,
        policy_kwargs={"lstm_hidden_size": 64, "net_arch": []},
        seed=0,
    )
    model.learn(steps)

    agent = AgentSubject(model)
    record = run(TASK, agent, trials, num_envs=16, seed=1, wrap="PassReward", **SETTINGS)
    performance = float(record["performance"].mean())
    print(f"performance: {performance:.3f} of {trials} trials")

    trace = trace_of(TASK, agent, seed=2, wrap="PassReward", **SETTINGS)
    save_figure(trial_figure(trace), Path(out) / "agent.png")
    frames = frames_of(TASK, agent, 3, seed=2, wrap="PassReward", **SETTINGS)
    save_film(frames, Path(out) / "agent.gif")
    return performance


if __name__ == "__main__":
    main()
