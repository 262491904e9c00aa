"""The recipe yang19 has the loss and the settings of the authors' code."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from neurogym_task_yang19.families import RULES
from neurogym_task_yang19.published import published
from neurogym_training import Experiment, Run
from neurogym_training.recipes import recipe_for


def made(**options):
    said = recipe_for("yang19", [])
    options = {**said["options"], "batch": said["batch"], "test_trials": 10, **options}
    tasks = tuple(one if isinstance(one, dict) else {"task": one} for one in said["tasks"])
    return Experiment(
        tasks=tasks, kind="model", trainer=said["model"], amount=1, parameters=said["set"],
        options=options,
    ).make_trainer()  # fmt: skip


@pytest.fixture(scope="module")
def trainer():
    return made()


def test_it_has_the_twenty_tasks_with_the_context_dependent_ones_five_times_as_often(trainer):
    assert [task.name for task in trainer.tasks] == list(RULES)
    assert {task.dt for task in trainer.tasks} == {20}
    often = [RULES.index("CtxDM1"), RULES.index("CtxDM2")]
    assert np.allclose(trainer.data.shares[often], 5 / 28)
    assert np.allclose(np.delete(trainer.data.shares, often), 1 / 28)


def test_its_network_is_the_published_one(trainer):
    net = trainer.network
    assert (net.n_inputs, net.hidden, net.n_outputs) == (85, 256, 33)
    assert (net.alpha, net.noise, net.settings["activation"]) == (0.2, 0.05, "softplus")
    assert net.noise_scale == pytest.approx(np.sqrt(2 / 0.2) * 0.05)
    assert torch.equal(net.recurrent_weights, 0.5 * torch.eye(256))
    outputs = net(torch.zeros(1, 5, 85), generator=torch.Generator().manual_seed(0))[0]
    assert outputs.min() > 0
    assert outputs.max() < 1


def test_errors_weigh_as_in_the_published_loss(trainer):
    """Of trials after their first 100 ms, which the code leaves out."""
    for _ in range(20):
        batch = next(trainer.data)
        if batch.task.name == "CtxDM1":
            break
    targets, weights = published(batch)
    unscored = np.arange(targets.shape[1]) < 5
    assert not weights[:, unscored].any()
    weights = np.where(unscored[None, :, None], 0, weights)
    own = trainer.weights_of(batch).numpy()[..., None] * trainer._unit_weights.numpy()
    shown = own[:, ~unscored]
    assert np.allclose(shown, weights[:, ~unscored] ** 2)


@pytest.mark.slow
def test_an_interrupted_training_ends_with_the_weights_of_an_uninterrupted_one(tmp_path):
    """Each update takes a tenth of a second, and the whole recipe hours."""
    made(test_every=3).train(3, out=tmp_path / "run")
    resumed, whole = Run.open(tmp_path / "run").trainer(), made(test_every=3)
    resumed.train(6)
    whole.train(6)
    assert resumed.done == whole.done == 6
    pairs = zip(resumed.network.parameters(), whole.network.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
