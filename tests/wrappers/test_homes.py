"""The core has five wrappers, and names the package of the others."""

from __future__ import annotations

import pytest

import neurogym_core.wrappers
from neurogym_core.ecosystem import companions

FIVE = {"ReactionTime", "Noise", "PassAction", "PassReward", "RecordTrials"}


def test_the_core_has_five():
    assert set(neurogym_core.wrappers.__all__) == FIVE == set(dir(neurogym_core.wrappers))
    assert not FIVE & {*companions.WRAPPERS, *companions.FORMER_WRAPPERS}
    for name in FIVE:
        assert getattr(neurogym_core.wrappers, name).__name__ == name


@pytest.mark.parametrize("name", companions.WRAPPERS)
def test_importing_another_says_which_package_brings_it(name):
    with pytest.raises(ImportError) as caught:
        exec(f"from neurogym_core.wrappers import {name}")
    assert str(caught.value) == (
        f"{companions.comes_with(name, 'neurogym-wrappers')}, then"
        f" `from neurogym_wrappers import {name}`."
    )


def test_any_other_name_is_an_ordinary_mistake():
    assert not hasattr(neurogym_core.wrappers, "Nonsense")
