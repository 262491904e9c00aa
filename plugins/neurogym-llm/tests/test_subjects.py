"""A language model reads instructions, earlier trials and this one; its choices are recorded."""

from __future__ import annotations

import neurogym_llm.models
import numpy as np
import pytest
from click.testing import CliRunner
from neurogym_likeness.blind import BlindPlayer
from neurogym_llm import Cached, Evaluated, LanguageModel, ModelError, Reply, Server

from neurogym_core import InvalidValueError, NotSupportedError, make_task, run
from neurogym_core.tools import main

DOTS = "perceptual/PerceptualDecisionMaking-v0"


def completion(text, **usage):
    return {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage}


class Says:
    """Replies in turn, the last one for ever, and keeps the conversations."""

    def __init__(self, *replies):
        self.replies, self.read = list(replies), []

    def reply(self, messages):
        self.read.append(messages)
        return Reply(self.replies.pop(0) if len(self.replies) > 1 else self.replies[0], 10, 1)


def test_the_conversation_has_instructions_choices_rewards_and_this_trial():
    model = Says("left", "right", "left")
    record = run(DOTS, LanguageModel(model=model, memory=1), 3, seed=1)
    assert record["choice"].tolist() == ["left", "right", "left"]
    system, first = model.read[0]
    assert system["role"] == "system"
    assert "stronger" in system["content"] or "direction" in system["content"].lower()
    assert first["content"].endswith("Choose: right, left, or fixate (no answer).")
    assert first["content"].startswith("0-")
    # One earlier trial, its choice, and its reward at the beginning of the next text.
    roles = [one["role"] for one in model.read[2]]
    assert roles == ["system", "user", "assistant", "user"]
    assert model.read[2][2]["content"] == "right"
    last = model.read[2][-1]["content"]
    assert last.startswith(f"Reward: {record['reward'][1]:g}.\nA new trial:\n0-")


def test_an_unclear_reply_is_asked_for_again_and_then_is_no_answer():
    model = Says("hm", "both left and right", "left", "?")
    subject = LanguageModel(model=model, tries=2)
    record = run(DOTS, subject, 2, seed=1)
    assert record["outcome"].tolist()[0] == "miss"
    assert record["choice"][1] == "left"
    assert (subject.asked, subject.unclear, subject.tokens_in, subject.tokens_out) == (2, 2, 30, 3)
    assert model.read[1][-1]["content"].startswith("That is no choice. Choose: right")


def test_it_can_be_scored_blind():
    with BlindPlayer(("llm", {"model": _Right()})) as player:
        record = run(DOTS, player, 5, seed=0)
    assert set(record["choice"].tolist()) == {"right"}


class _Right:
    def reply(self, messages):
        return Reply("right")


def test_a_server_is_asked_with_its_key_and_tokens_are_counted(served, monkeypatch):
    server = served(lambda path, body: (200, completion("Left", prompt_tokens=7,
                                                        completion_tokens=2)))  # fmt: skip
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    subject = LanguageModel(model="tiny", url=server.url)
    record = run(DOTS, subject, 2, seed=1)
    assert record["choice"].tolist() == ["left", "left"]
    assert (subject.tokens_in, subject.tokens_out) == (14, 4)
    path, body, headers = server.requests[0]
    assert (path, body["model"], body["temperature"]) == ("/v1/chat/completions", "tiny", 0)
    assert headers["Authorization"] == "Bearer secret"


def test_the_terminal_plays_a_model_of_a_server(served):
    server = served(lambda path, body: (200, completion("right")))
    ran = CliRunner().invoke(
        main, ["run", DOTS, "--subject", f"llm:model=tiny,url={server.url}", "--n-trials", "3"]
    )
    assert ran.exit_code == 0, ran.output
    refused = CliRunner().invoke(main, ["run", DOTS, "--subject", "llm", "--n-trials", "3"])
    assert refused.exit_code != 0
    assert "was given no model" in refused.output


