"""Play a subject in another process than the task.

A score of likeness must not be had by reading the conditions or the answer of a trial. The subject
therefore lives in another process than the task. It gets observations, rewards, the number of the
trial, and whether an answer is asked for, unless that is hidden; the seed of the trials, the
conditions, the targets, the tables and the task object never reach its process, and nothing that it
sends is executed here: its replies are numbers and texts. The process is no sandbox: it has the
permissions of its user.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import SimpleNamespace, TracebackType
from typing import Any

import numpy as np

import neurogym_core
from neurogym_core import NeurogymError, NotSupportedError, TaskVectorEnv
from neurogym_core.players import player_of
from neurogym_core.tools import find_wrapper, trusted, trusting

START = multiprocessing.get_context("spawn")
"""A forked process would have the parent's memory."""
SHOWN = ("trial_number", "last_reward", "is_asked", "can_wait")
"""Attributes of the env that a subject may read, (num_envs,) each."""
ASKED = ("is_asked", "can_wait")
"""Those that say when an answer is asked for. They are hidden where that moment follows from the
number that is to be reported, as that of Set does from the interval."""
MOST = 1 << 30
"""Bytes of a reply."""
TASK = ("name", "dt", "channels", "actions", "trials_per_session", "evidence_periods")
"""Attributes of the task that it may read."""


@dataclass
class Seen:
    """The env as a blind subject sees it.

    Attributes:
        num_envs: number of envs.
        task: name, dt, channels, actions and trials per session of the task.
    """

    num_envs: int
    task: Any

    def show(self, values: Mapping[str, np.ndarray]) -> None:
        """Take the values of the attributes of the env that it may read, for the current step."""
        vars(self).update(values)

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(vars(self))
        hidden = ""
        if name in ASKED:
            hidden = (
                " Here the answer follows from the moment of the question, which has to be found in"
                " the observations."
            )
        raise NotSupportedError(
            f"The subject asked the env for {name!r}. Expected one that is scored to see"
            f" observations and rewards, and of the env {known}.{hidden} Let it use these alone."
        )


def seen_task(task: Any) -> SimpleNamespace:
    """Return the attributes of a task that a subject may read: those of `TASK` that it has."""
    return SimpleNamespace(**{name: getattr(task, name) for name in TASK if hasattr(task, name)})


def seen_values(env: TaskVectorEnv, names: Sequence[str] = SHOWN) -> dict[str, np.ndarray]:
    """Return the current values of attributes of an env that a subject may read, copied."""
    return {name: np.array(getattr(env, name)) for name in names}


class BlindPlayer:
    """A subject in a process without the task; for `neurogym_core.run`.

    Args:
        subject: its name, perhaps with settings, (name, {settings}), or a callable that can be
            pickled.
        seed: seed of a subject that is given by name. It says nothing about the trials.
        hides: names of `SHOWN` that the subject may not read.

    Raises:
        NeurogymError: as `player_of`.
        NotSupportedError: when it plays: the subject asks for more than it may see, or its process
            ends.

    Example:
        >>> from neurogym_core import run
        >>> from neurogym_likeness.blind import BlindPlayer
        >>> with BlindPlayer("diffusion", seed=1) as player:
        ...     record = run("perceptual/RoitmanShadlen-v0", player, 20, seed=0)
        >>> len(record)
        20
    """

    def __init__(self, subject: Any, seed: int = 0, hides: Sequence[str] = ()) -> None:
        self._subject, (self._pipe, theirs) = subject, START.Pipe()
        self._shown = [name for name in SHOWN if name not in hides]
        given = (theirs, subject, seed, trusted())
        self._process = START.Process(target=_live, args=given, daemon=True)
        self._process.start()
        theirs.close()
        try:
            facts = self._answer()
        except BaseException:
            self.close()
            raise
        self.carries_state: bool = facts["carries_state"]
        self.default_split: str | None = facts["default_split"]
        try:
            self.env_wrappers: Sequence[Any] = [_wrapper(one) for one in facts["env_wrappers"]]
        except BaseException:
            self.close()
            raise

    def begin(self, env: TaskVectorEnv) -> None:
        """Describe the task to the subject."""
        shown = seen_values(env, self._shown)
        self._ask("begin", (env.num_envs, seen_task(env.task), shown))

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        """Return the actions of the subject, (num_envs,) or (num_envs, k)."""
        return np.asarray(self._ask("step", (observations, seen_values(env, self._shown))))

    def _ask(self, what: str, value: Any) -> Any:
        try:
            self._pipe.send((what, value))
        except (BrokenPipeError, OSError) as error:
            raise self._dead() from error
        return self._answer()

    def _answer(self) -> Any:
        try:
            said = json.loads(self._pipe.recv_bytes(MOST))
            if said["kind"] == "error":
                raise _error(str(said["type"]), str(said["text"]))
            if said["kind"] == "facts":
                return said["value"]
            kind, shape = np.dtype(str(said["dtype"])), tuple(map(int, said["shape"]))
            if kind.kind not in "biuf":
                raise ValueError(f"the dtype {kind}")
            return np.frombuffer(self._pipe.recv_bytes(MOST), kind).reshape(shape)
        except NeurogymError:
            raise
        except (EOFError, ConnectionResetError) as error:
            raise self._dead() from error
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise NotSupportedError(
                f"The process of the subject {self._subject!r} sent no action ({error})."
                " Expected numbers. Return an array of actions."
            ) from error

    def _dead(self) -> NotSupportedError:
        self._process.join(5)
        return NotSupportedError(
            f"The process of the subject {self._subject!r} ended with code"
            f" {self._process.exitcode}. Expected it to play until the last trial. Run the subject"
            " with `ngym run` to see its error."
        )

    def close(self) -> None:
        """End the subject's process."""
        self._pipe.close()
        self._process.terminate()
        self._process.join(5)

    def __enter__(self) -> BlindPlayer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()


