"""The trial record is an immutable table that survives slicing, joining, copying and files."""

import builtins
import copy
import pickle
from collections.abc import Mapping

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from neurogym_records import read_csv

from neurogym_core import run
from neurogym_core.errors import InvalidValueError, MissingDependencyError, UnknownNameError
from neurogym_core.trials.record import OUTCOME_NAMES, Outcome, TrialRecord
from neurogym_core.trials.record_text import cell

# NumPy strings drop trailing NULs, and surrogates are not text.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
NAMES = st.from_regex(r"[a-z][a-z_.\" ,é]{0,6}", fullmatch=True)


def _column(rows):
    shape = st.sampled_from([(rows,), (rows, 1), (rows, 3)])
    dtypes = st.sampled_from(["bool", "int64", "int16", "uint64", "float64", "float32"])
    numbers = st.tuples(dtypes, shape).flatmap(lambda both: hnp.arrays(*both))
    strings = shape.flatmap(lambda s: hnp.arrays(object, s, elements=TEXT)).map(
        lambda column: column.astype(str)
    )
    return st.one_of(numbers, strings)


@st.composite
def records(draw):
    rows = draw(st.integers(0, 6))
    return TrialRecord(draw(st.dictionaries(NAMES, _column(rows), max_size=5)))


@pytest.fixture
def record():
    return TrialRecord(
        {
            "trial": [0, 1, 2, 3],
            "coherence": [0.0, 6.4, 0.0, 51.2],
            "cue": ["left", "right", "left", 'a "b", c'],
            "pulses": np.arange(8.0).reshape(4, 2),
            "outcome": OUTCOME_NAMES[[1, 2, 4, 1]],
            "reaction_time": [310.0, 250.0, np.nan, 420.0],
        },
        meta={"task": "perceptual/Example-v0", "seed": 3},
    )


class TestOutcome:
    def test_names_follow_the_codes(self):
        assert [OUTCOME_NAMES[code] for code in Outcome] == [
            "none",
            "correct",
            "error",
            "abort",
            "miss",
            "other",
        ]

    def test_codes_are_those_of_the_table(self):
        assert [int(code) for code in Outcome] == [0, 1, 2, 3, 4, 5]

    def test_names_cannot_be_changed(self):
        with pytest.raises(ValueError, match="read-only"):
            OUTCOME_NAMES[0] = "x"


class TestReading:
    def test_columns_length_and_membership(self, record):
        assert len(record) == 4
        assert record.columns == ("trial", "coherence", "cue", "pulses", "outcome", "reaction_time")
        assert "cue" in record
        assert "nothing" not in record

    def test_a_row_is_python_values(self, record):
        row = record.row(-1)
        assert row["pulses"] == [6.0, 7.0]
        assert row["outcome"] == "correct"
        assert {type(value) for value in row.values()} == {int, float, str, list}

    @given(records())
    def test_rows_are_each_row(self, record):
        if record.columns:
            assert repr(list(record.rows())) == repr([record.row(i) for i in range(len(record))])

    @pytest.mark.parametrize("index", [4, -5])
    def test_a_row_that_is_not_there(self, record, index):
        with pytest.raises(
            InvalidValueError, match=f"Row {index} was requested from a record of 4 trials"
        ):
            record.row(index)

    def test_an_unknown_column_names_the_nearest(self, record):
        with pytest.raises(UnknownNameError, match="Did you mean 'coherence'"):
            record["coherense"]

    @pytest.mark.parametrize("key", [2, [True], [0.5], [9], np.zeros((2, 2), bool), None])
    def test_rows_that_cannot_be_chosen(self, record, key):
        with pytest.raises(InvalidValueError, match="in a record of 4 trials"):
            record[key]

    def test_rows_by_mask_slice_and_number(self, record):
        assert record[record["cue"] == "left"]["trial"].tolist() == [0, 2]
        assert record[::-1]["trial"].tolist() == [3, 2, 1, 0]
        assert record[[3, -4]]["pulses"].tolist() == [[6, 7], [0, 1]]
        assert len(record[[]]) == 0
        assert record[1:].meta == record.meta


