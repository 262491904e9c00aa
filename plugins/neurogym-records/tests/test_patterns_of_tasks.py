"""Patterns of tasks in `ngym train` and `ngym sweep`."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from neurogym_records import options
from neurogym_records.options import tasks_like

from neurogym_core import UnknownTaskError

IDS = ("foo/Dots-v0", "foo/Bars-v0", "x-foolab/Dots-v0")


def test_a_pattern_stands_for_the_usable_tasks_that_it_matches(monkeypatch):
    tasks = [SimpleNamespace(id=one, namespace=one.partition("/")[0], usable=True) for one in IDS]
    tasks.append(SimpleNamespace(id="foo/Broken-v0", namespace="foo", usable=False))
    monkeypatch.setattr(options, "installed", lambda: SimpleNamespace(tasks=tasks))
    assert tasks_like("foo") == ["foo/Bars-v0", "foo/Dots-v0"]
    assert tasks_like("foo/*") == ["foo/Bars-v0", "foo/Dots-v0"]
    assert tasks_like("*/Dots-v?") == ["foo/Dots-v0", "x-foolab/Dots-v0"]
    assert tasks_like("anything else") == ["anything else"]
    with pytest.raises(UnknownTaskError, match=r"'bar/\*'.* Expected .*foo/\*"):
        tasks_like("bar/*")
