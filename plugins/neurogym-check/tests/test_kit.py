"""The conformance kit without its checks: selection, excuses, results, plug-ins, pytest."""

from __future__ import annotations

import json

import numpy as np
import pytest
from neurogym_check import CheckFailedError, check_task, checks_for, parametrize_with_checks
from neurogym_check.candidate import expanded
from neurogym_check.digest import agree, changes, digest_of, store, stored
from neurogym_check.run_checks import all_checks

from neurogym_core import InvalidValueError, UnknownNameError, UnknownTaskError

SOURCE = '''
from neurogym_core import Choice, Task

class Report(Task):
    """Report a side."""

    def define(self):
        self.observe(light=1)
        self.act(rest=1, choose=2)
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial):
        trial.periods("light", "decision", light=300, decision=200)
        trial.show("light", trial["side"], during="light")
        trial.answer("choose", trial["side"], during="decision")
'''

CHECKS = """
from neurogym_core import hookimpl

@hookimpl
def ngym_check_task(spec):
    {body}
"""


def by_code(results) -> dict:
    return {result.code: result for result in results}


# ---------------------------------------------------------------------- choosing


def test_codes_and_letters_of_families_choose(wrong):
    results = check_task(wrong.Right, select=["T001", "R"])
    assert [result.code for result in results] == ["T001", "R001"]


def test_the_full_level_has_all_checks_and_the_quick_one_fewer(wrong):
    quick, full = (set(by_code(check_task(wrong.RightEnv, level))) for level in ("quick", "full"))
    assert quick < full == {one.code for one in all_checks()}


def test_families_come_in_their_order():
    letters = [one.code[0] for one in all_checks()]
    assert "".join(dict.fromkeys(letters)) == "MGDSTBAR"


@pytest.mark.parametrize("name", ["Right", "RightEnv", "RightClassic"])
def test_checks_for_are_those_that_have_something_to_say(wrong, name):
    applicable = {one.code for one in checks_for(getattr(wrong, name))}
    results = by_code(check_task(getattr(wrong, name)))
    assert not [
        code
        for code in results
        if code not in applicable and results[code].status != "not applicable"
    ]
    assert {"G001", "D001", "S001"} <= applicable
    assert ("T002" in applicable) == (name == "Right")
    assert ("T008" in applicable) == (name != "RightEnv")


def test_what_does_not_exist_is_an_error_that_names_the_nearest(wrong):
    with pytest.raises(UnknownNameError, match="T00"):
        check_task(wrong.Right, select=["T0001"])
    with pytest.raises(UnknownNameError, match="D00"):
        check_task(wrong.RightEnv, select=["D"], expected_failures={"D0001": "because"})
    with pytest.raises(InvalidValueError, match="quick"):
        check_task(wrong.Right, "thorough")
    with pytest.raises(UnknownTaskError):
        check_task("NoSuchTask-v0")


# ---------------------------------------------------------------------- excuses


def test_an_excuse_holds_for_a_check_that_fails_and_is_taken_back_for_one_that_passes(wrong):
    results = by_code(
        check_task(
            wrong.CannotBeCopied, expected_failures={"D002": "it is recorded", "D001": "no reason"}
        )
    )
    assert results["D002"].status == "expected failure"
    assert results["D002"].reason.startswith("it is recorded (deepcopy of the env fails")
    assert results["D002"].ok
    assert results["D001"].status == "unexpected pass"
    assert not results["D001"].ok
    assert "Remove it from the list" in results["D001"].reason


# ---------------------------------------------------------------------- results


def test_a_failure_says_what_was_found_and_what_to_do_and_is_json(wrong):
    result = by_code(check_task(wrong.CountsInSteps, select=["T002"]))["T002"]
    assert "Period 'stimulus' lasts" in result.reason
    assert "Durations are in ms everywhere" in result.advice
    assert result.advice in str(result)
    row = json.loads(json.dumps(result.to_plain()))
    assert (row["task"], row["code"], row["family"], row["status"]) == (
        "CountsInSteps",
        "T002",
        "trials",
        "failed",
    )


