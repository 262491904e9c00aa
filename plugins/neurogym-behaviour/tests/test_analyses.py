"""Analyses recover simulated effects, and give the reason if they cannot be done."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from neurogym_behaviour import accuracy
from neurogym_behaviour.analyses import (
    ANALYSES,
    analyse,
    between_choices,
    block_shift,
    psychometric_function,
    side_bias,
)
from neurogym_behaviour.behaviour import Behaviour, CannotTellError, Roles
from neurogym_behaviour.findings import Finding
from neurogym_behaviour.report import page, write_report
from neurogym_behaviour.standard import standard_measures
from neurogym_training.playing import play_task
from scipy.stats import norm

from neurogym_core import Choice, Task, TrialRecord, UnknownNameError, make_task

ANALYSIS = {analysis.name: analysis for analysis in ANALYSES}
N = 6000


def simulated(n=N, seed=1, *, bias=0.0, repeat=0.0, shift=0.0, rt=True, text=False, **extra):
    """Trials of a logistic subject with slope 0.1 per %, that tends to repeat its choices."""
    rng = np.random.default_rng(seed)
    coherence = rng.choice([0, 6.4, 12.8, 25.6, 51.2], n)
    direction = rng.integers(0, 2, n)
    p_right = np.repeat(rng.choice([0.2, 0.8], n // 100 + 1), 100)[:n]
    chose = np.zeros(n, int)
    noise = rng.logistic(size=n)
    for k in range(n):
        before = 0 if k == 0 else repeat * (2 * chose[k - 1] - 1)
        evidence = (
            0.1 * coherence[k] * (2 * direction[k] - 1) + bias + before + shift * (p_right[k] > 0.5)
        )
        chose[k] = evidence + noise[k] > 0
    columns = {
        "trial": np.arange(n),
        "env": np.zeros(n, int),
        "session": np.zeros(n, int),
        "coherence": coherence,
        "direction": np.array(["left", "right"])[direction] if text else direction,
        "p_right": p_right,
        "choice": chose,
        "outcome": np.where(chose == direction, "correct", "error"),
        "reaction_time": 300 + 400 * np.exp(-coherence / 15) + rng.gamma(4, 20, n)
        if rt
        else np.full(n, 100.0),
        "performance": (chose == direction).astype(float),
        "reward": (chose == direction).astype(float),
    }
    return TrialRecord({**columns, **extra})


def table(name, record, roles=None):
    finding = ANALYSIS[name](Behaviour(record, roles or Roles()))
    assert finding.why_not is None, finding.why_not
    assert finding.figure is not None
    return finding


def why_not(name, record, roles=None):
    finding = ANALYSIS[name](Behaviour(record, roles or Roles()))
    assert finding.table is None
    return finding.why_not


def test_analyses_are_in_the_order_of_their_importance():
    names = [finding.name for finding in analyse(Behaviour(simulated(200)))]
    assert names == [
        "accuracy",
        "slots",
        "detection",
        "psychometric",
        "psychometric-by",
        "chronometric",
        "quantile-probability",
        "reaction-times",
        "kernel",
        "reports",
        "circular",
        "trials",
        "history",
        "bias",
        "stay",
        "wager",
        "measures",
    ]


def test_accuracy_is_counted_for_each_value_of_each_condition():
    record = simulated()
    found = table("accuracy", record).table
    whole = found[found["condition"] == "all trials"].iloc[0]
    assert whole["correct"] == (record["outcome"] == "correct").sum()
    weak = found[(found["condition"] == "coherence") & (found["value"] == 6.4)].iloc[0]
    here = record["coherence"] == 6.4
    assert weak["accuracy"] == pytest.approx((record["outcome"][here] == "correct").mean())
    assert weak["low"] < weak["accuracy"] < weak["high"]
    assert set(found["condition"]) == {"all trials", "coherence", "direction", "p_right"}


def test_the_points_of_the_report_are_those_of_the_function():
    record = simulated()
    found = psychometric_function(Behaviour(record), interval=None)
    assert (found.kind, found.strength, found.xlabel) == ("choice", "coherence", "coherence (%)")
    reported = table("psychometric", record).table
    assert [row.k for row in found.rows] == reported["k"].tolist()
    assert [row.value for row in found.rows] == reported["strength"].tolist()
    assert sum(row.n for row in found.rows) == N
    assert found.fit.slope == pytest.approx(0.1, abs=0.02)


def test_without_a_side_the_function_is_of_correct_answers():
    found = psychometric_function(Behaviour(changed(simulated(), direction=None)))
    assert (found.kind, found.ylabel) == ("correct", "")
    assert min(row.value for row in found.rows) == 0
    with pytest.raises(CannotTellError, match="no condition is known to be the strength"):
        psychometric_function(Behaviour(changed(simulated(), coherence=None)))


@pytest.mark.parametrize("text", [False, True])
def test_the_psychometric_function_has_the_simulated_slope_and_bias(text):
    finding = table("psychometric", simulated(bias=0.8, text=text))
    from neurogym_behaviour.analyses import psychometric_points

    behaviour = Behaviour(simulated(bias=0.8, text=text))
    _, fit = psychometric_points(behaviour, behaviour.signed, "choice")
    # 6,000 trials: SE of the slope about 4 %, of the bias 0.35 %; four of them.
    assert fit.slope == pytest.approx(0.1, rel=0.16)
    assert fit.threshold == pytest.approx(-8, abs=1.4)
    assert len(finding.table) == 9
    assert "bias" in finding.notes[0]


def test_strengths_without_sides_give_a_weibull_function():
    record = simulated()
    columns = {name: record[name] for name in record.columns if name != "direction"}
    finding = table("psychometric", TrialRecord(columns))
    assert finding.notes[0].startswith("Weibull")


def test_reaction_times_fall_with_strength():
    found = table("chronometric", simulated()).table
    means = found[found["outcome"] == "correct"]["mean"].to_numpy()
    assert (np.diff(means) < 0).all()
    assert means[0] == pytest.approx(780, abs=10), "300 + 400 + 4 * 20 ms at 0 %"


def test_distributions_have_ordered_quantiles():
    found = table("reaction-times", simulated()).table
    quantiles = found[[name for name in found.columns if name.startswith("q")]].to_numpy()
    assert (np.diff(quantiles, axis=1) > 0).all()
    assert {"correct", "error"} == set(found["outcome"])


def test_history_weights_are_those_of_the_simulation():
    # Repeats regardless of the outcome: both weights 0.5; the width of an interval is 4 SEs: false
    # alarm 1e-4.
    found = table("history", simulated(repeat=0.5)).table.set_index("regressor")
    for name in ("last choice, if correct", "last choice, if wrong"):
        weight, low, high = found.loc[name, ["weight", "low", "high"]]
        assert weight == pytest.approx(0.5, abs=(high - low))
        assert found.loc[name, "p"] < 1e-4
    none = table("history", simulated(repeat=0.0)).table.set_index("regressor")
    assert (none.loc[["last choice, if correct", "last choice, if wrong"], "p"] > 1e-4).all()


def test_the_first_trial_of_a_session_has_no_history():
    record = simulated(400)
    sessions = TrialRecord(
        {**{name: record[name] for name in record.columns}, "session": np.arange(400) // 2}
    )
    assert Behaviour(sessions).after.sum() == 200


def test_bias_and_block_shift_are_those_of_the_simulation():
    finding = table("bias", simulated(20_000, shift=2.0))
    at_zero = finding.table.set_index("block").loc[["0.2", "0.8"]]
    # P(right) at 0 %: 0.5 and 1 / (1 + exp(-2)) = 0.88; 2,000 trials each: four SEs are 0.045.
    assert at_zero.loc["0.2", "fraction"] == pytest.approx(0.5, abs=0.045)
    assert at_zero.loc["0.8", "fraction"] == pytest.approx(0.881, abs=0.03)
    assert "Block shift: +0.3" in finding.notes[0] or "Block shift: +0.4" in finding.notes[0]


def two_step(n=4000, seed=2, *, model_based):
    """A subject of the two-step task.

    The model-free one repeats its first choice after reward; the model-based one repeats it after
    reward and a common transition, or neither.
    """
    rng = np.random.default_rng(seed)
    common, reward = rng.random(n) < 0.7, (rng.random(n) < 0.5).astype(float)
    first = np.zeros(n, int)
    for k in range(1, n):
        good = reward[k - 1] > 0
        stay = 0.8 if (good == common[k - 1] if model_based else good) else 0.4
        first[k] = first[k - 1] if rng.random() < stay else 1 - first[k - 1]
    return TrialRecord(
        {
            "trial": np.arange(n),
            "common": common,
            "first.choice": first,
            "second.choice": first,
            "second.outcome": np.full(n, "other"),
            "outcome": np.full(n, "other"),
            "reward": reward,
        }
    )


@pytest.mark.parametrize("model_based", [False, True])
def test_stay_probabilities_distinguish_model_free_from_model_based(model_based):
    found = table("stay", two_step(model_based=model_based)).table.set_index(
        ["transition", "last trial"]
    )["fraction"]
    # At least 580 trials in each cell: four SEs are 0.08.
    assert found["common", "rewarded"] == pytest.approx(0.8, abs=0.08)
    assert found["rare", "rewarded"] == pytest.approx(0.4 if model_based else 0.8, abs=0.08)
    assert found["rare", "unrewarded"] == pytest.approx(0.8 if model_based else 0.4, abs=0.08)


def test_sure_bets_are_counted_where_they_were_offered():
    rng = np.random.default_rng(3)
    record = simulated()
    offered = rng.random(N) < 0.5
    takes = offered & (rng.random(N) < 0.8 * np.exp(-record["coherence"] / 15))
    columns = {name: record[name] for name in record.columns}
    columns["outcome"] = np.where(takes, "other", record["outcome"])
    columns["wager"] = np.where(offered, "offered", "withheld")
    found = table("wager", TrialRecord(columns)).table
    assert found["took it"].iloc[0] == pytest.approx(0.8, abs=0.07), "600 trials: four SEs"
    assert found["took it"].iloc[-1] < 0.1
    assert found["offered"].sum() + found["n not offered"].sum() == N


REASONS = {
    "accuracy": ({"outcome": np.full(N, "other")}, None, "correct or incorrect"),
    "psychometric": ({"coherence": np.full(N, 5.0)}, Roles(strength="coherence"), "at least three"),
    "chronometric": ({"reaction_time": np.full(N, 100.0)}, None, "are 100 ms"),
    "reaction-times": (
        {"reaction_time": np.full(N, np.nan)},
        None,
        "no answer has a reaction time",
    ),
    "history": (
        {"coherence": np.full(N, 6.4), "outcome": np.full(N, "correct")},
        None,
        "predicts all choices but 0",
    ),
    "bias": ({"direction": np.arange(N)}, None, "a side needs two"),
    "stay": ({"choice": np.zeros(N, int)}, None, "only one choice"),
    "wager": ({}, None, "needs sure bets"),
}


@pytest.mark.parametrize("name", REASONS)
def test_an_analysis_that_cannot_be_done_gives_the_reason(name):
    changed, roles, reason = REASONS[name]
    record = simulated()
    changed = TrialRecord({**{column: record[column] for column in record.columns}, **changed})
    assert reason in why_not(name, changed, roles)


def test_one_of_several_strengths_has_to_be_named():
    record = simulated(400, colour_coherence=np.arange(400) % 3)
    columns = {
        name.replace("coherence", "motion_coherence") if name == "coherence" else name: record[name]
        for name in record.columns
    }
    record = TrialRecord(columns)
    assert "--strength" in why_not("psychometric", record)
    assert table("psychometric", record, Roles(strength="motion_coherence")).notes


def test_a_record_of_nothing_but_outcomes_still_has_an_accuracy():
    record = TrialRecord({"outcome": np.array(["correct", "error", "correct"])})
    findings = analyse(Behaviour(record))
    assert findings[0].table["accuracy"].iloc[0] == pytest.approx(2 / 3)
    assert all(finding.why_not for finding in findings[1:])


NASTY = '<script>alert("x")</script>'


def test_all_text_is_escaped(tmp_path):
    record = simulated(300, text=True)
    columns = {name: record[name] for name in record.columns if name != "direction"}
    columns[NASTY] = np.where(np.arange(300) % 2 == 0, NASTY, "$x_{$&'")
    behaviour = Behaviour(TrialRecord(columns), Roles(side=NASTY))
    findings = analyse(behaviour)
    target = write_report(tmp_path, NASTY, {NASTY: NASTY}, findings)
    written = target.read_text("utf-8")
    assert "<script" not in written
    assert "&lt;script&gt;" in written
    assert "<script" not in page(
        "x", {}, [ANALYSIS["stay"](Behaviour(TrialRecord({NASTY: ["a"], "outcome": ["correct"]})))]
    )
    assert (tmp_path / "accuracy.csv").exists()


# ---- periods, gaps, blocks, misfits ----


def changed(record, **columns):
    """Return the record with other columns; None removes one."""
    table = {**{name: record[name] for name in record.columns}, **columns}
    return TrialRecord({name: values for name, values in table.items() if values is not None})


def test_a_period_called_choice_is_no_answer_slot():
    record = changed(
        simulated(600), **{"duration.choice": np.full(600, 300.0), "onset.choice": np.zeros(600)}
    )
    assert Behaviour(record).slot is None
    for finding in analyse(Behaviour(record)):
        assert "duration." not in (finding.why_not or "")
    assert table("accuracy", record).table["answered"].iloc[0] == 600
    assert table("stay", record).table["n"].sum() == 599


def test_trials_after_a_gap_have_no_history():
    record = simulated(1000)
    kept = np.arange(1000) % 10 != 3
    after = Behaviour(record[kept]).after
    assert after.sum() == 1000 - 1 - 200, "neither the trials left out nor those after them"


def test_history_weights_survive_rows_that_were_left_out():
    # True weight 0.5; the SE of 4,200 pairs is about 0.05: four of them, false alarm 1e-4.
    record = simulated(12_000, seed=5, repeat=0.5)
    kept = np.random.default_rng(6).random(12_000) > 0.3
    found = table("history", record[kept]).table.set_index("regressor")
    for name in ("last choice, if correct", "last choice, if wrong"):
        weight, low, high = found.loc[name, ["weight", "low", "high"]]
        assert weight == pytest.approx(0.5, abs=(high - low))


def test_another_subject_is_no_previous_trial():
    record = changed(simulated(400), subject=np.repeat(["a", "b"], 200), env=None)
    record = changed(record, trial=np.tile(np.arange(200), 2))
    assert Behaviour(record).after.sum() == 398
    assert list(Behaviour(record).per_subject()) == ["a", "b"]
    assert len(Behaviour(record).per_subject()["b"]) == 200


def test_saturating_evidence_does_not_bias_the_history_weights():
    """A linear regressor of the evidence made 0.35 of a weight of 0.4; bounds of 4 SEs."""
    rng, n = np.random.default_rng(7), 12_000
    level, side = rng.choice([0, 3.2, 6.4, 12.8, 25.6, 51.2], n), rng.integers(0, 2, n)
    evidence = 2.5 * np.tanh(np.where(side == 1, level, -level) / 10)
    chose, noise = np.zeros(n, int), rng.logistic(size=n)
    for k in range(n):
        before = 0 if k == 0 else 0.4 * (2 * chose[k - 1] - 1)
        chose[k] = evidence[k] + before + noise[k] > 0
    record = TrialRecord(
        {
            "trial": np.arange(n),
            "coherence": level,
            "direction": side,
            "choice": chose,
            "outcome": np.where(chose == side, "correct", "error"),
        }
    )
    found = table("history", record).table.set_index("regressor")
    weight, low, high = found.loc["last choice, if correct", ["weight", "low", "high"]]
    assert weight == pytest.approx(0.4, abs=high - low)  # four standard errors
    assert high - low < 0.2


def test_strengths_without_errors_do_not_hide_the_history():
    record = simulated(4000, seed=8, repeat=0.5)
    sure = record["coherence"] == 51.2
    chose = np.where(sure, record["direction"], record.codes())
    record = changed(
        record,
        choice=chose,
        outcome=np.where(chose == record["direction"], "correct", "error"),
    )
    found = table("history", record).table.set_index("regressor")
    assert found.loc["last choice, if correct", "low"] > 0


def test_a_block_shift_has_a_sign_and_an_interval():
    with_prior = block_shift(Behaviour(simulated(20_000, shift=2.0)))
    against = block_shift(Behaviour(simulated(20_000, shift=-2.0)))
    # 0.5 to 0.88 at 0 %; 2,000 trials per block: the interval has a half width of 0.026.
    assert with_prior[0] == pytest.approx(0.38, abs=0.05)
    assert against[0] == pytest.approx(-0.38, abs=0.05)
    assert with_prior[1] < with_prior[0] < with_prior[2]
    left = simulated(20_000, shift=2.0)
    left = changed(left, p_left=1 - left["p_right"], p_right=None)
    assert block_shift(Behaviour(left))[0] == pytest.approx(with_prior[0])


def test_a_block_shift_whose_interval_is_too_wide_says_so():
    one_sided = simulated(600, bias=8.0)
    said = " ".join(side_bias(Behaviour(one_sided)).notes)
    assert "Block shift: all of the" in said
    assert "too wide" not in " ".join(side_bias(Behaviour(simulated(2000, shift=1.0))).notes)


def test_a_subject_that_is_blind_to_blocks_has_no_shift():
    """The interval contains 0 in at least 33 of 40 records: fewer occur in 1 of 2,000 runs."""
    hits = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = 600
        record = TrialRecord(
            {
                "coherence": rng.choice([0.0, 10, 20], n),
                "direction": rng.integers(0, 2, n),
                "p_left": rng.choice([0.2, 0.5, 0.8], n),
                "outcome": rng.choice(["correct", "error"], n),
            }
        )
        _, low, high = block_shift(Behaviour(record))
        hits += low <= 0 <= high
    assert hits >= 33


def test_a_curve_that_misses_the_points_is_reported_with_a_warning():
    rng, n = np.random.default_rng(3), 4000
    record = simulated(n, rt=False)
    chose = np.where(rng.random(n) < 0.6, record.codes(), rng.integers(0, 2, n))
    chose = np.where(record["coherence"] == 51.2, rng.integers(0, 2, n), chose)
    record = changed(
        record, choice=chose, outcome=np.where(chose == record["direction"], "correct", "error")
    )
    notes = table("psychometric", record).notes
    assert any("WARNING: the curve misses the points" in note for note in notes)
    good = table("psychometric", simulated(n)).notes
    assert not any("WARNING" in note for note in good)
    assert any("degrees of freedom" in note for note in good)


def test_a_lapse_rate_of_both_sides_is_reported_once():
    (note, *_) = table("psychometric", simulated()).notes
    assert "lapse on either side" in note
    assert "guess" not in note


# ---- evidence, and curves by condition ----


def test_a_curve_is_fitted_for_each_block():
    finding = table("psychometric-by", simulated(12_000, shift=1.5))
    found = finding.table.set_index("condition")
    # Bias 0 and -15: SE about 0.6; four of them.
    assert found.loc["p_right 0.2", "bias"] == pytest.approx(0, abs=2.5)
    assert found.loc["p_right 0.8", "bias"] == pytest.approx(-15, abs=2.5)
    assert found.loc["p_right 0.8", "bias low"] < -15 < found.loc["p_right 0.8", "bias high"]


def test_curves_by_a_named_condition():
    record = simulated(3000, modality=np.repeat(["visual", "auditory", "both"], 1000))
    found = table("psychometric-by", record, Roles(by="modality")).table
    assert found["condition"].tolist() == [
        "modality auditory", "modality both", "modality visual"
    ]  # fmt: skip
    assert "--by" in why_not("psychometric-by", changed(record, p_right=None))
    assert "1,000" not in why_not("psychometric-by", record, Roles(by="trial"))


class TwoFrequencies(Task):
    """Which of two frequencies is higher?"""

    timing = {"stimulus": 200, "decision": 200}

    def define(self):
        self.observe(frequencies=2)
        self.act(rest=1, choose=2)
        self.vary(pair=Choice([(10, 18), (18, 10), (14, 22), (22, 14), (20, 10), (10, 20)]))
        self.correct_choice(lambda known: (known["pair"][:, 1] > known["pair"][:, 0]).astype(int))
        self.evidence(lambda known: known["pair"][:, 1] - known["pair"][:, 0])

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("frequencies", trial["pair"] / 30, during="stimulus")
        trial.answer(
            "choose", (trial["pair"][:, 1] > trial["pair"][:, 0]).astype(int), during="decision"
        )


def test_the_evidence_that_a_task_declares_is_used():
    task = TwoFrequencies()
    played = play_task(task, "guess", 900, seed=1)
    assert set(played.record["evidence"]) == {-10, -8, 8, 10}
    behaviour = Behaviour(played.record, Roles.of_task(task))
    assert behaviour.strength == "evidence"
    assert (behaviour.right == (played.record["evidence"] > 0)).all()
    played = play_task(task, "guess", 900, seed=1, design="drawn")
    behaviour = Behaviour(played.record, Roles.of_task(task))
    for name in ("psychometric", "history", "bias"):
        assert ANALYSIS[name](behaviour).why_not is None


def test_evidence_that_is_no_condition_is_refused():
    class Wrong(TwoFrequencies):
        def define(self):
            self.observe(frequencies=2)
            self.act(rest=1, choose=2)
            self.vary(pair=Choice([(10, 18)]))
            self.evidence("paier")

    with pytest.raises(UnknownNameError, match="pair"):
        Wrong()


def test_a_condition_may_still_be_called_evidence():
    class Drawn(TwoFrequencies):
        def define(self):
            self.observe(frequencies=2)
            self.act(rest=1, choose=2)
            self.vary(evidence=Choice((-1, 1)))

        def new_trial(self, trial):
            trial.periods("stimulus", "decision")
            trial.show("frequencies", trial["evidence"][:, None] * np.ones(2), during="stimulus")
            trial.answer("choose", (trial["evidence"] > 0).astype(int), during="decision")

    assert set(play_task(Drawn(), "oracle", 20).record["evidence"]) == {-1, 1}


@pytest.mark.parametrize(
    ("task", "subject", "titles"),
    [
        ("RoitmanShadlen-v0", "diffusion", {"speed and accuracy"}),
        ("DawTwoStep-v0", "hybrid", {"reward and transition"}),
        ("MatchingPennies-v0", "q_learner", {"win-stay, lose-switch"}),
        ("ColourWheel-v0", "guess", {"memories"}),
        ("StopSignal-v0", "guess", {"stopping"}),
    ],
)
def test_reports_have_the_standard_measures_that_apply(task, subject, titles):
    made = make_task(task)
    played = play_task(made, subject, 400, seed=1)
    found = standard_measures(Behaviour(played.record, Roles.of_task(made)))
    assert titles <= set(found.table["analysis"])
    assert {"number", "value", "low", "high", "n", "unit"} <= set(found.table.columns)


def test_a_strength_that_never_varies_is_named():
    record = simulated(200)
    constant = TrialRecord(
        {name: record[name] for name in record.columns} | {"coherence": np.full(200, 51.2)}
    )
    assert why_not("psychometric", constant) == "'coherence' is the same in all trials."


def test_a_report_shows_a_dash_for_numbers_that_do_not_exist_and_keeps_the_others(tmp_path):
    table = pd.DataFrame(
        {"n": [3, 4], "z": [None, None], "p": [0.123456, None], "who": ["a", None]}
    )
    write_report(tmp_path, "Report", {}, [Finding("one", "One", table=table)])
    shown = (tmp_path / "report.html").read_text("utf-8")
    assert "None" not in shown
    assert "nan" not in shown.lower()
    assert shown.count("<td>–</td>") == 4
    assert "<td>3</td>" in shown
    assert "<td>0.1235</td>" in shown


# ---- answers, rests and slots ----


def numbered(name, record):
    """Return the finding of an analysis without a figure."""
    finding = ANALYSIS[name](Behaviour(record))
    assert finding.why_not is None, finding.why_not
    return finding


def go_nogo(n, hits, false_alarms):
    """A record in which half of the trials ask for rest."""
    rest = np.arange(n) % 2 == 1
    share = np.where(rest, false_alarms, hits)
    said = (np.arange(n) // 2 + 0.5) / (n / 2) < share
    return TrialRecord(
        {
            "stimulus": np.where(rest, "nogo", "go"),
            "choice": np.where(said, 0, -1),
            "outcome": np.where(said == ~rest, "correct", np.where(said, "error", "miss")),
            "reaction_time": np.where(said, 100.0, np.nan),
            "rest_correct": rest,
        }
    )


def numbers_of(finding):
    return finding.table.set_index("number")


def test_right_rests_are_no_answers_and_hits_and_false_alarms_are_counted():
    """Rates, and d' and criterion with the log-linear correction, computed by hand."""
    record = go_nogo(400, 0.9, 0.25)
    whole = accuracy(record, None)[0]
    assert (whole.k, whole.n) == (180, 230)
    assert (Behaviour(record).answered == (record.codes() == 0)).all()
    found = numbered("detection", record)
    numbers = numbers_of(found)
    assert numbers.loc["hit rate", "value"] == 0.9
    assert numbers.loc["false alarm rate", "value"] == 0.25
    z = [norm.ppf((k + 0.5) / 201) for k in (180, 50)]
    assert numbers.loc["d'", "value"] == pytest.approx(z[0] - z[1])
    assert numbers.loc["criterion", "value"] == pytest.approx(-sum(z) / 2)
    assert (numbers["low"] < numbers["value"]).all()
    assert (numbers["value"] < numbers["high"]).all()
    assert "resting is wrong" in found.notes[0]


