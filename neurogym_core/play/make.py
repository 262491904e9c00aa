"""`make`, `make_vec` and `make_task`: make envs and tasks from an id."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import VectorWrapper
from gymnasium.wrappers import OrderEnforcing

from neurogym_core.ecosystem import discovery
from neurogym_core.ecosystem.files import is_file_reference
from neurogym_core.ecosystem.settings_text import read_wrap
from neurogym_core.errors import InvalidValueError, NotSupportedError, listed, unknown
from neurogym_core.play.env import BoundStep, TaskEnv, checked_form
from neurogym_core.play.vector_env import TaskVectorEnv
from neurogym_core.tasks.parameters import plain_settings, with_settings
from neurogym_core.tasks.task import Task
from neurogym_core.tasks.wrapper import TaskWrapper
from neurogym_core.trials.noise import checked_split, plain_seed

if TYPE_CHECKING:
    from neurogym_core.play.dataset import Dataset

    class MadeEnv(gymnasium.Env[Any, Any]):
        """The env of `make`, with any wrappers around it."""

        @property
        def unwrapped(self) -> TaskEnv: ...


TaskLike = Any
"""A Task, a Task class, the id of an installed task, or ``"file.py:Class"``."""
Wrap = Any
"""A wrapper class, its name (also with settings, ``"reaction_time:urgency=-0.01"``), ``(class or
name, settings)``, or a function of the task or env."""
Wrappers = list[tuple[Any, dict[str, Any]]]
"""Wrappers and their settings, innermost first."""


def make_task(task: TaskLike, *, wrap: Wrap | Iterable[Wrap] = (), **params: Any) -> Task:
    """Return a task with these parameters and task wrappers.

    Args:
        task: an id (``"perceptual/PerceptualDecisionMaking-v0"``, or the bare name if it is
            unique), a Task class, a Task, or ``"file.py:Class"``.
        wrap: task wrappers, innermost first.
        params: the task's parameters, and `timing`, `rewards`, `conditions`.

    Raises:
        UnknownTaskError, AmbiguousTaskError, BrokenTaskError, IncompatibleTaskError: the task
            cannot be found or loaded.
        UnknownNameError, InvalidValueError: the task has no such parameter, or refuses its value.
        NotSupportedError: `wrap` has an env wrapper, or `task` is not a `Task`.

    Example:
        >>> from neurogym_core import make_task
        >>> task = make_task("perceptual/PerceptualDecisionMaking-v0", dt=20, wrap="ReactionTime")
        >>> task.dt, task.channels
        (20, Channels(fixation=Scalar(size=1), stimulus=Ring(('right', 'left'))))
    """
    made, env_wrappers = prepared(task, wrap, params)
    if env_wrappers:
        names = [getattr(wrapper, "__name__", repr(wrapper)) for wrapper, _ in env_wrappers]
        raise NotSupportedError(
            f"{listed(names)} wraps envs, not tasks. Expected a task wrapper. Use it with make() or"
            " make_vec()."
        )
    return made


def make(
    task: TaskLike,
    *,
    wrap: Wrap | Iterable[Wrap] = (),
    render_mode: str | None = None,
    seed: int | None = None,
    split: str | None = None,
    info: str = "small",
    **params: Any,
) -> MadeEnv:
    """Return a Gymnasium env of a task.

    The env checks that `reset` comes before `step`. Env wrappers are applied;
    ``unwrapped`` is the `TaskEnv` (another env for ids of Gymnasium envs that are no Tasks).

    Args:
        task, wrap, params: as in `make_task`; `wrap` can also have env wrappers.
        render_mode: None, or "rgb_array": `render` draws the trial so far, which a package does
            (hook ``ngym_render``).
        seed: seed until `reset` is given one.
        split: None, "train", "validation" or "test": disjoint streams of trials, so that an agent
            is tested on trials that it has not seen, whatever the seeds are. Envs that are not
            Tasks have no such streams; there, each split has other seeds (`SplitSeeds`).
        info: "small"; "full": with `gt` and `period` on every step; or "numeric": numbers only, for
            clients that store infos; see `TaskEnv`.

    Example:
        >>> from neurogym_core import make
        >>> env = make("perceptual/PerceptualDecisionMaking-v0", timing={"delay": 500})
        >>> observation, info = env.reset(seed=0)
        >>> observation.shape, env.unwrapped.period
        ((3,), 'fixation')
        >>> observation, reward, terminated, truncated, info = env.step(0)
        >>> reward
        0.0
    """
    if isinstance(task, str) and not is_file_reference(task):
        name = discovery.task_id(task)
    else:
        found = resolve(task)
        name = f"{(found if isinstance(found, type) else type(found)).__name__}-v0"
    given = {"info": info} if info != "small" else {}
    given |= {} if split is None else {"split": split}
    wrapping = {} if wrap is None or wrap == () else {"wrap": wrap}
    spec = EnvSpec(
        id=name,
        entry_point="neurogym_core.gym:env",
        vector_entry_point="neurogym_core.gym:vector_env",
        kwargs={"task": task, **plain_settings(params), **given, **wrapping},
        disable_env_checker=True,
        order_enforce=False,  # the entry point enforces it
    )
    bare, env_wrappers = _bare(task, wrap, render_mode, seed, split, info, params)
    bare.unwrapped.spec = spec
    env: Any = OrderEnforcingOnce(bare)
    for wrapper, settings in env_wrappers:
        env = applied(wrapper, env, settings=settings)
    return cast("MadeEnv", env)


def bare_env(
    task: TaskLike,
    *,
    wrap: Any = (),
    render_mode: str | None = None,
    seed: int | None = None,
    split: str | None = None,
    info: str = "small",
    **params: Any,
) -> gymnasium.Env[Any, Any]:
    """Return an env with its wrappers, without the order check of `make`."""
    env, env_wrappers = _bare(task, wrap, render_mode, seed, split, info, params)
    for wrapper, settings in env_wrappers:
        env = applied(wrapper, env, settings=settings)
    return env


def _bare(
    task: TaskLike,
    wrap: Any,
    render_mode: str | None,
    seed: int | None,
    split: str | None,
    info: str,
    params: dict[str, Any],
) -> tuple[gymnasium.Env[Any, Any], Wrappers]:
    found = resolve(task)
    if is_env_class(found):
        params = {**params, "render_mode": render_mode} if render_mode else params
        # Such envs have the infos of their class; numeric ones are theirs to offer.
        params = {**params, "info": info} if checked_form(info) == "numeric" else params
        wrappers = [read_wrapper(item) for item in as_list(wrap)]
        for wrapper, _ in wrappers:
            if wraps_tasks(wrapper):
                raise NotSupportedError(
                    f"{wrapper.__name__} wraps tasks, and {found.__name__} is"
                    f" {form_of(found).name}, not a Task. Expected a wrapper of envs. Write it as"
                    f" a Task, or change the env in a {form_of(found).wrapper}."
                )
        split = checked_split(split, "make()")
        env = form_of(found).make(found, params, plain_seed(seed, split))
        return env if split is None else SplitSeeds(env, split), wrappers
    made, env_wrappers = prepared(found, wrap, params)
    env = TaskEnv(made, render_mode=render_mode, seed=seed, split=split, info=info)
    return _drawn(env), env_wrappers


def _drawn(env: Any) -> Any:
    """Return an env with a render mode as a package wraps it to be drawn; any other as it is."""
    if env.render_mode is None:
        return cast("MadeEnv", env)
    from neurogym_core.ecosystem.hooks import ask  # imports pluggy

    return ask("ngym_render", env=env) or env


def make_vec(
    task: TaskLike,
    num_envs: int = 1,
    *,
    wrap: Wrap | Iterable[Wrap] = (),
    autoreset_mode: Any = "NextStep",
    seed: int | None = None,
    split: str | None = None,
    render_mode: str | None = None,
    info: str = "small",
    out: bool = False,
    **params: Any,
) -> TaskVectorEnv:
    """Return a native Gymnasium vector env of a task.

    Args:
        task, wrap, params: as in `make`.
        num_envs: number of envs.
        autoreset_mode: "NextStep", "SameStep" or "Disabled"; see `TaskVectorEnv`.
        seed: seed until `reset` is given one.
        split: stream of trials, as in `make`.
        render_mode: None or "rgb_array".
        info: "small", "full" or "numeric", as in `make`.
        out: whether `step` may return arrays of the env, which the next `step` overwrites.

    Example:
        >>> from neurogym_core import make_vec
        >>> envs = make_vec("perceptual/PerceptualDecisionMaking-v0", 4)
        >>> observations, info = envs.reset(seed=0)
        >>> observations.shape
        (4, 3)
        >>> observations, rewards, terminated, truncated, info = envs.step(envs.target)
        >>> rewards.tolist()
        [0.0, 0.0, 0.0, 0.0]
    """
    found = resolve(task)
    if is_env_class(found):
        raise NotSupportedError(
            f"{found.__name__} is {form_of(found).name}, without a native vector form. Expected a"
            f" Task. Use gymnasium.vector.SyncVectorEnv([lambda: make(…)] * {num_envs})."
        )
    made, env_wrappers = prepared(found, wrap, params)
    env: TaskVectorEnv = _drawn(
        TaskVectorEnv(
            made,
            num_envs,
            autoreset_mode=autoreset_mode,
            seed=seed,
            split=split,
            render_mode=render_mode,
            info=info,
            out=out,
        )
    )
    for wrapper, settings in env_wrappers:
        twin = getattr(wrapper, "vector", None) or wrapper
        if twin is wrapper and isinstance(wrapper, type) and not issubclass(wrapper, VectorWrapper):
            raise NotSupportedError(
                f"make_vec() was given {wrapper.__name__}, which does not wrap vector envs."
                " Expected a VectorWrapper, or a wrapper with the attribute `vector`. Give that,"
                " or use make()."
            )
        env = applied(twin, env, settings=settings)
    return env


def resolve(task: TaskLike) -> Any:
    """Return the Task, Task class or Gymnasium env class of a name.

    Raises:
        UnknownTaskError: no task has this name.
        InvalidValueError: the value is neither a task nor the name of one.
    """
    if isinstance(task, str):
        task = discovery.load_task(task)
    if is_task(task) or is_env_class(task):
        return task
    raise InvalidValueError(
        f"{task!r} was given as a task. Expected a Task, a Task class, an id or 'file.py:Class'."
        " Give an id such as 'PerceptualDecisionMaking-v0'."
    )


def is_task(value: Any) -> bool:
    """Return whether a value is a Task or a Task class."""
    return isinstance(value, Task) or (
        isinstance(value, type) and issubclass(value, Task) and value is not Task
    )


def prepared(task: TaskLike, wrap: Any, params: dict[str, Any]) -> tuple[Task, Wrappers]:
    """Return the wrapped task, and the env wrappers, which the caller applies."""
    found = resolve(task)
    if not is_task(found):
        form = form_of(found)
        supported = "make()" if form.batches is None else "make() and Dataset()"
        raise NotSupportedError(
            f"{found.__name__} is {form.name}: it has no Task. Expected one, for task wrappers, an"
            f" oracle or a native vector env. Use {supported}, or write it as a Task."
        )
    if isinstance(found, type):
        found = found(**params)
    elif params:
        found = with_settings(found, **params)
    env_wrappers: Wrappers = []
    for item in as_list(wrap):
        wrapper, settings = read_wrapper(item)
        if wraps_tasks(wrapper):
            if env_wrappers:
                raise InvalidValueError(
                    f"{wrapper.__name__}, which wraps tasks, was given after a wrapper of envs."
                    " Expected task wrappers first. Change the order."
                )
            found = wrapper(found, **settings)
        else:
            env_wrappers.append((wrapper, settings))
    return found, env_wrappers


def as_list(wrap: Any) -> list[Any]:
    """Return the wrappers in the argument `wrap`, of which a single one may be given by itself."""
    if wrap is None or wrap == ():
        return []
    if isinstance(wrap, str | type) or callable(wrap):
        return [wrap]
    configured = isinstance(wrap, tuple) and len(wrap) == 2 and isinstance(wrap[1], dict)
    return [wrap] if configured else list(wrap)


def read_wrapper(item: Any) -> tuple[Any, dict[str, Any]]:
    """Return wrapper and settings of one item of `wrap`."""
    wrapper, settings = item if isinstance(item, tuple) else (item, {})
    if isinstance(wrapper, str):
        name, written = read_wrap(wrapper)
        wrapper = discovery.load_wrapper(name)
        settings = {**written, **settings}
    if not callable(wrapper):
        raise InvalidValueError(
            f"{item!r} was given as a wrapper. Expected a wrapper class or its name. Give that, or"
            " (wrapper, {settings})."
        )
    return wrapper, dict(settings)


def wraps_tasks(wrapper: Any) -> bool:
    """Return whether a wrapper is a `TaskWrapper`."""
    return isinstance(wrapper, type) and issubclass(wrapper, TaskWrapper)


# ---- wrappers of every env ----


class OrderEnforcingOnce(BoundStep, OrderEnforcing):
    """Refuse `step` and `render` before the first `reset`; after it, `step` is the env's own."""

    def _kernel_step(self) -> Callable[..., Any] | None:
        return self.env.step if self._has_reset else None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        result = super().reset(seed=seed, options=options)
        self._bind()
        return result


class SplitSeeds(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Give an env that is not a `Task` other seeds in each split.

    A seed below 2**32 becomes ``seed + k * 2**32``, with k = 1, 2, 3 for "train", "validation" and
    "test". Two splits then share no trials as far as the env draws everything from generators that
    its seed determines; the core cannot check this."""

    def __init__(self, env: gymnasium.Env[Any, Any], split: str) -> None:
        super().__init__(env)
        self.split = split

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        return self.env.reset(seed=plain_seed(seed, self.split), options=options)


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
