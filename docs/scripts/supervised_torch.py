"""Supervised learning with PyTorch, after NeuroGym's notebook of that name.

An LSTM gets streams of trials of random-dot motion, and learns the correct action of every step.
Then it plays trials that it has not seen.

    python docs/scripts/supervised_torch.py
"""

from __future__ import annotations

import torch
from neurogym_torch import TorchDataset
from torch import nn

from neurogym_core import make_task

TASK, SETTINGS = "PerceptualDecisionMaking-v0", {"dt": 100}


class Net(nn.Module):
    """An LSTM with a linear readout."""

    def __init__(self, n_inputs: int, n_outputs: int, hidden: int = 64) -> None:
        super().__init__()
        self.lstm = nn.LSTM(n_inputs, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, n_outputs)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return outputs (batch, time, n_outputs) for inputs (batch, time, n_inputs)."""
        return self.readout(self.lstm(inputs)[0])


def main(updates: int = 1000, trials: int = 500) -> float:
    """Train, test, and return the fraction of trials whose last step is correct."""
    torch.manual_seed(0)
    dataset = TorchDataset(TASK, batch_size=16, seq_len=100, seed=0, **SETTINGS)
    net = Net(dataset.n_inputs, dataset.n_outputs)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss()
    for update, batch in zip(range(1, updates + 1), dataset, strict=False):
        outputs = net(batch.inputs)
        loss = criterion(outputs.flatten(0, 1), batch.targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 200 == 0:
            print(f"{update} updates: loss {loss:.4f}")

    # New trials, one after another, instead of a loop over env.new_trial(), env.ob and env.gt.
    task = make_task(TASK, **SETTINGS)
    sampled = task.sample(trials, seed=1)
    correct = []
    for k in range(trials):
        one = sampled.take([k])
        with torch.no_grad():
            outputs = net(torch.from_numpy(one.render(seed=2 + k))[None])
        correct.append(int(outputs[0, -1].argmax()) == one.render_targets()[-1])
    performance = sum(correct) / trials
    print(f"correct on the last step: {performance:.3f} of {trials} trials")
    return performance


if __name__ == "__main__":
    main()
