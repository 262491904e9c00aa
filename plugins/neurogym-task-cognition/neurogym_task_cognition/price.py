"""Rewards that fall with the time of the answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurogym_core import TrialBuilder

BIN = 50
"""Length of a bin of reaction times with one reward, ms."""


def priced_answer(
    trial: TrialBuilder,
    group: str,
    which: Any,
    during: str | tuple[str, ...],
    correct: float,
    price: float,
    *,
    begin: float = 0,
    **terms: Any,
) -> None:
    """Open a response window in which the reward of the right answer falls with time.

    The reward is `correct` where the window begins, and falls linearly to ``(1 - price)`` of it at
    the end, in bins of about 50 ms (whole steps).

    Args:
        trial: the builder of the trials.
        group: name of the group of actions.
        which: index of the right choice, (n,).
        during: the period, or several; together, they last equally long in all trials.
        correct: reward of an answer in the first bin.
        price: share of the reward that is lost by the end of the window, 0 to 1.
        begin: ms from the onset of the period to the beginning of the window.
        terms: further arguments of `TrialBuilder.answer`.
    """
    periods = (during,) if isinstance(during, str) else during
    end = float(np.max(sum(trial.duration(name) for name in periods)))
    length = max(round(BIN / trial.dt), 1) * trial.dt
    for start in np.arange(begin, end, length):
        trial.answer(
            group,
            which,
            during=during,
            start=start,
            stop=min(start + length, end),
            correct=correct * (1 - price * (start - begin) / (end - begin)),
            **terms,
        )
    trial.max_reward(correct)


__all__ = ["BIN", "priced_answer"]
