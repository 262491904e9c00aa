"""Paths of frozen benchmarks on the data sets of this package, for `ngym likeness --benchmark`."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent

clicks_rats = _HERE / "clicks-rats.toml"
durations_people = _HERE / "durations-people.toml"
heading_people = _HERE / "heading-people.toml"
orientations_people = _HERE / "orientations-people.toml"
reversal_people = _HERE / "reversal-people.toml"