class TestImmutability:
    def test_columns_are_read_only_copies(self):
        given = np.arange(3)
        record = TrialRecord({"trial": given})
        given[0] = 9
        assert record["trial"].tolist() == [0, 1, 2]
        with pytest.raises(ValueError, match="read-only"):
            record["trial"][0] = 9

    def test_attributes_and_meta_are_read_only(self, record):
        with pytest.raises(AttributeError, match="immutable"):
            record.columns = ()
        with pytest.raises(TypeError):
            record.meta["seed"] = 4
        with pytest.raises(TypeError):
            hash(record)

    @pytest.mark.parametrize(
        "change",
        [
            lambda record: record.update(trial=1),
            lambda record: record.__setitem__("trial", [1]),
            lambda record: record.__delitem__("trial"),
            lambda record: record.__ior__({"trial": [1]}),
            lambda record: record.pop("trial"),
            lambda record: record.popitem(),
            lambda record: record.setdefault("other", [1]),
            lambda record: record.clear(),
        ],
    )
    def test_no_method_of_a_dict_changes_a_record(self, record, change):
        with pytest.raises(TypeError, match="immutable"):
            change(record)
        assert len(record.columns) == 6

    def test_the_union_with_a_dict_is_a_dict(self, record):
        assert type(record | {"trial": [9]}) is dict
        assert record["trial"].tolist() == [0, 1, 2, 3]


class TestMapping:
    """Names to columns, as other libraries read tables; only the length counts trials."""

    def test_keys_are_the_columns(self, record):
        assert isinstance(record, Mapping)
        assert tuple(record) == tuple(record.keys()) == record.columns
        assert [name for name, _ in record.items()] == list(record.columns)
        assert len(record.values()) == len(record.keys()) == 6
        assert record.get("nothing") is None

    def test_a_dict_has_the_same_arrays(self, record):
        made = dict(record)
        assert type(made) is dict
        assert all(made[name] is record[name] for name in record.columns)
        assert {**record}.keys() == made.keys()
        assert TrialRecord(record, meta=record.meta) == record

    @given(records())
    def test_a_frame_of_pandas(self, record):
        flat = TrialRecord({name: one for name, one in record.items() if one.ndim == 1})
        frame = pandas.DataFrame(flat)
        assert list(frame) == list(flat.columns)
        assert len(frame) == len(flat)
        for name in flat.columns:
            np.testing.assert_array_equal(frame[name].to_numpy(), flat[name])
        assert frame.equals(flat.to_pandas()) or not flat.columns

    def test_a_frame_of_pandas_can_be_changed(self, record):
        frame = pandas.DataFrame(TrialRecord({"trial": record["trial"]}))
        frame.loc[0, "trial"] = 7
        assert record["trial"][0] == 0

    def test_records_differ(self, record):
        assert record == record[:]
        assert not record != record[:]  # noqa: SIM202 - the operator `!=` is another method
        assert record != record[:2]
        assert record != dict(record)


class TestShown:
    def test_the_values_of_the_first_trials_and_the_names_of_all_columns(self):
        record = run("control/GoNogo-v0", "oracle", 8, seed=0)
        lines = repr(record).splitlines()
        assert lines[0] == f"<TrialRecord: 8 trials x {len(record.columns)} columns>"
        assert lines[1].split() == [
            "trial", "stimulus", "choice", "outcome", "reaction_time", "reward",
        ]  # fmt: skip
        assert lines[2].split()[:4] == [
            "0", record["stimulus"][0], str(record["choice"][0]), "correct",
        ]  # fmt: skip
        assert len(lines) == 1 + 1 + 5 + 1 + 1
        assert lines[-2].strip() == "… and 3 more"
        assert "onset.delay" in lines[-1]

    @given(records())
    def test_no_line_of_values_is_long_and_no_column_is_missing(self, record):
        values, _, others = repr(record).partition("\nOther columns")
        assert all(len(line) <= 100 for line in values.splitlines())
        assert all(name.strip() in values + others for name in record.columns)

    def test_a_notebook_shows_a_table_in_which_all_texts_are_escaped(self):
        record = TrialRecord({"<b>": ["<script>", "a & b"], "duration.<i>": [1.0, 2.0]})
        page = record._repr_html_()
        assert page.count("<tr>") == 3
        assert "&lt;script&gt;" in page
        assert "a &amp; b" in page
        assert "<th>&lt;b&gt;</th>" in page
        assert "<script>" not in page
        assert "duration.&lt;i&gt;" in page

    def test_an_attribute_names_the_column(self, record):
        with pytest.raises(AttributeError, match=r"record\['cue'\]"):
            getattr(record, "cue")  # noqa: B009 - the message is about attributes
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            getattr(record, "nothing")  # noqa: B009

    def test_the_name_of_an_answer_lists_its_columns(self):
        record = TrialRecord({"t1": [1], "T1.choice": [0], "T1.outcome": ["error"]})
        with pytest.raises(UnknownNameError, match=r"with the columns 'T1.choice', 'T1.outcome'"):
            record["T1"]

    @pytest.mark.parametrize(
        ("value", "text"),
        [(40000.0, "40000"), (3.6e5, "360000"), (0.1 * 3, "0.3"), (1234.56, "1235"), (-0.0, "0"),
         (1e-7, "1e-07"), (1e300, "1e+300"), (float("nan"), "–"), (float("inf"), "inf")],
    )  # fmt: skip
    def test_numbers_of_ms_have_no_exponent(self, value, text):
        assert cell(value) == text


