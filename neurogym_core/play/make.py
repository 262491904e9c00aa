"""`make`, `make_vec` and `make_task`: from a name to something that plays."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from neurogym_core.ecosystem import discovery
from neurogym_core.ecosystem.files import is_file_reference, load_from_file
from neurogym_core.errors import InvalidValueError, NotSupportedError, listed
from neurogym_core.play.env_form import applied, form_of, is_env_class

if TYPE_CHECKING:
    import gymnasium
    from gymnasium.envs.registration import EnvSpec

    from neurogym_core.play.vector_env import TaskVectorEnv
    from neurogym_core.tasks.task import Task

TaskLike = Any
"""A Task, a Task class, the id of an installed task, or ``"file.py:Class"``."""
Wrap = Any
"""A wrapper class, its name, ``(class or name, settings)``, or a function of the task or env."""
Wrappers = list[tuple[Any, dict[str, Any]]]
"""Wrappers and their settings, innermost first."""


def make_task(task: TaskLike, *, wrap: Wrap | Iterable[Wrap] = (), **params: Any) -> Task:
    """A task, with parameters set and task wrappers applied.

    Args:
        task: an id (``"perceptual/PerceptualDecisionMaking-v0"``, or the bare name while it is
            unique), a Task class, a Task, or ``"file.py:Class"``.
        wrap: task wrappers, innermost first.
        params: the task's parameters, and `timing`, `rewards`, `conditions`.

    Raises:
        UnknownTaskError, AmbiguousTaskError, BrokenTaskError, IncompatibleTaskError: the task
        cannot be had.
        UnknownNameError, InvalidValueError: parameters it does not take.
        NotSupportedError: an env wrapper among the wrappers, or something that is no `Task`.

    Example:
        >>> from neurogym_core import make_task
        >>> task = make_task("perceptual/PerceptualDecisionMaking-v0", dt=20, wrap="ReactionTime")
        >>> task.dt, task.channels
        (20, Channels(fixation=Scalar(size=1), stimulus=Ring(size=2)))
    """
    made, env_wrappers = _make_with(task, wrap, params)
    if env_wrappers:
        names = [getattr(wrapper, "__name__", repr(wrapper)) for wrapper, _ in env_wrappers]
        raise NotSupportedError(
            f"{listed(names)} wraps envs, not tasks: use it with make() or make_vec()."
        )
    return made


def make(
    task: TaskLike,
    *,
    wrap: Wrap | Iterable[Wrap] = (),
    render_mode: str | None = None,
    seed: int | None = None,
    plugins: bool = True,
    **params: Any,
) -> gymnasium.Env[Any, Any]:
    """A Gymnasium env of a task, checked for the order of calls, with env wrappers and plug-ins
    applied.

    Args:
        task, wrap, params: as in `make_task`; `wrap` may also hold env wrappers.
        render_mode: None or "rgb_array".
        seed: used until `reset` is given one.
        plugins: whether installed plug-ins may wrap the env (hook ``ngym_wrap_env``) and listen to
            trials.

    Example:
        >>> from neurogym_core import make
        >>> env = make("perceptual/PerceptualDecisionMaking-v0", timing={"delay": 500})
        >>> observation, info = env.reset(seed=0)
        >>> observation.shape, info["period"]
        ((3,), 'fixation')
        >>> observation, reward, terminated, truncated, info = env.step(0)
        >>> reward
        0.0
    """
    from gymnasium.envs.registration import EnvSpec

    spec = EnvSpec(
        id=_spec_id(task), entry_point="neurogym_core.gym:env", vector_entry_point="neurogym_core.gym:vector_env",
        kwargs=_spec_kwargs(task, wrap, params), disable_env_checker=True,
    )  # fmt: skip
    env, env_wrappers = _bare(task, wrap, render_mode, seed, params)
    env.unwrapped.spec = spec
    env = _ordered(env)
    for wrapper, settings in env_wrappers:
        env = applied(wrapper, env, settings=settings)
    return _with_plugins(env, spec) if plugins else env


def _ordered(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    from neurogym_core.play.order_enforcing import OrderEnforcingOnce

    return OrderEnforcingOnce(env)


def bare_env(
    task: TaskLike,
    *,
    wrap: Any = (),
    render_mode: str | None = None,
    seed: int | None = None,
    **params: Any,
) -> gymnasium.Env[Any, Any]:
    """The env of a task with its wrappers, without the order check and plug-ins that `make`
    adds.
    """
    env, env_wrappers = _bare(task, wrap, render_mode, seed, params)
    for wrapper, settings in env_wrappers:
        env = applied(wrapper, env, settings=settings)
    return env


def _bare(
    task: TaskLike, wrap: Any, render_mode: str | None, seed: int | None, params: dict[str, Any]
) -> tuple[gymnasium.Env[Any, Any], Wrappers]:
    found = resolve(task)
    if is_env_class(found):
        params = {**params, "render_mode": render_mode} if render_mode else params
        return form_of(found).make(found, params, seed), _env_wrappers(found, wrap)
    from neurogym_core.play.env import TaskEnv

    made, env_wrappers = _make_with(found, wrap, params)
    return TaskEnv(made, render_mode=render_mode, seed=seed), env_wrappers


def _env_wrappers(cls: type, wrap: Any) -> Wrappers:
    """The wrappers of a plain env; none of them may wrap tasks."""
    wrappers = [_wrapper(item) for item in _as_list(wrap)]
    for wrapper, _ in wrappers:
        if _wraps_tasks(wrapper):
            raise NotSupportedError(
                f"{wrapper.__name__} wraps tasks, and {cls.__name__} is {form_of(cls).name}, which"
                " has no trials as tables. Write it as a Task, or change the env in a"
                f" {form_of(cls).wrapper}."
            )
    return wrappers


def make_vec(
    task: TaskLike,
    num_envs: int = 1,
    *,
    wrap: Wrap | Iterable[Wrap] = (),
    autoreset_mode: Any = "NextStep",
    seed: int | None = None,
    **params: Any,
) -> TaskVectorEnv:
    """A native Gymnasium vector env of a task.

    Args:
        task, wrap, params: as in `make`.
        num_envs: number of envs.
        autoreset_mode: "NextStep" or "SameStep".
        seed: used until `reset` is given one.

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
    from neurogym_core.play.vector_env import TaskVectorEnv

    found = resolve(task)
    if is_env_class(found):
        raise NotSupportedError(
            f"{found.__name__} is {form_of(found).name}, without a native vector form; use "
            f"gymnasium.vector.SyncVectorEnv([lambda: make(…)] * {num_envs})."
        )
    made, env_wrappers = _make_with(found, wrap, params)
    env = TaskVectorEnv(made, num_envs, autoreset_mode=autoreset_mode, seed=seed)
    for wrapper, settings in env_wrappers:
        env = applied(_vector_twin(wrapper), env, settings=settings)
    return env


