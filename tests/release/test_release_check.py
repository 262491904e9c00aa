"""The parts of `make release-check` that decide: order, requirements, commands of READMEs, tags."""

from __future__ import annotations

import subprocess
import sys
from email.message import Message
from pathlib import Path

import pytest
from scripts import loaded

ROOT = Path(__file__).resolve().parents[2]
checker = loaded(ROOT / ".ci" / "release_check.py")
verdicts = loaded(ROOT / ".ci" / "verdicts.py")
TABLES = {one["name"]: one for one in map(verdicts.table_of, verdicts.folders())}
NEEDS = {name: checker.needs_of(one, set(TABLES)) for name, one in TABLES.items()}
READMES = {
    verdicts.table_of(one)["name"]: (one / "README.md").read_text("utf-8")
    for one in verdicts.folders()
}


def said(name: str, *requires: str) -> Message:
    message = Message()
    message["Name"] = name
    for one in requires:
        message["Requires-Dist"] = one
    return message


def test_packages_are_released_after_those_that_they_require() -> None:
    layers = checker.order(NEEDS)
    assert layers[0] == ["neurogym-core"]
    before = set[str]()
    for layer in layers:
        for name in layer:
            assert NEEDS[name] <= before, name
        before |= set(layer)
    assert before == set(TABLES)
    with pytest.raises(SystemExit, match="a: the packages require each other"):
        checker.order({"a": {"b"}, "b": {"a"}})


def test_the_closure_has_all_requirements_in_order() -> None:
    assert checker.closure(["neurogym-torch"], NEEDS) == [
        "neurogym-core", "neurogym-neural", "neurogym-plot", "neurogym-behaviour",
        "neurogym-records", "neurogym-training", "neurogym-torch",
    ]  # fmt: skip


def test_the_index_is_never_asked_for_a_package_of_this_project() -> None:
    core = said(
        "neurogym-core", "numpy>=1.26", "rich>=13; extra == 'x'", "tomli>=1; python_version < '3'"
    )
    study = said("neurogym-training", "neurogym-core>=1,<2", "numpy>=1.26", "dask[distributed]>=1")
    own = {"neurogym-core", "neurogym-training", "neurogym-plot"}
    assert checker.of_others([core, study], own) == ["numpy>=1.26", "dask[distributed]>=1"]
    for cheat in ("neurogym-plot>=1,<2", "Neurogym.Plot>=1", "neurogym_plots>=1"):
        with pytest.raises(SystemExit, match="which is not among the wheels"):
            checker.of_others([core, said("neurogym-training", cheat)], own)


@pytest.mark.parametrize("name", sorted(READMES))
def test_every_readme_has_first_commands(name: str) -> None:
    packages, steps = checker.first_commands(READMES[name], name)
    assert packages[0] == "neurogym-core"
    assert name in packages
    assert set(packages) <= set(TABLES)
    assert any(one.kind != "file" for one in steps)
    # An installed checkout has more than the wheels that the README names.
    for package in NEEDS[name]:
        assert package in packages


def test_a_readme_without_an_install_line_or_without_commands_is_noticed() -> None:
    assert checker.first_commands("# A\n\n```\nngym list\n```\n", "neurogym-a") == ([], [])
    text = "`pip install -e . -e plugins/neurogym-a`\n"
    assert checker.first_commands(text, "neurogym-a") == (["neurogym-core", "neurogym-a"], [])


def test_the_first_block_with_something_to_run_is_taken() -> None:
    text = (
        "```python\nbefore = 1\n```\n"
        "```\npip install -e . -e plugins/neurogym-a\nngym install b\n```\n"
        "```python\n# my_task.py\nx = 1\n```\n"
        "```console\n$ ngym run my_task.py # a comment\nngym: an output\n$ sed x\n```\n"
        "```python\nafter = 1\n```\n"
    )
    packages, steps = checker.first_commands(text, "neurogym-a")
    assert packages == ["neurogym-core", "neurogym-a"]
    assert [(one.kind, one.path) for one in steps] == [("file", "my_task.py"), ("command", "")]
    assert steps[1].text == "ngym run my_task.py"


def test_trainings_of_readmes_are_short() -> None:
    words = "ngym train X-v0 --algo ppo --steps 50000 --criterion 0.75 --out run"
    text = f"```\npip install -e . -e plugins/neurogym-a\n{words}\n```\n"
    (step,) = checker.first_commands(text, "neurogym-a")[1]
    assert step.text == "ngym train X-v0 --algo ppo --steps 50000 --out run --steps 2000"


