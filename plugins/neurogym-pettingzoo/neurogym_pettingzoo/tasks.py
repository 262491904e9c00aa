"""Tasks of two subjects: each is a row of the hooks, and both have the same trial."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from neurogym_core import (
    STAY,
    Choice,
    InvalidValueError,
    NotSupportedError,
    Outcome,
    Session,
    Task,
    TrialBuilder,
)


class SharedTask(Task):
    """Base of tasks in which two subjects play the same trial.

    Row 2 i of a hook is the first subject of pair i, and row 2 i + 1 the second one. Both have the
    same conditions and durations, and separate noise, trial state, answers and rewards. `pairs`
    and `other` arrange values by pair. Durations are fixed or computed from conditions, and every
    answer has ``then="wait"`` (or a hook leads both), so that both are always in the same period.

    Attributes:
        agents: names of the two subjects, as keys of `SharedEnv`.
    """

    agents: ClassVar[tuple[str, str]] = ("first", "second")

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.shared = np.arange(len(session)) // 2

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        n = len(session)
        drawn = self.draw_conditions(rng, (n + 1) // 2)
        return {name: np.repeat(values, 2, axis=0)[:n] for name, values in drawn.items()}

    def pairs(self, values: np.ndarray) -> np.ndarray:
        """Return values of all subjects by pair, (pairs, 2, …).

        Args:
            values: (N, …).

        Raises:
            NotSupportedError: there is no second subject: the task was played in an env of one.
        """
        values = np.asarray(values)
        if len(values) % 2:
            raise NotSupportedError(
                f"{self.name} was played with {len(values)} subjects. Expected pairs. Play it in"
                " neurogym_pettingzoo.SharedEnv, or with neurogym_pettingzoo.play."
            )
        return values.reshape(-1, 2, *values.shape[1:])

    def other(self, values: np.ndarray) -> np.ndarray:
        """Return the value of the other subject for each one, (N, …).

        Args:
            values: (N, …).
        """
        pairs = self.pairs(values)
        return pairs[:, ::-1].reshape(np.shape(values))


class MatrixGame(SharedTask):
    """Choose at the same time as another subject, and be paid by both choices.

    After a fixation both choose within a window; then feedback shows the other's choice on the
    channel `other`, and the own pay on `paid`. Both choices are paid as the feedback begins. A
    subject that does not choose is a miss, and pays `miss`; the other one then earns nothing. No
    choice is right or wrong: the outcome is "other". Performance is the reward relative to the
    highest pay of the matrix.

    Args:
        payoffs: pays, (choices of the first) x (choices of the second) x (first, second).
        choices: names of the choices of both.
    """

    payoffs: tuple[Any, ...] = (((1.0, 1.0), (0.0, 0.0)), ((0.0, 0.0), (1.0, 1.0)))
    choices: tuple[str, ...] = ("left", "right")

    timing = {"fixation": 200, "choose": 500, "feedback": 300}  # ms
    rewards = {"abort": -0.1, "miss": 0.0}
    supervised = False
    trial_state = {"chosen": -1, "others": -1, "pay": 0.0}

    def define(self) -> None:
        self._matrix = np.asarray(self.payoffs, float)
        if self._matrix.shape != (len(self.choices), len(self.choices), 2):
            raise InvalidValueError(
                f"{self.name} was given payoffs of shape {self._matrix.shape} and"
                f" {len(self.choices)} choices. Expected shape"
                f" {(len(self.choices), len(self.choices), 2)}: both choices, and the pays of both."
                " Give a pay to each."
            )
        self.observe(fixation=1, other=self.choices, paid=1)
        self.act(rest=1, choose=self.choices)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("fixation", "choose", "feedback")
        trial.show("fixation", 1, during="fixation")
        trial.hold(during="feedback", cost=0)
        trial.offer("choose", 0, during="choose", then="wait")
        trial.max_reward(self._matrix.max())
        trial.record("others", "pay")

    def step_action(self, now: Any, action: np.ndarray) -> tuple[np.ndarray, None]:
        state = now.trial_state
        asked = now.in_period("choose")
        first = asked & (action > 0) & (state["chosen"] < 0)
        state["chosen"] = np.where(first, action - 1, state["chosen"])
        chosen = self.pairs(state["chosen"])
        ends = asked & (now.remaining < 1.5 * now.dt)
        pay = self._matrix[chosen[:, 0], chosen[:, 1]].reshape(-1)
        both = np.repeat((chosen >= 0).all(axis=1), 2)
        pay = np.where(both, pay, np.where(state["chosen"] < 0, self.rewards["miss"], 0.0))
        state["pay"] = np.where(ends, pay, state["pay"])
        state["others"] = np.where(ends, self.other(state["chosen"]), state["others"])
        broken = now.in_period("fixation") & (action > 0)
        return np.where(ends, pay, broken * self.rewards["abort"] * now.dt / 100), None

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        shown = now.in_period("feedback")[:, None]
        others = now.trial_state["others"][:, None]
        obs[:, self.channels["other"]] = shown * (others == np.arange(len(self.choices)))
        obs[:, self.channels["paid"]] = shown * now.trial_state["pay"][:, None]
        return obs


class MatchingPennies(MatrixGame):
    """Match the other's choice, or differ from it.

    The first subject (the matcher) earns 1 if both choices are equal, the second one (the evader)
    if they differ. At equilibrium both choose at random, and earn 0.5; any habit can be exploited.
    With monkeys and a computer: Barraclough, Conroy & Lee (2004), Nature Neuroscience 7:404,
    doi:10.1038/nn1209.

    Deviations from the paper: the other one is a subject too, and not an algorithm; durations are
    ours.

    Args:
        payoffs, choices: as in `MatrixGame`.
    """

    agents = ("matcher", "evader")
    payoffs: tuple[Any, ...] = (((1.0, 0.0), (0.0, 1.0)), ((0.0, 1.0), (1.0, 0.0)))


class PrisonersDilemma(MatrixGame):
    """Cooperate or defect, again and again with the same other subject.

    Axelrod & Hamilton (1981), Science 211:1390, doi:10.1126/science.7466396, with its pays: 3 for
    mutual cooperation, 1 for mutual defection, 5 for the defector and 0 for the cooperator if they
    differ. In one trial defection pays more, whatever the other does; over a session, reciprocity
    does.

    Deviations from the paper: a session has 100 trials, which both may know; durations are ours.

    Args:
        payoffs, choices: as in `MatrixGame`.
    """

    payoffs: tuple[Any, ...] = (((3.0, 3.0), (0.0, 5.0)), ((5.0, 0.0), (1.0, 1.0)))
    choices: tuple[str, ...] = ("cooperate", "defect")


class JointDecision(SharedTask):
    """Say what you saw, hear the other one, and decide again; both are paid if both are right.

    After Bahrami, Olsen, Latham, Roepstorff, Rees & Frith (2010), Science 329:1081,
    doi:10.1126/science.1185718.

    Both see the same evidence for a side with separate noise. Each reports a side with low or high
    confidence (group `report`), which the other one then sees on the channel `other`. Then each
    gives a joint answer (`joint`). It is correct, and pays both 1, only if both give it and it is
    right. The report is not paid.

    With a strength s, the sum of the evidence has d = s times the square root of the ms shown,
    divided by sigma; a subject alone is right with Phi(d). A pair that could share its evidence
    would be right with Phi(sqrt(2) d); one that follows the more confident report, and one of the
    two (the first) if they are equal, lies in between.

    Deviations from the paper: evidence is a number, and not a contrast in one of two intervals;
    confidence has two levels; disagreement is not resolved by speaking, but by a second answer.
    Durations, strengths and noise are ours.

    Args:
        strengths: strengths of the evidence.
        sigma: SD of the noise, times sqrt(ms).
    """

    strengths: tuple[float, ...] = (0.1, 0.2, 0.4)
    sigma: float = 5.0

    timing = {"look": 800, "report": 300, "listen": 200, "joint": 300}  # ms
    rewards = {"abort": -0.1, "correct": 1.0, "error": 0.0}
    trial_state = {"reported": -1, "heard": -1, "answered": -1}

    REPORTS = ("left, sure", "left", "right", "right, sure")

    def define(self) -> None:
        self.observe(evidence=1, other=self.REPORTS, go=2)
        self.act(rest=1, joint=("left", "right"), report=self.REPORTS)
        self.vary(side=Choice((0, 1)), strength=Choice(self.strengths))
        self.correct_choice("side")

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("look", "report", "listen", "joint")
        signed = (2 * trial["side"] - 1) * trial["strength"]
        trial.show("evidence", signed, during="look", noise=self.sigma)
        trial.show("go", [1, 0], during="report")
        trial.show("go", [0, 1], during="joint")
        right = np.where(trial["side"][:, None] == 1, [0, 0, 1, 1], [1, 1, 0, 0]).astype(bool)
        trial.answer(
            "report", right, during="report", slot="report", then="wait", scored=False, correct=0
        )
        trial.answer("joint", trial["side"], during="joint", slot="joint", reported=True)
        trial.record("heard")

    def step_action(self, now: Any, action: np.ndarray) -> tuple[None, np.ndarray | int]:
        state = now.trial_state
        for period, name, group in (
            ("report", "reported", "report"),
            ("joint", "answered", "joint"),
        ):
            units = self.actions[group]
            choice = np.where((action >= units.start) & (action < units.stop), action, -1)
            first = now.in_period(period) & (choice >= 0) & (state[name] < 0)
            state[name] = np.where(first, choice - units.start, state[name])
        state["heard"] = np.where(
            now.in_period("listen"), self.other(state["reported"]), state["heard"]
        )
        last = now.in_period("joint") & (now.remaining < 1.5 * now.dt)
        agree = (state["answered"] >= 0) & (state["answered"] == self.other(state["answered"]))
        right = agree & (state["answered"] == now.conditions["side"])
        outcome = np.where(right, Outcome.CORRECT, Outcome.ERROR)
        outcome = np.where(state["answered"] < 0, Outcome.MISS, outcome)
        now.answer(last, state["answered"], outcome, slot="joint")
        return None, STAY

    def step_observation(self, now: Any, obs: np.ndarray) -> np.ndarray:
        shown = now.in_period("listen") | now.in_period("joint")
        others = self.other(now.trial_state["reported"])[:, None] == np.arange(len(self.REPORTS))
        obs[:, self.channels["other"]] = shown[:, None] * others
        return obs
