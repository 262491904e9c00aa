"""The full task: a grating on the left or right, in biased blocks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, Session, Task, TrialBuilder, TruncatedExponential
from neurogym_core.players import TaskView
from neurogym_task_ibl.blocks import Blocks

SIDES = ("left", "right")
PLACES = ("left", "centre", "right")
"""Units of the channel `grating`."""


class IBL(Task):
    """Report the side of a grating, in blocks in which one side is more likely.

    The International Brain Laboratory (2021), eLife 10:e63711, doi:10.7554/eLife.63711.

    The subject keeps the wheel still; any movement restarts the quiescent period. Then a tone
    sounds and a grating appears 35 degrees left or right of the centre, with a contrast of 0, 6.25,
    12.5, 25 or 100 %. The subject has 60 s to turn the wheel: the two choices of `choose` bring a
    grating on the left (0) or on the right (1) to the centre. A correct choice is rewarded at once
    and the grating stays in the centre for 1 s; an error or a miss is followed by a burst of noise
    of 500 ms and a time-out of 2 s. A session begins with 90 unbiased trials, ten of each contrast
    on either side (five of contrast 0), in random order. Then blocks in which the left side has a
    probability of 0.8 and of 0.2 alternate; the first is drawn at random. Blocks last 20 to 100
    trials (truncated exponential, mean 51) and begin without notice. At a contrast of 0, which is
    half as likely as each of the others, the grating is invisible, and the rewarded side is drawn
    as usual.

    The channel `grating` has three units, left, centre and right, that show contrast / 100. In the
    record, `p_left` is the probability of the left side in the current block and `signed_contrast`
    is negative on the left, %.

    A subject may look as long as it likes, so the noise limits the speed of answers more than their
    accuracy. The best observer of the first 100 ms is correct in 67.1, 81.2, 96.1 and 100 % of
    trials at contrasts of 6.25, 12.5, 25 and 100 %, of the first 200 ms in 73.4, 89.4, 99.4 and
    100 %, if both sides are equally likely; mice come close to the first. In the biased blocks, the
    side of the block alone gives 80 %, whatever the contrast.

    Deviations from the paper:

    - the grating does not follow the wheel: one turning action is an answer (in `IBLWheel` the
      grating follows);
    - the noise of the contrast is ours (there, it is the mouse's);
    - quiescence lasts 200 to 500 ms, as the paper says; the rig software adds 200 ms to it:
      ``timing={"quiescence": Uniform(400, 700)}`` comes close;
    - a trial in which the wheel is never still for long enough ends as a miss after 75 s (there, it
      continues);
    - a session has 500 trials (there, it ends when the mouse slows down).

    Args:
        contrasts: contrasts other than 0, %.
        zero_weight: probability of a contrast of 0 relative to each of the others; 0: never.
        unbiased_trials: number of trials at the beginning of a session in which contrasts on either
            side are counterbalanced; those that do not divide equally are drawn.
        priors: probabilities of the left side in later blocks; never the same twice in a row.
        block_scale: scale of the exponential from which block lengths are drawn, trials.
        shortest_block, longest_block: bounds of the block length, trials.
        sigma: SD of the noise of the grating, times sqrt(ms); 1 is a contrast of 10 % on steps of
            100 ms.
    """

    contrasts: tuple[float, ...] = (100, 25, 12.5, 6.25)
    zero_weight: float = 0.5
    unbiased_trials: int = 90
    priors: tuple[float, ...] = (0.8, 0.2)
    block_scale: float = 60
    shortest_block: int = 20
    longest_block: int = 100
    sigma: float = 1.0
    trials_per_session: int | None = 500
    max_duration: float | None = 75_000  # ms

    timing = {
        "quiescence": TruncatedExponential(350, 200, 500),
        "response": 60_000,
        "timeout": 2000,
        "reward": 1000,
    }  # ms
    rewards = {"abort": 0.0, "correct": 1.0, "error": 0.0}
    evidence_periods = ("response",)
    go_cue = None

    def define(self) -> None:
        self.blocks = Blocks(
            self.unbiased_trials,
            self.priors,
            TruncatedExponential(self.block_scale, self.shortest_block, self.longest_block),
        )
        self.declare_interface()
        self.declare_conditions()

    def declare_interface(self) -> None:
        """Declare channels and actions."""
        self.observe(grating=PLACES, tone=1, noise_burst=1)
        self.act(rest=1, choose=SIDES)

    def contrast_choice(self) -> Choice:
        """Return the distribution of contrasts."""
        zero = (0,) if self.zero_weight else ()
        weights = np.array([1.0] * len(self.contrasts) + [self.zero_weight] * len(zero))
        return Choice((*self.contrasts, *zero), p=weights / weights.sum())

    def declare_conditions(self) -> None:
        """Declare the conditions: the block's prior, the side drawn from it, and the contrast."""
        self.vary(
            p_left=Choice(tuple(dict.fromkeys(self.blocks.all_priors))),
            side=_side_by_prior,
            contrast=self.contrast_choice(),
        )
        self.correct_choice(right_choice)

    # ------------------------------------------------------------------ drawing trials

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        self.blocks.begin(session, rng)
        if self.unbiased_trials:
            session.opening = self._opening(len(session), rng)

    def _opening(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the order of the signed contrasts of the unbiased trials, (n, trials).

        Entries are indices of contrasts, plus the number of contrasts for the right side.
        """
        share = np.tile(np.asarray(self.contrast_choice().p, float), 2) / 2
        expected = share / share.sum() * self.unbiased_trials
        whole = np.repeat(np.arange(len(share)), np.floor(expected + 1e-9).astype(int))
        rest = rng.choice(len(share), (n, self.unbiased_trials - len(whole)), p=share / share.sum())
        return rng.permuted(np.concatenate([np.tile(whole, (n, 1)), rest], axis=1), axis=1)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        n, coming = len(session), self.blocks.next_trial(session, rng)
        drawn = self.draw_conditions(rng, n, {"p_left": coming})
        opening = (session.trial < self.unbiased_trials) & (drawn["p_left"] == 0.5)
        if not np.any(opening):
            return drawn
        number = np.minimum(session.trial, self.unbiased_trials - 1)
        which = session.opening[np.arange(n), number]
        contrasts = self.contrast_choice().values
        counterbalanced = {
            "side": np.take(SIDES, which // len(contrasts)),
            "contrast": np.take(np.asarray(contrasts, float), which % len(contrasts)),
        }
        for name, values in counterbalanced.items():
            drawn[name] = np.where(opening, values, drawn[name])
        return TaskView(self).impose(drawn, rng, n, {})

    # ------------------------------------------------------------------ building trials

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out_periods(trial)
        at_left = trial["side"] == "left"
        for place, where in (("left", at_left), ("right", ~at_left)):
            trial.show("grating", self.grating_at(trial, place), during="response", where=where)
        trial.show("grating", self.grating_at(trial, "centre"), during="reward")
        trial.answer(
            "choose",
            trial.correct_choice,
            during="response",
            then={"correct": "reward", "error": "timeout"},
        )
        trial.record(signed_contrast=np.where(at_left, -1, 1) * trial["contrast"])
        self.note_block(trial)

    def note_block(self, trial: TrialBuilder) -> None:
        """Record the block's prior."""
        trial.record("p_left")

    def lay_out_periods(self, trial: TrialBuilder) -> None:
        """Build periods, sounds and noise; moving restarts the quiescence and is free later."""
        trial.periods("quiescence", "response", "timeout", "reward", then={"timeout": "end"})
        trial.hold(during="quiescence", then="restart")
        trial.hold(during=("timeout", "reward"), cost=0)
        trial.show("grating", 0, during=("quiescence", "response"), noise=self.sigma)
        trial.show("tone", 1, during="response", stop=100)
        trial.show("noise_burst", 1, during="timeout", stop=500)

    def grating_at(self, trial: TrialBuilder, place: str) -> np.ndarray:
        """Return the contrast on one of the three units, (n, 3)."""
        return trial["contrast"][:, None] / 100 * (np.array(PLACES) == place)


def right_choice(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """0 for a grating on the left, 1 for one on the right, (n,)."""
    return (np.asarray(conditions["side"]) == "right").astype(np.int64)


def _side_by_prior(rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.where(rng.random(len(prior["p_left"])) < prior["p_left"], "left", "right")
