"""Fixtures: `ngym` runs commands in this process, `browser` is a headless Chromium, `static` is
a plain web server."""

from __future__ import annotations

import http.server
import importlib.util
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from sites import call_ngym


@pytest.fixture
def ngym() -> Callable[..., Result]:
    """See `sites.call_ngym`."""
    return call_ngym


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium; without it tests are skipped, in continuous integration (CI=true) they fail."""
    names = ("chromium", "chromium-browser", "google-chrome")
    binary = next(filter(None, map(shutil.which, names)), None)
    driver = shutil.which("chromedriver")
    if importlib.util.find_spec("selenium") is None or binary is None or driver is None:
        reason = "pages are tested in a browser: install selenium, chromium and chromium-driver"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu"):
        options.add_argument(f"--{argument}")
    options.add_argument("--window-size=900,1000")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield made
    made.quit()


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a plain web server, and its folder."""
    folder = tmp_path_factory.mktemp("static")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Write nothing."""

    handler = partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()
