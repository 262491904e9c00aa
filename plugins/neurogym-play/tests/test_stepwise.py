"""Tasks whose trials are no tables: Python plays them, one step for each message of the page."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from csv import DictReader
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import replaying
from browsing import past_warning, wait_for
from neurogym_play import trial_tables
from neurogym_play.playing import person_record, play
from neurogym_play.server import MOST_STEP, PlayServer
from neurogym_play.stepwise import Stepwise, rehearsed, stepwise_blocks
from neurogym_play.tables import shortest_window
from small_tasks import Halved
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from neurogym_core import NotSupportedError, Task, TrialRecord, make_task, run
from neurogym_core.tools import installed

REACH = "motor/Reaching1D-v0"  # with hooks
STOP = "control/StopSignal-v1"  # each trial is drawn after the outcome of the one before
TASKS = [info.id for info in installed().tasks if info.usable and "pixels" not in info.tags]
SAMPLE = (
    REACH,
    "ibl/IBLWheel-v0",
    STOP,
    "value/SelfInitiatedChoice-v0",
    "memory/GradedComparison-v0",
)
KEY = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13"


# ---------------------------------------------------------------------- through the door


@contextmanager
def serving(block: Stepwise) -> Iterator[PlayServer]:
    """Serve a block."""
    with PlayServer({}, str, {block.door: block.answer}) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


def opened(server: PlayServer, **changes: Any) -> Any:
    """Open a WebSocket as the page does, but for some changes of path, origin and headers."""
    path = changes.pop("path", f"/{server.token}/steps")
    given = {"origin": f"http://{server.host}", "compression": None, "proxy": None, **changes}
    return connect(f"ws://{server.host}{path}", **given)


@contextmanager
def served(block: Stepwise) -> Iterator[Callable[[Any], tuple[str, Any]]]:
    """Serve a block; yield a function that asks it, and returns "said" or "refused", and why."""
    with serving(block) as server, opened(server) as page:

        def ask(sent: Any) -> tuple[str, Any]:
            page.send(json.dumps({"to": block.door, "sent": sent}))
            ((kind, answer),) = json.loads(page.recv()).items()
            return kind, answer

        yield ask


def plays_alike(task: Task, n_trials: int = 2) -> bool:
    """Play through the door, at random and right in turn; return whether `run` records the same."""
    block, rng = Stepwise(task, n_trials, "step/trials", seed=3), np.random.default_rng(0)
    assert json.dumps(block.page(), allow_nan=False)
    actions: list[Any] = []
    with served(block) as ask:
        said = [ask(None)[1]]
        while not block.over and len(actions) < 5000:
            target = block.game.env.unwrapped.stepper.targets()[0]
            target = target if np.ndim(target) else target.item()
            action = replaying.chosen(task, target, len(actions) % 2, rng)
            actions.append(action if isinstance(action, int) else np.asarray(action).tolist())
            status, answer = ask({"step": len(actions) - 1, "action": actions[-1]})
            assert status == "said", answer
            said.append(answer)
    played = iter(actions)
    seen: list[list[float]] = []

    def same(env: Any, observations: np.ndarray) -> np.ndarray:
        seen.append(observations[0].tolist())
        return np.array([next(played)])

    n_ended = len(block.record())
    assert n_ended, "no trial ended"
    expected = run(task, same, n_ended, num_envs=1, seed=3)
    rows = [answer["row"] for answer in said if answer["row"]]
    assert [row["reward"] for row in rows] == expected["reward"].tolist()
    return block.record() == expected and [answer["seen"] for answer in said][: len(seen)] == seen


@pytest.mark.parametrize("one", SAMPLE)
def test_a_task_is_played_through_the_door_as_run_plays_it(one: str) -> None:
    assert plays_alike(make_task(one), 3)


@pytest.mark.slow
@pytest.mark.parametrize("one", TASKS)
def test_every_task_is_played_through_the_door_as_run_plays_it(one: str) -> None:
    assert plays_alike(make_task(one))


def test_another_action_gives_another_record() -> None:
    """The comparison above can fail."""
    records = []
    for action in (1, 2):
        block = Stepwise(make_task(REACH), 2, "step/trials", seed=3)
        while not block.over:
            block.answer({"step": block.game.steps, "action": action})
        records.append(block.record())
    assert records[0] != records[1]


def test_a_graded_reward_of_the_author_is_played_through_the_door() -> None:
    with pytest.raises(NotSupportedError, match="Play it on this machine, with `ngym play`"):
        trial_tables(Halved, 2)
    assert plays_alike(make_task(Halved), 5)


def test_requests_out_of_turn_change_nothing() -> None:
    block = Stepwise(make_task(REACH), 1, "step/trials", seed=3)
    with served(block) as ask:
        first = ask(None)[1]
        assert ask({"step": 0, "action": 1})[0] == "said"
        for sent in (
            {"step": 0, "action": 1},  # a second time
            {"step": 2, "action": 1},
            {"step": True, "action": 1},
            {"step": 1},
            {"step": 1, "action": 3},
            {"step": 1, "action": [1]},
            {"step": 1, "action": "1"},
            {"step": 1, "action": 0.5},
            [1],
            "x",
        ):
            status, said = ask(sent)
            assert status == "refused", sent
            assert said.startswith("The step was not played: it ")
        assert block.game.steps == 1
        assert ask(None)[1] == first  # the page was loaded again
        assert block.game.steps == 0


def test_a_step_after_the_last_trial_is_refused_as_such() -> None:
    block = Stepwise(make_task(REACH), 2, "step/trials", seed=3)
    while not block.over:
        block.answer({"step": block.game.steps, "action": 1})
    steps = block.game.steps
    with pytest.raises(ValueError, match=f"asks for step {steps}, but all 2 trials are over"):
        block.answer({"step": steps, "action": 1})
    assert len(block.record()) == 2
    with pytest.raises(ValueError, match="it asks for step 7; expected 0"):
        Stepwise(make_task(REACH), 2, "step/trials", seed=3).answer({"step": 7, "action": 1})


def test_a_page_that_goes_without_a_goodbye_writes_nothing_to_the_terminal(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The connection of a WebSocket is reset."""
    with serving(Stepwise(make_task(REACH), 1, "step/trials", seed=3)) as server:
        before = threading.active_count()
        raw = socket.create_connection(("127.0.0.1", server.server_port), timeout=10)
        raw.sendall(
            f"GET /{server.token}/steps HTTP/1.1\r\nHost: {server.host}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nOrigin: http://{server.host}\r\n{KEY}\r\n\r\n".encode()
        )
        assert raw.recv(100).split()[1] == b"101"
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.close()
        wait_for(lambda: threading.active_count() == before)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "changes",
    [
        {"path": "/steps"},
        {"path": "/x/steps"},
        {"origin": "http://evil.example"},
        {"origin": None},
        {"additional_headers": {"Host": "evil.example"}},
    ],
)
def test_other_pages_and_hosts_cannot_open_the_socket(changes: dict[str, Any]) -> None:
    block = Stepwise(make_task(REACH), 1, "step/trials", seed=3)
    with serving(block) as server:
        if "additional_headers" in changes:  # the client library writes a second Host
            raw = socket.create_connection(("127.0.0.1", server.server_port), timeout=10)
            raw.sendall(
                f"GET /{server.token}/steps HTTP/1.1\r\nHost: evil.example\r\nUpgrade: websocket"
                f"\r\nConnection: Upgrade\r\nOrigin: http://{server.host}\r\n{KEY}\r\n\r\n".encode()
            )
            assert raw.recv(100).split()[1] == b"404"
            raw.close()
        else:
            with pytest.raises(InvalidStatus) as refused, opened(server, **changes):
                pass
            assert refused.value.response.status_code == 404
        with opened(server) as page:  # the same from the page itself
            page.send(json.dumps({"to": block.door, "sent": None}))
            assert "said" in json.loads(page.recv())
    assert block.game.steps == 0


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("{", "The step was not played: "),
        ("[" * 10_000, "The step was not played: "),
        ("[]", "it has another form"),
        ('{"to": "keep", "sent": 1}', "it has another form"),
        ('{"to": ["step/trials"], "sent": null}', "it has another form"),
        ('{"to": "step/trials"}', "it has another form"),
    ],
)
def test_messages_of_another_form_are_refused(message: str, said: str) -> None:
    block = Stepwise(make_task(REACH), 1, "step/trials", seed=3)
    with serving(block) as server, opened(server) as page:
        page.send(message)
        assert said in json.loads(page.recv())["refused"]
        page.send(json.dumps({"to": block.door, "sent": None}))  # it goes on
        assert "said" in json.loads(page.recv())


