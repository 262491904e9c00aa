"""`read_csv` reads files of `to_csv` (tests/trials/test_record.py), and plain files of others."""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_records import read_csv

from neurogym_core import InvalidValueError, TrialRecord


def test_files_of_others_without_quotes_are_read(tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes(b"\xef\xbb\xbfname,hit,rt,n\r\nann,True,1.5,3\r\nbob,False,,4\r\n")
    record = read_csv(path)
    assert record == TrialRecord(
        {"name": ["ann", "bob"], "hit": [True, False], "rt": [1.5, np.nan], "n": [3, 4]},
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a,b\n1\n", "row 2: 1 cells under a header of 2"),
        ('a\n"x"y\n', "row 2: a cell with text beside its quotes"),
        ('a\n"x\n', "row 2: .* never closed"),
        ("a\n1\n\0\0\n", "row 3: a NUL character"),
        ("a,a\n1,2\n", "the name 'a' more than once"),
        ("a,\n1,2\n", "a column without a name"),
        ("a[0],a[2]\n1,2\n", r"the columns 'a\[0\]', 'a\[2\]'"),
        ("a,a[0]\n1,2\n", r"the columns 'a', 'a\[0\]'"),
    ],
)
def test_a_broken_file_says_where(tmp_path, text, found):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(InvalidValueError, match=found):
        read_csv(tmp_path / "r.csv")


def test_a_missing_file_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_csv(tmp_path / "r.csv")
