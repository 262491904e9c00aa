"""Frozen benchmarks: animals pass, cheats fail, subjects play blind, changed files are refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from neurogym_behaviour.behaviour import CannotTellError
from neurogym_likeness import benchmarks as module
from neurogym_likeness.benchmarks import (
    benchmark,
    benchmark_names,
    digest_of,
    pooled,
    read_benchmark,
    written,
)
from neurogym_likeness.bits import (
    TIMES,
    Answers,
    animals_held_out,
    likeness_in_bits,
    likeness_of_each,
)
from neurogym_likeness.controls import (
    CHEATS,
    CLOCK,
    HONEST,
    clock_alone,
    controls,
    failures,
    score_controls,
)
from simulated_animals import population

from neurogym_core import InvalidValueError, NotSupportedError, Subject, UnknownNameError

NAMES = (
    "clicks-rats",
    "durations-people",
    "heading-people",
    "orientations-people",
    "reversal-people",
)
every = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def scores():
    """Scores of the controls by the name of the benchmark, computed once."""
    known = {}

    def of(name):
        if name not in known:
            known[name] = score_controls(benchmark(name))
        return known[name]

    return of


def test_the_benchmarks_of_the_data_package_are_found():
    assert set(NAMES) <= set(benchmark_names())
    with pytest.raises(UnknownNameError, match="click-rats"):
        benchmark("click-rats")


@every
def test_the_animals_pass_and_every_cheat_fails(name, scores):
    found = scores(name)
    assert failures(found) == []
    assert found[HONEST].alike(found[HONEST].seeds[0])
    assert len(found) >= 6
    assert not any(one.alike(one.seeds[0]) for cheat, one in found.items() if cheat != HONEST)


@every
def test_each_animal_is_near_1_and_its_population_allows_a_verdict(name, scores):
    found = scores(name)[HONEST]
    assert len(found.animals) >= 5
    assert all(0.7 < one.score < 1.3 for one in found.animals)
    assert np.mean([one.score for one in found.animals]) == pytest.approx(1)
    assert found.doubts == ("1 seed, and a verdict needs 3",)


@pytest.mark.parametrize("name", ["heading-people"])
def test_an_animal_as_a_subject_beside_the_others_has_an_interval_around_its_score(name):
    found = animals_held_out(benchmark(name).population(), kind=benchmark(name).kind)
    assert len(found) == len(benchmark(name).population())
    for score, low, high in found.values():
        assert low < score < high
        assert 0.6 < score < 1.3
    two = dict(list(benchmark(name).population().items())[:2])
    with pytest.raises(CannotTellError, match="needs three"):
        animals_held_out(two)


@every
def test_a_control_with_the_wrong_verdict_is_a_failure(name, scores):
    found = scores(name)
    cheat = next(one for one in found if one != HONEST)
    swapped = {**found, HONEST: found[cheat], cheat: found[HONEST]}
    assert len(failures(swapped)) >= 2


@every
def test_the_clock_alone_scores_like_a_guesser(name, scores):
    """A subject that reads when an answer is asked for, and looks at nothing, knows little."""
    found = scores(name)[CLOCK]
    assert found.score < min(0.2, 0.5 * found.bound)


def test_a_benchmark_whose_clock_has_the_answer_is_found_out():
    """Ready and Set are seen; a subject that reads Set from `is_asked` need not look: 0.94."""
    told = replace(benchmark("durations-people"), hides=())
    one = controls(told)[HONEST]
    cheat = clock_alone(told, one, np.random.default_rng(0))
    found = likeness_of_each({HONEST: one, CLOCK: cheat}, told.population(), kind=told.kind)
    assert found[CLOCK].score > 0.7
    assert any(sentence.startswith("the clock alone passes") for sentence in failures(found))


class Times(Subject):
    """Answers as long after the question as that came after the trial's onset; never looks."""

    carries_state = False

    def begin(self, env):
        self.since, self.trial = np.zeros((2, env.num_envs), int), env.trial_number.copy()

    def __call__(self, env, observations):
        fresh = env.trial_number != self.trial
        self.trial = env.trial_number.copy()
        self.since[:, fresh] = 0
        self.since[np.where(env.is_asked, 1, 0), np.arange(env.num_envs)] += 1
        go = env.is_asked & (self.since[1] >= self.since[0] - 25)
        return np.where(go[:, None], 1.0, -1.0)


