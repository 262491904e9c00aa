"""The drawn timeline of a trial."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogym_core.terminal.description import as_text, timeline, typical

DURATIONS = st.one_of(
    st.none(),
    st.floats(0, 1e5),
    st.just("computed"),
    st.tuples(st.floats(0, 1e3), st.floats(0, 1e3)).map(lambda pair: {"uniform": list(pair)}),
)


def test_bars_follow_each_other_in_proportion() -> None:
    lines = timeline([("fixation", 300), ("stimulus", 600), ("decision", 300)], 60)
    bars = [line[len("fixation  300 ms  ") :] for line in lines]
    first, second, third = (bar.count("█") for bar in bars)
    assert first == pytest.approx(third, abs=1)
    assert second == pytest.approx(2 * first, abs=1)
    assert bars[1].index("█") == first
    assert bars[2].index("█") == first + second


def test_the_shortest_period_of_all_is_drawn() -> None:
    (line,) = timeline([("a", 5e-324)], 60)
    assert line.endswith("|")


def test_empty_and_unknown_periods_are_drawn_differently() -> None:
    lines = timeline([("delay", 0), ("production", "computed"), ("go", 100)], 60)
    assert lines[0].endswith("|")
    assert "~" in lines[1]
    assert "█" in lines[2]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.text("abc", min_size=1, max_size=20), DURATIONS), max_size=8),
    st.integers(20, 120),
)
def test_no_line_is_wider_than_the_terminal(periods: list, width: int) -> None:
    said = [f"{name:<20}  {as_text(duration, 'ms')}" for name, duration in periods]
    labels = max(map(len, said), default=0)
    assert all(len(line) <= max(width, labels) for line in timeline(periods, width))


@pytest.mark.parametrize(
    ("duration", "text", "drawn"),
    [
        (300, "300 ms", 300),
        (12.5, "12.5 ms", 12.5),
        ({"uniform": [500, 1500]}, "uniform(500, 1500) ms", 1000),
        (
            {"truncated_exponential": [600, 300, 3000]},
            "truncated_exponential(600, 300, 3000) ms",
            600,
        ),
        ({"choice": [[100, 300], [0.5, 0.5]]}, "choice([100, 300], [0.5, 0.5]) ms", 200),
        ("2 x ready", "2 x ready", None),
        (None, "", None),
        ({"a": 1, "b": 2}, '{"a": 1, "b": 2}', None),
    ],
)
def test_durations_are_written_with_their_unit(
    duration: object, text: str, drawn: float | None
) -> None:
    assert (as_text(duration, "ms"), typical(duration)) == (text, drawn)


def test_a_period_without_a_timer_is_drawn_as_not_known() -> None:
    lines = timeline([("wait", "until an action"), ("stimulus", 500)], 60)
    assert "until an action" in lines[0]
    assert "~" in lines[0]
    assert "█" in lines[1]
