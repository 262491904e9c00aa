"""`make`, `make_vec` and `make_task`: from a name to something that plays."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurogym_core.errors import BrokenTaskError, InvalidValueError, NotSupportedError, UnknownTaskError, listed

if TYPE_CHECKING:
    import gymnasium

    from neurogym_core.play.vector_env import TaskVectorEnv
    from neurogym_core.tasks.task import Task

TaskLike = Any
"""A Task, a Task class, the id of an installed task, or ``"file.py:Class"``."""
Wrap = Any
"""A wrapper class, its name, ``(class or name, settings)``, or a function of the task or env."""


def make_task(task: TaskLike, *, wrap: Wrap | Iterable[Wrap] = (), **params: Any) -> Task:
    """A task, with parameters set and task wrappers applied.

    Args:
        task: an id (``"perceptual/PerceptualDecisionMaking-v0"``, or the bare name while it is unique), a Task class, a
            Task, or ``"file.py:Class"``.
        wrap: task wrappers, innermost first.
        params: the task's parameters, and `timing`, `rewards`, `conditions`.

    Raises:
        UnknownTaskError, AmbiguousTaskError, BrokenTaskError, IncompatibleTaskError: the task cannot be had.
        UnknownNameError, InvalidValueError: parameters it does not take.
        NotSupportedError: an env wrapper among the wrappers, or something that is no `Task`.
    """
    made, env_wrappers = _make_with(task, wrap, params)
    if env_wrappers:
        names = [getattr(wrapper, "__name__", repr(wrapper)) for wrapper, _ in env_wrappers]
        raise NotSupportedError(f"{listed(names)} wraps envs, not tasks: use it with make() or make_vec().")
    return made


def make(
    task: TaskLike, *, wrap: Wrap | Iterable[Wrap] = (), render_mode: str | None = None, seed: int | None = None, plugins: bool = True, **params: Any
) -> gymnasium.Env:
    """A Gymnasium env of a task, checked for the order of calls, with env wrappers and plug-ins applied.

    Args:
        task, wrap, params: as in `make_task`; `wrap` may also hold env wrappers.
        render_mode: None or "rgb_array".
        seed: used until `reset` is given one.
        plugins: whether installed plug-ins may wrap the env (hook ``ngym_wrap_env``) and listen to trials.
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
        env = _applied(wrapper, env, settings)
    return _with_plugins(env, spec) if plugins else env


def _ordered(env: gymnasium.Env) -> gymnasium.Env:
    from neurogym_core.play.ordered import Ordered

    return Ordered(env)


def bare_env(task: TaskLike, *, wrap: Any = (), render_mode: str | None = None, seed: int | None = None, **params: Any) -> gymnasium.Env:
    """The env of a task with its wrappers, without the order check and plug-ins that `make` adds."""
    env, env_wrappers = _bare(task, wrap, render_mode, seed, params)
    for wrapper, settings in env_wrappers:
        env = _applied(wrapper, env, settings)
    return env


def _bare(task: TaskLike, wrap: Any, render_mode: str | None, seed: int | None, params: dict[str, Any]) -> tuple[Any, list]:
    found = resolve(task)
    if _is_gymnasium_env(found):
        params = {**params, "render_mode": render_mode} if render_mode else params
        return found(**params), [_wrapper(item) for item in _as_list(wrap)]
    from neurogym_core.play.env import TaskEnv

    made, env_wrappers = _make_with(found, wrap, params)
    return TaskEnv(made, render_mode=render_mode, seed=seed), env_wrappers


def make_vec(
    task: TaskLike, num_envs: int = 1, *, wrap: Wrap | Iterable[Wrap] = (), autoreset_mode: Any = "NextStep", seed: int | None = None, **params: Any
) -> TaskVectorEnv:
    """A native Gymnasium vector env of a task.

    Args:
        task, wrap, params: as in `make`.
        num_envs: number of envs.
        autoreset_mode: "NextStep" or "SameStep".
        seed: used until `reset` is given one.
    """
    from neurogym_core.play.vector_env import TaskVectorEnv

    found = resolve(task)
    if _is_gymnasium_env(found):
        raise NotSupportedError(
            f"{task!r} is a plain Gymnasium env without a native vector form; use gymnasium.vector.SyncVectorEnv([lambda: make(…)] * {num_envs})."
        )
    made, env_wrappers = _make_with(found, wrap, params)
    env: Any = TaskVectorEnv(made, num_envs, autoreset_mode=autoreset_mode, seed=seed)
    for wrapper, settings in env_wrappers:
        env = _applied(_vector_twin(wrapper), env, settings)
    return env


def resolve(task: TaskLike) -> Any:
    """The Task, Task class or Gymnasium env class that a name stands for.

    Raises:
        UnknownTaskError: nothing of that name.
        InvalidValueError: not something that names a task.
    """
    if isinstance(task, str):
        return _from_file(task) if _is_file(task) else _installed(task)
    if _is_task(task) or _is_gymnasium_env(task):
        return task
    raise InvalidValueError(f"{task!r} is no task; give an id such as 'PerceptualDecisionMaking-v0', a Task, a Task class, or 'file.py:Class'.")


def _installed(name: str) -> Any:
    from neurogym_core.ecosystem.discovery import load_task

    return load_task(name)


def _is_file(name: str) -> bool:
    return name.partition(":")[0].endswith(".py")


