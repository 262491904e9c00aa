"""Stimuli for people: drawn from manifests and observations, never from answers."""

from __future__ import annotations

import colorsys
import gzip
import json
import re
import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import asked_hosts, past_warning, wait_for
from neurogym_play import views, write_experiment, write_page
from neurogym_play.plugin import ngym_check_task
from neurogym_play.views import FLASHES, checked_view, exact_observation, flashes, read_module
from replaying import KERNEL, node

from neurogym_core import Choice, InvalidValueError, OneHot, Task, make_task
from neurogym_core.players import Game
from neurogym_core.tools import describe, find_task, installed

DOTS = "perceptual/PerceptualDecisionMaking-v0"
CLICKS = "perceptual/PoissonClicks-v0"
TASKS = [task for package in installed().packages for task in package.tasks if task.usable]
VIEWED = [task.id for task in TASKS if task.view]
MOST_USED = (
    "cognition/Flanker-v0", "cognition/Stroop-v0", "ibl/IBLTwoChoice-v0", "value/DawTwoStep-v0",
    "memory/NBack-v1", "timing/ReadySetGo-v0", DOTS,
)  # fmt: skip
TWENTY = (
    "ContextDecisionMaking", "DelayComparison", "DelayMatchSample", "DelayPairedAssociation",
    "PerceptualDecisionMaking", "PerceptualDecisionMakingDelayResponse", "RoitmanShadlen",
    "PulseDecisionMaking", "PoissonClicks", "PostDecisionWager", "ReadySetGo", "GoNogo",
    "IntervalDiscrimination", "MultiSensoryIntegration", "EconomicDecisionMaking", "AntiReach",
    "DawTwoStep", "Bandit", "IBLTwoChoice", "StopSignal",
)  # fmt: skip
"""Twenty tasks that papers and teachers use most, in our judgement; without their versions."""
STIMULI = KERNEL.with_name("stimuli.js")
STAGE = Path(__file__).with_name("stage.mjs")


# ---------------------------------------------------------------------- drawn in Node


def observed(made: Task, steps: int = 400, trials: int = 40) -> list[tuple[Any, Any]]:
    """Observations that two subjects meet, as (without noise, with it); each picture once."""
    met: dict[bytes, tuple[Any, Any]] = {}
    for subject in ("oracle", "random"):
        game = Game(made, subject, None, seed=3, split="validation", params={})
        for _ in range(steps):
            exact, seen = exact_observation(game), game.observations[0].copy()
            met.setdefault((exact.round(1) + 0.0).tobytes(), (exact, seen))
            game.step()
            if game.played.count > trials:
                break
    return list(met.values())[:150]


