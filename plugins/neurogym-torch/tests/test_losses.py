"""The masked, weighted loss."""

from __future__ import annotations

import pytest
import torch
from neurogym_torch import balanced_weights, masked_loss


def test_cross_entropy_is_the_weighted_mean_over_steps():
    outputs = torch.tensor([[[0.0, 0.0], [2.0, 0.0]]])
    loss = masked_loss(outputs, torch.tensor([[0, 1]]), torch.tensor([[1.0, 3.0]]))
    expected = (torch.log(torch.tensor(2.0)) + 3 * torch.log1p(torch.exp(torch.tensor(2.0)))) / 4
    assert loss == pytest.approx(expected.item())


def test_squared_error_is_averaged_over_the_weighted_outputs():
    outputs, targets = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[0.0, 0.0]]])
    ones = torch.ones(1, 1)
    assert masked_loss(outputs, targets, ones) == pytest.approx((1 + 4) / 2)
    assert masked_loss(outputs, targets, ones, torch.tensor([2.0, 1.0])) == pytest.approx(
        (2 * 1 + 4) / 3
    )


def test_masked_steps_do_not_count():
    outputs = torch.randn(2, 3, 4, requires_grad=True)
    targets, weights = torch.randint(4, (2, 3)), torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 2.0]])
    masked_loss(outputs, targets, weights).backward()
    assert not outputs.grad[weights == 0].any()
    assert outputs.grad[weights > 0].any(dim=-1).all()


def test_a_batch_without_any_weight_has_no_loss():
    assert (
        masked_loss(torch.randn(1, 2, 3), torch.zeros(1, 2, dtype=torch.long), torch.zeros(1, 2))
        == 0
    )


def test_rare_answers_weigh_more():
    targets, weights = torch.tensor([[0, 0, 0, 0, 2]]), torch.ones(1, 5)
    expected = {0.0: 1.0, 0.5: 2.0, 1.0: 4.0}  # four steps of rest, one answer
    for balance, factor in expected.items():
        found = balanced_weights(targets, weights, 0, balance)
        assert found.tolist() == [[1, 1, 1, 1, factor]]
    assert balanced_weights(targets, weights, None) is weights
    assert balanced_weights(targets.float(), weights, 0) is weights
    assert balanced_weights(torch.zeros_like(targets), weights, 0) is weights
    often = torch.tensor([[1, 1, 1, 1, 0]])
    assert torch.equal(balanced_weights(often, weights, 0), weights)
