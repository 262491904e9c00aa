"""Agents as trainers, for Python and for ``ngym train --algo``."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from neurogym_training.training import Trainer, Watch, threads_for
from sb3_contrib import RecurrentPPO
from sb3_contrib.common.recurrent.type_aliases import RNNStates
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from neurogym_core import InvalidValueError, TrialRecord, run
from neurogym_core.tools import Progress, replacing
from neurogym_sb3.evaluation import TrialEvaluation
from neurogym_sb3.subjects import AgentSubject
from neurogym_sb3.vec_env import SB3VecEnv

CHECKPOINT = "checkpoint.zip"
PLAYED = "played.npz"
"""All actions, and the states of generators and of the memory, for a resumed training."""
PPO_DEFAULTS = {
    "n_steps": 128, "batch": 512, "n_epochs": 10, "gamma": 0.99, "gae_lambda": 0.85,
    "ent_coef": 0.01, "normalize_advantage": True,
}  # fmt: skip
A2C_DEFAULTS = {
    "n_steps": 20, "gamma": 0.9, "gae_lambda": 1.0, "ent_coef": 0.03, "normalize_advantage": False,
}  # fmt: skip
"""Settings of agents with an LSTM; see `RecurrentPPOTrainer`."""


SCHEDULES = {
    "constant": lambda rate: rate,
    "linear": lambda rate: lambda remaining: rate * remaining,
}
"""Courses of the learning rate, as Stable-Baselines3 takes them: `remaining` goes from 1 to 0."""
DIAGNOSTICS = {
    "entropy": ("entropy_loss", -1),
    "value_loss": ("value_loss", 1),
    "explained_variance": ("explained_variance", 1),
    "kl": ("approx_kl", 1),
    "clipped": ("clip_fraction", 1),
}
"""Columns of the curve: the values of Stable-Baselines3's log of an update, and their signs."""


