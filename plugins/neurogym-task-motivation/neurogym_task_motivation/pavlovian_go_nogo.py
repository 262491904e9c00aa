"""Go and no-go, to win and to avoid losing."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, Session, Task, TrialBuilder, Uniform

KINDS = ("go to win", "no-go to win", "go to avoid", "no-go to avoid")
GOES, WINS = np.array(((True, False, True, False), (True, True, False, False)))
CUES = ("cue 1", "cue 2", "cue 3", "cue 4")


class PavlovianGoNogo(Task):
    """Learn for each of four cues whether to press or not, to win or to avoid a loss.

    Guitart-Masip, Huys, Fuentemilla, Dayan, Duzel & Dolan (2012), NeuroImage 62:154,
    doi:10.1016/j.neuroimage.2012.04.024.

    A cue comes for 1 s, then nothing for 250 to 2000 ms, then a target on the left or the right. Of
    the four cues one asks for a press on the side of the target to win, one for no press to win,
    one for a press to avoid a loss, and one for no press to avoid it. After the right action the
    better outcome comes with a probability of 0.8, after a wrong one with 0.2. The better outcome
    is 1 where there is something to win (else 0), and 0 where there is something to lose (else -1).
    Which cue is which is new in every session, so that only rewards show it: networks and agents
    need their last action and reward as inputs (the wrappers `pass_action` and `pass_reward`).

    Performance is the share of right actions. The ideal, which follows Bayes' rule over the 24
    orders of the cues, earns 0.984; a learner about each cue alone, which knows what there is to
    win and to lose, 0.976. Keeping the action of a cue after its better outcome and changing it
    after the worse one, by the outcomes that the cue has had, earns 0.78. Never pressing
    earns 0.50, as does always pressing on the target's side. People press too often to win and too
    seldom to avoid a loss, which no reward asks for: a subject without such a tendency, as the
    ideal or a network, does not show it. See `kind` in the record.

    Deviations from the paper:

    - the reward comes with the press, or with the end of the target without one (there, 1 s later),
      and is not shown;
    - the end of the window for presses was not compared with the paper.

    Args:
        p_better: probability of the better outcome after the right action.
    """

    p_better: float = 0.8
    trials_per_session: int | None = 240
    timing = {"cue": 1000, "delay": Uniform(250, 2000), "target": 1500}  # ms
    rewards = {"abort": 0.0}
    supervised = False

    def define(self) -> None:
        if not 0.5 <= self.p_better <= 1:
            raise InvalidValueError(
                f"PavlovianGoNogo was given p_better={self.p_better!r}; give 0.5 to 1."
            )
        self.observe(cue=CUES, target=("left", "right"))
        self.act(rest=1, press=("left", "right"))
        self.vary(
            order=lambda rng, prior: rng.permuted(np.tile(np.arange(4), (prior.n, 1)), axis=1),
            cue=Choice(CUES),
            kind=self._kind,
            target=Choice(("left", "right")),
            luck=lambda rng, prior: rng.random(prior.n),
        )

    def _kind(self, rng: np.random.Generator, prior) -> np.ndarray:
        cue = np.searchsorted(CUES, prior["cue"])
        return np.array(KINDS)[prior["order"][np.arange(prior.n), cue]]

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        n, trials = len(session), self.trials_per_session or 240
        session.order = rng.permuted(np.tile(np.arange(4), (n, 1)), axis=1)
        session.cues = rng.permuted(np.tile(np.arange(trials) % 4, (n, 1)), axis=1)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        cue = session.cues[np.arange(len(session)), session.trial % session.cues.shape[1]]
        known = {"order": session.order, "cue": np.array(CUES)[cue]}
        return self.draw_conditions(rng, len(session), known)

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("cue", "delay", "target")
        trial.record("order")
        trial.show("cue", trial["cue"][:, None] == CUES, during="cue")
        side = trial["target"][:, None] == ("left", "right")
        trial.show("target", side, during="target")
        kind = (trial["kind"][:, None] == KINDS).argmax(axis=1)
        loses, lucky = ~WINS[kind], trial["luck"] < self.p_better
        right, wrong = lucky * 1.0 - loses, ~lucky * 1.0 - loses
        which = np.where(GOES[kind], side.argmax(axis=1), -1)
        trial.answer("press", which, "target", then="wait", correct=right, error=wrong, miss=wrong)
