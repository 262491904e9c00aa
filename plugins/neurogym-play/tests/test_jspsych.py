"""Experiments in jsPsych: their files, and a scripted person who plays them in a browser."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import asked_hosts, wait_for
from neurogym_play import write_experiment, write_page
from neurogym_play.page import KEPT

from neurogym_core import NotSupportedError, TrialRecord, make_task, run
from neurogym_core.tools import FileNotWrittenError, find_task

pytestmark = pytest.mark.filterwarnings("ignore:The shortest time for an answer")

DOTS = "perceptual/PerceptualDecisionMaking-v0"
QUICKLY = {"fixation": 100, "stimulus": 100, "decision": 150}
UNEVEN = {"fixation": 110, "stimulus": 130, "decision": 600}
"""No multiples of a frame."""
FRAME = 1000 / 60


# ---------------------------------------------------------------------- files


def test_an_experiment_names_no_host_and_pins_jspsych(tmp_path: Path) -> None:
    folder = write_experiment(DOTS, tmp_path / "a" / "study", 5, practice=2, seed=3)
    texts = [path.read_text("utf-8") for path in folder.iterdir() if path.suffix != ".f32"]
    allowed = "http://www.w3.org/2000/svg"  # a name, which is not fetched
    assert not any("://" in text.replace(allowed, "") for text in texts)
    needed = json.loads((folder / "package.json").read_text("utf-8"))["dependencies"]
    assert all(version[0].isdigit() for version in needed.values())
    page = (folder / "index.html").read_text("utf-8")
    assert all(f"node_modules/{name}/" in page for name in needed)
    assert json.loads((folder / "task.json").read_text("utf-8"))["practice"]["n_trials"] == 2


def test_files_that_a_laboratory_changes_are_kept(tmp_path: Path) -> None:
    write_experiment(DOTS, tmp_path, 5)
    for name in (*KEPT, "task.json", "trial.js"):
        (tmp_path / name).write_text("ours", "utf-8")
    write_experiment(DOTS, tmp_path, 6)
    assert {(tmp_path / name).read_text("utf-8") for name in KEPT} == {"ours"}
    assert json.loads((tmp_path / "task.json").read_text("utf-8"))["trials"]["n_trials"] == 6
    assert "NeurogymTrial" in (tmp_path / "trial.js").read_text("utf-8")


@pytest.mark.parametrize(
    ("write", "name"), [(write_page, "index.html"), (write_experiment, "package.json")]
)
def test_files_of_others_are_not_replaced(
    write: Callable[..., Path], name: str, tmp_path: Path
) -> None:
    theirs, precious = tmp_path / "theirs", tmp_path / "theirs" / name
    theirs.mkdir()
    precious.write_text("precious", "utf-8")
    with pytest.raises(FileNotWrittenError, match=f"not of an earlier export: {name}"):
        write(DOTS, theirs, 2)
    assert [path.name for path in theirs.iterdir()] == [name]
    assert precious.read_text("utf-8") == "precious"
    with pytest.raises(FileNotWrittenError, match="is a file"):
        write(DOTS, precious, 2)
    write(DOTS, tmp_path / "ours", 2)
    (tmp_path / "ours" / "notes.txt").write_text("kept", "utf-8")
    write(DOTS, tmp_path / "ours", 3)
    assert (tmp_path / "ours" / "notes.txt").exists()


@pytest.mark.parametrize("decision", [300, 1500])
def test_a_window_that_is_too_short_for_a_person_is_a_warning(
    decision: int, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    write_experiment(DOTS, tmp_path, 3, timing={"decision": decision})
    said = [str(one.message) for one in recwarn]
    assert any("300 ms, which is short for a person" in one for one in said) is (decision == 300)


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("value/LeverPress-v0", "runs code on every step"),
        ("control/StopSignal-v1", "after the outcome"),
    ],
)
@pytest.mark.parametrize("write", [write_experiment, write_page])
def test_tasks_that_are_no_tables_are_refused(
    write: Callable[..., Path], task: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(NotSupportedError, match=said):
        write(task, tmp_path)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------- a scripted person


@pytest.fixture(scope="session")
def jspsych(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder node_modules with the real jsPsych, of the versions that an experiment pins."""
    give_up = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
    if shutil.which("npm") is None:
        give_up("experiments are tested with the real jsPsych: install npm")
    folder = write_experiment(DOTS, tmp_path_factory.mktemp("jspsych"), 1)
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode:
        give_up(f"npm cannot install jsPsych: {done.stderr[-300:]}")
    return folder / "node_modules"


