"""``ngym info``: fields of the manifest, and a description of the class from another process."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from neurogym_core import child as child_process
from neurogym_core.cli import info
from neurogym_core.tools import comes_with

ROW = {
    "title": '"Random dots"',
    "tags": '["perceptual"]',
    "species": '["monkey"]',
    "aliases": '["RDM-v0"]',
    "expected": "{oracle_min = 0.9}",
    "shortcuts": "{oracle = 1.0, clock = [0.12, 0.1, 0.14], without.cue = [0.75, 0.7, 0.8]}",
    "ideal": '{value = 0.86, by = "exact", how = "the argument"}',
    "reference": (
        "[{doi = '10.1523/JNEUROSCI.12-12-04745.1992', authors = 'Britten, K. H. and Shadlen, M.',"
        " year = 1992}]"
    ),
}
DESCRIPTION = {
    "docstring": "Report the direction.\n\n    Indented [red]text[/red].",
    "parameters": [{"name": "coherences", "type": "tuple", "default": [0, 6.4], "doc": "percent"}],
    "channels": [{"name": "fixation", "start": 0, "stop": 1, "kind": "Scalar"}],
    "actions": [{"name": "choose", "size": 2, "kind": "ring"}],
    "periods": [
        {"name": "fixation", "duration": 300},
        {"name": "stimulus", "duration": {"uniform": [500, 1500]}},
        {"name": "delay", "duration": "computed"},
    ],
    "conditions": [{"name": "direction", "distribution": {"choice": [0, 1]}}],
    "rewards": {"abort": -0.1, "correct": 1.0},
    "dt": 100,
    "supervised": True,
    "trials_per_session": 100,
    "unheard_of": object,
}


@pytest.fixture(autouse=True)
def task(site) -> None:
    site.add("neurogym-task-foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0", **ROW))


@pytest.fixture
def described(monkeypatch):
    """Replace the description of every class by the given one."""

    def use(description: object) -> None:
        monkeypatch.setattr(info, "_describe", lambda name, entry: (description, None))

    use({key: value for key, value in DESCRIPTION.items() if key != "unheard_of"})
    return use


def words(text: str) -> str:
    return " ".join(text.split())


POKE = '''
from math import inf
from neurogym_core import Task

class Poke(Task):
    """Start a trial with a poke."""

    timing = {"wait": inf, "stimulus": 500}
    supervised = False

    def define(self):
        self.observe(light=1)
        self.act(rest=1, poke=1)

    def new_trial(self, trial):
        trial.periods("wait", "stimulus", "leave", leave=inf)
        trial.show("light", 1, during="stimulus")
        trial.offer("poke", 0, during="wait", then="stimulus")
        trial.offer("poke", 1, during="leave", slot="leave")
'''


class TestTask:
    def test_shortcuts_are_quoted_with_intervals_beside_chance_and_ideal(self, ngym) -> None:
        said = words(ngym("info", "Dots-v0", COLUMNS="200").stdout)
        assert "without cue: 75 % (70 to 80)" in said
        assert "chance a clock: 12 % (10 to 14)" in said
        assert "ideal 86.0 % (exact: the argument)" in said
        row = json.loads(ngym("info", "Dots-v0", "--json").stdout)
        assert row["shortcuts"]["clock"] == 0.12
        assert row["intervals"]["clock"] == [0.1, 0.14]

    def test_manifest_and_class_are_shown_together(self, ngym) -> None:
        result = ngym("info", "Dots-v0")
        assert result.exit_code == 0, result.output
        for part in (
            "foo/Dots-v0",
            "Random dots",
            "neurogym-task-foo 1.0",
            "perceptual",
            "monkey",
            "RDM-v0",
            "oracle, at least  0.9",
            "without cue: 75 % (70 to 80); a clock: 12 % (10 to 14)",
        ):
            assert part in result.stdout
        assert (
            "Britten & Shadlen (1992). https://doi.org/10.1523/JNEUROSCI.12-12-04745.1992"
            in words(result.stdout)
        )
        assert "A task that does nothing." in result.stdout
        assert "delay int 500" in words(result.stdout)

    def test_the_class_is_imported_only_in_another_process(self, ngym, site) -> None:
        source = "import os, builtins\nbuiltins.ngym_canary = True\nclass Dots:\n    'Doc.'\n"
        site.add("bar", tasks={"Canary-v0": "bar.bad:Dots"}, files={"bad.py": source})
        import builtins

        assert "Doc." in ngym("info", "Canary-v0").stdout
        assert not hasattr(builtins, "ngym_canary")

    @pytest.mark.parametrize(
        ("source", "said"),
        [
            ("raise ValueError('no')", "ValueError: no"),
            ("import os; os._exit(7)", "ended the process with exit code 7"),
            ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "was killed by signal 15"),
            ("import sys; sys.exit()", "SystemExit"),
        ],
    )
    def test_a_broken_class_leaves_the_manifest_part_and_exit_code_1(
        self, ngym, site, source: str, said: str
    ) -> None:
        site.add(
            "bar",
            tasks={"Bad-v0": "bar.bad:Bad"},
            files={"bad.py": source},
            manifest=site.row("Bad-v0", title='"Good title"'),
        )
        result = ngym("info", "Bad-v0")
        assert result.exit_code == 1
        assert "Good title" in result.stdout
        assert said in words(result.stdout)
        assert "`python -m pip uninstall bar`" in words(result.stdout)

    def test_output_of_a_class_does_not_spoil_the_json(self, ngym, site) -> None:
        source = "import os\nprint('{}')\nos.write(1, b'raw')\nclass Loud: 'Doc.'"
        site.add("bar", tasks={"Loud-v0": "bar.loud:Loud"}, files={"loud.py": source})
        assert (
            json.loads(ngym("info", "Loud-v0", "--json").stdout)["description"]["docstring"]
            == "Doc."
        )

    def test_json_holds_both_parts(self, ngym) -> None:
        row = json.loads(ngym("info", "Dots-v0", "--json").stdout)
        assert (row["id"], row["kind"], row["title"], row["package"]) == (
            "foo/Dots-v0",
            "task",
            "Random dots",
            "neurogym-task-foo",
        )
        assert row["references"][0]["year"] == 1992
        assert row["description"]["parameters"] == [
            {"name": "delay", "type": "int", "doc": "", "default": 500}
        ]
        assert row["failure"] is None

    def test_an_incompatible_task_is_not_imported(self, ngym, site, tmp_path: Path) -> None:
        source = f"open({str(tmp_path / 'canary')!r}, 'w')"
        site.add(
            "new",
            tasks={"New-v0": ""},
            requires=["neurogym-core>=2"],
            files={"__init__.py": source},
        )
        result = ngym("info", "New-v0")
        assert result.exit_code == 1
        assert "needs neurogym-core>=2" in words(result.stdout)
        assert not (tmp_path / "canary").exists()

    def test_an_old_or_wrong_name_is_answered_with_the_right_one(self, ngym) -> None:
        assert "is now 'foo/Dots-v0'" in words(ngym("info", "RDM-v0").stderr)
        assert "Did you mean 'Dots-v0'?" in words(ngym("info", "Dotz-v0").stderr)
        assert "Did you mean 'neurogym-task-foo'?" in words(ngym("info", "neurogym-task-fo").stderr)

    def test_periods_that_repeat_are_named(self, ngym, tmp_path: Path) -> None:
        loop = POKE.replace("leave=inf)", 'leave=inf, repeat="wait")')
        (tmp_path / "poke.py").write_text(loop)
        shown = ngym("info", f"{tmp_path / 'poke.py'}:Poke")
        assert "A trial may visit several times: wait." in shown.stdout

    def test_a_period_without_a_timer_lasts_until_an_action(self, ngym, tmp_path: Path) -> None:
        (tmp_path / "poke.py").write_text(POKE)
        shown = ngym("info", f"{tmp_path / 'poke.py'}:Poke")
        assert shown.exit_code == 0, shown.output
        assert [
            line.split()[:4] for line in shown.stdout.splitlines() if "until an action" in line
        ] == [
            ["wait", "until", "an", "action"],
            ["leave", "until", "an", "action"],
        ]
        printed = ngym("info", f"{tmp_path / 'poke.py'}:Poke", "--json")
        found = json.loads(printed.stdout, parse_constant=pytest.fail)
        durations = [period["duration"] for period in found["description"]["periods"]]
        assert durations == ["until an action", 500, "until an action"]
        assert [period["typical"] for period in found["description"]["periods"]] == [
            None,
            500,
            None,
        ]

    def test_a_task_in_a_file_needs_no_package(self, ngym, tmp_path: Path) -> None:
        path = tmp_path / "my_task.py"
        path.write_text("class MyTask:\n    'Mine.'\n    def __init__(self, n: int = 3): pass\n")
        result = ngym("info", f"{path}:MyTask")
        assert result.exit_code == 0, result.output
        assert "Mine." in result.stdout
        assert ngym("info", f"{path}:Other").exit_code == 1


class TestDescription:
    def test_every_key_has_its_place(self, ngym, described) -> None:
        text = words(ngym("info", "Dots-v0").stdout)
        for part in (
            "coherences tuple [0, 6.4] percent",
            "fixation 0 1 Scalar",
            "choose 2 ring",
            "direction choice(0, 1)",
        ):
            assert part in text
        for part in (
            "abort -0.1 correct 1",
            "step 100 ms supervised yes trials per session 100",
            "uniform(500, 1500) ms",
        ):
            assert part in text
        assert "Indented [red]text[/red]." in text

    def test_at_40_columns_nothing_is_cut(self, ngym, described) -> None:
        text = ngym("info", "Dots-v0", COLUMNS="40").stdout
        assert max(map(len, text.splitlines())) <= 40
        assert "percent" in text
        assert "10.1523/JNEUROSCI.12-12-04745.1992" in text.replace("\n", "").replace(" ", "")

    def test_on_an_ascii_terminal_the_timeline_is_drawn_in_ascii(self, ngym, described) -> None:
        result = ngym("info", "Dots-v0", charset="ascii")
        assert result.exit_code == 0
        assert "###" in result.stdout

    @pytest.mark.parametrize(
        "description",
        [
            {
                "periods": 3,
                "parameters": "x",
                "rewards": [],
                "docstring": None,
                "dt": {},
                "supervised": [],
            },
            {
                "periods": [3, {}],
                "parameters": [{}, 3],
                "channels": [{"name": {"a": [None]}}],
                "conditions": {},
            },
            {
                "periods": [{"name": "a\x1b[2J", "duration": {"choice": [[1, 2], [0.5, 0.5]]}}],
                "rewards": {"\x1b": None},
            },
        ],
    )
    def test_a_description_of_another_form_is_not_trusted(
        self, ngym, described, description: dict
    ) -> None:
        described(description)
        result = ngym("info", "Dots-v0")
        assert result.exit_code == 0, result.exception
        assert "\x1b" not in result.stdout


class TestOthers:
    def test_a_wrapper_is_known_in_both_spellings(self, ngym, site) -> None:
        source = (
            "class LeftBias:\n    'Makes sides unequal.'\n    def __init__(self, task, p: float ="
            " 0.5): pass\n"
        )
        site.add(
            "bar",
            files={"wrap.py": source},
            groups={"neurogym.wrappers": {"LeftBias": "bar.wrap:LeftBias"}},
        )
        for name in ("LeftBias", "left_bias", "x-bar/LeftBias"):
            assert "Makes sides unequal." in ngym("info", name).stdout

    @pytest.mark.parametrize("name", ["TrialHistory", "wrappers/trial_history", "ScheduleAttr"])
    def test_a_wrapper_of_a_missing_package_is_answered_with_the_package(
        self, ngym, name: str
    ) -> None:
        line = comes_with(name, "neurogym-wrappers")
        result = ngym("info", name, "--offline")
        assert (result.exit_code, result.stderr.strip()) == (1, f"Error: {line}")

    def test_the_core_alone_lists_its_five_wrappers(self, ngym) -> None:
        rows = json.loads(ngym("list", "--wrappers", "--json").stdout)
        assert {row["id"] for row in rows} == {
            "core/ReactionTime",
            "core/Noise",
            "core/PassAction",
            "core/PassReward",
            "core/RecordTrials",
        }

    @pytest.mark.parametrize("name", ["neurogym-task-foo", "foo", "Neurogym_Task_Foo"])
    def test_a_package_is_shown_without_running_its_code(self, ngym, site, name: str) -> None:
        result = ngym("info", name)
        assert result.exit_code == 0
        for part in (
            "neurogym-task-foo 1.0",
            ">=1.0,<2",
            "Dots-v0",
            "python -m pip uninstall neurogym-task-foo",
        ):
            assert part in result.stdout

    def test_a_package_as_json(self, ngym) -> None:
        row = json.loads(ngym("info", "foo", "--json").stdout)
        assert (row["package"], row["offers"]["tasks"], row["compatible"]) == (
            "neurogym-task-foo",
            ["Dots-v0"],
            True,
        )


class TestBibtex:
    def test_a_reference_with_author_and_year(self, ngym) -> None:
        lines = ngym("info", "Dots-v0", "--bibtex").stdout.splitlines()
        assert lines[0] == "@article{Britten1992,"
        assert "  doi = {10.1523/JNEUROSCI.12-12-04745.1992}," in lines
        assert "  author = {Britten, K. H. and Shadlen, M.}," in lines
        assert lines[-1] == "}"

    def test_a_reference_with_a_doi_only(self, ngym) -> None:
        assert (
            "@article{doi_10_1523_JNEUROSCI_22_21_09475_2002,"
            in ngym("info", "ReactionTime", "--bibtex").stdout
        )

    def test_braces_cannot_end_the_entry(self, ngym, site) -> None:
        reference = "[{doi = '10.1000/x', title = 'a} @comment{ \\input'}]"
        site.add("bar", tasks={"New-v0": ""}, manifest=site.row("New-v0", reference=reference))
        assert r"title = {a\} @comment\{ input}," in ngym("info", "New-v0", "--bibtex").stdout

    def test_missing_references_and_manifests_are_reported(self, ngym, tmp_path) -> None:
        assert ngym("info", "Noise", "--bibtex").exit_code == 1
        assert ngym("info", "my_task.py:X", "--bibtex").exit_code == 2


class TestChild:
    def test_a_child_that_hangs_is_stopped_with_all_it_started(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        pid_file = tmp_path / "pid"
        script = tmp_path / "hanging.py"
        script.write_text(
            "import subprocess, sys, time\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
            f"open({str(pid_file)!r}, 'w').write(str(child.pid))\n"
            "time.sleep(600)\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        start = time.monotonic()
        child = child_process.run_child("hanging", [], 2.0)
        assert child.timed_out
        assert time.monotonic() - start < 20
        assert child.ending == "did not finish in time"
        assert not _alive(int(pid_file.read_text()))

    def test_every_answer_restarts_the_time_limit(self, tmp_path: Path, monkeypatch) -> None:
        (tmp_path / "slow_but_alive.py").write_text(
            "import time\nfor i in range(6):\n    time.sleep(0.5); print(i, flush=True)"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        child = child_process.run_child("slow_but_alive", [], 2.0)
        assert not child.timed_out
        assert child.values == (0, 1, 2, 3, 4, 5)

    def test_no_answer_restarts_the_total_time(self, tmp_path: Path, monkeypatch) -> None:
        (tmp_path / "answering.py").write_text(
            "import time\nwhile True:\n    time.sleep(0.1); print(1, flush=True)"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        start = time.monotonic()
        child = child_process.run_child("answering", [], 60.0, total=2.0)
        assert child.timed_out
        assert time.monotonic() - start < 20

    def test_only_so_many_bytes_of_answers_are_read(self, tmp_path: Path, monkeypatch) -> None:
        (tmp_path / "talking.py").write_text("for i in range(100): print(10)")
        monkeypatch.syspath_prepend(str(tmp_path))
        assert child_process.run_child("talking", [], most=30).values == (10,) * 10

    def test_stdin_is_empty(self, tmp_path: Path, monkeypatch) -> None:
        (tmp_path / "asking.py").write_text("input()")
        monkeypatch.syspath_prepend(str(tmp_path))
        assert "EOFError" in child_process.run_child("asking", [], 20.0).errors


def _alive(pid: int) -> bool:
    """Return whether a process runs; a process that ended may remain as a zombie."""
    for _ in range(50):
        try:
            os.kill(pid, 0)
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return False
        except OSError:
            return False
        time.sleep(0.1)
    return True


def test_an_unknown_name_names_the_package_that_searches_registries(ngym, site) -> None:
    result = ngym("info", "Far-v0")
    assert result.exit_code == 1
    text = " ".join(result.stderr.split())
    assert "Unknown task 'Far-v0'" in text
    assert comes_with("ngym registry", "neurogym-registry") in text


def test_a_class_without_docstring_has_no_description():
    from neurogym_core import Task
    from neurogym_core.tools import describe

    class Bare(Task):
        def define(self):
            self.observe(light=1)
            self.act(rest=1, press=1)

        def new_trial(self, trial):
            trial.periods("light", light=300)
            trial.answer("press", 0, during="light")

    class Said(Bare):
        """Press when there is light."""

    class Heir(Said):
        pass

    assert [describe(one())["docstring"] for one in (Bare, Said, Heir)] == [
        "",
        "Press when there is light.",
        "Press when there is light.",
    ]
