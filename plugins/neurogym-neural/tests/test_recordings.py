"""Recorded neurons: spikes counted in trials, NWB files of others and of this package, pynapple."""

from __future__ import annotations

import datetime
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neurogym_neural import Activity, add_to_nwb, from_pynapple, from_spikes, read_nwb

from neurogym_core import InvalidValueError, MissingDependencyError, UnknownNameError, run

START, STOP = np.array([1.0, 2.5, 4.0]), np.array([2.0, 3.25, 5.204])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([5.0, 10.0, 25.0, 100.0]), st.sampled_from([0, 50]))
def test_each_spike_is_counted_in_its_step(seed, step, before):
    times = np.sort(np.random.default_rng(seed).uniform(0, 6, 400))
    found = from_spikes([times], {"trial": [0, 1, 2]}, START, STOP, step=step, before=before)
    for row in range(3):
        counted = 0
        for k, count in enumerate(found.rates[row, :, 0]):
            low = START[row] + (k * step - before) / 1000
            high = START[row] + ((k + 1) * step - before) / 1000
            if high > STOP[row] + 1e-9:
                assert np.isnan(count)
            else:
                assert count == ((times >= low) & (times < high)).sum()
                counted += count
        whole = np.floor(((STOP - START)[row] * 1000 + before) / step + 1e-6) * step / 1000
        begin = START[row] - before / 1000
        assert counted == ((times >= begin) & (times < begin + whole)).sum()


def test_events_are_in_ms_from_the_start_of_the_trial_and_align():
    spikes = [[1.31, 2.91, 4.61]]
    found = from_spikes(
        spikes, {"side": [0, 1, 1]}, START, STOP, step=10, events={"go": [1.3, 2.9, np.nan]}
    )
    np.testing.assert_allclose(found.events["go"], [300, 400, np.nan])
    after = found.align("go", 0, 50)
    assert after.rates[:2, :, 0].tolist() == [[0, 1, 0, 0, 0]] * 2
    assert np.isnan(after.rates[2]).all()


def test_a_unit_that_was_not_recorded_has_no_rate_of_zero():
    found = from_spikes([[1.5]], {"t": [0, 1, 2]}, START, STOP, step=100, observed=[[[0, 3.0]]])
    assert found.rates[0, :10, 0].tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert np.isfinite(found.rates[1, :5, 0]).all()
    assert np.isnan(found.rates[1, 5:, 0]).all()
    assert np.isnan(found.rates[2]).all()


@pytest.mark.parametrize(
    ("spikes", "start", "stop", "said"),
    [
        ([], START, STOP, "0 units"),
        ([[2, 1]], START, STOP, "not in ascending order"),
        ([[1]], START[:2], STOP[:2], "a record of 3 trials"),
        ([[1]], STOP, START, "3 of 3 trials without an end after their start"),
        ([[1]], START, [2, np.nan, 5], "1 of 3 trials without an end"),
        ([[1100, 4300]], START, STOP, "spikes until 4300 and trials until 5.2"),  # ms
        ([[1.1, 4.3]], START * 1000, STOP * 1000, "Divide times in ms by 1000"),
        ([np.arange(1000, 5200, 20)], START * 1000, STOP * 1000, "a median interval of 20"),
    ],
)
def test_what_does_not_fit_is_said(spikes, start, stop, said):
    with pytest.raises(InvalidValueError, match=said):
        from_spikes(spikes, {"t": [0, 1, 2]}, start, stop)


def test_without_pynwb_the_error_names_it(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "pynwb", None)
    with pytest.raises(MissingDependencyError, match=r"pip install pynwb"):
        read_nwb(tmp_path / "a.nwb")


@pytest.mark.parametrize("hz", [0.3, 5, 300])
def test_trains_of_any_rate_are_taken_for_seconds_and_in_ms_refused(hz):
    rng = np.random.default_rng(0)
    train = np.sort(rng.uniform(0, 600, int(600 * hz)))
    start = np.arange(0, 590, 10.0)
    record = {"trial": np.arange(59)}
    assert np.nansum(from_spikes([train, []], record, start, start + 9).rates) > 0
    if hz < 100:  # the shortest intervals of a train at 300 Hz are possible in s
        with pytest.raises(InvalidValueError, match="Expected times in s"):
            from_spikes([train * 1000], record, start * 1000, start * 1000 + 9000, step=1e4)