def test_a_subject_that_never_answers_has_no_accuracy():
    record = go_nogo(200, 0.0, 0.0)
    assert why_not("accuracy", record) == "no answer was correct or incorrect."
    assert numbers_of(numbered("detection", record)).loc["hit rate", "value"] == 0


def test_between_answer_and_rest_misses_and_right_rests_are_choices():
    """A side bias of go/no-go trials is the fraction of answers among all of them."""
    record = go_nogo(400, 0.9, 0.25)
    found = table("bias", TrialRecord({**record, "trial": np.arange(400)}), Roles(side="stimulus"))
    whole = found.table.iloc[0]
    assert (whole["right"], whole["n"]) == (180 + 50, 400)
    assert "Right is an answer, and left is rest." in found.notes


def test_rest_is_no_choice_where_several_answers_can_be_given():
    record = TrialRecord({**go_nogo(400, 0.9, 0.25), "choice": np.arange(400) % 2})
    assert between_choices(Behaviour(record)).record is record


def test_hits_of_two_choices_are_those_of_a_side():
    record = simulated(600)
    found = numbered("detection", record)
    behaviour = Behaviour(record)
    given, right = behaviour.answered, behaviour.right
    rate = behaviour.chose_right[given & right].mean()
    assert numbers_of(found).loc["hit rate", "value"] == pytest.approx(rate)


