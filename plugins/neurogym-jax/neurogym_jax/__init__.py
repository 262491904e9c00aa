"""Tasks of neurogym-core as pure JAX environments, batches and PPO on the device, activity."""

from neurogym_jax.activity import record_activity
from neurogym_jax.dataset import Batch, DeviceDataset, Rows
from neurogym_jax.env import State, TaskEnv, make
from neurogym_jax.params import Decks, Params, key, why_not

__all__ = [
    "Batch",
    "Decks",
    "DeviceDataset",
    "Params",
    "Rows",
    "State",
    "TaskEnv",
    "key",
    "make",
    "record_activity",
    "why_not",
]
