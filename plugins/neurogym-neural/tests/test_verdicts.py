"""Verdicts: planted ideals pass, and the cheat that each signature names does not.

Simulations have fixed seeds.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from neurogym_neural import Activity, Part, System, judge, signatures, with_fitted_readout
from neurogym_neural.controls import FILTERS, controls_of, leaky, shuffled
from neurogym_neural.verdicts import BEYOND, NOT_BEYOND, signature_of

from neurogym_core import InvalidValueError, NotSupportedError

KNOWN = {one.name: one for one in signatures()}


def mixed(signals, units=40, noise=0.1, seed=0):
    """Random units of signals (n, T, k), with noise."""
    rng = np.random.default_rng(seed)
    signals = np.asarray(signals)
    rates = signals @ rng.standard_normal((signals.shape[2], units))
    return rates + noise * rng.standard_normal(rates.shape)


def system(rates, record, performance=0.9, step=20, events=None, pulsed=None):
    def made(values):
        return Activity(values, record, step=step, events=events)

    return System(made(rates), None if pulsed is None else made(pulsed), performance)


def values(name, one):
    return KNOWN[name].measured(one)


# ---- the rules ----


def planted(value):
    return system(np.full((4, 2, 2), value), {"x": np.arange(4)})


def rule(sign="+", beats=("untrained",), **more):
    said = {
        "title": "t", "quantity": "q", "citation": "c", "doi": "d", "tasks": ["T"], "cheat": "h",
        "published": "p", "checked": "recalled",
        "parts": {"mean": {"sign": sign, "beats": list(beats), "margin": 0.1 if sign else 0.0}},
        "passes": "x" if sign else "",
    }  # fmt: skip
    compute = lambda one: {"mean": float(one.activity.rates.mean())}  # noqa: E731
    return signature_of("planted", said | more, compute)


def test_a_verdict_needs_the_sign_and_to_exceed_every_control():
    nets, one = [planted(2.0), planted(3.0)], rule()
    assert judge(one, nets, {"untrained": [planted(1.0)]}).place == BEYOND
    assert judge(one, nets, {"untrained": [planted(1.0), planted(2.5)]}).place == NOT_BEYOND
    tiny = {"parts": {"mean": {"sign": "+", "least": 2.5, "beats": ["untrained"], "margin": 0.1}}}
    assert judge(rule(**tiny), nets, {"untrained": [planted(1.0)]}).place == NOT_BEYOND
    assert judge(rule("-"), nets, {"untrained": [planted(5.0)]}).place == NOT_BEYOND
    assert judge(one, nets, {}).place == "cannot tell"
    assert judge(one, nets, {"untrained": [planted(1.0)]}).chance == pytest.approx(1 / 3)


def test_a_control_that_is_exceeded_by_less_than_the_margin_is_not_exceeded():
    """A network that was 0.001 above all controls passed."""
    found = judge(rule(), [planted(2.0)], {"untrained": [planted(1.95)]})
    assert found.place == NOT_BEYOND
    assert "less than the margin 0.1" in found.why
    assert judge(rule(), [planted(2.0)], {"untrained": [planted(1.85)]}).place == BEYOND
    assert judge(rule("-"), [planted(-2.0)], {"untrained": [planted(-1.95)]}).place == NOT_BEYOND


def test_the_interval_of_the_difference_from_a_control_excludes_zero():
    nets, one = [planted(2.0), planted(9.0)], rule()
    wide = {"untrained": [planted(1.0), planted(1.8)]}
    assert judge(one, nets, wide).place == NOT_BEYOND
    assert "includes 0" in judge(one, nets, wide).why
    assert judge(one, [planted(2.0), planted(2.1)], wide).place == NOT_BEYOND
    assert judge(one, [planted(2.6), planted(2.7), planted(2.65)], wide).place == NOT_BEYOND
    near = {"untrained": [planted(1.0), planted(1.1)]}
    assert judge(one, [planted(2.0), planted(2.1)], near).place == BEYOND


def test_variants_of_a_control_are_compared_apart_and_all_have_to_be_exceeded():
    """Filters of other time constants would widen the interval of all filters together."""
    nets, one = [planted(2.0), planted(2.1)], rule()
    kinds = [
        replace(planted(value), variant=name)
        for name, values in {"fast": (-9.0, -9.1), "slow": (1.0, 1.1)}.items()
        for value in values
    ]
    assert judge(one, nets, {"untrained": kinds}).place == BEYOND
    kinds.append(replace(planted(2.5), variant="slowest"))
    assert judge(one, nets, {"untrained": kinds}).place == NOT_BEYOND


def test_a_control_without_a_number_in_one_system_counts_with_the_others():
    nothing = planted(np.nan)
    assert judge(rule(), [planted(2.0)], {"untrained": [nothing, planted(2.5)]}).place == NOT_BEYOND
    assert judge(rule(), [planted(2.0)], {"untrained": [nothing]}).place == "cannot tell"


def test_a_network_that_fails_the_task_has_no_verdict():
    weak = replace(planted(2.0), performance=0.3)
    assert judge(rule(), [weak], {"untrained": [planted(1.0)]}).place == "cannot tell"


def test_a_fingerprint_neither_passes_nor_fails():
    assert judge(rule("", ()), [planted(2.0)], {"untrained": [planted(9.0)]}).place == ""


def test_errors_of_a_definition_are_refused():
    bare = {"sign": "+", "beats": ["untrained"]}
    for wrong in (
        {"checked": "surely"}, {"color": 1}, {"parts": {"a": {"sign": "+"}}},
        {"parts": {"a": bare}},  # without a margin
        {"parts": {"a": {"sign": "", "margin": 0.1}}},
        {"passes": ""}, {"sign": "", "beats": (), "passes": "x"},
    ):  # fmt: skip
        with pytest.raises(InvalidValueError, match="Expected"):
            rule(**wrong)
    with pytest.raises(InvalidValueError, match="no network"):
        judge(rule(), [], {})


def test_every_signature_has_its_source_and_names_its_cheat():
    assert len(KNOWN) >= 12
    for one in KNOWN.values():
        assert one.doi.startswith("10.")
        assert one.cheat.endswith(".")
        assert bool(one.passes) == one.judges
        assert all(isinstance(part, Part) for part in one.parts.values())


# ---- evidence ----

N, STEPS = 400, 60


def motion(kind, seed=0, rectified=False):
    """Trials of motion: 'integrator', 'filter', 'filter 400' (ms), 'inputs', or 'copy' of a bound.

    Rectified units have as much of their range in spikes as neurons have.
    """
    rng = np.random.default_rng(seed)
    side = rng.choice([-1, 1], N)
    coherence = rng.choice([3.2, 6.4, 12.8, 25.6, 51.2], N)
    evidence = 0.02 * coherence[:, None] * side[:, None] + rng.standard_normal((N, STEPS))
    evidence[:, :5] = 0
    pulse = np.zeros(STEPS)
    pulse[10:15] = 1

    def run(given):
        if kind.startswith("filter"):
            tau = float(kind.removeprefix("filter") or 100)
            return leaky(Activity(given[..., None], {"x": side}, step=20), tau)[..., 0]
        if kind == "inputs":
            return given
        total = np.cumsum(given, axis=1)
        return np.clip(total, -8, 8) if kind == "copy" else total

    plain, pulsed = run(evidence), run(evidence + pulse)
    sides = np.array(["left", "right"])
    choice = sides[(plain[:, -1] > 0).astype(int)]
    crossed = np.abs(plain) > 6
    at = np.where(crossed.any(axis=1), crossed.argmax(axis=1), STEPS - 1) * 20.0
    record = {
        "direction": sides[(side > 0).astype(int)], "coherence": coherence, "choice": choice,
        "reaction_time": at - 100,
    }  # fmt: skip
    events = {"stimulus": np.full(N, 100.0), "answer": at}
    rates, moved = (mixed(one[:, :, None], noise=0.0, seed=seed) for one in (plain, pulsed))
    if rectified:
        rates, moved = (np.maximum(one / rates.std() + 1, 0) for one in (rates, moved))
    return system(rates, record, events=events, pulsed=moved)


def test_a_pulse_lasts_in_an_integrator_and_not_in_a_filter():
    assert values("pulse-persists", motion("integrator"))["effect at 600 ms"] > 0.9
    assert abs(values("pulse-persists", motion("filter"))["effect at 600 ms"]) < 0.2
    one = KNOWN["pulse-persists"]
    assert judge(one, [motion("integrator")], of_motion()).place == BEYOND
    assert judge(one, [motion("filter")], of_motion()).place == NOT_BEYOND


@cache
def of_motion():
    """The controls of an integrator; a fast filter is its untrained network."""
    given, said = motion("inputs"), motion("copy")
    return {"untrained": [motion("filter", seed=1)]} | controls_of(
        motion("integrator"), given.activity, said.activity,
        pulsed_inputs=given.pulsed, pulsed_outputs=said.pulsed,
    )  # fmt: skip


@pytest.mark.parametrize("tau", [400, 600, 1000])
def test_a_slow_filter_of_the_input_is_no_persistence(tau):
    """Single filters of 400 ms or more passed beside a mixture of those of 100 and 400 ms."""
    cheat = motion(f"filter {tau}")
    assert judge(KNOWN["pulse-persists"], [cheat], of_motion()).place == NOT_BEYOND


def test_filters_are_single_ones_of_up_to_a_second_two_stages_and_all():
    found = of_motion()["filters"]
    assert [one.variant for one in found] == [
        "100 ms", "200 ms", "400 ms", "700 ms", "1000 ms", "200 + 200 ms", "300 + 300 ms", "all",
    ]  # fmt: skip
    impulse = np.zeros((1, 1000, 1))
    impulse[0, 1] = 1
    shown = Activity(impulse, {"x": [0]}, step=10)
    for taus in FILTERS:
        response = leaky(shown, *taus)[0, :, 0]
        mean_lag = (shown.time - 10) @ response / response.sum()
        assert mean_lag == pytest.approx(sum(taus) - 10 * len(taus), rel=0.01)


def test_two_slow_stages_keep_a_pulse_as_an_integrator_does_so_they_are_no_control():
    """The verdict is: the pulse lasts longer than in the filters of the control."""
    both = motion("inputs")
    slow = [both.activity._with(leaky(one, 400, 400)) for one in (both.activity, both.pulsed)]
    assert values("pulse-persists", System(*slow))["effect at 600 ms"] > 0.8


def test_a_filter_has_the_sign_of_the_evidence_level_so_there_is_no_verdict():
    ratios = [
        values("evidence-level", motion(kind))["level per 10 %"]
        for kind in ("integrator", "filter")
    ]
    assert min(ratios) > 0
    assert not KNOWN["evidence-level"].judges


def test_variance_grows_in_an_integrator():
    assert values("variance-grows", motion("integrator"))["ratio"] > 1.5
    assert values("variance-grows", motion("filter"))["ratio"] < 1.3


def test_a_copy_of_a_bounded_readout_has_a_common_level_so_there_is_no_verdict():
    found = values("common-level-at-answer", motion("copy"))
    assert abs(found["slope at the answer"]) < 0.03
    assert not KNOWN["common-level-at-answer"].judges


def test_answers_at_a_step_are_refused():
    one = motion("copy")
    record = {**dict(one.activity.record), "reaction_time": np.full(N, 120.0)}
    activity = Activity(one.activity.rates, record, step=20, events={
        "stimulus": np.full(N, 100.0), "answer": np.full(N, 220.0)})  # fmt: skip
    with pytest.raises(NotSupportedError, match="a step of the task"):
        values("common-level-at-answer", System(activity))


# ---- contexts ----


def contexts(kind, seed=0):
    """'late': both are kept, the context selects; 'gate': at the input; 'inputs': no selection.

    'copy' is one of the answer, and 'both' random mixtures of inputs and copy.
    """
    rng = np.random.default_rng(seed)
    n = 600
    of_motion = rng.random(n) < 0.5
    motion_, colour = rng.choice([-1.0, -0.3, 0.3, 1.0], (2, n))
    relevant = np.where(of_motion, motion_, colour)
    sides = np.array(["left", "right"])
    said = (relevant + 0.2 * rng.standard_normal(n) > 0).astype(int)
    record = {
        "context": np.where(of_motion, "motion", "colour"), "choice": sides[said],
        "motion": sides[(motion_ > 0).astype(int)],
        "colour": np.array(["green", "red"])[(colour > 0).astype(int)],
        "motion_coherence": 50 * np.abs(motion_), "colour_coherence": 50 * np.abs(colour),
    }  # fmt: skip
    cue = of_motion * 2.0 - 1
    parts = {
        "late": [2 * relevant + 2 * said, motion_, colour, cue],
        "gate": [2 * relevant + 2 * said, cue],
        "inputs": [motion_, colour, cue],
        "copy": [said * 2.0 - 1, 1 - said * 2.0],
        "both": [motion_, colour, cue, 4 * said],
    }[kind]
    signals = np.repeat(np.array(parts).T[:, None], 10, axis=1)
    events = {"stimulus": np.zeros(n)}
    return system(mixed(signals, noise=0.3, seed=seed), record, step=100, events=events)


def test_late_selection_has_both_parts_and_a_gate_a_copy_and_the_inputs_lack_one():
    late = values("context-selection", contexts("late"))
    assert min(late.values()) > 0.8
    assert values("context-selection", contexts("gate"))["irrelevant evidence"] < 0.05
    assert values("context-selection", contexts("copy"))["irrelevant evidence"] < 0.05
    assert values("context-selection", contexts("inputs", seed=5))["selection"] < 0.3


@pytest.mark.parametrize("hz", [None, 10])
def test_inputs_beside_a_copy_select_late_so_there_is_no_verdict(hz):
    """No control had both, so that they passed."""
    one = KNOWN["context-selection"]
    late, cheat = (one.measured(contexts(kind), hz=hz) for kind in ("late", "both"))
    assert not one.judges
    for part in one.parts:
        assert cheat[part] > late[part] - 0.1, part


def test_a_copy_of_the_labels_generalises_and_shatters_less():
    late, copy = (values("abstract-choice", contexts(kind)) for kind in ("late", "copy"))
    assert copy["generalisation"] > 0.2
    assert late["shattering"] > copy["shattering"] + 0.1


@pytest.mark.parametrize("hz", [None, 10])
def test_mixtures_of_inputs_and_copy_are_abstract_and_of_many_dimensions(hz):
    """They passed. Random features of them have as many dimensions as those of late selection."""
    one = KNOWN["abstract-choice"]
    made = {
        kind: controls_of(contexts("late"), contexts(kind).activity, contexts("copy").activity)
        for kind in ("late", "inputs")
    }
    cheats = {
        system.variant: one.measured(system, hz=hz) for system in made["inputs"]["inputs and copy"]
    }
    (features,) = (one.measured(system, hz=hz) for system in made["late"]["inputs"])
    ideals = {"mixed": one.measured(contexts("late"), hz=hz), "rectified": features}
    assert not one.judges
    assert ideals["rectified"]["shattering"] > ideals["mixed"]["shattering"]  # … of more dimensions
    for variant, ideal in ideals.items():
        for part in one.parts:
            assert cheats[variant][part] > ideal[part] - 0.1, (variant, part)


def test_inputs_and_copy_are_a_control_with_the_parts_of_both():
    late, given, said = (contexts(kind) for kind in ("late", "inputs", "copy"))
    found = controls_of(late, given.activity, said.activity)["inputs and copy"]
    assert [one.variant for one in found] == ["beside", "mixed", "rectified"]
    beside = found[0].activity.rates
    widths = [one.activity.rates.shape[2] for one in (given, said)]
    assert beside.shape[2] == sum(widths)
    np.testing.assert_allclose(beside.std(axis=(0, 1)), 1, rtol=1e-3)
    like = np.corrcoef(beside[..., 0].ravel(), given.activity.rates[..., 0].ravel())[0, 1]
    assert like == pytest.approx(1, abs=1e-6)
    assert found[2].activity.rates.min() == 0
    for one in found:
        np.testing.assert_array_equal(one.activity.record["choice"], late.activity.record["choice"])


# ---- memory ----


def memories(kind, seed=0):
    rng = np.random.default_rng(seed)
    n = 600
    first, second = rng.integers(10, 35, (2, n)).astype(float)
    a, b = ((one - 22) / 12 for one in (first, second))
    delay = {"none": 0 * a, "copy": 0 * a}.get(kind, a)
    answer = np.sign(a - b)
    late = {"compares": [a - b], "filters": [a + b], "none": [0 * a], "copy": [answer]}[kind]
    signals = np.zeros((n, 20, 2))
    signals[:, :10, 0], signals[:, 10:, 1] = delay[:, None], np.array(late).T
    record = {"first": first, "second": second, "choice": np.where(first > second, "a", "b")}
    rates = np.maximum(2 + mixed(signals, seed=seed), 0)
    period = {"delay": 0.0, "delay.end": 1000.0, "stimulus2": 1000.0, "stimulus2.end": 2000.0}
    events = {name: np.full(n, ms) for name, ms in period.items()}
    return system(rates, record, step=100, events=events)


def test_comparison_switches_signs_and_filters_do_not():
    assert values("comparison-switch", memories("compares"))["correlation"] < -0.5
    assert values("comparison-switch", memories("filters"))["correlation"] > 0.5
    assert abs(values("comparison-switch", memories("none"))["correlation"]) < 0.4


def test_a_copy_of_the_answer_switches_signs_too_so_there_is_no_verdict():
    """It was no control, and passed."""
    compares, copy = (
        values("comparison-switch", memories(kind))["correlation"] for kind in ("compares", "copy")
    )
    assert copy < compares + 0.1
    assert not KNOWN["comparison-switch"].judges


def test_memory_tunes_counts_and_noise_does_not():
    assert values("memory-tuning", memories("compares"))["share of units"] > 0.5
    assert values("memory-tuning", memories("none"))["share of units"] < 0.1
    assert values("memory-stability", memories("compares"))["stability"] > 0.9


def test_a_readout_of_noise_answers_at_chance():
    rng = np.random.default_rng(0)
    wanted = rng.choice(["left", "right"], 400)
    noise = system(rng.standard_normal((400, 10, 50)), {"choice": wanted})
    assert abs(with_fitted_readout(noise, wanted).performance - 0.5) < 0.1


# ---- categories ----


def categories(kind, seed=0):
    """Units of the 'category', of the 'direction', or of a boundary 'turned' by 90 degrees."""
    rng = np.random.default_rng(seed)
    n, number = 480, 12
    sample = np.tile(np.arange(number), n // number)
    angle = sample * 2 * np.pi / number
    if kind == "direction":
        signals = np.cos(angle[:, None] - 2 * np.pi * np.arange(40) / 40)
    else:
        upper = sample < number / 2 if kind == "category" else (sample + 3) % 12 < number / 2
        signals = np.outer(upper, rng.standard_normal(40))
    rates = np.repeat(signals[:, None], 10, axis=1) + 0.1 * rng.standard_normal((n, 10, 40))
    record = {"sample": sample, "test": rng.permutation(sample), "choice": np.full(n, "match")}
    events = {"delay": np.zeros(n), "delay.end": np.full(n, 1000.0)}
    return system(rates, record, step=100, events=events)


def test_a_category_is_found_and_tuning_to_direction_and_another_boundary_are_none():
    one = KNOWN["category-index"]
    controls = {
        name: [categories("direction", seed)]
        for seed, name in enumerate(("untrained", "inputs", "filters"), 1)
    }
    controls["shuffled"] = [shuffled(categories("category"))]
    assert judge(one, [categories("category")], controls).place == BEYOND
    for cheat in ("direction", "turned"):
        assert judge(one, [categories(cheat, 5)], controls).place == NOT_BEYOND, cheat


# ---- tasks ----


def tasks(kind, seed=0):
    """Units in 'groups' that serve two of six tasks each, in 'all' of them, or in random ones."""
    rng = np.random.default_rng(seed)
    of_task = np.repeat(np.arange(6), 80)
    groups = np.arange(60) % 3
    serves = (np.arange(6)[:, None] // 2 == groups).astype(float)  # (tasks, units)
    if kind == "permuted":
        serves = np.array([rng.permutation(row) for row in serves])
    if kind == "all":
        serves = np.ones_like(serves)
    gain = 0.05 + serves * rng.uniform(0.7, 1.0, serves.shape)
    rates = rng.standard_normal((480, 1, 60)) * gain[of_task][:, None]
    rates = rates + 0.1 * rng.standard_normal((480, 5, 60))
    return system(rates, {"task": of_task, "choice": np.full(480, "a")}, step=100)


def test_groups_of_units_are_found_and_units_of_all_tasks_form_none():
    assert min(values("task-clusters", tasks("groups")).values()) > 0.4
    assert values("task-clusters", tasks("all"))["silhouette"] < 0.1


def test_units_that_serve_tasks_independently_are_no_groups():
    """They had a silhouette of 0.26, and passed as groups."""
    found = values("task-clusters", tasks("permuted"))
    assert found["silhouette"] > 0.1  # the naive verdict
    assert abs(found["beyond permuted units"]) < 0.05


# ---- values ----


def offers(kind):
    """Units of the chosen value and of the offers, or a linear copy of the offers."""
    rng = np.random.default_rng(0)
    n = 600
    offer = rng.integers(0, 5, (n, 2))
    of_b, of_a = offer[:, 0] * 1.0, offer[:, 1] * 2.2
    a_choice = rng.integers(0, 2, n)
    took_a = of_a + 0.3 * rng.standard_normal(n) > of_b
    side = np.where(took_a, a_choice, 1 - a_choice)
    parts = [of_a, of_b] + ([np.maximum(of_a, of_b)] * 2 if kind == "chosen" else [of_a, of_b])
    rates = np.tile(np.array(parts).T[:, None], (1, 10, 5)) + 1
    record = {
        "offer": offer, "a_choice": a_choice, "choice": np.array(["left", "right"])[side],
    }  # fmt: skip
    events = {"offer": np.zeros(n), "offer.end": np.full(n, 1000.0)}
    return system(rates, record, step=100, events=events)


def test_chosen_value_is_found_and_a_copy_of_the_offers_has_none():
    assert values("chosen-value", offers("chosen"))["share of units"] > 0.3
    assert values("chosen-value", offers("inputs"))["share of units"] < 0.1


def test_chosen_value_is_more_frequent_than_in_mixtures_of_offers_and_answer():
    chosen, given = offers("chosen"), offers("inputs").activity
    said = (chosen.activity.record["choice"] == "left") * 1.0
    outputs = given._with(np.repeat(said[:, None, None], 10, axis=1), units={"id": [0]})
    controls = controls_of(chosen, given, outputs)
    controls["untrained"] = [offers("inputs")]
    found = judge(KNOWN["chosen-value"], [chosen], controls)
    assert found.place == BEYOND, found.why
    (cheat,) = (one for one in controls["inputs and copy"] if one.variant == "rectified")
    assert (
        judge(KNOWN["chosen-value"], [replace(cheat, performance=0.9)], controls).place
        == NOT_BEYOND
    )


# ---- intervals ----


def intervals(kind, answers=True):
    """Bumps at fractions of the interval ('scaled') or at times ('clock'), or one ramp."""
    rng = np.random.default_rng(0)
    n, time = 300, np.arange(60) * 20.0
    lasts = rng.choice([400.0, 600.0, 800.0, 1000.0], n)
    centre = np.linspace(0.1, 0.9, 20)
    passed = time / lasts[:, None] if kind != "clock" else np.tile(time / 1000, (n, 1))
    rates = np.exp(-0.5 * ((passed[..., None] - centre) / 0.15) ** 2)
    rates = passed[..., None] * centre if kind == "ramp" else rates
    took = lasts if answers else np.full(n, 20.0)
    record = {"wanted": lasts, "choice": np.full(n, "go"), "reaction_time": took}
    events = {"production": np.zeros(n), "answer": took}
    return system(rates + 0.02 * rng.standard_normal(rates.shape), record, events=events)


def test_bumps_that_scale_pass_and_a_clock_and_a_ramp_do_not():
    scaled, clock, ramp = (
        values("temporal-scaling", intervals(kind)) for kind in ("scaled", "clock", "ramp")
    )
    assert min(scaled.values()) > 0.5
    assert clock["index"] < 0
    assert ramp["index"] > 0.5  # … and has no unit that turns:
    assert np.isnan(ramp["index of units that turn"])


def test_one_ramp_in_spikes_has_no_verdict_of_units_that_turn():
    """The noise of spikes counted as turning, and the ramp passed."""
    found = KNOWN["temporal-scaling"].measured(intervals("ramp"), hz=10)
    assert np.isnan(found["index of units that turn"])


def test_shuffled_trials_have_the_intervals_of_other_trials():
    """They kept their own, so that no network exceeded this control."""
    scaled = intervals("scaled")
    mixed = shuffled(scaled).activity
    np.testing.assert_array_equal(mixed.events["answer"], mixed.record["reaction_time"])
    assert (mixed.events["answer"] != scaled.activity.events["answer"]).any()
    found = values("temporal-scaling", shuffled(scaled))
    assert found["index"] < values("temporal-scaling", scaled)["index"] - 0.5


def test_a_system_that_has_produced_no_intervals_is_measured_on_the_wanted_ones():
    found = values("temporal-scaling", intervals("scaled", answers=False))
    assert found == values("temporal-scaling", intervals("scaled"))


# ---- systems without the computation that are beyond the controls, too ----


def times_a_clock(one, onset=100.0):
    """The system with an output that grows with time from the onset of the stimulus."""

    def grown(activity):
        time = np.arange(activity.rates.shape[1]) * activity.step - onset
        return activity._with(activity.rates * (0.2 + np.maximum(time, 0) / 300)[:, None])

    return replace(one, activity=grown(one.activity), pulsed=grown(one.pulsed))


def test_a_filter_times_a_clock_is_beyond_the_controls_of_a_pulse():
    found = judge(KNOWN["pulse-persists"], [times_a_clock(motion("filter 700"))], of_motion())
    assert found.place == BEYOND
    assert "grows with time" in found.signature.passes


def test_a_filter_of_the_magnitude_alone_is_beyond_mixtures_with_other_inputs():
    """In spikes of 10 Hz: the share of units, beside those of units that have other inputs, too."""
    one, shown = KNOWN["memory-tuning"], memories("compares").activity
    magnitude = (shown.record["first"] - 22) / 12
    rng = np.random.default_rng(0)
    signals = np.repeat(magnitude[:, None, None], 20, axis=1)
    others = rng.standard_normal((len(magnitude), 20, 6))

    def units(given):
        rates = np.maximum(given @ rng.standard_normal((given.shape[2], 64)) / 2 + 1, 0)
        return System(shown._with(rates, units={"id": np.arange(64)}), performance=0.9)

    alone = units(signals)
    controls = {
        name: [units(np.concatenate([0.3 * signals, others], axis=2))]
        for name in ("untrained", "inputs", "filters")
    } | {"shuffled": [shuffled(alone)]}
    assert judge(one, [alone], controls).place == BEYOND
    assert "alone" in one.passes


def test_graded_tuning_along_the_axis_of_the_categories_is_beyond_even_directions():
    one, shown = KNOWN["category-index"], categories("direction").activity
    angle = (shown.record["sample"] + 0.5) * 2 * np.pi / 12
    gains = np.random.default_rng(0).standard_normal(40)
    rates = np.repeat(np.outer(np.sin(angle), gains)[:, None], 10, axis=1)
    graded = System(shown._with(rates), performance=0.9)
    controls = {
        name: [categories("direction", seed)]
        for seed, name in enumerate(("untrained", "inputs", "filters"), 1)
    } | {"shuffled": [shuffled(graded)]}
    assert judge(one, [graded], controls).place == BEYOND
    assert "Graded" in one.passes


def test_the_sum_of_the_offers_counts_as_chosen_value():
    one, given = KNOWN["chosen-value"], offers("inputs").activity
    total = given.rates[..., [0]] + given.rates[..., [1]]
    assert (
        values(one.name, System(given._with(np.repeat(total, 20, axis=2))))["share of units"] > 0.7
    )
    assert "sum of the values" in one.passes


def test_random_features_of_a_ramp_turn_with_the_interval():
    one, ramp = KNOWN["temporal-scaling"], intervals("ramp").activity
    rng = np.random.default_rng(0)
    signal = ramp.rates[..., [-1]] / np.nanstd(ramp.rates[..., -1]) - 1
    hidden = np.maximum(signal @ rng.standard_normal((1, 200)) + rng.standard_normal(200), 0)
    rates = np.maximum(hidden @ rng.standard_normal((200, 20)) / 14, 0)
    found = values(one.name, System(ramp._with(rates)))
    assert min(found.values()) > 0.3
    assert "two layers" in one.passes


# ---- at the noise of a recording ----


def test_signatures_of_spikes_part_the_ideal_from_the_cheat_too():
    one = KNOWN["pulse-persists"]
    integrator, slow = (motion(kind, rectified=True) for kind in ("integrator", "filter 1000"))
    spikes = one.measured(integrator, hz=40)["effect at 600 ms"]
    assert 0.7 < spikes < 1.1
    assert spikes != one.measured(integrator)["effect at 600 ms"]
    assert judge(one, [integrator], of_motion(), hz=40).place == BEYOND
    assert judge(one, [slow], of_motion(), hz=40).place == NOT_BEYOND


def test_spikes_without_and_with_the_pulse_are_of_the_same_trials_at_one_gain():
    shown = motion("integrator")
    counts = shown.observed(10, 100, seed=1)
    assert counts.activity.kind == counts.pulsed.kind == "count"
    assert len(counts.activity) == len(counts.pulsed) == 100
    np.testing.assert_array_equal(
        counts.activity.record["coherence"], counts.pulsed.record["coherence"]
    )
    both = np.concatenate([counts.activity.rates, counts.pulsed.rates])
    assert np.nanmean(both) == pytest.approx(10 * 20 / 1000, rel=0.02)
    assert counts.pulsed.rates.shape == counts.activity.rates.shape
