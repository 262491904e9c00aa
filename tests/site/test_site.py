"""The built site as a reader meets it: links from the files, the rest in a headless Chromium.

`make test-site` builds the site, gets axe-core, and runs these tests. Without Chromium, its driver,
selenium or axe-core, the tests that need them are skipped with a reason; in continuous integration
(CI=true) that is a failure."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import json
import os
import re
import shutil
import threading
import time
import urllib.parse
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
AXE = Path(os.environ.get("NGYM_AXE", ROOT / ".venv" / "axe-core" / "axe.min.js"))
VIEWED = (
    "index.html",
    "tasks/perceptual/PerceptualDecisionMaking-v0.html",
    "tasks/value/DawTwoStep-v0.html",
    "tasks/visual/RandomDotMotion-v0.html",
    "tasks/index.html",
    "tasks/perceptual/index.html",
    "wrappers/index.html",
    "docs/wrappers/noise.html",
    "docs/index.html",
    "docs/tour.html",
    "docs/api.html",
)
WIDTHS, THEMES = (360, 1440), ("light", "dark")

pytestmark = pytest.mark.slow


def lacking(reason: str) -> None:
    """Skip the test, with a reason; fail it in continuous integration."""
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


@pytest.fixture(scope="module")
def site() -> Path:
    if not (SITE / "index.html").is_file():
        lacking("there is no site to test; `make test-site` builds it and runs the tests")
    return SITE


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Write nothing."""

    handler = functools.partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    names = ("chromium", "chromium-browser", "google-chrome")
    binary = next(filter(None, map(shutil.which, names)), None)
    driver = shutil.which("chromedriver")
    if importlib.util.find_spec("selenium") is None or binary is None or driver is None:
        lacking("the site is tested in a browser; install selenium, chromium and chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    made.set_page_load_timeout(300)  # on a busy machine
    made.set_script_timeout(300)
    made.command_executor.client_config.timeout = 600
    yield made
    made.quit()


class _Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        linked = tag == "link" and found.get("rel") != "canonical"  # a name, which is not loaded
        source = found.get("src") or (found.get("href") if linked else None)
        if found.get("srcset"):
            self.loaded.append(found["srcset"])
        elif source:
            self.loaded.append(source)
        elif found.get("href"):
            self.links.append(found["href"])


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, _Page]:
    return {
        path.relative_to(site).as_posix(): _Page(path.read_text("utf-8"))
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts
    }


