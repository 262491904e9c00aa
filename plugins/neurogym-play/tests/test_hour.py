"""A person's hour: tasks of many kinds, played with keys, from the command to the report.

`ngym play` runs as a process, Chromium shows its page, and a script presses keys as a person does:
where an answer is open, some time after it opened. The record is read by `ngym evaluate`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browsing import asked_hosts, past_warning, wait_for

FILES = Path(__file__).with_name("files")
NGYM = Path(sys.executable).with_name("ngym")

PERSON = """
const [wrong, done] = arguments;
const keys = game.controls.keys, { rest, labels } = game.trials;
/** The key of an action: each key is tried on a copy of the game's input. */
const keyOf = (action) => {
  const { pending, paused, rests } = game;
  for (const [name, act] of keys) {
    Object.assign(game, { pending: undefined, paused: false, rests: 0 });
    act();
    const found = game.pending === action;
    Object.assign(game, { pending, paused, rests });
    if (found) return name;
  }
};
const answers = ({ log }) => (log ? log.answers.reduce((sum, n) => sum + n, 0) : 0);
let last = "";
(function look() {
  if (!game.running) return done(game.kernel.rows);
  const { kernel } = game, open = `${kernel.trial}-${answers(kernel)}`;
  game.rests = Math.min(game.rests, 20);
  if (kernel.isAsked && game.rests <= 0 && open !== last) {
    last = open;
    let action = kernel.target ?? 1;
    const others = labels.map((_, i) => i).filter((i) => i !== rest && i !== action);
    if (action !== rest && wrong.includes(kernel.trial) && others.length) action = others[0];
    const key = action === rest ? undefined : keyOf(action);
    if (key !== undefined) setTimeout(() => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      dispatchEvent(new KeyboardEvent("keyup", { key }));
    }, 60);
  }
  requestAnimationFrame(look);
})();
"""
"""Answers where a response window opens; the choice is another in the trials of `wrong`."""


@contextmanager
def command(*words: Any) -> Iterator[str]:
    """Run `ngym play`; yield the address of its page, and wait for its end."""
    line = [NGYM, "play", *map(str, words), "--no-browser"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        said = done.stdout.readline()
        found = re.search(r"http://\S+", said)
        if not found:
            done.kill()
            pytest.fail(said + done.stderr.read())
        try:
            yield found[0]
            assert done.wait(20) == 0
        finally:
            done.kill()


def play(browser: Any, address: str, wrong: list[int], clock: str) -> list[dict[str, Any]]:
    """Play all trials, and return the rows of the page."""
    browser.get(address)
    past_warning(browser)
    browser.find_element("css selector", f"[name=clock][value={clock}]").click()
    browser.find_element("id", "begin").click()
    wait_for(lambda: browser.execute_script("return game.running"))
    browser.set_script_timeout(180)
    return browser.execute_async_script(PERSON, wrong)


QUICK = ("--timing", "delay=200", "--timing", "iti=200")
CASES = {
    # the file of a reader: two letters, a stream with two answers, tones, random durations
    "AX-CPT": ((FILES / "axcpt.py", *QUICK), 4, [2]),
    "attentional blink": ((FILES / "blink.py",), 3, [1]),
    "oddball": ((FILES / "oddball.py", "--set", "rare=0.5"), 6, []),
    "Posner": ((FILES / "posner.py",), 4, [1]),
    # tasks of packages: choices, reaction times, a delay, arrows, blocks, two stages, no tables
    "dots": (("PerceptualDecisionMaking-v0", "--timing", "decision=1000"), 4, [1, 3]),
    "reaction time": (("PerceptualDecisionMaking-v0", "--wrap", "ReactionTime"), 4, [2]),
    "delayed match": (("DelayMatchSample-v0", "--timing", "delay=200"), 4, [0]),
    "flanker": (("cognition/Flanker-v0",), 6, [4]),
    "blocks": (("perceptual/PriorBlocks-v0",), 4, []),
    "two steps": (("value/DawTwoStep-v0",), 4, []),
    "stop signal": (("control/StopSignal-v1",), 4, []),
}


IN_REAL_TIME = ("oddball", "Posner", "AX-CPT")
"""Tasks with windows of a second, in which a person may also rest."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_task_is_played_by_the_command_and_its_record_is_evaluated(
    browser: Any, tmp_path: Path, ngym: Callable[..., Any], name: str
) -> None:
    """The choices of the file are those of the page, and wrong answers are wrong in both."""
    records = pytest.importorskip("neurogym_records")
    words, n, wrong = CASES[name]
    file = tmp_path / "me.csv"
    browser.get_log("browser")
    asked_hosts(browser)
    with command(*words, "-n", n, "--out", file) as address:
        rows = play(browser, address, wrong, "runs" if name in IN_REAL_TIME else "waits")
        saved = wait_for(lambda: browser.find_element("id", "saved").text, 30)
        assert asked_hosts(browser) == {address.split("/")[2]}
    assert saved == f"Saved {n} trials in {file}."
    assert browser.get_log("browser") == []
    record = records.read_record(file)
    assert record["outcome"].tolist() == [row["outcome"] for row in rows]
    assert record["reward"].tolist() == [row["reward"] for row in rows]
    for column in (one for one in rows[0] if one.endswith("choice")):
        assert record[column].astype(str).tolist() == [str(row[column]) for row in rows], column
    if wrong:
        is_wrong = {k for k in range(n) if record["outcome"][k] == "error"}
        assert is_wrong == set(wrong)
    report = browser.find_element("id", "report").text
    assert "Performance" in report
    assert not re.search(r"\d,\d,\d", report)  # no table of conditions that are lists
    pytest.importorskip("neurogym_training")
    done = ngym("evaluate", str(file), "--out", str(file.with_suffix("")))
    assert done.exit_code == 0, done.output


@pytest.mark.slow
def test_a_page_says_so_when_its_command_is_killed(browser: Any, tmp_path: Path) -> None:
    line = [NGYM, "play", "ibl/IBLWheel-v0", "--no-browser", "--out", str(tmp_path / "me.csv")]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as done:
        assert done.stdout is not None
        address = done.stdout.readline().split()[2]
        browser.get(address)
        past_warning(browser)
        browser.find_element("id", "begin").click()
        wait_for(lambda: browser.execute_script("return game.kernel?.clock > 2"))
        done.kill()
        said = wait_for(lambda: browser.find_element("id", "problem").text)
    assert said.startswith("The command has ended, or does not answer. Expected an answer")
    assert browser.execute_script("return game.running") is False
    browser.get_log("browser")
