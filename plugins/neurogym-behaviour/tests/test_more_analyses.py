"""Sections of reports on times, angles, numbers, offers, kernels and learning.

Each recovers the simulated effect. Bounds are four standard errors or more: a false alarm in fewer
than 1 of 10,000; seeds are fixed.
"""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from neurogym_behaviour.analyses import ANALYSES
from neurogym_behaviour.behaviour import Behaviour, with_declared, with_preferences
from neurogym_training.curves import learning_curves, seeds_of, tasks_finding, training_finding
from neurogym_training.experiment import Experiment
from neurogym_training.playing import play_task, shown_units
from neurogym_training.runs import Run

from neurogym_core import NotSupportedError, TrialRecord, make_task, run
from neurogym_core.tools import find_task

ANALYSIS = {analysis.name: analysis for analysis in ANALYSES}


def found(name, record):
    finding = ANALYSIS[name](Behaviour(record))
    assert finding.why_not is None, finding.why_not
    assert finding.figure is not None
    return finding


def why_not(name, record):
    return ANALYSIS[name](Behaviour(record)).why_not


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("name", ["chronometric", "quantile-probability"])
def test_reaction_times_over_strength_need_right_or_wrong_answers(rng, name):
    columns = {"coherence": np.tile([30, 70], 50), "reaction_time": rng.normal(900, 50, 100)}
    record = TrialRecord({**columns, "outcome": ["other"] * 100})
    assert why_not(name, record) == "no trial was answered correctly or incorrectly."


def test_reports_need_no_reaction_times():
    wanted = np.tile([800.0, 1200, 1600], 50)
    columns = {
        "wanted": wanted,
        "reported": 1200 + 0.5 * (wanted - 1200),
        "outcome": ["other"] * 150,
    }
    note = found("reports", TrialRecord(columns)).notes[0]
    assert note.startswith("150 reports: slope 0.5 ")
    assert "(ms)" not in note
    note = found("reports", TrialRecord({**columns, "reaction_time": columns["reported"]})).notes[0]
    assert "(ms)" in note


def test_quantiles_of_slow_errors_are_above_those_of_correct_answers(rng):
    n = 3000
    coherence, correct = rng.choice([3.2, 12.8], n), rng.random(n) < 0.75
    times = 400 + rng.gamma(4, 30, n) + np.where(correct, 0, 120)
    record = TrialRecord(
        {
            "coherence": coherence,
            "choice": np.zeros(n, int),
            "outcome": np.where(correct, "correct", "error"),
            "reaction_time": times,
        }
    )
    table = found("quantile-probability", record).table.set_index(["level", "outcome"])
    # The SE of a median of 300 times is below 7 ms.
    for level in (3.2, 12.8):
        slow = table.loc[(level, "error"), "q0.5 (ms)"]
        assert slow - table.loc[(level, "correct"), "q0.5 (ms)"] == pytest.approx(120, abs=30)
        assert table.loc[(level, "correct"), "probability"] == pytest.approx(0.75, abs=0.05)


def test_reaction_times_without_a_strength_are_shown_per_condition(rng):
    n = 2000
    size = rng.choice([1, 2, 4], n)
    record = TrialRecord(
        {
            "set_size": size,
            "choice": np.zeros(n, int),
            "outcome": np.full(n, "correct"),
            "reaction_time": 300 + 40 * size + rng.normal(0, 50, n),
        }
    )
    table = found("chronometric", record).table
    mine = table[table["condition"] == "set_size"].set_index("value")["mean (ms)"]
    # SE: 2 ms.
    assert mine.tolist() == pytest.approx([340, 380, 460], abs=10)


@pytest.mark.parametrize(("weights", "sign"), [((1, 1, 1, 1), 0), ((2, 1.4, 0.7, 0.1), -1)])
def test_a_kernel_of_clicks_has_the_weights_of_the_subject(rng, weights, sign):
    n = 4000
    left, right = rng.poisson(3, (n, 4)), rng.poisson(3, (n, 4))
    logit = 0.4 * (right - left) @ np.array(weights)
    chose, side = rng.random(n) < 1 / (1 + np.exp(-logit)), (right - left).sum(axis=1) > 0
    record = TrialRecord(
        {
            "left": left,
            "right": right,
            "side": np.where(side, "right", "left"),
            "choice": chose.astype(int),
            "outcome": np.where(chose == side, "correct", "error"),
        }
    )
    finding = found("kernel", record)
    expected = 0.4 * np.array(weights) * (right - left).std(axis=0)
    width = (finding.table["high"] - finding.table["low"]) / 3.92
    assert (np.abs(finding.table["weight"] - expected) < 4 * width).all()
    assert (finding.table["weight"].diff().dropna() < 0).all() == (sign < 0)


