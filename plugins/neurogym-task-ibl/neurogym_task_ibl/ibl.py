"""The full task: a grating left or right, in blocks that favour one side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from neurogym_core import Choice, Session, Task, TrialBuilder, TruncatedExponential
from neurogym_task_ibl.blocks import Blocks

SIDES = ("left", "right")
PLACES = ("left", "centre", "right")
"""Units of the channel `grating`."""


class IBL(Task):
    """Say on which side a grating is, and learn on which side it usually is.

    The International Brain Laboratory (2021), eLife 10:e63711, doi:10.7554/eLife.63711.

    The subject keeps the wheel still; any movement begins the quiescent period again. Then a tone
    sounds and a grating appears 35 degrees left or right of the centre, with a contrast of 0, 6.25,
    12.5, 25 or 100 %. The subject has 60 s to turn the wheel: the two choices of `choose` are to
    bring a grating on the left (0) or on the right (1) to the centre. If it is right it is paid at
    once and the grating stays in the centre for 1 s; after an error, or without an answer, a burst
    of noise begins a time-out of 2 s. A session begins with 90 trials in which both sides are
    equally likely; then blocks in which the left side has a probability of 0.8 and of 0.2 take
    turns, the first one at random. Blocks last 20 to 100 trials (truncated exponential, mean 51)
    and begin without notice. With a contrast of 0 there is nothing to see, and the side that is
    paid is drawn like any other.

    The channel `grating` has three units, left, centre and right, that show contrast / 100. In the
    record, `p_left` is the probability of the left side in the trial's block and `signed_contrast`
    is negative on the left, %.

    Deviations from the paper:

    - the grating does not follow the wheel: one action of turning is an answer (`IBLWheel` has a
      grating that does);
    - the noise of the contrast is ours (there, it is the mouse's);
    - a contrast of 0 is half as likely as each of the others, so that the nine signed contrasts are
      equally likely: as in the laboratory's published rig software, as are the scales of the two
      exponentials and the noise burst of 500 ms;
    - quiescence lasts 200 to 500 ms, as the paper says; the rig software adds 200 ms to it:
      ``timing={"quiescence": Uniform(400, 700)}`` comes near;
    - a trial in which the wheel is never still for long enough is given up after 75 s, a miss
      (there, it goes on);
    - a session has 500 trials (there, it ends when the mouse becomes slow).

    Args:
        contrasts: %, other than 0.
        zero_weight: how likely a contrast of 0 is relative to each of the others; 0: never.
        unbiased_trials: trials at the beginning of a session in which both sides are equally
            likely.
        priors: probabilities of the left side, one of which each later block has; never the same
            twice in a row.
        block_scale: scale of the exponential from which block lengths are drawn, trials.
        shortest_block, longest_block: its bounds, trials.
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
    sigma: float = 1.0  # ours
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
        """Channels and actions."""
        self.observe(grating=len(PLACES), tone=1, noise_burst=1)
        self.act(rest=1, choose=len(SIDES))

    def contrast_choice(self) -> Choice:
        """The contrasts and how likely they are."""
        zero = (0,) if self.zero_weight else ()
        return Choice(
            (*self.contrasts, *zero), p=[1.0] * len(self.contrasts) + [self.zero_weight] * len(zero)
        )

    def declare_conditions(self) -> None:
        """What varies: the block's prior, the side drawn with it, the contrast."""
        self.vary(
            p_left=Choice(tuple(dict.fromkeys(self.blocks.all_priors))),
            side=_side_by_prior,
            contrast=self.contrast_choice(),
            answer=right_choice,
        )

    # ------------------------------------------------------------------ drawing trials

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        self.blocks.begin(session, rng)

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        coming = self.blocks.next_trial(session, rng)
        return self.draw_conditions(rng, len(session), {"p_left": coming})

    # ------------------------------------------------------------------ building trials

    def new_trial(self, trial: TrialBuilder) -> None:
        self.lay_out_periods(trial)
        at_left = trial.side == "left"
        for place, where in (("left", at_left), ("right", ~at_left)):
            trial.show("grating", self.grating_at(trial, place), during="response", where=where)
        trial.show("grating", self.grating_at(trial, "centre"), during="reward")
        trial.answer(
            "choose",
            trial.right_answer,
            during="response",
            then={"correct": "reward", "error": "timeout"},
        )
        trial.record(signed_contrast=np.where(at_left, -1, 1) * trial.contrast)
        self.note_block(trial)

    def note_block(self, trial: TrialBuilder) -> None:
        """Write down what the block was."""
        trial.record("p_left")

    def lay_out_periods(self, trial: TrialBuilder) -> None:
        """Periods, sounds, noise, and what moving outside the response costs: a longer quiescence,
        else nothing.
        """
        trial.periods("quiescence", "response", "timeout", "reward", then={"timeout": "end"})
        trial.hold(during="quiescence", then="restart")
        trial.hold(during=("timeout", "reward"), cost=0)
        trial.show("grating", 0, during=("quiescence", "response"), noise=self.sigma)
        trial.show("tone", 1, during="response", stop=100)
        trial.show("noise_burst", 1, during="timeout", stop=500)

    def grating_at(self, trial: TrialBuilder, place: str) -> np.ndarray:
        """The contrast on one of the three units, (n, 3)."""
        return trial.contrast[:, None] / 100 * (np.array(PLACES) == place)


def right_choice(conditions: Mapping[str, np.ndarray]) -> np.ndarray:
    """0 for a grating on the left, 1 for one on the right, (n,)."""
    return (np.asarray(conditions["side"]) == "right").astype(np.int64)


def _side_by_prior(rng: np.random.Generator, prior: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.where(rng.random(len(prior["p_left"])) < prior["p_left"], "left", "right")