class TestBadColumns:
    def test_several_lengths(self):
        with pytest.raises(InvalidValueError, match=r"different lengths: \{'a': 2, 'b': 3\}"):
            TrialRecord({"a": [1, 2], "b": [1, 2, 3]})

    @pytest.mark.parametrize("name", ["", "x[0]", 3])
    def test_names(self, name):
        with pytest.raises(InvalidValueError, match="cannot name a column"):
            TrialRecord({name: [1]})

    @pytest.mark.parametrize(
        "values",
        [3.0, [None], [{}], [1j], np.zeros((2, 2, 2)), np.zeros((2, 0)), [[1], [1, 2]], [b"x"]],
        ids=["scalar", "None", "dict", "complex", "cube", "no width", "ragged", "bytes"],
    )
    def test_shapes_and_types(self, values):
        with pytest.raises(InvalidValueError, match="Column 'x' has"):
            TrialRecord({"x": values})


class TestEquality:
    @given(records())
    def test_a_record_equals_its_copies(self, record):
        assert (
            record
            == pickle.loads(pickle.dumps(record))
            == copy.deepcopy(record)
            == copy.copy(record)
        )

    def test_copies_keep_meta_and_stay_read_only(self, record):
        for twin in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record)):
            assert twin.meta == record.meta
            assert not twin["trial"].flags.writeable

    @pytest.mark.parametrize(
        "other",
        [
            {"a": [1.0, 2.0]},
            {"a": [1.0, np.nan], "b": [1, 1]},
            {"b": [1.0, np.nan]},
            {"a": [1.0]},
            {"a": ["1.0", "nan"]},
            {"a": [[1.0], [np.nan]]},
        ],
    )
    def test_differences_are_seen(self, other):
        assert TrialRecord({"a": [1.0, np.nan]}) != TrialRecord(other)

    def test_a_bool_is_not_a_number(self):
        assert TrialRecord({"a": [True]}) != TrialRecord({"a": [1]})

    def test_nothing_else_is_equal(self, record):
        assert record != {"trial": [0]}


class TestConcatenate:
    @given(records(), st.data())
    def test_cutting_and_joining_gives_the_record_back(self, record, data):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(record)), max_size=3)))
        parts = [record[a:b] for a, b in zip([0, *cuts], [*cuts, len(record)], strict=True)]
        assert TrialRecord.concatenate(parts) == record

    @given(records())
    def test_lengths_add(self, record):
        assert len(TrialRecord.concatenate([record, record, record[:0]])) == 2 * len(record)

    def test_meta_keeps_what_is_common(self):
        parts = [
            TrialRecord({"a": [1]}, meta={"task": "t", "seed": seed, "w": np.ones(2)})
            for seed in (1, 2)
        ]
        assert dict(TrialRecord.concatenate(parts).meta).keys() == {"task", "w"}

    def test_an_empty_record_from_a_file_joins_strings(self):
        empty = TrialRecord({"cue": np.zeros(0)})
        assert TrialRecord.concatenate([empty, TrialRecord({"cue": ["x"]})])["cue"].tolist() == [
            "x"
        ]

    def test_nothing_to_join(self):
        with pytest.raises(InvalidValueError, match="No record"):
            TrialRecord.concatenate([])

    def test_other_columns(self):
        with pytest.raises(InvalidValueError, match="lacks the columns 'a' and has 'b'"):
            TrialRecord.concatenate([TrialRecord({"a": [1]}), TrialRecord({"b": [1]})])

    @pytest.mark.parametrize("other", [["x"], [True], [[1, 2]]])
    def test_other_kinds_or_widths(self, other):
        with pytest.raises(InvalidValueError, match="Expected the same type and width"):
            TrialRecord.concatenate([TrialRecord({"a": [1]}), TrialRecord({"a": other})])