def test_a_subject_that_is_to_report_a_duration_is_not_told_when_it_has_passed():
    few = replace(benchmark("durations-people"), number=60)
    with pytest.raises(NotSupportedError, match="found in"):
        few.play(Times(), 101)
    told = replace(few, hides=()).play(Times(), 101).record
    assert np.corrcoef(told["reaction_time"], told["wanted"])[0, 1] > 0.6


@pytest.mark.parametrize("name", ["durations-people", "heading-people"])
@pytest.mark.parametrize("dt", [5, 20, 100])
def test_the_clock_of_a_subject_does_not_matter(name, dt, scores):
    """The same answers, on steps of `dt`, have the same score within its interval."""
    one = benchmark(name)
    answers = controls(one)[HONEST]
    coarse = replace(answers, time=np.ceil(answers.time / dt) * dt)
    found = likeness_in_bits({"coarse": coarse}, one.population(), kind=one.kind)
    honest = scores(name)[HONEST]
    assert honest.low < found.score < honest.high
    assert found.alike(found.seeds[0])


@every
def test_a_subject_that_reads_the_target_cannot_play(name):
    few = replace(benchmark(name), number=5)
    with pytest.raises(NotSupportedError, match="asked the env for"):
        few.play("oracle", 101)


def test_the_trials_are_those_of_the_animals_in_the_order_of_the_seed():
    rats = benchmark("clicks-rats")
    first, again, other = (rats.imposed(seed) for seed in (101, 101, 102))
    assert set(first) == {"rate", "length", "left", "right"}
    assert all(len(one) == rats.number for one in first.values())
    np.testing.assert_array_equal(first["left"], again["left"])
    assert not np.array_equal(first["left"], other["left"])
    people = benchmark("reversal-people")
    best = people.imposed(101)["probability"].argmax(axis=1)
    changes = np.flatnonzero(np.diff(best[:90]))
    np.testing.assert_array_equal(changes, [14, 29, 44, 59, 74])  # of one person, in sequence


def test_the_side_of_an_orientation_is_its_sign():
    imposed = benchmark("orientations-people").imposed(101)
    assert set(imposed["direction"].tolist()) == {0, 1}
    assert imposed["coherence"].min() >= 0


def test_with_fewer_than_five_animals_there_is_no_verdict():
    one = benchmark("heading-people")
    four = dict(list(one.population().items())[:4])
    seeds = {str(k): controls(one, seed=k)[HONEST] for k in range(3)}
    found = likeness_in_bits(seeds, four, kind=TIMES)
    assert {found.verdict(seed) for seed in found.seeds} == {"no verdict"}
    assert "4 animals, and a verdict needs 5" in found.doubts
    assert found.score > 0.8


def test_groups_have_all_animals_once_and_blocks_of_one_animal():
    one = benchmark("reversal-people")
    groups = one.population()
    assert len(groups) == 11
    assert sum(map(len, groups.values())) == len(one.trials()) == 237 * 90
    assert all(len(each) >= 20 * 90 for each in groups.values())
    parts = [Answers(*(np.zeros(4),) * 3, np.array([0, 0, 1, 1])) for _ in range(2)]
    np.testing.assert_array_equal(pooled(parts).block, [0, 0, 1, 1, 2, 2, 3, 3])


# ---- frozen ----


def copied(name, folder: Path) -> Path:
    return Path(shutil.copy(benchmark(name).path, folder / f"{name}.toml"))


def test_a_file_that_was_changed_is_refused(tmp_path):
    path = copied("heading-people", tmp_path)
    assert read_benchmark(path).digest == benchmark("heading-people").digest
    path.write_text(path.read_text("utf-8").replace("sigma = 1.44", "sigma = 0.5"), "utf-8")
    with pytest.raises(InvalidValueError, match="it was changed"):
        read_benchmark(path)


def test_trials_that_were_changed_are_refused(tmp_path, monkeypatch):
    from neurogym_data import sets

    facts = sets.data_set("qu-2026")
    path = tmp_path / "qu-2026.csv.gz"
    path.write_bytes(facts.table.path.read_bytes() + b" ")
    changed = replace(facts, table=replace(facts.table, path=path))
    monkeypatch.setattr(sets, "data_set", lambda _: changed)
    monkeypatch.setattr("neurogym_data.data_set", lambda _: changed, raising=False)
    with pytest.raises(NotSupportedError, match=r"qu-2026\.csv\.gz has the digest"):
        benchmark("durations-people").trials()