BRIEFLY = [
    ("experiment.js", "feedback: says }", "feedback: says, pause: 50 }"),
    ("experiment.js", "{ type: NeurogymFrames,", "{ type: NeurogymFrames, frames: 30,"),
]
"""A laboratory's changes, by which the tests take less time."""


@pytest.fixture
def study(
    jspsych: Path, static: tuple[str, Path], request: pytest.FixtureRequest
) -> Callable[..., str]:
    """Write an experiment on the web server, and return its address; `changes` are (file, former
    text, new text).
    """

    def made(task: Any, n: int, changes: Any = (), **settings: Any) -> str:
        address, root = static
        name = f"study{len(list(root.iterdir()))}"
        folder = write_experiment(task, root / name, n, **settings)
        (folder / "node_modules").symlink_to(jspsych)
        for file, former, new in (*BRIEFLY, *changes):
            text = (folder / file).read_text("utf-8")
            assert text.count(former) == 1, former
            (folder / file).write_text(text.replace(former, new), "utf-8")
        return f"{address}/{name}/"

    return made


PERSON = """
// Presses the key of the answer some ms after the window opens, and notes when.
window.pressed = [];
window.delays = arguments[0];
(function look() {
  const blocks = window.experiment?.blocks ?? [];
  const block = blocks.find(({ kernel }) => !kernel.done);
  if (!block) return requestAnimationFrame(look);
  const { kernel } = block, trial = `${block.practice}-${kernel.trial}`;
  if (document.getElementById("lamps") && kernel.isAsked && window.last !== trial) {
    window.last = trial;
    const key = (kernel.trial * 7) % 3 ? "ArrowRight" : "ArrowLeft", opened = performance.now();
    setTimeout(() => {
      window.pressed.push([performance.now(), block.practice, kernel.trial, key]);
      document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    }, window.delays[kernel.trial % window.delays.length]);
  }
  requestAnimationFrame(look);
})();
"""


def played(browser: Any, address: str, delays: list[float], seconds: float) -> list[dict]:
    """Play an experiment to its end, and return the rows of its data."""
    browser.get(f"{address}?subject=p1")

    def press_buttons() -> bool:
        return browser.execute_script(
            """
            const found = document.querySelectorAll("#experiment button:not(#controls button)");
            const buttons = [...found];
            const text = document.getElementById("experiment").textContent;
            if (document.getElementById("saved")?.textContent) return true;
            const wanted = /Please press the button “(\\w+)”/.exec(text)?.[1];
            const named = buttons.find((one) => one.textContent.trim() === wanted);
            (wanted ? named : buttons[0])?.click();
            return false;
            """
        )

    wait_for(lambda: browser.execute_script("return Boolean(window.experiment)"))
    browser.execute_script(PERSON, delays)
    wait_for(press_buttons, seconds)
    return json.loads(browser.execute_script("return experiment.jsPsych.data.get().json()"))


def of_kernel(made: Any, rows: list[dict], seed: int) -> TrialRecord:
    """Let the kernel of the core play the actions of the rows."""
    actions = iter([action for row in rows for action in json.loads(row["actions"])])
    return run(made, lambda env, seen: np.array([next(actions)]), len(rows), num_envs=1, seed=seed)


