"""Tests in a browser: wait for a page, and see which hosts it asks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any


def wait_for(condition: Callable[[], Any], seconds: float = 20) -> Any:
    """Return the first true result of a condition; fail after some seconds."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


def past_warning(browser: Any) -> bool:
    """Wait for the first page of a task, past the warning of flicker; return if there was one."""
    shown = wait_for(
        lambda: next(
            (
                name
                for name in ("begin", "aware")
                if browser.find_element("id", name).is_displayed()
            ),
            None,
        )
    )
    if shown == "aware":
        browser.find_element("id", "aware").click()
        wait_for(lambda: browser.find_element("id", "begin").is_displayed())
    return shown == "aware"


def asked_hosts(browser: Any) -> set[str]:
    """Return the hosts of the requests since the last call, such as ``127.0.0.1:8000``."""
    said = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [one["params"] for one in said if one["method"] == "Network.requestWillBeSent"]
    addresses = [one["request"]["url"] for one in sent]
    return {address.split("/")[2] for address in addresses if address.startswith("http")}
