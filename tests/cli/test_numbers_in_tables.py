"""Numbers in the tables that `ngym run` prints."""

from __future__ import annotations

import pytest

from neurogym_core.trials.record_text import cell


@pytest.mark.parametrize(
    ("value", "text"), [(1 - 10 * (0.1 + 1e-17), "0"), (sum([-0.1] * 10) + 1, "0"), (0.26, "0.26")]
)
def test_errors_of_rounding_are_printed_as_zero(value: float, text: str) -> None:
    assert cell(value) == text