def test_a_busy_server_is_asked_again_and_a_wrong_request_is_not(served, monkeypatch):
    monkeypatch.setattr(neurogym_llm.models, "WAIT", 0.001)
    replies = iter([(503, b"busy"), (200, b"{not JSON"), (200, completion("left"))])
    server = served(lambda path, body: next(replies))
    assert Server("tiny", url=server.url).reply([]).text == "left"
    assert len(server.requests) == 3
    server = served(lambda path, body: (401, b"no such key"))
    with pytest.raises(ModelError, match=r"401.*no such key.*Check the address"):
        Server("tiny", url=server.url).reply([])
    assert len(server.requests) == 1
    server = served(lambda path, body: (200, {"odd": 1}))
    with pytest.raises(ModelError, match="Expected a completion"):
        Server("tiny", url=server.url).reply([])
    server = served(lambda path, body: (500, b""))
    with pytest.raises(ModelError, match="did not answer"):
        Server("tiny", url=server.url, retries=1).reply([])
    assert len(server.requests) == 2


def test_an_address_is_asked_for(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InvalidValueError, match="OPENAI_BASE_URL"):
        LanguageModel(model="tiny")


def test_a_reply_in_the_cache_is_not_asked_for_again(tmp_path):
    file = tmp_path / "replies.jsonl"
    model = Says("left")
    model.__class__.__repr__ = lambda self: "Says"
    first = run(DOTS, LanguageModel(model=model, cache=str(file)), 5, seed=1)
    assert len(model.read) == 5
    # A program that was stopped while it wrote leaves half a line.
    with file.open("a") as lines:
        lines.write('{"key": "ab')
    silent = Says("right")
    again = run(DOTS, LanguageModel(model=silent, cache=str(file)), 5, seed=1)
    assert silent.read == []
    assert again["choice"].tolist() == first["choice"].tolist()
    assert len(Cached(model, file)._known) == 5
    file.write_text("{}\n")
    with pytest.raises(InvalidValueError, match="Line 1 of"):
        Cached(model, file)


class Weighted:
    """Gives "right" three times the probability of the other choices."""

    def reply(self, messages):
        return Reply("right")

    def log_likelihoods(self, messages, replies):
        return np.log([3.0 if reply == "right" else 1.0 for reply in replies]) - 5


def test_choices_of_another_subject_are_evaluated():
    evaluated = Evaluated(LanguageModel(model=Weighted()), _always("right"))
    record = run(DOTS, evaluated, 4, seed=1)
    assert set(record["choice"].tolist()) == {"right"}
    assert np.allclose(evaluated.log_likelihoods, np.log(3 / 5))
    other = Evaluated(LanguageModel(model=Weighted()), _always("left"))
    run(DOTS, other, 4, seed=1)
    assert np.allclose(other.log_likelihoods, np.log(1 / 5))


def test_answers_before_the_model_is_asked_are_refused():
    early = Evaluated(LanguageModel(model=Weighted()), _always("right", early=True))
    with pytest.raises(NotSupportedError, match="before the last step"):
        run(DOTS, early, 4, seed=1)


def _always(side, early=False):
    action = make_task(DOTS).actions.labels().index(side)

    def play(env, observations):
        return np.where(env.is_asked & (early | ~env.can_wait), action, 0)

    return play


def test_a_server_that_echoes_probabilities_gives_log_likelihoods(served):
    def said(path, body):
        assert path == "/v1/completions"
        words = body["prompt"].split(" ")
        offsets = np.cumsum([0] + [len(word) + 1 for word in words[:-1]]) - 1
        values = [None] + [-1.0] * (len(words) - 2) + [-2.5 if words[-1] == "left" else -0.5]
        scored = {"text_offset": [max(int(at), 0) for at in offsets], "token_logprobs": values}
        return 200, {"choices": [{"logprobs": scored}]}

    server = served(said)
    messages = [{"role": "user", "content": "Choose: left, right."}]
    found = Server("tiny", url=server.url).log_likelihoods(messages, ["left", "right"])
    assert found.tolist() == [-2.5, -0.5]
    server = served(lambda path, body: (200, completion("left")))
    with pytest.raises(NotSupportedError, match=r"neurogym_llm\.Local"):
        Server("tiny", url=server.url).log_likelihoods(messages, ["left"])
