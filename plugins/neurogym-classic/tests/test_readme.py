"""The example of the README runs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_example_of_the_readme_runs(tmp_path: Path, monkeypatch):
    file, use = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_task.py").write_text(file, "utf-8")
    names: dict = {}
    exec(use, names)
    assert names["info"]["trial"]["side"] in (0, 1)
    assert names["batch"].inputs.shape == (16, 100, 2)
    assert np.isin(names["batch"].targets, [0, 1, 2]).all()
