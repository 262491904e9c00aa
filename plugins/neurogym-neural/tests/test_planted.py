"""Every signature with a verdict is shown by a planted ideal, and not by its planted cheats."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from neurogym_neural import signatures

HERE = Path(__file__).parent
KNOWN = {one.name: one for one in signatures()}


@pytest.fixture(scope="module")
def planted():
    spec = importlib.util.spec_from_file_location("planted", HERE / "planted.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def enough(part, value):
    """Return whether a number has the published sign and size; NaN has not."""
    return (value if part.sign == "+" else -value) >= part.least


@pytest.mark.slow
def test_ideals_pass_and_cheats_fail_a_part(planted):
    found = list(planted.pairs())
    assert {pair.signature for pair in found} >= {one.name for one in KNOWN.values() if one.judges}
    for pair in found:
        parts = {name: part for name, part in KNOWN[pair.signature].parts.items() if part.sign}
        for name, part in parts.items():
            assert enough(part, pair.found[name]), (pair.signature, name)
        # A slow filter is a control, too, which a part that names it has to exceed.
        control = "filters" if pair.cheat.startswith("filter of") else None
        if parts:
            assert any(
                not enough(part, pair.cheated[name])
                or (control in part.beats and pair.cheated[name] + part.margin < pair.found[name])
                for name, part in parts.items()
            ), pair


def test_the_readme_has_all_pairs(planted):
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    for name, ideal, _, cheat, _ in planted.PAIRS:
        assert f"| {name}: " in readme
        assert any(ideal in line and cheat in line and name in line for line in readme.split("\n"))
