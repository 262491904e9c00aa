"""Every check fails for a task with its fault, and passes for unusual tasks without a fault."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from neurogym_check import check_task
from neurogym_check.digest import digest_of, store
from neurogym_check.run_checks import all_checks

from neurogym_core import make_task
from neurogym_core.tools import refresh

HERE = Path(__file__).parent

# Task of wrong_tasks.py -> (the check for its fault, other checks that fail as a consequence).
QUICK = {
    "CannotBeMade": ("G000", ()),
    "SeedsAsItLikes": ("G001", ()),
    "NotJson": ("G002", ("T010",)),
    "OneEnvOnly": (
        "G003",
        ("D002", "T004", "T011", "T012", "B001", "B003", "B004", "B006", "A001"),
    ),
    "RewardsAtRandom": ("D001", ("G001", "D002", "D004")),
    "GlobalNumbers": ("D001", ("G003", "D004")),
    "CannotBeCopied": ("D002", ()),
    "BeginsAgain": ("D004", ()),
    "HasOneSeed": ("D005", ()),
    "WalksAway": ("S001", ("G003",)),
    "GoesBlank": ("S001", ("G003",)),
    "TellsNaN": ("S002", ("G001",)),
    "WritesOver": ("S003", ("G001",)),
    "NeverEnds": ("S004", ()),
    "NoSuchAction": ("S005", ()),
    "TellsPerformanceEarly": ("S006", ()),
    "GoesBack": ("T001", ()),
    "CountsInSteps": ("T002", ()),
    "LastsOtherwise": ("T003", ()),
    "LyingDurations": ("T003", ()),
    "UndeclaredValue": ("T004", ()),
    "DrawsForItself": ("T005", ()),
    "AsksTooLate": ("T006", ("B001",)),
    "PaysForHaste": ("T007", ("B004",)),
    "NotesNothing": ("T008", ("S002", "G003")),
    "LyingConditions": ("T009", ()),
    "ForgetsItsNoise": ("T010", ()),
    "ForgetsToPause": ("T010", ()),
    "WrongTarget": ("B001", ("B003", "B004")),
    "PaysForSilence": ("B003", ()),
    "PaysInTheDark": ("B004", ()),
    "ShowsTooEarly": ("B005", ()),
    "LastsTooTellingly": ("B005", ()),
    # Mistakes of other kinds, written to see whether the kit refuses them.
    "SidesByRow": ("D005", ()),
    "FrozenNoise": ("D005", ()),
    "NoTimeToAnswer": ("G000", ()),
    "Punished": ("B003", ()),
    "PaysEachStep": ("B004", ()),
    "HoldingTells": ("B006", ()),
    "FixatingTells": ("B006", ()),
    "PaysErrorsOnTheLeft": ("B007", ()),
    "ShowsTheNextAnswer": ("B008", ()),
    "DeclaresTheOtherChoice": ("T013", ()),
    "NamesTheOtherChoice": ("T013", ()),
    "FavoursTheOtherChoice": ("T013", ()),
}
FULL = {"WatchesTheOthers": "G004", "DrawsNothing": "G005"}
MIXES_SUBJECTS = ("CountsOnTheTask", "SharesAList")
BY_FILE = {"DependsOnHashes": "D003"}
BY_PACKAGE = ("M001", "M002", "M003", "M004", "M005", "M006", "R001", "R002")
BY_EXPECTATION = ("B002",)
BY_SHORTCUT = ("A001", "A002", "A003", "A004")
"""See `test_shortcuts`."""
BY_ANSWER = ("T011", "T012")
"""See `test_answerable`."""

ODD = (
    "OneStep",
    "PaysNothing",
    "AlwaysTheSame",
    "OnlyResting",
    "InBlocks",
    "CountsHits",
    "Tracks",
    "PushesBack",
    "AlwaysLeft",
    "NamesItsSides",
    "DictEnv",
    "NothingRandom",
    "ReadsInManyWays",
    "PlaysItSometimes",
    "RoundsItsTimes",
)
KNOWS_NOTHING_RIGHT = ("OnlyResting", "Tracks")
"""Unusual tasks in which no trial is correct or wrong: their performance is 0."""


def failing(results) -> set[str]:
    return {result.code for result in results if not result.ok}


def test_every_check_has_a_task_that_it_must_catch():
    caught = {code for code, _ in QUICK.values()} | set(FULL.values()) | set(BY_FILE.values())
    assert caught | {*BY_PACKAGE, *BY_EXPECTATION, *BY_SHORTCUT, *BY_ANSWER} == {
        one.code for one in all_checks()
    }


@pytest.mark.parametrize("name", QUICK)
def test_a_wrong_task_is_caught_by_its_check(wrong, name):
    [result] = check_task(getattr(wrong, name), select=[QUICK[name][0]])
    assert not result.ok


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_wrong_task_is_caught_by_its_check_and_no_other(wrong, name):
    code, also = QUICK[name]
    found = failing(check_task(getattr(wrong, name)))
    assert code in found
    assert found <= {code, *also}


def test_feedback_may_show_the_answer_even_if_the_next_one_is_often_the_same(wrong):
    [result] = check_task(wrong.ShowsItsAnswer, select=["B008"])
    assert result.status == "passed"


@pytest.mark.parametrize("name", FULL)
def test_a_wrong_task_is_caught_at_the_full_level(wrong, name):
    assert failing(check_task(getattr(wrong, name), "full", select="G")) == {FULL[name]}
    assert failing(check_task(getattr(wrong, name), "quick")) == set()


def test_frames_of_tasks_are_not_checked_where_no_package_draws_them(wrong, monkeypatch):
    monkeypatch.setenv("NGYM_BLOCK", "neurogym-plot")
    [result] = check_task(wrong.Right, "full", select=["G005"])
    assert (result.status, "neurogym-plot" in result.reason) == ("not applicable", True)


@pytest.mark.parametrize("name", MIXES_SUBJECTS)
def test_a_task_that_mixes_what_its_subjects_did_is_caught(wrong, name):
    results = check_task(getattr(wrong, name), "full", select="G")
    reason = next(result.reason for result in results if result.code == "G004")
    assert "'strength' of trial" in reason


def test_a_column_of_the_record_that_mixes_subjects_is_caught(wrong):
    results = check_task(wrong.RecordsAllSubjects, "full", select=["G004"])
    assert "'session.record(hits)' of trial" in results[0].reason


def test_periods_may_be_visited_twice_if_the_task_says_so(wrong):
    for task, failed in ((wrong.GoesBack, {"T001"}), (wrong.SaysThatItGoesBack, set())):
        assert failing(check_task(task, select="T")) == failed


@pytest.mark.parametrize("name", BY_FILE)
def test_a_task_that_another_process_plays_otherwise_is_caught(name):
    results = check_task(f"{HERE / 'wrong_tasks.py'}:{name}", select=["D", "S", "M005"])
    assert failing(results) == {BY_FILE[name]}


def test_a_chance_that_is_said_wrongly_is_caught(wrong):
    assert failing(check_task(wrong.Right, expected={"guess": 0.5})) == set()
    assert failing(check_task(wrong.Right, expected={"guess": 0.9})) == {"B002"}


@pytest.mark.parametrize("name", ["Right", "RightEnv", "RightClassic"])
def test_what_the_wrong_tasks_are_variants_of_is_right(wrong, name):
    assert failing(check_task(getattr(wrong, name), "quick")) == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Right", "RightEnv", "RightClassic"])
def test_what_the_wrong_tasks_are_variants_of_is_right_at_the_full_level(wrong, name):
    assert failing(check_task(f"{HERE / 'wrong_tasks.py'}:{name}", "full")) == set()


@pytest.mark.parametrize("name", ODD)
def test_odd_tasks_are_right(odd, name):
    expected = {"oracle_min": 0.0} if name in KNOWS_NOTHING_RIGHT else {}
    assert failing(check_task(getattr(odd, name), expected=expected)) == set()


def test_functions_of_a_single_file_read_parameters():
    task = f"{HERE / 'odd_tasks.py'}:ReadsInManyWays"
    assert failing(check_task(task, select=["T010"])) == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_odd_tasks_are_right_at_the_full_level(odd, name):
    expected = {"oracle_min": 0.0} if name in KNOWS_NOTHING_RIGHT else {}
    assert failing(check_task(getattr(odd, name), "full", expected=expected)) == set()


# ---------------------------------------------------------------------- packages

SOURCE = '''
"""The task of a package."""
from neurogym_core import Choice, Task

class Report(Task):
    """Report a side, after Nobody (2020), doi:10.1000/first."""

    timing = {"stimulus": 300, "decision": 200}

    def define(self):
        self.observe(stimulus=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("stimulus", "decision")
        trial.show("stimulus", trial["side"], during="stimulus")
        trial.answer("choose", trial["side"], during="decision")
'''
ROW = {"tags": '["decision-making"]', "expected": "{ guess = 0.5, oracle_min = 1.0 }"}
REFERENCE = '[[task.reference]]\ndoi = "{}"\nkind = "original"\n'


@pytest.fixture
def package(site):
    """Function that installs a package with the task Report-v0, and returns its id."""

    def install(
        source: str = SOURCE, value: str = "", reference: str = "10.1000/first", **row: str
    ) -> str:
        manifest = (
            "schema = 1\n" + site.row("Report-v0", **{**ROW, **row}) + REFERENCE.format(reference)
        )
        name = "neurogym-task-reports"
        site.add(name, tasks={"Report-v0": value}, files={"tasks.py": source}, manifest=manifest)
        return "reports/Report-v0"

    return install


def test_a_good_package_passes(package, site):
    task = package()
    assert failing(check_task(task)) == set()
    store(
        site.path / "neurogym_task_reports" / "digests.toml",
        {"Report-v0": digest_of(make_task(task))},
    )
    assert failing(check_task(task, "full", select=["M", "R"])) == set()


def test_an_entry_point_that_leads_to_no_task_is_caught(package):
    assert "M001" in failing(
        check_task(package(value="neurogym_task_reports.tasks:Choice"), select="M")
    )


def test_a_manifest_without_tags_is_caught(package):
    assert failing(check_task(package(tags="[]"), select="M")) == {"M002"}


def test_a_page_that_does_not_name_its_paper_is_caught(package):
    assert failing(check_task(package(reference="10.1000/second"), select="M")) == {"M003"}


def test_a_manifest_that_expects_nothing_is_caught(package):
    assert failing(check_task(package(expected="{ guess = 0.5 }"), select="M")) == {"M004"}


@pytest.mark.parametrize(
    ("row", "status"),
    [({}, "warning"), ({"instructions": '"Look. Then press."'}, "passed")],
)
def test_a_manifest_without_instructions_is_a_warning(package, row, status):
    (result,) = check_task(package(**row), "full", select=["M006"])
    assert (result.status, "`instructions`" in result.reason) == (status, not row)


@pytest.mark.parametrize(
    ("line", "effect"),
    [
        ("print('hello')", "printed 6 bytes"),
        ("import random; random.seed(1)", "Python's global random numbers"),
        ("import numpy; numpy.random.seed(1)", "NumPy's global random numbers"),
        (
            (
                "import threading, time; threading.Thread(target=time.sleep, args=(9,),"
                " daemon=True).start()"
            ),
            "a thread",
        ),
        ("import os; os.environ['A_NEW_ONE'] = '1'", "environment variables"),
        ("import tempfile; tempfile.TemporaryFile()", "for writing"),
        (
            (
                "import socket; socket.socket(socket.AF_INET,"
                " socket.SOCK_DGRAM).bind(('127.0.0.1', 0))"
            ),
            "the network",
        ),
    ],
)
def test_what_importing_does_besides_is_caught(package, line, effect):
    results = check_task(package(source=f"{SOURCE}\n{line}\n"), select="M")
    assert failing(results) == {"M005"}
    assert effect in next(result.reason for result in results if not result.ok)


# One task for each change of state that all code shares: {line at the top of its module: effect}.
SHARED_STATE = {
    "import numpy as np; np.mean = lambda *given: 0.0": "replaced numpy.mean",
    "import gymnasium; gymnasium.make = print": "replaced gymnasium.make",
    "import gymnasium; gymnasium.Env.close = lambda self: None": "gymnasium.core.Env.close",
    "import pluggy; pluggy.PluginManager.register = print": "PluginManager.register",
    "import builtins; builtins.print = repr": "replaced builtins.print",
    "import builtins; builtins.np = 1": "replaced builtins.np",
    "import neurogym_core; neurogym_core.Task.define = print": "Task.define",
    "import sys, random; sys.modules['random'] = sys": "replaced sys.modules['random']",
    "import warnings; warnings.simplefilter('ignore')": "filters of warnings",
    "import numpy as np; np.seterr(all='ignore')": "floating-point errors",
    "import numpy as np; np.set_printoptions(precision=2)": "how NumPy prints arrays",
    "import sys; sys.path.insert(0, '/somewhere')": "sys.path",
    "import sys; sys.meta_path.insert(0, object())": "finds modules",
    "import io, sys; sys.stdout = io.StringIO()": "sys.stdout",
    "import signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN)": "handler of a signal",
    "import locale; locale.setlocale(locale.LC_ALL, 'C.UTF-8')": "the locale",
    "import sys; sys.setrecursionlimit(4321)": "recursion limit",
    "import sys; sys.setswitchinterval(0.5)": "switch interval",
    "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))": "a resource limit",
    "import os; os.nice(3)": "the priority",
    "import os; os.umask(0o177)": "the umask",
    "import sys; sys.excepthook = print": "a hook of sys",
    "import atexit; atexit.register(print)": "atexit",
    "import gc; gc.disable()": "garbage collector",
    "import multiprocessing as m; m.set_start_method('spawn', force=True)": "start method",
    "import logging; logging.basicConfig(level=10)": "root logger",
    "import socket; socket.setdefaulttimeout(3)": "time-out of sockets",
    "import os; os.chdir('/')": "working directory",
}


@pytest.mark.slow
@pytest.mark.parametrize(("line", "effect"), SHARED_STATE.items(), ids=SHARED_STATE.values())
def test_an_import_that_changes_shared_state_is_caught_and_named(package, line, effect):
    results = check_task(package(source=f"{SOURCE}\n{line}\n"), select=["M005"])
    assert failing(results) == {"M005"}
    assert effect in next(result.reason for result in results if not result.ok)


def test_an_import_with_several_effects_is_refused_with_all_of_them(package):
    lines = "import gc, numpy, warnings; gc.disable(); numpy.mean = print\n"
    lines += "warnings.simplefilter('ignore')\n"
    results = check_task(package(source=SOURCE + lines), select=["M005"])
    (reason,) = [result.reason for result in results if not result.ok]
    for part in ("garbage collector", "replaced numpy.mean", "filters of warnings"):
        assert part in reason


def test_the_effects_of_a_library_are_not_those_of_the_task(package, site):
    site.add("lib", files={"__init__.py": "import warnings; warnings.simplefilter('ignore')\n"})
    assert failing(check_task(package(source=f"import lib\n{SOURCE}"), select=["M005"])) == set()


@pytest.mark.slow
def test_a_slow_import_is_a_warning(package):
    lines = "import time\ntime.sleep(2.2)\n"
    (result,) = check_task(package(source=SOURCE + lines), select=["M005"])
    assert result.ok
    assert "takes 2." in str(result.details)


@pytest.mark.slow
def test_an_import_that_takes_much_memory_is_a_warning(package):
    (result,) = check_task(
        package(source=f"{SOURCE}\nbytes_ = b'x' * 700_000_000\n"), select=["M005"]
    )
    assert result.ok
    assert "takes 0.7 GB of memory" in str(result.details)


def test_the_memory_of_the_process_that_starts_the_check_does_not_count():
    child = "from neurogym_check.global_state import peak_memory; print(peak_memory())"
    parent = (
        "import subprocess, sys; large = b'x' * 300_000_000;"
        f" print(subprocess.check_output([sys.executable, '-c', {child!r}], text=True))"
    )
    peak = subprocess.check_output([sys.executable, "-c", parent], text=True)
    assert 0 <= int(peak) < 250_000_000


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ('"choose", trial["side"]', '"choose", 1 - trial["side"]'),
        ('"decision": 200', '"decision": 300'),
        ('trial["side"], during="stimulus"', '0.999 * trial["side"], during="stimulus"'),
        ("Choice(2)", "Choice((0, 1, 1))"),
    ],
)
def test_a_task_that_changes_without_a_new_version_is_caught(package, site, changed, part):
    task = package()
    store(
        site.path / "neurogym_task_reports" / "digests.toml",
        {"Report-v0": digest_of(make_task(task))},
    )
    assert failing(check_task(task, select="R")) == set()
    _forget("neurogym_task_reports")
    package(source=SOURCE.replace(changed, part))
    assert failing(check_task(task, select=["R", "M"])) == {"R001"}


def _forget(package: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    refresh()


def test_a_task_without_a_stored_digest_is_caught(package):
    assert failing(check_task(package(), "full", select="R")) == {"R002"}


# ---------------------------------------------------------------------- the checks themselves


def test_every_check_says_its_rule_and_what_to_do():
    for one in all_checks():
        assert one.rule.endswith("."), one
        assert len(one.rule) > 20, one
        assert len(one.advice) > 40, one
