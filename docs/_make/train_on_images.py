"""A convolutional network with a GRU that is trained on the tasks of neurogym-task-visual.

These tasks are plain Gymnasium envs, which the trainers of the packages do not play. The network
sees the current and the last image, and learns the correct action of each step (`info["gt"]`) from
trials that are answered correctly. `train_gallery.py` trains it beside the other networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Discrete
from torch import nn

from neurogym_core import make

UNITS, ENVS, RATE = 64, 16, 2e-3
"""Units of the GRU, envs of a test, learning rate."""
GRID = 11
"""Width of the grid of points from which a network with continuous actions chooses."""


class ImageNetwork(nn.Module):
    """Two convolutions, a linear layer and a GRU; a linear readout gives logits.

    Args:
        outputs: number of actions.
        pixels: width of the images, a multiple of 4.
    """

    def __init__(self, outputs: int, pixels: int) -> None:
        super().__init__()
        self.see = nn.Sequential(
            nn.Conv2d(6, 16, 5, stride=2, padding=2, bias=False), nn.GroupNorm(1, 16), nn.ReLU(),
            nn.Conv2d(16, 16, 5, stride=2, padding=2), nn.GroupNorm(1, 16), nn.ReLU(),
            nn.Flatten(), nn.Linear(16 * (pixels // 4) ** 2, UNITS), nn.ReLU(),
        )  # fmt: skip
        self.remember = nn.GRU(UNITS, UNITS, batch_first=True)
        self.answer = nn.Linear(UNITS, outputs)

    def forward(
        self, images: torch.Tensor, state: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (B, T, outputs) and the state for pairs of images (B, T, 6, y, x)."""
        seen = self.see(images.flatten(0, 1)).unflatten(0, images.shape[:2])
        hidden, state = self.remember(seen, state)
        return self.answer(hidden), state


def pair(image: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return an image and its change (y, x, 3) as channels (6, y, x)."""
    new = image.astype(np.float32) / 255
    return np.concatenate((new - 0.5, 5 * (new - last / np.float32(255))), axis=2).transpose(
        2, 0, 1
    )


class ImageTraining:
    """The network of a task and its training.

    Args:
        task: id of a task whose observations are images.
        seed: seed of the weights and of the trials.
        pixels: width of the images.
        batch: trials of an update.
        params: parameters of the task.

    Attributes:
        done: number of updates.
    """

    def __init__(self, task: str, seed: int, pixels: int, batch: int, **params: Any) -> None:
        torch.manual_seed(seed)
        self.pixels, self.batch = pixels, batch
        self.envs = [make(task, size=pixels, **params) for _ in range(ENVS)]
        self.space = self.envs[0].action_space
        self.choices = np.arange(self.space.n) if isinstance(self.space, Discrete) else self._grid()
        self.network = ImageNetwork(len(self.choices), pixels)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=RATE)
        self.source = make(task, size=pixels, **params)
        self.image, _ = self.source.reset(seed=seed)
        self.done = 0

    def _grid(self) -> np.ndarray:
        """Return points (GRID ** 2, 2) of the space of actions, which has two dimensions."""
        axes = np.linspace(self.space.low, self.space.high, GRID).T
        return np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2).astype(np.float32)

    def take_over(self, earlier: ImageTraining) -> None:
        """Continue with the network of an earlier training, e.g. on an easier version."""
        self.network, self.optimizer, self.done = earlier.network, earlier.optimizer, earlier.done

    def trial(self) -> tuple[np.ndarray, np.ndarray]:
        """Return pairs of images (T, 6, y, x) and correct choices (T,) of a new trial."""
        pairs, targets, last, over = [], [], self.image, False
        while not over:
            pairs.append(pair(self.image, last))
            right = self.source.unwrapped.target
            apart = np.abs(self.choices - right).reshape(len(self.choices), -1).sum(axis=1)
            targets.append(int(apart.argmin()))
            last = self.image
            self.image, _, _, end, info = self.source.step(right)
            over = info["new_trial"]
            if end:
                self.image, _ = self.source.reset()
        return np.stack(pairs), np.asarray(targets)

    def update(self, times: int = 1) -> None:
        """Learn from batches of trials; the last step, the answer, weighs as much as the others."""
        for _ in range(times):
            self._learn()

    def _learn(self) -> None:
        trials = [self.trial() for _ in range(self.batch)]
        longest = max(len(targets) for _, targets in trials)
        images = np.zeros((self.batch, longest, 6, self.pixels, self.pixels), np.float32)
        weights = np.zeros((self.batch, longest), np.float32)
        wanted = np.zeros((self.batch, longest), np.int64)
        for row, (pairs, targets) in enumerate(trials):
            images[row, : len(pairs)], wanted[row, : len(pairs)] = pairs, targets
            weights[row, : len(pairs) - 1] = 1 / (len(pairs) - 1)
            weights[row, len(pairs) - 1] = 1
        outputs, _ = self.network(torch.from_numpy(images))
        goal = torch.from_numpy(wanted)
        losses = nn.functional.cross_entropy(outputs.transpose(1, 2), goal, reduction="none")
        loss = (losses * torch.from_numpy(weights)).sum() / self.batch
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.done += 1

    @torch.no_grad()
    def test(self, n_trials: int, seed: int) -> list[dict[str, Any]]:
        """Return the records of new trials that the network plays, in envs side by side.

        Each env plays the same number of trials, so that long ones are not left out.
        """
        now = [env.reset(seed=seed + number)[0] for number, env in enumerate(self.envs)]
        last, state = now, torch.zeros(1, ENVS, UNITS)
        played: list[list[dict[str, Any]]] = [[] for _ in self.envs]
        each = -(-n_trials // ENVS)
        while min(map(len, played)) < each:
            pairs = np.stack([pair(*both) for both in zip(now, last, strict=True)])
            outputs, state = self.network(torch.from_numpy(pairs)[:, None], state)
            last, now = now, []
            for number, action in enumerate(self.actions(outputs[:, 0])):
                image, _, _, end, info = self.envs[number].step(action)
                now.append(self.envs[number].reset()[0] if end else image)
                if info["new_trial"]:
                    played[number].append(info["trial"])
                    state[:, number], last[number] = 0, now[number]  # as in training
        return [trial for own in played for trial in own[:each]][:n_trials]

    def actions(self, outputs: torch.Tensor) -> Sequence[Any]:
        """Return an action for each row of outputs (n, outputs)."""
        return list(self.choices[outputs.argmax(dim=1).numpy()])
