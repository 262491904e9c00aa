"""Rows of settings from ``--vary`` and tables."""

from __future__ import annotations

import pytest
from neurogym_sweep import Draw, Plan, SweepAxis, read_axis, read_rows

from neurogym_core import InvalidValueError, UnknownTaskError

VALUES = {
    "seed=0:4": [0, 1, 2, 3],
    "seed=0:10:4": [0, 4, 8],
    "seed=0:2,7": [0, 1, 7],
    "hidden=64,256": [64, 256],
    "rate=1e-3,.5": [1e-3, 0.5],
    "model=rnn,gru": ["rnn", "gru"],
    "coherences=[0,51.2],[6.4]": [(0, 51.2), (6.4,)],
    "dale=true,false": [True, False],
    "timing.delay=500,uniform(500,1500)": [500, "uniform(500,1500)"],
    "timing.delay=uniform(500,1500)": ["uniform(500,1500)"],
    "task=yang19/Go-v0": ["yang19/Go-v0"],
}


@pytest.mark.parametrize(("text", "values"), VALUES.items())
def test_values_are_read(text, values):
    axis = read_axis(text)
    assert axis.name == text.partition("=")[0]
    assert list(axis.values) == values


def test_a_pattern_of_tasks_stands_for_installed_ones():
    values = read_axis("task=yang19/*,perceptual/Perceptual*").values
    assert "yang19/DMS-v0" in values
    assert "perceptual/PerceptualDecisionMaking-v0" in values
    assert not any(value.startswith("memory/") for value in values)


def test_ranges_are_read():
    assert read_axis("rate=log(1e-4,0.1)").values == Draw("log", 1e-4, 0.1)
    assert read_axis("n=integers(1,9)").values == Draw("integers", 1, 9)


def test_a_grid_combines_each_value_with_each_and_varies_the_last_one_fastest():
    plan = Plan((SweepAxis("a", [1, 2]), SweepAxis("b", ["x", "y"])))
    assert len(plan) == 4
    assert [tuple(row.values()) for row in plan.rows()] == [
        (1, "x"), (1, "y"), (2, "x"), (2, "y"),
    ]  # fmt: skip


def test_zip_combines_values_in_order():
    plan = Plan((SweepAxis("a", [1, 2]), SweepAxis("b", ["x", "y"])), zipped=True)
    assert list(plan.rows()) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_random_rows_are_those_of_their_seed_and_in_their_ranges():
    axes = (SweepAxis("rate", Draw("log", 1e-4, 1e-1)), SweepAxis("n", Draw("integers", 1, 4)),
            SweepAxis("model", ["rnn", "gru"]))  # fmt: skip
    rows = list(Plan(axes, draws=50, draw_seed=1).rows())
    assert rows == list(Plan(axes, draws=50, draw_seed=1).rows())
    assert rows != list(Plan(axes, draws=50, draw_seed=2).rows())
    assert all(1e-4 <= row["rate"] <= 1e-1 for row in rows)
    assert {row["n"] for row in rows} == {1, 2, 3}


def test_rows_of_a_table_are_combined_with_varied_settings(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text('hidden,model,coherences\n64,rnn,\n128,,"0,51.2"\n', "utf-8")
    table = tuple(read_rows(file))
    assert table == (
        {"hidden": 64, "model": "rnn"},
        {"hidden": 128, "coherences": (0, 51.2)},
    )
    plan = Plan((SweepAxis("seed", range(3)),), table)
    assert len(plan) == len(list(plan.rows())) == 6


def test_ten_million_rows_are_refused_with_their_number_before_any_is_made():
    plan = Plan((read_axis("seed=0:10000"), read_axis("rate=0:1000")))
    assert len(plan) == 10_000_000
    with pytest.raises(InvalidValueError, match="10,000,000 runs"):
        plan.rows()
    assert len(list(Plan((read_axis("seed=0:10"),)).rows(at_most=10))) == 10


WRONG = ["seed", "seed=", "=3", "seed=5:5", "seed=0:5:0", "rate=log(0,1)", "rate=uniform(2,1)",
         "n=integers(0.5,2)"]  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_wrong_values_are_refused(text):
    with pytest.raises(InvalidValueError, match="--vary"):
        read_axis(text)


def test_a_pattern_without_a_task_is_refused():
    with pytest.raises(UnknownTaskError, match="nothing/"):
        read_axis("task=nothing/*")


PLANS = {
    "a setting twice": lambda: Plan((SweepAxis("a", [1]), SweepAxis("a", [2]))),
    "a setting in the table, too": lambda: Plan((SweepAxis("a", [1]),), ({"a": 2},)),
    "zip of different lengths": lambda: Plan(
        (SweepAxis("a", [1]), SweepAxis("b", [2, 3])), zipped=True
    ),
    "a range in a grid": lambda: Plan((SweepAxis("a", Draw("uniform", 0, 1)),)),
    "zip and random": lambda: Plan((SweepAxis("a", [1]),), zipped=True, draws=3),
}


@pytest.mark.parametrize("make", PLANS.values(), ids=PLANS)
def test_parts_that_do_not_fit_together_are_refused(make):
    with pytest.raises(InvalidValueError, match="Expected"):
        make()


@pytest.mark.parametrize("text", ["", "a,b\n", "a,\n1,2\n", "a,a\n1,2\n", "a,b\n1\n", "a\n1,2\n"])
def test_wrong_tables_are_refused(text, tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(InvalidValueError, match="Expected"):
        read_rows(file)
