"""Losses over steps of different weight."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

LOSSES = ("cross-entropy", "mse")


def masked_loss(
    outputs: Tensor, targets: Tensor, weights: Tensor, unit_weights: Tensor | None = None
) -> Tensor:
    """Weighted mean over all steps: sum(weights * loss) / sum(weights), a scalar.

    Cross-entropy where the targets are action ids (B, T) int64; else squared error, averaged over
    the outputs.

    Args:
        outputs: (B, T, k).
        targets: (B, T) int64, or (B, T, k) float32.
        weights: (B, T); steps of weight 0 are masked: neither they nor what is shown there changes
            the loss.
        unit_weights: (k,) relative weights of the outputs in the squared error (Yang et al. 2019
            count the fixation output twice).
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
