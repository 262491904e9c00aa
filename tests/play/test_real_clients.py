"""Libraries of others make and train on tasks by their ids, as their own documentation does it.

Each test is skipped where its library is not installed: `pip install torchrl tianshou 'ray[rllib]'`
adds them; RLlib wants another Gymnasium than TorchRL, and so a separate environment.
Those of Gymnasium are in test_gymnasium_wrappers.py, those of Stable-Baselines3 in neurogym-sb3.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from neurogym_core import Choice, Task, make_vec

pytest.importorskip("neurogym_task_perceptual")
pytestmark = pytest.mark.slow

ID = "neurogym_core.gym:perceptual/PerceptualDecisionMaking-v0"


def test_torchrl_makes_an_env_from_an_id():
    envs = pytest.importorskip("torchrl.envs", reason="TorchRL is not installed")
    env = envs.GymEnv(ID)
    envs.check_env_specs(env)
    assert env.rollout(60)["observation"].shape == (60, 3)


def test_torchrl_stores_numeric_infos():
    envs = pytest.importorskip("torchrl.envs", reason="TorchRL is not installed")
    env = envs.GymEnv(ID, info="numeric").auto_register_info_dict()
    steps = env.rollout(100)
    assert int(steps["next", "new_trial"].sum()) > 2
    assert {"gt", "period", "performance"} <= set(steps["next"].keys())
    assert set(steps["next", "new_trial"].unique().tolist()) == {0, 1}


def test_torchrl_makes_several_envs_from_an_id():
    envs = pytest.importorskip("torchrl.envs", reason="TorchRL is not installed")
    env = envs.GymEnv(ID, num_envs=2, info="numeric")
    try:
        assert env.rollout(60)["observation"].shape == (2, 60, 3)
    finally:
        env.close()


@pytest.mark.parametrize("mode", ["SameStep", "Disabled"])
def test_torchrl_wraps_the_native_vector_env(mode):
    envs = pytest.importorskip("torchrl.envs", reason="TorchRL is not installed")
    native = make_vec(
        ID.partition(":")[2], 3, autoreset_mode=mode, info="numeric", trials_per_session=2
    )
    env = envs.GymWrapper(native)
    steps = env.rollout(200, break_when_any_done=False)
    assert steps["observation"].shape == (3, 200, 3)
    assert int(steps["next", "done"].sum()) > 3


def test_torchrl_takes_no_vector_env_that_resets_in_the_next_step():
    """It refuses this mode of every library, since the step of the reset is no transition: theirs
    and ours alike, before anything is played. The first version that takes it fails this test.
    """
    envs = pytest.importorskip("torchrl.envs", reason="TorchRL is not installed")
    import gymnasium

    ours = make_vec(ID.partition(":")[2], 2, autoreset_mode="NextStep", info="numeric")
    theirs = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")
    for native in (ours, theirs):
        assert native.metadata["autoreset_mode"].value == "NextStep"
        with pytest.raises(RuntimeError, match="must be one of SAME_STEP or DISABLED"):
            envs.GymWrapper(native)


@pytest.mark.parametrize("mode", ["SameStep", "Disabled"])
def test_torchrl_learns_with_a_memory(mode):
    """Its PPO loss, LSTM and collector, with eight envs of the native vector env."""
    envs = pytest.importorskip("torchrl.envs", reason="TorchRL is not installed")
    pytest.importorskip("neurogym_task_memory")
    import torch
    from tensordict.nn import TensorDictModule, TensorDictSequential
    from torchrl.collectors import Collector
    from torchrl.modules import LSTMModule, ProbabilisticActor, set_recurrent_mode
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

    torch.manual_seed(0)
    native = make_vec("GoNogo-v0", 8, autoreset_mode=mode, info="numeric", trials_per_session=20)
    size, choices = native.single_observation_space.shape[0], int(native.single_action_space.n)
    lstm = LSTMModule(input_size=size, hidden_size=64, in_key="observation", out_key="embed")
    wrapped = envs.GymWrapper(native, categorical_action_encoding=True)
    if mode == "Disabled":  # in the other mode, TorchRL has registered the infos itself
        wrapped = wrapped.auto_register_info_dict()
    env = envs.TransformedEnv(
        wrapped,
        envs.Compose(envs.InitTracker(), lstm.make_tensordict_primer()),
    )
    env.set_seed(0)
    head, value = (
        TensorDictModule(torch.nn.Linear(64, out), ["embed"], [key])
        for out, key in ((choices, "logits"), (1, "state_value"))
    )
    actor = ProbabilisticActor(
        TensorDictSequential(lstm, head),
        in_keys=["logits"],
        distribution_class=torch.distributions.Categorical,
        return_log_prob=True,
    )
    critic = TensorDictSequential(lstm, value)
    advantages = GAE(gamma=0.9, lmbda=0.95, value_network=critic, shifted=True)
    loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01)
    parameters = [*lstm.parameters(), *head.parameters(), *value.parameters()]
    optimizer = torch.optim.Adam(parameters, 3e-3)
    performance = []
    for data in Collector(env, actor, frames_per_batch=8 * 128, total_frames=8 * 128 * 30):
        for _ in range(4):
            with torch.no_grad(), set_recurrent_mode(True):
                advantages(data)
            for rows in torch.randperm(8).split(4):
                with set_recurrent_mode(True):
                    parts = loss(data[rows])
                optimizer.zero_grad()
                sum(part for key, part in parts.items() if key.startswith("loss")).backward()
                torch.nn.utils.clip_grad_norm_(parameters, 0.5)
                optimizer.step()
        ended = data["next", "new_trial"].bool()
        performance.append(float(data["next", "performance"][ended].float().mean()))
    assert performance[0] < 0.7
    # Of trials with sampled actions; the batches 11, 16, 21 and 26 had 0.93 to 1.
    assert np.mean(performance[-10:]) > 0.8


def test_tianshou_collects_steps_with_numeric_infos():
    data = pytest.importorskip("tianshou.data", reason="Tianshou is not installed")
    import gymnasium
    from tianshou.algorithm.algorithm_base import Policy
    from tianshou.env import DummyVectorEnv

    class Random(Policy):
        def forward(self, batch, state=None, **kwargs):
            return data.Batch(act=np.array([self.action_space.sample() for _ in batch.obs]))

    envs = DummyVectorEnv([lambda: gymnasium.make(ID, info="numeric")] * 3)
    buffer = data.VectorReplayBuffer(3000, 3)
    collector = data.Collector(Random(action_space=envs.action_space[0]), envs, buffer)
    collector.reset()
    collector.collect(n_step=900)
    assert len(buffer) == 900
    ended = buffer.info.new_trial[:300] == 1
    assert ended.sum() > 5
    assert np.isfinite(buffer.info.performance).all()
    assert (buffer.info.trial_steps[:300][ended] > 0).all()


def test_tianshou_learns():
    """Its PPO, from parts, with eight envs made from the id; the motion can be seen while it asks.

    Its high-level interface was not tried.
    """
    data = pytest.importorskip("tianshou.data", reason="Tianshou is not installed")
    pytest.importorskip("neurogym_task_perceptual")
    import gymnasium
    import torch
    from tianshou.algorithm import PPO
    from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.env import DummyVectorEnv
    from tianshou.utils.net.common import Net
    from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic
    from tianshou.utils.torch_utils import policy_within_training_step

    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002 - Tianshou draws from it
    settings = {"info": "numeric", "conditions": {"coherence": 51.2}, "trials_per_session": 20}
    dots = "neurogym_core.gym:perceptual/RoitmanShadlen-v0"
    envs = DummyVectorEnv([lambda: gymnasium.make(dots, **settings)] * 8)
    envs.seed(1)
    space, shape = envs.action_space[0], envs.observation_space[0].shape
    policy = ProbabilisticActorPolicy(
        actor=DiscreteActor(
            preprocess_net=Net(state_shape=shape, hidden_sizes=[64]),
            action_shape=space.n,
            softmax_output=False,
        ),
        dist_fn=lambda logits: torch.distributions.Categorical(logits=logits),
        action_space=space,
        action_scaling=False,
    )
    critic = DiscreteCritic(preprocess_net=Net(state_shape=shape, hidden_sizes=[64]))
    algorithm = PPO(
        policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=3e-3), gamma=0.9,
        max_grad_norm=0.5,
    )  # fmt: skip
    collector = data.Collector(algorithm, envs, data.VectorReplayBuffer(2048, 8))
    collector.reset()
    performance = []
    for _ in range(30):
        collector.collect(n_step=2048)
        ended = np.asarray(collector.buffer.info.new_trial) == 1
        performance.append(np.asarray(collector.buffer.info.performance)[ended].mean())
        with policy_within_training_step(policy):
            algorithm.update(buffer=collector.buffer, batch_size=256, repeat=4)
        collector.reset_buffer()
    assert performance[0] < 0.65
    assert np.mean(performance[-10:]) > 0.8  # of about 500 trials, with sampled actions


def test_rllib_learns():
    """Its PPO, with eight envs made from the id; the motion can be seen while it asks."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    ppo = pytest.importorskip("ray.rllib.algorithms.ppo", reason="RLlib is not installed")
    import gymnasium
    from ray.tune.registry import register_env

    settings = {"conditions": {"coherence": 51.2}, "trials_per_session": 20}
    dots = "neurogym_core.gym:perceptual/RoitmanShadlen-v0"
    register_env("dots", lambda config: gymnasium.make(dots, **settings))
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        algorithm = (
            ppo.PPOConfig()
            .environment("dots")
            .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
            .training(
                train_batch_size=2048, minibatch_size=256, num_epochs=4, lr=3e-3, gamma=0.9,
                vf_loss_coeff=0.5,
            )
            .rl_module(model_config={"fcnet_hiddens": [64]})
            .debugging(seed=1, log_level="ERROR")
            .build_algo()
        )  # fmt: skip
        returns = [
            algorithm.train()["env_runners"].get("episode_return_mean", np.nan) for _ in range(40)
        ]
        algorithm.stop()
    finally:
        ray.shutdown()
    # Of a session of 20 trials: 1 for a correct answer, 0 for an error, -0.1 for an early one.
    assert np.nanmean(returns[:5]) < 0.6 * 20
    assert np.nanmean(returns[-10:]) > 0.8 * 20