def test_a_task_of_another_behaviour_is_refused(monkeypatch):
    monkeypatch.setattr(module, "behaviour_of", lambda task: "0123456789abcdef")
    with pytest.raises(NotSupportedError, match="Expected the same task"):
        benchmark("clicks-rats").make_task()


@every
def test_the_behaviour_of_the_task_is_known(name):
    one = benchmark(name)
    assert len(one.behaviour) == 16
    task = one.make_task()
    assert task.dt == one.parameters["dt"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "feelings"}, "Unknown kind"),
        ({"colour": 1}, "Unknown key 'colour'"),
        ({"task": {"name": "RoitmanShadlen-v0", "speed": 2}}, "Unknown key 'speed'"),
        ({"animals": {}}, "Expected either file, or"),
        (
            {"task": {"name": "RoitmanShadlen-v0", "hides": ["target"]}},
            "Unknown attribute 'target'",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_reason(change, message, tmp_path):
    said = {
        "version": 1, "title": "t", "kind": "choices", "task": {"name": "RoitmanShadlen-v0"},
        "trials": {"number": 5, "seeds": [1]}, "animals": {"file": "a.csv", "sha256": ""}, **change,
    }  # fmt: skip
    path = tmp_path / "a.toml"
    path.write_text(written(said), "utf-8")
    with pytest.raises((InvalidValueError, UnknownNameError), match=message):
        read_benchmark(path)


def test_the_digest_is_that_of_the_values_and_not_of_their_order():
    said = {"version": 1, "task": {"name": "a", "dt": 2}}
    assert digest_of(said) == digest_of({"task": {"dt": 2, "name": "a"}, "version": 1})
    assert digest_of(said) != digest_of({**said, "version": 2})


# ---- benchmarks of a laboratory, and the commands ----


@pytest.fixture(scope="module")
def animals_file(tmp_path_factory):
    """A laboratory's file with the trials of five simulated animals."""
    rows = [
        pd.DataFrame({
            "monkey": name, "trial": np.arange(len(one)), "coherence": abs(one.signed),
            "direction": np.where(one.signed == 0, rng.integers(0, 2, len(one)), one.signed > 0),
            "choice": one.choice, "reaction_time": one.time,
        })
        for rng in [np.random.default_rng(0)]
        for name, one in population(7, 0, n=600).items()
    ]  # fmt: skip
    every = pd.concat(rows)
    every["correct"] = every["choice"] == every["direction"]
    path = tmp_path_factory.mktemp("animals") / "animals.csv"
    every[every["choice"] >= 0].to_csv(path, index=False)
    return path


@pytest.fixture
def added(animals_file, ngym):
    """Add the laboratory's benchmark `six` to the working folder; return the output."""
    words = ("--task", "RoitmanShadlen-v0", "--map", "subject=monkey", "--hold-out", "animal 5",
             "--hold-out", "animal 6")  # fmt: skip
    code, said = ngym(
        "benchmark", "add", animals_file, "--name", "six", "-n", 400, "--seeds", 3, *words
    )
    assert code == 0, said
    return said


@pytest.mark.slow
def test_a_file_of_a_laboratory_becomes_a_benchmark(added, ngym):
    assert "six, version 1" in added
    code, said = ngym("benchmark", "list")
    assert code == 0
    assert "six, version 1: six (choices and times; RoitmanShadlen-v0)" in said
    code, said = ngym("benchmark", "check", "six", "--json")
    assert code == 0, said
    data = json.loads(said)
    assert list(data) == [
        "schema", "command", "benchmark", "bound", "reference", "ceiling", "animals", "controls",
        "failures",
    ]  # fmt: skip
    assert len(data["animals"]) == 5
    parts = ("choice", "added", "reverse")
    assert all(one[part] > 0 for one in data["animals"].values() for part in parts)
    assert {*CHEATS[TIMES], HONEST, CLOCK} == set(data["controls"])
    honest = "diffusion:bound=50,non_decision=330"
    code, said = ngym("likeness", honest, "--benchmark", "six", "--out", "out", "--json")
    assert code == 0, said
    data = json.loads(said)
    assert 0.5 < data["score"]["score"] < 1.3
    assert data["facts"]["benchmark"].startswith("six, version 1 (")
    assert data["tested"] == {}
    assert json.loads(Path("out/likeness.json").read_text("utf-8"))["score"] == data["score"]
    assert "Likeness in bits" in Path("out/report.html").read_text("utf-8")


def test_a_benchmark_is_added_once_and_its_files_are_frozen(added, animals_file, ngym):
    words = ("--name", "six", "--task", "RoitmanShadlen-v0", "--map", "subject=monkey")
    code, said = ngym("benchmark", "add", animals_file, *words)
    assert code != 0
    assert "six.toml exists" in said
    path = Path("benchmarks/six.csv")
    path.write_text(path.read_text("utf-8").replace("correct", "error", 1), "utf-8")
    code, said = ngym("benchmark", "check", "six")
    assert code != 0
    assert "six.csv has the digest" in said


def test_a_task_in_a_file_needs_permission(animals_file, ngym):
    code = """
from pathlib import Path
from neurogym_core.tools import load_task
Path("OWNED").touch()
class Dots(load_task("perceptual/RoitmanShadlen-v0")):
    pass
"""
    Path("evil.py").write_text(code, "utf-8")
    words = ("--name", "mine", "--task", "evil.py:Dots", "--map", "subject=monkey", "-n", 20)
    code, said = ngym("benchmark", "add", animals_file, *words)
    assert code == 0, said
    Path("OWNED").unlink()
    for given in (("benchmark", "list"), ("benchmark", "show", "mine")):
        assert ngym(*given)[0] == 0
    code, said = ngym("likeness", "guess", "--benchmark", "mine")
    assert code != 0
    assert "evil.py" in said
    assert "--trust" in said
    assert not Path("OWNED").exists()


def test_no_other_package_is_imported(tmp_path):
    Path(tmp_path, "neurogym_data_evil.py").write_text("raise SystemExit('run')", "utf-8")
    one = replace(benchmark("clicks-rats"), animals={"package": "neurogym_data_evil", "data": "x"})
    with pytest.raises(InvalidValueError, match="Expected one of neurogym_data"):
        one.trials()


def test_a_benchmark_whose_animals_allow_no_verdict_says_so(animals_file, ngym):
    rows = Path(animals_file).read_text("utf-8").splitlines()
    few = [rows[0], *(row for row in rows if row.startswith(("animal 0,", "animal 1,")))]
    Path("few.csv").write_text("\n".join(few) + "\n", "utf-8")
    words = ("--name", "few", "--task", "RoitmanShadlen-v0", "--map", "subject=monkey")
    code, said = ngym("benchmark", "add", "few.csv", *words)
    assert code == 0, said
    assert "WARNING: 2 animals allow numbers and no verdict, which needs 5" in said
    code, said = ngym("benchmark", "check", "few")
    assert code != 0
    assert "needs three" in said  # to score each beside others


@pytest.mark.slow
def test_options_that_pay_and_reports_of_a_laboratory_become_benchmarks(ngym):
    for data, kind, words, wrong in (
        ("zorowitz-2023", "rewards", ("--task", "Bandit-v0", "--group", 60), []),
        ("qu-2026", "reports", ("--task", "ReadySetGoSinglePrior-v0", "--group", 3), ["badly"]),
    ):
        code, said = ngym("data", data, "--out", f"{data}.csv")
        assert code == 0, said
        code, said = ngym("benchmark", "add", f"{data}.csv", "--name", data, "--kind", kind, *words)
        assert code == 0, said
        code, said = ngym("benchmark", "check", data, "--json")
        failed = json.loads(said)["failures"]
        assert len(failed) == len(wrong)
        assert all(part in one for part, one in zip(wrong, failed, strict=True))


def test_held_out_animals_are_in_another_file(added):
    one = read_benchmark(Path("benchmarks/six.toml"))
    assert len(one.population()) == 5
    assert set(one.trials(last=True)["subject"].tolist()) == {"animal 5", "animal 6"}
    few = replace(one, number=60)
    found = few.score({"0": few.play("guess", 101)}, last=True)
    assert [animal.name for animal in found.animals] == ["animal 5", "animal 6"]
    assert "2 animals, and a verdict needs 5" in found.doubts


def test_a_condition_besides_the_strength_is_that_of_subject_and_animals(animals_file, ngym):
    words = ("--task", "RoitmanShadlen-v0", "--map", "subject=monkey", "--by", "direction")
    code, said = ngym("benchmark", "add", animals_file, "--name", "by", *words)
    assert code == 0, said
    one = replace(read_benchmark(Path("benchmarks/by.toml")), number=60)
    assert set(one.population()["animal 0"].context.tolist()) == {"0", "1"}
    assert set(one.answers(one.play("guess", 101)).context.tolist()) == {"0", "1"}


def test_without_held_out_animals_there_is_no_last_test(added):
    one = read_benchmark(Path("benchmarks/six.toml"))
    with pytest.raises(InvalidValueError, match="It has none"):
        replace(one, animals={"file": "six.csv", "sha256": ""}).trials(last=True)


def test_a_file_without_subjects_or_with_one_leaves_nothing(ngym):
    rows = [f"{k % 2},{6.4 * (k % 3)},{k % 2},1,{300 + k}" for k in range(30)]
    text = "\n".join(["direction,coherence,choice,correct,reaction_time", *rows])
    Path("mine.csv").write_text(text + "\n", "utf-8")
    words = ("benchmark", "add", "mine.csv", "--name", "bad", "--task", "RoitmanShadlen-v0")
    code, said = ngym(*words)
    assert code != 0
    assert "have no column 'subject'" in said
    code, said = ngym(*words, "--map", "subject='m'")
    assert code != 0
    assert "Expected two or more" in said
    assert not list(Path("benchmarks").glob("bad*"))


@pytest.mark.slow
def test_strengths_that_only_the_animals_have_are_named(animals_file, ngym):
    words = ("--task", "RoitmanShadlen-v0", "--set", "coherences=(6.4,51.2)", "-n", 60)
    code, said = ngym(
        "benchmark", "add", animals_file, "--name", "few", "--map", "subject=monkey", *words
    )
    assert code == 0, said
    code, said = ngym("likeness", "diffusion", "--benchmark", "few")
    assert code != 0
    assert "has no trial with the strength" in said


def test_show_names_task_trials_animals_and_differences(ngym):
    code, said = ngym("benchmark", "show", "reversal-people")
    assert code == 0, said
    for part in ("value/Bandit-v0", "1,800 of each of 5 seeds", "237 in 11 groups", "90 trials"):
        assert part in said
    code, said = ngym("benchmark", "show", "reversal-people", "--json")
    assert json.loads(said)["parameters"]["probabilities"] == [0.8, 0.2, 0.2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("integrator", "--benchmark", "clicks-rats", "--seeds", 2),
            "fixes task, trials and seeds",
        ),
        (("integrator", "--benchmark", "clicks-rats", "--set", "dt=20"), "--set was given"),
        (("trials.csv", "--benchmark", "clicks-rats"), "play blind"),
        (("guess", "integrator", "--benchmark", "clicks-rats"), "Expected one SUBJECT, or runs"),
        (("integrator", "--last-test"), "without --benchmark"),
        (("integrator", "--benchmark", "nothing"), "Unknown benchmark 'nothing'"),
    ],
)
def test_likeness_refuses_what_a_benchmark_fixes(words, message, ngym):
    code, said = ngym("likeness", *words)
    assert code == 2
    assert message in said


