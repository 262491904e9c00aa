"""Python files that artefacts name."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from neurogym_training import check_artefact, files_named_in

from neurogym_core import InvalidValueError
from neurogym_core.tools import is_file_reference


def test_the_files_that_an_artefact_names_are_found_with_their_hashes(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    contents = {"wrap": [{"tasks": ["ns/Task-v0", "a.py:A"]}], "b.py": 1, "n": "x:net=c.py:C,n=2",
                "no": ["a.pyx", "python", "1.py2", 3, None]}  # fmt: skip
    found = files_named_in(contents, tmp_path)
    assert [(one.keys, one.text) for one in found] == [
        (("wrap", 0, "tasks", 1), "a.py:A"),
        (("b.py",), "b.py"),
        (("n",), "x:net=c.py:C,n=2"),
    ]
    assert found[0].path == tmp_path / "a.py"
    assert found[0].sha256 == hashlib.sha256(b"").hexdigest()
    assert found[1].sha256 is None
    assert found[2].path == tmp_path / "c.py"


@pytest.mark.parametrize(
    "text",
    ["a.py", "a.py:", "a.py:B", "a b.py:B", "a\nb.py:B", "a,b.py:B", "~/a.py", ".py/x.py", "x:y.py",
     "=.py", " .py"],
)  # fmt: skip
def test_no_reference_to_a_file_escapes(text: str) -> None:
    assert is_file_reference(text)
    with pytest.raises(InvalidValueError, match=r"--trust \(in Python: trust=True\)"):
        check_artefact("e.toml", {"task": text})
    assert check_artefact("e.toml", {"task": text}, trust=True)
