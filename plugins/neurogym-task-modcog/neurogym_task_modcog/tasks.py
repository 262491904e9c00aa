"""The 82 tasks, made by the rule of `rule.py` from the base tasks of the other modules."""

from __future__ import annotations

import textwrap
from typing import Any

from neurogym_task_modcog.base import ModCog
from neurogym_task_modcog.go import GoFamily
from neurogym_task_modcog.match import MatchFamily
from neurogym_task_modcog.rule import NAMES, meaning
from neurogym_task_modcog.two_stimuli import DelayedTwoStimuli, TwoStimuli

RT = {"before": ("fixation",), "shown": ("decision",), "timing": {"fixation": 500, "decision": 500}}
DLY = {"shown": ("stimulus",)}
STRONGER = "Answer with the stronger of two stimuli"
SUCCESSIVE = "Answer with the stronger of two successive stimuli"
BASES: dict[str, tuple[type[ModCog], dict[str, Any], str]] = {
    "go": (GoFamily, {}, "Answer with the direction of a stimulus"),
    "rtgo": (GoFamily, RT, "Answer with the direction of a stimulus as soon as it appears"),
    "dlygo": (GoFamily, DLY, "Answer with the remembered direction of a stimulus"),
    "anti": (GoFamily, {"anti": True}, "Answer with the direction opposite to a stimulus"),
    "rtanti": (
        GoFamily, RT | {"anti": True}, "Answer opposite to a stimulus as soon as it appears"
    ),
    "dlyanti": (GoFamily, DLY | {"anti": True}, "Answer opposite to a remembered stimulus"),
    "dm1": (TwoStimuli, {"attends": "1"}, f"{STRONGER} in modality 1"),
    "dm2": (TwoStimuli, {"attends": "2"}, f"{STRONGER} in modality 2"),
    "ctxdm1": (TwoStimuli, {"attends": "1 of 2"}, f"{STRONGER} in modality 1, whatever 2 shows"),
    "ctxdm2": (TwoStimuli, {"attends": "2 of 2"}, f"{STRONGER} in modality 2, whatever 1 shows"),
    "multidm": (TwoStimuli, {"attends": "both"}, f"{STRONGER}, both modalities together"),
    "dlydm1": (DelayedTwoStimuli, {"attends": "1"}, f"{SUCCESSIVE} in modality 1"),
    "dlydm2": (DelayedTwoStimuli, {"attends": "2"}, f"{SUCCESSIVE} in modality 2"),
    "ctxdlydm1": (
        DelayedTwoStimuli, {"attends": "1 of 2"}, f"{SUCCESSIVE} in modality 1, whatever 2 shows"
    ),
    "ctxdlydm2": (
        DelayedTwoStimuli, {"attends": "2 of 2"}, f"{SUCCESSIVE} in modality 2, whatever 1 shows"
    ),
    "multidlydm": (DelayedTwoStimuli, {"attends": "both"}, f"{SUCCESSIVE}, modalities together"),
    "dms": (MatchFamily, {}, "Answer with the test if it is the sample; else fixate"),
    "dnms": (
        MatchFamily, {"answers_match": False}, "Answer with the test unless it is the sample"
    ),
    "dmc": (
        MatchFamily, {"categories": True}, "Answer with the test if it is in the sample's half"
    ),
    "dnmc": (
        MatchFamily, {"categories": True, "answers_match": False},
        "Answer with the test unless it is in the sample's half",
    ),
}  # fmt: skip
"""Base task -> family, changed attributes, and its instruction."""
EARNS = {
    GoFamily: (
        "The ideal earns 1, and guessing 0.06; one modality alone earns 0.54, since the other one"
        " has half of the stimuli."
    ),
    TwoStimuli: (
        "The ideal observer, which sums the stimulus, earns 0.96, and one look of 100 ms"
        " 0.88. Adding both modalities, or one of two that count, earns about 0.75."
    ),
    DelayedTwoStimuli: (
        "The ideal earns 1, or 0.98 where both modalities count, and looks of 100 ms at both"
        " stimuli about 0.9. The first stimulus alone earns 0.83 (0.3 is always the weaker one, 1"
        " the stronger one). Adding both modalities, or one of two that count, earns about 0.75."
    ),
    MatchFamily: (
        "The ideal earns 1, and looks of 100 ms at both stimuli 0.99; never answering earns 0.5,"
        " and one modality alone up to 0.77, since the other one has half of the stimuli."
    ),
}
CONTEXT = " In one of these tasks alone the rule is constant: the other modality can be left out."
INT = (
    "During the delay, which lasts for 0 to 1,100 ms, the right answer {turn} by one unit"
    " of the ring (22.5 degrees) every 100 ms: by 0 to 11 units. Ignoring the delay, or"
    " any fixed turn, is right in 1 of 12 of the answers."
)
SEQ = (
    "In the decision the right answer {turn} by one unit of the ring (22.5 degrees) every"
    " 100 ms: ten units, each of which is a slot; performance is the share of them that"
    " is right. Holding the first unit, or turning the other way, is right in 1 or 2 of"
    " ten."
)
INPUTS = (
    "Inputs are a fixation cue, two rings of 16 units, and the rule; answers are fixating, or"
    " one of 16 units."
)
SOURCE = (
    "Khona, Chandra, Ma & Fiete (2023), ICLR, arXiv:2207.03523: one of 82 tasks that a"
    " rule makes of the twenty of Yang et al. (2019), doi:10.1038/s41593-018-0310-2."
)
DEVIATIONS = (
    "Deviations from the paper: the first answer, or the last one of a sequence, ends the"
    " trial, and answering before the decision costs `abort` (there, all steps count in a"
    " cross-entropy). The README of neurogym-task-modcog lists the defects of the public"
    " code that are repaired."
)
WORDS = {1: "turns right", -1: "turns left"}


def _page(summary: str, operator: str, earns: str) -> str:
    said = " ".join(part for part in (INPUTS, operator, earns) if part)
    paragraphs = (
        textwrap.fill(text, 100, initial_indent="    ", subsequent_indent="    ")
        for text in (SOURCE, said, DEVIATIONS)
    )
    return "\n\n".join((f"{summary}.", *paragraphs)) + "\n    "


def _made(name: str) -> type[ModCog]:
    base, integrate, sequence = meaning(name)
    family, changes, summary = BASES[base]
    timing = dict(changes.get("timing", family.timing)) | ({"decision": 1000} if sequence else {})
    if "delay" in changes.get("before", family.before) and not integrate:  # else a condition
        timing["delay"] = family.delay
    turn = WORDS.get(integrate or sequence, "")
    operator = (INT if integrate else SEQ if sequence else "").format(turn=turn)
    when = "in the delay" if integrate else "in the decision"
    earns = EARNS[family] + CONTEXT * base.startswith("ctx")
    page = _page(f"{summary}; it {turn} {when}" if turn else summary, operator, earns)
    own = {"rule": name, "integrate": integrate, "sequence": sequence, "timing": timing}
    return type(
        name.capitalize(), (family,), changes | own | {"__doc__": page, "__module__": __name__}
    )


globals().update({name.capitalize(): _made(name) for name in NAMES})
__all__ = [name.capitalize() for name in NAMES]
