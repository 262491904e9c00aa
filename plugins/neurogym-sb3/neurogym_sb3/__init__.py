"""Reinforcement learning on neurogym-core tasks with Stable-Baselines3."""

from neurogym_sb3.evaluation import TrialEvaluation
from neurogym_sb3.subjects import AgentSubject
from neurogym_sb3.vec_env import SB3VecEnv

__all__ = ["AgentSubject", "SB3VecEnv", "TrialEvaluation"]
