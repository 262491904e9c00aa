"""Random tasks, exported and played in Node, must agree with the kernel."""

from __future__ import annotations

import ngym_test_random_tasks as random_tasks
import pytest
import replaying
from hypothesis import given, reject
from hypothesis import strategies as st
from ngym_test_random_tasks import held

from neurogym_core.errors import NotSupportedError

pytestmark = [
    pytest.mark.filterwarnings("ignore:Period .* lasts:UserWarning"),
    pytest.mark.usefixtures("few_trials_at_a_time"),
]


def check(task, seed, n_trials):
    """Compare trials of several blocks: of 16, if they have eight steps or more."""
    try:
        game = replaying.play(task, n_trials, seed, most=400)
    except NotSupportedError:
        reject()
    (found,) = replaying.replay([game])
    assert replaying.differences(game, found) == []


@held(25)
@given(task=random_tasks.tasks(hooks=False), seed=st.integers(0, 99))
def test_random_tasks_are_played_alike(task, seed):
    check(task, seed, 40)


@pytest.mark.slow
@held(300)
@given(task=random_tasks.tasks(hooks=False), seed=st.integers(0, 99))
def test_many_random_tasks_are_played_alike(task, seed):
    check(task, seed, 40)
