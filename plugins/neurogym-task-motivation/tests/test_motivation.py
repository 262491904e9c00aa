"""Motivation: facts of the papers, ideals and shortcuts as they are played."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_task_motivation import observers as seen_by
from neurogym_task_motivation.bart import BART
from neurogym_task_motivation.delay_conditioning import DelayConditioning
from neurogym_task_motivation.delay_discounting import DelayDiscounting
from neurogym_task_motivation.effort_choice import EffortChoice
from neurogym_task_motivation.intertemporal_foraging import IntertemporalForaging
from neurogym_task_motivation.mixed_gambles import GAINS, LOSSES, MixedGambles
from neurogym_task_motivation.pavlovian_go_nogo import GOES, KINDS, WINS, PavlovianGoNogo
from neurogym_task_motivation.price_of_time import CHANCES, best_rate
from neurogym_task_motivation.risky_bandit import MEANS, STIMULI, RiskyBandit
from neurogym_task_motivation.trace_conditioning import AMOUNTS, ODOURS, TraceConditioning
from neurogym_task_motivation.variable_isi import CHANCES as TIMES
from neurogym_task_motivation.variable_isi import DELAYS, VariableISI

from neurogym_core import InvalidValueError, run
from neurogym_core.tools import find_task

IDEALS = {
    PavlovianGoNogo: seen_by.CueFilter,
    DelayDiscounting: seen_by.Discounter,
    MixedGambles: seen_by.Gambler,
    RiskyBandit: seen_by.SymbolFilter,
    EffortChoice: seen_by.Worker,
    BART: seen_by.Pumper,
    IntertemporalForaging: seen_by.Forager,
    DelayConditioning: seen_by.Predictor,
    TraceConditioning: seen_by.Predictor,
    VariableISI: seen_by.Predictor,
}
ENVS = 100
PAPERS = {BART, MixedGambles}
"""Tasks whose best policy, or nearly so, sees nothing: so it is in the papers, and on the pages."""


def played(task, subject, trials=None, seed=5):
    """Record of one session per env, or of 10 trials of tasks without sessions."""
    return run(
        task, subject, ENVS * (trials or task.trials_per_session or 10), num_envs=ENVS, seed=seed
    )


def over_envs(record, values):
    """Mean of values (n,) of the trials, and its SE over envs."""
    means = np.bincount(record["env"], weights=values) / np.bincount(record["env"])
    return means.mean(), means.std(ddof=1) / np.sqrt(len(means))


def always(action):
    def subject(env, observations):
        if env.task.actions.continuous:
            return np.full((env.num_envs, 1), action, np.float32)
        return np.full(env.num_envs, action)

    return subject


TRACES = {DelayConditioning, TraceConditioning, VariableISI}
LONG = {PavlovianGoNogo, IntertemporalForaging}
"""Tasks whose sessions take seconds to play."""


def fast_or_slow(tasks):
    return [pytest.param(one, marks=[pytest.mark.slow] if one in LONG else []) for one in tasks]


@pytest.mark.parametrize("task", fast_or_slow(IDEALS))
def test_the_ideal_observer_reaches_the_ideal_of_the_manifest(task):
    """Within 4 SEs, and the rounding of the manifest: a false alarm in 10**4 of each."""
    stated = find_task(f"motivation/{task.__name__}-v0").ideal["value"]
    record = played(task(), IDEALS[task](), 2 if task in TRACES else None)
    mean, error = over_envs(record, record["performance"])
    assert mean == pytest.approx(stated, abs=4 * error + 0.0006)


class ToldFilter(seen_by.CueFilter):
    """Learns about each cue alone, and knows whether it wins or loses, as in another simulation."""

    def begin(self, env):
        self.lead, self.env = np.zeros((env.num_envs, 4)), env
        super().begin(env)

    def forget(self, task, rows):
        self.lead[rows] = 0

    def learn(self, task, ended, reward):
        better = np.rint(reward) == np.where(WINS[self.kind], 1, 0)
        toward = np.where((self.pressed > 0) == better, 1, -1)
        self.lead[self.rows[ended], self.cue[ended]] += toward[ended]

    def presses(self, task):
        self.kind = (self.env.conditions["kind"][:, None] == KINDS).argmax(axis=1)
        lead = self.lead[self.rows, self.cue]
        return self.coin(-lead, lead)


class WinStayLoseShift(seen_by.CueFilter):
    """Of each cue: keeps its action after the better outcome, and changes it after the worse one.

    A cue that has won 1 is one to win, and one that has lost 1 is one to avoid; a 0 of a cue that
    has had no other outcome counts as the worse one.
    """

    def begin(self, env):
        shape = (env.num_envs, 4)
        self.goes, self.won, self.lost = (np.zeros(shape, bool) for _ in range(3))
        super().begin(env)

    def forget(self, task, rows):
        self.goes[rows] = self.rng.random((rows.sum(), 4)) < 0.5
        self.won[rows] = self.lost[rows] = False

    def learn(self, task, ended, reward):
        rows = self.rows[ended]
        cue, paid = self.cue[ended], np.rint(reward[ended])
        self.won[rows, cue] |= paid > 0
        self.lost[rows, cue] |= paid < 0
        worse = self.won[rows, cue] | ~self.lost[rows, cue]
        self.goes[rows, cue] ^= (paid < 0) | ((paid == 0) & worse)

    def presses(self, task):
        return self.goes[self.rows, self.cue] * 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "subject", "expected", "stated"),
    [
        (PavlovianGoNogo(), WinStayLoseShift(), 0.78, 0.005),
        # Another simulation: 0.976. The ideal of the manifest earns more, since it knows that
        # each of the four kinds is one of the cues.
        (PavlovianGoNogo(), ToldFilter(), 0.976, 0.001),
        (PavlovianGoNogo(), "rest", 0.5, 0),
        (PavlovianGoNogo(), "guess", 0.25, 0),
        (DelayDiscounting(), always(1), 0.5, 0),
        (MixedGambles(), always(1), 0.88, 0.005),
        (RiskyBandit(), "guess", 0.6, 0),
        (EffortChoice(), always(1), 0.68, 0.005),
        (EffortChoice(), seen_by.Worker(uses_chance=False), 0.78, 0.005),
        (BART(), seen_by.Pumper(30), 0.72 * 32 / 127, 0.0005),
        (IntertemporalForaging(), seen_by.Forager(interval=False), 0.5, 0.01),
        (IntertemporalForaging(version="patch"), seen_by.Forager(), 1.0, 0),
        (TraceConditioning(), always(0), 0.48, 0.005),
        (DelayConditioning(), always(0), 0.48, 0.005),
        (VariableISI(), always(0), 0.27, 0.005),
        (VariableISI(), always(0.75), 0.23, 0.005),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "name") else None,
)
def test_subjects_earn_what_the_pages_say(task, subject, expected, stated):
    """Limits are 4 SEs (a false alarm in 10**4 of each), and the rounding of the page."""
    record = played(task, subject)
    mean, error = over_envs(record, record["performance"])
    assert mean == pytest.approx(expected, abs=4 * error + stated)


@pytest.mark.slow
@pytest.mark.parametrize("task", [one for one in IDEALS if one not in PAPERS])
def test_policies_that_see_nothing_stay_below_half_of_the_way_to_the_ideal(task):
    made = task()
    actions = (0, 0.25, 0.6) if made.actions.continuous else range(made.actions.size)
    ideal = find_task(f"motivation/{task.__name__}-v0").ideal["value"]
    guess, _ = over_envs(*[(r := played(made, "guess")), r["performance"]])
    for action in actions:
        record = played(made, always(action))
        mean, error = over_envs(record, record["performance"])
        assert mean - 4 * error < (guess + ideal) / 2, action


# ---------------------------------------------------------------------- go and no-go


def test_each_cue_comes_60_times_and_means_the_same_within_a_session():
    record = run(PavlovianGoNogo(), "rest", 720, num_envs=1, seed=1)
    cue, kind = record["cue"].reshape(3, 240), record["kind"].reshape(3, 240)
    for session in range(3):
        pairs, counts = np.unique(
            np.stack([cue[session], kind[session]]), axis=1, return_counts=True
        )
        assert set(counts) == {60}
        assert pairs.shape == (2, 4)
    orders = np.unique(record["order"].reshape(3, 240, 4)[:, 0], axis=0)
    assert len(orders) > 1


def test_the_better_outcome_comes_in_80_percent_of_right_actions_and_20_of_wrong_ones():
    """Of about 500 trials of each kind: 5 SEs."""
    for subject, right in (("oracle", True), ("rest", None)):
        record = played(PavlovianGoNogo(), subject, 20)
        for kind, goes, wins in zip(KINDS, GOES, WINS, strict=True):
            paid = record["reward"][record["kind"] == kind]
            assert set(paid) == ({0, 1} if wins else {-1, 0})
            share = 0.8 if right or not goes else 0.2
            assert (paid == paid.max()).mean() == pytest.approx(share, abs=0.09)


# ---------------------------------------------------------------------- offers


def test_neither_the_delay_nor_the_amount_alone_tells_the_better_offer():
    """4,000 trials; the best threshold of each, found on these trials."""
    batch = DelayDiscounting().sample(4000, seed=1)
    known = batch.conditions
    better = known["equal_k"] > 0.01
    assert better.mean() == pytest.approx(0.5, abs=0.04)  # 5 SEs
    for name, most in (("days", 0.55), ("later", 0.75)):
        ranks = np.unique(known[name])
        right = [((known[name] > least) == better).mean() for least in ranks]
        assert max(*right, *(1 - np.array(right))) < most


def test_preferences_reverse_with_a_front_delay_if_discounting_is_hyperbolic():
    task = DelayDiscounting(fronts=(0.0, 60.0))
    shares = []
    for kind in ("hyperbolic", "exponential"):
        record = played(task, seen_by.Discounter(kind=kind), 40)
        late = record["choice"] == "later"
        shares.append([late[record["front"] == front].mean() for front in (0, 60)])
    (soon, moved), (fixed, same) = shares
    assert moved - soon > 0.1
    assert same == pytest.approx(fixed, abs=0.08)  # 2,000 trials of each: 5 SEs


def test_gambles_are_those_of_the_paper():
    gain, loss = np.meshgrid(GAINS, LOSSES)
    assert gain.size == 256
    known = MixedGambles().sample(20, seed=1).conditions
    assert np.isin(known["gain"], gain).all()
    assert np.isin(known["loss"], loss).all()
    assert (gain > loss).mean() == pytest.approx(0.859, abs=0.0005)
    assert (gain > 1.93 * loss).mean() == pytest.approx(0.531, abs=0.0005)


def test_the_gain_alone_earns_what_the_page_says_and_the_loss_alone_no_more_than_accepting():
    """Of all gambles, the best limit on one number; the first one is played, too: 4 SEs."""
    gain, loss = np.meshgrid(GAINS, LOSSES)

    def earned(accepts):
        return np.where(accepts, gain >= loss, gain <= loss).mean()

    accepting = earned(gain > 0)
    assert accepting == pytest.approx(0.88, abs=0.005)
    by_gain = {most: earned(gain > most) for most in (0, *GAINS)}
    assert max(by_gain, key=by_gain.get) == 12
    assert by_gain[12] == pytest.approx(0.91, abs=0.005)
    assert max(earned(loss < least) for least in (*LOSSES, 21)) == accepting

    def looks_at_the_gain(env, observations):
        shown = 40 * observations[:, env.task.channels["gain"]][:, 0]
        return np.select([shown < 1, shown > 13], [0, 1], 2)

    record = run(MixedGambles(), looks_at_the_gain, 8000, num_envs=ENVS, seed=5)
    assert record["performance"].mean() == pytest.approx(by_gain[12], abs=0.013)


def test_accepted_gambles_win_or_lose_and_losses_count_by_the_aversion():
    record = played(MixedGambles(aversion=2.0), seen_by.Gambler(least=-100))
    expected = np.where(record["wins"], record["gain"], -2 * record["loss"]) / 40
    np.testing.assert_allclose(record["reward"], expected, atol=1e-6)
    assert (played(MixedGambles(), seen_by.Gambler(least=100))["reward"] == 0).all()


def test_the_risky_symbol_pays_all_or_nothing_and_the_others_what_they_are():
    record = played(RiskyBandit(), "random")
    chosen = np.where(record["choice"] == "left", record["left"], record["right"])
    points = np.rint(40 * record["reward"])
    for stimulus, mean in zip(STIMULI, MEANS, strict=True):
        paid = points[chosen == stimulus]
        assert set(paid) == ({0, 40} if stimulus == "risky" else {mean})
    risky = points[chosen == "risky"]
    assert risky.mean() == pytest.approx(20, abs=5 * 20 / np.sqrt(len(risky)))
    assert (points[chosen == "none"] == 0).all()
    alone = (record["left"] == "none") | (record["right"] == "none")
    assert alone.mean() == pytest.approx(1 / 3, abs=0.016)  # 23,400 trials: 5 SEs


# ---------------------------------------------------------------------- effort, balloons, foraging


def test_the_price_of_time_is_the_largest_rate_of_all_thresholds():
    rate = best_rate(8500, 22500, 0.0)
    amounts = np.arange(124, 431)[:, None] / 100
    for price in np.linspace(0, 2 * rate, 41):
        works = np.array(CHANCES) * (amounts - 1) > 14000 * price
        gain = np.where(works, np.array(CHANCES) * amounts, np.array(CHANCES)).mean()
        assert gain / np.where(works, 22500, 8500).mean() <= rate + 1e-12
    assert 14000 * rate == pytest.approx(1.17, abs=0.005)


def test_hard_offers_take_longer_and_no_policy_that_was_tried_has_a_larger_rate():
    task = EffortChoice()
    rates = []
    for subject in (seen_by.Worker(), always(1), always(2), seen_by.Worker(uses_chance=False)):
        record = played(task, subject, 60)
        rates.append(record["reward"].sum() / record["steps"].sum())
    assert rates[0] == max(rates)
    record = played(task, "oracle")
    hard = record["choice"] == "hard"
    assert set(record["steps"][hard]) == {45}
    assert set(record["steps"][~hard]) == {17}


def test_effort_makes_hard_offers_rare():
    shares = [
        (played(EffortChoice(effort=effort), "oracle", 60)["choice"] == "hard").mean()
        for effort in (0.0, 0.009)
    ]
    assert shares[1] < shares[0] - 0.02


def test_balloons_burst_with_any_pump_equally_likely():
    """6,000 balloons; the mean within 5 SEs, and each quarter."""
    bursts = BART().sample(6000, seed=1).conditions["bursts"]
    assert (bursts.min(), bursts.max()) == (1, 128)
    assert bursts.mean() == pytest.approx(64.5, abs=2.4)
    np.testing.assert_allclose(np.histogram(bursts, 4)[0] / 6000, 0.25, atol=0.028)


@pytest.mark.slow
def test_64_pumps_earn_most_and_30_pumps_72_percent_of_it():
    """3,000 balloons each: 4 SEs of the money in units of a pump."""
    for pumps in (16, 30, 48, 64, 80, 100):
        record = played(BART(), seen_by.Pumper(pumps))
        mean, error = over_envs(record, record["reward"] / 0.05)
        assert mean == pytest.approx(pumps * (128 - pumps) / 128, abs=4 * error)


def test_the_money_of_a_balloon_is_that_of_its_pumps_or_nothing():
    record = played(BART(), seen_by.Pumper(30), 2)
    burst = record["burst"] == 1
    np.testing.assert_array_equal(burst, record["bursts"] <= 30)
    np.testing.assert_allclose(record["reward"], np.where(burst, 0, 1.5), atol=1e-6)
    assert (record["choice"] == np.where(burst, "pump", "cash")).all()


def test_the_largest_number_of_pumps_is_drawn_for_each_session_and_not_shown():
    task = BART(largest=(8, 32, 128))
    record = run(task, seen_by.Pumper(3), 900, num_envs=10, seed=1)
    assert set(record["most"]) == {8, 32, 128}
    sessions = np.stack([record["env"], record["session"]])
    for env, session in np.unique(sessions, axis=1).T:
        rows = (record["env"] == env) & (record["session"] == session)
        assert len(set(record["most"][rows])) == 1
    assert (record["bursts"] <= record["most"]).all()


@pytest.mark.parametrize("version", ["choice", "patch"])
def test_the_delay_is_played_and_the_rate_is_that_of_the_page(version):
    task = IntertemporalForaging(version=version)
    for subject, option in ((always(1), "soon"), (always(2), "late")):
        record = played(task, subject, 2)
        delay = 5 if option == "soon" else record["late"]
        amount = 1 if option == "soon" else record["large"]
        np.testing.assert_allclose(record["steps"] * 0.5, delay + 20.5)
        np.testing.assert_allclose(record["reward"], amount, atol=1e-5)
    rate = record["large"] / (record["late"] + 20.5) * 25.5
    np.testing.assert_allclose(rate, record["ratio"], rtol=1e-6)
    assert (record["large"] > 1).all()


def test_neither_amount_nor_delay_alone_tells_the_larger_rate():
    known = IntertemporalForaging().sample(4000, seed=1)
    better = known.conditions["ratio"] > 1
    for values in (known.conditions["late"], known.notes["large"]):
        right = [((values > least) == better).mean() for least in np.unique(values)]
        assert max(*right, *(1 - np.array(right))) < 0.75


# ---------------------------------------------------------------------- conditioning


def values_of(task, **imposed):
    """Output of the oracle on each step of a trial, from the odour on, (T,)."""
    outputs = []

    def watch(env, observations):
        outputs.append(env.target.copy())
        return env.target

    imposed = {"duration.interval": 1000, **imposed}
    run(task, watch, 1, num_envs=1, seed=1, conditions=imposed)
    return np.concatenate(outputs).ravel()[10:]


@pytest.mark.parametrize("task", [TraceConditioning(), DelayConditioning()])
def test_the_value_rises_to_the_expected_outcome_and_is_0_from_it_on(task):
    for odour, amount in zip(ODOURS, AMOUNTS, strict=True):
        for comes in (True, False):
            value = values_of(task, odour=odour, comes=comes)
            left = np.arange(20, 0, -1) / 10  # s
            np.testing.assert_allclose(value[:20], 0.9 * amount * 0.5**left, atol=1e-6)
            assert (value[20:] == 0).all()
    assert (values_of(task, odour="free") == 0).all()


def test_the_outcome_comes_whatever_the_subject_does_and_is_omitted_in_one_of_ten():
    """4,000 trials: 5 SEs."""
    task = TraceConditioning()
    batch = task.sample(4000, seed=1)
    odour, comes = batch.conditions["odour"], batch.conditions["comes"]
    assert comes[odour != "free"].mean() == pytest.approx(0.9, abs=0.024)
    assert (odour == "free").mean() == pytest.approx(0.05, abs=0.018)
    shown = batch.shown[:, batch.period == batch.period_names.index("outcome")][:, 0]
    drop, puff = shown[:, task.channels["drop"]][:, 0], shown[:, task.channels["puff"]][:, 0]
    known = (odour[:, None] == ODOURS) @ AMOUNTS
    amount = np.where(odour == "free", 1, known * comes)
    np.testing.assert_allclose(drop - puff, amount, atol=1e-6)


def test_the_odour_is_gone_in_the_gap_of_trace_conditioning_only():
    for task, stays in ((TraceConditioning(), False), (DelayConditioning(), True)):
        batch = task.sample(5, seed=1, odour="big")
        gap = batch.shown[:, batch.period == batch.period_names.index("gap")]
        assert gap[:, :, task.channels["odour"]].any() == stays


def test_times_of_rewards_have_gaussian_weights():
    np.testing.assert_array_equal(DELAYS, np.arange(1200, 2801, 200))
    weights = [0.048, 0.084, 0.125, 0.158, 0.172, 0.158, 0.125, 0.084, 0.048]
    np.testing.assert_allclose(TIMES, weights, atol=0.0006)
    left = np.cumsum(TIMES[::-1])[::-1]  # not yet before each time
    assert TIMES[0] / left[0] == pytest.approx(0.05, abs=0.003)
    assert TIMES[-1] / left[-1] == pytest.approx(1)
    to_come = 0.9 * left / (0.9 * left + 0.1)
    assert (to_come[0], to_come[-1]) == pytest.approx((0.9, 0.30), abs=0.005)


@pytest.mark.parametrize(("rewarded", "sign"), [(1.0, -1), (0.9, 1)])
def test_the_error_at_the_reward_falls_with_time_if_all_are_rewarded_else_it_rises(rewarded, sign):
    """Compared are the middle of the nine times and the last one, as they are played."""
    task = VariableISI(rewarded=rewarded)
    errors = [
        1 - values_of(task, isi=isi, comes=True)[isi // 100 - 1] for isi in (1600, 2000, 2400, 2800)
    ]
    assert (sign * np.diff(errors) > 0).all()


def test_the_value_of_a_reward_is_the_mean_over_its_times_and_falls_to_0_if_it_is_omitted():
    task = VariableISI(rewarded=0.9)
    first = 0.9 * (TIMES * 0.8 ** (DELAYS / 1000)).sum()
    value = values_of(task, comes=False)
    assert value[0] == pytest.approx(first, abs=1e-6)
    assert value[27] > 0.2
    assert (value[28:] == 0).all()


@pytest.mark.parametrize(
    ("task", "wrong"),
    [
        (PavlovianGoNogo, {"p_better": 0.4}),
        (DelayDiscounting, {"k": 0.0}),
        (MixedGambles, {"aversion": -1.0}),
        (RiskyBandit, {"forced": 1.5}),
        (EffortChoice, {"effort": 1.0}),
        (BART, {"largest": (1,)}),
        (IntertemporalForaging, {"version": "stay"}),
        (TraceConditioning, {"discount": 0.0}),
        (VariableISI, {"rewarded": 0.0}),
    ],
)
def test_impossible_parameters_are_refused(task, wrong):
    with pytest.raises(InvalidValueError, match=task.__name__):
        task(**wrong)
