"""Own loops of torch users: torch.compile, mixed precision, PyTorch Lightning."""

from __future__ import annotations

import shutil

import pytest
import torch
from neurogym_torch import Epochs, LeakyRNN, NetworkSubject, TorchDataset, masked_loss
from torch import nn

from neurogym_core import InvalidValueError, run


class Small(nn.Module):
    """An ordinary module, which keeps the mean of its inputs so far."""

    def __init__(self, n_inputs, n_outputs):
        super().__init__()
        self.inside = nn.Linear(n_inputs, 8)
        self.readout = nn.Linear(8, n_outputs)

    def forward(self, inputs):
        hidden = torch.tanh(self.inside(inputs.cumsum(dim=1)))
        return self.readout(hidden), hidden


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
@pytest.mark.parametrize("kind", ["module", "network"])
def test_a_compiled_network_trains_and_plays(kind, tasks):
    data = TorchDataset(tasks.Sides, 8, 5, seed=1)
    torch.manual_seed(0)
    network = Small(2 + 1, 3) if kind == "module" else LeakyRNN(3, 3, 8, dt=100)
    compiled = torch.compile(network)
    optimizer = torch.optim.Adam(compiled.parameters(), lr=1e-2)
    for batch, _ in zip(data, range(4), strict=False):
        outputs, hidden = compiled(batch.inputs)
        eager, _ = network(batch.inputs)
        torch.testing.assert_close(outputs, eager, rtol=1e-4, atol=1e-5)
        loss = masked_loss(outputs, batch.targets, batch.weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert hidden.shape == (8, 5, 8)
    assert batch.score(outputs) == batch.score(eager)
    # Compiled once: batches of streams have one shape.
    assert torch._dynamo.utils.counters["frames"]["total"] <= 2
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()


def test_a_network_plays_after_it_was_compiled(tasks):
    network = LeakyRNN(3, 3, 8, dt=100)
    compiled = torch.compile(network)  # compiles when it is called, which playing does not
    wanted = run(tasks.Sides, NetworkSubject(network), 10, seed=1)
    assert run(tasks.Sides, NetworkSubject(compiled), 10, seed=1) == wanted


def test_outputs_of_mixed_precision_are_trained_and_scored(tasks):
    data = TorchDataset(tasks.Sides, 8, seed=1)
    network = LeakyRNN(data.n_inputs, data.n_outputs, 8, dt=100)
    batch = next(data)
    with torch.autocast("cpu", torch.bfloat16):
        outputs, _ = network(batch.inputs)
        loss = masked_loss(outputs, batch.targets, batch.weights)
    assert outputs.dtype == torch.bfloat16
    loss.backward()
    assert {part.grad.dtype for part in network.parameters()} == {torch.float32}
    assert batch.score(outputs) == batch.score(outputs.float())


def _module(lightning, seen):
    class Net(lightning.LightningModule):
        def __init__(self, n_inputs, n_outputs):
            super().__init__()
            self.network = Small(n_inputs, n_outputs)

        def training_step(self, batch):
            seen.append(batch.inputs.clone())
            outputs, _ = self.network(batch.inputs)
            return masked_loss(outputs, batch.targets, batch.weights)

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=1e-2)

    return Net


def _trainer(lightning, folder, steps):
    return lightning.Trainer(
        max_steps=steps,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
    )


@pytest.mark.slow
def test_a_resumed_lightning_run_goes_on_in_the_stream(tasks, tmp_path):
    lightning = pytest.importorskip("lightning")
    seen = {"whole": [], "first": [], "second": []}

    def fit(name, steps, checkpoint=None):
        torch.manual_seed(0)
        data = TorchDataset(tasks.Sides, 8, seed=1)
        model = _module(lightning, seen[name])(data.n_inputs, data.n_outputs)
        trainer = _trainer(lightning, tmp_path, steps)
        trainer.fit(model, Epochs(data, 4), ckpt_path=checkpoint)
        return trainer, model

    _, whole = fit("whole", 10)
    trainer, _ = fit("first", 6)  # in the middle of an epoch
    trainer.save_checkpoint(tmp_path / "half.ckpt")
    _, second = fit("second", 10, str(tmp_path / "half.ckpt"))
    assert len(seen["second"]) == 4
    pairs = zip(seen["whole"], seen["first"] + seen["second"], strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    pairs = zip(whole.parameters(), second.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_epochs_follow_each_other_in_the_stream_and_continue_where_they_were_saved(tasks):
    epochs, plain = (
        Epochs(TorchDataset(tasks.Sides, 8, seed=1), 3),
        TorchDataset(tasks.Sides, 8, seed=1),
    )
    wanted = [next(plain).inputs for _ in range(6)]
    assert len(epochs) == 3
    assert all(torch.equal(batch.inputs, one) for batch, one in zip(epochs, wanted, strict=False))
    begun = iter(epochs)
    assert torch.equal(next(begun).inputs, wanted[3])
    other = Epochs(TorchDataset(tasks.Sides, 8, seed=1), 3)
    other.load_state_dict(epochs.state_dict())
    rest = [batch.inputs for batch in other]
    assert len(rest) == 2
    assert all(torch.equal(one, two) for one, two in zip(rest, wanted[4:], strict=True))


@pytest.mark.parametrize("batches", [0, 1.5, True])
def test_an_epoch_needs_a_number_of_batches(batches, tasks):
    with pytest.raises(InvalidValueError, match="batches="):
        Epochs(TorchDataset(tasks.Sides, 8), batches)