def _wrapper(given: Any) -> Any:
    """Return a wrapper of envs that a subject asks for, by name, of a package of this project.

    It plays where the task is, so that another one could show the conditions to its subject.

    Raises:
        NotSupportedError: it is another one, or not given by name.
    """
    name, settings = given if isinstance(given, list) and len(given) == 2 else (given, {})
    if isinstance(given, dict):
        name = given.get("name")
        settings = {key: value for key, value in given.items() if key != "name"}
    if isinstance(name, str) and isinstance(settings, dict):
        try:
            found = find_wrapper(name)
        except NeurogymError:
            found = None
        if found is not None and found.ours:
            return found.id, settings
    raise NotSupportedError(
        f"The subject asked for the wrapper {name!r}, which would play beside the task. Expected"
        " one of this project's, by name, such as PassReward. Score the subject without it."
    )


def _error(name: str, text: str) -> NeurogymError:
    """Return the error of the project that a subject raised."""
    known = getattr(neurogym_core, name, None)
    wanted = isinstance(known, type) and issubclass(known, NeurogymError)
    return known(text) if wanted else NotSupportedError(text)


def _send(pipe: Connection, kind: str, **said: Any) -> None:
    pipe.send_bytes(json.dumps({"kind": kind, **said}).encode())


def _send_actions(pipe: Connection, actions: Any) -> None:
    """Send actions as numbers; objects are refused, since reading them could run code."""
    values = np.asarray(actions)
    if values.dtype.kind not in "biuf":
        raise NotSupportedError(
            f"The subject returned actions of dtype {values.dtype}. Expected numbers. Return an"
            " array of actions."
        )
    _send(pipe, "actions", dtype=values.dtype.str, shape=values.shape)
    pipe.send_bytes(np.ascontiguousarray(values).tobytes())


def _live(pipe: Connection, subject: Any, seed: int, trust: bool) -> None:
    """The life of the subject's process."""
    try:
        with trusting(trust):
            player = player_of(subject, seed=seed)
        split, wrappers = (
            getattr(player, name, None) for name in ("default_split", "env_wrappers")
        )
        _send(pipe, "facts", value={
            "carries_state": bool(getattr(player, "carries_state", True)),
            "default_split": split,
            "env_wrappers": [_named(one) for one in wrappers or ()],
        })  # fmt: skip
        seen = Seen(0, None)
        while True:
            what, value = pipe.recv()
            if what == "begin":
                num_envs, task, shown = value
                seen = Seen(num_envs, task)
                seen.show(shown)
                if hasattr(player, "begin"):
                    player.begin(seen)
                _send(pipe, "facts", value=None)
            else:
                observations, shown = value
                seen.show(shown)
                _send_actions(pipe, player(seen, observations))
    except EOFError:
        return
    except NeurogymError as error:
        _send(pipe, "error", type=type(error).__name__, text=str(error))
    except Exception as error:
        text = (
            f"The subject {subject!r} raised {type(error).__name__}: {error}. Expected actions."
            " Run it with `ngym run` to see where."
        )
        _send(pipe, "error", type="NotSupportedError", text=text)


def _named(wrapper: Any) -> Any:
    """Return a wrapper as data; a class by its name, with a word that no wrapper has."""
    if isinstance(wrapper, tuple | list) and len(wrapper) == 2:
        name, settings = wrapper
        return [name if isinstance(name, str) else f"class {name}", dict(settings)]
    return wrapper if isinstance(wrapper, str | dict) else f"class {wrapper}"