def _from_file(name: str) -> Any:
    """The class of ``"file.py:Class"``; the class may be left out where the file has one task."""
    file, _, wanted = name.rpartition(":") if not name.endswith(".py") else (name, "", "")
    module = _module_of(Path(file))
    offered = {key: value for key, value in vars(module).items() if _is_task(value) and getattr(value, "__module__", None) == module.__name__}
    if wanted:
        found = vars(module).get(wanted)
        if found is None:
            raise UnknownTaskError(f"{file} has no {wanted!r}; its tasks are {listed(offered)}.")
        return found
    if len(offered) != 1:
        raise UnknownTaskError(f"{file} has {len(offered)} tasks ({listed(offered)}); say which one: '{file}:Class'.")
    return next(iter(offered.values()))


def _module_of(path: Path) -> Any:
    if not path.is_file():
        raise UnknownTaskError(f"There is no file {str(path)!r}; give the path of a Python file, as in 'my_task.py:MyTask'.")
    name = f"_neurogym_file_{path.stem}_{abs(hash(str(path.resolve()))):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    sys.modules[name] = module  # classes of the file pickle only when their module can be found
    try:
        spec.loader.exec_module(module)  # type: ignore[union-attr]
    except Exception as error:
        sys.modules.pop(name, None)
        raise BrokenTaskError(f"{path} cannot be run: {type(error).__name__}: {error}. Correct the file, then try again.") from error
    return module


def _is_task(value: Any) -> bool:
    from neurogym_core.tasks.task import Task

    return isinstance(value, Task) or (isinstance(value, type) and issubclass(value, Task) and value is not Task)


def _is_gymnasium_env(value: Any) -> bool:
    import gymnasium

    return isinstance(value, type) and issubclass(value, gymnasium.Env)


def _make_with(task: TaskLike, wrap: Any, params: dict[str, Any]) -> tuple[Any, list[tuple[Any, dict]]]:
    """The wrapped task, and the env wrappers that remain."""
    found = resolve(task)
    if not _is_task(found):
        raise NotSupportedError(f"{task!r} is a plain Gymnasium env; it has no Task to wrap or to make datasets of. Use make().")
    if isinstance(found, type):
        found = found(**params)
    elif params:
        found = found.with_settings(**params)
    env_wrappers: list[tuple[Any, dict]] = []
    for item in _as_list(wrap):
        wrapper, settings = _wrapper(item)
        if _wraps_tasks(wrapper):
            if env_wrappers:
                raise InvalidValueError(f"{wrapper.__name__} wraps tasks and comes after a wrapper of envs; name task wrappers first.")
            found = wrapper(found, **settings)
        else:
            env_wrappers.append((wrapper, settings))
    return found, env_wrappers


def _as_list(wrap: Any) -> list:
    if wrap is None or wrap == ():
        return []
    single = isinstance(wrap, str | type) or callable(wrap) or (isinstance(wrap, tuple) and len(wrap) == 2 and isinstance(wrap[1], dict))
    return [wrap] if single else list(wrap)


def _wrapper(item: Any) -> tuple[Any, dict]:
    wrapper, settings = item if isinstance(item, tuple) else (item, {})
    if isinstance(wrapper, str):
        from neurogym_core.ecosystem.discovery import load_wrapper

        wrapper = load_wrapper(wrapper)
    if not callable(wrapper):
        raise InvalidValueError(f"{item!r} is no wrapper; give a wrapper class, its name, or (wrapper, {{settings}}).")
    return wrapper, dict(settings)


def _wraps_tasks(wrapper: Any) -> bool:
    from neurogym_core.tasks.wrapper import TaskWrapper

    return isinstance(wrapper, type) and issubclass(wrapper, TaskWrapper)


def _applied(wrapper: Callable, env: Any, settings: dict) -> Any:
    try:
        return wrapper(env, **settings)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        import inspect

        known = [name for name in inspect.signature(wrapper).parameters if name != "env"]
        raise InvalidValueError(f"{wrapper.__name__} was given {listed(settings)}; it takes {listed(known)}.") from None


def _vector_twin(wrapper: Any) -> Any:
    twin = getattr(wrapper, "vector", None)
    if twin is None and isinstance(wrapper, type):
        from gymnasium.vector import VectorWrapper

        if issubclass(wrapper, VectorWrapper):
            return wrapper
        raise NotSupportedError(f"{wrapper.__name__} has no form for vector envs; use it with make(), or give a VectorWrapper.")
    return twin or wrapper


def _spec_id(task: TaskLike) -> str:
    if isinstance(task, str) and not _is_file(task):
        from neurogym_core.ecosystem.discovery import task_id

        return task_id(task)
    found = resolve(task)
    name = found.__name__ if isinstance(found, type) else type(found).__name__
    return f"{name}-v0"


def _spec_kwargs(task: TaskLike, wrap: Any, params: dict[str, Any]) -> dict[str, Any]:
    from neurogym_core.tasks.task import plain_settings

    kwargs: dict[str, Any] = {"task": task, **plain_settings(params)}
    if wrap is not None and wrap != ():
        kwargs["wrap"] = wrap
    return kwargs


def _with_plugins(env: Any, spec: Any) -> Any:
    from neurogym_core.ecosystem import hooks

    env = hooks.wrap_env(env, spec)
    listeners = hooks.trial_end_listeners()
    if listeners:
        from neurogym_core.play.listening import Listening

        env = Listening(env, listeners)
    return env
