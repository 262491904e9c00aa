"""Commands, subjects, wrappers and modules that other packages of this project bring.

A request for one of them without its package is answered with one line that names the package.
Installed packages are found through entry points: these tables serve only error messages, the
summaries in help texts, and the lookup of a wrapper by its bare name.
"""

from __future__ import annotations

from neurogym_core.ecosystem.published import how_to_install

CHECK, FILM = "neurogym-check", "neurogym-film"
REGISTRY, STUDY = "neurogym-registry", "neurogym-study"

_COMMANDS = {
    CHECK: {
        "add": "Add a task, wrapper, subject or command to a package.",
        "check": "Run the conformance checks on tasks.",
    },
    REGISTRY: {
        "search": "Search the registry for tasks and packages.",
        "install": "Install a package of the registry.",
        "uninstall": "Remove an installed package.",
        "submit": "Prepare a package for being listed in a registry.",
        "registry": "Check and build a registry of packages.",
    },
    STUDY: {
        "train": "Train a network or an agent on a task.",
        "evaluate": "Report the behaviour of a network, a subject, or a lab's animals.",
        "compare": "Compare a trial record with real subjects.",
        "export": "Write trials as NWB, BIDS, CSV or Parquet.",
        "likeness": "Compare a network or subject with published signatures of animals.",
    },
    "neurogym-sweep": {"sweep": "Do many runs with varied settings."},
}
COMMANDS = {command: package for package, own in _COMMANDS.items() for command in own}
"""{command of ``ngym``: package}"""

SUMMARIES = {command: text for own in _COMMANDS.values() for command, text in own.items()}
"""{command of ``ngym``: first line of its help}; ``ngym --help`` imports no command."""

SUBJECT_SUMMARIES = {
    "q_learner": "Learns the value of actions from rewards (SARSA with eligibility traces).",
    "hybrid": "Mixes model-based and model-free values (Daw et al. 2011).",
    "win_stay_lose_shift": "Repeats a rewarded choice, and changes an unrewarded one.",
    "diffusion": "Accumulates evidence to a bound, then answers (drift diffusion).",
    "integrator": "Sums noisy evidence and reports the largest sum (ideal observer).",
    "trained": "The network or agent of a run; --subject runs/x is short for trained:run=runs/x.",
}
"""{name of a subject of another package: summary}, for help texts, which import no subject."""

SUBJECTS = dict.fromkeys(SUBJECT_SUMMARIES, STUDY)
"""{name of a subject: package}"""

SUBJECT_SETTINGS: dict[str, dict[str, object]] = {
    "q_learner": {"alpha": 0.5, "beta": 5.0, "trace": 1.0, "perseveration": 0.0},
    "hybrid": {"alpha": 0.5, "beta": 5.0, "trace": 0.57, "perseveration": 0.11, "weight": 0.39},
    "diffusion": {"bound": 40.0, "non_decision": 300.0, "channel": "stimulus", "group": None},
    "integrator": {"channel": "stimulus", "group": None},
    "trained": {"run": "", "which": None},
}
"""{name of a subject of another package: {setting: default}}, for help texts."""

WRAPPERS = dict.fromkeys(
    (
        "AdaptiveNoise", "AnswerProbabilities", "CatchTrials", "Combine", "Curriculum",
        "EvolvingHistory", "MissPenalty", "Mixture", "Monitor", "Schedule", "SideBias", "TTLPulse",
        "TimeOut", "Transfer", "TrialHistory", "VariableChoices", "VariableMapping",
    ),
    "neurogym-wrappers",
)  # fmt: skip
"""{name of a wrapper: package}. Another package's wrapper of the same name needs its full id."""

FORMER_WRAPPERS = dict.fromkeys(
    (
        "CurriculumLearning", "MissTrialReward", "MultiEnvs", "RandomAnswers", "RandomGroundTruth",
        "ScheduleAttr", "ScheduleEnvs", "Shaping", "TrHReset", "TransferLearning",
        "TrialHistoryEvolution", "TrialHistoryObsolete", "TrialHistoryV2", "TrialHistory_NAlt",
        "Variable_nch", "compose",
    ),
    "neurogym-wrappers",
)  # fmt: skip
"""{former name of a wrapper, in any version of NeuroGym: package}"""

NAMESPACES = {
    name: f"neurogym-task-{name}"
    for name in (
        "control", "ibl", "memory", "motor", "perceptual", "timing", "value", "visual", "yang19",
    )
}  # fmt: skip
"""{namespace of tasks: package of this project}"""

MODULES = {
    "neurogym_core.classic": ("neurogym-classic", "neurogym_classic"),
    "neurogym_core.study": (STUDY, "neurogym_study"),
    "neurogym_core.testing": (CHECK, "neurogym_check"),
}
"""{former module of the core: (package, module)}"""


def comes_with(what: str, package: str) -> str:
    """Return the line that names the package that brings something.

    For example: 'check' comes with neurogym-check: `pip install -e /src/plugins/neurogym-check`
    """
    return f"{what!r} comes with {package}: {how_to_install(package)}"


def where_it_went(error: BaseException, message: str) -> str:
    """Return the line that names the package of a missing module; "" for any other error."""
    if not isinstance(error, ImportError):
        return ""
    # In "cannot import name 'classic' from 'neurogym_core'", Python 3.11 gives the name only in the
    # message, not in an attribute.
    lacking = {error.name, *(f"{error.name}.{word}" for word in message.split("'")[1:2])}
    for former, (package, module) in MODULES.items():
        if former in lacking:
            return f"{comes_with(former, package)}, and import {module} instead"
        if module in lacking:
            return comes_with(module, package)
    return ""
