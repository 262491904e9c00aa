"""`EnvForm`: how the core makes and supports envs of a class of Gymnasium envs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from neurogym_core.errors import unknown

if TYPE_CHECKING:
    from neurogym_core.play.dataset import Dataset


class EnvForm:
    """How the core handles a task that is a class of Gymnasium envs.

    Every class of Gymnasium envs can be a task. A class that supports more has an instance of a
    subclass of `EnvForm` in the class attribute `ngym_form`::

        class PixelForm(EnvForm):
            name = "a pixel env"

            def make(self, cls, params, seed):
                return cls(**params, generator=np.random.default_rng(seed))


        class Pixels(gymnasium.Env):
            ngym_form = PixelForm()

    Attributes:
        name: the env, with its article, for error messages.
        wrapper: the wrapper that changes such envs, for error messages.
        reports_trials: whether ``info`` has `new_trial`, `gt`, `performance` and, when a trial
            ends, its record as `trial`, like the envs of Tasks; `ngym check` then checks them.
        batches: None, or a function of the env (with its wrappers), the `Dataset` and a
            `numpy.random.SeedSequence` that returns their source: `n_inputs` and `n_outputs`, the
            units that a network needs, `next_batch()`, and `encode(targets)`, as that of the
            dataset. `Dataset` calls it when it is made and on every `restart`. It reads the
            settings from attributes of the dataset (`batch_size`, `seq_len`, `targets`).
    """

    name = "a plain Gymnasium env"
    wrapper = "gymnasium.Wrapper"
    reports_trials = False
    batches: Callable[[Any, Dataset, np.random.SeedSequence], Any] | None = None

    def make(
        self, cls: type[gymnasium.Env[Any, Any]], params: Mapping[str, Any], seed: int | None
    ) -> gymnasium.Env[Any, Any]:
        """Return an env of the class.

        Args:
            cls: the class.
            params: the keywords of `neurogym_core.make`, and `render_mode` if one is given.
            seed: seed until `reset` is given one; plain Gymnasium envs ignore it.
        """
        env: gymnasium.Env[Any, Any] = applied(cls, settings=params)
        return env


PLAIN = EnvForm()


def is_env_class(value: Any) -> bool:
    """Return whether a value is a class of Gymnasium envs, which can be a task like a `Task`."""
    return isinstance(value, type) and issubclass(value, gymnasium.Env)


def form_of(cls: type) -> EnvForm:
    """Return the form of a class of Gymnasium envs: its `ngym_form`, or that of plain envs."""
    form: EnvForm = getattr(cls, "ngym_form", PLAIN)
    return form


def applied(wrapper: Callable[..., Any], *env: Any, settings: Mapping[str, Any]) -> Any:
    """Call a wrapper or an env class; the error for an unknown setting lists the known ones."""
    try:
        return wrapper(*env, **settings)
    except TypeError as error:
        known = [
            name
            for name in inspect.signature(wrapper).parameters
            if name not in ("env", "args", "kwargs")
        ]
        strange = [name for name in settings if name not in known]
        if "unexpected keyword" not in str(error) or not strange:
            raise
        raise unknown("parameter", strange[0], known, of=wrapper.__name__) from None
