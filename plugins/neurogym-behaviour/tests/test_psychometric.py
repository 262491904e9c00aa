"""Fits recover true curves, report parameters that are not determined, refuse invalid data."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neurogym_behaviour import fit_curve, fit_psychometric, signed_strength
from neurogym_behaviour.intervals import wilson_interval
from neurogym_behaviour.psychometric import _Data, _model, _Search

from neurogym_core import InvalidValueError, TrialRecord

COHERENCES = np.array([0, 3.2, 6.4, 12.8, 25.6, 51.2])
SIGNED = np.concatenate([-COHERENCES[:0:-1], COHERENCES])


def weibull(x, threshold, slope, lapse, guess=0.5):
    return guess + (1 - guess - lapse) * (1 - np.exp(-((x / threshold) ** slope)))


def logistic(x, bias, slope, low, high):
    return low + (1 - low - high) / (1 + np.exp(-slope * (x - bias)))


def expected_counts(p, n):
    """Counts without randomness: up to rounding, the most likely curve is the true one."""
    return np.round(p * n).astype(int), np.full(len(p), n)


class TestRecovery:
    @settings(max_examples=15, deadline=None)
    @given(st.floats(4, 25), st.floats(0.8, 3.0), st.floats(0, 0.08), st.sampled_from([0.5, 0.25]))
    def test_weibull_of_noiseless_counts(self, threshold, slope, lapse, guess):
        k, n = expected_counts(weibull(COHERENCES, threshold, slope, lapse, guess), 10_000_000)
        fit = fit_curve(COHERENCES, k, n, shape="weibull", guess=guess, interval=None)
        assert fit.threshold == pytest.approx(threshold, rel=0.01)
        assert fit.slope == pytest.approx(slope, rel=0.02)
        assert fit.lapse == pytest.approx(lapse, abs=0.004)
        assert fit.guess == guess
        assert fit.bias is None

    @settings(max_examples=15, deadline=None)
    @given(st.floats(-10, 10), st.floats(0.06, 0.6), st.floats(0, 0.08), st.floats(0, 0.08))
    def test_logistic_of_noiseless_counts(self, bias, slope, low, high):
        k, n = expected_counts(logistic(SIGNED, bias, slope, low, high), 10_000_000)
        fit = fit_curve(SIGNED, k, n, guess="free", interval=None)
        assert fit.bias == fit.threshold == pytest.approx(bias, abs=0.1)
        assert fit.slope == pytest.approx(slope, rel=0.02)
        assert (fit.guess, fit.lapse) == pytest.approx((low, high), abs=0.002)

    def test_symmetric_lapses_are_equal(self):
        k, n = expected_counts(logistic(SIGNED, 3, 0.15, 0.05, 0.05), 1_000_000)
        fit = fit_curve(SIGNED, k, n, guess="symmetric", interval="bootstrap", resamples=50)
        assert fit.guess == fit.lapse == pytest.approx(0.05, abs=1e-3)
        assert fit.intervals["guess"] == fit.intervals["lapse"]

    def test_weibull_of_simulated_trials(self):
        """The mean threshold of 50 data sets, 200 trials at each of 6 levels, is 10 within 4 SDs.

        One estimate has an SD near 1.3 (checked below), so the mean of 50 has 0.19; maximum
        likelihood is biased by less than 0.3 here. A false alarm of the bound of 1.06 is rarer than
        1 in 10,000.
        """
        rng = np.random.default_rng(11)
        counts = rng.binomial(200, weibull(COHERENCES, 10, 1.5, 0.02), (50, 6))
        thresholds = [
            fit_curve(COHERENCES, k, [200] * 6, shape="weibull", guess=0.5, interval=None).threshold
            for k in counts
        ]
        assert np.std(thresholds) < 2.5
        assert np.mean(thresholds) == pytest.approx(10, abs=1.06)

    def test_units_of_strength_do_not_matter(self):
        k, n = expected_counts(weibull(COHERENCES, 10, 1.5, 0.02), 1000)
        fits = [
            fit_curve(COHERENCES * c, k, n, shape="weibull", guess=0.5, interval=None)
            for c in (1e-3, 1, 1e3)
        ]
        assert [
            fit.threshold / c for fit, c in zip(fits, (1e-3, 1, 1e3), strict=True)
        ] == pytest.approx([10] * 3, rel=0.05)
        assert np.ptp([fit.log_likelihood for fit in fits]) < 1e-3

    def test_equal_strengths_are_joined_and_empty_ones_ignored(self):
        k, n = expected_counts(weibull(COHERENCES, 10, 1.5, 0.02), 1000)
        whole = fit_curve(COHERENCES, k, n, shape="weibull", guess=0.5, interval=None)
        parts = fit_curve(
            [*COHERENCES, *COHERENCES, 99.0],
            [*(k // 2), *(k - k // 2), 0],
            [*(n // 2), *(n - n // 2), 0],
            shape="weibull",
            guess=0.5,
            interval=None,
        )
        assert parts == whole

    @pytest.mark.parametrize("shape", ["logistic", "weibull"])
    @pytest.mark.parametrize("guess", [0.1, "free", "symmetric"])
    def test_the_gradient_is_the_slope_of_the_loss(self, shape, guess):
        data = _Data(COHERENCES, np.array([3.0, 5, 6, 8, 9, 10]), np.full(6, 10.0))
        search = _Search(_model(shape, guess, "free", 0.2), COHERENCES)
        point = np.array(
            [0.3 if shape == "logistic" else 2.0, 0.4, *[0.05, 0.03][: len(search.model.free) - 2]]
        )
        step = 1e-6 * np.eye(len(point))
        slopes = [
            (search.loss(point + d, data)[0] - search.loss(point - d, data)[0]) / 2e-6 for d in step
        ]
        assert search.loss(point, data)[1] == pytest.approx(slopes, rel=1e-5, abs=1e-5)

    def test_no_nearby_curve_is_more_likely(self):
        rng = np.random.default_rng(2)
        k = rng.binomial(60, weibull(COHERENCES, 10, 1.5, 0.03))
        fit = fit_curve(COHERENCES, k, [60] * 6, shape="weibull", guess=0.5, interval=None)

        def log_likelihood(threshold, slope, lapse):
            p = weibull(COHERENCES, threshold, slope, lapse)
            return k @ np.log(p) + (60 - k) @ np.log(1 - p)

        best = (fit.threshold, fit.slope, fit.lapse)
        assert fit.log_likelihood == pytest.approx(log_likelihood(*best), abs=1e-6)
        for _ in range(300):
            other = np.array(best) * rng.uniform(0.7, 1.4, 3) + [0, 0, 1e-3]
            assert log_likelihood(*other) <= fit.log_likelihood + 1e-5


class TestBootstrap:
    @pytest.mark.slow
    def test_the_interval_covers_the_threshold(self):
        """In 100 data sets with known lapse rate, the coverage of 0.95 is above 0.87.

        The coverage has an SD of 0.022, so the bound is 3.7 SDs below.

        False alarms are rarer than 1 in 1,000 if percentile intervals cover as they should.
        """
        rng = np.random.default_rng(3)
        counts = rng.binomial(120, weibull(COHERENCES, 10, 1.5, 0.02), (100, 6))
        options = {
            "shape": "weibull",
            "guess": 0.5,
            "lapse": 0.02,
            "interval": "bootstrap",
            "resamples": 100,
        }
        fits = [
            fit_curve(COHERENCES, k, [120] * 6, seed=i, **options) for i, k in enumerate(counts)
        ]
        intervals = np.array([fit.intervals["threshold"] for fit in fits])
        assert np.mean((intervals[:, 0] <= 10) & (intervals[:, 1] >= 10)) >= 0.87
        assert np.ptp(intervals, axis=1).mean() < 8  # infinite intervals would cover as well

    def test_it_contains_the_estimate_and_shrinks_with_trials(self):
        widths = []
        for trials in (100, 1600):
            k, n = expected_counts(weibull(COHERENCES, 10, 1.5, 0.02), trials)
            fit = fit_curve(
                COHERENCES, k, n, shape="weibull", guess=0.5, interval="bootstrap", resamples=100
            )
            for name in ("threshold", "slope", "lapse"):
                low, high = fit.intervals[name]
                assert low <= getattr(fit, name) <= high
            widths.append(np.ptp(fit.intervals["threshold"]))
        # A quarter, because errors are proportional to 1 / sqrt(trials).
        assert 0.15 < widths[1] / widths[0] < 0.4

    def test_the_seed_determines_it(self):
        k, n = expected_counts(weibull(COHERENCES, 10, 1.5, 0.02), 100)
        fits = [
            fit_curve(
                COHERENCES,
                k,
                n,
                shape="weibull",
                guess=0.5,
                interval="bootstrap",
                resamples=20,
                seed=seed,
            )
            for seed in (1, 1, 2)
        ]
        assert fits[0] == fits[1] != fits[2]
        generator = fit_curve(
            COHERENCES,
            k,
            n,
            shape="weibull",
            guess=0.5,
            interval="bootstrap",
            resamples=20,
            seed=np.random.default_rng(1),
        )
        assert generator == fits[0]

    def test_intervals_can_be_left_out(self):
        k, n = expected_counts(weibull(COHERENCES, 10, 1.5, 0.02), 100)
        assert (
            fit_curve(COHERENCES, k, n, shape="weibull", guess=0.5, interval=None).intervals == {}
        )

    def test_fixed_parameters_have_no_interval(self):
        k, n = expected_counts(weibull(COHERENCES, 10, 1.5, 0.02), 100)
        fit = fit_curve(
            COHERENCES,
            k,
            n,
            shape="weibull",
            guess=0.5,
            lapse=0.02,
            interval="bootstrap",
            resamples=20,
        )
        assert set(fit.intervals) == {"threshold", "slope"}


def covered(x, p, n, truth, data_sets, seed, **how):
    """Fraction of data sets whose intervals contain the true value, parameter -> fraction."""
    rng, hit = np.random.default_rng(seed), {name: [] for name in truth}
    for _ in range(data_sets):
        trials = np.full(len(x), n // len(x))
        fit = fit_curve(x, rng.binomial(trials, p), trials, **how)
        for name, value in truth.items():
            low, high = fit.intervals[name]
            hit[name].append(low <= value <= high)
    return {name: np.mean(values) for name, values in hit.items()}


def world(shape, lapse):
    """Return strengths, probabilities, options of the fit, and the true parameters."""
    if shape == "weibull":
        truth = {"threshold": 10, "slope": 1.5, "lapse": lapse}
        return (
            COHERENCES,
            weibull(COHERENCES, 10, 1.5, lapse),
            {"shape": shape, "guess": 0.5},
            truth,
        )
    p = logistic(SIGNED, 2, 0.15, lapse, lapse)
    return SIGNED, p, {"guess": "symmetric"}, {"threshold": 2, "slope": 0.15, "lapse": lapse}


class TestProfileIntervals:
    @pytest.mark.slow
    @pytest.mark.parametrize("shape", ["weibull", "logistic"])
    def test_they_cover_the_truth(self, shape):
        """At least 24 of 30 intervals of 200 trials contain the truth.

        With a coverage of 0.935, fewer than 24 occur in 1 of 380 runs; of six, in 1 of 60. The seed
        is fixed.
        """
        x, p, how, truth = world(shape, 0.02)
        for name, share in covered(x, p, 200, truth, 30, 7, **how).items():
            assert share >= 24 / 30, name

    @pytest.mark.slow
    @pytest.mark.parametrize("n", [200, 2000])
    @pytest.mark.parametrize("lapse", [0.0, 0.005, 0.02, 0.05])
    @pytest.mark.parametrize("shape", ["weibull", "logistic"])
    def test_the_nominal_95_percent_hold(self, shape, lapse, n):
        """The coverage in 200 data sets is at least 0.88; of lapse rates above 0, at most 0.995.

        The coverage of all parameters is at least 0.935 (measured, see the page). Its SD is 0.018
        then: the bound is 3.1 SDs below, so that a parameter fails by chance in 1 of 1,000 runs,
        and one of all 48 at worst in 1 of 20. Of lapse rates above 0 it is at most 0.97, and 200
        of 200 occur in 1 of 440 runs, in one of all 12 in 1 of 40. The seed is fixed. A lapse rate
        of 0 is contained nearly always: few data sets have a higher estimate.
        """
        x, p, how, truth = world(shape, lapse)
        for name, share in covered(x, p, n, truth, 200, 8, **how).items():
            assert share >= 0.88, name
            assert share <= 0.995 or name != "lapse" or not lapse

    def test_the_lapse_rate_has_an_interval_where_no_lapse_was_seen(self):
        # The bootstrap's was 0 to 0: data simulated without lapses have none.
        fit = fit_curve([1, 2, 4, 8, 16, 32], [50, 60, 80, 98, 100, 100], [100] * 6,
                        shape="weibull", guess=0.5)  # fmt: skip
        low, high = fit.intervals["lapse"]
        assert low == 0
        # 200 correct trials at the highest two: Wilson's interval ends at 0.019.
        assert 0.008 < high < 0.04

    def test_an_end_is_found_where_the_likelihood_has_several_maxima(self):
        # Of 200 simulated trials. The search for an end began at values that it fitted again from
        # other starts, found other maxima, and ended in "f(a) and f(b) must have different signs".
        fit = fit_curve(COHERENCES, [13, 21, 20, 32, 31, 33], [33] * 6, shape="weibull", guess=0.5)
        low, high = fit.intervals["lapse"]
        assert 0 <= low < fit.lapse < high < 0.2

    def test_the_lower_end_of_a_lapse_rate_is_where_the_score_first_rejects(self):
        # One error in 66 strong trials, of which Wilson's interval begins at 0.0027. A rate of 0,
        # with a lower slope, was accepted again, so that intervals covered 97 % in place of 95 %.
        fit = fit_curve(COHERENCES, [19, 20, 22, 25, 33, 32], [33] * 6, shape="weibull", guess=0.5)
        low, high = fit.intervals["lapse"]
        assert 0.002 < low < fit.lapse < high < 0.1

    def test_an_asymptote_alone_has_wilsons_interval(self):
        # Many trials determine threshold and slope, so that only the lapse rate is uncertain.
        fit = fit_curve(
            [-2, -1, 1, 2, 40, 50],
            [115, 259, 706, 850, 480, 485],
            [1000] * 4 + [500] * 2,
            guess=0.0,
            lapse="free",
        )
        low, high = wilson_interval(965, 1000)
        assert fit.intervals["lapse"] == pytest.approx((1 - high, 1 - low), abs=3e-3)

    def test_separable_answers_have_a_wide_bias_and_say_so(self):
        fit = fit_curve([-10, -5, 5, 10], [0, 0, 50, 50], [50] * 4, guess="symmetric")
        assert fit.separable
        assert "slope" in fit.undetermined
        low, high = fit.intervals["threshold"]
        assert low < -4
        assert high > 4

    def test_ordinary_answers_are_not_separable(self):
        assert not fit_curve([-10, -5, 5, 10], [1, 10, 40, 50], [50] * 4).separable

    def test_few_strengths_beyond_the_threshold_are_a_caution(self):
        for threshold, said in ((8, False), (45, True), (150, True)):
            k, n = expected_counts(weibull(COHERENCES, threshold, 1.3, 0.02), 400)
            assert bool(fit_curve(COHERENCES, k, n, shape="weibull", guess=0.5).cautions) == said
        levels = np.array([-100, -25, -12.5, -6.25, 0, 6.25, 12.5, 25, 100.0])
        for bias, said in ((0, False), (10, False), (40, True), (-40, True)):
            k = np.round(1000 * logistic(levels, bias, 0.1, 0.05, 0.05))
            assert bool(fit_curve(levels, k, [1000] * 9, guess="symmetric").cautions) == said

    def test_one_parameter_has_one_verdict(self):
        fit = fit_curve(SIGNED, [150] * 11, [300] * 11, guess="symmetric")
        assert ("guess" in fit.undetermined) == ("lapse" in fit.undetermined)
        assert fit.intervals["guess"] == fit.intervals["lapse"]


class TestMisfits:
    def test_data_of_the_curve_are_not_called_a_misfit(self):
        """Of 60 data sets, at most 10 have p < 0.05: 3 are expected, 11 occur in 1 of 5,000."""
        rng = np.random.default_rng(9)
        p = weibull(COHERENCES, 10, 1.5, 0.02)
        values = [
            fit_curve(COHERENCES, rng.binomial(300, p), [300] * 6, shape="weibull", guess=0.5,
                      interval=None).p_value for _ in range(60)
        ]  # fmt: skip
        assert np.mean(np.array(values) < 0.05) <= 10 / 60

    def test_a_curve_that_misses_its_points_has_a_small_p(self):
        fit = fit_curve(SIGNED, np.linspace(130, 170, 11).round(), [300] * 11, interval=None)
        falling = fit_curve(SIGNED, np.linspace(290, 10, 11).round(), [300] * 11, interval=None)
        assert fit.df == 11 - 3
        assert falling.p_value < 1e-6
        assert falling.overdispersion > 10

    def test_as_many_strengths_as_parameters_have_no_test(self):
        fit = fit_curve([1, 5, 20], [60, 80, 95], [100] * 3, shape="weibull", guess=0.5,
                        interval=None)  # fmt: skip
        assert fit.df == 0
        assert np.isnan(fit.p_value)
        assert np.isnan(fit.overdispersion)

    def test_continuous_strengths_are_tested_in_groups(self):
        """Of 40 data sets with 600 strengths, at most 8 have p < 0.05; more occur in 1 of 3,000."""
        rng = np.random.default_rng(10)
        x = np.linspace(-40, 40, 600)
        p = logistic(x, 2, 0.15, 0.02, 0.02)
        fits = [
            fit_curve(x, rng.random(600) < p, np.ones(600), guess="symmetric", interval=None)
            for _ in range(40)
        ]
        assert {fit.df for fit in fits} == {9}
        assert np.mean([fit.p_value < 0.05 for fit in fits]) <= 8 / 40


class TestUndetermined:
    def test_a_random_subject_has_no_threshold(self):
        """At most two of twenty subjects that guess get a threshold.

        Wilks' bound is one-sided here, so each gets one with a probability below 0.05. More than
        two of twenty occur in fewer than 8 of 100 seeds, and not with this one.
        """
        rng = np.random.default_rng(4)
        fits = [
            fit_curve(
                COHERENCES,
                rng.binomial(300, 0.5, 6),
                [300] * 6,
                shape="weibull",
                guess=0.5,
                interval=None,
            )
            for _ in range(20)
        ]
        assert sum("threshold" not in fit.undetermined for fit in fits) <= 2

    def test_an_interval_is_open_where_the_data_do_not_determine_it(self):
        fit = fit_curve(COHERENCES, [150] * 6, [300] * 6, shape="weibull", guess=0.5)
        assert fit.intervals["threshold"][1] == fit.intervals["slope"][1] == np.inf

    def test_a_subject_that_never_errs_has_no_threshold(self):
        fit = fit_curve(
            COHERENCES, [300] * 6, [300] * 6, shape="weibull", guess=0.5, interval="profile"
        )
        assert "threshold" in fit.undetermined
        assert fit.intervals["threshold"][0] == 0.0
        assert fit.deviance > 100

    def test_a_step_between_two_levels_has_no_slope(self):
        fit = fit_curve(SIGNED, 300 * (SIGNED > 0), [300] * 11, guess="free", interval=None)
        assert "slope" in fit.undetermined
        assert 0 <= fit.bias <= 3.2

    def test_good_data_determine_everything(self):
        k, n = expected_counts(weibull(COHERENCES, 10, 1.5, 0.02), 500)
        assert (
            fit_curve(COHERENCES, k, n, shape="weibull", guess=0.5, interval=None).undetermined
            == ()
        )


class TestTheFit:
    @pytest.fixture
    def fit(self):
        k, n = expected_counts(weibull(COHERENCES, 10, 1.5, 0.02), 1000)
        return fit_curve(
            COHERENCES, k, n, shape="weibull", guess=0.5, interval="bootstrap", resamples=20
        )

    def test_prediction_follows_the_formula(self, fit):
        expected = weibull(COHERENCES, fit.threshold, fit.slope, fit.lapse)
        assert fit.predict(COHERENCES) == pytest.approx(expected)
        assert fit.predict(0.0) == 0.5
        assert fit.predict([[1e9]]).shape == (1, 1)

    @pytest.mark.slow
    @given(st.floats(0.51, 0.97))
    def test_a_threshold_inverts_the_prediction(self, p):
        k, n = expected_counts(weibull(COHERENCES, 10, 1.5, 0.02), 1000)
        rising = fit_curve(COHERENCES, k, n, shape="weibull", guess=0.5, interval=None)
        assert rising.predict(rising.threshold_at(p)) == pytest.approx(p)

    def test_a_logistic_threshold_inverts_the_prediction(self):
        k, n = expected_counts(logistic(SIGNED, 3, 0.15, 0.05, 0.05), 1000)
        fit = fit_curve(SIGNED, k, n, guess="symmetric", interval=None)
        assert fit.threshold_at(0.5) == pytest.approx(fit.bias)
        assert fit.predict(fit.threshold_at(0.8)) == pytest.approx(0.8)

    @pytest.mark.parametrize("p", [0.5, 0.99, 1.2])
    def test_a_probability_that_the_curve_does_not_reach_is_refused(self, fit, p):
        with pytest.raises(InvalidValueError, match=r"for a curve from 0\.5 to 0\.98"):
            fit.threshold_at(p)

    def test_it_is_a_value(self, fit):
        assert fit == pickle.loads(pickle.dumps(fit)) == copy.deepcopy(fit)
        assert hash(fit) == hash(copy.deepcopy(fit))
        with pytest.raises(AttributeError):
            fit.threshold = 3

    def test_a_perfect_fit_has_no_deviance(self):
        k, n = expected_counts(weibull(COHERENCES, 10, 1.5, 0.02), 10_000_000)
        assert (
            fit_curve(COHERENCES, k, n, shape="weibull", guess=0.5, interval=None).deviance < 0.05
        )


def make_record(seed=0, n=1500):
    rng = np.random.default_rng(seed)
    coherence, direction = rng.choice(COHERENCES, n), rng.integers(0, 2, n)
    signed = np.where(direction == 1, coherence, -coherence)
    choice = (rng.random(n) < logistic(signed, 4, 0.2, 0.02, 0.02)).astype(int)
    outcome = np.where(choice == direction, "correct", "error")
    missed = rng.random(n) < 0.1
    return TrialRecord(
        {
            "coherence": coherence,
            "direction": direction,
            "choice": np.where(missed, -1, choice),
            "outcome": np.where(missed, "miss", outcome),
        }
    )


class TestRecords:
    def test_unsigned_strength_and_correct_answers(self):
        record = make_record()
        fit = fit_psychometric(record, interval=None)
        assert (fit.shape, fit.guess) == ("weibull", 0.5)
        assert fit.n_excluded == (record["outcome"] == "miss").sum() > 0
        assert fit.n_trials + fit.n_excluded == len(record)

    def test_signed_strength_and_choices_show_the_bias(self):
        """The bias of 4 is estimated with an SD near 0.45; the bound is 5 SDs.

        False alarms are rarer than 1 in a million.
        """
        record = make_record()
        fit = fit_psychometric(
            record, signed_strength(record), "choice", interval="bootstrap", resamples=50
        )
        assert fit.shape == "logistic"
        assert fit.guess == fit.lapse
        assert fit.bias == pytest.approx(4, abs=2.25)
        assert np.ptp(fit.intervals["threshold"]) < 4

    def test_responses_can_be_given_as_bools(self):
        record = make_record()
        by_name = fit_psychometric(record, interval=None)
        assert fit_psychometric(record, y=record["outcome"] == "correct", interval=None) == by_name

    def test_slots_have_their_own_columns(self):
        record = make_record()
        prefixed = TrialRecord(
            {
                "coherence": record["coherence"],
                **{f"rule.{n}": record[n] for n in ("choice", "outcome")},
            }
        )
        assert fit_psychometric(prefixed, slot="rule", interval=None) == fit_psychometric(
            record, interval=None
        )

    def test_the_number_of_choices_sets_the_guess_rate(self):
        assert fit_psychometric(make_record(), n_choices=4, interval=None).guess == 0.25
        assert fit_psychometric(make_record(), guess=0.3, interval=None).guess == 0.3

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"outcome": np.full(50, "miss")}, "None of 50 trials was answered"),
            ({"coherence": np.full(50, 6.4)}, "1 strengths with answered trials"),
            ({"coherence": np.full(50, "weak")}, "Expected numbers"),
            ({"coherence": np.full((50, 2), 1.0)}, r"of shape \(50, 2\)"),
            ({"coherence": np.full(50, np.nan)}, "NaN in 50 of 50 trials"),
            ({"coherence": np.linspace(-1, 1, 50)}, "negative strengths, down to -1"),
        ],
    )
    def test_records_without_information_are_refused(self, changes, message):
        record = make_record(n=50)
        columns = {name: record[name] for name in record.columns} | changes
        with pytest.raises(InvalidValueError, match=message):
            fit_psychometric(TrialRecord(columns))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"y": "rightward"}, "Expected 'correct', 'choice', or 50 bools"),
            ({"y": np.ones(50)}, "50 bools"),
            ({"n_choices": 0}, "n_choices=0"),
        ],
    )
    def test_invalid_options_are_refused(self, options, message):
        with pytest.raises(InvalidValueError, match=message):
            fit_psychometric(make_record(n=50), **options)


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([0, 1, 2], [0, 1], [2, 2]), "have the shapes"),
            (([0, 1, np.nan], [0, 1, 2], [2, 2, 2]), "1 of 3 strengths are NaN"),
            (([0, 1, 2], [0, 3, 2], [2, 2, 2]), "0 <= k <= n"),
            (([0, 1, 2], [0.5, 1, 2], [2, 2, 2]), "whole numbers"),
            (([0, 1], [0, 2], [2, 2]), "threshold, slope, lapse are free"),
            (([], [], []), "0 strengths"),
            (([0, 1, 2], [0, 0, 0], [0, 0, 0]), "0 strengths"),
        ],
    )
    def test_counts(self, arguments, message):
        with pytest.raises(InvalidValueError, match=message):
            fit_curve(*arguments)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"shape": "probit"}, "'logistic' or 'weibull'"),
            ({"guess": "fixed"}, "guess='fixed'"),
            ({"lapse": 1.5}, r"lapse=1\.5"),
            ({"lapse": "symmetric"}, "lapse='symmetric'"),
            ({"guess": 0.9, "lapse": 0.2}, "no room between the asymptotes"),
            ({"guess": "symmetric", "max_lapse": 0.6}, "no room between the asymptotes"),
            ({"resamples": 0}, "resamples=0"),
            ({"interval": "wald"}, "interval='wald'"),
            ({"confidence": 95}, "confidence=95"),
        ],
    )
    def test_options(self, options, message):
        with pytest.raises(InvalidValueError, match=message):
            fit_curve(SIGNED, np.arange(11), [10] * 11, **options)

    def test_two_strengths_are_enough_when_the_asymptotes_are_known(self):
        fit = fit_curve(
            [1.0, 4.0], [60, 90], [100, 100], guess=0.5, lapse=0.0, shape="weibull", interval=None
        )
        assert fit.predict([1.0, 4.0]) == pytest.approx([0.6, 0.9], abs=1e-4)


class TestOverdispersion:
    LEVELS = np.array([-100, -25, -12.5, -6.25, 0, 6.25, 12.5, 25, 100])

    def simulated(self, seed, correlation):
        rng = np.random.default_rng(seed)
        p = 0.05 + 0.9 / (1 + np.exp(-0.1 * self.LEVELS))
        if correlation:
            p = rng.beta(p * (1 / correlation - 1), (1 - p) * (1 / correlation - 1))
        n = np.full(9, 110)
        return fit_curve(self.LEVELS, rng.binomial(n, p), n, guess="symmetric")

    @pytest.mark.slow
    def test_intervals_allow_for_choices_that_are_not_independent(self):
        """Of 60 intervals of the bias, half missed it; 10 or fewer do with a coverage of 0.93."""
        fits = [self.simulated(seed, 0.05) for seed in range(60)]
        missed = sum(
            not low <= 0 <= high for low, high in (one.intervals["threshold"] for one in fits)
        )
        assert missed <= 10
        said = sum(any("vary more" in text for text in one.cautions) for one in fits)
        assert said > 50

    def test_independent_choices_have_the_interval_of_chi_squared(self):
        fit = next(
            one for one in (self.simulated(seed, 0) for seed in range(9)) if one.p_value > 0.2
        )
        assert not fit.cautions
        wide = self.simulated(0, 0.1)
        assert wide.overdispersion > 3
        assert "responses vary more than those of independent trials" in wide.cautions[0]
        low, high = wide.intervals["threshold"]
        assert high - low > 2 * np.subtract(*fit.intervals["threshold"][::-1])


def test_the_bias_of_sessions_that_differ_has_a_wide_interval_that_is_said():
    """Sessions have biases with an SD of 12 %; the same trials without sessions are too sure."""
    known, blind = 0, 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        session, x = np.arange(1000) // 100, rng.choice([-50.0, -25, -12, 0, 12, 25, 50], 1000)
        drive = 0.1 * (x - 12 * rng.normal(size=10)[session])
        chose = rng.random(1000) < 0.03 + 0.94 / (1 + np.exp(-drive))
        record = TrialRecord({"session": session, "outcome": np.full(1000, "correct")})
        how = {"shape": "logistic", "guess": "symmetric"}
        one = fit_psychometric(record, x, chose, **how)
        other = fit_psychometric(TrialRecord({"outcome": record["outcome"]}), x, chose, **how)
        for name in ("threshold", "slope"):
            assert one.intervals[name][0] <= other.intervals[name][0]
            assert one.intervals[name][1] >= other.intervals[name][1]
        assert "differences between 10 sessions" in one.cautions[-1]
        assert not any("between" in text for text in other.cautions)
        known += one.intervals["threshold"][0] <= 0 <= one.intervals["threshold"][1]
        blind += other.intervals["threshold"][0] <= 0 <= other.intervals["threshold"][1]
    assert known >= 10
    assert blind <= 8