@pytest.mark.parametrize(
    ("tag", "right"),
    [
        ("v1.0.0", True),
        ("neurogym-training-v1.0.0", True),
        ("v1.0.1", False),
        ("neurogym-training-v1.0.1", False),
        ("neurogym-nothing-v1.0.0", False),
        ("1.0.0", False),
    ],
)
def test_a_tag_names_a_package_and_its_version(tag: str, right: bool) -> None:
    versions = {"neurogym-core": "1.0.0", "neurogym-training": "1.0.0"}
    assert (checker.wrong_tag(tag, versions) == []) is right


def test_a_release_has_each_package_and_no_other_file() -> None:
    good = ["a-1-py3-none-any.whl", "a-1.tar.gz", "b-1-py3-none-any.whl", "b-1.tar.gz"]
    assert checker.incomplete(good, {"a", "b"}) == []
    for missing in good:
        rest = [one for one in good if one != missing]
        (line,) = checker.incomplete(rest, {"a", "b"})
        assert "no file" in line
    for strange in ("c-1.tar.gz", "a-1.zip", "evil.whl"):
        (line,) = checker.incomplete([*good, strange], {"a", "b"})
        assert line.startswith(f"{strange}: archive: is no wheel")
    assert checker.incomplete(["a-1-cp311-cp311-win_amd64.whl"], {"a"}, compiled=True) == []
    assert len(checker.incomplete(["a-1-cp311-cp311-win_amd64.whl"], {"a"})) == 2
    assert len(checker.incomplete([], {"a"}, compiled=True)) == 1


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ([], "neurogym_core: archive: no file neurogym_core-...-py3-none-any.whl"),
        (["neurogym-core"], "neurogym_core: archive: no file neurogym_core-....whl"),
    ],
)
def test_a_folder_that_lacks_a_package_is_refused(
    tmp_path: Path, monkeypatch, capsys, only: list[str], said: str
) -> None:
    (tmp_path / "neurogym_training-1.0.0.tar.gz").write_bytes(b"no archive")
    monkeypatch.setattr(checker.Checked, "run", lambda *_, **__: True)  # twine
    words = ["--judge", str(tmp_path), *(["--only", *only] if only else [])]
    assert checker.main([*words, "--before-names"]) == 1
    out = capsys.readouterr().out
    assert said in out
    assert "neurogym_training-1.0.0.tar.gz: archive: neurogym_training-1.0.0.tar.gz cannot" in out
    assert out.rstrip().endswith("Nothing can be released.")


def test_a_name_of_no_package_is_refused(capsys) -> None:
    with pytest.raises(SystemExit):
        checker.main(["--only", "neurogym-nothing"])
    assert "neurogym-nothing: no package of this project. Expected" in capsys.readouterr().err


def test_a_checkout_that_is_not_committed_is_refused(tmp_path: Path, monkeypatch) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(checker, "ROOT", tmp_path)
    monkeypatch.setattr(checker, "folders", lambda: [tmp_path])
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "neurogym-core"\n', "utf-8")
    (tmp_path / "neurogym_core").mkdir()
    code = tmp_path / "neurogym_core" / "a.py"
    code.write_text("x = 1\n", "utf-8")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "a")
    (tmp_path / "wheelhouse").mkdir()
    (tmp_path / "wheelhouse" / "notes.txt").touch()  # in no archive
    assert checker.uncommitted() == []
    code.write_text("x = 2\n", "utf-8")
    (line,) = checker.uncommitted()
    assert line.startswith("checkout: 1 files are not committed: neurogym_core/a.py.")
    git("add", "-A", "neurogym_core")
    assert len(checker.uncommitted()) == 1
    git("commit", "-qm", "b")
    forgotten = tmp_path / "neurogym_core" / "b.py"
    forgotten.touch()
    (line,) = checker.uncommitted()
    assert "neurogym_core/b.py" in line
    forgotten.unlink()
    code.unlink()
    assert len(checker.uncommitted()) == 1


def test_a_changed_package_needs_another_version() -> None:
    changed = {"a": True, "b": True, "c": False, "new": True}
    then, now = (
        {"a": "1.0", "b": "1.0", "c": "1.0"},
        {"a": "1.0", "b": "1.1", "c": "1.0", "new": "1.0"},
    )
    (line,) = checker.same_version(changed, then, now)
    assert line.startswith("a: version: changed since the last release, and is still 1.0")


