"""The shortcut audit: it finds each shortcut that is put back, and none in the variant without it.

A shortcut counts if the 95 % interval of its performance lies above the point half-way to the
oracle. The variants' policies perform at least 0.1 below that point, or at chance: with 1,000 held
out trials, the probability that one of them is reported is below 1e-6. Seeds are fixed.
"""

from __future__ import annotations

import time
import tomllib

import numpy as np
import pytest
from neurogym_check import check_task
from neurogym_check.audit.classify import best_policy
from neurogym_check.audit.measures import measure_shortcuts, wilson
from neurogym_check.audit.stored import differences, write

from neurogym_core import InvalidValueError, make_task
from neurogym_core.tools import refresh

SHORTCUTS = {
    "WideWindow": ("NarrowWindow", ("clock",)),
    "JudgedLate": ("JudgedThroughout", ("held",)),
    "RedundantCue": ("NeededCue", ("without.cue",)),
    "FixedMean": ("RovingMean", ("period.first", "period.second")),
    "OneModality": (
        "BothModalities",
        ("channel.visual", "channel.auditory", "without.visual", "without.auditory"),
    ),
    "AmountAlone": ("BothMatter", ("channel.amount", "without.juice")),
    "DisplayAlone": ("SampleNeeded", ("channel.display", "without.sample")),
    "LastOfSeveral": ("SumOfSeveral", ("last",)),
    "OneLook": ("ManyLooks", ("look.first", "look.middle", "look.last")),
    "LastInterval": ("RovingIntervals", ("duration.first", "duration.second")),
    "TellingDelay": ("SilentDelay", ("durations",)),
    "AlwaysMatches": ("SometimesMatches", ("constant", "clock")),
    "NeverMatches": ("SometimesMatches", ("rest",)),
    "PressFourTimes": ("FourPressesAndNoMore", ("reflex",)),
    "TellingHistory": ("SilentHistory", ("history", "winstay")),
}
"""Task of leaky_tasks.py -> (the variant without the shortcut, the measures that find it)."""


@pytest.mark.parametrize("name", SHORTCUTS)
def test_a_shortcut_that_is_put_back_is_found(leaky, name):
    variant, measures = SHORTCUTS[name]
    found = measure_shortcuts(make_task(getattr(leaky, name))).within_reach()
    assert set(measures) <= set(found), found
    there = measure_shortcuts(make_task(getattr(leaky, variant)))
    assert set(measures) <= set(there.measures)
    assert not set(measures) & set(there.within_reach())


@pytest.mark.parametrize("name", ["WhenItCame", "WhenItWasHeard"])
def test_no_classifier_knows_when_a_stimulus_begins_but_from_its_channel(leaky, name):
    """Chance is 1/3; the bounds are 5 SDs of 1,000 trials from it."""
    measures = measure_shortcuts(make_task(getattr(leaky, name))).measures
    assert measures["durations"].score < 1 / 3 + 0.075
    if name == "WhenItCame":
        assert measures["all"].score < 1 / 3 + 0.075
    else:
        assert measures["all"].score > 0.9


# ---------------------------------------------------------------------- the measures


def test_blind_policies_score_what_they_must(wrong):
    measures = measure_shortcuts(make_task(wrong.Right)).measures
    assert measures["oracle"].score == 1
    assert measures["rest"].score == 0
    # False alarm: 1e-6; the SD of a share of 1,280 trials is 0.014.
    assert abs(measures["constant"].score - 0.5) < 0.07
    assert measures["all"].score > 0.7


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(wrong):
    one, same = (measure_shortcuts(make_task(wrong.Right)) for _ in range(2))
    assert one == same
    assert measure_shortcuts(make_task(wrong.Right), seed=1) != one


def test_a_task_takes_less_than_two_seconds(wrong):
    before = time.process_time()
    measure_shortcuts(make_task(wrong.Right))
    assert time.process_time() - before < 2


def test_wilson_intervals_are_those_of_the_table():
    # Newcombe 1998, doi:10.1002/(SICI)1097-0258(19980430)17:8<857::AID-SIM777>3.0.CO;2-E, table I.
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0 / 20, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