def two_answers(n=300):
    rng = np.random.default_rng(0)
    first, second = rng.random(n) < 0.8, rng.random(n) < 0.5
    columns = {"lag": rng.integers(1, 4, n)}
    for slot, right in (("T1", first), ("T2", second | (first & (rng.random(n) < 0.5)))):
        columns[f"{slot}.choice"] = right.astype(int)
        columns[f"{slot}.outcome"] = np.where(right, "correct", "error")
        columns[f"{slot}.reaction_time"] = rng.uniform(200, 400, n)
    both = (columns["T1.outcome"] == "correct") & (columns["T2.outcome"] == "correct")
    return TrialRecord({**columns, "outcome": np.where(both, "correct", "error")})


def test_each_answer_has_its_accuracy_also_given_the_earlier():
    record = two_answers()
    first, second = (record[f"{slot}.outcome"] == "correct" for slot in ("T1", "T2"))
    found = numbered("slots", record)
    rows = {(row["slot"], row["given correct"]): row for row in found.table.to_dict("records")}
    assert list(rows) == [("T1", ""), ("T2", ""), ("T2", "T1")]
    assert rows["T2", ""]["accuracy"] == second.mean()
    assert rows["T2", "T1"]["accuracy"] == second[first].mean()
    assert rows["T2", "T1"]["answered"] == first.sum()
    assert f"T2 given T1 correct {second[first].mean():.3f}" in found.notes[0]


