"""The notebooks of the site say what their pages say, and run from top to bottom."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from scripts import loaded

DOCS = Path(__file__).resolve().parents[2] / "docs"
pytest.importorskip("nbformat")
PAGE = """# A page

Text with [a link](trial.md) and [another](https://example.org).

```python
# my_task.py
x = 1
```

```console
$ ngym list
many
$ ls
```

```python
print(1)
```
```text
1
```

```text
Not an output.
```
"""


@pytest.fixture(scope="module")
def maker() -> Any:
    return loaded("notebooks")


def test_a_page_becomes_cells_without_outputs(maker: Any) -> None:
    cells = maker.notebook_of(PAGE).cells[1:]
    assert [(cell.cell_type, cell.source) for cell in cells] == [
        ("markdown", "# A page\n\nText with a link and [another](https://example.org)."),
        ("code", "%%writefile my_task.py\n# my_task.py\nx = 1"),
        ("code", "!ngym list"),
        ("code", "print(1)"),
        ("markdown", "```text\nNot an output.\n```"),
    ]


def test_a_page_makes_the_same_file_again(maker: Any) -> None:
    assert maker.notebook_of(PAGE) == maker.notebook_of(PAGE)


def test_the_site_gets_the_notebooks_and_links_to_them(maker: Any, tmp_path: Path) -> None:
    import nbformat

    (tmp_path / "docs").mkdir()
    for name in maker.PAGES:
        (tmp_path / "docs" / f"{name}.md").write_bytes((DOCS / f"{name}.md").read_bytes())
    maker.write(tmp_path, tmp_path / "notebooks")
    for name in maker.PAGES:
        made = nbformat.read(tmp_path / "notebooks" / f"{name}.ipynb", 4)
        assert any(cell.cell_type == "code" for cell in made.cells)
        assert f'href="../notebooks/{name}.ipynb"' in (tmp_path / "docs" / f"{name}.md").read_text(
            "utf-8"
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", loaded("notebooks").PAGES)
def test_a_notebook_runs(
    maker: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Jupyter's own kernel, in an empty folder, with `ngym` of this environment."""
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    if name == "train-an-agent":
        pytest.importorskip("stable_baselines3")
    if name == "to-nwb-and-back":
        pytest.importorskip("pynwb")
    import sys

    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MPLBACKEND", "agg")
    made = maker.notebook_of((DOCS / f"{name}.md").read_text("utf-8"))
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(made, timeout=300, resources=resources).execute()
    failed = [
        f"{cell.source}\n{output['text']}"
        for cell in made.cells
        if cell.cell_type == "code" and cell.source.startswith("!")
        for output in cell.outputs
        if "Traceback" in output.get("text", "") or "No such command" in output.get("text", "")
    ]
    assert failed == []
