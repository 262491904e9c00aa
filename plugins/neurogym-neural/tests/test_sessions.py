"""Reports of recorded neurons: planted units, noise, files; without torch."""

from __future__ import annotations

import datetime
import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from neurogym_neural import Activity, System, from_spikes, signatures
from neurogym_neural.command import command

from neurogym_core import InvalidValueError, NotSupportedError

figures = pytest.importorskip("neurogym_neural.figures", reason="Matplotlib is not installed")
from neurogym_neural import sessions  # noqa: E402

STEP, TRIALS, UNITS = 20, 160, 8


def session(planted=True, seed=0):
    """Spikes of eight units, four of which integrate the motion, as a laboratory has them."""
    rng = np.random.default_rng(seed)
    coherence, side = rng.choice([3.2, 12.8, 51.2], TRIALS), rng.integers(0, 2, TRIALS)
    drift = (2 * side - 1) * coherence / 51.2 * 0.08
    state = np.cumsum(drift[:, None] + 0.04 * rng.standard_normal((TRIALS, 50)), axis=1)
    state = np.clip(state, -1, 1)
    rates = np.full((TRIALS, 80, UNITS), 15.0)
    if planted:
        rates[:, 20:70, :4] += 14 * state[..., None] * np.array([1, -1, 1, -1])
    counts = rng.poisson(np.maximum(rates, 0) * STEP / 1000)
    start = 2.0 * np.arange(TRIALS)
    begin = start[:, None] + np.arange(80) * STEP / 1000
    spikes = [
        np.sort(np.repeat(begin.ravel(), counts[..., unit].ravel()) + STEP / 2000)
        for unit in range(UNITS)
    ]
    record = {
        "coherence": coherence,
        "direction": np.array(["left", "right"])[side],
        "choice": np.where(state[:, -1] > 0, "right", "left"),
    }
    return spikes, record, start


def counted(planted=True, **given):
    spikes, record, start = session(planted)
    light = start + 0.4
    return from_spikes(spikes, record, start, start + 1.6, step=STEP, facts={"source": "a.nwb"},
                       events={"stimulus": light, "stimulus.end": light + 1}, **given)  # fmt: skip


def of_motion():
    return [one for one in signatures() if not one.many and one.applies_to("RoitmanShadlen-")]


def test_planted_conditions_are_decoded_and_those_of_noise_are_not():
    plant, noise = (sessions.measured([counted(one)], ()).conditions for one in (True, False))
    assert [row["condition"] for row in plant] == ["coherence", "direction", "choice"]
    choice, cheat = plant[2], noise[2]
    assert choice["decoded"] > 0.8
    assert choice["units that follow it"] == 0.5
    for chance in (choice["shuffled"], cheat["decoded"]):
        assert abs(chance - 0.5) < 0.12  # three SD of the accuracy of 160 trials
    assert cheat["units that follow it"] < 0.2


def test_signatures_have_numbers_or_a_reason_and_no_verdict():
    found = sessions.measured([counted()], of_motion())
    level = found.values["evidence-level"]
    assert set(level) == {"recording", "shuffled"}
    assert level["recording"]["level per 10 %"][0] > 0
    assert "pulse" in found.untested["pulse-persists"]
    assert "reaction_time" in found.untested["common-level-at-answer"]


def test_one_short_trial_does_not_shorten_the_window_of_all():
    """Choices were decoded from 40 ms, at chance, without a word."""
    spikes, record, start = session()
    light, end = start + 0.4, start + 1.6
    end[3] = light[3] + 0.06
    events = {"stimulus": light, "stimulus.end": np.minimum(light + 1, end)}
    cut = from_spikes(
        spikes, record, start, end, step=STEP, facts={"source": "a.nwb"}, events=events
    )
    found = sessions.measured([cut], ())
    (choice,) = (row for row in found.conditions if row["condition"] == "choice")
    assert choice["decoded"] > 0.8
    (said,) = found.left_out["figures and decoding"]
    assert said.startswith(f"a.nwb: 1 of {TRIALS} trials")


def test_directions_and_choices_with_labels_in_other_orders_are_refused():
    """Error trials were taken for correct ones."""
    spikes, record, start = session()
    degrees = np.where(record["direction"] == "left", 180, 0)
    light = start + 0.4
    turned = from_spikes(spikes, record | {"direction": degrees}, start, start + 1.6, step=STEP,
                         facts={"source": "a.nwb"},
                         events={"stimulus": light, "stimulus.end": light + 1})  # fmt: skip
    found = sessions.measured([turned], of_motion())
    assert "labels in one order" in found.untested["evidence-level"]


