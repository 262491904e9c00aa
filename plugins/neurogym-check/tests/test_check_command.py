"""``ngym check``: a report, advice on failures, JSON, exit codes, digests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from neurogym_check.run_checks import all_checks

SOURCE = '''
from neurogym_core import Choice, Task

print("imported")

class Report(Task):
    """Report a side."""

    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("fixation", "light", "decision", fixation=200, light=300, decision=200)
        trial.show("light", trial["side"], during={where})
        trial.answer("choose", trial["side"], during="decision")
'''
GOOD, LEAKY = SOURCE.format(where='"light"'), SOURCE.format(where='("fixation", "light")')


@pytest.fixture
def file(tmp_path):
    """Function that writes a file with a task, and returns its name on the command line."""

    def write(source: str) -> str:
        path = Path(tmp_path) / "report.py"
        path.write_text(source, "utf-8")
        return f"{path}:Report"

    return write


@pytest.fixture
def package(site):
    """Install a package with two tasks."""

    def install(source: str = GOOD) -> str:
        value = "neurogym_task_reports.tasks:Report"
        manifest = "schema = 1\n" + site.row("A-v0") + site.row("B-v0")
        site.add(
            "neurogym-task-reports",
            tasks={"A-v0": value, "B-v0": value},
            files={"tasks.py": source},
            manifest=manifest,
        )
        return "neurogym-task-reports"

    return install


def test_a_right_task_ends_with_0_and_a_line_for_every_check(ngym, file):
    result = ngym("check", file(GOOD), "--select", "T", "--select", "B005")
    assert result.exit_code == 0
    codes = [line.split()[0] for line in result.stdout.splitlines() if line.startswith("  ")]
    assert codes == ["code", *(f"T{k:03}" for k in range(1, 14)), "B005"]
    assert "All 13 checks of 1 task passed." in result.stdout


def test_a_failure_ends_with_1_and_says_what_to_do(ngym, file):
    result = ngym("check", file(LEAKY), "--select", "B005")
    assert result.exit_code == 1
    assert "rule: Observations during fixation, and its duration" in result.stdout
    assert "found: Observations during fixation reveal the correct answer" in result.stdout
    assert "what to do: The check looks at" in result.stdout
    assert "1 check of 1 task failed, 0 passed." in result.stdout


def test_an_excuse_makes_it_end_with_0(ngym, file):
    result = ngym("check", file(LEAKY), "--select", "B005", "--expected-failure", "B005=on purpose")
    assert result.exit_code == 0
    assert "on purpose" in result.stdout
    unneeded = ngym(
        "check", file(GOOD), "--select", "B005", "--expected-failure", "B005=on purpose"
    )
    assert unneeded.exit_code == 1
    assert "unexpected pass" in unneeded.stdout


def test_json_is_all_that_is_printed(ngym, file):
    result = ngym("check", file(LEAKY), "--select", "T001", "--select", "B005", "--json")
    assert result.exit_code == 1
    rows = json.loads(result.stdout)
    assert [(row["code"], row["status"]) for row in rows] == [
        ("T001", "passed"),
        ("B005", "failed"),
    ]
    assert rows[1]["details"]["correlation"] > 0.9


def test_a_package_has_a_line_for_every_task(ngym, package):
    result = ngym("check", package(), "--select", "T")
    lines = [line.split() for line in result.stdout.splitlines() if "/" in line]
    assert result.exit_code == 0
    assert [line[:2] for line in lines] == [["reports/A-v0", "12"], ["reports/B-v0", "12"]]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--level", "slow"),
        ("--force", "x"),
        ("--expected-failure", "B005", "x"),
        ("--select", "T0001"),
        ("--shortcuts", "--select", "A001"),
        ("--shortcuts", "--level", "full"),
        ("--write-digests", "--expected-failure", "B005=no"),
    ],
)
def test_wrong_usage_ends_with_2(ngym, file, arguments):
    named = [file(GOOD) if argument == "x" else argument for argument in arguments]
    named += [file(GOOD)] if arguments and "x" not in arguments else []
    assert ngym("check", *named).exit_code == 2


def test_an_unknown_task_ends_with_1(ngym):
    result = ngym("check", "NoSuchTask-v0")
    assert result.exit_code == 1
    assert "Unknown task 'NoSuchTask-v0'" in result.stderr


def test_the_list_has_every_check_with_its_advice(ngym):
    result = ngym("check", "--list")
    for one in all_checks():
        assert one.code in result.stdout
        assert one.rule in result.stdout
        assert one.advice in result.stdout
    assert [row["code"] for row in json.loads(ngym("check", "--list", "--json").stdout)] == [
        one.code for one in all_checks()
    ]


def test_digests_are_written_kept_and_replaced_by_force(ngym, package, site):
    name = package()
    path = site.path / "neurogym_task_reports" / "digests.toml"
    assert "2 written, 0 unchanged" in ngym("check", name, "--write-digests").stdout
    assert "0 written, 2 unchanged" in ngym("check", name, "--write-digests").stdout
    before = path.read_text("utf-8")
    path.write_text(_changed(before), "utf-8")
    refused = ngym("check", name, "--write-digests")
    assert refused.exit_code == 1
    assert "A-v0" in refused.stderr
    refused = ngym("check", name, "--select", "R001")
    assert refused.exit_code == 1
    said = refused.stdout  # authors meet this first, before there is anything to publish
    assert 0 < said.index("--force") < said.index("new version")
    assert "1 written, 1 unchanged" in ngym("check", name, "--write-digests", "--force").stdout
    assert ngym("check", name, "--select", "R001").exit_code == 0


def _changed(text: str) -> str:
    """Return the text with another digest of the first task."""
    first = text.index('"', text.index("trials")) + 1
    return f"{text[:first]}{'1' if text[first] == '0' else '0'}{text[first + 1 :]}"


def test_a_file_has_no_digest(ngym, file):
    assert "only an installed Task has one" in ngym("check", file(GOOD), "--write-digests").stdout


def test_tasks_and_packages_are_completed_but_no_wrappers(ngym, site) -> None:
    site.add("neurogym-task-foo", tasks={"Report-v0": ""})
    found = {}
    for word in ("Rep", "neurogym-task", "React"):
        given = {"COMP_WORDS": f"ngym check {word}", "COMP_CWORD": "2"}
        found[word] = ngym(_NGYM_COMPLETE="bash_complete", **given).stdout.splitlines()
    assert found["Rep"] == ["plain,Report-v0"]
    assert found["neurogym-task"] == ["plain,neurogym-task-foo"]
    assert found["React"] == ["file,React"]
