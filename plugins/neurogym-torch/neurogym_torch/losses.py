"""Losses over weighted steps."""

from __future__ import annotations

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