def compare(made: Any, rows: list[dict], pressed: list, n: int, seed: int) -> None:
    """Fail if the rows are other than the `n` trials that the person played, by the kernel."""
    assert [row["trial"] for row in rows] == list(range(n))
    record = of_kernel(made, rows, seed)
    for name, column in record.items():
        if name == "subject":
            continue  # of the participant
        for row, value in zip(rows, column.tolist(), strict=True):
            said = np.nan if row[name] is None else row[name]
            assert said == value or (said != said and value != value), (name, row["trial"])
    asked = {"ArrowRight": "right", "ArrowLeft": "left"}
    opened = {row["trial"]: json.loads(row["onsets"]) for row in rows}
    ends = {
        row["trial"]: row["shown_at"] + opened[row["trial"]][-1][2] + made.timing["decision"].value
        for row in rows
    }
    # Where the page stands still, the timer of the scripted person rings after the window.
    keys = {trial: key for at, practice, trial, key in pressed if not practice and at < ends[trial]}
    choices = [asked[keys[trial]] if trial in keys else "none" for trial in range(n)]
    assert [row["choice"] for row in rows] == choices
    # A page that stands still for a whole response window, on a busy machine, gets no key.
    rows = [row for row in rows if row["trial"] in keys]
    assert len(rows) >= 0.95 * n
    late = []
    for row in rows:
        # The clock goes on while frames are missing, and pictures come with the next one.
        longest = max(row["longest_frame"], FRAME) + 1
        errors = [at - nominal for _, nominal, at in json.loads(row["onsets"])]
        assert all(-FRAME <= error <= longest for error in errors)
        # The event acts at the end of the step at its time; half a frame may be played before.
        _, nominal, at = json.loads(row["onsets"])[-1]
        later = row["reaction_time"] - (row["rt"] + at - nominal)
        assert -0.5 <= later <= made.dt + longest / 2
        late += errors
    times = {trial: at for at, practice, trial, _ in pressed if not practice}
    errors = [
        times[row["trial"]] - (row["shown_at"] + opened[row["trial"]][-1][2]) - row["rt"]
        for row in rows
    ]
    assert np.percentile(np.abs(errors), 90) <= FRAME
    print(f"{len(rows)} trials, {sum(row['dropped_frames'] for row in rows)} frames dropped")
    longer = [row["reaction_time"] - row["rt"] for row in rows]
    for name, ms in (("onsets", late), ("rt", errors), ("reaction_time beside rt", longer)):
        quantiles = np.percentile(ms, (2.5, 50, 97.5)).round(1)
        print(f"error of {name}, ms: mean {np.mean(ms):.1f}, SD {np.std(ms):.1f}, {quantiles}")


