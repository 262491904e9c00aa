"""Two-step task."""

from __future__ import annotations

import numpy as np

from neurogym_core import Choice, InvalidValueError, OneHot, Session, Task, TrialBuilder
from neurogym_task_value.walks import reflected_walk


class DawTwoStep(Task):
    """Make two successive choices; the first leads to one of two states, usually to the same one.

    Daw, Gershman, Seymour, Dayan & Dolan (2011), Neuron 69:1204, doi:10.1016/j.neuron.2011.02.027.

    The subject sees the first stage and chooses one of two options. Option 0, on the left, commonly
    (70 %) leads to state A and rarely to state B, option 1, on the right, the reverse. The subject
    sees the current state and chooses one of two options again, with the same two actions; this
    choice yields 1 or nothing. The four reward probabilities (A0, A1, B0, B1) follow independent
    Gaussian random walks, reflected at 0.25 and 0.75, whatever the subject does. After a reward
    that followed a rare transition, a model-based subject tends to choose the *other* first option,
    whereas a model-free subject repeats its choice: see the stay probabilities.

    In the record, `first.choice` and `second.choice` are the chosen options, `common` is true if
    the trial's transition is the common one, `reward` is the reward, `probability` the four
    probabilities, and `luck` the four numbers that are compared with them. The state reached is
    ``first.choice if common else 1 - first.choice``. Performance is the mean over the two choices
    of the value of the chosen option relative to the better one. Because the options of a state
    differ little, guessing, and always the same options, earns 0.91, and a subject that knows the
    walk and the transitions, and plans by Bayes' rule, 0.96. Stay probabilities tell more about a
    subject than its performance.

    Deviations from the paper: each stage is one step (there, up to 2 s for each choice, then 1.5 s
    of animation or feedback); the probabilities of the first trial are uniform between the
    reflecting bounds, the stationary distribution of the walk (there, not said); the common state
    of an option, and the action that chooses it, are fixed (there, options swapped sides from trial
    to trial).

    Args:
        common_probability: probability of the common transition.
        drift: SD of the walk's steps.
        mirrors: probabilities at which the walk is reflected.
    """

    common_probability: float = 0.7
    drift: float = 0.025
    mirrors: tuple[float, float] = (0.25, 0.75)
    trials_per_session: int | None = 201

    timing = {
        "first": 100,
        "state_a": 100,
        "state_b": 100,
    }  # ms; one step each, since every action is a choice
    supervised = False
    go_cue = "first"

    def define(self) -> None:
        low, high = self.mirrors
        if not 0 <= low <= high <= 1:
            raise InvalidValueError(
                f"DawTwoStep was given mirrors={self.mirrors!r}; give two probabilities, the"
                " lower first."
            )
        if not 0 <= self.common_probability <= 1:
            raise InvalidValueError(
                f"DawTwoStep was given common_probability={self.common_probability!r}; give a"
                " number from 0 to 1."
            )
        self.observe(first=1, state=OneHot(("A", "B")))
        self.act(take=("left", "right"))
        p = self.common_probability
        self.vary(
            probability=lambda rng, prior: self._first_probabilities(rng, prior.n),
            common=Choice((True, False), p=(p, 1 - p)),
            luck=lambda rng, prior: rng.random((prior.n, 4)),
        )

    def _first_probabilities(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draw from the walk's stationary distribution, uniform between the mirrors, (n, 4)."""
        return rng.uniform(*self.mirrors, (n, 4))

    def new_session(self, session: Session, rng: np.random.Generator) -> None:
        session.probability = self._first_probabilities(rng, len(session))

    def draw(self, session: Session, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {name: values[0] for name, values in self.draw_ahead(session, rng, 1).items()}

    def draw_ahead(
        self, session: Session, rng: np.random.Generator, trials: int
    ) -> dict[str, np.ndarray]:
        n = len(session)
        steps = self.drift * rng.standard_normal((trials, n, 4))
        coming = reflected_walk(session.probability, steps, *self.mirrors)
        probability = np.concatenate([session.probability[None], coming[:-1]])
        session.probability = coming[-1]
        return {
            "probability": probability,
            "common": rng.random((trials, n)) < self.common_probability,
            "luck": rng.random((trials, n, 4)),
        }

    def new_trial(self, trial: TrialBuilder) -> None:
        trial.periods("first", "state_a", "state_b", then={"state_a": "end"})
        trial.show("first", 1, during="first")
        trial.show("state", (1, 0), during="state_a")
        trial.show("state", (0, 1), during="state_b")

        leads_to = np.where(
            trial["common"][:, None], ("state_a", "state_b"), ("state_b", "state_a")
        )
        trial.offer(
            "take",
            0,
            during="first",
            worth=self._first_worth(trial["probability"]),
            slot="first",
            then=leads_to,
        )

        paid = trial["luck"] < trial["probability"]
        for state, options in (("state_a", slice(0, 2)), ("state_b", slice(2, 4))):
            chances = trial["probability"][:, options]
            # Relative to the better option of the same state: the other state is out of reach.
            best = np.maximum(chances[:, 0], chances[:, 1])
            worth = chances / np.maximum(best, 1e-12)[:, None]
            trial.offer("take", paid[:, options], during=state, worth=worth, slot="second")

    def _first_worth(self, probability: np.ndarray) -> np.ndarray:
        """Expected reward of each first option if the better second option follows, (n, 2)."""
        a, b = np.maximum(probability[:, [0, 2]], probability[:, [1, 3]]).T
        p = self.common_probability
        return np.stack([p * a + (1 - p) * b, p * b + (1 - p) * a], axis=1)
