"""The packages of this project that bring what the core does not: their commands, wrappers and modules.

Whatever is asked for and lives elsewhere is answered with one line that names the package. These tables are read on the
way to an error only; what is installed is found through entry points.
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

MODULES = {
    "neurogym_core.classic": ("neurogym-classic", "neurogym_classic"),
    "neurogym_core.study": ("neurogym-study", "neurogym_study"),
    "neurogym_core.testing": ("neurogym-check", "neurogym_check"),
}
"""{module that was the core's: (package, module)}"""


def comes_with(what: str, package: str) -> str:
    """One line that names the package, e.g. ``'check' comes with neurogym-check: pip install neurogym-check``."""
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
