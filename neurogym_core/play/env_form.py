"""`EnvForm`: how the core makes a class of Gymnasium envs, and what else that class offers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from neurogym_core.errors import unknown

if TYPE_CHECKING:
    import gymnasium
    import numpy as np

    from neurogym_core.play.dataset import Batch, Dataset
    from neurogym_core.trials.arrays import Array


class BatchSource(Protocol):
    """The batches of a `Dataset`.

    Attributes:
        n_inputs, n_outputs: what a network needs.
    """

    n_inputs: int
    n_outputs: int

    def next_batch(self) -> Batch:
        """The coming batch."""

    def encode(self, targets: Array) -> Array:
        """Targets in the form that ``Dataset(targets=…)`` asks for."""


class EnvForm:
    """What the core does with a task that is a class of Gymnasium envs.

    Every such class can be a task. One that offers more names an instance of a subclass of this in
    the class attribute `ngym_form`::

        class PixelForm(EnvForm):
            name = "a pixel env"

            def make(self, cls, params, seed):
                return cls(**params, generator=np.random.default_rng(seed))


        class Pixels(gymnasium.Env):
            ngym_form = PixelForm()

    Attributes:
        name: the kind of env, in errors; with its article.
        wrapper: the kind of wrapper that changes such envs, in errors.
        reports_trials: whether ``info`` has `new_trial`, `gt`, `performance` and, when a trial
            ends, its record as `trial`, as the envs of Tasks have; `ngym check` then checks them.
        batches: None, or a function of the env (with its wrappers), the `Dataset` and a
            `numpy.random.SeedSequence` that returns a `BatchSource`. `Dataset` calls it at first
            and on every `restart`; the settings are attributes of the dataset (`batch_size`,
            `seq_len`, `targets`).
    """

    name = "a plain Gymnasium env"
    wrapper = "gymnasium.Wrapper"
    reports_trials = False
    batches: Callable[[Any, Dataset, np.random.SeedSequence], BatchSource] | None = None

    def make(
        self, cls: type[gymnasium.Env[Any, Any]], params: Mapping[str, Any], seed: int | None
    ) -> gymnasium.Env[Any, Any]:
        """An env of the class.

        Args:
            cls: the class.
            params: the keywords given to `neurogym_core.make`, and `render_mode` if one is given.
            seed: of the random numbers until `reset` is given one; ignored here.
        """
        env: gymnasium.Env[Any, Any] = applied(cls, settings=params)
        return env


PLAIN = EnvForm()


def is_env_class(value: Any) -> bool:
    """Whether this is a class of Gymnasium envs, which a task may be instead of a `Task`."""
    import gymnasium  # this module is imported where nothing is made, and Gymnasium takes a while

    return isinstance(value, type) and issubclass(value, gymnasium.Env)


def form_of(cls: type) -> EnvForm:
    """The form of a class of Gymnasium envs: its `ngym_form`, or that of plain envs."""
    form: EnvForm = getattr(cls, "ngym_form", PLAIN)
    return form


def applied(wrapper: Callable[..., Any], *env: Any, settings: Mapping[str, Any]) -> Any:
    """Call a wrapper or an env class; an unknown setting is answered with those there are."""
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


__all__ = ["BatchSource", "EnvForm"]
