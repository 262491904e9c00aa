"""The catalogue page in a headless browser: search, filters, details, copying, keyboard.

Needs Chromium and its driver (Debian: chromium, chromium-driver), and selenium. Without them the
tests are skipped with a reason; in continuous integration (CI=true) that is a failure."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from neurogym_registry.folder import read_registry
from neurogym_registry.page import page

makers = sys.modules["ngym_test_registry_makers"]
DRAWING = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='400' height='100'><text x='9' y='50'>a"
    " trial</text></svg>"
)
EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def _keep_registry(folder: Path) -> None:
    keeper = makers.Keeper(folder)
    figure = {"file": "1.0.0/Dots-v0.svg", "sha256": hashlib.sha256(DRAWING.encode()).hexdigest()}
    dots = makers.task_row(
        "neurogym_task_dots",
        figure=figure,
        docstring=EVIL,
        periods=[{"name": "go", "duration": 300}],
    )
    keeper.package("neurogym-task-dots", "1.0.0", tasks=[dots])
    target = folder / "releases" / "neurogym-task-dots" / "1.0.0" / "Dots-v0.svg"
    target.parent.mkdir()
    target.write_text(DRAWING, "utf-8")
    rows = [
        ("Reach-v0", "Reaching", ["motor"], ["human"]),
        ("Saccade-v0", "Looking", ["motor", "saccade"], ["monkey"]),
    ]
    tasks = [
        makers.task_row(
            "neurogym_task_moves",
            name,
            title=title,
            tags=tags,
            species=species,
            references=[],
            summary="Move somewhere.",
        )
        for name, title, tags, species in rows
    ]
    keeper.package("neurogym-task-moves", "2.0.0", tasks=tasks)
    keeper.entry("neurogym-task-empty")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    _keep_registry(folder / "registry")
    file = folder / "catalogue.html"
    file.write_text(page(read_registry(folder / "registry")), "utf-8")
    return file.as_uri()


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Any]:
    """The page, freshly loaded; after each test, the browser's log must be empty."""
    browser.get_log("browser")
    browser.get(address)
    yield browser
    assert browser.get_log("browser") == []
    assert browser.title == "Tasks for neurogym-core"


def find(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", selector)


def shown(browser: Any) -> list[str]:
    """Return the ids of the visible tasks."""
    return [
        one.get_attribute("id")
        for one in browser.find_elements("css selector", "details.task")
        if one.is_displayed()
    ]


def choose(browser: Any, name: str, value: str) -> None:
    from selenium.webdriver.support.select import Select

    Select(find(browser, f"#{name}")).select_by_value(value)


ALL = ["dots/Dots-v0", "moves/Reach-v0", "moves/Saccade-v0"]


def test_all_tasks_are_there_and_counted(opened: Any) -> None:
    assert shown(opened) == ALL
    assert find(opened, "#count").text == "3 of 3 tasks"
    assert "neurogym-task-empty (no release yet)" in find(opened, "section").text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("MOVE", ALL[1:]),
        ("monkey motor", ALL[2:]),
        ("nature12742", ALL[:1]),
        ("zebra", []),
        ("", ALL),
    ],
)
def test_searching(opened: Any, words: str, expected: list[str]) -> None:
    find(opened, "#search").send_keys(words)
    assert shown(opened) == expected
    assert find(opened, "#count").text == f"{len(expected)} of 3 tasks"


def test_filters_together(opened: Any) -> None:
    choose(opened, "tags", "motor")
    assert shown(opened) == ALL[1:]
    choose(opened, "species", "human")
    assert shown(opened) == ALL[1:2]
    choose(opened, "package", "neurogym-task-dots")
    assert shown(opened) == []
    find(opened, "#reset").click()
    assert shown(opened) == ALL


def test_opening_a_task_shows_its_picture_and_its_facts(opened: Any) -> None:
    find(opened, "details.task summary").click()
    picture = find(opened, "details.task img")
    width = "return arguments[0].complete && arguments[0].naturalWidth"
    assert wait_for(lambda: opened.execute_script(width, picture) == 400)
    text = find(opened, "details.task").text
    for part in (
        "ngym install neurogym-task-dots",
        "conformance: 30 passed",
        "doi:10.1038/nature12742",
        "300 ms",
        EVIL,
    ):
        assert part in text


def test_copying_the_command(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    find(opened, "details.task summary").click()
    button = find(opened, "details.task button")
    button.click()
    assert wait_for(lambda: button.text == "Copied")
    find(opened, "#search").send_keys(Keys.CONTROL, "v")
    assert find(opened, "#search").get_attribute("value") == "ngym install neurogym-task-dots"


def wait_for(condition: Any) -> bool:
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_it_can_be_used_with_the_keyboard_alone(opened: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    ActionChains(opened).send_keys("/").send_keys("dots").perform()
    assert opened.switch_to.active_element.get_attribute("id") == "search"
    assert shown(opened) == ALL[:1]
    for _ in range(8):
        ActionChains(opened).send_keys(Keys.TAB).perform()
        if opened.switch_to.active_element.tag_name == "summary":
            break
    ActionChains(opened).send_keys(Keys.ENTER).perform()
    assert find(opened, "details.task").get_attribute("open") is not None
    find(opened, "#search").send_keys(Keys.ESCAPE)
    assert shown(opened) == ALL


def test_a_link_to_a_task_opens_it(opened: Any, address: str) -> None:
    opened.get(f"{address}#moves/Saccade-v0")
    assert wait_for(
        lambda: opened.find_element("id", "moves/Saccade-v0").get_attribute("open") is not None
    )


def test_it_fits_a_phone(opened: Any) -> None:
    opened.set_window_size(500, 800)  # Chromium's least
    opened.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True},
    )
    try:
        for one in opened.find_elements("css selector", "details.task > summary"):
            opened.execute_script("arguments[0].parentElement.open = true", one)
        assert opened.execute_script("return document.documentElement.scrollWidth") <= 360
        assert (
            min(
                one.size["height"]
                for one in opened.find_elements("css selector", ".filters input, .filters select")
            )
            >= 44
        )
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        opened.set_window_size(1000, 900)


def test_the_page_asks_no_network_and_may_not(opened: Any) -> None:
    rows = [json.loads(row["message"])["message"] for row in opened.get_log("performance")]
    asked = [
        row["params"]["request"]["url"]
        for row in rows
        if row["method"] == "Network.requestWillBeSent"
    ]
    assert asked
    assert all(url.startswith(("file:", "data:")) for url in asked), asked
    tried = opened.execute_async_script(
        "const done = arguments[0];document.addEventListener('securitypolicyviolation', (event) =>"
        " done(event.violatedDirective), {once: true});fetch('https://example.org/').catch(() =>"
        " {}); setTimeout(() => done('nothing'), 3000);"
    )
    assert tried == "connect-src"
    assert (
        "Content Security Policy" in opened.get_log("browser")[0]["message"]
    )  # which also empties it
