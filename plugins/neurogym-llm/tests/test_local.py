"""A tiny random network of the library transformers plays, and gives log-likelihoods."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_llm import Evaluated, LanguageModel, Local

from neurogym_core import InvalidValueError, run

DOTS = "perceptual/PerceptualDecisionMaking-v0"


class Letters:
    """A tokenizer of bytes, with the calls that `Local` makes."""

    eos_token_id = 0
    chat_template = None

    def __call__(self, text, return_tensors, add_special_tokens):
        import torch

        return {"input_ids": torch.tensor([[int(b) for b in text.encode()]])}

    def decode(self, ids, skip_special_tokens):
        return bytes(int(one) % 256 for one in ids).decode("utf-8", "replace")


@pytest.fixture(scope="module")
def network():
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=256, n_positions=8192, n_embd=16, n_layer=1, n_head=2, bos_token_id=0,
        eos_token_id=0,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config)


@pytest.mark.slow
def test_a_random_network_plays_and_mostly_names_no_choice(network):
    subject = LanguageModel(model=Local(network, Letters(), max_tokens=4), tries=1, memory=0)
    record = run(DOTS, subject, 3, seed=1)
    assert len(record) == 3
    assert subject.asked == 3
    assert subject.tokens_out == 12


@pytest.mark.slow
def test_log_likelihoods_are_those_of_the_tokens(network):
    import torch

    model = Local(network, Letters())
    messages = [{"role": "user", "content": "Choose: left."}]
    found = model.log_likelihoods(messages, ["left", "right"])
    # One token at a time, as the network would write it.
    text = "Choose: left.\nYou choose:"
    total = 0.0
    for letter in " left":
        ids = torch.tensor([list(text.encode())])
        with torch.no_grad():
            total += float(network(ids).logits[0, -1].log_softmax(-1)[ord(letter)])
        text += letter
    assert found[0] == pytest.approx(total, abs=1e-3)
    assert found[1] < found[0] + 50
    evaluated = Evaluated(LanguageModel(model=model, memory=0), lambda env, seen: np.where(
        env.is_asked & ~env.can_wait, 1, 0))  # fmt: skip
    run(DOTS, evaluated, 2, seed=1)
    assert all(-20 < value <= 0 for value in evaluated.log_likelihoods)


def test_a_model_needs_its_tokenizer(network):
    with pytest.raises(InvalidValueError, match="tokenizer="):
        Local(network)
