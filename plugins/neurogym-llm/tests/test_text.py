"""The text of a trial is complete, and a reply names one choice or none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neurogym_llm import LanguageModel, Reply, Wording

from neurogym_core import InvalidValueError, NotSupportedError, make_task, make_vec, run
from neurogym_core.tools import installed

DOTS = "perceptual/PerceptualDecisionMaking-v0"
TASKS = [info.id for info in installed().tasks if "pixels" not in info.tags]


@pytest.mark.slow
def test_every_installed_task_with_choices_can_be_read_from_its_text():
    read = refused = 0
    for name in TASKS:
        task = make_task(name)
        try:
            words = Wording(task, digits=3)
        except NotSupportedError:
            refused += task.actions.continuous
            continue
        env = make_vec(task, 1, seed=1)
        rows = [env.reset(seed=1)[0][0]]
        rows += [env.step(np.array([task.actions.rest or 0]))[0][0] for _ in range(60)]
        text = words.seen(rows)
        assert np.abs(words.read(text) - np.array(rows)).max() <= 0.00051, name
        assert len(set(words.choices)) == len(words.choices), name
        for action, choice in enumerate(words.choices):
            assert words.choice(f" {choice.upper()}. ") == action, name
        read += 1
    assert read > 50
    assert read + refused == len(TASKS)


@given(
    st.lists(st.lists(st.sampled_from([0, 0.25, 1, -3]), min_size=3, max_size=3), min_size=1,
             max_size=12),
    st.integers(1, 4),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_text_of_intervals_has_their_means(rows, steps):
    words = Wording(make_task(DOTS, dt=100), every=100 * steps, digits=4)
    read = words.read(words.seen(rows))
    assert read.shape == (len(rows), 3)
    for first in range(0, len(rows), steps):
        part = slice(first, first + steps)
        assert np.abs(read[part] - np.mean(rows[part], axis=0)).max() <= 1e-4


def test_a_text_that_left_out_a_channel_would_be_noticed():
    words = Wording(make_task(DOTS, dt=100))
    text = words.seen([[1, 0.5, 0.25]]).replace(", left 0.25", "")
    assert (words.read(text) != [[1, 0.5, 0.25]]).any()
    with pytest.raises(InvalidValueError, match="Expected one of fixation, right, left"):
        words.read("0-100 ms: up 1")


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ("left", "left"),
        ("  Left.", "left"),
        ("I choose **right**!", "right"),
        ("fixate", "fixate"),
        ("left or right", None),
        ("leftover", None),
        ("", None),
        ("I do not know", None),
    ],
)
def test_a_reply_names_one_choice_or_none(reply, choice):
    words = Wording(make_task(DOTS))
    action = words.choice(reply)
    assert (None if action is None else words.choices[action]) == choice


@pytest.mark.parametrize(
    ("setting", "words"),
    [({"every": 30}, "multiple of the task's dt"), ({"digits": -1}, "0 or more")],
)
def test_wrong_settings_are_refused(setting, words):
    with pytest.raises(InvalidValueError, match=words):
        Wording(make_task(DOTS, dt=100), **setting)


class Reader:
    """Replies from the last text, as an observer who sums the evidence does."""

    def __init__(self, words, sums=True):
        self.words, self.sums = words, sums

    def reply(self, messages):
        seen = self.words.read(messages[-1]["content"])
        if not self.sums:
            seen = 0 * seen
        return Reply("right" if seen[:, 1].sum() >= seen[:, 2].sum() else "left")


@pytest.mark.slow
def test_the_ideal_reader_of_the_text_earns_the_ideal_and_a_blind_one_does_not():
    """The ideal is the integrator's 0.81; SE of 800 trials 0.014, false alarm below 1 in 10,000."""
    task = make_task(DOTS)
    ideal = run(task, "integrator", 4000, seed=2)["performance"].mean()
    reader = LanguageModel(model=Reader(Wording(task)))
    record = run(task, reader, 800, seed=3)
    assert abs(record["performance"].mean() - ideal) < 0.055
    assert reader.unclear == 0
    assert reader.asked == 800
    blind = run(task, LanguageModel(model=Reader(Wording(task), sums=False)), 800, seed=3)
    assert blind["performance"].mean() < 0.56
