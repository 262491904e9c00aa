"""The subject that made a record predicts its choices better than others and than guessing.

Bounds are four standard errors of the mean difference: a false alarm in 1 of 16,000.
"""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_likeness.replayed import choice_log_likelihood

from neurogym_core import InvalidValueError, NotSupportedError, Subject, make_task, run

TASK = "perceptual/PerceptualDecisionMaking-v0"


class Weighing(Subject):
    """Sums the evidence, and draws its answers from a softmax of `weight` x sum."""

    carries_state = False

    def __init__(self, weight, bias=0.0, seed=0):
        super().__init__(seed)
        self.weight, self.bias = weight, bias

    def begin(self, env):
        self.sum, self.trial = np.zeros(env.num_envs), env.trial_number.copy()

    def __call__(self, env, observations):
        self.sum[env.trial_number != self.trial] = 0
        self.trial = env.trial_number.copy()
        left, right = observations[:, env.task.channels["stimulus"]].T[:2]
        self.sum += right - left
        right = 1 / (1 + np.exp(-(self.weight * self.sum + self.bias)))
        answer = 1 + (self.rng.random(len(right)) < right)
        return np.where(env.is_asked & ~env.can_wait, answer, 0)


@pytest.fixture(scope="module")
def played():
    task = make_task(TASK, sigma=0.5)
    return task, run(task, Weighing(0.4, bias=1.0), 800, seed=1)


def better(one, other):
    difference = one - other
    return difference.mean() > 4 * difference.std(ddof=1) / np.sqrt(len(difference))


@pytest.mark.slow
def test_the_model_that_made_the_record_wins(played):
    task, record = played
    assert (record["choice"] == "right").mean() not in (0, 1)
    truth = choice_log_likelihood(Weighing(0.4, bias=1.0), task, record)
    assert truth.shape == (800,)
    blind = choice_log_likelihood(Weighing(0.0), task, record)
    assert blind.mean() == pytest.approx(np.log(0.5), abs=0.03)
    others = [Weighing(-0.4, bias=1.0), Weighing(0.4, bias=-1.0), Weighing(4.0), Weighing(0.0)]
    for other in others:
        assert better(truth, choice_log_likelihood(other, task, record)), vars(other)


def test_trials_without_a_choice_have_no_likelihood(played):
    task, _ = played
    rested = run(task, "rest", 4, seed=2)
    assert np.isnan(choice_log_likelihood(Weighing(0.1), task, rested, repeats=1)).all()


def test_what_has_no_likelihood_is_refused(played):
    task, record = played
    with pytest.raises(NotSupportedError, match="Expected a subject whose state ends"):
        choice_log_likelihood(lambda env, observations: 0, task, record)
    with pytest.raises(InvalidValueError, match="no column coherence"):
        choice_log_likelihood(
            Weighing(0.1), task, type(record)({k: record[k] for k in record if k != "coherence"},
                                              meta=record.meta),
        )  # fmt: skip