def test_changes_are_counted_from_the_release_before_this_one(tmp_path: Path, monkeypatch) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    def written(version: str, code: str) -> None:
        text = f'[project]\nname = "neurogym-core"\nversion = "{version}"\n'
        (tmp_path / "pyproject.toml").write_text(text, "utf-8")
        (tmp_path / "neurogym_core").mkdir(exist_ok=True)
        (tmp_path / "neurogym_core" / "a.py").write_text(code, "utf-8")
        git("add", "-A")
        git("commit", "-qm", "a")

    def said() -> int:
        version = verdicts.table_of(tmp_path)["version"]
        return len(checker.since_the_last_release({"neurogym-core": version}))

    monkeypatch.setattr(checker, "ROOT", tmp_path)
    monkeypatch.setattr(checker, "folders", lambda: [tmp_path])
    git("init", "-q")
    written("1.0.0", "x = 1\n")
    assert said() == 0  # no release yet
    git("tag", "v1.0.0")
    assert said() == 0  # this is the first one
    written("1.0.0", "x = 2\n")
    assert said() == 1
    git("tag", "v1.0.1")
    assert said() == 1  # the tag of this release does not hide the change
    written("1.1.0", "x = 2\n")
    git("tag", "v1.1.0")
    assert said() == 0
    written("1.1.1", "x = 3\n")
    git("tag", "neurogym-core-v1.1.1")
    assert said() == 0
    written("1.1.1", "x = 4\n")  # the package has a tag with this version
    assert said() == 1


@pytest.mark.parametrize(
    ("found", "waiting", "before_names", "status", "last"),
    [
        ([], [], False, 0, "All can be released."),
        ([], ["a DOI"], True, 0, "All but the placeholders can be released."),
        ([], ["a DOI"], False, 1, "Nothing can be released."),
        (["a defect"], [], True, 1, "Nothing can be released."),
    ],
)
def test_the_status_is_0_only_without_defects_and_placeholders(
    found, waiting, before_names, status, last, capsys
) -> None:
    checked = checker.Checked()
    checked.add(found)
    assert checker.report(checked, waiting, before_names=before_names) == status
    out = capsys.readouterr().out
    assert out.rstrip().endswith(last)
    assert all(f"- {line}" in out for line in [*found, *waiting])


def test_the_list_of_components_has_every_requirement() -> None:
    study = said("neurogym-training", "neurogym-core>=1,<2", "Numpy>=1.26")
    assert checker.missing_from({"numpy", "neurogym_core"}, [study], "neurogym-training") == []
    (line,) = checker.missing_from({"neurogym-core"}, [study], "neurogym-training")
    assert line == "neurogym-training: SBOM: numpy is missing"


def test_the_list_of_components_has_no_path_of_this_machine() -> None:
    links = [{"url": "https://example.org/numpy"}, {"url": "file:///home/ana/numpy.whl"}]
    core = {"name": "core", "externalReferences": [{"url": "file:///home/ana/core.whl"}]}
    bill = {
        "components": [{"name": "numpy", "externalReferences": links}, dict(core)],
        "metadata": {"component": dict(core)},
    }
    assert "/home" in str(bill)
    said = str(checker.without_paths(bill))
    assert "/home" not in said
    assert "https://example.org/numpy" in said


def test_the_files_for_the_index_are_in_folders_by_layer(tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    for folder in (dist, tmp_path / "sbom"):
        folder.mkdir()
    names = (
        "neurogym_core-1.0.0-py3-none-any.whl", "neurogym_core-1.0.0-cp311-cp311-linux_x86_64.whl",
        "neurogym_core-1.0.0.tar.gz", "neurogym_training-1.0.0-py3-none-any.whl",
    )  # fmt: skip
    for name in names:
        (dist / name).touch()
    checker.hand_over(dist, tmp_path / "out")
    found = {one.relative_to(tmp_path / "out").as_posix() for one in tmp_path.glob("out/*/*")}
    assert found == {f"0/{names[0]}", f"0/{names[2]}", f"4/{names[3]}"}


def test_a_failing_command_is_a_defect_with_its_output(tmp_path: Path) -> None:
    checked = checker.Checked()
    assert checked.run("good", sys.executable, "-c", "print(1)", cwd=tmp_path)
    assert not checked.run("bad", sys.executable, "-c", "raise SystemExit('gone')", cwd=tmp_path)
    (line,) = checked.found
    assert line.startswith("bad: status 1:")
    assert "gone" in line


def test_no_variable_of_this_process_reaches_the_environments(monkeypatch) -> None:
    for name in ("PIP_NO_INDEX", "PYTHONPATH", "NGYM_KERNEL", "PIP_TARGET"):
        monkeypatch.setenv(name, "/x")
    monkeypatch.setenv("PIP_INDEX_URL", "https://example.org")
    found = checker.environment(NEUROGYM_BUILD_KERNEL="0")
    assert not {"PIP_NO_INDEX", "PYTHONPATH", "NGYM_KERNEL", "PIP_TARGET"} & set(found)
    assert found["PIP_INDEX_URL"] == "https://example.org"
    assert found["NEUROGYM_BUILD_KERNEL"] == "0"