def drawn(
    made: Task, view: dict[str, Any], rows: list[tuple[Any, Any]], **more: Any
) -> list[dict[str, Any]]:
    """Let the stage of the page draw observations; return the actions of its pen and the sounds."""
    given = {
        "stimuli": str(STIMULI),
        "view": view,
        "channels": describe(made)["channels"],
        "exact": [np.asarray(exact).tolist() for exact, _ in rows],
        "seen": [np.asarray(seen).tolist() for _, seen in rows],
        **more,
    }
    done = subprocess.run(
        [node(), str(STAGE)], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def different_pictures(task: str, leave_out: int | None = None) -> tuple[int, int]:
    """Numbers of different observations of a task, and of their pictures."""
    made = make_task(task)
    declared = dict(find_task(task).view)
    stimuli = list(declared["stimuli"])
    if leave_out is not None:
        del stimuli[leave_out]
    view = checked_view(made, {**declared, "stimuli": stimuli}).to_plain()
    rows = observed(made)
    return len(rows), len({one["picture"] for one in drawn(made, view, rows, frames=20)})


@pytest.mark.parametrize(
    "task",
    [
        *MOST_USED,
        *(pytest.param(one, marks=pytest.mark.slow) for one in VIEWED if one not in MOST_USED),
    ],
)
def test_different_observations_are_different_pictures(task: str) -> None:
    """A person has as much information as the network."""
    observations, pictures = different_pictures(task)
    assert observations == pictures


@pytest.mark.parametrize(
    ("task", "stimulus"), [("cognition/Flanker-v0", 2), ("cognition/Stroop-v0", 1)]
)
def test_a_view_that_leaves_a_channel_out_is_found(task: str, stimulus: int) -> None:
    observations, pictures = different_pictures(task, leave_out=stimulus)
    assert observations > pictures


@pytest.mark.parametrize("name", TWENTY)
def test_the_tasks_that_are_used_most_have_stimuli_and_instructions_of_two_sentences(
    name: str,
) -> None:
    found = [task for task in TASKS if task.name.rpartition("-v")[0] == name]
    assert found
    for task in found:
        assert task.view, task.id
        assert len(re.findall(r"[.!?](?:\s|$)", task.instructions)) == 2, task.instructions


@pytest.mark.parametrize("task", VIEWED)
def test_views_of_installed_tasks_draw_all_channels_and_flash_as_declared(task: str) -> None:
    made = make_task(task)
    view = checked_view(made, find_task(task).view)
    assert view.channels == set(made.channels)
    assert (flashes(made, view) > FLASHES) is view.flicker


@pytest.mark.parametrize(
    ("noise", "pictures"), [({}, 1), ({"noise": True}, 2)], ids=["without noise", "with noise"]
)
def test_noise_is_drawn_only_if_the_view_says_so(noise: dict[str, Any], pictures: int) -> None:
    made = make_task("perceptual/Detection-v0")
    stimuli = [{"draw": "symbol", "channel": "stimulus", **noise}]
    view = checked_view(made, {"stimuli": stimuli, "flicker": False})
    assert view.noiseless == (() if noise else ("stimulus",))
    rows = [([1, 0.5], [1, 0.4]), ([1, 0.5], [1, 0.7])]
    found = {one["picture"] for one in drawn(made, view.to_plain(), rows)}
    assert len(found) == pictures


def test_dots_move_as_the_channel_says() -> None:
    """At full coherence the mean dot goes to the right or to the left, without it nowhere."""
    made = make_task(DOTS)
    view = {"stimuli": [{"draw": "dots", "channel": "stimulus", "gain": 2}]}
    rows = [([1, 1, 0], [0, 0, 0]), ([1, 0, 1], [0, 0, 0]), ([1, 0.5, 0.5], [0, 0, 0])]
    shifts = []
    for one in drawn(made, view, rows, frames=3):
        text = one["picture"]
        corners = [line.split()[1].split(",") for line in text.splitlines() if "0.07,0.07" in line]
        places = np.array([[float(x) for x in corner[:2]] for corner in corners]).reshape(3, -1, 2)
        shift = places[2] - places[0]
        shifts.append(np.median(shift[np.abs(shift).max(axis=1) < 0.3], axis=0))
    assert shifts[0][0] == pytest.approx(3 * 0.032, abs=0.01)  # 3 units a second, 32 ms
    assert shifts[1][0] == pytest.approx(-3 * 0.032, abs=0.01)
    assert abs(shifts[2][0]) < 0.05


def test_clicks_and_tones_are_heard_on_their_side() -> None:
    made = make_task(CLICKS)
    view = checked_view(made, find_task(CLICKS).view).to_plain()
    rows = [([1, 0, 0], [1, 0, 0]), ([1, 2, 0], [1, 2, 0]), ([1, 1, 1], [1, 1, 1])]
    heard = [one["heard"] for one in drawn(made, view, rows)]
    assert heard == [[], ["-0.625 2 clicks"], ["-0.625 1 clicks", "0.625 1 clicks"]]


# ---------------------------------------------------------------------- refusals


class Sides(Task):
    """A light on one of two sides."""

    timing = {"light": 300, "decision": 300}

    def define(self) -> None:
        self.observe(fixation=1, light=OneHot(("left", "right")))
        self.act(rest=1, choose=("left", "right"))
        self.vary(side=Choice(2))
        self.correct_choice("side")

    def new_trial(self, trial: Any) -> None:
        trial.periods("light", "decision")
        trial.show("fixation", 1, during="light")
        trial.show("light", np.eye(2)[trial["side"]], during="light")
        trial.answer("choose", trial["side"], during="decision")


@pytest.mark.parametrize(
    ("stimulus", "said"),
    [
        ({"draw": "circel"}, "unknown drawing 'circel'"),
        ({"draw": "symbol", "channel": "side"}, "side', which is no channel. Known: "),
        ({"draw": "symbol", "channel": "target"}, "which is no channel"),
        ({"draw": "symbol", "channel": ["light"]}, "which is no channel"),
        ({"draw": "grating", "channel": "light", "moving": True}, "moving is for 2 places"),
        ({"draw": "symbol", "channel": "light", "condition": "side"}, "no setting 'condition'"),
        ({"draw": "symbol", "channel": "light", "colour_by": "side"}, "colour_by is 'side'"),
        ({"draw": "symbol", "channel": "light", "at": "left"}, "expected places"),
        ({"draw": "symbol", "channel": "light", "at": [[0, 0]] * 3}, "not for 3 places alike"),
        ({"draw": "symbol", "channel": "light", "symbols": "cat"}, "unknown symbol 'cat'"),
        ({"draw": "symbol", "channel": "light", "noise": True}, "shows one unit only"),
        ({"draw": "words", "channel": "light", "words": ["a", "b", "c"]}, "words has 3 entries"),
        ({"draw": "cross", "channel": "fixation", "size": 0}, "expected a number above 0"),
        (3, "expected a table with `draw`"),
        ({"channel": "light"}, "expected a table with `draw`"),
        ({"draw": "dots", "at": {"x": 1}}, "expected a table with `draw`"),
        ({"draw": "dots", "at": date(1979, 5, 27)}, "expected a table with `draw`"),
        ({"draw": "dots", "gain": np.nan}, "expected a table with `draw`"),
        ({"draw": "dots", "at": [[[[1]]]]}, "expected a table with `draw`"),
        ({"draw": "dots", "at": [1] * 201}, "lists of at most 200"),
        ({"draw": "words", "words": ["a\u0007"]}, "expected a table with `draw`"),
        ({"draw": "words", "words": ["a" * 101]}, "at most 100 letters"),
    ],
)
def test_a_stimulus_that_does_not_fit_is_refused(stimulus: Any, said: str) -> None:
    with pytest.raises(InvalidValueError, match=r"Correct `\[task\.view\]`") as error:
        checked_view(Sides(), {"stimuli": [stimulus], "flicker": False})
    assert said in str(error.value)


@pytest.mark.parametrize(
    "declared",
    [
        {"stimulus": 3},
        {"stimuli": 3},
        {"stimuli": []},
        {"stimuli": [{"draw": "dots"}] * 41},
        {"stimuli": [{"draw": "dots"}], "flicker": "yes"},
    ],
)
def test_a_view_of_another_form_is_refused(declared: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match="Expected stimuli, a list of 1 to 40 tables"):
        checked_view(Sides(), declared)


def test_a_view_that_does_not_fit_the_parameters_is_a_warning_and_lamps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Info:
        view = {"stimuli": [{"draw": "cross", "channel": "gone"}], "flicker": False}
        title = summary = instructions = ""

    monkeypatch.setattr("neurogym_play.views.find_task", lambda _: Info)
    with pytest.warns(UserWarning, match="shows a lamp for each input instead"):
        write_page(DOTS, tmp_path, 2)
    assert json.loads((tmp_path / "task.json").read_text("utf-8"))["view"] is None


GOOD = """// A ring for each unit.
export function draw(pen, values, { size }) {
  values.forEach((value) => { pen.beginPath(); pen.arc(0, 0, size * value, 0, 7); pen.stroke(); });
}
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Write a package with a drawing, and return the value of its entry point."""

    def made(text: str = GOOD) -> str:
        folder = tmp_path / "sites" / "ring_views"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").write_text("raise RuntimeError('imported')", "utf-8")
        (folder / "ring.js").write_text(text, "utf-8")
        monkeypatch.syspath_prepend(str(folder.parent))
        return "ring_views:ring.js"

    return made


def test_a_drawing_of_a_package_is_read_without_importing_it(package: Callable[..., str]) -> None:
    assert read_module("ring", package()) == GOOD


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD + "fetch('task.json')", "the word 'fetch'"),
        (GOOD + "import('./kernel.js')", "the word 'import'"),
        (GOOD + "const answer = globalThis.game.kernel.target", "the word 'globalThis'"),
        (GOOD + "const answer = game.kernel.target", "the word 'game'"),
        (GOOD + "const answer = (() => {}).constructor('return this')()", "'constructor'"),
        (GOOD + "const a = 'https://elsewhere.example/x'", "names an address"),
        (GOOD + "new Image().src = '//elsewhere.example/x'", "names an address"),
        (GOOD + " " * views.MOST_MODULE, "more than 65536 bytes"),
        ("const draw = 1;", "exports no function `draw`"),
    ],
)
def test_a_drawing_that_reaches_beyond_its_arguments_is_refused(
    package: Callable[..., str], text: str, said: str
) -> None:
    with pytest.raises(InvalidValueError, match="is refused") as error:
        read_module("ring", package(text))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ring", "ring_views:rong.js"),
        ("ring", "no_such_package:ring.js"),
        ("ring", "ring_views:ring.py"),
        ("../ring", "ring_views:ring.js"),
    ],
)
def test_a_drawing_that_is_not_there_is_refused(
    package: Callable[..., str], name: str, value: str
) -> None:
    package()
    with pytest.raises(InvalidValueError, match="is refused"):
        read_module(name, value)