def test_titles_name_the_slot_of_the_numbers():
    titles = {one.name: one.title for one in analyse(Behaviour(two_answers()))}
    assert titles["accuracy"] == "Accuracy per condition, slot T2"
    assert titles["stay"] == "Stay probabilities, slot T1"
    assert titles["trials"] == "Performance over the trials"
    titles = {one.name: one.title for one in analyse(Behaviour(simulated(100)))}
    assert titles["accuracy"] == "Accuracy per condition"


# ---- sequences ----


@pytest.mark.parametrize("name", ["history", "bias", "trials", "stay"])
def test_a_shuffled_design_has_no_sequence(name):
    record = simulated(600)
    assert ANALYSIS[name](Behaviour(record)).why_not is None
    balanced = TrialRecord(record, meta={**record.meta, "design": "balanced"})
    assert "--design drawn" in why_not(name, balanced)
    drawn = TrialRecord(record, meta={**record.meta, "design": "drawn"})
    assert ANALYSIS[name](Behaviour(drawn)).why_not is None


def test_standard_measures_of_a_shuffled_design_lack_those_of_the_last_choices():
    record = simulated(2000)
    assert "last three choices" in set(numbered("measures", record).table["analysis"])
    balanced = numbered("measures", TrialRecord(record, meta={"design": "balanced"}))
    assert "last three choices" not in set(balanced.table["analysis"])
    assert (
        "Without those of the last choices: the trials are a balanced design"
        in (balanced.notes[-1])
    )


