"""`JaxPPOTrainer`, for ``ngym train --algo jax-ppo``, and the subject that it trains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
from neurogym_training.training import Trainer, Watch, sessions_of_test

from neurogym_core import InvalidValueError, TrialRecord, run
from neurogym_core.tools import replacing
from neurogym_jax import ppo
from neurogym_jax.env import TaskEnv
from neurogym_jax.params import whole_number

CHECKPOINT = "checkpoint.npz"


class JaxPPOTrainer(Trainer):
    """PPO with a GRU, in which envs, network and updates are one program on the device.

    A resumed training ends with the weights of an uninterrupted one: a checkpoint has the state of
    the envs, of the network and of the draws, too. A network that met the criterion keeps its
    weights where it still meets that of the new call, and learns on otherwise.

    Args:
        tasks: one task, which has to be a table (`neurogym_jax.make`).
        seed: seed of weights, trials and actions.
        seeds: number of networks that are trained together, each with other draws. A network that
            meets the criterion keeps its weights, and the others continue. The accuracy is that of
            the worst, and the first one is the subject.
        test_every: minimum number of steps of each network between tests.
        test_trials: trials per test, always the same.
        trials: trials of a deck, for tasks whose types of trials cannot be enumerated; every test
            is followed by the next deck.
        envs, n_steps, n_epochs, minibatches, hidden, learning_rate, gamma, gae_lambda, ent_coef,
            vf_coef, clip, max_norm: see `neurogym_jax.ppo.Settings`.
    """

    kind = "algo"
    unit = "steps"

    def __init__(
        self,
        tasks: Any,
        *,
        seed: int = 0,
        seeds: int = 1,
        test_every: int = 50_000,
        test_trials: int = 500,
        trials: int = 1024,
        envs: int = 64,
        n_steps: int = 64,
        n_epochs: int = 4,
        minibatches: int = 4,
        hidden: int = 64,
        learning_rate: float = 2e-3,
        gamma: float = 0.99,
        gae_lambda: float = 0.95,
        ent_coef: float = 0.01,
        vf_coef: float = 0.5,
        clip: float = 0.2,
        max_norm: float = 0.5,
    ) -> None:
        super().__init__(tasks, seed=seed)
        for name, value in (("seeds", seeds), ("envs", envs), ("n_steps", n_steps),
                            ("n_epochs", n_epochs), ("hidden", hidden)):  # fmt: skip
            whole_number("jax-ppo", name, value)
        if not 1 <= minibatches <= envs:
            raise InvalidValueError(
                f"jax-ppo was given minibatches={minibatches} for envs={envs}. Expected 1 to"
                f" {envs}, since each has whole envs. Change one of them."
            )
        self.settings = ppo.Settings(
            envs, n_steps, n_epochs, minibatches, hidden, learning_rate, gamma, gae_lambda,
            ent_coef, vf_coef, clip, max_norm,
        )  # fmt: skip
        self.seeds, self.test_trials = seeds, test_trials
        self._tested: dict[int, TrialRecord] = {}
        self._kept: dict[int, dict[str, np.ndarray]] = {}
        self.env = TaskEnv(self.tasks[0], seed=seed, trials=trials, split=self.splits["training"])
        self.params = self.env.default_params
        self._drawn = 0
        self._decks = None if self.env.exact else self.env.decks(seed, trials)
        self.rollout = envs * n_steps
        self.updates = max(test_every // self.rollout, 1)
        self._learn_some = ppo.several(self.env, self.settings, self.updates)
        keys = self._keys(0)
        self.learner = ppo.begin(keys, seed, seeds, self.env, self.params, self.settings)
        self._reset = jax.jit(jax.vmap(
            lambda learner, params: ppo.restarted(learner, self.env, params, self.settings),
            (0, None),
        ))  # fmt: skip
        self._restart()

    def _keys(self, done: int) -> jax.Array:
        """Return a key for each network; other ones after other numbers of steps."""
        key = jax.random.fold_in(jax.random.key(self.seed), done)
        return jax.random.split(key, self.seeds)

    def _learn(self, until: int, watch: Watch) -> None:
        # Those that met the last criterion may have to learn for this one.
        self.learner = self.learner._replace(weights=self._weights())
        self._tested = {which: self._record(which) for which in self._kept}
        for which, record in self._tested.items():
            if not watch.meets(record):
                del self._kept[which]
        if not self.curve and self._test(watch):
            return
        while self.done < until:
            if self._decks is not None and self.done:
                self.params = next(self._decks)
                self._drawn += 1
                self._restart()
            left = -(-(until - self.done) // self.rollout)
            updates = min(self.updates, left)
            learn = self._learn_some
            if updates < self.updates:  # the last ones, so that it ends with the rollout of `until`
                learn = ppo.several(self.env, self.settings, updates)
            self.learner, performance = learn(self.learner, self.params)
            self.done += updates * self.rollout
            watch.tick(training=float(np.asarray(performance)[:, -1].mean()))
            if self._test(watch):
                return

    def _restart(self) -> None:
        self.learner = self._reset(self.learner, self.params)

    def _test(self, watch: Watch) -> bool:
        """Test all networks on the same trials; return True if training has to stop."""
        for which in range(self.seeds):
            if which in self._kept:
                continue
            self._tested[which] = record = self._record(which)
            if watch.meets(record):
                self._kept[which] = self._subject(which).weights
        records = [self._tested[which] for which in range(self.seeds)]
        means = [float(record["performance"].mean()) for record in records]
        each = {f"seed {k}": mean for k, mean in enumerate(means)} if self.seeds > 1 else {}
        # As the criterion: a trial in which the subject acted too early counts 0.
        learns = [which for which in range(self.seeds) if which not in self._kept]
        candidates = [self._tested[which] for which in learns or range(self.seeds)]
        clean = [float((one["performance"] * (one["aborts"] == 0)).mean()) for one in candidates]
        return watch.point(candidates[int(np.argmin(clean))], **each)

    def _record(self, which: int) -> TrialRecord:
        """Return the test of one of the networks."""
        return run(
            self.tasks[0], self._subject(which), self.test_trials, seed=self.seed,
            num_envs=sessions_of_test(self.tasks[0], self.test_trials),
            split=self.splits["tests"],
        )  # fmt: skip

    def subject(self, which: int = 0) -> JaxSubject:
        """Return the first network as a subject that takes the most probable action."""
        return self._subject(0)

    def _subject(self, which: int) -> JaxSubject:
        """Return one of the networks as a subject."""
        kept = self._kept.get(which)
        return JaxSubject(
            # NumPy's indices: one of JAX would be another program to compile.
            {name: np.asarray(values)[which] for name, values in self.learner.weights.items()}
            if kept is None
            else kept
        )

    def _weights(self) -> ppo.Weights:
        """Return the weights of all networks: those of the test that met the criterion, if any."""
        weights = {name: np.array(values) for name, values in self.learner.weights.items()}
        for which, kept in self._kept.items():
            for name, values in kept.items():
                weights[name][which] = values
        return {name: jax.numpy.asarray(values) for name, values in weights.items()}

    def save(self, folder: Path) -> None:
        learner = self.learner._replace(
            weights=self._weights(), key=jax.random.key_data(self.learner.key)
        )
        arrays = {f"part {k}": np.asarray(part) for k, part in enumerate(jax.tree.leaves(learner))}
        with replacing(Path(folder) / CHECKPOINT) as temporary, temporary.open("wb") as file:
            np.savez(file, kept=np.array(sorted(self._kept), int), decks=self._drawn, **arrays)
        self.save_progress(folder)

    def load(self, folder: Path) -> None:
        self.load_progress(folder)
        with np.load(Path(folder) / CHECKPOINT, allow_pickle=False) as saved:
            parts = [jax.numpy.asarray(saved[f"part {k}"]) for k in range(len(saved.files) - 2)]
            kept, decks = saved["kept"].tolist(), int(saved["decks"])
        learner = jax.tree.unflatten(jax.tree.structure(self.learner), parts)
        self.learner = learner._replace(key=jax.random.wrap_key_data(learner.key))
        weights = self.learner.weights
        self._kept = {
            which: {name: np.asarray(values)[which] for name, values in weights.items()}
            for which in kept
        }
        while self._decks is not None and self._drawn < decks:
            next(self._decks)
            self._drawn += 1


class JaxSubject:
    """Plays a task with a trained network and its most probable actions; for `run`.

    It plays the split "test" unless `run` is given another one.

    The state of the network lasts for a session, as in training.

    It computes with NumPy: a step of a small network takes less time than a call of the device.

    Args:
        weights: of the network (`neurogym_jax.ppo`).

    Attributes:
        hidden: (num_envs, H) its state after the last step.
    """

    carries_state = True
    default_split = "test"

    def __init__(self, weights: ppo.Weights) -> None:
        self.weights = {name: np.asarray(values) for name, values in weights.items()}

    def begin(self, env: Any) -> None:
        """Reset the state of every env."""
        self.hidden = np.zeros((env.num_envs, self.weights["recurrent"].shape[0]), np.float32)
        self._trial = env.trial_number.copy()

    def __call__(self, env: Any, observations: np.ndarray) -> np.ndarray:
        """Return actions (num_envs,) or (num_envs, D) for observations (num_envs, obs)."""
        self.forget(env)
        self.hidden, logits, _ = ppo.network_step(self.weights, self.hidden, observations, np)
        return self.actions(logits)

    def forget(self, env: Any) -> None:
        """Reset the state of each env whose session begins."""
        length = env.task.trials_per_session
        if length is not None:
            fresh = (env.trial_number != self._trial) & (env.trial_number % length == 0)
            if fresh.any():
                self.hidden = np.where(fresh[:, None], 0.0, self.hidden).astype(np.float32)
        self._trial = env.trial_number.copy()

    def actions(self, logits: np.ndarray) -> np.ndarray:
        """Return the most probable actions, (num_envs,) or (num_envs, D), of outputs."""
        if "spread" in self.weights:  # the mean of the distribution
            return np.clip(logits, -1, 1)
        return logits.argmax(axis=1)