@pytest.mark.slow
def test_intervals_hold_the_true_performance_in_most_seeds(leaky):
    task = make_task(leaky.SometimesMatches)
    held = [
        one.low <= 0.5 <= one.high
        for one in (measure_shortcuts(task, seed=seed).measures["rest"] for seed in range(40))
    ]
    # False alarm: 1e-6, for 95 % intervals.
    assert sum(held) >= 29


def test_envs_that_are_no_tasks_are_played(wrong):
    (result,) = check_task(wrong.RightClassic, select=["A001"])
    assert set(result.details) == {"oracle", "rest", "constant"}


def test_hooks_read_conditions_while_ended_trials_wait(wrong):
    class Pays(wrong.Right):
        """Pays on every step, by a condition; trials end at different times."""

        def step_action(self, now, action):
            return 0.01 * now.conditions["strength"], None

    assert measure_shortcuts(make_task(Pays)).measures["oracle"].score == 1


# ---------------------------------------------------------------------- the classifier


def test_a_match_of_two_columns_is_learned():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(2000, 8))
    right = (columns[:, 2] * columns[:, 5] > 0).astype(int)
    policy = best_policy(columns[:1000], np.eye(2)[right[:1000]])
    assert (policy(columns[1000:]) == right[1000:]).mean() > 0.85


def test_rows_of_few_values_are_looked_up():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2, (2000, 5)).astype(float)
    right = columns.sum(axis=1).astype(int) % 2  # parity: no product of three shows it
    policy = best_policy(columns[:1000], np.eye(2)[right[:1000]])
    assert (policy(columns[1000:]) == right[1000:]).all()


def test_the_answer_of_the_largest_score_is_chosen_without_any_column():
    scores = np.tile([0.2, 0.7, 0.1], (100, 1))
    assert set(best_policy(np.zeros((100, 0)), scores)(np.zeros((5, 0)))) == {1}


# ---------------------------------------------------------------------- stored numbers

MANIFEST = """schema = 1

[[task]]
name = "A-v0"
title = "A"
# a remark
expected = { guess = 0.5 }

[task.shortcuts]
rest = 0.9
channel.old = 0.1

[[task.reference]]
doi = "10.1038/nature12742"

[[task]]
name = "B-v0"
title = "B"
"""


def test_only_the_shortcuts_of_a_manifest_are_replaced(tmp_path):
    path = tmp_path / "ngym.toml"
    path.write_text(MANIFEST, "utf-8")
    numbers = {"rest": (0.0, 0.0, 0.1), "channel.cue": (0.5, 0.4, 0.6)}
    assert write(path, {"A-v0": numbers, "B-v0": {"rest": (0.25, 0.2, 0.3)}}) == ["A-v0", "B-v0"]
    before, after = tomllib.loads(MANIFEST), tomllib.loads(path.read_text("utf-8"))
    first, second = after["task"]
    assert first.pop("shortcuts") == {
        "rest": [0.0, 0.0, 0.1], "channel": {"cue": [0.5, 0.4, 0.6]},
    }  # fmt: skip
    assert second.pop("shortcuts") == {"rest": [0.25, 0.2, 0.3]}
    before["task"][0].pop("shortcuts")
    assert after == before
    assert "# a remark" in path.read_text("utf-8")


def test_comments_stay_where_they_are(tmp_path):
    path = tmp_path / "ngym.toml"
    commented = """schema = 1

[[task]]
name = "A-v0"

# Performance without a part of the task.
[task.shortcuts]
rest = 0.9
channel.old = 0.1

# The paper that the task follows:
[[task.reference]]
doi = "10.1038/nature12742"
"""
    path.write_text(commented, "utf-8")
    write(path, {"A-v0": {"rest": (0.0, 0.0, 0.1), "clock": (0.2, 0.1, 0.3)}})
    expected = commented.replace(
        "rest = 0.9\nchannel.old = 0.1", "rest = [0.0, 0.0, 0.1]\nclock = [0.2, 0.1, 0.3]"
    )
    assert path.read_text("utf-8") == expected


def test_writing_the_same_numbers_again_changes_no_byte(tmp_path):
    path = tmp_path / "ngym.toml"
    path.write_text(MANIFEST, "utf-8")
    numbers = {"A-v0": {"rest": (0.0, 0.0, 0.1)}, "B-v0": {"rest": (0.5, 0.4, 0.6)}}
    write(path, numbers)
    before = path.read_bytes()
    assert write(path, numbers) == []
    assert path.read_bytes() == before