class Spec:
    """As Gymnasium's, of a task by its id."""

    def __init__(self, task: str) -> None:
        self.id = task


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"flicker": False}, "flash 28 times a second; expected flicker = true"),
        ({"stimuli": [{"draw": "clicks", "channel": "clicks"}]}, "which is no channel"),
    ],
)
def test_the_kit_checks_the_view(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], said: str
) -> None:
    class Info:
        view = {**find_task(CLICKS).view, **change}

    monkeypatch.setattr("neurogym_core.tools.find_task", lambda _: Info, raising=False)
    (result,) = ngym_check_task(Spec(CLICKS)) or []
    assert result["code"] == "V001"
    assert result["status"] == ("failed" if said else "passed")
    assert said in result["reason"]


def test_tasks_without_a_view_are_not_checked() -> None:
    assert ngym_check_task(Spec("perceptual/ToneDetection-v0")) is None
    assert ngym_check_task(Spec("my_task.py:Mine")) is None


# ---------------------------------------------------------------------- instructions


@pytest.mark.parametrize(
    "package", [one for one in installed().packages if one.tasks], ids=lambda one: one.distribution
)
def test_every_installed_task_has_two_sentences_for_a_person(package: Any) -> None:
    wrong = [
        task.id
        for task in package.tasks
        if len(re.findall(r"[.?!](?=\s|$)", task.instructions)) != 2
        or not task.instructions.endswith(".")
    ]
    assert wrong == []


