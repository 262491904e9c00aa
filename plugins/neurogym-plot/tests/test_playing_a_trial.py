"""One trial of any task as a trace."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from neurogym_plot.trial import describe, trace_of

import neurogym_core as ngym
from neurogym_core import NotSupportedError, UnknownNameError
from neurogym_core.tools import installed

DOTS = "perceptual/PerceptualDecisionMaking-v0"
# Image tasks are plain envs, without the table that a trace is read from.
IDS = sorted(task.id for task in installed().tasks if task.usable and "pixels" not in task.tags)


@pytest.mark.parametrize("task", IDS)
@pytest.mark.parametrize("subject", ["oracle", "random"])
def test_every_task_gives_the_trace_of_one_whole_trial(task, subject):
    trace = trace_of(task, subject, seed=3)
    assert trace.title == ngym.make_task(task).name
    assert trace.periods[0][1] == 0
    assert trace.periods[-1][2] == trace.steps == len(trace.rewards)
    assert all(
        before[2] == after[1]
        for before, after in zip(trace.periods, trace.periods[1:], strict=False)
    )
    assert trace.discrete == (not ngym.make_task(task).actions.continuous)
    if subject == "oracle" and trace.discrete:
        np.testing.assert_array_equal(trace.actions, trace.targets)


def test_the_trace_is_the_trial_that_the_record_tells_of():
    trace = trace_of(DOTS, "oracle", seed=5)
    record = ngym.run(DOTS, "oracle", 1, num_envs=1, seed=5)
    row = record.row(0)
    assert (trace.steps, trace.rewards.sum()) == (row["steps"], row["reward"])
    side = row["direction"]
    assert trace.subtitle == f"oracle: correct; direction {side}, coherence {row['coherence']:g} %"


def test_the_trace_of_an_oracle_that_waits_says_for_how_long():
    assert trace_of(DOTS, "late_oracle", seed=5).subtitle.startswith(
        "oracle, 500 ms after the question: correct; "
    )
    assert trace_of(DOTS, "late_oracle:wait=200", seed=5).subtitle.startswith(
        "oracle, 200 ms after the question: correct; "
    )


def test_conditions_and_parameters_are_imposed():
    trace = trace_of(
        DOTS, conditions={"coherence": 51.2, "direction": 1}, sigma=0.0, timing={"delay": 500}
    )
    assert ("delay", 23, 28) in trace.periods
    np.testing.assert_allclose(
        trace.observations[3:23, 1:], [[0.5 - 0.256, 0.5 + 0.256]] * 20, rtol=1e-6
    )


def test_a_subject_may_be_a_function():
    trace = trace_of(DOTS, lambda env, observations: np.ones(env.num_envs, int))
    assert (trace.actions == 1).all()
    assert trace.subtitle.startswith("function: ")


def test_what_does_not_exist_or_fit_is_refused():
    with pytest.raises(UnknownNameError, match="coherence"):
        trace_of(DOTS, conditions={"coherences": 3})
    with pytest.raises(UnknownNameError, match="oracle"):
        trace_of(DOTS, "oracel")
    with pytest.raises((NotSupportedError, UnknownNameError)):
        trace_of("value/Bandit-v0", "integrator")


def test_conditions_read_as_text():
    text = describe(
        {"a_b": np.float64(0.123456), "c": np.array([1, 2]), "d": "left", "e": np.True_}
    )
    assert text == "a b 0.1235, c (1, 2), d left, e yes"


@pytest.mark.parametrize(
    ("task", "conditions", "said"),
    [
        ("perceptual/PerceptualDecisionMaking-v0", {"coherence": 6.4}, "coherence 6.4 %"),
        ("ibl/IBL-v0", {"contrast": 0}, "contrast 0 %"),
        ("timing/OneTwoGo-v0", {"interval": 700}, "interval 700 ms"),
        ("memory/DelayComparison-v0", {"pair": (18, 10)}, "pair (18, 10) Hz"),
        ("modcog/Dlydm1intr-v0", {"delay": 600}, "delay 600 ms"),
        # The angle that is shown in the period "stimulus", and the number shown in "first".
        ("yang19/Go-v0", {"stimulus": 3.5}, "stimulus 3.5 rad"),
        ("yang19/DMC-v0", {"sample": 1.5707963}, "sample 1.571"),
        ("dynamics/DelayedSum-v0", {"first": 0.5}, "first 0.5"),
        # The delay is imposed in seconds.
        ("motivation/IntertemporalForaging-v0", {"late": 40}, "late 40"),
        # The parameter is the number of directions, whatever its unit.
        ("control/AntiReach-v0", {"direction": 3}, "direction 3"),
    ],
)
def test_the_subtitle_has_the_units_of_conditions(
    task: str, conditions: dict[str, Any], said: str
) -> None:
    subtitle = trace_of(task, "late_oracle", 0, conditions).subtitle.replace("\n", " ")
    assert said in re.split(r"; |, (?![\d.]+\))", subtitle)
