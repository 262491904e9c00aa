"""`record` takes values that a record can hold, and refuses others at once."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import numpy as np
import pytest

from neurogym_core import Task, run
from neurogym_core.errors import TrialLayoutError


class Noting(Task):
    """A trial with a covariate."""

    value: Callable = None  # type: ignore[assignment]

    def define(self):
        self.observe(light=1)
        self.act(rest=1, go=1)

    def new_trial(self, trial):
        trial.periods("only", only=100)
        trial.record(noted=type(self).value(trial.n))


def noting(value: Callable) -> Task:
    return type("Noting", (Noting,), {"value": staticmethod(value), "__annotations__": {}})()


@pytest.mark.parametrize(
    "value",
    [
        lambda n: np.zeros((n, 120, 2)),
        lambda n: np.zeros((n, 0)),
        lambda n: np.zeros(n + 1),
        lambda n: None,
        lambda n: {"a": 1},
        lambda n: np.array([None] * n),
        lambda n: np.zeros(n, complex),
        lambda n: np.zeros(n, "M8[s]"),
    ],
)
def test_values_that_no_record_can_hold_are_refused_at_the_call(value):
    with pytest.raises(
        TrialLayoutError,
        match=r"record\(noted=…\) of Noting was given .* give bools, numbers or texts",
    ) as raised:
        noting(value)
    assert any(
        "trial.record(noted=" in (frame.line or "") for frame in traceback.extract_tb(raised.tb)
    )


@pytest.mark.parametrize(
    "value",
    [
        lambda n: 3,
        lambda n: "word",
        lambda n: True,
        lambda n: np.arange(n),
        lambda n: np.zeros((n, 4)),
        lambda n: np.array(["red"] * n, dtype=object),
        lambda n: ["a"] * n,
    ],
)
def test_covariates_are_in_the_record(value):
    record = run(noting(value), "rest", 10, num_envs=1, seed=0)
    np.testing.assert_array_equal(
        record["noted"], np.broadcast_to(value(10), record["noted"].shape)
    )
