"""Fixed points of a trained network.

The steps are those of a well-known tutorial script on NeuroGym's random-dot motion: train a rate
network, project its activity on two principal components, and search states in which the network
stands still (Sussillo & Barak 2013, doi:10.1162/NECO_a_00409). The text is ours.

    python docs/scripts/fixed_points.py
"""

from __future__ import annotations

import numpy as np
import torch
from neurogym_torch import LeakyRNN, TorchDataset, masked_loss, record_activity

TASK = "PerceptualDecisionMaking-v0"
SETTINGS = {"dt": 20, "sigma": 1.0, "timing": {"fixation": 100, "stimulus": 500}}


def main(updates: int = 1000, iterations: int = 2000, repeats: int = 10) -> dict[str, float]:
    """Train, record, search, and return the performance and the speeds of the found points."""
    data = TorchDataset(TASK, batch_size=16, seed=0, **SETTINGS)
    net = LeakyRNN(data.n_inputs, data.n_outputs, 64, dt=20, tau=100, activation="relu", seed=0)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for update, batch in zip(range(1, updates + 1), data, strict=False):
        outputs, _ = net(batch.inputs)
        loss = masked_loss(outputs, batch.targets, batch.weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 200 == 0:
            print(f"{update} updates: loss {loss.detach():.4f}")

    activity = record_activity(net, data.task, data.task.factorial(repeats=repeats), seed=1)
    rates = activity.during("stimulus").rates  # (trials, steps, units)
    states = rates.reshape(-1, rates.shape[2])
    mean = states.mean(axis=0)
    _, values, components = np.linalg.svd(states - mean, full_matrices=False)
    share = float((values[:2] ** 2).sum() / (values**2).sum())

    # The input during the stimulus, without coherence and noise.
    constant = torch.zeros(1, 1, data.n_inputs)
    constant[..., data.task.channels["fixation"]] = 1.0
    constant[..., data.task.channels["stimulus"]] = 0.5
    rng = np.random.default_rng(0)
    state = torch.tensor(states[rng.choice(len(states), 64)], requires_grad=True)
    search = torch.optim.Adam([state], lr=1e-2)
    net.requires_grad_(False)
    inputs = constant.expand(len(state), 1, -1)
    for _ in range(iterations):
        _, _, following = net.unroll(inputs, state)
        speed = ((following - state) ** 2).sum(dim=1)
        search.zero_grad()
        speed.mean().backward()
        search.step()
    points = (state.detach().numpy() - mean) @ components[:2].T
    found = {
        "performance": float(activity.record["performance"].mean()),
        "share of the first two components": share,
        "speed": float(speed.detach().median()),
        "extent": float(np.ptp(points[:, 0])),
    }
    print(", ".join(f"{name} {value:.4g}" for name, value in found.items()))
    return found


if __name__ == "__main__":
    main()