@pytest.mark.parametrize(("late", "flat"), [(1.0, True), (0.2, False)])
def test_trains_of_different_length_do_not_make_a_kernel_fall(rng, late, flat):
    """A subject that counts all clicks has a flat kernel; one that neglects late ones has not."""
    n, steps = 6000, 60
    length = rng.integers(6, steps + 1, n)
    inside = np.arange(steps) < length[:, None]
    left, right = (rng.poisson(0.3, (n, steps)) * inside for _ in range(2))
    weights = np.where(np.arange(steps) < 15, 1.0, late)
    logit = 0.4 * (right - left) @ weights
    chose, side = rng.random(n) < 1 / (1 + np.exp(-logit)), (right - left).sum(axis=1) > 0
    finding = found("kernel", TrialRecord({
        "left": left, "right": right, "length": 10.0 * length,
        "side": np.where(side, "right", "left"), "choice": chose.astype(int),
        "outcome": np.where(chose == side, "correct", "error"),
    }))  # fmt: skip
    table = finding.table
    first, last = table.iloc[0], table.iloc[-1]
    width = np.hypot(first["high"] - first["low"], last["high"] - last["low"]) / 3.92
    assert (abs(first["weight"] - last["weight"]) < 4 * width) == flat


def test_the_kernel_of_a_played_task_comes_from_its_steps():
    task = make_task("perceptual/PerceptualDecisionMaking-v0")
    played = play_task(task, "integrator", 300, seed=1, steps=True)
    table = found("kernel", played.record).table
    assert (table["low"] > 0).all(), "an integrator weighs all of the evidence"
    assert shown_units(task)[0] == "stimulus"
    with pytest.raises(NotSupportedError, match="shows no evidence"):
        play_task(make_task("timing/ReadySetGo-v0"), "guess", 60, steps=True)


def test_produced_times_regress_to_the_mean(rng):
    n = 2000
    wanted = rng.choice([600.0, 800.0, 1000.0], n)
    produced = 800 + 0.7 * (wanted - 800) + rng.normal(0, 60, n)
    record = TrialRecord(
        {
            "wanted": wanted,
            "reported": produced,
            "choice": np.zeros(n, int),
            "outcome": np.full(n, "correct"),
            "reaction_time": produced,
        }
    )
    finding = found("reports", record)
    # SE of the means: 2.3 ms.
    assert finding.table["bias"].tolist() == pytest.approx([60, 0, -60], abs=12)
    assert "slope 0.7" in finding.notes[0] or "slope 0.69" in finding.notes[0]


def test_errors_on_a_circle_have_their_spread(rng):
    n = 4000
    error = np.rad2deg(np.angle(np.exp(1j * rng.normal(0, 0.4, n))))
    record = TrialRecord(
        {"angular_error": error, "choice": np.zeros(n, int), "outcome": np.full(n, "correct")}
    )
    row = found("circular", record).table.iloc[0]
    # Relative SE of the SD: 1 / sqrt(2 n), 1.1 %.
    assert row["circular SD (degrees)"] == pytest.approx(np.rad2deg(0.4), rel=0.06)
    assert abs(row["bias (degrees)"]) < 4 * np.rad2deg(0.4) / np.sqrt(n)


@pytest.mark.parametrize(
    ("name", "section"),
    [
        ("timing/ReadySetGo-v0", "reported"),
        ("memory/GradedComparison-v0", "reported"),
        ("yang19/Go-v0", "angular_error"),
        ("memory/ColourWheel-v0", "angular_error"),
    ],
)
def test_the_oracle_reports_what_was_wanted(name, section):
    task = make_task(name)
    record = with_declared(run(task, "oracle", 60, seed=1), task)
    error = record[section] - (0 if section == "angular_error" else record["wanted"])
    error = error[~np.isnan(error)]
    assert len(error) > 30
    assert np.abs(error).max() <= (task.dt if name.startswith("timing") else 1e-3)


