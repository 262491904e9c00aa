"""The packages of this project, as `ngym doctor` sees them."""

from __future__ import annotations

import json


def test_doctor_finds_nothing_in_the_packages_of_this_project(ngym) -> None:
    """Nor a warning: a word beside the vocabulary hides a task from those who filter by it."""
    said = json.loads(ngym("doctor", "--no-import", "--json").stdout)
    assert len(said["packages"]) > 10
    assert [row for row in said["problems"] if row["package"].startswith("neurogym-")] == []