def test_a_run_whose_agent_reads_the_target_cannot_be_scored(toys, ngym):
    words = ("--model", "toy", "--updates", 10, "--quiet", "--out", "toy")
    code, said = ngym("train", "RoitmanShadlen-v0", *words)
    assert code == 0, said
    code, said = ngym("likeness", "toy", "--benchmark", "heading-people")
    assert code != 0
    assert "asked the env for 'target'" in said


def test_a_file_that_cannot_be_used_hides_no_other_benchmark(ngym):
    Path("benchmarks").mkdir()
    Path("benchmarks/bad.toml").write_text("version = 1\n", "utf-8")
    code, said = ngym("benchmark", "list")
    assert code == 0, said
    assert "bad cannot be used: benchmarks/bad.toml lacks" in said
    assert all(name in said for name in NAMES)
    data = json.loads(ngym("benchmark", "list", "--json")[1])
    assert list(data["unusable"]) == ["bad"]


@pytest.mark.slow
def test_an_observer_without_evidence_in_its_channel_is_told_of_others(animals_file, ngym):
    """It asked the task, which a scored subject does not see, for trials: AttributeError."""
    words = ("--map", "subject=monkey", "--map", "contrast=coherence", "--map", "side=direction")
    code, said = ngym("benchmark", "add", animals_file, "--name", "mice", "--task", "IBL-v0",
                      "--kind", "choices", "-n", 50, *words)  # fmt: skip
    assert code == 0, said
    code, said = ngym("likeness", "integrator", "--benchmark", "mice")
    assert code != 0
    assert "AttributeError" not in said
    assert "Name one of them: integrator:channel=" in said
