"""Writing results keeps links, pipes and devices, and an earlier file where writing fails."""

from __future__ import annotations

import errno
import os
import pty
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from neurogym_core import TrialRecord
from neurogym_core.errors import FileNotWrittenError, NeurogymError
from neurogym_core.files import replacing

RECORD = TrialRecord({"trial": np.arange(3), "outcome": np.array(["correct", "error", "miss"])})
TEXT = '"trial","outcome"\n0,"correct"\n1,"error"\n2,"miss"\n'


def test_a_link_stays_a_link_and_its_file_gets_the_results(tmp_path):
    real = tmp_path / "disk" / "real.csv"
    real.parent.mkdir()
    real.write_text("old")
    link, again = tmp_path / "link.csv", tmp_path / "again.csv"
    link.symlink_to(real)
    again.symlink_to("link.csv")
    RECORD.to_csv(again)
    assert link.is_symlink()
    assert again.is_symlink()
    assert real.read_text() == TEXT
    assert [path.name for path in real.parent.iterdir()] == ["real.csv"]


def test_a_link_to_a_file_that_is_not_there_yet_makes_that_file(tmp_path):
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "coming.csv")
    RECORD.to_csv(link)
    assert link.is_symlink()
    assert (tmp_path / "coming.csv").read_text() == TEXT


def test_a_pipe_stays_a_pipe_and_its_reader_gets_the_results(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    RECORD.to_csv(pipe)
    reader.join(timeout=10)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert read == [TEXT]


def test_a_device_stays_a_device_and_is_written_to(tmp_path):
    keyboard, terminal = pty.openpty()
    os.set_blocking(keyboard, False)  # where nothing comes, an error and no wait
    link = tmp_path / "terminal"
    link.symlink_to(os.ttyname(terminal))
    before = os.stat(link)
    try:
        RECORD.to_csv(link)
        assert os.read(keyboard, 1000).decode().replace("\r\n", "\n") == TEXT
        assert os.path.samestat(os.stat(link), before)
        assert stat.S_ISCHR(os.stat(link).st_mode)
    finally:
        os.close(keyboard)
        os.close(terminal)


@pytest.mark.parametrize("name", ["stdout", "out.csv"])
def test_stdout_takes_results_in_their_turn_even_where_it_is_a_file(tmp_path, name):
    script = (
        "import sys; from neurogym_core import TrialRecord\n"
        "print('before'); TrialRecord({'trial': [0, 1]}).to_csv(sys.argv[1]); print('after')"
    )
    # What /dev/stdout is, in a place of this test's own: a wrong program would replace it.
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    with open(tmp_path / "out.csv", "w") as out:
        subprocess.run(
            [sys.executable, "-c", script, name], stdout=out, check=True, cwd=tmp_path, timeout=60
        )
    assert (tmp_path / "out.csv").read_text() == 'before\n"trial"\n0\n1\nafter\n'


def test_a_full_disk_leaves_the_earlier_file_and_says_what_to_do(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("old")
    with pytest.raises(FileNotWrittenError) as raised, replacing(path) as temporary:
        temporary.write_text("half of")
        raise OSError(errno.ENOSPC, "No space left on device", str(temporary))
    assert isinstance(raised.value, OSError)
    assert isinstance(raised.value, NeurogymError)
    for part in (f"{path} cannot be written: No space left", "Expected", "Choose another place"):
        assert part in str(raised.value)
    assert ".tmp" not in str(raised.value)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("place", ["no/such/folder/x.csv", "file/x.csv", "folder", "loop"])
def test_where_nothing_can_be_written_an_error_names_the_place(tmp_path, place):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(FileNotWrittenError, match=f"{place} cannot be written: "):
        RECORD.to_csv(tmp_path / place)


def test_another_error_in_the_block_is_its_own_and_leaves_the_earlier_file(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text("half of")
        1 // 0  # noqa: B018
    assert path.read_text() == "old"