def of_a_laboratory(path, *, units=True, trials=True):
    """A file as a laboratory writes it with pynwb alone."""
    import pynwb

    now = datetime.datetime(2026, 1, 5, tzinfo=datetime.UTC)
    file = pynwb.NWBFile("two units", "x", now)
    if trials:
        file.add_trial_column("side", "left or right")
        file.add_trial_column("light_start_time", "onset of the light")
        file.add_trial_column("light_stop_time", "its end")
        file.add_trial_column("lick_times", "ragged", index=True)
        for at, side in enumerate(("left", "right", "left")):
            light = START[at] + 0.2
            file.add_trial(start_time=START[at], stop_time=STOP[at], side=side, lick_times=[1.0],
                           light_start_time=light, light_stop_time=light + 0.3)  # fmt: skip
    if units:
        file.add_unit_column("quality", "by hand")
        file.add_unit(spike_times=[1.25, 1.26, 4.35], quality="good", obs_intervals=[[0.0, 10.0]])
        file.add_unit(spike_times=[2.75], quality="mua", obs_intervals=[[2.0, 3.5]])
    with pynwb.NWBHDF5IO(str(path), "w") as io:
        io.write(file)
    return path


class TestNWB:
    @pytest.fixture(autouse=True)
    def _pynwb(self):
        pytest.importorskip("pynwb", reason="pynwb is not installed")

    def test_a_file_of_a_laboratory_is_read(self, tmp_path):
        found = read_nwb(of_a_laboratory(tmp_path / "a.nwb"), step=50)
        assert found.record["side"].tolist() == ["left", "right", "left"]
        assert list(found.record.columns) == ["side"]
        assert found.units["quality"].tolist() == ["good", "mua"]
        np.testing.assert_allclose(found.events["light"], [200] * 3)
        np.testing.assert_allclose(found.events["light.end"], [500] * 3)
        light = found.during("light")
        assert np.nansum(light.rates, axis=1).tolist() == [[2, 0], [0, 1], [1, 0]]
        assert np.isnan(light.rates[0, :, 1]).all()  # it was not recorded
        good = found.select(quality="good")
        assert good.rates.shape[2] == 1
        assert found.facts == {"source": "a.nwb", "session": "two units"}

    @pytest.mark.parametrize(
        ("changed", "said"),
        [({"units": False}, "has no units"), ({"trials": False}, "has no trials")],
    )
    def test_a_file_without_units_or_trials_is_refused(self, tmp_path, changed, said):
        with pytest.raises(InvalidValueError, match=said):
            read_nwb(of_a_laboratory(tmp_path / "a.nwb", **changed))
        with pytest.raises(InvalidValueError, match="is not a file"):
            read_nwb(tmp_path / "b.nwb")

    @pytest.fixture
    def session(self, tmp_path):
        """A record in a file, and rates of ten units in its trials."""
        to_nwb = pytest.importorskip("neurogym_records").to_nwb
        record = run("perceptual/RoitmanShadlen-v0", "oracle", 12, seed=3)
        path = tmp_path / "session.nwb"
        to_nwb(record, path)
        dt = record.meta["dt"]
        lasts = np.rint((record["trial_stop"] - record["trial_start"]) / dt).astype(int)
        rng = np.random.default_rng(0)
        rates = rng.gamma(2.0, 5.0, (12, lasts.max(), 10)).astype(np.float32)
        rates[np.arange(lasts.max()) >= lasts[:, None]] = np.nan
        layers = np.repeat(["in", "out"], 5)
        return path, Activity(rates, record, step=dt, units={"layer": layers})

    def test_rates_come_back_with_record_layers_and_periods(self, session):
        from neurogym_records import read_record

        path, activity = session
        add_to_nwb(activity, path)
        back = read_nwb(path, read_record(path))
        np.testing.assert_array_equal(back.rates, activity.rates)
        assert back.record == activity.record
        assert back.layers == ("in", "out")
        assert back.step == activity.step
        onset = activity.record["onset.stimulus"] - activity.record["trial_start"]
        np.testing.assert_allclose(back.events["stimulus"], onset, atol=1e-6)

    def test_counts_come_back_and_say_that_their_times_were_drawn(self, session):
        import pynwb

        path, activity = session
        counts = activity.observed(hz=20, seed=1)
        add_to_nwb(counts, path)
        back = read_nwb(path, step=counts.step)
        np.testing.assert_array_equal(back.rates, counts.rates)
        assert back.units["layer"].tolist() == ["in"] * 5 + ["out"] * 5
        with pynwb.NWBHDF5IO(str(path), "r") as io:
            assert "drawn at random" in io.read().units.description

    def test_activity_of_other_trials_or_times_is_refused(self, session):
        path, activity = session
        with pytest.raises(InvalidValueError, match="the activity has 11 trials"):
            add_to_nwb(activity.select(np.arange(11)), path)
        moved = Activity(activity.rates, activity.record, step=20, events={"go": np.zeros(12)})
        with pytest.raises(InvalidValueError, match="aligned to 'go'"):
            add_to_nwb(moved.align("go", 0, 100), path)
        longer = np.concatenate([activity.rates, activity.rates], axis=1)
        longer = Activity(np.nan_to_num(longer), activity.record, step=activity.step)
        with pytest.raises(InvalidValueError, match="11 trials that begin while the one before"):
            add_to_nwb(longer, path)
        add_to_nwb(activity, path)
        with pytest.raises(InvalidValueError, match="and activity already"):
            add_to_nwb(activity, path)


