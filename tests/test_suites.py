"""Tasks of suites beside simulations of others: ideals, shortcuts, and the sentences about both.

The numbers were simulated by another hand, from descriptions of the tasks alone, in 10,000 trials
or more (SE 0.003). That they are earned is tested in the packages, by playing; here stored numbers
and pages are compared.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest
from neurogym_check.audit.measures import Audit, Measure

from neurogym_core import make_task
from neurogym_core.players import TaskView
from neurogym_core.tools import find_task, installed, load

SUITES = {"cognition", "driscoll24", "dynamics", "learning", "modcog", "motivation"}
ADDED = {
    "ibl/IBLWheelGain-v0",
    "motor/DelayedCentreOut-v0", "motor/ForceField-v0", "motor/SmoothPursuit-v0",
    "motor/VisuomotorRotation-v0", "perceptual/AccumulatingTowers-v0",
    "perceptual/ChangingEvidence-v0", "perceptual/DynamicClicks-v0",
    "perceptual/FrequencyLocationClicks-v0", "perceptual/OdourCategorisation-v0",
    "perceptual/TowersMaze-v0", "perceptual/WaitingConfidence-v0",
}  # fmt: skip
TASKS = [one for one in installed().tasks if one.namespace in SUITES or one.id in ADDED]
IDEALS = {
    "driscoll24/IntegrationModality1-v0": 0.984,
    "driscoll24/ContextIntModality2-v0": 0.984,
    "driscoll24/ReactMatch2Sample-v0": 0.997,
    "driscoll24/ReactCategoryPro-v0": 0.970,
    "dynamics/FlipFlop-v0": 1.0,
    "dynamics/ContextIntegration-v0": 1.0,
    "dynamics/PerceptualDecision-v0": 1.0,
    "learning/HazardReversal-v0": 0.835,
    "learning/Harlow-v0": 0.917,
    "learning/VolatileReversal-v0": 0.945,
    "modcog/Dm1-v0": 0.963,
    "modcog/Ctxdm2-v0": 0.963,
    "modcog/Dlydm1-v0": 1.0,
    "motivation/BART-v0": 32 / 127,
    "motivation/PavlovianGoNogo-v0": 0.976,
    "perceptual/DynamicClicks-v0": 0.817,
}
"""Task -> performance of the ideal in the other simulation."""
SHORTCUTS = {
    "cognition/AXCPT-v0": (0.90, 0.70),
    "cognition/SART-v0": (0.889,),
    "cognition/Sternberg-v0": (0.705,),
    "cognition/TaskSwitching-v0": (0.75,),
    "cognition/TwelveAX-v0": (0.693,),
    "driscoll24/ContextIntModality1-v0": (0.748,),
    "driscoll24/IntegrationModality1-v0": (0.936,),
    "driscoll24/IntegrationMultimodal-v0": (0.918,),
    "driscoll24/ReactMatch2Sample-v0": (0.5,),
    "dynamics/ContextIntegration-v0": (0.94, 0.75),
    "dynamics/FlipFlop-v0": (0.54,),
    "dynamics/ParametricMemory-v0": (0.833,),
    "learning/HazardReversal-v0": (0.769,),
    "modcog/Ctxdm1-v0": (0.75,),
    "modcog/Dlydm1-v0": (0.833,),
    "modcog/Dm1-v0": (0.880,),
    "perceptual/DynamicClicks-v0": (0.705,),
}
"""Task -> performances of shortcuts in the other simulation, which the page has to state."""


def numbers(page: str) -> list[float]:
    """The shares on a page, as 0.75 or 75 %."""
    shares = re.findall(r"(?<![\d.])(?:0\.\d+|1(?:\.0+)?)(?![\d])", page)
    return [
        *map(float, shares),
        *(float(one) / 100 for one in re.findall(r"([\d.]+\d|\d) %", page)),
    ]


def page_of(name: str) -> str:
    return " ".join((load(find_task(name)).__doc__ or "").split())


@pytest.mark.parametrize(("name", "simulated"), IDEALS.items())
def test_ideals_are_those_of_another_simulation_or_the_page_has_both(name, simulated):
    """Two SEs of it, and rounding."""
    stated = find_task(name).ideal["value"]
    said = any(abs(one - simulated) < 0.0006 for one in numbers(page_of(name)))
    assert stated == pytest.approx(simulated, abs=0.007) or said


@pytest.mark.parametrize(("name", "simulated"), SHORTCUTS.items())
def test_pages_state_the_shortcuts_that_others_found(name, simulated):
    """Two SEs, and rounding to two digits."""
    said = numbers(page_of(name))
    for share in simulated:
        assert any(abs(one - share) < 0.011 for one in said), (share, said)


def half_way(task) -> dict[str, float]:
    """Return the stored shortcuts that come half of the way from chance to the ideal, by name.

    They are those of check A001, with the ideal in the place of the oracle, and by their measured
    performance, however wide its interval is; and those with feedback on each answer.
    A part of the trial that is as good as the ideal leaves out nothing that counts.
    """
    ideal = task.ideal.get("value", task.shortcuts["oracle"])
    measures = {name: Measure(one, one, one, 0) for name, one in task.shortcuts.items()}
    measures["oracle"] = Measure(ideal, ideal, ideal, 0)
    measures.pop("copied", None)  # is given an answer
    audit = Audit(measures)
    found = {name: one.score for name, one in audit.within_reach().items()}
    for name in {"history", "winstay"} & set(measures):
        if measures[name].score > (audit.chance.score + ideal) / 2:
            found[name] = measures[name].score
    return {name: score for name, score in found.items() if "." not in name or score < ideal - 0.03}


def is_stated(task, name: str, score: float, said: list[float]) -> bool:
    """Whether the manifest admits a shortcut, or the page has its number, up to the interval."""
    low, high = task.intervals[name]
    near = any(low - 0.005 <= one <= high + 0.005 or abs(one - score) < 0.02 for one in said)
    return near or any(fnmatchcase(name, pattern) for pattern in task.admitted)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_shortcuts_half_way_to_the_ideal_are_stated_with_their_numbers(task):
    assert task.shortcuts, "ngym check --shortcuts --write-shortcuts"
    said = numbers(page_of(task.id))
    missing = {
        name: score
        for name, score in half_way(task).items()
        if not is_stated(task, name, score, said)
    }
    assert not missing


def test_a_shortcut_above_half_way_without_its_number_is_found():
    task = find_task("learning/HazardReversal-v0")
    assert half_way(task) == {"winstay": 0.946}
    assert is_stated(task, "winstay", 0.946, [0.95])
    assert not is_stated(task, "winstay", 0.946, [0.5, 0.84, 0.91])


@pytest.mark.slow
def test_tags_say_which_trials_follow_from_earlier_ones():
    wrong = []
    for task in installed().tasks:
        if task.namespace == "visual":  # envs without a Task
            continue
        made = make_task(task.id)
        follows = made.reads_outcomes or TaskView(made).stateful
        if ("across-trials" in task.tags) != follows:
            wrong.append(task.id)
    assert not wrong
