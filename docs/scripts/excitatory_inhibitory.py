"""A network of excitatory and inhibitory units, and the selectivity of its units.

The steps are those of a well-known tutorial script on NeuroGym's random-dot motion: train a network
that obeys Dale's law (Song, Yang & Wang 2016, doi:10.1371/journal.pcbi.1004792), record its
activity in trials of known conditions, and compute d' of every unit for the two directions. The
text is ours.

    python docs/scripts/excitatory_inhibitory.py
"""

from __future__ import annotations

import numpy as np
import torch
from neurogym_torch import LeakyRNN, TorchDataset, masked_loss, record_activity

TASK = "PerceptualDecisionMaking-v0"
SETTINGS = {"dt": 20, "sigma": 1.0, "timing": {"fixation": 100, "stimulus": 500}}


def main(updates: int = 1000, repeats: int = 20) -> dict[str, float]:
    """Train, record, and return performance and median |d'| of both kinds of units."""
    data = TorchDataset(TASK, batch_size=16, seed=0, **SETTINGS)
    net = LeakyRNN(
        data.n_inputs, data.n_outputs, 50, dt=20, tau=100, dale=True, noise=0.05,
        activation="relu", seed=0,
    )  # fmt: skip
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    generator = torch.Generator().manual_seed(0)
    for update, batch in zip(range(1, updates + 1), data, strict=False):
        outputs, _ = net(batch.inputs, generator=generator)
        loss = masked_loss(outputs, batch.targets, batch.weights)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        if update % 200 == 0:
            print(f"{update} updates: loss {loss.detach():.4f}")

    # The conditions of the trials are known, so there is no list of env.trial to keep.
    activity = record_activity(net, data.task, data.task.factorial(repeats=repeats), seed=1)
    rates = activity.during("stimulus").rates
    late = rates[:, rates.shape[1] // 2 :].mean(axis=1)  # (trials, units)
    right = activity.record["direction"] == "right"
    spread = np.sqrt((late[right].var(axis=0) + late[~right].var(axis=0)) / 2) + 1e-6
    selectivity = np.abs(late[right].mean(axis=0) - late[~right].mean(axis=0)) / spread
    excitatory = net.sign.numpy() > 0
    found = {
        "performance": float(activity.record["performance"].mean()),
        "excitatory": float(np.median(selectivity[excitatory])),
        "inhibitory": float(np.median(selectivity[~excitatory])),
    }
    print(", ".join(f"{name} {value:.3f}" for name, value in found.items()))

    # Units that prefer one direction excite each other more than those of the other.
    prefers = late[right].mean(axis=0) > late[~right].mean(axis=0)
    weights = net.recurrent_weights.detach().numpy()  # (to, from)
    for name, same in (("the same", True), ("the other", False)):
        pairs = (prefers[:, None] == prefers) == same
        print(f"mean excitatory weight from units of {name} preference:",
              f"{weights[pairs & excitatory[None]].mean():.4f}")  # fmt: skip
    return found


if __name__ == "__main__":
    main()