@pytest.mark.parametrize(
    ("message", "code"),
    [(b"1", 1003), (["{", "}"], 1003), ("1" * (MOST_STEP + 1), 1009)],
    ids=["bytes", "parts", "too large"],
)
def test_a_socket_is_closed_on_messages_that_no_page_sends(message: Any, code: int) -> None:
    block = Stepwise(make_task(REACH), 1, "step/trials", seed=3)
    with serving(block) as server, opened(server) as page:

        def ask() -> None:
            page.send(message)
            page.recv()

        with pytest.raises(ConnectionClosed) as closed:
            ask()
        # The reset of a closed connection that gets a further part may overtake the reason.
        overtaken = isinstance(message, list) and closed.value.rcvd is None
        assert overtaken or closed.value.rcvd.code == code


def test_a_pause_does_not_close_the_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests of HTTP have a time limit, and a person may pause for longer."""
    monkeypatch.setattr("neurogym_play.server._Handler.timeout", 0.2)
    with served(Stepwise(make_task(REACH), 1, "step/trials", seed=3)) as ask:
        assert ask(None)[0] == "said"
        time.sleep(0.5)
        assert ask({"step": 0, "action": 1})[0] == "said"


def test_a_record_needs_a_trial_that_ended() -> None:
    block = Stepwise(make_task(REACH), 2, "step/trials", seed=3)
    with pytest.raises(ValueError, match="no trial ended"):
        person_record(make_task(REACH), block, {"waits": False})
    while not len(block.record()):
        block.answer({"step": block.game.steps, "action": 1})
    record = person_record(make_task(REACH), block, {"waits": True})
    assert (len(record), record["subject"][0], record["clock"][0]) == (1, "person", "waits")


# ---------------------------------------------------------------------- facts for the page


@pytest.mark.parametrize(
    ("one", "ms"),
    [(STOP, 1250.0), ("control/CardSorting-v1", 2000.0), ("value/PatchLeaving-v0", None)],
)
def test_the_shortest_window_is_that_of_the_tables(one: str, ms: float | None) -> None:
    block = Stepwise(make_task(one), 1, "step/trials", seed=0)
    assert shortest_window(block.game.env.unwrapped.stepper.any_block.tables) == ms


def test_the_page_knows_how_bright_and_how_fast_its_lamps_are() -> None:
    found = rehearsed(make_task(STOP), 0)
    assert found["largest"] == {"fixation": 1.0, "stimulus": 1.0, "stop": 1.0}
    assert 0 < found["changes"] < 10
    noisy = rehearsed(make_task("perceptual/PerceptualDecisionMaking-v0", sigma=5.0), 0)
    assert noisy["changes"] > 5  # of ten steps a second


# ---------------------------------------------------------------------- in Chromium


@contextmanager
def at_play(
    monkeypatch: Any, name: str, n_trials: int, csv: Path, practice: int = 0, **settings: Any
) -> Iterator[str]:
    """Run the work of `ngym play`; yield the address of its page, and wait for the record."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    task = make_task(name, **settings)
    blocks = stepwise_blocks(task, n_trials, practice, seed=4, conditions=None)
    playing = threading.Thread(target=play, args=(task, name, blocks, csv), daemon=True)
    playing.start()
    yield wait_for(lambda: opened and opened[0])
    playing.join(10)
    assert not playing.is_alive()


