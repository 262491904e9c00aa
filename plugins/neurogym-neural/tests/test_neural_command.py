"""`ngym neural`: its list, its errors, and a report of a network that was hardly trained."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from neurogym_neural.command import command
from neurogym_neural.verdicts import CONTROLS

pytest.importorskip("neurogym_torch")


def invoked(*words):
    return CliRunner().invoke(command, [str(one) for one in words])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    from neurogym_training.experiment import Experiment
    from neurogym_training.runs import Run

    folder = tmp_path_factory.mktemp("runs")
    options = {"hidden": 16, "test_trials": 20, "noise": 0.05}
    first = Experiment(
        tasks=({"task": "DelayComparison-v0"},),
        trainer="rnn",
        kind="model",
        options=options,
        amount=1,
    )
    for seed in (0, 1):
        run = Run.create(folder / f"run-{seed}", replace(first, seed=seed))
        trainer = run.trainer()
        trainer.save(run.folder)
    return folder


def test_the_list_names_sources():
    said = json.loads(invoked("--list", "--json").output)
    assert len(said["signatures"]) >= 12
    assert {"verified", "recalled"} == {one["checked"] for one in said["signatures"]}
    assert "comparison-switch" in invoked("--list").output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "No RUN was given"),
        (("nowhere",), "holds no run"),
        ((__file__,), "holds no run"),
        (("--signature", "pulse-persist", "x"), "pulse-persists"),
    ],
)
def test_errors_name_what_to_do(words, message):
    found = invoked(*words)
    assert found.exit_code == 2
    assert message in found.output


def test_runs_of_one_seed_are_refused(runs):
    """They counted as networks, and made chance smaller."""
    for words in (("run-0", "run-0"), ("run-0", "run-1", "run-0/../run-1")):
        found = invoked(*(runs / one for one in words), "--signature", "comparison-switch")
        assert found.exit_code == 2
        assert "have the same seed" in found.output
        assert "Expected runs of different seeds" in found.output


def test_a_copy_with_another_seed_in_its_settings_is_refused(runs, tmp_path):
    """Copies of one network counted as three."""
    copy = tmp_path / "copy"
    shutil.copytree(runs / "run-0", copy)
    settings = copy / "settings.json"
    settings.write_text(settings.read_text("utf-8").replace('"seed": 0', '"seed": 7'), "utf-8")
    found = invoked(runs / "run-0", copy, "--signature", "comparison-switch")
    assert found.exit_code == 2
    assert "have the same weights" in found.output


@pytest.mark.parametrize(
    ("answers", "bound", "said"),
    [
        ("first", None, "at the first step on which its largest output is an answer"),
        ("last", None, "at the last step on which it can"),
        ("first", 0.8, "when the probability of an answer exceeds the bound 0.8"),
    ],
)
def test_the_rule_of_the_answers_is_said(answers, bound, said):
    from neurogym_neural.networks import _rule

    assert said in _rule(SimpleNamespace(answers=answers), bound)


@pytest.mark.slow
def test_a_report_has_every_control_and_no_verdict_for_an_untrained_network(runs):
    out = runs / "report"
    found = invoked(runs / "run-0", runs / "run-1", "-n", 200, "--untrained", 2, "--json",
                    "--signature", "memory-tuning", "--observed", 20, "--out", out)  # fmt: skip
    assert found.exit_code == 0, found.output
    said = json.loads(found.stdout)
    (one,) = said["signatures"]
    assert one["place"] == "cannot tell"
    assert set(one["values"]) == {"network", *CONTROLS}
    assert len(one["values"]["filters"]["share of units"]) == 2 * 8
    assert all(np.isfinite(list(part["share of units"])).all() for part in one["values"].values())
    assert [one["name"] for one in said["observed"]] == ["memory-tuning"]
    assert said["observed"][0]["values"] != one["values"]
    assert said["facts"]["measured"] == "rates, and spikes of 20 Hz"
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Signatures in spikes" in page
    assert "The unit of replication is the network: 2 of other seeds, 2 untrained" in page
    assert "10.1038/20939" in page
    assert "it answers at the first step" in page
    assert (out / "units.png").exists()
