"""Chromium without a window, for the tests of this folder."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest


def _missing() -> str | None:
    """Return the name of a missing requirement, or an empty text."""
    if importlib.util.find_spec("selenium") is None:
        return "selenium, from the group `test`"
    if _browser() is None:
        return "Chromium (chromium, or google-chrome)"
    return None if shutil.which("chromedriver") else "chromedriver (Debian: chromium-driver)"


def _browser() -> str | None:
    return next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    missing = _missing()
    if missing is not None:
        reason = (
            f"pages and drawings are tested in a browser, which needs {missing}; `make"
            " test-browser` runs them"
        )
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = _browser()
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--window-size=1000,900",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    made = webdriver.Chrome(options=options, service=service)
    yield made
    made.quit()