def view(browser: Any, address: str, width: int, theme: str) -> None:
    """Open a page at a width in pixels, in light or dark colours."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(address)
    script = "document.documentElement.dataset.theme"
    assert browser.execute_script(f"return {script}") == theme


def test_no_link_or_anchor_is_broken(site: Path, pages: dict[str, _Page]) -> None:
    broken = []
    for name, page in pages.items():
        for link in page.links + page.loaded:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = urllib.parse.unquote(parts.path)
            target = (site / name).parent / path if path else site / name
            target = Path(os.path.normpath(target))
            if not target.is_file():
                broken.append(f"{name}: {link}")
                continue
            other = pages.get(target.relative_to(site).as_posix())
            anchor = urllib.parse.unquote(parts.fragment)
            if anchor and other is not None and anchor not in other.anchors:
                broken.append(f"{name}: {link}")
    assert broken == []


def test_every_installed_task_has_a_page_and_a_place_in_the_list(pages: dict[str, _Page]) -> None:
    from neurogym_core.ecosystem.discovery import installed

    expected = {f"tasks/{task.id}.html" for task in installed().tasks}
    assert expected - set(pages) == set()
    assert {f"../{one}" for one in expected} - set(pages["tasks/index.html"].links) == set()


def test_heads_describe_the_pages_and_link_no_repository_before_there_is_one(site: Path) -> None:
    from neurogym_core.ecosystem.published import REPOSITORY

    for name in ("index", "docs/tour", "tasks/value/DawTwoStep-v0", "docs/wrappers/noise"):
        text = (site / f"{name}.html").read_text("utf-8")
        assert text.count('name="description"') == 1, name
        assert text.count('property="og:title"') == 1, name
        # `make site ADDRESS=...` names the public address, and nothing else does.
        assert text.count('rel="canonical"') == text.count('property="og:url"'), name
        assert ("/edit/main/" in text) is (bool(REPOSITORY) and name.startswith("docs/")), name


def test_the_site_has_no_source_maps(site: Path) -> None:
    assert list(site.rglob("*.map")) == []


def test_the_icons_of_the_theme_are_a_small_font_that_has_all_of_them(
    browser: Any, address: str, site: Path
) -> None:
    fonts = list(site.glob("_static/vendor/fontawesome/webfonts/*.woff2"))
    assert 0 < sum(path.stat().st_size for path in fonts) < 20_000
    assert list(site.rglob("fontawesome.js*")) == []
    view(browser, address + "docs/tour.html", 1440, "light")
    script = """
        const done = arguments[arguments.length - 1], font = "900 32px 'Font Awesome 7 Free'";
        const drawn = (text) => {
            const canvas = Object.assign(document.createElement("canvas"), {width: 48, height: 48});
            const pen = canvas.getContext("2d");
            pen.font = font;
            pen.fillText(text, 4, 40);
            return canvas.toDataURL();
        };
        document.fonts.load(font, "\\uf00d").then(() => {
            const icons = [...document.querySelectorAll("i.fa-solid, span.fa-solid")];
            const shown = icons.map((one) => getComputedStyle(one, "::before").content);
            const missing = drawn("\\ue999");
            done(icons.map((one, k) => [one.className, drawn(shown[k].split('"')[1]) !== missing]));
        });
    """
    found = browser.execute_async_script(script)
    assert len(found) > 10
    assert [name for name, there in found if not there] == []


def test_pages_load_nothing_from_other_hosts(pages: dict[str, _Page]) -> None:
    elsewhere = {
        link
        for page in pages.values()
        for link in page.loaded
        if urllib.parse.urlsplit(link).netloc
    }
    assert elsewhere == set()


def test_every_page_loads_without_console_errors_or_requests_to_other_hosts(
    browser: Any, address: str, pages: dict[str, _Page]
) -> None:
    browser.get_log("browser")
    browser.get_log("performance")
    messages, requested = [], set()
    for name in pages:
        browser.get(address + name)
        # The theme says at the level INFO that it follows the system's colours.
        messages += [
            f"{name}: {one['message']}"
            for one in browser.get_log("browser")
            if one["level"] in ("WARNING", "SEVERE")
        ]
        for entry in browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                requested.add(message["params"]["request"]["url"])
    assert messages == []
    assert {url for url in requested if not url.startswith((address, "data:"))} == set()


def test_the_search_finds_a_task_by_an_author_of_its_paper(browser: Any, address: str) -> None:
    browser.get(f"{address}search.html?q=Brunton")
    deadline = time.monotonic() + 30
    found: list[str] = []
    wanted = f"{address}tasks/perceptual/PoissonClicks-v0.html"
    while time.monotonic() < deadline and wanted not in found:
        script = "return [...document.querySelectorAll('#search-results a')].map(a => a.href)"
        found = [one.partition("?")[0] for one in browser.execute_script(script)]
        time.sleep(0.2)
    assert wanted in [one.partition("#")[0] for one in found]


VISIBLE = "return [...document.querySelectorAll('#wall li:not([hidden]) a')].map(a => a.href)"


def test_the_tasks_are_filtered_and_the_address_has_the_filters(browser: Any, address: str) -> None:
    page = address + "tasks/index.html"
    view(browser, page, 1440, "light")
    everything = browser.execute_script(VISIBLE)
    browser.find_element("css selector", ".wall-filters [name=q]").send_keys("brunton")
    clicks = browser.execute_script(VISIBLE)
    assert clicks
    assert all("PoissonClicks" in one for one in clicks)
    assert browser.current_url == f"{page}?q=brunton"
    browser.find_element("css selector", ".wall-filters button").click()
    assert browser.execute_script(VISIBLE) == everything
    assert browser.current_url == page
    browser.find_element("css selector", "select[name=tag]").send_keys("timing")
    timed = browser.execute_script(VISIBLE)
    assert 5 < len(timed) < len(everything)
    status = browser.find_element("css selector", "[role=status]").text
    assert status == f"{len(timed)} of {len(everything)} tasks"
    browser.find_element("css selector", "select[name=species]").send_keys("human")
    both = browser.execute_script(VISIBLE)
    assert 0 < len(both) < len(timed)
    view(browser, browser.current_url, 1440, "light")
    assert browser.execute_script(VISIBLE) == both
    view(browser, f"{page}?species=%3Cb%3E&tag=timing", 1440, "light")
    assert browser.execute_script(VISIBLE) == timed  # a value that no task has counts for nothing


def test_tags_of_a_page_and_topics_of_the_front_page_lead_to_filtered_tasks(
    browser: Any, address: str, pages: dict[str, _Page]
) -> None:
    found = [link for link in pages["index.html"].links if "index.html?" in link]
    found += [
        f"tasks/{link[3:]}"
        for link in pages["tasks/value/DawTwoStep-v0.html"].links
        if link.startswith("../index.html?")
    ]
    assert len(found) > 10
    for link in found:
        browser.get(address + link)
        status = browser.find_element("css selector", "[role=status]").text
        shown, _, everything, _ = status.split()
        assert 0 < int(shown) < int(everything), link


def test_without_scripts_the_tasks_are_a_list(site: Path) -> None:
    text = (site / "tasks" / "index.html").read_text("utf-8")
    wall = text.partition('<ul class="wall"')[2].partition("</ul>")[0]
    assert wall.count("<li ") >= 100
    assert " hidden" not in "".join(re.findall(r"<li [^>]*>", re.sub(r'"[^"]*"', "", wall)))


def test_every_page_that_offers_a_game_has_its_trials(site: Path, pages: dict[str, _Page]) -> None:
    games = {name: link for name, page in pages.items() for link in page.links if "?task=" in link}
    assert len(games) > 200
    for name, link in games.items():
        task = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)["task"][0]
        assert f"tasks/{task}.html" == name
        assert (site / "play" / "tasks" / task / "0.trials").is_file()
    written = {one.parent.relative_to(site / "play") for one in site.rglob("*.trials")}
    assert written == {Path(name).with_suffix("") for name in games}


@pytest.mark.parametrize("theme", THEMES)
def test_a_reader_plays_a_task_on_its_page(browser: Any, address: str, theme: str) -> None:
    task = "perceptual/PerceptualDecisionMaking-v0"
    browser.get_log("performance")
    view(browser, f"{address}tasks/{task}.html", 360, theme)
    browser.find_element("css selector", "a.play").click()
    frame = browser.find_element("css selector", "iframe.play")
    browser.switch_to.frame(frame)
    deadline = time.monotonic() + 30
    while not browser.find_element("id", "begin").is_displayed():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    dark = browser.execute_script("return matchMedia('(prefers-color-scheme: dark)').matches")
    assert dark is (theme == "dark")
    browser.find_element("id", "begin").click()
    script = """
        game.paused = true;
        while (!game.kernel.done) game.kernel.step(game.kernel.target);
        game.finish();
    """
    browser.execute_script(script)
    report = browser.find_element("id", "report").text
    assert "60 of 60 trials correct" in report
    assert "ideal observer (integrator)" in report
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
    link = browser.find_element("css selector", "#share a").get_attribute("href")
    assert link.endswith("&seed=0&n=60")
    browser.switch_to.default_content()
    sent = [
        json.loads(entry["message"])["message"]["params"]["request"]["url"]
        for entry in browser.get_log("performance")
        if '"Network.requestWillBeSent"' in entry["message"]
    ]
    assert all(url.startswith((address, "data:")) for url in sent)


def test_the_picture_of_the_demo_is_readable_on_a_phone(browser: Any, address: str) -> None:
    for width, name in zip(WIDTHS, ("demo-narrow.png", "demo.png"), strict=True):
        view(browser, address + "index.html", width, "light")
        script = "return document.querySelector('picture img')"
        assert browser.execute_script(f"{script}.currentSrc") == address + name
        scale = browser.execute_script(f"{script}.clientWidth / {script[7:]}.naturalWidth")
        assert scale > 0.4  # its labels of 16 pixels are drawn with 7 or more


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_the_window(
    browser: Any, address: str, width: int, theme: str
) -> None:
    wide = []
    for name in VIEWED:
        view(browser, address + name, width, theme)
        measured = browser.execute_script("return document.documentElement.scrollWidth")
        wide += [f"{name}: {measured}"] if measured > width else []
    assert wide == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_no_serious_violation(browser: Any, address: str, width: int, theme: str) -> None:
    if not AXE.is_file():
        lacking("axe-core is not there; `make test-site` gets it")
    found = []
    for name in VIEWED:
        view(browser, address + name, width, theme)
        # Colours that still change from the theme before are not those of the page.
        style = "*, *::before, *::after {transition: none !important; animation: none !important}"
        script = (
            "document.head.appendChild(document.createElement('style')).textContent = arguments[0]"
        )
        browser.execute_script(script, style)
        browser.execute_script(AXE.read_text("utf-8"))
        result = browser.execute_async_script(
            "axe.run({resultTypes: ['violations']}).then(arguments[arguments.length - 1])"
        )
        found += [
            f"{name}: {one['id']}, {len(one['nodes'])} times, first {one['nodes'][0]['html'][:120]}"
            for one in result["violations"]
            if one["impact"] in ("serious", "critical")
        ]
    assert found == []


MEASURED = ("leaderboard", "gallery-results", "agent-results", "results", "performance", "neurons",
            "coverage")  # fmt: skip


@pytest.mark.parametrize("page", MEASURED)
def test_tables_of_results_fit_a_screen(browser: Any, address: str, page: str) -> None:
    view(browser, f"{address}docs/{page}.html", 1440, "light")
    script = """
        return [...document.querySelectorAll(".bd-article table")].map(
            (one) => one.scrollWidth - one.parentElement.clientWidth);
    """
    wider = browser.execute_script(script)
    assert wider
    assert max(wider) <= 0


@pytest.mark.parametrize(
    ("page", "column"), [("leaderboard", "score [95 %]"), ("gallery-results", "gru")]
)
def test_tables_of_results_are_sorted(browser: Any, address: str, page: str, column: str) -> None:
    """Empty cells, of networks that do not play a task, stay last."""
    view(browser, f"{address}docs/{page}.html", 1440, "light")
    script = """
        const table = document.querySelector(".bd-article table");
        const heads = [...table.tHead.rows[0].cells];
        const k = heads.findIndex((one) => one.textContent.trim() === arguments[0]);
        if (arguments[1]) heads[k].querySelector("button").click();
        const cells = [...table.tBodies[0].rows].map((row) => row.cells[k]);
        return [cells.map((one) => one.dataset.value ?? ""), heads[k].getAttribute("aria-sort"),
                cells.every((one) => one.querySelector("svg") || !one.textContent.trim())];
    """
    before, order, drawn = browser.execute_script(script, column, False)
    assert (order, drawn) == (None, True)
    for order in ("ascending", "descending"):
        values, now, _ = browser.execute_script(script, column, True)
        assert now == order
        assert sorted(values) == sorted(before)
        given = [one for one in values if one]
        assert values == given + [""] * (len(values) - len(given))
        numbers = [float(one.split()[0].rstrip("*")) for one in given]  # a star: an earlier rule
        assert numbers == sorted(numbers, reverse=order == "descending")


def test_the_menu_is_grouped_by_reader(browser: Any, address: str) -> None:
    view(browser, f"{address}docs/tour.html", 1440, "light")
    script = """
        const menu = document.querySelector(".bd-sidebar-primary .bd-toc-item");
        return [...menu.querySelectorAll(".caption")].map((one) =>
            [one.textContent.trim(), one.nextElementSibling.querySelectorAll("a").length]);
    """
    groups = browser.execute_script(script)
    names = ["I train a network", "I use an env for reinforcement learning", "I bring a task",
             "I study behaviour", "I change the core", "More"]  # fmt: skip
    assert [name for name, _ in groups] == names
    assert all(n > 0 for _, n in groups)


def test_the_data_of_pages_of_results_are_files(pages: dict[str, _Page]) -> None:
    for page in ("gallery-results", "leaderboard", "agent-results", "results", "neurons"):
        assert any(one.startswith("../data/") for one in pages[f"docs/{page}.html"].links), page


SEARCHES = {
    "how to write a task": {"docs/write-a-task"},
    "write a task": {"docs/write-a-task"},
    "install": {"README"},
    "random dots": {"tasks/perceptual/PerceptualDecisionMaking-v0"},
    "dt": {"docs/glossary"},
    "PassReward": {"docs/wrappers/pass-reward"},
    "reaction time wrapper": {"docs/wrappers/reaction-time"},
    "reaction time": {"docs/wrappers/reaction-time", "docs/trial"},
    "psychometric": {"docs/analyse-behaviour"},
    "working memory": {
        "tasks/memory/DelayMatchSample-v0",
        "tasks/memory/DelayComparison-v0",
        "tasks/cognition/Sternberg-v0",
        "tasks/memory/ColourWheel-v0",
    },
    "PPO": {"docs/train-an-agent"},
    "GPU": {"docs/gpu"},
    "cite": {"cite"},
    "TrialRecord": {"docs/api"},
    "make_vec": {"docs/api", "docs/api-players"},
}
"""Query -> pages one of which has to be among the first three."""


def found_pages(browser: Any, address: str, query: str) -> list[str]:
    """Return the pages that a search finds, in order, without suffix."""
    browser.get(f"{address}search.html?q={urllib.parse.quote(query)}")
    script = """
        const said = document.querySelector('.search-summary')?.textContent ?? '';
        if (!/finished|did not match/.test(said)) return null;
        return [...document.querySelectorAll('#search-results a')].map(a => a.pathname);
    """
    deadline = time.monotonic() + 60
    while (found := browser.execute_script(script)) is None or not found:
        assert time.monotonic() < deadline, query
        time.sleep(0.2)
    pages = [one.removeprefix("/").removesuffix(".html") for one in found]
    return list(dict.fromkeys(pages))


def test_the_search_finds_what_readers_want(browser: Any, address: str) -> None:
    """Prints a table of the ranks (with -s)."""
    late = []
    for query, wanted in SEARCHES.items():
        found = found_pages(browser, address, query)
        rank = next((k for k, page in enumerate(found, 1) if page in wanted), 0)
        print(f"{query:24} {rank or '-':>3} of {len(found):<4} first: {found[0]}")
        assert not any(page.startswith(("docs/decisions", "CHANGELOG")) for page in found)
        if not 1 <= rank <= 3:
            late.append(f"{query}: {rank}, before it {found[:3]}")
    assert late == []