class TestCsv:
    @settings(max_examples=200)
    @given(records())
    def test_round_trip(self, tmp_path_factory, record):
        path = tmp_path_factory.mktemp("csv") / "record.csv"
        record.to_csv(path)
        again = read_csv(path)
        if record.columns:
            assert again == record
            assert again.columns == record.columns

    def test_kinds_survive(self, tmp_path, record):
        record.to_csv(tmp_path / "r.csv")
        again = read_csv(tmp_path / "r.csv", meta={"seed": 1})
        assert [again[name].dtype.kind for name in again.columns] == ["i", "f", "U", "f", "U", "f"]
        assert again.meta == {"seed": 1}

    def test_strings_that_look_like_numbers_stay_strings(self, tmp_path):
        record = TrialRecord({"a": ["1", "2"], "b": ["True", "False"], "c": ["nan", ""]})
        record.to_csv(tmp_path / "r.csv")
        assert read_csv(tmp_path / "r.csv") == record

    def test_columns_of_several_values_are_spread(self, tmp_path, record):
        record.to_csv(tmp_path / "r.csv")
        header = (tmp_path / "r.csv").read_text().splitlines()[0]
        assert '"pulses[0]","pulses[1]"' in header

    def test_pandas_reads_the_same(self, tmp_path, record):
        pandas = pytest.importorskip("pandas")
        record.to_csv(tmp_path / "r.csv")
        pandas.testing.assert_frame_equal(
            pandas.read_csv(tmp_path / "r.csv"), record.to_pandas(), check_dtype=False
        )

    def test_writing_is_all_or_nothing(self, tmp_path, monkeypatch, record):
        path = tmp_path / "r.csv"
        path.write_text("before")

        def fail(*_):
            raise OSError("disk full")

        monkeypatch.setattr("os.replace", fail)
        with pytest.raises(OSError, match="disk full"):
            record.to_csv(path)
        assert [file.name for file in tmp_path.iterdir()] == ["r.csv"]
        assert path.read_text() == "before"


class TestPandas:
    def test_the_frame_has_the_columns(self, record):
        pytest.importorskip("pandas")
        frame = record.to_pandas()
        assert list(frame) == [
            "trial",
            "coherence",
            "cue",
            "pulses[0]",
            "pulses[1]",
            "outcome",
            "reaction_time",
        ]
        assert frame["cue"].tolist() == record["cue"].tolist()
        frame.loc[0, "trial"] = 9
        assert record["trial"][0] == 0

    def test_without_pandas_it_says_what_to_install(self, record, monkeypatch):
        real = builtins.__import__

        def refuse(name, *args, **kwargs):
            if name.partition(".")[0] == "pandas":
                raise ModuleNotFoundError("No module named 'pandas'")
            return real(name, *args, **kwargs)

        monkeypatch.setattr("neurogym_core.lazy.import_module", refuse)
        with pytest.raises(
            MissingDependencyError, match=r"needs pandas.*Install it: pip install pandas"
        ):
            record.to_pandas()


def test_trials_of_a_file_with_empty_cells_are_answered_where_they_say_so():
    """Bools with missing values are numbers, which NumPy combines with no bools."""
    record = TrialRecord(
        {
            "outcome": np.array(["correct", "correct", "error", "correct"]),
            "rest_correct": np.array([1.0, 0.0, 1.0, np.nan]),
        }
    )
    assert record.answered().tolist() == [False, True, True, True]