class AgentTrainer(Trainer):
    """Trains an agent by reward, with an algorithm of Stable-Baselines3.

    The curve also has the diagnostics of the newest update: entropy (nats) of the actions, loss and
    explained variance (1: perfect) of the values; of PPO, the divergence from the policy before
    (kl, nats) and the fraction of clipped steps; and fps, the steps of all envs per second of
    learning since the last test.

    Tests of an agent that learns in a `Curriculum` play its last stage, the task itself.

    A checkpoint has the actions of the training. A resumed training plays them again first, which
    brings the envs to the step of the checkpoint, and so it ends with the weights of an
    uninterrupted one, to the bit (on a GPU, as far as its operations repeat).

    Args:
        tasks: one task.
        seed: seed of weights, trials and actions.
        envs: number of parallel envs.
        n_steps: steps per env between two updates.
        hidden: units per layer (of the LSTM, if there is one).
        learning_rate, gamma, gae_lambda, ent_coef, vf_coef, max_grad_norm: as in
            Stable-Baselines3; gamma is per step.
        schedule: course of the learning rate, "constant", or "linear" down to 0 at the last step.
        policy_kwargs: arguments of the policy of Stable-Baselines3, such as ``{"net_arch": [32]}``,
            in place of those that follow from `hidden`.
        wrap: wrappers of envs, such as PassReward.
        test_every: minimum number of steps between tests (and checkpoints), which take place
            between rollouts.
        test_trials: trials per test, always the same.
        device: "cpu", "cuda", …
        threads: CPU threads while learning; 0: one for up to 512 hidden units, else those of torch.
    """

    kind = "algo"
    unit = "steps"
    algorithm: type[BaseAlgorithm]

    def __init__(
        self,
        tasks: Any,
        *,
        seed: int = 0,
        envs: int = 16,
        n_steps: int = 32,
        hidden: int = 64,
        learning_rate: float = 1e-3,
        gamma: float = 0.99,
        gae_lambda: float = 0.95,
        ent_coef: float = 0.0,
        vf_coef: float = 0.5,
        max_grad_norm: float = 0.5,
        schedule: str = "constant",
        policy_kwargs: Any = None,
        wrap: tuple | None = None,
        test_every: int = 5000,
        test_trials: int = 500,
        device: str = "cpu",
        threads: int = 0,
    ) -> None:
        super().__init__(tasks, seed=seed)
        self.threads = threads_for(threads, hidden)
        if schedule not in SCHEDULES:
            raise InvalidValueError(
                f"{type(self).__name__} was given schedule={schedule!r}. Expected one of"
                f" {', '.join(SCHEDULES)}. Give one of them."
            )
        if not isinstance(policy_kwargs, Mapping | None):
            raise InvalidValueError(
                f"{type(self).__name__} was given policy_kwargs={policy_kwargs!r}. Expected a"
                " mapping, such as {'net_arch': [32]}. Give one, or leave it out."
            )
        self._policy = _listed(policy_kwargs or {})
        self.wrap = list(wrap or ())
        self.hidden, self.device = hidden, device
        self.env = _Remembered(self.tasks[0], envs, wrap=self.wrap, split=self.splits["training"])
        self.settings = {
            "n_steps": n_steps,
            "learning_rate": SCHEDULES[schedule](learning_rate),
            "gamma": gamma,
            "gae_lambda": gae_lambda,
            "ent_coef": ent_coef,
            "vf_coef": vf_coef,
            "max_grad_norm": max_grad_norm,
            "seed": seed,
            "device": device,
        }
        self.rollout = n_steps * envs
        self.model = self._make_model()
        self._moment, self._behind = self._now(), False
        self.evaluation = TrialEvaluation(
            self.tasks[0],
            test_every,
            test_trials,
            wrap=self.wrap,
            seed=seed,
            split=self.splits["tests"],
            conditions=self._tested,
        )

    @property
    def _tested(self) -> dict[str, Any]:
        """The conditions of tests: with Curriculum those of the task itself, its last stage."""
        return getattr(self.env.task, "last_stage", {})

    @abstractmethod
    def _make_model(self) -> BaseAlgorithm:
        """Return the model, made with `settings`."""

    def _learn(self, until: int, watch: Watch) -> None:
        following = _Following(self, watch)
        self.evaluation.init_callback(self.model)
        if not self.curve and following.note(self.evaluation.test()):
            return
        self.evaluation.stop = following.note
        self._return()
        self.model.learn(
            until - self.done,
            [following, self.evaluation],
            log_interval=None,
            reset_num_timesteps=False,
        )
        if watch.ended:  # the agent learned nothing from the steps after the last test
            return
        self.done, self._moment = self.model.num_timesteps, self._now()
        if self.curve[-1][self.unit] < self.done:
            following.note(self.evaluation.test())

    def _now(self) -> dict[str, np.ndarray]:
        """Return the states of generators and memory, on which the next rollout depends."""
        # Stable-Baselines3 draws its minibatches from the global generator.
        _, keys, *rest = np.random.get_state()  # noqa: NPY002
        moment: dict[str, Any] = {"numpy": keys, "numpy.rest": rest, "torch": torch.get_rng_state()}
        if torch.device(self.device).type == "cuda":
            moment["cuda"] = torch.cuda.get_rng_state(self.device)
        if memory := getattr(self.model, "_last_lstm_states", None):
            moment |= {f"memory.{k}": kept for k, kept in enumerate((*memory.pi, *memory.vf))}
        return {
            name: kept.numpy(force=True) if torch.is_tensor(kept) else np.array(kept)
            for name, kept in moment.items()
        }

    def _return(self) -> None:
        """Bring generators, memory and envs to the last moment between two rollouts."""
        moment, model, steps = self._moment, self.model, self.done // self.env.num_envs
        model.num_timesteps = self.done
        if self._behind or len(self.env.played) != steps:
            model.set_random_seed(self.seed)
            model._last_obs, model._last_episode_starts = self.env.again(steps)
            self._behind = False
        if "memory.0" in moment:
            kept = [torch.as_tensor(moment[f"memory.{k}"], device=model.device) for k in range(4)]
            model._last_lstm_states = RNNStates((kept[0], kept[1]), (kept[2], kept[3]))
        place, *gauss = moment["numpy.rest"]
        np.random.set_state(("MT19937", moment["numpy"], int(place), *gauss))  # noqa: NPY002
        torch.set_rng_state(torch.as_tensor(moment["torch"]))
        if "cuda" in moment:
            torch.cuda.set_rng_state(torch.as_tensor(moment["cuda"]), self.device)

    def subject(self, which: int = 0) -> AgentSubject:
        """Return the agent as a subject that takes the most probable action."""
        return AgentSubject(self.model)

    def play(
        self,
        n_trials: int,
        *,
        which: int = 0,
        seed: int | None = None,
        split: str | None = "test",
        **settings: Any,
    ) -> TrialRecord:
        """Play as `Trainer.play` does, with the wrappers of the training; of Curriculum, the last
        stage.
        """
        settings["conditions"] = {**self._tested, **(settings.get("conditions") or {})}
        return run(
            self.tasks[0], self.subject(), n_trials, seed=seed, split=split, wrap=self.wrap,
            **settings,
        )  # fmt: skip

    def save(self, folder: Path) -> None:
        with replacing(Path(folder) / CHECKPOINT) as temporary, temporary.open("wb") as file:
            self.model.save(file)
        actions = self.env.played[: self.done // self.env.num_envs]
        with replacing(Path(folder) / PLAYED) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, actions=np.array(actions), **self._moment)
        self.save_progress(folder)

    def load(self, folder: Path) -> None:
        self.load_progress(folder)
        # Weights only: a whole saved model also has pickled objects, which can run any code.
        self.model.set_parameters(str(Path(folder) / CHECKPOINT), device=self.device)
        with np.load(Path(folder) / PLAYED, allow_pickle=False) as kept:
            self._moment = {name: kept[name] for name in kept.files}
        # They are played when it learns on; a subject needs none.
        self.env.played, self._behind = list(self._moment.pop("actions")), True


