"""Without the conformance kit, commands that need it name its package."""

from __future__ import annotations

from pathlib import Path

import pytest
from neurogym_registry import kit
from neurogym_registry.commands import install

from neurogym_core.tools import comes_with


@pytest.fixture
def without_kit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit, "find_spec", lambda name: None)


def test_a_release_cannot_be_made(ngym, site, tmp_path: Path, without_kit) -> None:
    for arguments in (
        ("registry", "accept", "--registry", str(tmp_path)),
        ("submit", "neurogym-task-dots==1.0.0", "--registry", str(tmp_path)),
    ):
        result = ngym(*arguments)
        assert result.exit_code == 1
        assert comes_with("ngym check", "neurogym-check") in result.stderr


def test_an_installed_package_is_not_checked(
    site, without_kit, capsys: pytest.CaptureFixture[str]
) -> None:
    install._check("neurogym-task-dots")
    assert capsys.readouterr().out == (
        f"Its tasks were not checked: {comes_with('ngym check', 'neurogym-check')}\n"
    )
