"""Tasks of neurogym-core as pure JAX environments, batches on the device, and PPO on the device."""

from neurogym_jax.env import State, TaskEnv, make
from neurogym_jax.params import Decks, Params, key, why_not

__all__ = ["Decks", "Params", "State", "TaskEnv", "key", "make", "why_not"]