def light(colour: str) -> float:
    """Return the relative luminance of ``#rrggbb``, as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_colours_stand_out_from_the_stage() -> None:
    """All named colours, those in manifests and those of the wheel have a contrast of 3 or more."""
    text = STIMULI.read_text("utf-8")
    constants = dict(re.findall(r'(\w+) ?[=:] ?"(#[0-9a-f]{6})"', text))
    back = constants.pop("BACK")
    del constants["BLACK"]  # its outline is grey
    saturation, lightness = map(int, re.search(r"(\d+)% (\d+)%\)`;\nconst picked", text).groups())
    assert {"red", "green", "blue", "grey"} <= constants.keys()
    colours = {*constants.values(), "#dc9f62"}
    for angle in range(0, 360, 10):
        rgb = colorsys.hls_to_rgb(angle / 360, lightness / 100, saturation / 100)
        colours.add("#" + "".join(f"{round(255 * one):02x}" for one in rgb))
    declared = [one.get("colour", []) for task in TASKS for one in task.view.get("stimuli", ())]
    named = {name for one in declared for name in ([one] if isinstance(one, str) else one)}
    assert {name for name in named if name.startswith("#")} <= colours
    worst = {colour: (light(colour) + 0.05) / (light(back) + 0.05) for colour in colours}
    assert min(worst.values()) >= 3, worst


def test_the_stimuli_are_one_small_module() -> None:
    assert len(gzip.compress(STIMULI.read_bytes())) < 10_000


# ---------------------------------------------------------------------- in Chromium

PICTURE = """
    const done = arguments[0];
    (async () => {
      game.paused = true;
      while (game.kernel.period !== "stimulus") await game.kernel.step(game.trials.rest);
      game.rests = 0;
      game.show();
      const { stage } = game.view, shown = stage.now;
      for (const ms of [40, 80, 120]) stage.draw(shown + ms);
      done(document.querySelector("#lamps canvas").toDataURL());
    })();