def binned_by_a_laboratory(path, *, trials=True, units=True, names=("cue",)):
    """A file as a laboratory writes it with ndx-binned-spikes: two units, three cues, two bins."""
    import pynwb
    from ndx_binned_spikes import BinnedAlignedSpikes

    now = datetime.datetime(2026, 1, 5, tzinfo=datetime.UTC)
    file = pynwb.NWBFile("cues", "x", now)
    if trials:
        file.add_trial_column("side", "left or right")
        file.add_trial_column("go_time", "the signal to go")
        for at, side in enumerate(("left", "right", "left")):
            file.add_trial(start_time=START[at], stop_time=STOP[at], side=side,
                           go_time=START[at] + 0.4)  # fmt: skip
    region = None
    if units:
        file.add_unit_column("area", "where")
        for area in ("LIP", "FEF", "V1"):
            file.add_unit(area=area)
        region = file.units.create_region("units_region", [2, 0], "two of them")
    module = file.create_processing_module("ecephys", "counts")
    for name in names:
        module.add(
            BinnedAlignedSpikes(
                name=name, bin_width_in_ms=50.0, event_to_bin_offset_in_ms=-50.0,
                data=np.arange(12).reshape(2, 3, 2), event_timestamps=START + 0.25,
                condition_indices=np.array([1, 0, 1]), condition_labels=["near", "far"],
                units_region=region,
            )
        )  # fmt: skip
    with pynwb.NWBHDF5IO(str(path), "w") as io:
        io.write(file)
    return path


