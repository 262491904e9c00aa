"""Trainings to a criterion, each in a new process: ``python -m benchmarks.criterion REQUEST``.

`to_criterion.py` sends requests (JSON) and keeps the answers. Processes run in this project's
environment or in the peer's, so this module imports the standard library only; each way of training
imports its own libraries, before its clock starts.

Networks that learn from targets have 64 GRU units on both sides, the same learning rate, and tests
after as many updates on as many trials. All periods have fixed durations, and a trial is correct if
the most probable action of its last step is the target. Agents have the settings of `recurrent-ppo`
on both sides.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

HIDDEN, RATE, ROWS, STEPS = 64, 5e-3, 16, 100
"""Units, learning rate, and rows and steps of a batch of the loops."""
TEST_EVERY, TEST_TRIALS, UPDATES = 25, 500, 4000
"""Updates between tests, trials of a test, and updates after which a training has failed."""
AGENT_TEST_EVERY, AGENT_STEPS = 5_000, 300_000
AGENT = {
    "n_steps": 128, "n_epochs": 10, "gamma": 0.99, "gae_lambda": 0.85, "ent_coef": 0.01,
    "learning_rate": 1e-3,
}  # fmt: skip
AGENT_ENVS, AGENT_BATCH = 16, 512


class Goal(NamedTuple):
    """A task of both sides.

    Attributes:
        criterion: share of the trials of a test that have to be correct; ours.
        timing: durations of periods, ms, by the peer's names.
        peer, core: further parameters.
        names: names of periods that are others here.
    """

    criterion: float
    timing: Mapping[str, int]
    peer: Mapping[str, Any]
    core: Mapping[str, Any]
    names: Mapping[str, str]

    def ours(self) -> dict[str, Any]:
        """Return the parameters of our task."""
        timing = {self.names.get(name, name): value for name, value in self.timing.items()}
        return {"dt": 100, "timing": timing, **self.core}


def _goal(
    criterion: float, timing: str, names: str = "", *, core: Mapping[str, Any] | None = None,
    peer: Mapping[str, Any] | None = None, **both: Any,
) -> Goal:  # fmt: skip
    """Return a goal, with the durations as ``"name=ms …"`` and the names as ``"theirs=ours …"``."""
    durations, others = (dict(one.split("=") for one in words.split()) for words in (timing, names))
    fixed = {name: int(value) for name, value in durations.items()}
    return Goal(criterion, fixed, {**both, **(peer or {})}, {**both, **(core or {})}, others)


SUPERVISED = {
    "PerceptualDecisionMaking": _goal(
        0.85, "fixation=300 stimulus=2000 delay=0 decision=300",
        core={"coherences": (0, 6.4, 12.8, 25.6, 51.2)}, sigma=1.0,
    ),
    "ContextDecisionMaking": _goal(
        0.85, "fixation=300 stimulus=800 delay=600 decision=300", sigma=1.0
    ),
    "MultiSensoryIntegration": _goal(0.85, "fixation=300 stimulus=800 decision=300", sigma=1.0),
    "PerceptualDecisionMakingDelayResponse": _goal(
        0.85, "fixation=300 stimulus=1200 delay=500 decision=1500", sigma=1.0
    ),
    "DelayMatchSample": _goal(
        0.9, "fixation=300 sample=500 delay=1000 test=500 decision=900", sigma=1.0
    ),
    "DelayComparison": _goal(
        0.85, "fixation=500 stimulus1=500 delay=1000 stimulus2=500 decision=300", sigma=1.0
    ),
    "DelayPairedAssociation": _goal(
        0.9,
        "fixation=300 stim1=1000 delay_btw_stim=1000 stim2=1000 delay_aft_stim=1000 decision=500",
        "stim1=stimulus1 delay_btw_stim=delay1 stim2=stimulus2 delay_aft_stim=delay2",
        sigma=1.0,
    ),
    "ProbabilisticReasoning": _goal(
        0.8,
        "fixation=500 delay=500 decision=500"
        " stimulus0=500 stimulus1=500 stimulus2=500 stimulus3=500",
        "stimulus0=stimulus1 stimulus1=stimulus2 stimulus2=stimulus3 stimulus3=stimulus4",
    ),
    "GoNogo": _goal(0.95, "fixation=300 stimulus=500 delay=500 decision=500"),
    "AntiReach": _goal(0.9, "fixation=500 stimulus=500 delay=0 decision=500"),
}  # fmt: skip
"""Ten of the tasks that both libraries have; the choice and the criteria are ours."""
AGENTS = {
    "PerceptualDecisionMaking": _goal(
        0.8, "fixation=300 stimulus=500 delay=0 decision=300",
        core={"coherences": (12.8, 25.6, 51.2)}, peer={"cohs": [12.8, 25.6, 51.2]}, sigma=1.0,
    ),
    "ContextDecisionMaking": _goal(
        0.8, "fixation=300 stimulus=800 delay=300 decision=300", sigma=1.0
    ),
    "GoNogo": _goal(0.8, "fixation=300 stimulus=500 delay=500 decision=500"),
}  # fmt: skip
"""Three tasks of agents. A trial with a broken fixation counts 0 here, and nothing in NeuroGym."""


def digest(task: str, way: str) -> str:
    """Return a short hash of the settings of a training, which stored ones have to share."""
    goal = SUPERVISED[task] if way in ("peer", "loop", "trainer", "jax") else AGENTS[task]
    settings = [HIDDEN, RATE, ROWS, STEPS, TEST_EVERY, TEST_TRIALS, UPDATES, AGENT_TEST_EVERY]
    said = [*settings, AGENT_STEPS, AGENT, AGENT_ENVS, AGENT_BATCH, *goal]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:8]


class Clock:
    """CPU and wall seconds since the libraries were imported."""

    def __init__(self) -> None:
        self.ready = time.process_time()
        self._cpu, self._wall = self.ready, time.perf_counter()

    def answer(self, met: Sequence[bool], done: Sequence[int], *libraries: str) -> dict[str, Any]:
        """Return the result of a training, for JSON; "cpu" is without the imports ("ready")."""
        from importlib.metadata import version

        return {
            "met": [bool(one) for one in met], "done": [int(one) for one in done],
            "cpu": round(time.process_time() - self._cpu, 2), "ready": round(self.ready, 2),
            "wall": round(time.perf_counter() - self._wall, 2),
            "versions": {name: version(name) for name in ("numpy", *libraries)},
        }  # fmt: skip


def import_torch() -> Any:
    """Return torch with one thread, after the imports that the first step of an optimizer makes."""
    import torch

    torch.set_num_threads(1)
    weight = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.Adam([weight])
    weight.sum().backward()
    optimizer.step()
    return torch


# ---------------------------------------------------------------------- targets


def learned(
    batch: Callable[[], Any], test: Callable[[Any], float], sizes: Sequence[int], goal: Goal,
    seed: int,
) -> tuple[bool, int]:  # fmt: skip
    """Train a GRU of torch in the loop of NeuroGym's tutorials.

    Returns whether it met the criterion, and the number of its updates.

    Args:
        batch: returns inputs (B, T, n_inputs) and targets (B, T), as tensors.
        test: the share of correct trials of a network.
        sizes: inputs and outputs.
    """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cells = nn.GRU(sizes[0], HIDDEN, batch_first=True)
            self.readout = nn.Linear(HIDDEN, sizes[1])

        def forward(self, inputs: Any) -> Any:
            return self.readout(self.cells(inputs)[0])

    torch.manual_seed(seed)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    loss_of = nn.CrossEntropyLoss()
    for update in range(1, UPDATES + 1):
        inputs, targets = batch()
        loss = loss_of(net(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % TEST_EVERY == 0:
            with torch.no_grad():
                if test(net) >= goal.criterion:
                    return True, update
    return False, UPDATES


def peer(task: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The loop on NeuroGym's `Dataset`."""
    import neurogym
    import numpy as np

    torch = import_torch()
    clock, goal, [seed] = Clock(), SUPERVISED[task], seeds
    settings = {"dt": 100, "timing": dict(goal.timing), **goal.peer}
    data = neurogym.Dataset(
        f"{task}-v0", env_kwargs=settings, batch_size=ROWS, seq_len=STEPS, batch_first=True
    )
    data.seed(1000 * seed)
    data._cache()  # the first trials were drawn without a seed
    env = neurogym.make(f"{task}-v0", **settings).unwrapped
    env.reset()
    env.seed(1_000_000 + seed)

    def batch() -> Any:
        inputs, targets = data()
        return torch.from_numpy(inputs).float(), torch.from_numpy(targets).long()

    def test(net: Any) -> float:
        inputs, targets = [], []
        for _ in range(TEST_TRIALS):
            env.new_trial()
            inputs.append(env.ob)
            targets.append(env.gt[-1])
        answers = net(torch.from_numpy(np.stack(inputs)).float())[:, -1].argmax(-1).numpy()
        return float(np.mean(answers == np.array(targets)))

    sizes = (env.observation_space.shape[0], env.action_space.n)
    met, done = learned(batch, test, sizes, goal, seed)
    return clock.answer([met], [done], "neurogym", "torch")


