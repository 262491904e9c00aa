"""Hooks: separate plug-ins, failures with names, no import before the first call."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest
from sites import call_ngym

from neurogym_core import (
    Task,
    UnknownNameError,
    UnknownTaskError,
    make,
    make_task,
)
from neurogym_core.ecosystem import hooks
from neurogym_core.errors import PluginError
from neurogym_core.tools import find_task

HEAD = "from neurogym_core import hookimpl\n"
SAYS = HEAD + "@hookimpl\ndef ngym_checkup(packages):\n    return '{name}'\n"


class Nothing(Task):
    """A task with nothing to report."""

    def define(self):
        self.observe(light=1)
        self.act(rest=1)

    def new_trial(self, trial):
        trial.periods("wait", wait=100)


@pytest.fixture
def add(site):
    """Install a plug-in with this source."""

    def install(name: str, source: str, names: tuple[str, ...] = ("hooks",), **fields: object):
        value = f"{name.replace('-', '_')}.plugin"
        site.add(
            name,
            files={"plugin.py": source},
            groups={"neurogym.plugins": dict.fromkeys(names, value)},
            **fields,
        )

    return install


def said() -> list[str]:
    """The answers of all plug-ins, in the order of the calls."""
    asked = hooks.ask_plugins("ngym_checkup", packages=())
    return [answer for _, answers in asked for answer in answers]


def failures() -> list[hooks.PluginFailureError]:
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        return hooks.plugins("ngym_checkup").failures


def test_every_plugin_answers_in_turn(add) -> None:
    add("aaa", SAYS.format(name="a"))
    add("bbb", HEAD + "@hookimpl\ndef ngym_checkup():\n    return None\n")
    add("ccc", SAYS.format(name="c"))
    assert said() == ["a", "c"]


def test_pluggy_s_own_order_is_kept(add) -> None:
    add("aaa", SAYS.format(name="a"))
    add("bbb", SAYS.format(name="b").replace("@hookimpl", "@hookimpl(tryfirst=True)"))
    assert said() == ["b", "a"]


def test_plugins_are_not_imported_before_a_hook_is_called(add) -> None:
    add("aaa", SAYS.format(name="a"))
    assert "aaa.plugin" not in sys.modules
    assert not hooks.has_hook("ngym_render")
    assert "aaa.plugin" in sys.modules


@pytest.mark.parametrize(
    ("source", "phase", "reason"),
    [
        ("import nothing_of_this_name", "import", "ModuleNotFoundError"),
        ("import sys; sys.exit(1)", "import", "SystemExit: 1"),
        (
            HEAD + "@hookimpl\ndef ngym_checkups(packages): pass",
            "hooks",
            "Did you mean 'ngym_checkup'?",
        ),
        (HEAD + "@hookimpl\ndef ngym_checkup(packages, speck): pass", "register", "speck"),
        ("x = 1", "hooks", "implements no hook"),
    ],
)
def test_a_plugin_that_fails_is_kept_as_a_failure_and_the_others_work(
    add, source: str, phase: str, reason: str
) -> None:
    add("aaa", SAYS.format(name="a"))
    add("bad", source)
    add("zzz", SAYS.format(name="z"))
    with pytest.warns(
        RuntimeWarning, match=r"of bad 1\.0 failed .*NGYM_BLOCK=bad.*python -m pip uninstall bad"
    ):
        assert said() == ["a", "z"]
    (failure,) = failures()
    assert (failure.distribution, failure.version, failure.phase) == ("bad", "1.0", phase)
    assert reason in str(failure)


def test_a_plugin_with_one_unknown_hook_is_not_used_at_all(add) -> None:
    add("bad", SAYS.format(name="bad") + "@hookimpl\ndef ngym_step(env): pass\n")
    assert failures()
    assert said() == []


def test_an_optional_hook_of_a_later_core_is_allowed(add) -> None:
    add(
        "aaa",
        SAYS.format(name="a") + "@hookimpl(optionalhook=True)\ndef ngym_of_the_future(x): pass\n",
    )
    assert said() == ["a"]


def test_an_incompatible_plugin_is_not_imported(add) -> None:
    add("new", "raise SystemExit", requires=["neurogym-core>=2"])
    assert [failure.phase for failure in failures()] == ["compatibility"]
    assert "new.plugin" not in sys.modules


def test_when_strict_a_plugin_that_cannot_be_loaded_is_an_error(add, monkeypatch) -> None:
    add("bad", "raise ValueError")
    monkeypatch.setenv("NGYM_STRICT", "1")
    with (
        pytest.warns(RuntimeWarning),
        pytest.raises(PluginError, match=r"NGYM_STRICT is set[^$]*bad 1\.0"),
    ):
        said()


@pytest.mark.parametrize(
    ("variable", "value"), [("NGYM_DISABLE_PLUGIN_AUTOLOAD", "1"), ("NGYM_BLOCK", "aaa")]
)
def test_plugins_can_be_switched_off(add, monkeypatch, variable: str, value: str) -> None:
    add("aaa", "raise SystemExit")
    monkeypatch.setenv(variable, value)
    assert said() == []
    assert hooks.plugins("ngym_checkup").failures == []
    assert "aaa.plugin" not in sys.modules


def test_make_loads_plugins_for_a_render_mode_only(add) -> None:
    add("aaa", f"{HEAD}raise SystemExit\n")
    make(Nothing)
    assert "aaa.plugin" not in sys.modules
    with pytest.warns(RuntimeWarning, match="of aaa 1.0 failed"):
        make(Nothing, render_mode="rgb_array")


def test_a_plugin_named_after_a_hook_is_imported_for_this_hook_only(add) -> None:
    source = SAYS.format(name="a") + "@hookimpl\ndef ngym_listed(name): return name\n"
    add("aaa", source, ("ngym_listed", "ngym_unknown_name"))
    add("bbb", SAYS.format(name="b"), ("ngym_checkup",))
    assert said() == ["b"]
    assert "aaa.plugin" not in sys.modules
    asked = hooks.ask_plugins("ngym_listed", name="x", offline=True, form="page")
    assert [answers for _, answers in asked] == [["x"]]
    with pytest.warns(RuntimeWarning, match="it does not implement ngym_unknown_name"):
        assert hooks.ask("ngym_unknown_name", kind="env", name="x", known=()) is None


def test_a_blocked_package_runs_no_hooks(add, monkeypatch) -> None:
    add("aaa", SAYS.format(name="a"))
    monkeypatch.setenv("NGYM_BLOCK", "aaa")
    assert hooks.plugins("ngym_checkup").manager.get_plugins() == set()
    assert "aaa.plugin" not in sys.modules
    monkeypatch.delenv("NGYM_BLOCK")
    assert len(hooks.plugins("ngym_checkup").manager.get_plugins()) == 1


def test_a_switch_set_to_zero_is_off(add, monkeypatch) -> None:
    add("aaa", SAYS.format(name="a"))
    monkeypatch.setenv("NGYM_DISABLE_PLUGIN_AUTOLOAD", "0")
    assert said() == ["a"]


def test_each_plugin_reports_its_own_checks(add) -> None:
    add("aaa", HEAD + "@hookimpl\ndef ngym_check_task(spec): return f'fine {spec}'")
    add("bad", HEAD + "@hookimpl\ndef ngym_check_task(spec): raise SystemExit")
    found = hooks.plugins("ngym_check_task")
    calls = {offer.distribution: call for offer, call in found.implementing()}
    assert calls["aaa"](spec="s") == ["fine s"]
    with pytest.raises(hooks.PluginFailureError) as caught:
        calls["bad"](spec="s")
    assert caught.value.phase == "ngym_check_task"


REGISTRY = (
    HEAD
    + """