def test_what_a_task_does_never_ends_the_kit(wrong):
    class Quits(wrong.RightEnv):
        def step(self, action):
            raise SystemExit("enough")

    results = by_code(check_task(Quits))
    assert results["G000"].status == "failed"
    assert "enough" in results["G000"].reason
    assert {result.status for code, result in results.items() if code != "G000"} == {
        "not applicable"
    }


def test_progress_hears_of_every_check(wrong):
    heard = []
    results = check_task(wrong.RightEnv, progress=heard.append)
    assert heard == [result.code for result in results]


def test_progress_hears_of_the_parts_of_a_long_check(wrong):
    heard = []
    check_task(wrong.Right, select=["A001"], progress=heard.append)
    assert {"A001", "A001 clock", "A001 classifiers"} <= set(heard)


# ---------------------------------------------------------------------- plug-ins


@pytest.fixture
def with_plugin(site):
    """Function that installs a task and a plug-in with this body, and returns the task's id."""

    def install(body: str) -> str:
        site.add(
            "neurogym-task-reports",
            tasks={"Report-v0": ""},
            files={"tasks.py": SOURCE},
            manifest="schema = 1\n" + site.row("Report-v0"),
        )
        plugins = {"neurogym.plugins": {"lab": "lab_checks.hooks"}}
        site.add("lab-checks", groups=plugins, files={"hooks.py": CHECKS.format(body=body)})
        return "reports/Report-v0"

    return install


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("return {'code': 'L001', 'passed': True}", "passed", ""),
        (
            "return [{'code': 'L001', 'passed': False, 'reason': spec.id, 'advice': 'x'}]",
            "failed",
            "reports/Report-v0",
        ),
        (
            "return {'code': 'L001', 'status': 'not applicable', 'reason': 'no'}",
            "not applicable",
            "no",
        ),
    ],
)
def test_a_plugin_adds_checks(with_plugin, body, status, reason):
    result = by_code(check_task(with_plugin(body), select=["L001"]))["L001"]
    assert (result.status, result.reason, result.family) == (status, reason, "lab-checks")


def test_checks_of_plugins_can_be_excused_and_selected(with_plugin):
    task = with_plugin("return {'code': 'L001', 'passed': False, 'reason': 'no'}")
    assert (
        by_code(check_task(task, expected_failures={"L001": "why not"}, select=["L001"]))[
            "L001"
        ].status
        == "expected failure"
    )
    assert [result.code for result in check_task(task, select=["L001"])] == ["L001"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('broken')", "broken"),
        ("return 3", "returned 3"),
        ("return {'code': 'T001', 'passed': True}", "another letter"),
    ],
)
def test_a_plugin_that_fails_is_a_failed_check_that_names_it(with_plugin, body, said):
    result = by_code(check_task(with_plugin(body), select=["P000"]))["P000"]
    assert result.status == "failed"
    assert said in result.reason
    assert "lab-checks" in result.reason


# ---------------------------------------------------------------------- packages and folders


def test_a_package_is_all_of_its_tasks_and_a_folder_the_package_in_it(site, tmp_path):
    site.add("neurogym-task-reports", tasks={"A-v0": "", "B-v0": ""}, files={"tasks.py": SOURCE})
    ids = ["reports/A-v0", "reports/B-v0"]
    assert (
        expanded("reports")
        == expanded("neurogym-task-reports")
        == expanded("neurogym_task_reports")
        == ids
    )
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "neurogym-task-reports"\n', "utf-8")
    assert expanded(str(folder)) == ids


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "pyproject.toml"), ('[project]\nname = "nowhere"\n', "pip install -e")],
)
def test_a_folder_that_holds_no_installed_package_says_what_to_do(site, tmp_path, text, said):
    folder = tmp_path / "sources"
    folder.mkdir()
    if text is not None:
        (folder / "pyproject.toml").write_text(text, "utf-8")
    with pytest.raises(UnknownTaskError, match=said):
        expanded(str(folder))


# ---------------------------------------------------------------------- pytest


def _parameters(decorator) -> list:
    return list(decorator.args[1])