CASES = [
    pytest.param(DOTS, {"timing": QUICKLY, "dt": 10}, 5, id="short"),
    pytest.param(
        DOTS, {"timing": UNEVEN, "dt": 10}, 200, id="long",
        marks=pytest.mark.slow,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("task", "settings", "n"), CASES)
def test_the_data_are_what_a_person_did_and_what_the_kernel_makes_of_it(
    browser: Any, study: Callable[..., str], tmp_path: Path, task: str, settings: Any, n: int
) -> None:
    made = make_task(task, **settings)
    address = study(task, n, seed=5, practice=1, **settings)
    delays = [40.0, 75.0, 110.0]
    asked_hosts(browser)
    rows = played(browser, address, delays, 30 + 2.5 * n)
    assert asked_hosts(browser) == {address.split("/")[2]}
    trials = [row for row in rows if row["trial_type"] == "neurogym-trial"]
    assert [row["practice"] for row in trials] == [True] + [False] * n
    checks = [row for row in rows if row.get("check") == "attention"]
    assert len(checks) == (n - 1) // 50
    assert all(row["passed"] for row in checks)
    pressed = browser.execute_script("return pressed")
    compare(made, trials[1:], pressed, n, seed=5)
    studied = pytest.importorskip("neurogym_records")
    (tmp_path / "p1.json").write_text(json.dumps(rows), "utf-8")
    record = studied.read_record(tmp_path / "p1.json", "neurogym-jspsych")
    expected = of_kernel(made, trials[1:], 5)
    for column in set(expected.columns) - {"subject"}:
        np.testing.assert_array_equal(record[column], expected[column], column)
        assert (record[column].dtype.kind == "b") == (expected[column].dtype.kind == "b")
    assert set(record["subject"]) == {"p1"}
    behaviour = pytest.importorskip("neurogym_behaviour")
    of_both = [behaviour.Behaviour(one).conditions for one in (record, expected)]
    assert of_both[0] == of_both[1]


CHEATS = {
    "pictures of the next frame but one": (
        "trial.js",
        "steps * dt, now - start]",
        "steps * dt, now - start + 2 * frame]",
    ),
    "a trial that is not recorded": (
        "experiment.js",
        "pause: 50 }",
        "pause: 50, record_data: k !== 4 }",
    ),
    "late keys": (
        "trial.js",
        "rt = answeredAt - openedAt;",
        "rt = answeredAt - openedAt + 60;",
    ),
    "keys that act in the first step of a frame": (
        "trial.js",
        "answeredAt > start + (steps + 1) * dt &&",
        "false &&",
    ),
    "the row of the trial before": (
        "trial.js",
        "const row = kernel.rows.at(-1);",
        "const row = kernel.rows.at(kernel.trial > 3 ? -2 : -1);",
    ),
    "choices swapped": (
        "trial.js",
        "...row, rt,",
        "...row, choice: row.choice === 'left' ? 'right' : 'left', rt,",
    ),
    "other actions": (
        "trial.js",
        "JSON.stringify(actions)",
        "JSON.stringify(actions.map((one) => (one === 1 ? 2 : one)))",
    ),
}
"""Changes (file, former text, new text) by which the data are wrong."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CHEATS)
def test_a_wrong_plugin_is_found(browser: Any, study: Callable[..., str], name: str) -> None:
    settings: dict[str, Any] = {"timing": QUICKLY, "dt": 10}
    made = make_task(DOTS, **settings)
    address = study(DOTS, 12, [CHEATS[name]], seed=5, **settings)
    rows = played(browser, address, [40.0, 75.0], 60)
    trials = [row for row in rows if row["trial_type"] == "neurogym-trial"]
    with pytest.raises(AssertionError):
        compare(made, trials, browser.execute_script("return pressed"), 12, seed=5)


@pytest.mark.parametrize(
    ("task", "warned"),
    [
        (DOTS, ""),
        ("cognition/AttentionalBlink-v0", "The stimuli can flash 5 times a second."),
        ("memory/GradedComparison-v0", "The lamps can change 10 times a second."),
    ],
)
def test_flicker_is_announced_before_the_instructions(
    browser: Any, study: Callable[..., str], task: str, warned: str
) -> None:
    """The pages of the experiment until the keys, whose instructions are those of the manifest."""
    browser.get(study(task, 1))
    wait_for(lambda: browser.execute_script("return Boolean(window.experiment)"))
    pages: list[str] = []

    def reached_the_keys() -> bool:
        pages.append(
            browser.execute_script("""
                const experiment = document.getElementById("experiment");
                const said = experiment.innerText;
                if (!said.includes("Keys")) experiment.querySelector("button")?.click();
                return said;
            """)
        )
        return "Keys" in pages[-1]

    wait_for(reached_the_keys)
    assert find_task(task).instructions in pages[-1]
    said = " ".join(pages[:-1])
    assert ("Flickering lights" in said) is bool(warned)
    assert warned in said


def test_without_jspsych_the_page_says_what_to_do(browser: Any, static: tuple[str, Path]) -> None:
    address, root = static
    write_experiment(DOTS, root / "bare", 2)
    browser.get(f"{address}/bare/")
    wait_for(lambda: "Run npm install" in browser.find_element("id", "problem").text)


def test_who_does_not_agree_plays_no_trial(browser: Any, study: Callable[..., str]) -> None:
    browser.get(study(DOTS, 2))
    wait_for(
        lambda: (
            browser.execute_script("return document.querySelectorAll('.jspsych-btn').length") == 2
        )
    )
    browser.execute_script("document.querySelectorAll('.jspsych-btn')[1].click()")
    wait_for(lambda: "You did not agree" in browser.find_element("id", "experiment").text)
    rows = json.loads(browser.execute_script("return experiment.jsPsych.data.get().json()"))
    assert [row["trial_type"] for row in rows] == ["html-button-response"]


AXE = Path(os.environ.get("NGYM_AXE", Path(__file__).parents[3] / ".venv/axe-core/axe.min.js"))


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("broken", [False, True])
def test_an_experiment_can_be_read_by_everybody(
    browser: Any, study: Callable[..., str], theme: str, broken: bool
) -> None:
    """axe finds nothing in consent, instructions and trial, and a text without contrast."""
    if not AXE.is_file():
        reason = "pages are checked with axe-core, which `make test-site` gets"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    changes = [("page.css", "color: var(--text);", "color: #777;")] if broken else []
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(study(DOTS, 2, changes))
    run_axe = (
        f"{AXE.read_text('utf-8')}; axe.run().then(({{violations}}) => arguments[0](violations))"
    )
    found = []
    for shown, button in (("Consent", "I agree"), ("Continue", "Continue"), ("Keys", "Begin")):
        text = "return document.getElementById('experiment').textContent"
        wait_for(lambda text=text, shown=shown: shown in browser.execute_script(text))
        found += browser.execute_async_script(run_axe)
        browser.execute_script(
            "[...document.querySelectorAll('#experiment button')]"
            ".find((one) => one.textContent.trim() === arguments[0]).click()",
            button,
        )
    wait_for(lambda: browser.execute_script("return Boolean(document.getElementById('lamps'))"))
    found += browser.execute_async_script(run_axe)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert {each["id"] for each in found} == ({"color-contrast"} if broken else set())
