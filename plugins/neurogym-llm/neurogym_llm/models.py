"""Language models that reply: on a server with OpenAI's interface, or on this machine."""

from __future__ import annotations

import hashlib
import http.client
import json
import math
import os
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from neurogym_core import InvalidValueError, NeurogymError, NotSupportedError
from neurogym_core.tools import optional

Messages = Sequence[dict[str, str]]
"""Messages of a conversation, each with "role" (system, user, assistant) and "content"."""
MOST = 4 << 20
"""Bytes of a reply of a server that are read."""
BUSY = (408, 409, 429, 500, 502, 503, 504)
"""HTTP statuses after which the request is sent again."""


class ModelError(NeurogymError):
    """A model did not reply."""


@dataclass(frozen=True)
class Reply:
    """A reply, and the tokens that were read and written for it (0 where they are not known)."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


class Model(Protocol):
    """Anything that replies to messages, and, if it can, gives the log-likelihood of a reply."""

    def reply(self, messages: Messages) -> Reply:
        """Return the reply to a conversation that ends with a message of the user."""

    def log_likelihoods(self, messages: Messages, replies: Sequence[str]) -> np.ndarray:
        """Return the log-likelihood of each reply to the conversation, nats, (replies,)."""


class Server:
    """A model on a server with OpenAI's interface (vLLM, llama.cpp, Ollama, or a company's).

    Args:
        model: name of the model on the server.
        url: address of the interface, such as ``"http://localhost:8000/v1"``; by default that of
            the environment variable ``OPENAI_BASE_URL``.
        key: by default that of ``OPENAI_API_KEY``; servers on this machine need none.
        temperature: 0: the most probable reply.
        max_tokens: longest reply.
        retries: times that a request is sent again when the server is busy or does not answer,
            after 1, 2, 4, … s.
        timeout: s.

    Raises:
        InvalidValueError: no address.
    """

    def __init__(
        self,
        model: str,
        *,
        url: str = "",
        key: str = "",
        temperature: float = 0.0,
        max_tokens: int = 16,
        retries: int = 4,
        timeout: float = 120.0,
    ) -> None:
        self.model, self.temperature, self.max_tokens = model, temperature, max_tokens
        self.url = (url or os.environ.get("OPENAI_BASE_URL", "")).rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise InvalidValueError(
                f"The address {self.url!r} was given for the model {model!r}. Expected that of a"
                " server with OpenAI's interface, such as http://localhost:8000/v1. Give url=, or"
                " set OPENAI_BASE_URL."
            )
        self._key = key or os.environ.get("OPENAI_API_KEY", "")
        self.retries, self.timeout = retries, timeout

    def reply(self, messages: Messages) -> Reply:
        """Return the reply of the server.

        Raises:
            ModelError: the server refused the request, or did not answer.
        """
        asked = {
            "model": self.model,
            "messages": list(messages),
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }
        said = self._post("/chat/completions", asked)
        try:
            text = said["choices"][0]["message"]["content"] or ""
        except (KeyError, IndexError, TypeError):
            raise self._wrong(said) from None
        used = said.get("usage") or {}
        return Reply(text, int(used.get("prompt_tokens", 0)), int(used.get("completion_tokens", 0)))

    def log_likelihoods(self, messages: Messages, replies: Sequence[str]) -> np.ndarray:
        """Return the log-likelihood of each reply, from the probabilities of its tokens.

        The server has to echo a prompt with ``logprobs`` at ``/completions`` (vLLM and llama.cpp
        do). The messages are joined as plain text, since this interface has no roles.

        Raises:
            NotSupportedError: the server gives no such probabilities.
            ModelError: as `reply`.
        """
        before = plain(messages)
        found = []
        for text in replies:
            asked = {
                "model": self.model, "prompt": f"{before} {text}", "max_tokens": 0, "echo": True,
                "logprobs": 1, "temperature": 0,
            }  # fmt: skip
            said = self._post("/completions", asked)
            try:
                scored = said["choices"][0]["logprobs"]
                offsets, values = scored["text_offset"], scored["token_logprobs"]
            except (KeyError, IndexError, TypeError):
                raise NotSupportedError(
                    f"{self.url} returned no log-probabilities of the prompt's tokens. Expected"
                    " those of `echo` with `logprobs`. Use another server, or the model itself:"
                    " neurogym_llm.Local."
                ) from None
            own = [v for at, v in zip(offsets, values, strict=True) if at >= len(before)]
            found.append(math.fsum(value for value in own if value is not None))
        return np.array(found)

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            self.url + path,
            json.dumps(body).encode(),
            {"Content-Type": "application/json"}
            | ({"Authorization": f"Bearer {self._key}"} if self._key else {}),
        )
        why = ""
        for attempt in range(self.retries + 1):
            if attempt:
                time.sleep(2.0 ** (attempt - 1) * WAIT)
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                    return json.loads(answer.read(MOST))
            except urllib.error.HTTPError as error:
                detail = error.read(2000).decode("utf-8", "replace")
                why = f"{error.code} {error.reason}: {detail[:200].strip()}"
                if error.code not in BUSY:
                    break
            except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
                why = f"{type(error).__name__}: {error}"
        raise ModelError(
            f"{self.url}{path} did not answer for the model {self.model!r}: {why}. Expected a"
            " reply. Check the address, the name of the model and the key (OPENAI_API_KEY)."
        )

    def _wrong(self, said: Any) -> ModelError:
        return ModelError(
            f"{self.url} returned {json.dumps(said)[:200]}. Expected a completion with a message."
            " Check that the server has OpenAI's interface."
        )

    def __repr__(self) -> str:
        return f"Server({self.model!r}, url={self.url!r}, temperature={self.temperature:g})"


WAIT = 1.0
"""Seconds before the first repetition of a request."""


class Local:
    """A causal model of the library transformers on this machine.

    Args:
        model: a folder or name that ``AutoModelForCausalLM.from_pretrained`` takes, or a model.
        tokenizer: the tokenizer of a model that is given itself.
        max_tokens: longest reply.
        device: "cpu", "cuda", …

    Raises:
        MissingDependencyError: transformers or torch is not installed.
        InvalidValueError: a model without its tokenizer.
    """

    def __init__(
        self, model: Any, tokenizer: Any = None, *, max_tokens: int = 16, device: str = "cpu"
    ) -> None:
        self._torch = optional("torch", needed_for="A local language model")
        transformers = optional("transformers", needed_for="A local language model")
        if isinstance(model, str | Path):
            tokenizer = tokenizer or transformers.AutoTokenizer.from_pretrained(str(model))
            model = transformers.AutoModelForCausalLM.from_pretrained(str(model))
        if tokenizer is None:
            raise InvalidValueError(
                "Local was given a model without a tokenizer. Expected both, or a name. Give"
                " tokenizer=."
            )
        self.name = str(getattr(model, "name_or_path", "")) or type(model).__name__
        self._model, self._tokenizer = model.to(device).eval(), tokenizer
        self.max_tokens, self.device = max_tokens, device

    def reply(self, messages: Messages) -> Reply:
        """Return the most probable reply."""
        given = self._encoded(self._prompt(messages))
        with self._torch.no_grad():
            made = self._model.generate(
                given, max_new_tokens=self.max_tokens, do_sample=False,
                attention_mask=self._torch.ones_like(given),
                pad_token_id=self._tokenizer.eos_token_id or 0,
            )  # fmt: skip
        own = made[0, given.shape[1] :]
        text = self._tokenizer.decode(own, skip_special_tokens=True)
        return Reply(text.strip().partition("\n")[0], given.shape[1], len(own))

    def log_likelihoods(self, messages: Messages, replies: Sequence[str]) -> np.ndarray:
        """Return the log-likelihood of each reply, summed over its tokens."""
        prompt = self._encoded(self._prompt(messages))
        found = []
        for text in replies:
            own = self._encoded(f" {text}", start=False)
            whole = self._torch.cat([prompt, own], dim=1)
            with self._torch.no_grad():
                scores = self._model(whole).logits[0, prompt.shape[1] - 1 : -1]
            taken = scores.double().log_softmax(-1)[range(own.shape[1]), own[0]]
            found.append(float(taken.sum()))
        return np.array(found)

    def _prompt(self, messages: Messages) -> str:
        if getattr(self._tokenizer, "chat_template", None):
            return str(
                self._tokenizer.apply_chat_template(
                    list(messages), tokenize=False, add_generation_prompt=True
                )
            )
        return plain(messages)

    def __repr__(self) -> str:
        return f"Local({self.name!r}, max_tokens={self.max_tokens})"

    def _encoded(self, text: str, start: bool = True) -> Any:
        found = self._tokenizer(text, return_tensors="pt", add_special_tokens=start)
        return found["input_ids"].to(self.device)


class Cached:
    """A model whose replies are kept in a file, so that the same question is asked once.

    Args:
        model: the model. Its repr is part of the key, with the settings of its replies.
        file: lines of JSON, which are added to.

    Raises:
        InvalidValueError: the file holds something else.
    """

    def __init__(self, model: Model, file: str | Path) -> None:
        self.model, self.file = model, Path(file)
        self._known: dict[str, Reply] = {}
        if self.file.exists():
            lines = self.file.read_text("utf-8").split("\n")
            # The last one is empty, unless a program was stopped while it wrote.
            for number, line in enumerate(lines[:-1], 1):
                try:
                    entry = json.loads(line)
                    self._known[entry["key"]] = Reply(entry["reply"])
                except (json.JSONDecodeError, KeyError, TypeError):
                    raise InvalidValueError(
                        f"Line {number} of {str(self.file)!r} is no reply. Expected a file that"
                        " neurogym_llm wrote. Remove the line, or name another file."
                    ) from None

    def reply(self, messages: Messages) -> Reply:
        """Return the reply in the file, with 0 tokens, or that of the model."""
        asked = json.dumps([repr(self.model), list(messages)], ensure_ascii=False)
        key = hashlib.sha256(asked.encode()).hexdigest()
        if key not in self._known:
            made = self.model.reply(messages)
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a+b") as lines:
                if lines.seek(0, os.SEEK_END):
                    lines.seek(-1, os.SEEK_END)
                    lines.write(b"" if lines.read(1) == b"\n" else b"\n")
                lines.write(json.dumps({"key": key, "reply": made.text}).encode() + b"\n")
            self._known[key] = Reply(made.text)
            return made
        return self._known[key]

    def log_likelihoods(self, messages: Messages, replies: Sequence[str]) -> np.ndarray:
        """Return those of the model."""
        return self.model.log_likelihoods(messages, replies)


def plain(messages: Messages) -> str:
    """Return a conversation as text, for models without roles; it ends where a reply begins."""
    parts = [
        f"You choose: {one['content']}" if one["role"] == "assistant" else one["content"]
        for one in messages
    ]
    return "\n".join([*parts, "You choose:"])