def test_a_task_without_a_row_is_refused(tmp_path):
    path = tmp_path / "ngym.toml"
    path.write_text(MANIFEST, "utf-8")
    with pytest.raises(InvalidValueError, match="no row of C-v0"):
        write(path, {"C-v0": {"rest": (0.0, 0.0, 0.1)}})


def test_stored_numbers_may_differ_in_the_last_digits_only():
    interval = (0.0, 1.0)
    assert differences({"rest": 0.5}, {"rest": (0.52, *interval)}) == []
    fresh = {"rest": (0.6, *interval), "all": (1.0, *interval)}
    assert differences({"rest": 0.5, "clock": 0.1}, fresh) == [
        "rest is 0.600, stored 0.500",
        "clock is stored, but not measured",
        "all is not stored (1.000)",
    ]


# ---------------------------------------------------------------------- the checks and the command

SOURCE = '''
import numpy as np

from neurogym_core import Choice, Task

class Sides(Task):
    """Report the side of a light and a tone; either modality alone is enough.

    doi:10.1038/nature12742
    """

    def define(self):
        self.observe(light=1, tone=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision", stimulus=300, decision=200)
        trial.show("light", trial["side"], during="stimulus")
        trial.show("tone", trial["side"], during="stimulus")
        trial.answer("choose", trial["side"], during="decision")
'''
ADMITTED = """{ "channel.*" = "either modality alone", "without.*" = "either modality alone" }"""


@pytest.fixture
def package(site):
    """Install a package with a task of which half is enough."""

    def install(**fields: str) -> str:
        site.add(
            "neurogym-task-sides",
            tasks={"Sides-v0": "neurogym_task_sides.tasks:Sides"},
            files={"tasks.py": SOURCE},
            manifest="schema = 1\n" + site.row("Sides-v0", **fields),
        )
        return "neurogym-task-sides"

    return install


def statuses(results) -> dict[str, str]:
    return {result.code: result.status for result in results}


def test_a_shortcut_within_reach_is_a_warning_and_no_failure(ngym, package):
    result = ngym("check", package(), "--select", "A001")
    assert result.exit_code == 0, result.output
    assert "light alone (channel.light) 1.00 [1.00, 1.00]" in " ".join(result.stdout.split())
    assert "All 0 checks of 1 task passed, 1 warning." in result.stdout


def test_an_admitted_shortcut_is_no_warning(package):
    package(admitted=ADMITTED)
    assert statuses(check_task("Sides-v0", select=["A001"])) == {"A001": "passed"}


def test_what_the_docstring_does_not_say_is_not_admitted(package):
    package(admitted='{ "channel.*" = "the light alone" }')
    (result,) = check_task("Sides-v0", select=["A001"])
    assert result.status == "failed"
    assert "channel.*: 'the light alone'" in result.reason


def test_stored_shortcuts_are_compared(ngym, package):
    name = package()
    assert statuses(check_task("Sides-v0", "full", select=["A"])) == {
        "A001": "warning", "A002": "not applicable", "A003": "failed", "A004": "not applicable",
    }  # fmt: skip
    done = ngym("check", name, "--write-shortcuts")
    assert done.exit_code == 0, done.output
    assert "1 written, 0 unchanged" in done.stdout
    assert "0 written, 1 unchanged" in ngym("check", name, "--write-shortcuts").stdout
    refresh()
    assert "light alone: 100 % (100 to 100)" in " ".join(ngym("info", "Sides-v0").stdout.split())


def test_a_wrong_stored_number_is_caught(package):
    package(shortcuts="{ rest = 0.5 }")
    (result,) = check_task("Sides-v0", "full", select=["A002"])
    assert result.status == "failed"
    assert "rest is 0.000, stored 0.500" in result.reason


def test_all_numbers_can_be_printed_with_their_intervals(ngym, package):
    lines = ngym("check", package(), "--shortcuts").stdout.splitlines()
    (line,) = [line for line in lines if line.split()[:1] == ["without.tone"]]
    assert "within reach of the oracle" in line