def _listed(value: Any) -> Any:
    """Return a value with lists in place of tuples, as Stable-Baselines3 wants them."""
    if isinstance(value, Mapping):
        return {name: _listed(item) for name, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value


class _Remembered(SB3VecEnv):
    """Keeps the actions of all steps, (num_envs, …) each."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        space = self.action_space
        highest = getattr(space, "n", None) or getattr(space, "nvec", None)
        small = space.dtype if highest is None else np.min_scalar_type(int(np.max(highest)) - 1)
        self._small, self.played = small, []

    def step_async(self, actions: np.ndarray) -> None:
        super().step_async(actions)
        self.played.append(np.array(actions, self._small))

    def again(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Play the first `steps` steps again; return the observations and where sessions ended."""
        actions, self.played = self.played[:steps], []
        observations, over = self.reset(), np.ones(self.num_envs, bool)
        with Progress("Playing the steps before the checkpoint", steps) as bar:
            for done, some in enumerate(actions):
                observations, _, over, _ = self.step(some.astype(self.action_space.dtype))
                bar.show(done)
        return observations, over


class _Following(BaseCallback):
    """Reports progress and test results to the watch."""

    def __init__(self, trainer: AgentTrainer, watch: Watch) -> None:
        super().__init__()
        self.trainer, self.watch = trainer, watch
        self._since, self._done = time.perf_counter(), trainer.done

    def _on_rollout_start(self) -> None:
        # A checkpoint at Ctrl-C is of this moment: the agent learns nothing from part of a rollout.
        self.trainer.done, self.trainer._moment = self.num_timesteps, self.trainer._now()

    def _on_step(self) -> bool:
        if self.n_calls % 20 == 0:
            self.watch.tick(training=self.trainer.env.recent_performance)
        return True

    def note(self, record: TrialRecord) -> bool:
        """Report a test; return True if training has to stop."""
        logged = self.trainer.model.logger.name_to_value if self.trainer.done else {}
        measured = {
            name: sign * float(logged[f"train/{key}"])
            for name, (key, sign) in DIAGNOSTICS.items()
            if f"train/{key}" in logged
        }
        done = self.trainer.done
        if done > self._done:
            measured["fps"] = (done - self._done) / (self.trainer.evaluation.began - self._since)
        ended = self.watch.point(record, **measured)
        self._since, self._done = time.perf_counter(), done
        return ended


class PPOTrainer(AgentTrainer):
    """Proximal policy optimisation with two layers and no memory.

    Schulman et al. (2017), arXiv:1707.06347.

    Args:
        batch: steps per minibatch.
        n_epochs: number of passes over each rollout.
        clip_range, target_kl: as in Stable-Baselines3.
        common: further settings, as in `AgentTrainer`.
    """

    algorithm = PPO
    memory = False

    def __init__(
        self,
        tasks: Any,
        *,
        batch: int = 128,
        n_epochs: int = 5,
        clip_range: float = 0.2,
        target_kl: float | None = None,
        **common: Any,
    ) -> None:
        self._batch, self._epochs = batch, n_epochs
        self._near = {"clip_range": clip_range, "target_kl": target_kl}
        super().__init__(tasks, **common)

    def _make_model(self) -> PPO:
        policy = {"net_arch": [self.hidden, self.hidden], **self._policy}
        own = {"batch_size": min(self._batch, self.rollout), "n_epochs": self._epochs}
        settings = own | self._near | self.settings
        return PPO("MlpPolicy", self.env, policy_kwargs=policy, **settings)


class A2CTrainer(AgentTrainer):
    """Advantage actor-critic with two layers and no memory.

    Mnih et al. (2016), arXiv:1602.01783.

    Args:
        n_steps, learning_rate, gae_lambda: as in `AgentTrainer`, with the defaults of
            Stable-Baselines3's A2C.
        common: further settings, as in `AgentTrainer`.
    """

    algorithm = A2C
    memory = False

    def __init__(
        self,
        tasks: Any,
        *,
        n_steps: int = 5,
        learning_rate: float = 7e-4,
        gae_lambda: float = 1.0,
        **common: Any,
    ) -> None:
        super().__init__(
            tasks, n_steps=n_steps, learning_rate=learning_rate, gae_lambda=gae_lambda, **common
        )

    def _make_model(self) -> A2C:
        policy = {"net_arch": [self.hidden, self.hidden], **self._policy}
        return A2C("MlpPolicy", self.env, policy_kwargs=policy, **self.settings)


class RecurrentPPOTrainer(AgentTrainer):
    """PPO with an LSTM, for tasks that need memory, as most in neuroscience do.

    With `a2c` it is advantage actor-critic with an LSTM: one epoch, one batch per rollout,
    gae_lambda 1, RMSprop. The policy that acts is then the one that is updated, so nothing is
    clipped and PPO reduces to A2C.

    The defaults were chosen by training (docs/agent-results.md): rollouts that hold several trials,
    enough entropy to leave the first thing that agents learn, which is never to act, and a
    gae_lambda that keeps rewards of later trials out of the advantage. A2C uses
    rollouts of 20 steps, as NeuroGym's example does, and learns from few updates if rewards of
    later trials count little (gamma 0.9). Its advantage is not normalised: while an agent never
    acts, the advantage is noise, which normalising would make as large as a reward. A2C learns
    fewer tasks than PPO, which is recommended.

    Args:
        batch: steps per minibatch (not with `a2c`, which uses whole rollouts); None: 512.
        n_epochs: number of passes over each rollout (with `a2c`: 1); None: 10.
        a2c: see above.
        n_steps, gamma, gae_lambda, ent_coef: None: 128, 0.99, 0.85 and 0.01; with `a2c` 20, 0.9, 1
            and 0.03.
        normalize_advantage: give the advantages of a minibatch mean 0 and SD 1; None: yes, but not
            with `a2c`.
        learning_rate: as in `AgentTrainer`.
        clip_range, target_kl: as in Stable-Baselines3; with `a2c` they change nothing.
        common: further settings, as in `AgentTrainer`.
    """

    algorithm = RecurrentPPO

    def __init__(
        self,
        tasks: Any,
        *,
        batch: int | None = None,
        n_epochs: int | None = None,
        a2c: bool = False,
        n_steps: int | None = None,
        learning_rate: float = 3e-3,
        gamma: float | None = None,
        gae_lambda: float | None = None,
        ent_coef: float | None = None,
        normalize_advantage: bool | None = None,
        clip_range: float = 0.2,
        target_kl: float | None = None,
        **common: Any,
    ) -> None:
        if a2c and not (batch is None and n_epochs is None):
            raise InvalidValueError(
                f"recurrent-ppo was given a2c=True with batch={batch!r}, n_epochs={n_epochs!r}; A2C"
                " uses each rollout once, as one batch. Leave them out."
            )
        self.a2c = a2c
        given = {
            "n_steps": n_steps, "gamma": gamma, "gae_lambda": gae_lambda, "ent_coef": ent_coef,
            "batch": batch, "n_epochs": n_epochs, "normalize_advantage": normalize_advantage,
        }  # fmt: skip
        defaults = A2C_DEFAULTS if a2c else PPO_DEFAULTS
        self.chosen = {name: value for name, value in defaults.items() if given[name] is None}
        own = given | self.chosen
        self._batch, self._epochs = own.pop("batch"), own.pop("n_epochs")
        self._normalize = own.pop("normalize_advantage")
        self._near = {"clip_range": clip_range, "target_kl": target_kl}
        super().__init__(tasks, learning_rate=learning_rate, **own, **common)

    def _make_model(self) -> RecurrentPPO:
        policy: dict[str, Any] = {"lstm_hidden_size": self.hidden, "net_arch": []}
        own = {"batch_size": self.rollout, "n_epochs": 1}
        if self.a2c:
            policy |= {
                "optimizer_class": torch.optim.RMSprop,
                "optimizer_kwargs": {"alpha": 0.99, "eps": 1e-5},
            }
        else:
            own = {"batch_size": min(self._batch, self.rollout), "n_epochs": self._epochs}
        own["normalize_advantage"] = self._normalize
        policy |= self._policy
        settings = own | self._near | self.settings
        return RecurrentPPO("MlpLstmPolicy", self.env, policy_kwargs=policy, **settings)