def test_there_is_a_test_for_every_task_and_check(wrong):
    parameters = _parameters(
        parametrize_with_checks([wrong.Right, wrong.RightEnv], expected_failures={"D002": "so"})
    )
    assert len(parameters) == 2 * len(all_checks("quick"))
    assert parameters[0].id == "Right-M001"
    marked = [parameter.id for parameter in parameters if parameter.marks]
    assert marked == ["Right-D002", "RightEnv-D002"]


def test_excuses_may_be_for_one_task(wrong):
    excuses = {"RightEnv": {"D002": "so"}}
    parameters = _parameters(
        parametrize_with_checks([wrong.Right, wrong.RightEnv], expected_failures=excuses)
    )
    assert [parameter.id for parameter in parameters if parameter.marks] == ["RightEnv-D002"]


def test_a_test_raises_the_reason_and_the_advice(wrong):
    parameters = {
        one.id: one.values for one in _parameters(parametrize_with_checks(wrong.CountsInSteps))
    }
    task, check = parameters["CountsInSteps-T002"]
    with pytest.raises(
        CheckFailedError, match=r"CountsInSteps: T002 failed: .*\n.*Durations are in ms"
    ):
        check(task)
    task, check = parameters["CountsInSteps-T003"]
    assert check(task).status == "passed"


def test_nothing_to_test_is_an_error():
    with pytest.raises(ValueError, match="no task"):
        parametrize_with_checks([])


# ---------------------------------------------------------------------- digests


def test_a_digest_does_not_depend_on_the_instance_or_on_the_process(wrong):
    assert digest_of(wrong.Right()) == digest_of(wrong.Right())


def test_a_digest_of_a_task_that_reads_outcomes_does_not_depend_on_numpys_random_numbers(
    odd, monkeypatch
):
    before = digest_of(odd.CountsHits())
    task, other = odd.CountsHits(), np.random.PCG64
    monkeypatch.setattr(np.random, "SFC64", lambda seed: other(seed))
    assert digest_of(task) == before


def test_a_digest_tells_which_part_has_changed(wrong, odd):
    right = digest_of(wrong.Right())
    assert set(right) == {"declared", "trials"}
    assert set(digest_of(odd.InBlocks())) == {"declared", "trials", "session"}
    assert set(digest_of(odd.Tracks())) == {"declared", "trials", "steps"}
    assert changes(right, digest_of(wrong.Right(timing={"stimulus": 600}))) == [
        "declared",
        "trials",
    ]
    assert changes(right, digest_of(wrong.ShowsTooEarly())) == ["trials"]
    assert changes(right, digest_of(wrong.Right(sigma=1.001))) == ["declared", "trials"]


def test_the_last_bits_of_a_number_do_not_count_and_others_do():
    assert agree("0123456789abcdef 12.345678", "0123456789abcdef 12.345679")
    assert not agree("0123456789abcdef 12.345678", "0123456789abcdef 12.345778")
    assert not agree("0123456789abcdef 12.345678", "0123456789abcdee 12.345678")


def test_stored_digests_are_added_to_and_replaced_only_by_force(tmp_path):
    path = tmp_path / "digests.toml"
    one, other = (
        {"declared": "0123456789abcdef 1.000000"},
        {"declared": "0123456789abcdef 2.000000"},
    )
    assert stored(path) == {}
    assert store(path, {"A-v0": one}) == ["A-v0"]
    assert store(path, {"A-v0": one, "B-v0": one}) == ["B-v0"]
    with pytest.raises(InvalidValueError, match=r"A-v0.*new version"):
        store(path, {"A-v0": other})
    assert stored(path) == {"A-v0": one, "B-v0": one}
    assert store(path, {"A-v0": other}, force=True) == ["A-v0"]
    assert stored(path)["A-v0"] == other


@pytest.mark.parametrize("text", ["not toml", '["A-v0"]\ndeclared = "12"\n'])
def test_a_file_that_holds_no_digests_is_an_error(tmp_path, text):
    path = tmp_path / "digests.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidValueError, match=r"digests\.toml"):
        stored(path)