def test_wrapped_tasks_keep_the_promises_of_the_task(ngym, package):
    package(admitted=ADMITTED, expected="{ guess = 0.5, oracle_min = 1.0 }")
    result = ngym(
        "check", "Sides-v0", "--wrap", "noise:sigma=0.1", "--select", "B", "--select", "A"
    )
    assert result.exit_code == 0, result.output
    assert "--wrap noise:sigma=0.1" in result.stdout
    assert "warning" not in result.stdout
    refused = ngym("check", "Sides-v0", "--wrap", "noise", "--write-shortcuts")
    assert refused.exit_code == 2
    assert "Leave out --wrap" in refused.output


# ---------------------------------------------------------------------- ideals

OBSERVERS = """
import numpy as np

from neurogym_core import Subject

class Guesses(Subject):
    carries_state = False

    def __call__(self, env, observations):
        return np.where(env.is_asked, self.rng.integers(1, 3, env.num_envs), 0)
"""


@pytest.fixture
def with_ideal(site):
    """Install the package with an ideal, and return the result of its check."""

    def install(value: float, by: str, how: str) -> object:
        ideal = f'{{ value = {value}, by = "{by}", how = "{how}" }}'
        site.add(
            "neurogym-task-sides",
            tasks={"Sides-v0": "neurogym_task_sides.tasks:Sides"},
            files={"tasks.py": SOURCE, "observers.py": OBSERVERS},
            manifest="schema = 1\n" + site.row("Sides-v0", ideal=ideal),
        )
        (result,) = check_task("Sides-v0", "full", select=["A004"])
        return result

    return install


def test_an_ideal_below_a_shortcut_is_refused(with_ideal):
    result = with_ideal(0.6, "exact", "it is what the author thinks")
    assert result.status == "failed"
    assert "The ideal is 0.6, and" in result.reason
    assert "Expected an ideal that no shortcut exceeds" in result.reason


def test_an_ideal_that_its_observer_does_not_reach_is_refused(with_ideal):
    result = with_ideal(1.0, "observer", "neurogym_task_sides.observers:Guesses")
    assert result.status == "failed"
    assert "Guesses performs at 0." in result.reason


def test_an_ideal_that_its_observer_reaches_passes(with_ideal):
    assert with_ideal(1.0, "observer", "oracle").status == "passed"


def test_an_observer_that_is_not_there_is_a_failure(with_ideal):
    result = with_ideal(1.0, "observer", "neurogym_task_sides.observers:Nobody")
    assert result.status == "failed"
    assert "cannot play" in result.reason


def test_an_exact_ideal_passes_without_an_observer(with_ideal):
    assert with_ideal(1.0, "exact", "no noise").status == "passed"


PRICED = """
import numpy as np

from neurogym_core import Choice, Subject, Task

class Haste(Task):
    \"\"\"Report the sign of a noisy light; each 100 ms costs a fifth of the reward.

    doi:10.1038/nature12742
    \"\"\"

    rewards = {"correct": 1.0}

    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", stimulus=500)
        trial.show("light", 2 * trial["side"] - 1, during="stimulus", noise=10)
        for k in range(5):
            start, stop = 100 * k, 100 * (k + 1)
            trial.answer("choose", trial["side"], "stimulus", start=start, stop=stop,
                         correct=1 - 0.2 * k)
        trial.max_reward(1)

class Look(Subject):
    carries_state = False

    def __call__(self, env, observations):
        return 1 + (observations[:, 0] > 0)
"""


@pytest.mark.parametrize(("value", "status"), [(0.95, "failed"), (0.6, "failed"), (0.84, "passed")])
def test_classifiers_are_no_limit_of_an_ideal_where_the_reward_falls_with_time(site, value, status):
    """One look of 100 ms, paid in full, is right in 0.841; all five of them in 0.987."""
    how = "neurogym_task_haste.tasks:Look"
    site.add(
        "neurogym-task-haste",
        tasks={"Haste-v0": "neurogym_task_haste.tasks:Haste"},
        files={"tasks.py": PRICED},
        manifest="schema = 1\n"
        + site.row("Haste-v0", ideal=f'{{ value = {value}, by = "observer", how = "{how}" }}'),
    )
    (result,) = check_task("Haste-v0", "full", select=["A004"])
    assert result.status == status, result.reason
