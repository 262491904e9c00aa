"""Likelihoods are those of the subjects, fits find their parameters, and wrong models lose."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from neurogym_behaviour.behaviour import Behaviour, CannotTellError, Roles, with_declared
from neurogym_likeness import DiffusionObserver, Hybrid, Integrator, QLearner, WinStayLoseShift
from neurogym_likeness.fitting import fit_model, recovered
from neurogym_likeness.models import model, passage_density
from neurogym_likeness.predictive import predictive_finding

from neurogym_core import InvalidValueError, TrialRecord, UnknownNameError, make_task, run

BANDIT = ("value/Bandit-v0", {"probabilities": (0.8, 0.2, 0.4)})
TWO_STEP = ("value/DawTwoStep-v0", {})
DOTS = ("perceptual/RoitmanShadlen-v0", {"dt": 5})
FIXED = ("perceptual/PerceptualDecisionMaking-v0", {})


def played(task, subject, n, seed=1):
    name, parameters = task
    made = make_task(name, **parameters)
    envs = 1 if name.startswith("value") else None  # a learner's trials are one sequence
    record = with_declared(run(made, subject, n, seed=seed, num_envs=envs), made)
    return Behaviour(record, Roles.of_task(made))


# ---- likelihoods ----


def watched(kind, **settings):
    """Return a learner that keeps the log probability of each of its choices."""

    class Watched(kind):
        def _choose(self, preferences):
            chosen = super()._choose(preferences)
            logs = self.beta * preferences
            logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
            self.said = [*getattr(self, "said", []), float(logs[0, chosen[0]])]
            return chosen

    return Watched(1, **settings)


@pytest.mark.parametrize(
    ("task", "kind", "settings"),
    [
        (BANDIT, QLearner, {"alpha": 0.3, "beta": 3.0, "perseveration": 0.2}),
        (TWO_STEP, QLearner, {"alpha": 0.4, "beta": 4.0, "trace": 0.6}),
        (TWO_STEP, Hybrid, {"weight": 0.7}),
    ],
)
def test_the_likelihood_of_a_learner_is_that_of_its_own_choices(task, kind, settings):
    subject = watched(kind, **settings)
    behaviour = played(task, subject, 200)
    logs = kind(1, **settings).log_likelihood(behaviour.record)
    choices = len(subject.said) // 200
    said = np.array(subject.said[: 200 * choices]).reshape(200, choices).sum(axis=1)
    np.testing.assert_allclose(logs[:200], said, atol=1e-9)


def test_the_likelihood_of_stay_and_shift_counts_exceptions():
    record = played(BANDIT, "win_stay_lose_shift", 300).record
    logs = WinStayLoseShift(lapse=0.0).log_likelihood(record)
    assert set(np.round(np.exp(logs), 6)) <= {1.0, 0.5, 0.333333}
    assert WinStayLoseShift(lapse=0.3).log_likelihood(record).sum() < logs.sum()
    other = played(BANDIT, "guess", 300).record
    assert WinStayLoseShift(lapse=0.0).log_likelihood(other).min() < -20
    with pytest.raises(InvalidValueError, match="Expected a probability"):
        WinStayLoseShift(lapse=2)


@pytest.mark.parametrize("drift", [0.0, 1.0, -2.5])
@pytest.mark.parametrize("bound", [0.5, 1.2])
def test_passage_times_have_the_probability_and_the_mean_of_the_diffusion(drift, bound):
    """P = 1 / (1 + exp(-2 v a)); mean a / v tanh(v a) s, or a^2 without drift."""
    time = np.linspace(0.0005, 20, 40_000)
    step = time[1] - time[0]
    up, down = (
        np.exp(passage_density(time, np.full(len(time), v), bound)) for v in (drift, -drift)
    )
    assert up.sum() * step == pytest.approx(1 / (1 + np.exp(-2 * drift * bound)), abs=1e-4)
    mean = bound / drift * np.tanh(drift * bound) if drift else bound**2
    assert ((up + down) * time).sum() * step == pytest.approx(mean, rel=1e-3)
    assert passage_density(np.array([-1.0, 0.0]), np.zeros(2), bound).tolist() == [-np.inf] * 2


def test_an_observer_is_likely_under_itself_and_unlikely_under_others():
    record = played(DOTS, "diffusion", 400).record
    own = DiffusionObserver().log_likelihood(record, sigma=1.64)
    assert np.isfinite(own).sum() == 400
    for other in ({"bound": 80}, {"bound": 20}, {"non_decision": 200}):
        assert DiffusionObserver(**other).log_likelihood(record, sigma=1.64).sum() < own.sum() - 50
    ideal = played(FIXED, "integrator", 400).record
    good = Integrator().log_likelihood(ideal, noise=8.5)
    assert good.sum() > Integrator().log_likelihood(ideal, noise=40).sum() + 20
    assert good.sum() > Integrator().log_likelihood(ideal, noise=8.5, bias=20).sum() + 20


# ---- fits ----


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "subject", "n", "expected"),
    [
        # Tolerances are about 4 standard errors of a fit to so many trials.
        (BANDIT, ("q_learner", {"alpha": 0.3, "beta": 3.0, "perseveration": 0.1}), 800,
         {"alpha": (0.3, 0.16), "beta": (3, 0.9), "perseveration": (0.1, 0.14)}),
        (TWO_STEP, ("hybrid", {"weight": 0.6}), 400,
         {"alpha": (0.5, 0.2), "beta": (5, 2.2), "weight": (0.6, 0.5), "trace": (0.57, 0.5)}),
        (BANDIT, ("win_stay_lose_shift", {"lapse": 0.2}), 500, {"lapse": (0.2, 0.11)}),
        # bound 40 / (44.7 sigma), raised by the overshoot of steps of 5 ms; drift 0.2236 / sigma.
        (DOTS, "diffusion", 800,
         {"drift": (0.136, 0.03), "bound": (0.587, 0.06), "non_decision": (300, 10)}),
        (FIXED, "integrator", 800, {"noise": (8.5, 3.4), "bias": (0, 2.1)}),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) and isinstance(one[0], str) else "",
)  # fmt: skip
def test_a_fit_finds_the_parameters_of_the_subject(task, subject, n, expected):
    behaviour = played(task, subject, n)
    name = subject if isinstance(subject, str) else subject[0]
    found = fit_model(name, behaviour, starts=3, folds=0)
    for parameter, (value, tolerance) in expected.items():
        assert found.values[parameter] == pytest.approx(value, abs=tolerance), parameter
        assert 0 < found.errors[parameter] < 0.6 * tolerance, parameter
    assert found.n == len(behaviour)
    k = len(found.values)
    assert found.aic == pytest.approx(2 * k - 2 * found.log_likelihood)
    assert found.bic == pytest.approx(k * np.log(found.n) - 2 * found.log_likelihood)


@pytest.mark.slow
def test_simulations_of_a_fit_give_its_parameters_back():
    """12 simulations: their mean is within 4 standard errors of it."""
    for task, name in ((FIXED, "integrator"), (DOTS, "diffusion")):
        behaviour = played(task, name, 500)
        found = fit_model(name, behaviour, starts=2, folds=0)
        again = recovered(found, behaviour, 12)
        for values, parameter in zip(again.T, found.values, strict=True):
            if parameter != "lapse":  # at its bound
                apart = abs(values.mean() - found.values[parameter])
                assert apart < 4 * values.std(ddof=1) / np.sqrt(12), parameter


@pytest.mark.slow
def test_the_model_of_the_subject_wins_and_another_loses():
    planner = played(TWO_STEP, ("hybrid", {"weight": 0.8}), 400)
    fits = {name: fit_model(name, planner, starts=1, folds=2) for name in ("q_learner", "hybrid")}
    assert fits["hybrid"].bic < fits["q_learner"].bic
    assert fits["hybrid"].predicted > fits["q_learner"].predicted
    learner = played(TWO_STEP, "q_learner", 400)
    fits = {name: fit_model(name, learner, starts=1, folds=0) for name in ("q_learner", "hybrid")}
    assert fits["q_learner"].bic < fits["hybrid"].bic


def test_a_guesser_is_predicted_no_better_than_by_chance():
    """Cheat: a subject without any of the effects; three options have -1.585 bits."""
    guesses = played(BANDIT, "guess", 600)
    found = fit_model("q_learner", guesses, starts=3)
    assert found.predicted == pytest.approx(-np.log2(3), abs=0.03)
    exact = fit_model("win_stay_lose_shift", guesses, starts=3)
    assert exact.values["lapse"] > 0.8


@pytest.mark.slow
def test_standard_errors_cover_the_truth():
    """Of 200 observers, 95 % have noise within 1.96 standard errors: SD 1.5 %, bounds of 4."""
    covered = 0
    truth = {"noise": 8.0, "bias": 1.0, "lapse": 0.05}
    behaviour = played(FIXED, "integrator", 1500)
    chosen, rng = model("integrator", behaviour), np.random.default_rng(4)
    for _ in range(200):
        found = fit_model("integrator", chosen.simulate(behaviour, truth, rng), starts=1, folds=0)
        covered += abs(found.values["bias"] - 1) < 1.96 * found.errors["bias"]
    assert covered / 200 > 0.89


@pytest.mark.slow
def test_simulations_of_the_right_model_do_as_the_subject_and_of_a_wrong_one_do_not():
    """Cheat: a planner, fitted as a learner without a model."""
    planner = played(TWO_STEP, ("hybrid", {"weight": 0.9}), 400)
    fits = [fit_model(name, planner, "one", starts=1, folds=0) for name in ("hybrid", "q_learner")]
    table = predictive_finding(fits, {"one": planner}).table
    inside = (table["data"] >= table["low"]) & (table["data"] <= table["high"])
    assert inside[table["model"] == "hybrid"].all()
    assert not inside[table["model"] == "q_learner"].all()
    assert table["number"].nunique() == 4
    dots = played(DOTS, "diffusion", 300)
    table = predictive_finding([fit_model("diffusion", dots, "x", folds=0)], {"x": dots}).table
    inside = (table["data"] >= table["low"]) & (table["data"] <= table["high"])
    assert inside.mean() > 0.8
    assert table["number"].str.contains("median time").any()


def test_without_known_rewards_there_are_no_simulations():
    record = played(BANDIT, "q_learner", 100).record
    bare = TrialRecord(
        {k: record[k] for k in record if k not in ("payout", "probability")}, meta=record.meta
    )
    one = Behaviour(bare, Roles(choices=3))
    found = predictive_finding([fit_model("q_learner", one, "x", starts=1, folds=0)], {"x": one})
    assert "no chances of reward" in found.why_not


# ---- errors, and the command ----


def test_records_that_lack_something_are_refused():
    dots = played(FIXED, "integrator", 100)
    with pytest.raises(UnknownNameError, match="Unknown model 'mind'"):
        model("mind", dots)
    with pytest.raises(CannotTellError, match="two choices alone"):
        model("hybrid", played(BANDIT, "guess", 100))
    with pytest.raises(CannotTellError, match="name one with --side"):
        model("integrator", played(BANDIT, "guess", 100))
    with pytest.raises(CannotTellError, match="a fit needs 20"):
        fit_model("integrator", Behaviour(dots.record[np.arange(10)], dots.roles))
    with pytest.raises(CannotTellError, match="one choice"):
        fit_model("win_stay_lose_shift", played(TWO_STEP, "guess", 100))


def test_the_command_fits_each_subject_and_compares_models(ngym):
    rows = ["subject,trial,coherence,side,correct,choice,reaction_time"]
    rng = np.random.default_rng(2)
    for name, noise in (("a", 5), ("b", 15)):
        side, strength = rng.integers(0, 2, 300), rng.choice([2, 8, 32], 300)
        right = np.where(side, strength, -strength) + noise * rng.standard_normal(300) > 0
        rows += [
            f"{name},{k},{strength[k]},{side[k]},{int(right[k] == side[k])},{int(right[k])},500"
            for k in range(300)
        ]
    Path("two.csv").write_text("\n".join(rows) + "\n", "utf-8")
    words = ("fit", "two.csv", "--model", "integrator", "--folds", 0, "--recover", 2)
    code, said = ngym(*words, "--json")
    assert code == 0, said
    data = json.loads(said)
    assert list(data) == [
        "schema", "command", "fits", "recovery", "best", "predictive", "report", "figures",
    ]  # fmt: skip
    assert len(data["predictive"]) == 2 * 6  # six signed strengths
    noise = {one["subject"]: one["parameters"]["noise"]["value"] for one in data["fits"]}
    assert noise["a"] == pytest.approx(5, abs=2.5)
    assert noise["b"] == pytest.approx(15, abs=6)
    assert len(data["recovery"]) == 2 * 3
    code, said = ngym(*words)
    assert "integrator, mean of 2 subjects: noise" in said
    assert "Recovery of noise of integrator: mean error" in said
    assert "Simulations of integrator: " in said
    assert "Parameters" in Path("fit/report.html").read_text("utf-8")
    code, said = ngym("fit", "two.csv", "--model", "q_learner")
    assert code == 2
    assert "q_learner cannot be fitted to a: the record has no column 'reward'" in said


def test_the_network_of_a_run_is_a_model(toys, ngym):
    """Choices are those of the task in whatever order their names are: here right comes first."""
    task = "PerceptualDecisionMaking-v0"
    assert ngym("train", task, "--model", "toy-looks", "--updates", "20", "--out", "net")[0] == 0
    record = run(task, "oracle", 300, seed=3)
    record.to_csv("all.csv")
    code, said = ngym("fit", "all.csv", "--model", "net", "--model", "integrator", "--json")
    assert code == 0, said
    fits = {one["model"]: one for one in json.loads(said[said.index("{") :])["fits"]}
    assert fits["net"]["predicted"] > -0.8  # it answers most trials rightly
    assert list(fits["net"]["parameters"]) == ["lapse"]
    TrialRecord({**record, "choice": np.full(300, "up")}, meta=record.meta).to_csv("up.csv")
    code, said = ngym("fit", "up.csv", "--model", "net")
    assert code == 2
    assert "has the choice 'up'. Expected those of PerceptualDecisionMaking" in said
    code, said = ngym("fit", "all.csv", "--model", "nowhere")
    assert code == 2
    assert "'nowhere' was given. Expected 'q_learner'" in said


# ---- records of laboratories ----


def bandit_file(path, change=lambda columns: columns, subject="win_stay_lose_shift:lapse=0.2"):
    record = run("Bandit-v0", subject, 300, seed=2, num_envs=1)
    columns = {name: record.coded()[name] for name in ("trial", "choice", "outcome", "reward")}
    TrialRecord(change({name: np.asarray(one) for name, one in columns.items()})).to_csv(path)


def fitted(ngym, path, *models):
    words = [word for name in models for word in ("--model", name)]
    code, said = ngym("fit", path, *words, "--folds", "0", "--json")
    assert code == 0, said
    return {one["model"]: one for one in json.loads(said[said.index("{") :])["fits"]}


def test_a_missing_reward_is_refused_and_not_the_end_of_a_fit(ngym):
    def lacking(columns):
        columns["reward"] = columns["reward"].astype(float)
        columns["reward"][60] = np.nan
        return columns

    bandit_file("lacking.csv", lacking)
    code, said = ngym("fit", "lacking.csv", "--model", "q_learner")
    assert code == 2
    assert "1 trials with a choice have no reward" in said
    bandit_file(
        "texts.csv", lambda one: {**one, "reward": np.where(one["reward"] > 0, "yes", "no")}
    )
    code, said = ngym("fit", "texts.csv", "--model", "q_learner")
    assert code == 2
    assert "'reward' has texts" in said


def test_choices_may_be_counted_from_one(ngym):
    bandit_file("zero.csv")
    bandit_file("one.csv", lambda one: {**one, "choice": one["choice"] + 1})
    models = ("q_learner", "win_stay_lose_shift")
    for name, fit in fitted(ngym, "zero.csv", *models).items():
        assert fitted(ngym, "one.csv", name)[name]["log_likelihood"] == fit["log_likelihood"]


def test_models_are_compared_over_the_same_trials(toys, ngym):
    """The network of a run reads choices, and the integrator outcomes."""
    task = "PerceptualDecisionMaking-v0"
    assert ngym("train", task, "--model", "toy-looks", "--updates", "20", "--out", "net")[0] == 0
    record = run(task, "oracle", 300, seed=3)
    choices = record.codes("choice").copy()
    choices[::5] = -1
    TrialRecord({**record, "choice": choices}, meta=record.meta).to_csv("some.csv")
    assert {one["n"] for one in fitted(ngym, "some.csv", "net", "integrator").values()} == {240}
    swapped = 1 - record.codes("choice")
    TrialRecord({**record, "choice": swapped}, meta=record.meta).to_csv("swapped.csv")
    code, said = ngym("fit", "swapped.csv", "--model", "net")
    assert code == 2
    assert "in 300 of 300 trials 'choice' is wrong where 'outcome' is correct" in said


def test_a_network_that_reads_the_target_has_no_likelihood(toys, ngym):
    """Its likelihood was that of the answer itself."""
    task = "PerceptualDecisionMaking-v0"
    assert ngym("train", task, "--model", "toy", "--updates", "20", "--out", "net")[0] == 0
    run(task, "integrator", 100, seed=3).to_csv("all.csv")
    code, said = ngym("fit", "all.csv", "--model", "net")
    assert code != 0
    assert "asked the env for 'target'" in said


def test_conditions_in_another_unit_are_refused(toys, ngym):
    task = "PerceptualDecisionMaking-v0"
    assert ngym("train", task, "--model", "toy-looks", "--updates", "20", "--out", "net")[0] == 0
    record = run(task, "integrator", 100, seed=3)
    fractions = {**record, "coherence": record["coherence"] / 100}
    TrialRecord(fractions, meta=record.meta).to_csv("fractions.csv")
    code, said = ngym("fit", "fractions.csv", "--model", "net")
    assert code == 2
    assert "The condition 'coherence' of the record is up to 0.512, and that of" in said
    assert "--map coherence='100 * coherence'" in said


def test_choices_that_contradict_the_outcomes_are_no_data_of_an_observer(ngym):
    record = run("PerceptualDecisionMaking-v0", "integrator", 300, seed=3)
    columns = {**record.coded(), "choice": np.roll(record.codes("choice"), 1)}
    TrialRecord(columns).to_csv("rolled.csv")
    code, said = ngym("fit", "rolled.csv", "--model", "integrator")
    assert code == 2
    assert "answered trials 'choice' is not 'direction' where the answer is correct" in said


# ---- parameters that the trials do not determine ----


def test_a_parameter_that_changes_nothing_is_not_determined():
    """A subject that guesses: without a weight of values, no rate of learning fits better."""
    fit = fit_model("q_learner", played(BANDIT, "guess", 300), folds=0)
    assert "alpha" in fit.undetermined
    assert not fit_model("q_learner", played(BANDIT, ("q_learner", {"beta": 6}), 600),
                         folds=0).undetermined  # fmt: skip


def test_an_estimate_at_its_bound_is_not_determined_and_no_lapses_are_an_estimate():
    behaviour = played(FIXED, "integrator", 600)
    fit = fit_model("integrator", behaviour, folds=0)
    assert fit.values["lapse"] < 0.01
    assert not fit.undetermined
    right = TrialRecord(
        {
            **behaviour.record,
            "outcome": np.full(600, "correct"),
            "choice": behaviour.record["direction"],
        },
        meta=behaviour.record.meta,
    )
    sure = fit_model("integrator", Behaviour(right, behaviour.roles), folds=0)
    assert "noise" in sure.undetermined
    assert {"noise", "bias"} >= set(sure.undetermined)


def test_the_report_of_a_fit_says_what_is_not_determined(ngym):
    bandit_file("guess.csv", subject="guess")
    code, said = ngym("fit", "guess.csv", "--model", "q_learner", "--folds", "0")
    assert code == 0, said
    assert "alpha" in said
    assert "(not determined)" in said
    assert "WARNING: q_learner: the trials do not determine alpha" in said
    found = fitted(ngym, "guess.csv", "q_learner")["q_learner"]
    assert "alpha" in found["undetermined"]