class Lights(Task):
    """The light that is on is the right answer; resting is right before."""

    timing: ClassVar = {"wait": 200, "light": 200}
    trials_per_session: int | None = 20

    def define(self):
        self.observe(light=2)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("wait", "light")
        trial.show("light", np.eye(2)[trial["side"]], during="light", noise=0.5)
        trial.hold(during="wait")
        trial.answer("choose", trial["side"], during="light")


def test_a_loop_of_proximal_policy_optimisation_learns():
    """The loop is that of single-file implementations: nothing but Gymnasium's interface."""
    torch = pytest.importorskip("torch")
    from gymnasium.wrappers.vector import RecordEpisodeStatistics

    torch.manual_seed(0)
    envs = RecordEpisodeStatistics(make_vec(Lights, 16, autoreset_mode="SameStep"))
    size, choices = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    actor, critic = (
        torch.nn.Sequential(torch.nn.Linear(size, 32), torch.nn.Tanh(), torch.nn.Linear(32, out))
        for out in (choices, 1)
    )
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], 3e-3)
    seen = torch.as_tensor(envs.reset(seed=1)[0])
    performance, returns = [], []
    for _ in range(60):
        rows = []
        with torch.no_grad():
            for _ in range(32):
                chances = torch.distributions.Categorical(logits=actor(seen))
                action = chances.sample()
                value, said = critic(seen)[:, 0], chances.log_prob(action)
                coming, reward, terminated, truncated, info = envs.step(action.numpy())
                over = torch.as_tensor(terminated | truncated)
                rows.append((seen, action, said, value, torch.as_tensor(reward), over))
                seen = torch.as_tensor(coming)
                ended = info.get("final_info", info)
                if "performance" in ended:
                    performance += ended["performance"][ended["_performance"]].tolist()
                if "episode" in info:
                    returns += info["episode"]["r"][info["_episode"]].tolist()
            following, advantage = critic(seen)[:, 0], torch.zeros(16)
            advantages = []
            for *_, value, reward, over in reversed(rows):
                delta = reward + 0.9 * following * ~over - value
                advantage = delta + 0.9 * 0.95 * advantage * ~over
                following = value
                advantages.insert(0, advantage)
        observations, actions, said, values = (
            torch.cat([row[part] for row in rows]) for part in range(4)
        )
        gains = torch.cat(advantages).float()
        aims, gains = gains + values, (gains - gains.mean()) / (gains.std() + 1e-8)
        for _ in range(4):
            chances = torch.distributions.Categorical(logits=actor(observations))
            ratio = (chances.log_prob(actions) - said).exp()
            loss = -torch.min(ratio * gains, ratio.clamp(0.8, 1.2) * gains).mean()
            loss = loss + 0.5 * (critic(observations)[:, 0] - aims).pow(2).mean()
            loss = loss - 0.01 * chances.entropy().mean()
            optimizer.zero_grad()
            loss.float().backward()
            optimizer.step()
    assert np.mean(performance[:200]) < 0.6
    assert np.mean(performance[-500:]) > 0.9
    assert np.mean(returns[-20:]) > np.mean(returns[:20]) + 5