def resolve(task: TaskLike) -> Any:
    """The Task, Task class or Gymnasium env class that a name stands for.

    Raises:
        UnknownTaskError: nothing of that name.
        InvalidValueError: not something that names a task.
    """
    if isinstance(task, str):
        task = _named(task)
    if is_task(task) or is_env_class(task):
        return task
    raise InvalidValueError(
        f"{task!r} is no task; give an id such as 'PerceptualDecisionMaking-v0', a Task, a Task"
        " class, or 'file.py:Class'."
    )


def _named(name: str) -> Any:
    return load_from_file(name) if is_file_reference(name) else discovery.load_task(name)


def is_task(value: Any) -> bool:
    from neurogym_core.tasks.task import Task

    return isinstance(value, Task) or (
        isinstance(value, type) and issubclass(value, Task) and value is not Task
    )


def _make_with(task: TaskLike, wrap: Any, params: dict[str, Any]) -> tuple[Task, Wrappers]:
    """The wrapped task, and the env wrappers that remain."""
    found = resolve(task)
    if not is_task(found):
        form = form_of(found)
        has = "make()" if form.batches is None else "make() and Dataset()"
        raise NotSupportedError(
            f"{found.__name__} is {form.name}: it has no Task, and so no tables, task wrappers,"
            f" oracle or native vector env. Use {has}, or write it as a Task."
        )
    if isinstance(found, type):
        found = found(**params)
    elif params:
        from neurogym_core.tasks.identity import with_settings

        found = with_settings(found, **params)
    env_wrappers: Wrappers = []
    for item in _as_list(wrap):
        wrapper, settings = _wrapper(item)
        if _wraps_tasks(wrapper):
            if env_wrappers:
                raise InvalidValueError(
                    f"{wrapper.__name__} wraps tasks and comes after a wrapper of envs; name task"
                    " wrappers first."
                )
            found = wrapper(found, **settings)
        else:
            env_wrappers.append((wrapper, settings))
    return found, env_wrappers


