"""The packages of this project that bring what the core does not: commands, wrappers, modules.

Whatever is asked for and lives elsewhere is answered with one line that names the package. These
tables are read on the way to an error only, and where a bare name of a wrapper is looked up;
installed packages are found through entry points.
"""

from __future__ import annotations

REGISTRY = "neurogym-registry"

COMMANDS = {
    "check": "neurogym-check",
    "search": REGISTRY,
    "install": REGISTRY,
    "uninstall": REGISTRY,
    "submit": REGISTRY,
    "registry": REGISTRY,
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
        "AnswerProbabilities",
        "CatchTrials",
        "Combine",
        "Curriculum",
        "EvolvingHistory",
        "MissPenalty",
        "Mixture",
        "Monitor",
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
        "RandomAnswers",
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
SUMMARIES = {
    "check": "Run the conformance checks on tasks.",
    "search": "Search the registry for tasks and packages.",
    "install": "Install a package of the registry.",
    "uninstall": "Remove an installed package.",
    "submit": "Prepare a package for being listed in a registry.",
    "registry": "Check and build a registry of packages.",
    "train": "Train a network or an agent on a task.",
    "evaluate": "Let a trained network or a subject play, and report its behaviour.",
    "compare": "Put a trial record beside real subjects.",
}
"""{command of ``ngym``: the first line of its help}, so that ``ngym --help`` imports none of them."""

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


def where_it_went(error: BaseException, message: str) -> str:
    """One line that names the package whose module an import lacks; empty for any other error."""
    if not isinstance(error, ImportError):
        return ""
    # "cannot import name 'classic' from 'neurogym_core'": Python 3.11 has that name in no attribute
    lacking = {error.name, *(f"{error.name}.{word}" for word in message.split("'")[1:2])}
    for former, (package, module) in MODULES.items():
        if former in lacking:
            return f"{comes_with(former, package)}, and import {module} instead"
        if module in lacking:
            return comes_with(module, package)
    return ""