def same_in_python(name: str, actions: list[Any], n_trials: int, csv: Path, **settings: Any) -> str:
    """Return the CSV text of the record of these actions, played by `run`."""
    left = iter(actions)
    record = run(
        name, lambda env, seen: np.array([next(left)]), n_trials, num_envs=1, seed=4, **settings
    )
    TrialRecord({**record, "subject": ["person"] * n_trials}).to_csv(csv)
    return csv.read_text("utf-8")


FAST = "game.budget += 500; game.rests = Math.min(game.rests, 1);"
"""Time runs as fast as the steps come."""


@pytest.mark.parametrize(("name", "held"), [(REACH, "ARROW_RIGHT"), (STOP, "ARROW_LEFT")])
def test_a_person_plays_a_task_without_tables_and_the_record_is_that_of_python(
    browser: Any, tmp_path: Path, monkeypatch: Any, name: str, held: str
) -> None:
    """One key is held down through all trials, after a practice trial that is not recorded."""
    from selenium.webdriver import ActionChains, Keys

    csv, key = tmp_path / "me.csv", getattr(Keys, held)
    browser.get_log("browser")
    with at_play(monkeypatch, name, 3, csv, practice=1) as address:
        browser.get(address)
        past_warning(browser)
        browser.find_element("css selector", "[name=clock][value=runs]").click()
        browser.find_element("id", "begin").click()
        wait_for(lambda: browser.execute_script("return game.running"))
        ActionChains(browser).key_down(key).perform()
        go = browser.find_element("id", "go")
        wait_for(lambda: browser.execute_script(f"{FAST} return !game.running") and go, 60)
        assert browser.find_element("id", "practised").text.endswith("whether they are correct.")
        go.click()
        wait_for(lambda: browser.execute_script("return game.running"))
        ActionChains(browser).key_up(key).key_down(key).perform()
        done = f"{FAST} return !game.running && document.getElementById('saved').textContent"
        saved = wait_for(lambda: browser.execute_script(done), 60)
        ActionChains(browser).key_up(key).perform()
    assert saved == f"Saved 3 trials in {csv}."
    actions, rows = browser.execute_script("return [game.actions, game.kernel.rows]")
    if name == REACH:  # a key that is held acts on every step
        assert actions.count(2) > len(actions) / 2
    else:  # elsewhere it acts once
        assert actions.count(1) == 1
    assert csv.read_text("utf-8") == same_in_python(name, actions, 3, tmp_path / "python.csv")
    assert [row["trial"] for row in rows] == [0, 1, 2]
    assert not browser.find_element("id", "download").is_displayed()
    assert browser.get_log("browser") == []


