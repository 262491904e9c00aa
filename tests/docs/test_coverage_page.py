"""The page on coverage has the latest counts; reports say where intervals are not 95 %."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scripts import loaded

maker = loaded("coverage")
CELLS = [(world, n) for world in maker.WORLDS for n in world.sizes]
QUICK = ("fraction", "d'", "error - correct", "mean bias", "slope of produced")


@pytest.fixture(scope="module")
def stored():
    return maker.counts()


def test_the_page_is_what_was_simulated_last(stored):
    assert maker.PAGE.read_text("utf-8") == maker.page(stored), (
        "run `python docs/_make/coverage.py --write`, and commit docs/coverage.md"
    )


def test_each_cell_is_stored_and_no_other(stored):
    assert stored.keys() == {world.key(n) for world, n in CELLS}


@pytest.mark.parametrize(
    ("world", "n"),
    [
        pytest.param(
            world,
            n,
            id=world.key(n),
            marks=() if world.number.startswith(QUICK) else pytest.mark.slow,
        )
        for world, n in CELLS
    ],
)  # fmt: skip
def test_the_first_data_sets_have_the_stored_hits(stored, world, n):
    """Seeds are fixed. One of the 20 hits may change with the library that minimises."""
    kept = stored[world.key(n)]["first"]
    again = world.simulate(n, maker.FIRST)["first"]
    assert sum(one != other for one, other in zip(kept, again, strict=True)) <= 1


def test_reports_say_where_intervals_are_too_narrow_or_too_wide(stored):
    assert maker.unsaid(stored) == []


@pytest.mark.parametrize("verdict", ["too narrow", "too wide"])
def test_a_cell_without_its_note_is_found(stored, verdict):
    key = next(key for key, one in stored.items() if maker.verdict(one) == verdict)
    silent = {key: {**stored[key], "said": 0}}
    assert maker.unsaid(silent) == [key]


def test_an_interval_of_half_the_width_is_called_too_narrow_and_the_whole_one_holds():
    """Half of Welch's interval covers 67 %; a false alarm, 92 % of 300, has p < 1e-10."""
    world = maker.errors_minus_correct(0.8)

    def narrow(rng, n):
        one = world.draw(rng, n)
        half = (one.high - one.low) / 4
        return one._replace(low=one.value - half, high=one.value + half)

    assert maker.verdict(replace(world, draw=narrow).simulate(200, 300)) == "too narrow"
    assert maker.verdict(world.simulate(200, 300)) == "holds"
