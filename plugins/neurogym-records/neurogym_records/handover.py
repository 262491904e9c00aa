"""Hand the answered trials of a record to other libraries: models, mixed models, GLM-HMMs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from neurogym_core import InvalidValueError
from neurogym_core.tools import optional

SHORTEST = 0.02
"""Smallest median of reaction times, s: shorter ones were given in s in place of ms."""
RESERVED = {"answer", "chose", "response"}
"""Columns that the tables have themselves."""


def _answered(answers: ArrayLike, columns: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Return the trials with an answer, ``answer`` 0 or 1, and without missing values.

    Raises:
        InvalidValueError: an answer is neither 0 nor 1, nor missing (NaN).
    """
    values = np.asarray(answers, float)
    for name, one in columns.items():
        if np.shape(one)[:1] != values.shape:
            raise InvalidValueError(
                f"{name!r} has the shape {np.shape(one)}, and there are {len(values):,} answers."
                " Expected a value for each trial. Give columns of equal lengths."
            )
        if name in RESERVED or (
            np.asarray(one).dtype.kind == "f" and np.isinf(np.asarray(one, float)).any()
        ):
            raise InvalidValueError(
                f"The column {name!r} was given. Expected finite values, and another name than"
                f" {', '.join(sorted(RESERVED))}. Rename or correct it."
            )
    wrong = ~np.isnan(values) & ~np.isin(values, (0, 1))
    if wrong.any():
        raise InvalidValueError(
            f"Trial {int(np.flatnonzero(wrong)[0])} has the answer {values[wrong][0]:g}. Expected"
            " 0, 1 or, in trials without an answer, NaN. Give True and False, or leave these trials"
            " out."
        )
    frame = pd.DataFrame({
        "answer": values, **{name: np.asarray(one) for name, one in columns.items()}
    }).dropna()  # fmt: skip
    return frame.astype({"answer": int}).reset_index(drop=True)


def for_pyddm(times: ArrayLike, correct: ArrayLike, **conditions: ArrayLike) -> Any:
    """Return a `pyddm.Sample` of the answered trials; times in s there.

    Raises:
        MissingDependencyError: PyDDM is not installed.
        InvalidValueError: see `for_hssm`.
    """
    pyddm = optional("pyddm", needed_for="for_pyddm")
    frame = for_hssm(times, correct, **conditions)
    frame["correct"] = frame.pop("response") > 0  # another column would become a condition
    return pyddm.Sample.from_pandas_dataframe(
        frame, rt_column_name="rt", choice_column_name="correct"
    )


def for_hssm(times: ArrayLike, correct: ArrayLike, **conditions: ArrayLike) -> pd.DataFrame:
    """Return a table of the answered trials for HSSM: ``rt`` in s, ``response`` 1 or -1.

    HSSM's ``a`` is half of the distance of the bounds, and ``z`` is relative: 0.5 is the middle.

    Args:
        times: reaction times, ms (n,); NaN: no answer.
        correct: 0 or 1, (n,); in trials without an answer, anything.
        **conditions: further columns, (n,) each.

    Raises:
        InvalidValueError: `correct` is neither 0 nor 1 in an answered trial.
    """
    seconds = np.asarray(times, float) / 1000
    known = seconds[~np.isnan(seconds)]
    if (
        "rt" in conditions
        or not np.isfinite(known).all()
        or (known <= 0).any()
        or (len(known) and np.median(known) < SHORTEST)
    ):
        raise InvalidValueError(
            "for_hssm() was given times that are infinite, 0 or less, or seconds, or a condition"
            " 'rt'. Expected ms above 0, and NaN without an answer. Give 1000 * times of seconds."
        )
    right = np.where(np.isnan(seconds), np.nan, np.asarray(correct, float))
    frame = _answered(right, {"rt": seconds, **conditions})
    frame["response"] = np.where(frame.pop("answer") == 1, 1, -1)
    return frame


def for_statsmodels(chose: ArrayLike, columns: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Return a table for the formulas of statsmodels: ``chose`` 0 or 1, and the regressors.

    Rows with a missing value are left out: ``smf.logit("chose ~ evidence + last", frame).fit()``,
    or, with a column of subjects, ``smf.mixedlm("chose ~ evidence", frame, groups="subject")``.

    Raises:
        InvalidValueError: `chose` is neither 0 nor 1, nor missing.
    """
    return _answered(chose, columns).rename(columns={"answer": "chose"})


def for_psytrack(choice: ArrayLike, inputs: Mapping[str, ArrayLike]) -> dict[str, Any]:
    """Return the dictionary that `psytrack.hyperOpt` takes: ``y`` (1, 2) and inputs (n, 1).

    Raises:
        InvalidValueError: `choice` is neither 0 nor 1, nor missing.
    """
    frame = _answered(choice, inputs)
    return {
        "y": frame["answer"].to_numpy() + 1,
        "inputs": {name: frame[name].to_numpy(float)[:, None] for name in inputs},
    }


def for_dynamax(chose: ArrayLike, inputs: Mapping[str, ArrayLike]) -> tuple[np.ndarray, np.ndarray]:
    """Return emissions, int (n,), and inputs, float (n, k), of a GLM-HMM of dynamax.

    They are those of ``LogisticRegressionHMM(states, k).fit_em(…, emissions, inputs=inputs)``: a
    logistic regression in each state. It has an intercept itself. The answered trials follow each
    other as one sequence.

    Raises:
        InvalidValueError: `chose` is neither 0 nor 1, nor missing.
    """
    frame = _answered(chose, inputs)
    return frame["answer"].to_numpy(), frame[list(inputs)].to_numpy(float)


def for_psignifit(strength: ArrayLike, hit: ArrayLike) -> np.ndarray:
    """Return rows of strength, hits and trials, (m, 3), as psignifit takes them.

    Raises:
        InvalidValueError: `hit` is neither 0 nor 1, nor missing.
    """
    frame = _answered(hit, {"strength": strength})
    levels, group = np.unique(frame["strength"].to_numpy(float), return_inverse=True)
    k = np.bincount(group, weights=frame["answer"].to_numpy(float), minlength=len(levels))
    return np.column_stack([levels, k, np.bincount(group, minlength=len(levels))])
