"""Fixtures that the tests of task packages share."""

import numpy as np
import pytest
from neurogym_check.fixtures import constant, oracle, premature, same_in_both  # noqa: F401


@pytest.fixture
def averages():
    """Function that returns the average of a channel over a period, (n, units), as rendered."""

    def average(task, batch, channel, period, seed=0):
        rendered = batch.render(np.random.default_rng(seed))[:, task.channels[channel]]
        first = np.cumsum(batch.steps) - batch.steps
        for name in batch.period_names[: batch.period_names.index(period)]:
            first = first + batch.period_steps[name]
        sums = np.concatenate([np.zeros((1, rendered.shape[1])), np.cumsum(rendered, axis=0)])
        steps = batch.period_steps[period]
        return (sums[first + steps] - sums[first]) / steps[:, None]

    return average