# ---- trials of a lab without a strength or a side ----


def test_practice_trials_are_left_out_and_counted():
    whole = simulated(400)
    kept = [name for name in ("coherence", "direction", "choice", "outcome") if name in whole]
    columns = {name: whole[name] for name in kept}
    columns["coherence"] = columns["coherence"].astype(float)
    columns["direction"] = np.where(columns["direction"] == 1, "right", "left")
    expected = Behaviour(TrialRecord(columns))
    columns["coherence"][200:203] = np.nan
    columns["direction"] = columns["direction"].astype("U5")
    columns["direction"][[202, 300]] = ""
    behaviour = Behaviour(TrialRecord(columns))
    assert behaviour.left_out == {"coherence": 3, "direction": 1}
    assert len(behaviour) == 396
    assert (behaviour.strength, behaviour.side) == (expected.strength, expected.side)
    assert (~behaviour.after).sum() == 1 + 2  # the first trial, and one after each gap
    notes = " ".join(ANALYSIS["accuracy"](behaviour).notes)
    assert "3 trials without a 'coherence'. Left out, of all analyses: 1 trial without" in notes


def test_a_strength_of_texts_is_said_to_be_one():
    record = TrialRecord({**simulated(200), "coherence": np.full(200, "12.5%")})
    assert why_not("psychometric", record) == (
        "'coherence' has texts, such as '12.5%'; a strength needs numbers."
    )