def value_of(cell: str) -> Any:
    """Return a number as Python and JavaScript write it, alike."""
    try:
        return str(float(cell))
    except ValueError:
        return cell


@pytest.mark.parametrize("has_stopped", [False, True])
def test_a_record_that_python_cannot_save_can_be_downloaded(
    browser: Any, tmp_path: Path, has_stopped: bool
) -> None:
    """The page has the same record, whether the server refuses it or has stopped."""
    from neurogym_play.page import page_files

    def fails(sent: Any) -> str:
        raise OSError("no room")

    block = Stepwise(make_task(STOP), 2, "step/trials", seed=4)
    blocks = {"trials": block.page(), "practice": None}
    files = page_files(block.task, STOP, blocks, save="record")
    with PlayServer(files, fails, {block.door: block.answer}) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        browser.get(server.address)
        past_warning(browser)
        browser.find_element("id", "begin").click()
        if has_stopped:
            browser.execute_script("game.save = 'http://127.0.0.1:1/'")
        done = f"{FAST} return !game.running && document.getElementById('saved').textContent"
        saved = wait_for(lambda: browser.execute_script(done), 60)
        server.shutdown()
    expected = "The record could not be saved" if has_stopped else "The record was not saved: no"
    assert saved.startswith(expected)
    assert browser.find_element("id", "download").is_displayed()
    texts = """
        const done = arguments[0], made = URL.createObjectURL;
        URL.createObjectURL = (blob) => { blob.text().then(done); return made(blob); };
        game.download();
        URL.createObjectURL = made;
    """
    actions = browser.execute_script("return game.actions")
    told = browser.execute_async_script(texts)
    python = same_in_python(STOP, actions, 2, tmp_path / "python.csv")
    found, same = (list(DictReader(text.splitlines())) for text in (told, python))
    assert len(found) == len(same) == 2
    for row, expected_row in zip(found, same, strict=True):
        assert row.keys() == expected_row.keys()
        assert {name: value_of(text) for name, text in row.items()} == {
            name: value_of(text) for name, text in expected_row.items()
        }
    browser.get_log("browser")  # Chromium logs the failed request


def test_a_page_whose_command_has_ended_says_so(browser: Any) -> None:
    """Python is stopped in mid-trial."""
    from neurogym_play.page import page_files

    block = Stepwise(make_task(STOP), 3, "step/trials", seed=4)
    files = page_files(block.task, STOP, {"trials": block.page(), "practice": None})
    with PlayServer(files, str, {block.door: block.answer}) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        browser.get(server.address)
        past_warning(browser)
        browser.find_element("id", "begin").click()
        wait_for(lambda: block.game.steps > 3)
        server.doors = {}
        said = wait_for(lambda: browser.find_element("id", "problem").text)
        server.shutdown()
    assert "Expected an answer of the command that serves this page. Start it again" in said
    assert browser.execute_script("return game.running") is False
    browser.get_log("browser")  # Chromium logs the failed request


@pytest.mark.slow
def test_time_stays_on_the_clock_of_the_task(
    browser: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    """Steps of 10 ms, each a request: within 5 % of real time, from trial to trial."""
    with at_play(monkeypatch, STOP, 6, tmp_path / "me.csv") as address:
        browser.get(address)
        past_warning(browser)
        browser.find_element("css selector", "[name=clock][value=runs]").click()
        browser.set_script_timeout(120)
        times = browser.execute_async_script("""
            const done = arguments[0], times = [], kernels = new Set();
            document.getElementById("begin").click();
            const look = () => {
              const { kernel } = game;
              if (kernel && !kernels.has(kernel)) {
                const step = kernel.step.bind(kernel);
                kernel.step = (action) => {
                  times.push([kernel.trial, performance.now()]);
                  return step(action);
                };
                kernels.add(kernel);
              }
              if (kernel && !game.running) done(times);
              else requestAnimationFrame(look);
            };
            look();
        """)  # fmt: skip
        wait_for(lambda: browser.find_element("id", "saved").text)
    trial, at = np.array(times).T
    ratios = np.array(
        [np.ptp(at[trial == k]) / (np.sum(trial == k) - 1) / 10 for k in np.unique(trial)]
    )
    print(f"real time over the task's clock, {len(ratios)} trials: {np.round(ratios, 3)}")
    assert abs(np.median(ratios) - 1) < 0.05
