"""Fixtures: `ngym` runs commands in this process, `browser` is a headless Chromium."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
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