def test_choices_between_offers_have_a_curve():
    task = make_task("value/EconomicDecisionMaking-v0")
    record = with_declared(run(task, "oracle", 300, seed=2), task)
    assert set(record["outcome"]) == {"other"}
    assert "correct" not in set(record["outcome"])
    chosen = with_preferences(record)
    # The oracle takes the offer that is worth more.
    assert set(chosen["outcome"][record["evidence"] != 0]) == {"correct"}
    assert why_not("psychometric", record) is None
    worth = record["evidence"]
    differences = {abs(b - 2.2 * a) for b, a in task.offers}
    assert sorted(set(np.round(np.abs(worth), 6))) == pytest.approx(sorted(differences))


def test_choices_between_offers_have_an_accuracy_and_say_what_is_correct():
    task = make_task("value/EconomicDecisionMaking-v0")
    record = with_declared(run(task, "oracle", 300, seed=2), task)
    finding = ANALYSIS["accuracy"](Behaviour(record))
    assert finding.table["accuracy"].iloc[0] > 0.9  # ties count as choices of the left offer
    assert finding.notes == (
        "Outcomes: other 300.",
        "No answer was correct or incorrect: correct are choices of the best offer.",
    )


def test_among_several_arms_the_best_one_is_correct():
    task = make_task("value/DriftingBandit-v0")
    record = with_declared(run(task, "guess", 300, seed=2), task)
    best = with_preferences(record)["outcome"] == "correct"
    assert (best == (record.codes() == record["mean"].argmax(axis=1))).all()
    assert 0.15 < best.mean() < 0.35  # 0.25 of 300, SD 0.025: false alarm 1 in 16,000
    assert why_not("psychometric", record) is None


def test_a_choice_after_a_wrong_rule_is_read_from_the_choice_itself():
    # The outcome of `choose` is an error if the rule was wrong, whatever side was chosen.
    task = make_task("control/HierarchicalReasoning-v0")
    record = with_declared(run(task, "guess", 200, seed=2), task)
    behaviour = Behaviour(record)
    given = behaviour.answered
    wrong_rule = given & (record["rule.outcome"] == "error")
    assert wrong_rule.sum() > 20
    assert (behaviour.chose_right == (record.codes("choose.choice") == 1))[given].all()


def test_performance_over_trials_rises_with_learning(rng):
    n = 400
    parts = []
    for subject in range(4):
        p = 0.5 + 0.45 * (1 - np.exp(-np.arange(n) / 100))
        correct = rng.random(n) < p
        parts.append(
            TrialRecord(
                {
                    "subject": np.full(n, subject),
                    "trial": np.arange(n),
                    "choice": np.zeros(n, int),
                    "outcome": np.where(correct, "correct", "error"),
                    "performance": correct.astype(float),
                }
            )
        )
    finding = found("trials", TrialRecord.concatenate(parts))
    # SE of a mean over 4 x 20 trials: below 0.056.
    assert finding.table["mean"].iloc[0] == pytest.approx(0.52, abs=0.23)
    assert finding.table["mean"].iloc[-1] == pytest.approx(0.94, abs=0.15)
    assert "4 subjects" in finding.notes[0]


