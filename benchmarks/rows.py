"""Rows of the table: the compared cases, their bounds, and reasons for missed rows."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.settings import ON_PEER, Case

Timed = tuple[str, Case]
"""Side and case; the side is "core", "plain" (the core with its plain kernel) or "peer"."""


class Row(NamedTuple):
    """Ratio of two rates of the same round, the lowest of several such ratios, or a probe.

    Attributes:
        label: name of the row.
        must, stretch: bound that must be reached, and a better one; None for information only.
        pairs: numerator and denominator of each ratio. The pair with the lowest ratio counts.
        sweep: "vector" or "random" for a ratio of every installed task (see `core_side.swept`).
            The lowest counts.
        probe: name of a function in `probes`, for rows that are not rates.
        unit: unit of the value.
        less: True if lower values are better.
    """

    label: str
    must: float | None
    stretch: float | None
    pairs: tuple[tuple[Timed, Timed], ...] = ()
    sweep: str = ""
    probe: str = ""
    unit: str = "x"
    less: bool = False


def _vector(
    label: str, must: float | None, stretch: float | None, task: str, size: int = 64,
    peers: int = 64, kind: str = "vector",
) -> Row:  # fmt: skip
    return Row(label, must, stretch, (_vectors("core", task, size, peers, kind),))


def _vectors(
    side: str, task: str, size: int = 64, peers: int = 64, kind: str = "vector"
) -> tuple[Timed, Timed]:
    other = Case("vector", ON_PEER.get(task, task), peers)
    return (side, Case(kind, task, size)), ("peer", other)


def _of_least(size: int, must: float, stretch: float) -> Row:
    return _within(
        f"vector env of {size} in buffers, PerceptualDecisionMaking, x the least work in C",
        must, stretch, Case("buffers", "dots", size), Case("least", "dots", size),
    )  # fmt: skip


def _single(
    label: str, must: float | None, stretch: float | None, task: str, side: str = "core"
) -> Row:
    return Row(
        label,
        must,
        stretch,
        (((side, Case("single", task)), ("peer", Case("single", ON_PEER.get(task, task)))),),
    )


def _dataset(
    label: str, must: float | None, stretch: float | None, task: str, size: int = 256
) -> Row:
    case = Case("dataset", task, size)
    return Row(label, must, stretch, ((("core", case), ("peer", case)),))


def _within(
    label: str, must: float | None, stretch: float | None, case: Case, other: Case, unit: str = "x"
) -> Row:
    """Return a row with two cases of the core."""
    return Row(label, must, stretch, ((("core", case), ("core", other)),), unit=unit)


def _wrapped(label: str, kind: str, size: int) -> Row:
    """Return a row with and without three task wrappers, which may cost a factor of 1.5."""
    return _within(
        label, 1 / 1.5, 0.8, Case(kind, "dots, three wrappers", size), Case(kind, "dots", size)
    )


def _share(label: str, must: float | None, stretch: float | None, task: str, kind: str) -> Row:
    return _within(label, must, stretch, Case("dataset", task, 256), Case(kind, task, 256), unit="")


ROWS: tuple[Row, ...] = (
    _single("single env, PerceptualDecisionMaking", 12, 15, "dots"),
    _single("single env, ContextDecisionMaking", None, None, "context"),
    _single("single env, DawTwoStep (session state)", 3, 5, "two-step"),
    _single("single env, Bandit", 6, 9, "bandit"),
    _single("single env, Reaching1D (hooks)", 0.25, 0.5, "reaching"),
    _single(
        "single env, MatchingPennies (outcome-dependent; the peer's Bandit)", 0.1, 0.3, "pennies"
    ),
    _within(
        "single env, IBL: a random subject, x a resting one",
        0.3,
        0.6,
        Case("random", "ibl/IBL-v0"),
        Case("resting", "ibl/IBL-v0"),
    ),
    Row(
        "single env, every task: a random subject, x a resting one; the lowest",
        None,
        None,
        sweep="random",
    ),
    _vector("vector env of 64, PerceptualDecisionMaking", 100, 140, "dots"),
    _vector(
        "vector env of 64 in buffers, PerceptualDecisionMaking", 140, 200, "dots", kind="buffers"
    ),
    _vector(
        "vector env of 1024, PerceptualDecisionMaking (the peer's of 64)", 200, 300, "dots", 1024
    ),
    _vector(
        "vector env of 1024, PerceptualDecisionMaking (the peer's of 1024)",
        200,
        300,
        "dots",
        1024,
        1024,
    ),
    _vector(
        "vector env of 1024 in buffers, PerceptualDecisionMaking (the peer's of 1024)",
        200,
        300,
        "dots",
        1024,
        1024,
        "buffers",
    ),
    _of_least(64, 1 / 3, 1 / 2),
    _of_least(1024, 1 / 2, 0.8),
    _vector("vector env of 64, ContextDecisionMaking", None, None, "context"),
    _vector("vector env of 64, DawTwoStep", 10, 30, "two-step"),
    _vector("vector env of 64, Bandit", 60, 90, "bandit"),
    _vector("vector env of 64, Reaching1D (hooks)", 5, 20, "reaching"),
    _vector(
        "vector env of 64, MatchingPennies (outcome-dependent; the peer's Bandit)", 5, 20, "pennies"
    ),
    Row(
        "vector env of 16, every discrete task without hooks, x 16 single envs in a loop; the"
        " lowest",
        2,
        4,
        sweep="vector",
    ),
    _within(
        "vector env of 64, PerceptualDecisionMaking, x Gymnasium's CartPoleVectorEnv",
        4,
        6,
        Case("vector", "dots", 64),
        Case("cartpole", "", 64),
    ),
    _dataset("dataset 256 x 100, PerceptualDecisionMaking", 150, 200, "dots"),
    _dataset("dataset 16 x 100, PerceptualDecisionMaking", 40, 55, "dots", 16),
    _dataset("dataset 256 x 100, truncated-exponential delay", 45, 60, "dots, random delay"),
    _dataset("dataset 256 x 100, 33 channels", 40, 60, "dots, 32 directions"),
    _dataset("dataset 256 x 100, AntiReach (33 channels, no noise)", None, None, "anti-reach"),
    _dataset("dataset 256 x 100, ContextDecisionMaking", 50, 80, "context"),
    _dataset("dataset 256 x 100, yang19 DM1 (33 channels)", 80, 120, "yang19"),
    _wrapped("vector env of 64 with three task wrappers, x without (1 / 1.5)", "vector", 64),
    _wrapped("dataset 256 x 100 with three task wrappers, x without (1 / 1.5)", "dataset", 256),
    _share(
        "share of 'draw noise for every channel with NumPy', 3 channels",
        0.40,
        0.55,
        "dots",
        "numpy noise",
    ),
    _share("share of the same, 33 channels", 0.75, 0.85, "dots, 32 directions", "numpy noise"),
    _single("plain kernel: single env, PerceptualDecisionMaking", 3, 5, "dots", "plain"),
    Row(
        "plain kernel: vector env of 64, every task of this table; the lowest",
        1.5,
        5,
        tuple(
            _vectors("plain", task)
            for task in (
                "dots",
                "context",
                "anti-reach",
                "two-step",
                "bandit",
                "reaching",
                "pennies",
                "yang19",
            )
        ),
    ),
    Row("lines of Python that play a table", 1300, 1000, probe="lines", unit="", less=True),
    Row("classes that play a table", 10, 8, probe="classes", unit="", less=True),
    Row(
        "steps generated per step delivered, dataset 256 x 100",
        1.0,
        1.0,
        probe="generated",
        unit="",
        less=True,
    ),
    Row(
        "CPU time of `import neurogym_core` and a first `make`, x `import gymnasium`",
        1.3,
        1.15,
        probe="start",
        less=True,
    ),
    Row(
        "peak memory of a dataset of 256 streams beyond its arrays",
        10,
        5,
        probe="memory",
        unit=" MiB",
        less=True,
    ),
)

REASONS: dict[str, str] = {
    "single env, PerceptualDecisionMaking": (
        "every step returns a new array, and `np.empty(3)` alone takes two thirds as long as the"
        " whole step; on an idle machine some rounds reach the bound."
    ),
    "single env, DawTwoStep (session state)": (
        "its rewards depend on drifting probabilities, so each trial, of two steps, is built and"
        ' scored separately: a third of the time. Making `info["trial"]` takes a fifth.'
    ),
    "single env, Bandit": (
        'a trial is one step, so every step makes `info["trial"]`, a Python object: a third of the'
        " time."
    ),
    "single env, Reaching1D (hooks)": (
        "the hooks of the task call NumPy on arrays with one row: half of the time."
    ),
    "single env, MatchingPennies (outcome-dependent; the peer's Bandit)": (
        "each trial is drawn after the previous one has ended, with NumPy on arrays with one row;"
        " this draw alone takes longer than the bound allows."
    ),
    "vector env of 1024, PerceptualDecisionMaking (the peer's of 64)": (
        "its ratio is close to the bound, and above or below it from run to run."
    ),
    "vector env of 64, DawTwoStep": (
        "building and scoring its trials takes four fifths of the time, as above."
    ),
    "vector env of 64, Bandit": (
        "drawing its trials of one step and finding their types takes half of the time."
    ),
    "vector env of 64, MatchingPennies (outcome-dependent; the peer's Bandit)": (
        "trials are drawn whenever some envs end one, with NumPy on few rows: nine tenths of the"
        " time."
    ),
    "vector env of 16, every discrete task without hooks, x 16 single envs in a loop; the lowest": (
        "trials of IBLTraining depend on outcomes, and its envs end their trials on different"
        " steps, so each trial is drawn separately, as in the loop."
    ),
    "dataset 256 x 100, PerceptualDecisionMaking": (
        "dealing the trials, with NumPy, takes about as long as writing the steps."
    ),
    "dataset 256 x 100, 33 channels": (
        "its ratio is close to the bound; noise takes four tenths of the time."
    ),
    "dataset 256 x 100, yang19 DM1 (33 channels)": (
        "directions are continuous, so no two trials have the same type, and building them takes"
        " longer than writing the steps."
    ),
    "vector env of 64 with three task wrappers, x without (1 / 1.5)": (
        "rounds differ by half; on an idle machine the wrappers cost less than the bound allows."
    ),
    "plain kernel: single env, PerceptualDecisionMaking": (
        "a new array and a new dict per step take a quarter of the time; the rest is a Python loop"
        " over the timers and windows of the trial."
    ),
    "plain kernel: vector env of 64, every task of this table; the lowest": (
        "MatchingPennies draws its trials on few rows, as with the compiled kernel."
    ),
    "lines of Python that play a table": (
        "besides the loop they contain the log, the types, the results, the replay and the"
        " rendering; a third of the lines are docstrings, comments and empty lines."
    ),
    "classes that play a table": (
        "many are records: the parts of a type, a block, a chunk and a result."
    ),
}
"""Label of a missed row -> reason, as one sentence or two."""

assert set(REASONS) <= {row.label for row in ROWS}, (
    "REASONS has a label that is not in ROWS; correct the label"
)


def bounds_of(row: Row) -> dict[str, Timed]:
    """Return upper bounds for the rate of a row on this machine, by name.

    "noise" only generates the noise of as many steps; "writing" only writes as many bytes; "C" is
    the least work in C, of PerceptualDecisionMaking only. Rows with several rates, and rates of
    other cases, have no bounds.
    """
    if len(row.pairs) != 1:
        return {}
    _, case = row.pairs[0][0]
    if case.kind not in ("single", "vector", "buffers", "dataset"):
        return {}
    steps = case.size if case.kind == "dataset" else 256
    written = "written by a dataset" if case.kind == "dataset" else "written by envs"
    bounds = {
        "noise": ("core", Case("noise", case.task, steps)),
        "writing": ("core", Case(written, case.task, steps)),
    }
    if case.task == "dots" and case.kind != "dataset":
        bounds["C"] = ("core", Case("least", "dots", case.size))
    return bounds