def test_empty_texts_are_no_values():
    """They were a third choice."""
    spikes, record, start = session()
    record["choice"] = record["choice"].astype("U5")
    record["choice"][:6], record["choice"][6:10] = "", "nan"
    light = start + 0.4
    given = from_spikes(spikes, record, start, start + 1.6, step=STEP, facts={"source": "a.nwb"},
                        events={"stimulus": light, "stimulus.end": light + 1})  # fmt: skip
    found = sessions.measured([given], ())
    (row,) = [one for one in found.conditions if one["condition"] == "choice"]
    assert (row["values"], row["trials"], row["left out"]) == (2, TRIALS - 10, 10)


def test_windows_of_recordings_without_periods():
    record = {"side": [0, 1, 0, 1], "trial": np.arange(4)}
    rates = np.ones((4, 10, 2))
    shown, names = figures.shown(Activity(rates, record, step=10, events={"go": [30, 40, 30, 40]}))
    assert (shown.event, names) == ("go", ("side", "trial"))
    assert shown.time.tolist() == list(range(-30, 60, 10))
    assert figures.shown(Activity(rates, record, step=10))[0].time[0] == 0
    cue = Activity(rates, record, step=10, events={"cue": [30] * 4}, event="cue", start=-20)
    assert figures.shown(cue)[0] is cue
    assert len(figures.units(cue).axes) == 2  # of two units; four panels were empty
    cells = {"first": np.arange(72) % 6, "sample": np.arange(72) // 6}
    many = Activity(np.ones((72, 4, 2)), cells, step=10)
    said = [one.get_text() for one in figures.units(many).legends[0].get_texts()]
    assert len(said) == 7  # of 72 conditions, from first to last
    assert (said[0], said[-1]) == ("first 0, sample 0", "first 5, sample 11")
    scores = {"reaction_time": [50, 100] * 2, "duration.delay": [1, 2, 1, 2], "side": [0, 0, 1, 1]}
    assert figures.conditions_of(Activity(rates, scores, step=10)) == ["side"]
    with pytest.raises(InvalidValueError, match="Expected a condition with 2 to 12 values"):
        figures.shown(Activity(rates, {"x": [0] * 4}, step=10))


class TestFiles:
    @pytest.fixture
    def file(self, tmp_path):
        pynwb = pytest.importorskip("pynwb", reason="pynwb is not installed")

        def write(name="a.nwb", seen=None, change=None):
            now = datetime.datetime(2026, 1, 5, tzinfo=datetime.UTC)
            made = pynwb.NWBFile("motion", "x", now)
            spikes, record, start = session()
            late = 0.0
            if change == "one spike is missing":
                spikes[0][3] = np.nan
            elif change == "no events":
                late = np.nan
            elif change == "events after the trials":
                late = 5.0
            elif change == "a value is missing":
                record["coherence"] = np.where(np.arange(TRIALS) < 9, np.nan, record["coherence"])
            times = ("stimulus_start_time", "stimulus_stop_time")
            for column in (*record, *times):
                made.add_trial_column(column, "as a task has it")
            for k, at in enumerate(start):
                more = {column: values[k] for column, values in record.items()}
                more |= dict(zip(times, (at + 0.4 + late, at + 1.4 + late), strict=True))
                made.add_trial(start_time=at, stop_time=at + 1.6, **more)
            for unit, train in enumerate(spikes):
                given = {} if seen is None else {"obs_intervals": [seen[unit]]}
                made.add_unit(spike_times=train, **given)
            with pynwb.NWBHDF5IO(str(tmp_path / name), "w") as io:
                io.write(made)
            return tmp_path / name

        return write

    def test_units_that_were_not_recorded_throughout_are_left_out(self, file):
        early, late, short = [0.0, 200.0], [200.0, 400.0], [0.0, 100.0]
        found = sessions.read_session(file("a.nwb", [early, early, short, *[early] * 5]), STEP)
        assert found.units["id"].tolist() == [0, 1, 3, 4, 5, 6, 7]
        assert len(found) == 100  # those until 200 s
        with pytest.raises(InvalidValueError, match="none of which was recorded in all trials"):
            sessions.read_session(file("b.nwb", [early, late] * 4), STEP)

    def test_the_command_reports_a_file_without_torch(self, file, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "torch", None)
        out = tmp_path / "report"
        words = [str(file()), "--task", "RoitmanShadlen", "--out", str(out)]
        found = CliRunner().invoke(command, [*words, "--json"])
        assert found.exit_code == 0, found.output
        said = json.loads(found.stdout)
        assert said["facts"]["units"] == "8"
        assert "evidence-level" in [one["name"] for one in said["signatures"]]
        assert len(said["figures"]) == 3
        page = (out / "report.html").read_text(encoding="utf-8")
        assert "without controls" in page
        plain = CliRunner().invoke(command, words)
        assert "choice is decoded with" in plain.output
        assert "Not measured: pulse-persists" in plain.output

    def test_errors_of_files(self, file, tmp_path):
        path = str(file())
        for words, message in (
            ([path, "run-1"], "Runs and files of recordings were given"),
            ([path, "--task", "Roitmann"], "No signature applies to --task Roitmann"),
            ([str(tmp_path / "b.nwb")], "is not a file"),
        ):
            found = CliRunner().invoke(command, words)
            assert found.exit_code == 2
            assert message in found.output

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ("one spike is missing", "1 of them missing"),
            ("no events", "160 of 160 trials have no 'stimulus'"),
            ("events after the trials", "-3800 ms after it"),
        ],
    )
    def test_mutilated_recordings_are_refused(self, file, change, said):
        found = CliRunner().invoke(command, [str(file(change=change))])
        assert found.exit_code == 2, found.output
        assert said in found.output
        assert "Expected" in found.output

    def test_trials_outside_of_the_recording_are_refused(self, file):
        found = CliRunner().invoke(command, [str(file(seen=[[9e3, 9.1e3]] * UNITS))])
        assert found.exit_code == 2
        assert "in none of which a unit was recorded" in found.output

    def test_a_value_that_is_missing_is_no_condition(self, file):
        found = sessions.measured(
            [sessions.read_session(file(change="a value is missing"), 50)], ()
        )
        (row,) = [one for one in found.conditions if one["condition"] == "coherence"]
        assert row["values"] == 3
        assert np.isfinite(row["decoded"])
        assert (row["trials"], row["left out"]) == (TRIALS - 9, 9)

    def test_trials_without_a_value_are_left_out_of_signatures_with_their_number(
        self, file, tmp_path
    ):
        """Signatures of them had numbers, silently."""
        path = file(change="a value is missing")
        words = [str(path), "--task", "RoitmanShadlen", "--out", str(tmp_path / "report")]
        found = CliRunner().invoke(command, [*words, "--json"])
        assert found.exit_code == 0, found.output
        said = json.loads(found.stdout)
        sentence = f"9 of {TRIALS} trials without 'coherence' (NaN, ''): 0, 1, 2, 3, 4, …"
        assert said["left_out"]["evidence-level"] == [f"a.nwb: {sentence}"]
        assert said["left_out"]["coherence"] == [f"a.nwb: {sentence}"]
        page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
        assert "9 of 160 trials without" in page
        assert f"evidence-level: left out: a.nwb: 9 of {TRIALS}" in (
            CliRunner().invoke(command, words).output
        )
        whole = sessions.read_session(path, STEP)
        known = np.isfinite(whole.record["coherence"])
        level = next(one for one in of_motion() if one.name == "evidence-level")
        with pytest.raises(NotSupportedError, match="9 of 160 trials without 'coherence'"):
            level.measured(System(whole))
        (value,) = level.measured(System(whole.select(known))).values()
        (one,) = (one for one in said["signatures"] if one["name"] == "evidence-level")
        assert one["values"]["recording"]["level per 10 %"] == [pytest.approx(value)]

    @pytest.mark.parametrize("kind", ["text", "half a file", "HDF5 of another kind"])
    def test_a_file_that_is_no_nwb_is_said_so(self, file, tmp_path, kind):
        path = tmp_path / "b.nwb"
        if kind == "HDF5 of another kind":
            h5py = pytest.importorskip("h5py")
            with h5py.File(path, "w") as other:
                other["a"] = [1]
        else:
            whole = file().read_bytes()
            path.write_bytes(b"hello" if kind == "text" else whole[: len(whole) // 2])
        found = CliRunner().invoke(command, [str(path)])
        assert found.exit_code == 2, found.output
        assert "cannot be read as NWB" in found.output


def test_silent_units_have_no_panel_and_a_silent_session_no_figure():
    """Silent units had panels, and components of them nan % of the variance."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(2, (40, 10, 5)).astype(float)
    counts[..., 1:3] = 0
    record = {"side": np.arange(40) % 2}
    shown = Activity(counts, record, step=10, kind="count")
    titles = sorted(ax.get_title() for ax in figures.units(shown).axes)
    assert titles == ["unit 0", "unit 3", "unit 4"]
    silent = Activity(0 * counts, record, step=10, kind="count")
    with pytest.raises(InvalidValueError, match="5 units have no activity"):
        figures.units(silent)
    with pytest.raises(InvalidValueError, match="none of which varies"):
        figures.trajectories(silent)
    assert figures.decoding({"recording": silent}).axes


def test_lines_have_colours_and_dashes_of_the_conditions_and_units_their_names():
    rng = np.random.default_rng(0)
    record = {"first": [10, 10, 14, 14] * 3, "choice": ["a", "b"] * 6}
    activity = Activity(
        rng.random((12, 5, 2)), record, step=10, units={"id": [48, 7], "area": ["M1", "dStr"]}
    )
    drawn = figures.lines(activity.mean(["first", "choice"]))
    assert len(drawn) == 4
    assert len({tuple(one["color"]) for one in drawn}) == 2
    assert [one["linestyle"] for one in drawn] == ["-", "--", "-", "--"]
    titles = {ax.get_title() for ax in figures.units(activity).axes}
    assert {"M1 unit 48", "dStr unit 7"} <= titles
