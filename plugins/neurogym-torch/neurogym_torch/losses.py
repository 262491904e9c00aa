"""Losses over weighted steps."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

LOSSES = ("cross-entropy", "mse")


def masked_loss(
    outputs: Tensor, targets: Tensor, weights: Tensor, unit_weights: Tensor | None = None
) -> Tensor:
    """Return the weighted mean loss over all steps, sum(weights * loss) / sum(weights), a scalar.

    The loss is cross-entropy if the targets are action ids (B, T) int64; else the squared error,
    averaged over the outputs.

    Args:
        outputs: (B, T, k).
        targets: (B, T) int64, or (B, T, k) float32.
        weights: (B, T); the outputs of steps with weight 0 do not change the loss.
        unit_weights: (k,) relative weights of the outputs in the squared error (Yang et al. 2019
            give the fixation output twice the weight).
    """
    if targets.is_floating_point():
        squares = (outputs - targets) ** 2
        loss = (
            squares.mean(dim=2)
            if unit_weights is None
            else (squares * unit_weights).sum(dim=2) / unit_weights.sum()
        )
    else:
        loss = functional.cross_entropy(
            outputs.flatten(0, 1), targets.flatten(), reduction="none"
        ).reshape(weights.shape)
    return (loss * weights).sum() / weights.sum().clamp_min(1e-9)


def balanced_weights(
    targets: Tensor, weights: Tensor, rest: int | None, balance: float = 0.5
) -> Tensor:
    """Return the weights of the steps, larger where the target is an answer, (B, T).

    The steps of answers weigh (rest / answers) ** `balance` times as much as before, where rest and
    answers are the total weights of steps at which the target is to rest and to answer. Without
    it, networks often never give an answer that is one step long.

    Args:
        targets: (B, T) int64; weights for targets of another type are returned unchanged.
        weights: (B, T), as the task sets them.
        rest: target on the steps without an answer (``task.actions.rest``); None: every step has an
            answer, and the weights are returned unchanged.
        balance: 0: as the task sets them; 1: rest and answers weigh the same in total. Answers
            never weigh less than before.
    """
    if not balance or rest is None or targets.is_floating_point():
        return weights
    answers = targets != rest
    total = (weights * answers).sum()
    if not total:
        return weights
    factor = ((weights.sum() - total) / total).clamp_min(1.0) ** balance
    return torch.where(answers, weights * factor, weights)
