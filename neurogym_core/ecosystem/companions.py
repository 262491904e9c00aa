"""The packages of this project that bring what the core does not: commands, wrappers, modules.

Whatever is asked for and lives elsewhere is answered with one line that names the package. These
tables are read on the way to an error only, and where a bare name of a wrapper is looked up;
installed packages are found through entry points.
"""

from __future__ import annotations

COMMANDS = {
    "check": "neurogym-check",
    "search": "neurogym-registry",
    "install": "neurogym-registry",
    "uninstall": "neurogym-registry",
    "submit": "neurogym-registry",
    "registry": "neurogym-registry",
    "train": "neurogym-study",
    "evaluate": "neurogym-study",
    "compare": "neurogym-study",
}
"""{command of ``ngym``: package}"""

SUBJECTS = dict.fromkeys(
    ("q_learner", "hybrid", "win_stay_lose_shift", "diffusion"), "neurogym-study"
)
"""{name of a subject: package}"""

WRAPPERS = dict.fromkeys(
    (
        "AdaptiveNoise",
        "CatchTrials",
        "Combine",
        "Curriculum",
        "EvolvingHistory",
        "MissPenalty",
        "Mixture",
        "Monitor",
        "RandomAnswers",
        "Schedule",
        "SideBias",
        "TTLPulse",
        "TimeOut",
        "Transfer",
        "TrialHistory",
        "VariableChoices",
        "VariableMapping",
    ),
    "neurogym-wrappers",
)
"""{name of a wrapper: package}; no other package may take these names away."""

FORMER_WRAPPERS = dict.fromkeys(
    (
        "CurriculumLearning",
        "MissTrialReward",
        "MultiEnvs",
        "RandomGroundTruth",
        "ScheduleAttr",
        "ScheduleEnvs",
        "Shaping",
        "TrHReset",
        "TransferLearning",
        "TrialHistoryEvolution",
        "TrialHistoryObsolete",
        "TrialHistoryV2",
        "TrialHistory_NAlt",
        "Variable_nch",
        "compose",
    ),
    "neurogym-wrappers",
)
"""{former name of a wrapper, in any version of NeuroGym: package}"""

MODULES = {
    "neurogym_core.classic": ("neurogym-classic", "neurogym_classic"),
    "neurogym_core.study": ("neurogym-study", "neurogym_study"),
    "neurogym_core.testing": ("neurogym-check", "neurogym_check"),
}
"""{module that was the core's: (package, module)}"""


def comes_with(what: str, package: str) -> str:
    """One line that names the package.

    For example: ``'check' comes with neurogym-check: pip install neurogym-check``.
    """
    return f"{what!r} comes with {package}: pip install {package}"
