"""Libraries of others make and train on tasks by their ids, as their own documentation does it.

Each test is skipped where its library is not installed: `pip install torchrl tianshou` adds them.
"""

from __future__ import annotations

import numpy as np
import pytest

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
    from neurogym_core import make_vec

    native = make_vec(
        ID.partition(":")[2], 3, autoreset_mode=mode, info="numeric", trials_per_session=2
    )
    env = envs.GymWrapper(native)
    steps = env.rollout(200, break_when_any_done=False)
    assert steps["observation"].shape == (3, 200, 3)
    assert int(steps["next", "done"].sum()) > 3


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