def _as_list(wrap: Any) -> list[Any]:
    if wrap is None or wrap == ():
        return []
    single = (
        isinstance(wrap, str | type)
        or callable(wrap)
        or (isinstance(wrap, tuple) and len(wrap) == 2 and isinstance(wrap[1], dict))
    )
    return [wrap] if single else list(wrap)


def _wrapper(item: Any) -> tuple[Any, dict[str, Any]]:
    wrapper, settings = item if isinstance(item, tuple) else (item, {})
    if isinstance(wrapper, str):
        wrapper = discovery.load_wrapper(wrapper)
    if not callable(wrapper):
        raise InvalidValueError(
            f"{item!r} is no wrapper; give a wrapper class, its name, or (wrapper, {{settings}})."
        )
    return wrapper, dict(settings)


def _wraps_tasks(wrapper: Any) -> bool:
    from neurogym_core.tasks.wrapper import TaskWrapper

    return isinstance(wrapper, type) and issubclass(wrapper, TaskWrapper)


def _vector_twin(wrapper: Any) -> Any:
    twin = getattr(wrapper, "vector", None)
    if twin is None and isinstance(wrapper, type):
        from gymnasium.vector import VectorWrapper

        if issubclass(wrapper, VectorWrapper):
            return wrapper
        raise NotSupportedError(
            f"{wrapper.__name__} has no form for vector envs; use it with make(), or give a"
            " VectorWrapper."
        )
    return twin or wrapper


def _spec_id(task: TaskLike) -> str:
    if isinstance(task, str) and not is_file_reference(task):
        return discovery.task_id(task)
    found = resolve(task)
    name = found.__name__ if isinstance(found, type) else type(found).__name__
    return f"{name}-v0"


def _spec_kwargs(task: TaskLike, wrap: Any, params: dict[str, Any]) -> dict[str, Any]:
    from neurogym_core.tasks.identity import plain_settings

    kwargs: dict[str, Any] = {"task": task, **plain_settings(params)}
    if wrap is not None and wrap != ():
        kwargs["wrap"] = wrap
    return kwargs


def _with_plugins(env: gymnasium.Env[Any, Any], spec: EnvSpec) -> gymnasium.Env[Any, Any]:
    if "neurogym_core.ecosystem.hooks" not in sys.modules and not any(
        package.plugins for package in discovery.declared().packages
    ):
        return env  # pluggy takes a while to import, and there is nothing to call
    from neurogym_core.ecosystem import hooks

    env = hooks.wrap_env(env, spec)
    listeners = hooks.trial_end_listeners()
    if listeners:
        from neurogym_core.play.trial_end_hooks import TrialEndHooks

        env = TrialEndHooks(env, listeners)
    return env