"""


@pytest.mark.parametrize("cheats", [False, True])
def test_what_is_drawn_does_not_depend_on_the_answer(
    browser: Any, static: tuple[str, Path], cheats: bool
) -> None:
    """With answers, conditions and evidence changed, the picture is the same to the pixel; a view
    that reads the target is found."""
    address, folder = static
    pictures = []
    for other in (False, True):
        name = f"answers-{cheats}-{other}"
        made = write_page(DOTS, folder / name, 3, seed=1, conditions={"coherence": 51.2})
        if cheats:
            script = (made / "page.js").read_text("utf-8")
            former = "this.view.show(this.kernel.observe(), this.kernel.exact);"
            assert script.count(former) == 1
            pays = "this.kernel.table.reward(this.kernel.here)[1]"
            told = f"this.kernel.exact.map((x, i) => x + (i === 1) * 0.4 * {pays})"
            page = script.replace(former, f"this.view.show(this.kernel.observe(), {told});")
            (made / "page.js").write_text(page, "utf-8")
        page = json.loads((made / "task.json").read_text("utf-8"))
        if other:
            trials = page["trials"]
            trials["columns"]["direction"] = [1 - one for one in trials["columns"]["direction"]]
            trials["evidence"] = [-one for one in trials["evidence"]]
            for table in ("target", "reward", "outcome", "score"):
                rows = trials["segments"][table]["rows"]
                for row in rows if isinstance(rows[0], list) else []:
                    row[1:] = [one + 1 for one in row[1:]]
            (made / "task.json").write_text(json.dumps(page), "utf-8")
        browser.get(f"{address}/{name}/")
        past_warning(browser)
        browser.find_element("id", "begin").click()
        pictures.append(browser.execute_async_script(PICTURE))
    assert (pictures[0] == pictures[1]) is not cheats


def test_the_page_shows_instructions_and_stimuli_and_says_what_they_are(
    browser: Any, static: tuple[str, Path]
) -> None:
    address, folder = static
    write_page(DOTS, folder / "view-dots", 3)
    browser.get_log("browser")
    asked_hosts(browser)
    browser.get(f"{address}/view-dots/")
    assert past_warning(browser) is False
    assert browser.find_element("id", "instructions").text == find_task(DOTS).instructions
    assert browser.find_element("id", "seen").text == ""
    browser.find_element("id", "begin").click()
    said = browser.find_element("id", "caption").text
    assert said == "Stimuli, without the noise of the network's inputs (stimulus)"
    assert browser.find_elements("css selector", ".lamp") == []
    assert asked_hosts(browser) == {address.split("/")[2]}
    assert browser.get_log("browser") == []


def test_a_task_without_a_view_shows_lamps_and_says_so(
    browser: Any, static: tuple[str, Path]
) -> None:
    address, folder = static
    write_page("perceptual/ToneDetection-v0", folder / "view-none", 3)
    browser.get(f"{address}/view-none/")
    past_warning(browser)
    assert "inputs of the network" in browser.find_element("id", "seen").text
    browser.find_element("id", "begin").click()
    assert browser.find_element("id", "caption").text == "Inputs of the network"
    assert browser.find_elements("css selector", "canvas") == []


def test_flicker_is_announced_before_the_start_and_passed_with_the_keyboard(
    browser: Any, static: tuple[str, Path]
) -> None:
    from selenium.webdriver import ActionChains, Keys

    address, folder = static
    write_page(CLICKS, folder / "view-clicks", 3)
    browser.get(f"{address}/view-clicks/")
    wait_for(lambda: browser.find_element("id", "aware").is_displayed())
    assert "can flash" in browser.find_element("id", "flicker").text
    assert not browser.find_element("id", "begin").is_displayed()
    for key in (Keys.TAB, Keys.ENTER):
        ActionChains(browser).send_keys(key).perform()
    wait_for(lambda: browser.find_element("id", "begin").is_displayed())
    assert not browser.find_element("id", "flicker").is_displayed()


def test_a_channel_that_no_stimulus_shows_keeps_its_lamps(
    browser: Any, static: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Info:
        view = {"stimuli": [{"draw": "cross", "channel": "fixation"}], "flicker": False}
        title = summary = instructions = ""

    monkeypatch.setattr("neurogym_play.views.find_task", lambda _: Info)
    address, folder = static
    write_page(DOTS, folder / "view-part", 3)
    browser.get(f"{address}/view-part/")
    past_warning(browser)
    browser.find_element("id", "begin").click()
    channels = browser.find_elements("css selector", ".lamps .channel")
    assert [one.text.splitlines()[-1] for one in channels] == ["stimulus"]


@pytest.mark.parametrize("to", ["web", "jspsych"])
def test_a_drawing_of_a_package_is_a_file_of_the_page(
    browser: Any,
    static: tuple[str, Path],
    package: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    to: str,
) -> None:
    class Info:
        view = {"stimuli": [{"draw": "ring", "channel": "stimulus", "size": 2}], "flicker": False}
        title = summary = instructions = ""

    class Offer:
        name, value = "ring", package()

    monkeypatch.setattr("neurogym_play.views.find_task", lambda _: Info)
    monkeypatch.setattr("neurogym_play.views.offers_of", lambda _: [Offer])
    address, folder = static
    if to == "jspsych":
        made = write_experiment(DOTS, folder / "view-ring-study", 2)
        assert (made / "view-ring.js").read_text("utf-8") == GOOD
        return
    browser.get_log("browser")
    pictures = []
    for name, change in (("view-ring", "* value"), ("view-half", "* value * 0.5")):
        made = write_page(DOTS, folder / name, 3, seed=1)
        assert (made / "view-ring.js").read_text("utf-8") == GOOD
        (made / "view-ring.js").write_text(GOOD.replace("* value", change), "utf-8")
        browser.get(f"{address}/{name}/")
        past_warning(browser)
        browser.find_element("id", "begin").click()
        pictures.append(browser.execute_async_script(PICTURE))
    assert browser.get_log("browser") == []
    assert pictures[0] != pictures[1]