from neurogym_core import DiscoveryError

@hookimpl
def ngym_listed(name):
    if name == "broken":
        raise DiscoveryError("There are two.")
    if name == "worse":
        raise SystemExit
    if name == "Far-v0":
        print("far/Far-v0")
    return name == "Far-v0"

@hookimpl
def ngym_unknown_name(kind, name):
    if name in ("broken", "worse"):
        ngym_listed(name)
    if kind == "task" and name.endswith("Far-v0"):
        return "its package neurogym-task-far is not installed. Install it: `ngym install it`."
    return "Did you mean 'far/Far-v0'?" if kind == "similar task" and name == "Faar-v0" else None
"""
)


@pytest.fixture
def known(add):
    """A package that knows a registry with one task."""
    add("knows", REGISTRY)


def test_plugins_print_what_could_be_installed(known) -> None:
    result = call_ngym("info", "Far-v0")
    assert (result.exit_code, result.stdout) == (0, "far/Far-v0\n")
    result = call_ngym("info", "Near-v0")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "Unknown task 'Near-v0'" in result.stderr
    assert hooks.has_hook("ngym_listed")
    assert not hooks.has_hook("ngym_render")


def test_an_unknown_task_in_a_registry_names_the_package_to_install(known) -> None:
    for name in ("Far-v0", "far/Far-v0"):
        with pytest.raises(UnknownTaskError, match="`ngym install it`"):
            find_task(name)
    with pytest.raises(UnknownTaskError, match="Did you mean 'far/Far-v0'"):
        find_task("Faar-v0")


@pytest.mark.parametrize("name", ["broken", "worse", "nothing"])
def test_a_registry_that_fails_does_not_hide_that_a_task_is_unknown(known, name: str) -> None:
    with pytest.raises(UnknownTaskError, match="Unknown task"):
        find_task(name)


def test_a_plugin_that_fails_does_not_replace_the_error_about_a_parameter(add) -> None:
    add("aaa", HEAD + "@hookimpl\ndef ngym_unknown_name(kind): raise RuntimeError('broken')\n")
    with pytest.raises(UnknownNameError, match="Unknown parameter 'cohs'"):
        make_task(Nothing, cohs=[0])


def test_answers_about_names_are_passed_on_and_failures_name_the_package(known) -> None:
    assert "Error: There are two." in call_ngym("info", "broken").stderr
    said = " ".join(call_ngym("info", "worse").stderr.split())
    assert "Note: Plug-in 'hooks' of knows 1.0 failed (phase: ngym_listed)" in said
    assert "Unknown task 'worse'" in said


def test_the_first_plugin_with_an_answer_gives_it(add) -> None:
    add("aaa", HEAD + "@hookimpl\ndef ngym_unknown_name(kind): return None\n")
    add("bbb", HEAD + "@hookimpl\ndef ngym_unknown_name(kind): return f'b {kind}'\n")
    add("ccc", HEAD + "@hookimpl\ndef ngym_unknown_name(kind): return 'c'\n")
    assert hooks.ask("ngym_unknown_name", kind="env", name="x", known=()) == "b env"
    assert hooks.ask("ngym_read_experiment", path="x") is None


def test_a_first_make_imports_no_plugin_of_this_project() -> None:
    code = (
        "import sys; from neurogym_core import make; make('GoNogo-v0');"
        " print('pluggy' in sys.modules, *(name for name in sys.modules"
        " if name.partition('.')[0] in ('neurogym_training', 'neurogym_behaviour',"
        " 'neurogym_registry', 'neurogym_plot', 'neurogym_classic')))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.split() == ["False"], result.stderr


def test_every_hook_is_described() -> None:
    assert hooks.HOOKS[:3] == ("ngym_render", "ngym_check_task", "ngym_checkup")
    assert all(getattr(hooks.Hooks, name).__doc__ for name in hooks.HOOKS)