def _core(task: str, goal: Goal) -> Any:
    from neurogym_core import make_task

    return make_task(f"{task}-v0", **goal.ours())


def loop(task: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The same loop on `TorchDataset`."""
    from neurogym_torch import TorchDataset

    import_torch()
    clock, goal, [seed] = Clock(), SUPERVISED[task], seeds
    chosen = _core(task, goal)
    data = TorchDataset(chosen, ROWS, STEPS, seed=seed, split="train")
    tests = TorchDataset(chosen, TEST_TRIALS, seed=seed, split="test")

    def batch() -> Any:
        one = next(data)
        return one.inputs, one.targets

    def test(net: Any) -> float:
        one = next(tests)
        return float((net(one.inputs)[:, -1].argmax(-1) == one.targets[:, -1]).float().mean())

    met, done = learned(batch, test, (data.n_inputs, data.n_outputs), goal, seed)
    return clock.answer([met], [done], "torch")


def trainer(task: str, seeds: Sequence[int]) -> dict[str, Any]:
    """Our trainer, with all seeds at once (`train_together`)."""
    from neurogym_torch import train_together
    from neurogym_torch.trainers import GRUTrainer

    import_torch()
    clock, goal = Clock(), SUPERVISED[task]
    trainers = [
        GRUTrainer(
            _core(task, goal), seed=seed, hidden=HIDDEN, learning_rate=RATE, answers="last",
            test_every=TEST_EVERY, test_trials=TEST_TRIALS, threads=1,
        )
        for seed in seeds
    ]  # fmt: skip
    ends = train_together(trainers, UPDATES, criterion=goal.criterion)
    met, done = [end == "criterion" for end in ends], [one.done for one in trainers]
    return clock.answer(met, done, "torch")


def jax(task: str, seeds: Sequence[int]) -> dict[str, Any]:
    """A GRU of JAX and all seeds at once, on `DeviceDataset`: the updates between two tests are one
    program.

    All networks learn until the last one has met the criterion.
    """
    import jax as j
    import jax.numpy as np
    from neurogym_jax import DeviceDataset

    clock, goal = Clock(), SUPERVISED[task]
    data, tests = (
        DeviceDataset(_core(task, goal), rows, None, split=split)
        for rows, split in ((64, "train"), (TEST_TRIALS, "test"))
    )
    n_in, n_out = data.n_inputs, data.n_outputs

    def first(key: Any) -> dict[str, Any]:
        keys, bound = j.random.split(key, 3), HIDDEN**-0.5  # the bounds of torch
        shapes = {"inputs": (n_in + 1, 3 * HIDDEN), "cells": (HIDDEN + 1, 3 * HIDDEN),
                  "readout": (HIDDEN + 1, n_out)}  # fmt: skip
        return {
            name: j.random.uniform(one, shape, minval=-bound, maxval=bound)
            for one, (name, shape) in zip(keys, shapes.items(), strict=True)
        }

    def unroll(net: dict[str, Any], inputs: Any) -> Any:
        drive = inputs @ net["inputs"][:-1] + net["inputs"][-1]

        def step(rates: Any, now: Any) -> Any:
            own = rates @ net["cells"][:-1] + net["cells"][-1]
            (reset, kept, new), (r, z, n) = np.split(now, 3, -1), np.split(own, 3, -1)
            keep = j.nn.sigmoid(kept + z)
            rates = keep * rates + (1 - keep) * np.tanh(new + j.nn.sigmoid(reset + r) * n)
            return rates, rates

        rates = j.lax.scan(step, np.zeros((len(inputs), HIDDEN)), drive.swapaxes(0, 1))[1]
        return rates.swapaxes(0, 1) @ net["readout"][:-1] + net["readout"][-1]

    def loss(net: dict[str, Any], batch: Any) -> Any:
        logs = j.nn.log_softmax(unroll(net, batch.inputs))
        return -np.take_along_axis(logs, batch.targets[..., None], -1).mean()

    def update(state: Any, params: Any) -> Any:
        net, means, squares, number, rows = state
        rows, batch = data.next(rows, params)
        gradient, number = j.grad(loss)(net, batch), number + 1
        means = j.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, gradient)
        squares = j.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, squares, gradient)
        net = j.tree.map(
            lambda w, m, s: w - RATE * m / (1 - 0.9**number)
            / (np.sqrt(s / (1 - 0.999**number)) + 1e-8),
            net, means, squares,
        )  # fmt: skip
        return net, means, squares, number, rows

    def chunk(state: Any, tested: Any, params: Any, shown: Any) -> Any:
        state = j.lax.scan(lambda s, _: (update(s, params), None), state, None, TEST_EVERY)[0]
        tested, batch = tests.next(tested, shown)
        answers = unroll(state[0], batch.inputs)[:, -1].argmax(-1)
        return state, tested, (answers == batch.targets[:, -1]).mean()

    keys = np.stack([j.random.PRNGKey(seed) for seed in seeds])
    nets = j.vmap(first)(keys)
    zeros = j.tree.map(np.zeros_like, nets)
    state = (nets, zeros, zeros, np.zeros(len(keys)), j.vmap(data.init)(keys))
    tested = j.vmap(tests.init)(keys)
    run = j.jit(j.vmap(chunk, (0, 0, None, None)))
    decks, shown = data.decks(seeds[0]), tests.params
    done: dict[int, int] = {}
    for number in range(TEST_EVERY, UPDATES + 1, TEST_EVERY):
        state, tested, correct = run(state, tested, next(decks), shown)
        for k in range(len(seeds)):
            if float(correct[k]) >= goal.criterion:
                done.setdefault(k, number)
        if len(done) == len(seeds):
            break
    found = [done.get(k, UPDATES) for k in range(len(seeds))]
    return clock.answer([k in done for k in range(len(seeds))], found, "jax")


# ---------------------------------------------------------------------- rewards


def peer_sb3(task: str, seeds: Sequence[int]) -> dict[str, Any]:
    """RecurrentPPO on NeuroGym's envs."""
    import neurogym
    import numpy as np
    from sb3_contrib import RecurrentPPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import DummyVecEnv

    import_torch()
    clock, goal, [seed] = Clock(), AGENTS[task], seeds
    settings = {"dt": 100, "timing": dict(goal.timing), **goal.peer}

    def envs(first: int) -> Any:
        made = DummyVecEnv([lambda: neurogym.make(f"{task}-v0", **settings)] * AGENT_ENVS)
        for k, env in enumerate(made.envs):
            env.unwrapped.seed(first + k)
        return made

    model = RecurrentPPO(
        "MlpLstmPolicy", envs(1000 * seed), seed=seed, batch_size=AGENT_BATCH,
        normalize_advantage=True, policy_kwargs={"lstm_hidden_size": HIDDEN}, device="cpu", **AGENT,
    )  # fmt: skip
    tests, met = envs(1_000_000 + 1000 * seed), []

    def accuracy() -> float:
        seen, state, begins, scores = tests.reset(), None, np.ones(AGENT_ENVS, bool), []
        while len(scores) < TEST_TRIALS:
            actions, state = model.predict(seen, state, begins, deterministic=True)
            seen, _, begins, infos = tests.step(actions)
            scores += [one["performance"] for one in infos if one.get("new_trial")]
        return float(np.mean(scores))

    class Tests(BaseCallback):
        last = 0

        def _on_step(self) -> bool:
            return True

        def _on_rollout_start(self) -> None:
            if self.num_timesteps - self.last >= AGENT_TEST_EVERY:
                self.last = self.num_timesteps
                if accuracy() >= goal.criterion:
                    met.append(self.num_timesteps)
                    raise StopIteration

    with contextlib.suppress(StopIteration):
        model.learn(AGENT_STEPS, Tests())
    libraries = ("neurogym", "torch", "stable-baselines3", "sb3-contrib", "gymnasium")
    return clock.answer([bool(met)], [model.num_timesteps], *libraries)


def _agent(task: str, algo: str, options: Mapping[str, Any], *libraries: str) -> dict[str, Any]:
    from neurogym_training.trainers import trainer_named

    made, goal = trainer_named(algo), AGENTS[task]
    if "torch" in libraries:
        import_torch()
    clock = Clock()
    agent = made(_core(task, goal), hidden=HIDDEN, test_every=AGENT_TEST_EVERY,
                 test_trials=TEST_TRIALS, **options)  # fmt: skip
    met = agent.train(AGENT_STEPS, criterion=goal.criterion) == "criterion"
    seeds = options.get("seeds", 1)
    return clock.answer([met] * seeds, [agent.done] * seeds, *libraries, "gymnasium")


def sb3(task: str, seeds: Sequence[int]) -> dict[str, Any]:
    """`recurrent-ppo` of neurogym-sb3."""
    own = {**AGENT, "envs": AGENT_ENVS, "batch": AGENT_BATCH, "threads": 1}
    return _agent(task, "recurrent-ppo", {"seed": seeds[0], **own},
                  "torch", "stable-baselines3", "sb3-contrib")  # fmt: skip


def jax_ppo(task: str, seeds: Sequence[int]) -> dict[str, Any]:
    """`jax-ppo` of neurogym-jax, with all seeds at once."""
    return _agent(task, "jax-ppo", {"seed": seeds[0], "seeds": len(seeds), "n_steps": 32}, "jax")


WAYS: Mapping[str, Callable[[str, Sequence[int]], dict[str, Any]]] = {
    "peer": peer, "loop": loop, "trainer": trainer, "jax": jax,
    "peer-sb3": peer_sb3, "sb3": sb3, "jax-ppo": jax_ppo,
}  # fmt: skip

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    request = json.loads(sys.argv[1])
    print(json.dumps(WAYS[request["way"]](request["task"], request["seeds"])))
