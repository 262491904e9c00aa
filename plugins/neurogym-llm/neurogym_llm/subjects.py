"""`LanguageModel`: a language model as a subject, which reads trials as text and names choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, NotSupportedError, Subject, TaskVectorEnv
from neurogym_core.tools import installed
from neurogym_llm.models import Cached, Local, Model, Server
from neurogym_llm.text import Wording


class LanguageModel(Subject):
    """A language model that plays a task.

    It is asked once per response window, on its last step, or on its only one: until then it sees.
    It reads the instructions, the last trials with its choices and rewards, and this trial so far.
    A reply that names no choice, or several, is asked for again; after `tries` of them it does not
    answer. It sees observations, rewards and whether an answer is asked for, so that `ngym
    likeness` can score it.

    Args:
        seed: unused; the replies are those of the model.
        model: name of the model on a server (`Server`), or a `Model`, such as `Local`.
        url: address of the server; by default that of ``OPENAI_BASE_URL``.
        local: whether `model` is a folder or name of the library transformers, on this machine.
        instructions: one or two sentences about the task; by default its summary, if it is
            installed.
        memory: number of earlier trials of the session that it reads.
        every: length of the intervals of the text, ms; 0: the dt of the task.
        digits: decimal places of the text.
        tries: number of replies that it may give to a question.
        cache: file of replies, see `Cached`.

    Attributes:
        asked: number of questions so far.
        unclear: number of replies so far that named no choice.
        tokens_in, tokens_out: tokens read and written so far, as the server counts them.

    Raises:
        InvalidValueError: no model, or a setting out of range.

    Example:
        >>> from neurogym_core import run
        >>> from neurogym_llm import LanguageModel, Reply
        >>> class Rightward:
        ...     def reply(self, messages):
        ...         return Reply("Right.")
        >>> subject = LanguageModel(model=Rightward())
        >>> record = run("perceptual/PerceptualDecisionMaking-v0", subject, 5, seed=0)
        >>> record["choice"].tolist(), subject.asked
        (['right', 'right', 'right', 'right', 'right'], 5)
    """

    def __init__(
        self,
        seed: int | None = 0,
        *,
        model: Any = "",
        url: str = "",
        local: bool = False,
        instructions: str = "",
        memory: int = 20,
        every: float = 0.0,
        digits: int = 2,
        tries: int = 3,
        cache: str = "",
    ) -> None:
        super().__init__(seed)
        if isinstance(model, str) and not model:
            raise InvalidValueError(
                "The subject 'llm' was given no model. Expected the name of one on a server with"
                " OpenAI's interface. Give it as llm:model=NAME,url=http://localhost:8000/v1."
            )
        if memory < 0 or tries < 1:
            raise InvalidValueError(
                f"The subject 'llm' was given memory={memory!r}, tries={tries!r}. Expected 0 or"
                " more trials, and at least one try. Give others."
            )
        if isinstance(model, str):
            model = Local(model) if local else Server(model, url=url)
        self.model: Model = Cached(model, cache) if cache else model
        self.instructions, self.memory, self.tries = instructions, memory, tries
        self.every, self.digits = every, digits
        self.asked = self.unclear = self.tokens_in = self.tokens_out = 0

    def begin(self, env: TaskVectorEnv) -> None:
        """Write the instructions.

        Raises:
            NotSupportedError: the task has continuous actions.
        """
        self.words = Wording(env.task, self.every, self.digits)
        about = self.instructions or summary_of(env.task.name)
        self._system = {"role": "system", "content": self.words.instructions(about)}
        self._readers = [Reader(self.words, self.memory) for _ in range(env.num_envs)]
        self._trial = env.trial_number.copy()

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        """Return the actions of the model where it is asked, (num_envs,), and rest elsewhere."""
        actions = np.full(env.num_envs, self.words.rest or 0)
        for k, reader in self.asked_readers(env, observations):
            actions[k] = self._choose(reader)
        return actions

    def asked_readers(
        self, env: TaskVectorEnv, observations: np.ndarray
    ) -> Iterator[tuple[int, Reader]]:
        """Show the observations to the reader of each env, and yield those that are asked now.

        Args:
            env: the vector env that is played.
            observations: (num_envs, obs), the current observations.
        """
        ended = env.trial_number != self._trial
        self._trial = env.trial_number.copy()
        length = env.task.trials_per_session
        asks = np.ones(env.num_envs, bool)
        if self.words.rest is not None:
            asks = env.is_asked & ~env.can_wait
        for k, reader in enumerate(self._readers):
            if ended[k]:
                reader.end(float(env.last_reward[k]))
                if length is not None and env.trial_number[k] % length == 0:
                    reader.forget()
            reader.see(observations[k])
            if asks[k]:
                yield k, reader

    def conversation(self, reader: Reader) -> list[dict[str, str]]:
        """Return the messages that end with the question to a reader."""
        return [self._system, *reader.messages()]

    def _choose(self, reader: Reader) -> int:
        """Ask for a choice until one is named; return its action."""
        self.asked += 1
        messages = self.conversation(reader)
        for _ in range(self.tries):
            made = self.model.reply(messages)
            self.tokens_in += made.tokens_in
            self.tokens_out += made.tokens_out
            action = self.words.choice(made.text)
            if action is not None:
                return reader.take(action)
            self.unclear += 1
            messages = [
                *messages,
                {"role": "assistant", "content": made.text},
                {"role": "user", "content": f"That is no choice. {self.words.question()}"},
            ]
        return reader.take(self.words.rest or 0)


class Reader:
    """The text of one env: finished trials as messages, and the current one."""

    def __init__(self, words: Wording, memory: int) -> None:
        self._words, self._memory = words, memory
        self.forget()
        self._rows: list[np.ndarray] = []
        self._since = 0.0

    def forget(self) -> None:
        """Forget the trials of the session."""
        self._trials: list[list[dict[str, str]]] = []
        self._now: list[dict[str, str]] = []
        self._told = ""

    def see(self, row: np.ndarray) -> None:
        """Take the observation of a step, (obs,)."""
        self._rows.append(np.array(row, float))

    def unread(self) -> str:
        """Return the text since the last choice, and the question."""
        text = self._words.seen(self._rows, self._since) if self._rows else ""
        return "\n".join(filter(None, (self._told, text, self._words.question())))

    def messages(self) -> list[dict[str, str]]:
        """Return the conversation, which ends with the question."""
        past = [one for trial in self._trials for one in trial]
        return [*past, *self._now, {"role": "user", "content": self.unread()}]

    def take(self, action: int) -> int:
        """Note a choice, after the text that led to it."""
        self._now += [
            {"role": "user", "content": self.unread()},
            {"role": "assistant", "content": self._words.choices[action]},
        ]
        self._since += len(self._rows) * self._words.dt
        self._rows, self._told = [], ""
        return action

    def end(self, reward: float) -> None:
        """Note the end of a trial; the next one begins with its reward."""
        if self._now:
            self._trials = [*self._trials, self._now][-self._memory :] if self._memory else []
        after = self._words.seen(self._rows, self._since) if self._rows else ""
        parts = (after, self._words.feedback(reward), "A new trial:")
        self._told = "\n".join(filter(None, parts))
        self._now, self._rows, self._since = [], [], 0.0


class Evaluated(Subject):
    """Another subject's choices, with their log-likelihood under a language model.

    It plays as the subject does. Where the model would be asked, it computes the probabilities of
    all choices and notes that of the subject's; the model reads the subject's choices and rewards
    as its own.

    Args:
        model: a `LanguageModel` whose model gives log-likelihoods.
        subject: a callable (env, observations) -> actions, such as a reference subject.

    Attributes:
        log_likelihoods: of each choice so far given the text before it, nats, normalised over the
            choices of the task.
    """

    def __init__(
        self, model: LanguageModel, subject: Callable[[TaskVectorEnv, np.ndarray], np.ndarray]
    ) -> None:
        super().__init__(0)
        self._reader, self._subject = model, subject
        self.log_likelihoods: list[float] = []

    def begin(self, env: TaskVectorEnv) -> None:
        """Begin both."""
        self._reader.begin(env)
        if hasattr(self._subject, "begin"):
            self._subject.begin(env)

    def __call__(self, env: TaskVectorEnv, observations: np.ndarray) -> np.ndarray:
        """Return the actions of the subject.

        Raises:
            NotSupportedError: the subject answers before the last step of a window, on which the
                model is asked.
        """
        actions = np.asarray(self._subject(env, observations))
        model, words = self._reader, self._reader.words
        if words.rest is not None and (env.can_wait & (actions != words.rest)).any():
            raise NotSupportedError(
                f"The subject answered {env.task.name} before the last step of the window, on which"
                " the model is asked. Expected answers on the last step. Shorten the window, or let"
                " the subject wait."
            )
        for k, reader in model.asked_readers(env, observations):
            scores = model.model.log_likelihoods(model.conversation(reader), words.choices)
            scores = scores - scores.max()
            given = int(actions[k])
            self.log_likelihoods.append(float(scores[given] - np.log(np.exp(scores).sum())))
            reader.take(given)
        return actions


def summary_of(name: str) -> str:
    """Return the summary of the newest installed task of a class, or a sentence for none."""
    found: Sequence[Any] = [
        one for one in installed().tasks if one.id.rpartition("/")[2].rpartition("-v")[0] == name
    ]
    return found[-1].summary if found else "Find out which choices are rewarded."
