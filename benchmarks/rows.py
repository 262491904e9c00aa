"""The rows of the table: what is compared, and what must be reached (design, section 11)."""

from __future__ import annotations

from typing import NamedTuple

from .settings import Case


class Row(NamedTuple):
    """A rate of the core over another rate of the same round, or a probe.

    Attributes:
        label: what is measured.
        must, stretch: what must be reached, and what would be fine; None: for information.
        core: the case whose rate counts; None for a probe.
        other: the case that it is divided by, and the side that runs it ("peer" or "core").
        probe: name of a function of `probes`, for what is not a rate.
        unit: behind the number.
        less: whether less is better.
    """

    label: str
    must: float | None
    stretch: float | None
    core: Case | None = None
    other: tuple[str, Case] | None = None
    probe: str = ""
    unit: str = "x"
    less: bool = False


def _peer(kind: str, task: str, size: int = 1) -> tuple[str, Case]:
    return "peer", Case(kind, task, size)


def _vector(label: str, must: float | None, stretch: float | None, task: str, size: int = 64, peer: str = "") -> Row:
    # The peer's SyncVectorEnv costs the same per env whatever their number; it always has 64.
    return Row(label, must, stretch, Case("vector", task, size), _peer("vector", peer or task, 64))


def _single(label: str, must: float | None, stretch: float | None, task: str, peer: str = "") -> Row:
    return Row(label, must, stretch, Case("single", task), _peer("single", peer or task))


def _dataset(label: str, must: float | None, stretch: float | None, task: str, size: int = 256) -> Row:
    return Row(label, must, stretch, Case("dataset", task, size), _peer("dataset", task, size))


def _wrapped(label: str, kind: str, size: int) -> Row:
    """With a stack of three task wrappers, over the same without: it may cost 1.5 times as much."""
    return Row(label, 1 / 1.5, 0.8, Case(kind, "dots, three wrappers", size), ("core", Case(kind, "dots", size)))


def _bound(label: str, must: float | None, stretch: float | None, task: str, kind: str = "noise") -> Row:
    return Row(label, must, stretch, Case("dataset", task, 256), ("core", Case(kind, task, 256)), unit="")


ROWS: tuple[Row, ...] = (
    _single("single env, PerceptualDecisionMaking", 5, 7, "dots"),
    _single("single env, ContextDecisionMaking", None, None, "context"),
    _single("single env, DawTwoStep (session state)", 4, 5.5, "two-step"),
    _single("single env, Bandit", 4, 5.5, "bandit"),
    _single("single env, Reaching1D (hooks)", 0.5, 1, "reaching"),
    _single("single env, MatchingPennies (reads outcomes; the peer's Bandit)", 0.5, 1, "pennies", "bandit"),
    _vector("vector env of 64, PerceptualDecisionMaking", 30, 45, "dots"),
    _vector("vector env of 1024, PerceptualDecisionMaking (the peer's of 64)", 90, 150, "dots", 1024),
    _vector("vector env of 64, ContextDecisionMaking", None, None, "context"),
    _vector("vector env of 64, DawTwoStep", None, None, "two-step"),
    _vector("vector env of 64, Bandit", None, None, "bandit"),
    _vector("vector env of 64, Reaching1D (hooks)", 5, 20, "reaching"),
    _vector("vector env of 64, MatchingPennies (reads outcomes; the peer's Bandit)", 5, 20, "pennies", peer="bandit"),
    Row(
        "vector env of 64, PerceptualDecisionMaking, x Gymnasium's CartPoleVectorEnv",
        4,
        6,
        Case("vector", "dots", 64),
        ("core", Case("cartpole", "", 64)),
    ),
    _dataset("dataset 256 x 100, PerceptualDecisionMaking", 60, 120, "dots"),
    _dataset("dataset 16 x 100, PerceptualDecisionMaking", 40, 55, "dots", 16),
    _dataset("dataset 256 x 100, truncated-exponential delay", 45, 60, "dots, random delay"),
    _dataset("dataset 256 x 100, 33 channels", 10, 25, "dots, 32 directions"),
    _dataset("dataset 256 x 100, AntiReach (33 channels, no noise)", None, None, "anti-reach"),
    _dataset("dataset 256 x 100, ContextDecisionMaking", 50, 80, "context"),
    _dataset("dataset 256 x 100, yang19 DM1 (33 channels)", 50, 80, "yang19"),
    _wrapped("vector env of 64 with three task wrappers, x without (1 / 1.5)", "vector", 64),
    _wrapped("dataset 256 x 100 with three task wrappers, x without (1 / 1.5)", "dataset", 256),
    _bound("share of the bound 'draw the noise and nothing else' (NumPy's generator), 3 channels", 0.40, 0.55, "dots"),
    _bound("share of the same, 33 channels", 0.75, 0.85, "dots, 32 directions"),
    _bound("share of 'draw only the numbers that are needed', 3 channels", None, None, "dots", "needed"),
    _bound("share of the same, 33 channels", None, None, "dots, 32 directions", "needed"),
    _bound("share of the same from the core's own table of noise, 3 channels", None, None, "dots", "looked up"),
    _bound("share of the same, 33 channels", None, None, "dots, 32 directions", "looked up"),
    Row("steps generated per step delivered, dataset 256 x 100", 1.0, 1.0, probe="generated", unit="", less=True),
    Row(
        "CPU time of `import neurogym_core` and a first `make`, x `import gymnasium`",
        1.3,
        1.15,
        probe="start",
        less=True,
    ),
    Row("peak memory of a dataset of 256 streams beyond its arrays", 10, 5, probe="memory", unit=" MiB", less=True),
)
