"""Two subjects in one trial: games and joint decisions, for PettingZoo."""

from neurogym_pettingzoo.envs import AgainstEnv, SharedEnv
from neurogym_pettingzoo.playing import Seat, play
from neurogym_pettingzoo.tasks import (
    JointDecision,
    MatchingPennies,
    MatrixGame,
    PrisonersDilemma,
    SharedTask,
)

__all__ = [
    "AgainstEnv",
    "JointDecision",
    "MatchingPennies",
    "MatrixGame",
    "PrisonersDilemma",
    "Seat",
    "SharedEnv",
    "SharedTask",
    "play",
]