def test_a_loop_of_recurrent_proximal_policy_optimisation_learns():
    """As in single-file implementations with an LSTM, of nothing but Gymnasium's interface: the
    state is reset where a session ends, and rollouts are replayed from their first state.
    """
    torch = pytest.importorskip("torch")
    pytest.importorskip("neurogym_task_memory")
    torch.manual_seed(0)
    n, steps, units = 16, 64, 32
    envs = make_vec("GoNogo-v0", n, autoreset_mode="SameStep", trials_per_session=20)
    size, choices = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    cell = torch.nn.LSTMCell(size, units)
    heads = torch.nn.Linear(units, choices + 1)
    parameters = [*cell.parameters(), *heads.parameters()]
    optimizer = torch.optim.Adam(parameters, 3e-3)

    def step(seen, begins, state):
        kept = (1.0 - begins)[:, None]
        state = cell(seen, (state[0] * kept, state[1] * kept))
        out = heads(state[0])
        return torch.distributions.Categorical(logits=out[:, :-1]), out[:, -1], state

    seen = torch.as_tensor(envs.reset(seed=1)[0])
    begins, state = torch.zeros(n), (torch.zeros(n, units),) * 2
    performance = []
    for _ in range(60):
        first, rows, scored = state, [], []
        with torch.no_grad():
            for _ in range(steps):
                chances, value, state = step(seen, begins, state)
                action = chances.sample()
                coming, reward, terminated, truncated, info = envs.step(action.numpy())
                over = torch.as_tensor(terminated | truncated).float()
                said = chances.log_prob(action)
                rows.append((seen, begins, action, said, value, torch.as_tensor(reward), over))
                seen, begins = torch.as_tensor(coming), over
                for part in (info, info.get("final_info", {})):
                    if "performance" in part:
                        scored += part["performance"][part["_performance"]].tolist()
            following, advantage = step(seen, begins, state)[1], torch.zeros(n)
            advantages = []
            for *_, value, reward, over in reversed(rows):
                delta = reward + 0.9 * following * (1 - over) - value
                advantage = delta + 0.9 * 0.95 * advantage * (1 - over)
                following = value
                advantages.insert(0, advantage)
        performance.append(np.mean(scored))
        wanted = torch.stack(advantages)
        targets = wanted + torch.stack([row[4] for row in rows])
        wanted = (wanted - wanted.mean()) / (wanted.std() + 1e-8)
        for _ in range(4):
            now, loss = first, 0.0
            for k, (seen_k, begins_k, action, said, *_) in enumerate(rows):
                chances, value, now = step(seen_k, begins_k, now)
                ratio = (chances.log_prob(action) - said).exp()
                clipped = ratio.clamp(0.8, 1.2)
                loss = loss - torch.min(ratio * wanted[k], clipped * wanted[k]).mean()
                loss = loss + 0.5 * ((value - targets[k]) ** 2).mean()
                loss = loss - 0.01 * chances.entropy().mean()
            optimizer.zero_grad()
            (loss / steps).backward()
            torch.nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
    assert performance[0] < 0.7
    assert np.mean(performance[-10:]) > 0.8, performance