class TestBinned:
    @pytest.fixture(autouse=True)
    def _extension(self):
        pytest.importorskip("ndx_binned_spikes", reason="ndx-binned-spikes is not installed")

    def test_counts_of_a_laboratory_are_read_with_their_trials(self, tmp_path):
        found = read_nwb(binned_by_a_laboratory(tmp_path / "a.nwb"))
        # (units, events, bins) in the file
        assert found.rates.tolist() == [[[0, 6], [1, 7]], [[2, 8], [3, 9]], [[4, 10], [5, 11]]]
        assert (found.event, found.kind) == ("cue", "count")
        assert found.time.tolist() == [-50, 0]
        np.testing.assert_allclose(found.events["cue"], [250] * 3)
        np.testing.assert_allclose(found.events["go"], [400] * 3)
        assert found.record["side"].tolist() == ["left", "right", "left"]
        assert found.record["condition"].tolist() == ["far", "near", "far"]
        assert found.units["area"].tolist() == ["V1", "LIP"]
        assert found.units["id"].tolist() == [2, 0]

    def test_counts_without_trials_or_units_have_their_conditions(self, tmp_path):
        found = read_nwb(binned_by_a_laboratory(tmp_path / "a.nwb", trials=False, units=False))
        assert list(found.record.columns) == ["condition"]
        assert found.mean("condition").mean.shape == (2, 2, 2)
        assert found.units["id"].tolist() == [0, 1]

    def test_one_of_several_counts_has_to_be_chosen(self, tmp_path):
        path = binned_by_a_laboratory(tmp_path / "a.nwb", names=("cue", "light"))
        with pytest.raises(InvalidValueError, match="no spikes, and the counts 'cue', 'light'"):
            read_nwb(path)
        assert read_nwb(path, binned="light").event == "light"
        with pytest.raises(UnknownNameError, match="light"):
            read_nwb(path, binned="ligth")

    def test_events_outside_of_the_trials_are_refused(self, tmp_path, monkeypatch):
        monkeypatch.setitem(globals(), "STOP", np.array([2.0, 2.6, 5.0]))
        with pytest.raises(InvalidValueError, match="1 of 3 events of 'cue' in no trial"):
            read_nwb(binned_by_a_laboratory(tmp_path / "a.nwb"))

    def test_aligned_counts_come_back(self, tmp_path):
        to_nwb = pytest.importorskip("neurogym_records").to_nwb
        record = run("perceptual/RoitmanShadlen-v0", "oracle", 8, seed=3)
        to_nwb(record, tmp_path / "a.nwb")
        rates = np.random.default_rng(0).poisson(2.0, (8, 60, 3)).astype(np.float32)
        go = np.array([100.0, 200, 150, np.nan, 300, 100, 100, 250])
        counts = Activity(rates, record, step=10, events={"go": go}, kind="count",
                          units={"area": ["LIP", "LIP", "FEF"]}).align("go", 50, 100)  # fmt: skip
        add_to_nwb(counts, tmp_path / "a.nwb")
        back = read_nwb(tmp_path / "a.nwb")
        kept = np.isfinite(go)
        np.testing.assert_array_equal(back.rates, counts.rates[kept])
        np.testing.assert_allclose(back.events["go"], go[kept], atol=1e-6)
        np.testing.assert_allclose(back.time, counts.time)
        assert back.units["area"].tolist() == ["LIP", "LIP", "FEF"]
        assert (back.record["choice"] == record["choice"].astype(str)[kept]).all()

    @pytest.mark.slow
    def test_the_extension_need_not_be_installed_for_reading(self, tmp_path):
        path = binned_by_a_laboratory(tmp_path / "a.nwb")
        code = (
            "import sys; sys.modules['ndx_binned_spikes'] = None\n"
            "from neurogym_neural import read_nwb\n"
            f"print(read_nwb({str(path)!r}).rates.sum())"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.strip() == "66.0", done.stderr


@pytest.mark.filterwarnings("ignore:Some epochs have no duration", "ignore:divide by zero")
def test_units_of_pynapple_are_counted_in_its_intervals():
    nap = pytest.importorskip("pynapple", reason="pynapple is not installed")
    group = nap.TsGroup(
        {3: nap.Ts(np.array([1.25, 1.26, 4.35])), 8: nap.Ts(np.array([2.75]))},
        metadata={"area": ["LIP", "FEF"]},
    )
    trials = nap.IntervalSet(START, STOP, metadata={"side": ["left", "right", "left"]})
    found = from_pynapple(group, trials, step=50)
    assert found.units["id"].tolist() == [3, 8]
    assert found.units["area"].tolist() == ["LIP", "FEF"]
    assert found.record["side"].tolist() == ["left", "right", "left"]
    assert np.nansum(found.rates, axis=1).tolist() == [[2, 0], [0, 1], [1, 0]]
    named = from_pynapple(group, trials, {"side": [0, 1, 0]}, step=50)
    assert named.record["side"].tolist() == [0, 1, 0]
