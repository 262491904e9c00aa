"""``ngym doctor``: problems, the packages that have them, and their remedies."""

from __future__ import annotations

import importlib.metadata
import json
import sys

import pytest
from neurogym_check.findings import torch_found
from sites import problems


def words(text: str) -> str:
    return " ".join(text.split())


def test_versions_origins_and_counts_are_shown(ngym, site) -> None:
    site.add("neurogym-task-foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0"))
    text = words(ngym("doctor", "--no-import").stdout)
    assert "numpy" in text
    assert f"neurogym-task-foo 1.0 1 task {site.path}" in text
    assert "No problems found" in text


@pytest.mark.parametrize(
    ("fields", "level", "code", "said"),
    [
        ({"requires": ["neurogym-core<1"]}, "fatal", "incompatible", "needs neurogym-core<1"),
        ({"requires": []}, "warning", "metadata", "does not say which neurogym-core"),
        (
            {"groups": {"neurogym.manifest": {"m": "foo:absent.toml"}}},
            "error",
            "manifest",
            "is not in the package",
        ),
    ],
)
def test_a_problem_has_level_code_and_message(
    site, fields: dict, level: str, code: str, said: str
) -> None:
    manifest = None if "neurogym.manifest" in fields.get("groups", {}) else site.row("Dots-v0")
    site.add("foo", **{"tasks": {"Dots-v0": ""}, "manifest": manifest, **fields})
    (problem,) = problems(package="foo")
    assert problem[:2] == (level, code)
    assert said in problem[2]


def test_exit_codes(ngym, site) -> None:
    """0 with warnings, 1 with errors; with NGYM_STRICT warnings count."""
    site.add("foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0", tags='["no such tag"]'))
    assert ngym("doctor", "--no-import").exit_code == 0
    assert ngym("doctor", "--no-import", NGYM_STRICT="1").exit_code == 1
    site.add("bar", tasks={"Dots": ""})
    assert ngym("doctor", "--no-import").exit_code == 1
    assert ngym("doctor", "--no-import", NGYM_BLOCK="bar").exit_code == 1
    assert ngym("doctor", "--seconds", "0").exit_code == 2


CHECKUP = """
from neurogym_core import hookimpl
from neurogym_core.tools import Problem

open({canary!r}, "w")

@hookimpl
def ngym_checkup(packages):
    problem = Problem(level="error", code="revoked", message="Foo steals.")
    return [(one.distribution, "", problem) for one in packages if one.distribution == "foo"]
"""


def add_checkup(site, name: str, canary) -> None:
    value = f"{name.replace('-', '_')}.plugin"
    site.add(
        name,
        files={"plugin.py": CHECKUP.format(canary=str(canary))},
        groups={"neurogym.plugins": {"ngym_checkup": value}},
    )


def test_a_problem_that_a_package_finds_is_shown_with_the_package_that_has_it(
    ngym, site, tmp_path
) -> None:
    site.add("foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0"))
    add_checkup(site, "knows", tmp_path / "canary")
    assert problems(package="foo") == [("error", "revoked", "Foo steals.")]
    assert problems(package="knows") == []
    assert "1 plugin" in ngym("doctor", "--no-import").stdout


def test_without_imports_only_packages_of_this_project_are_asked(
    site, tmp_path, monkeypatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("neurogym_registry")]:
        monkeypatch.delitem(sys.modules, name)  # other tests may have imported the real package
    site.add("foo", tasks={"Dots-v0": ""}, manifest=site.row("Dots-v0"))
    add_checkup(site, "knows", tmp_path / "canary")
    assert problems("--no-import", package="foo") == []
    assert not (tmp_path / "canary").exists()
    add_checkup(site, "neurogym-registry", tmp_path / "ours")
    assert problems("--no-import", package="foo") == [("error", "revoked", "Foo steals.")]
    assert not (tmp_path / "canary").exists()


def test_a_package_whose_checkup_fails_is_named(site, tmp_path) -> None:
    add_checkup(site, "knows", tmp_path / "missing" / "canary")
    (problem,) = problems(package="knows")
    assert problem[:2] == ("error", "import")
    assert "FileNotFoundError" in problem[2]
    assert "python -m pip uninstall knows" in problem[2]


def test_one_line_names_the_package_that_brings_a_check_which_is_not_done(ngym, site) -> None:
    text = words(ngym("doctor", "--no-import").stdout)
    assert "not checked revoked versions 'ngym registry' comes with neurogym-registry" in text
    assert "No problems found" in text


def test_at_40_columns_nothing_but_paths_is_wider(ngym, site) -> None:
    site.add("foo", tasks={"Dots": ""})
    assert max(map(len, ngym("doctor", "--no-import", COLUMNS="40").stdout.splitlines())) <= 40


def test_the_kernel_that_plays_is_shown_with_the_reason(ngym, site) -> None:
    assert "The plain kernel plays: NGYM_KERNEL is plain." in words(
        ngym("doctor", "--no-import", NGYM_KERNEL="plain").stdout
    )
    result = ngym("doctor", "--no-import", "--json", NGYM_KERNEL="plain")
    assert json.loads(result.stdout)["kernel"] == {
        "name": "plain",
        "reason": "NGYM_KERNEL is plain",
    }
    assert result.exit_code == 0


def test_an_unknown_kernel_is_one_more_problem(ngym, site) -> None:
    site.add("foo", tasks={"Dots": ""})
    alone = ngym("doctor", "--no-import", NGYM_KERNEL="plain")
    assert "1 problem" in alone.stdout
    result = ngym("doctor", "--no-import", NGYM_KERNEL="fast")
    assert result.exit_code == 1
    assert "NGYM_KERNEL is 'fast'. Expected plain or compiled." in words(result.stdout)
    assert "2 problems" in result.stdout
    (found,) = [json.loads(ngym("doctor", "--no-import", "--json", NGYM_KERNEL="fast").stdout)]
    assert found["kernel"]["name"] is None
    assert not found["ok"]


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({}, None),
        ({"nvidia-cublas": 0.7e9}, None),
        ({"torch": 1.5e9}, "torch 2.13.0 takes 1.5 GB, without packages of CUDA."),
        (
            {"torch": 1.5e9, "nvidia-cublas": 0.7e9, "nvidia-cudnn": 3e9},
            "torch 2.13.0 takes 5.2 GB, CUDA for GPUs included (nvidia-...). For CPUs alone, make"
            " a new environment with: uv pip install --torch-backend cpu torch",
        ),
    ],
)
def test_the_size_of_torch_is_shown_with_its_cuda(
    ngym, site, monkeypatch: pytest.MonkeyPatch, sizes: dict, said: str | None
) -> None:
    for name, size in sizes.items():
        folder = site.path / f"{name.replace('-', '_')}-2.13.0.dist-info"
        folder.mkdir()
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.13.0\n"
        folder.joinpath("METADATA").write_text(text, "utf-8")
        folder.joinpath("RECORD").write_text(f"{name}.so,,{size:.0f}\n", "utf-8")
        site.path.joinpath(f"{name}.so").touch()  # missing files are not listed
    there = list(importlib.metadata.distributions(path=[str(site.path)]))
    monkeypatch.setattr(importlib.metadata, "distributions", lambda **_: iter(there))
    assert torch_found() == said
    monkeypatch.undo()
    assert "torch" in json.loads(ngym("doctor", "--no-import", "--json").stdout)