def test_learning_curves_join_the_seeds_of_a_run(tmp_path):
    folders = []
    for seed, until in ((0, 0.9), (1, 0.95), (2, 0.6)):
        folder = tmp_path / f"run{seed}"
        experiment = Experiment(
            tasks=({"task": "perceptual/Detection-v0"},), kind="algo", trainer="x", amount=400,
            seed=seed,
        )  # fmt: skip
        folder.mkdir()
        Run(folder, experiment, {}).write()
        scores = [0.5 + (until - 0.5) * step / 400 for step in range(0, 500, 100)]
        rows = [f"{100 * k},{score},{score / 2},{1 - score}" for k, score in enumerate(scores)]
        text = "\n".join(["updates,accuracy,answered,aborts", *rows])
        (folder / "curve.csv").write_text(text, "utf-8")
        folders.append(folder)
    result = learning_curves(folders, 0.8)
    assert "3 seeds; 2 reached 0.8" in result.notes[0]
    assert "criterion 0.8" in labels_of(result)
    assert result.table["mean"].iloc[-1] == pytest.approx((0.9 + 0.95 + 0.6) / 3)
    assert len(result.table) == 50
    other = tmp_path / "longer"
    other.mkdir()
    Run(other, replace(experiment, amount=800), {}).write()
    (other / "curve.csv").write_text("updates,accuracy\n0,0.5\n400,0.5\n", "utf-8")
    (tmp_path / "notes").mkdir()
    assert seeds_of(folders[0]) == folders
    shutil.copytree(folders[1], tmp_path / "a-copy")
    assert seeds_of(folders[0]) == [tmp_path / "a-copy", folders[0], *folders[2:]]
    assert seeds_of(folders[1]) == folders, "the run that was asked for, not its copy"
    found = training_finding(folders)
    said = "3 seeds; mean accuracy 0.817, answered 0.408, aborts per trial 0.183 at 400 updates."
    assert found.notes == (said,)
    last = found.table.iloc[-1]
    assert (last["answered"], last["aborts"]) == pytest.approx((49 / 120, 11 / 60))
    shown = labels_of(found)
    assert f"chance {find_task('perceptual/Detection-v0').chance:g}" in shown
    assert {"answered", "aborts per trial"} <= shown
    assert not any("criterion" in label for label in shown)
    (folders[0] / "curve.csv").write_text("updates,accuracy\n0,0.5\n400,0.7\n", "utf-8")
    assert not {"answered", "aborts per trial"} & labels_of(training_finding(folders[:1]))
    asked = tmp_path / "asked"
    asked.mkdir()
    changed = replace(experiment, criterion=0.7, parameters={"sigma": 1.0})
    Run(asked, changed, {}).write()
    shutil.copy(folders[1] / "curve.csv", asked)
    shown = labels_of(training_finding([asked]))
    assert "criterion 0.7" in shown
    assert not any("chance" in label for label in shown), "the manifest has that of the defaults"


def labels_of(finding):
    """The labels of the lines of a figure of one panel."""
    return {line.get_label() for line in finding.figure.axes[0].lines}


def test_each_task_has_its_curve_with_all_seeds_and_stages(tmp_path):
    folders = []
    for seed in (0, 1):
        experiment = Experiment(
            tasks=({"task": "perceptual/Detection-v0"}, {"task": "yang19/Go-v0"}), kind="model",
            trainer="x", amount=20, seed=seed,
        )  # fmt: skip
        folder = tmp_path / f"run{seed}"
        folder.mkdir()
        Run(folder, experiment, {}).write()
        rows = "\n".join(f"{10 * k},{k // 2},0.5,{0.4 * k + 0.1 * seed},0.2" for k in range(3))
        header = "updates,stage,accuracy,accuracy of 0 Detection,accuracy of 1 Go\n"
        (folder / "curve.csv").write_text(header + rows + "\n", "utf-8")
        folders.append(folder)
    found = tasks_finding(folders)
    assert found.notes == ("Least in the last test: 1 Go, 0.2.",)
    assert found.table["mean"].tolist() == pytest.approx([0.85, 0.2])
    assert found.table["highest"].tolist() == pytest.approx([0.9, 0.2])
    first = found.figure.axes[0]
    heights = [line.get_ydata()[0] for line in first.lines if len(set(line.get_ydata())) == 1]
    assert find_task("perceptual/Detection-v0").chance in heights
    assert any(list(line.get_xdata()) == [20, 20] for line in first.lines), "the second stage"
    ends = sorted(line.get_ydata()[-1] for line in first.lines if len(line.get_xdata()) == 3)
    assert ends == pytest.approx([0.8, 0.85, 0.9])  # two seeds, and their mean between them
    plain = tmp_path / "plain"
    plain.mkdir()
    Run(plain, replace(experiment, tasks=experiment.tasks[:1]), {}).write()
    (plain / "curve.csv").write_text("updates,accuracy\n0,0.5\n10,0.6\n", "utf-8")
    assert tasks_finding([plain]) is None
