"""Changes of a registry in git: only changed files are read, and owners are compared by number."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from neurogym_registry import change, keeping
from neurogym_registry.change import validate_change
from neurogym_registry.errors import RegistryError
from neurogym_registry.rules import validate
from neurogym_registry.writing import write_text

makers = sys.modules["ngym_test_registry_makers"]
DOTS, OTHER = "neurogym-task-dots", "neurogym-task-other"
ANA, BO, KIM = 11, 22, 33


class Repository:
    """A registry that is a git repository, with Ana's package and Kim as its keeper."""

    def __init__(self, keeper) -> None:
        self.keeper, self.folder = keeper, keeper.folder
        self.git("init", "--quiet", "--initial-branch", "main")
        self.entry(DOTS, "Ana", ANA)
        keeper.release(DOTS)
        write_text(self.folder / "keepers.toml", f'[[keepers]]\nname = "Kim"\ngithub_id = {KIM}\n')
        self.base = self.commit()

    def entry(self, name: str, who: str, number: int, **fields: Any) -> None:
        text = makers.entry_text(name, **fields).replace('name = "Ana"', f'name = "{who}"')
        self.keeper.entry(name, f"{text}github_id = {number}\n")

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        command = ["git", "-C", str(self.folder), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "A change")
        return self.git("rev-parse", "HEAD")

    def rules(self, actor: int | None) -> set[str]:
        self.commit()
        found = validate_change(self.folder, self.base, actor)
        return {one.rule for one in found if one.level == "error"}


@pytest.fixture
def repository(keeper) -> Repository:
    return Repository(keeper)


def yank(repository: Repository) -> None:
    repository.keeper.release(DOTS, yanked="Mine is better.")


def take_over(repository: Repository) -> None:
    repository.entry(DOTS, "Bo", BO)


def supersede(repository: Repository) -> None:
    repository.entry(OTHER, "Bo", BO)
    more = f'status = "superseded"\nsuperseded_by = "{OTHER}"'
    repository.entry(DOTS, "Ana", ANA, more=more)


def ask(repository: Repository) -> None:
    repository.entry(DOTS, "Ana", ANA, versions=("1.0.0", "9.9.0"))


def release(repository: Repository) -> None:
    repository.keeper.release(DOTS, "9.9.0")


def draw(repository: Repository) -> None:
    write_text(repository.folder / "releases" / DOTS / "1.0.0" / "Dots-v0.svg", "<svg/>")
    repository.keeper.release(DOTS, tasks=[makers.task_row("neurogym_task_dots", figure=FIGURE)])


FIGURE = {"file": "1.0.0/Dots-v0.svg", "sha256": hashlib.sha256(b"<svg/>").hexdigest()}


def revoke(repository: Repository) -> None:
    row = {"name": DOTS, "versions": ["*"], "reason": "Bad.", "date": "2026-11-21"}
    repository.keeper.revoke(row)


def become_keeper(repository: Repository) -> None:
    write_text(repository.folder / "keepers.toml", f'[[keepers]]\nname = "Bo"\ngithub_id = {BO}\n')


def change_workflow(repository: Repository) -> None:
    write_text(repository.folder / ".github" / "workflows" / "change.yml", "on: push\n")


OF_THE_OWNER = [yank, ask, take_over]
OF_KEEPERS = [release, revoke, become_keeper, change_workflow]


@pytest.mark.parametrize("act", [*OF_THE_OWNER, supersede, *OF_KEEPERS])
def test_a_stranger_changes_nothing_of_others(repository, act) -> None:
    act(repository)
    assert repository.rules(BO) == {"owners"}


@pytest.mark.parametrize("act", OF_THE_OWNER)
def test_an_owner_changes_the_own_package(repository, act) -> None:
    act(repository)
    assert repository.rules(ANA) == set()


@pytest.mark.parametrize("act", OF_KEEPERS)
def test_only_keepers_change_other_files(repository, act) -> None:
    act(repository)
    assert repository.rules(ANA) == {"owners"}
    assert repository.rules(KIM) == set()


def test_an_owner_adds_no_figure_to_a_release(repository) -> None:
    """The release has changed, too, which keepers may not do either."""
    draw(repository)
    assert repository.rules(ANA) == {"owners", "add-only", "figure"}
    assert repository.rules(KIM) == {"add-only", "figure"}


def test_neither_owner_nor_keeper_rewrites_a_release(repository) -> None:
    repository.keeper.release(DOTS, license="MIT")
    assert repository.rules(ANA) == repository.rules(KIM) == {"add-only"}


def test_a_new_package_belongs_to_the_account_that_adds_it(repository) -> None:
    repository.entry(OTHER, "Bo", BO)
    assert repository.rules(BO) == set()
    assert repository.rules(ANA) == {"owners"}
    repository.keeper.entry(OTHER)  # without a number
    assert repository.rules(BO) == {"owners"}


def test_a_stranger_lists_no_package_of_the_repository(repository) -> None:
    repository.entry(OTHER, "Bo", BO)
    path = repository.folder / "packages" / f"{OTHER}.toml"
    text = path.read_text("utf-8")
    line = next(one for one in text.splitlines() if one.startswith("repository = "))
    write_text(path, text.replace(line, f'folder = "plugins/{OTHER}"'))
    assert repository.rules(BO) == {"folder"}
    assert repository.rules(KIM) == set()


def test_the_name_of_a_new_package_is_compared_with_all_names(repository) -> None:
    repository.entry("neurogym-task-dot", "Bo", BO, added="2001-01-01")
    assert repository.rules(BO) == {"look-alike"}


def test_changes_on_the_main_branch_since_then_are_not_part_of_the_change(repository) -> None:
    repository.git("checkout", "--quiet", "-b", "change")
    repository.entry(OTHER, "Bo", BO)
    repository.commit()
    repository.git("checkout", "--quiet", "main")
    yank(repository)
    repository.base = repository.commit()
    repository.git("checkout", "--quiet", "change")
    assert repository.rules(BO) == set()


def former(repository: Repository, act) -> None:
    """An act from the commit before a keeper's change of the main branch, on a branch."""
    start = repository.base
    act(repository)
    repository.base = repository.commit()
    repository.git("checkout", "--quiet", "-b", "change", start)


def test_a_former_keeper_keeps_nothing_from_an_old_commit(repository) -> None:
    former(repository, become_keeper)  # Bo takes the place of Kim
    change_workflow(repository)
    assert repository.rules(KIM) == {"owners"}
    assert repository.rules(BO) == set()


def test_a_former_maintainer_asks_for_nothing_from_an_old_commit(repository) -> None:
    former(repository, take_over)
    text = repository.keeper.folder.joinpath("packages", f"{DOTS}.toml").read_text("utf-8")
    repository.keeper.entry(DOTS, text.replace("schema", 'versions = ["6.6.6"]\nschema'))
    assert repository.rules(ANA) == {"owners"}
    assert repository.rules(BO) == set()


def test_a_name_is_compared_with_names_that_the_branch_lacks(repository) -> None:
    former(repository, lambda there: there.entry("neurogym-task-walnut", "Ana", ANA))
    repository.entry("neurogym-task-wa1nut", "Bo", BO)
    assert "look-alike" in repository.rules(BO)


@pytest.mark.parametrize("kept", ["first", "second"])
@pytest.mark.parametrize("act", [yank, revoke, become_keeper, take_over])
def test_a_branch_with_two_merge_bases_takes_nothing_back(repository, act, kept: str) -> None:
    """The stranger merges both sides of a merge, and keeps one: their own difference is empty."""
    repository.git("checkout", "--quiet", "-b", "keepers")
    act(repository)
    one = repository.commit()
    repository.git("checkout", "--quiet", "main")
    repository.entry("neurogym-task-walnut", "Ana", ANA)
    two = repository.commit()
    repository.git("merge", "--quiet", "--no-ff", "--no-edit", one)
    repository.base = repository.git("rev-parse", "HEAD")
    mine, theirs = (one, two) if kept == "first" else (two, one)
    repository.git("checkout", "--quiet", "-b", "evil", mine)
    repository.git("merge", "--quiet", "--strategy", "ours", "--no-edit", theirs)
    assert len(repository.git("merge-base", "--all", repository.base, "HEAD").split()) == 2
    assert repository.rules(99) & {"owners", "add-only"}


def test_a_change_that_does_not_merge_is_an_error_that_names_the_file(repository) -> None:
    former(repository, yank)
    repository.keeper.release(DOTS, yanked="Another reason.")
    repository.commit()
    with pytest.raises(RegistryError, match=r"both change releases/.*1\.0\.0\.json"):
        validate_change(repository.folder, repository.base, ANA)


def test_files_beside_a_registry_in_a_subfolder_are_of_keepers(repository) -> None:
    top = repository.folder
    files = [path for path in top.iterdir() if path.name != ".git"]
    (top / "registry").mkdir()
    for path in files:
        path.rename(top / "registry" / path.name)
    repository.folder = repository.keeper.folder = top / "registry"
    repository.base = repository.commit()
    yank(repository)
    assert repository.rules(ANA) == set()
    write_text(top / "workflows" / "publish.yml", "on: push\n")
    assert repository.rules(ANA) == {"owners"}
    assert repository.rules(KIM) == set()


@pytest.mark.parametrize("text", ["not TOML", "maintainers = 3\n", 'name = "x"\n[[maintainers]]\n'])
def test_an_entry_that_cannot_be_read_is_not_of_its_first_reader(repository, text: str) -> None:
    repository.keeper.entry(DOTS, text)
    repository.base = repository.commit()
    repository.entry(DOTS, "Bo", BO)
    assert "owners" in repository.rules(BO)
    assert "owners" not in repository.rules(KIM)


def test_a_submodule_that_git_is_told_to_ignore_is_seen(repository, tmp_path: Path) -> None:
    start = repository.base
    text = '[submodule "tool"]\n\tpath = tool\n\turl = https://example.org/a\n\tignore = all\n'
    write_text(repository.folder / ".gitmodules", text)
    for one in (start, repository.git("rev-parse", "HEAD^{tree}")):
        repository.git("update-index", "--add", "--cacheinfo", f"160000,{one},tool")
        repository.git("add", ".gitmodules")
        repository.git("commit", "--quiet", "--allow-empty", "--message", "A module")
        if one == start:
            repository.base = repository.git("rev-parse", "HEAD")
    found = validate_change(repository.folder, repository.base, BO)
    assert "owners" in {one.rule for one in found if one.level == "error"}


def test_a_release_is_no_program(repository) -> None:
    yank(repository)
    (repository.folder / "releases" / DOTS / "1.0.0.json").chmod(0o755)
    assert "readable" in repository.rules(ANA)


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("\n ", "\n  "),
        lambda text: text.replace('"yanked"', '"license": "GPL-3.0-only",\n "yanked"'),
        lambda text: text.rstrip("\n"),
        lambda text: text.replace('"passed": 30', '"passed": 30.0'),
    ],
)
def test_the_bytes_of_a_release_stay_when_it_is_yanked(repository, edit) -> None:
    yank(repository)
    path = repository.folder / "releases" / DOTS / "1.0.0.json"
    text = path.read_text("utf-8")
    assert edit(text) != text
    write_text(path, edit(text))
    assert "add-only" in repository.rules(ANA)


@pytest.mark.parametrize("reason", ["", "  ", ". .", "x"])
def test_a_yank_has_a_reason(repository, reason: str) -> None:
    repository.keeper.release(DOTS, yanked=reason)
    assert repository.rules(ANA) == {"schema"}


def test_two_changes_do_not_conflict(repository) -> None:
    """The index is built when the registry is published, and is no part of a change."""
    for branch, name, number in (("one", "neurogym-task-reaching", ANA), ("two", OTHER, BO)):
        repository.git("checkout", "--quiet", "-b", branch, repository.base)
        repository.entry(name, "Ana", number)
        repository.keeper.release(name)
        repository.commit()
    repository.git("merge", "--quiet", "--no-edit", "one")
    assert validate(repository.folder) == []
    assert repository.rules(None) == set()


def test_a_part_is_judged_as_the_whole_registry(repository, tmp_path: Path) -> None:
    repository.entry(OTHER, "Bo", BO)
    repository.keeper.release(OTHER, license="Mine", requires_core="")
    part = {(one.rule, one.file) for one in _errors(repository)}
    whole = {(one.rule, one.file) for one in validate(repository.folder) if one.level == "error"}
    assert part == whole
    assert {rule for rule, _ in part} == {"licence", "core-bound"}


def _errors(repository: Repository) -> list:
    repository.commit()
    return validate_change(repository.folder, repository.base, KIM)


def test_attributes_of_git_hide_no_file(repository) -> None:
    """`git archive` leaves out files that a .gitattributes file in the change says to ignore."""
    repository.entry(OTHER, "Bo", BO)
    repository.keeper.release(OTHER, license="Mine")
    path = repository.folder / "releases" / OTHER / ".gitattributes"
    write_text(path, "* export-ignore\n.gitattributes export-ignore\n")
    assert repository.rules(KIM) == {"licence", "layout"}
    assert repository.rules(BO) == {"licence", "layout", "owners"}


def test_links_are_refused_and_names_with_colons_are_names(repository) -> None:
    repository.entry(OTHER, "Bo", BO)
    (repository.folder / "releases" / OTHER).mkdir()
    (repository.folder / "releases" / OTHER / "1.0.0.json").symlink_to("/etc/passwd")
    assert repository.rules(KIM) == {"readable"}
    write_text(repository.folder / ":(exclude)revoked.json", "x")
    assert repository.rules(KIM) == {"readable", "layout"}
    assert repository.rules(BO) == {"readable", "owners", "layout"}


def written_tree(repository: Repository, rows: list[tuple[str, str, str]]) -> str:
    """Write a tree of (mode, name, object), which git itself would refuse, and return its id."""
    raw = b"".join(
        f"{mode} {name}\0".encode() + bytes.fromhex(number) for mode, name, number in rows
    )
    command = ["git", "-C", str(repository.folder), "hash-object", "-w", "-t", "tree"]
    done = subprocess.run([*command, "--literally", "--stdin"], input=raw, capture_output=True)
    return done.stdout.decode().strip()


def rows_of(repository: Repository, treeish: str) -> list[tuple[str, str, str]]:
    lines = repository.git("ls-tree", treeish).splitlines()
    heads = [line.partition("\t") for line in lines]
    found = [(*head.split(" "), name) for head, _, name in heads]
    return [(mode.lstrip("0"), name, number) for mode, _, number, name in found]


@pytest.mark.parametrize("up", ["..", ".git", "."])
def test_a_path_that_leads_out_of_its_folder_is_an_error(repository, up: str) -> None:
    """A stranger wrote the list of keepers by which the change was judged."""
    take_over(repository)
    repository.commit()
    own = repository.folder / "own.toml"
    own.write_text(f'[[keepers]]\nname = "Bo"\ngithub_id = {BO}\n', "utf-8")
    number = repository.git("hash-object", "-w", str(own))
    own.unlink()
    tree = written_tree(repository, [("100644", "keepers.toml", number)])
    tree = written_tree(repository, [("40000", "old", tree)])
    for _ in range(3):
        tree = written_tree(repository, [("40000", up, tree)])
    rows = [*rows_of(repository, "HEAD:releases"), ("40000", OTHER, tree)]
    releases = written_tree(repository, sorted(rows, key=lambda row: row[1]))
    top = [
        (mode, name, releases if name == "releases" else one)
        for mode, name, one in rows_of(repository, "HEAD")
    ]
    commit = repository.git(
        "commit-tree", written_tree(repository, top), "-p", repository.base, "-m", "x"
    )
    repository.git("update-ref", "--no-deref", "HEAD", commit)
    with pytest.raises(RegistryError, match="Expected paths within the repository"):
        validate_change(repository.folder, repository.base, BO)


def test_an_entry_that_a_tree_has_twice_is_an_error(repository) -> None:
    take_over(repository)
    repository.commit()
    bad = repository.git("rev-parse", f"HEAD:packages/{DOTS}.toml")
    good = repository.git("rev-parse", f"{repository.base}:packages/{DOTS}.toml")
    for order in ((bad, good), (good, bad)):
        packages = written_tree(
            repository, [("100644", f"{DOTS}.toml", number) for number in order]
        )
        top = [
            (mode, name, packages if name == "packages" else one)
            for mode, name, one in rows_of(repository, repository.base)
        ]
        commit = repository.git(
            "commit-tree", written_tree(repository, top), "-p", repository.base, "-m", "x"
        )
        repository.git("update-ref", "--no-deref", "HEAD", commit)
        with pytest.raises(RegistryError):
            validate_change(repository.folder, repository.base, BO)


@pytest.mark.parametrize("base", ["nowhere", "--output=evil", ""])
def test_a_commit_that_git_does_not_know_is_an_error(repository, base: str) -> None:
    with pytest.raises(RegistryError, match="git rev-parse failed"):
        validate_change(repository.folder, base, BO)
    assert not (repository.folder / "evil").exists()


def test_the_keepers_are_those_before_the_change(repository) -> None:
    become_keeper(repository)
    revoke(repository)
    assert repository.rules(BO) == {"owners"}
    write_text(repository.folder / "keepers.toml", "nothing")
    assert change._keepers(repository.folder) == set()


@pytest.mark.slow
def test_the_workflows_of_a_new_registry_pass_zizmor(tmp_path: Path) -> None:
    keeping.new(tmp_path / "ours", "Kim", KIM)
    path = shutil.which("zizmor", path=Path(sys.executable).parent)
    assert path is not None, "zizmor is not installed; the group `test` has it"
    done = subprocess.run(
        [path, "--offline", "--min-severity", "low", tmp_path / "ours"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_the_steps_of_the_workflow_find_a_stranger(ngym, repository, tmp_path: Path) -> None:
    """HEAD becomes the head of the pull request, while the files stay those of the main branch."""
    repository.git("checkout", "--quiet", "-b", "change")
    yank(repository)
    head = repository.commit()
    repository.git("checkout", "--quiet", "main")
    repository.git("update-ref", "--no-deref", "HEAD", head)
    command = ("registry", "validate", str(repository.folder), "--base", repository.base)
    assert ngym(*command, "--actor", str(BO)).exit_code == 1
    assert ngym(*command, "--actor", str(ANA)).exit_code == 0


class TestCommands:
    """`ngym registry yank`, `revoke` and `transfer` write valid files."""

    def call(self, ngym, repository, *arguments: str):
        result = ngym("registry", *arguments)
        repository.keeper.build()
        return result

    def test_yank(self, ngym, repository) -> None:
        yank_it = ("yank", DOTS, "1.0.0", str(repository.folder), "--reason", "Wrong timing.")
        assert self.call(ngym, repository, *yank_it).exit_code == 0
        path = repository.folder / "releases" / DOTS / "1.0.0.json"
        assert json.loads(path.read_text("utf-8"))["yanked"] == "Wrong timing."
        assert repository.rules(ANA) == {"owners"}  # of the index
        repository.keeper.remove_index()
        assert repository.rules(ANA) == set()
        assert "yanked already" in self.call(ngym, repository, *yank_it).stderr
        unknown = ("yank", DOTS, "7.0", str(repository.folder), "--reason", "x")
        assert "is not in" in self.call(ngym, repository, *unknown).stderr

    def test_revoke(self, ngym, repository) -> None:
        options = ("--registry", str(repository.folder), "--reason", "Steals keys.")
        assert self.call(ngym, repository, "revoke", DOTS, "1.0.0", *options).exit_code == 0
        address = ("--advisory", "https://example.org/1")
        result = self.call(ngym, repository, "revoke", "evil", "*", *options, *address)
        assert result.exit_code == 0, result.output
        assert validate(repository.folder) == []
        rows = json.loads((repository.folder / "revoked.json").read_text("utf-8"))["revoked"]
        assert [row["versions"] for row in rows] == [["1.0.0"], ["*"]]

    def test_transfer(self, ngym, repository) -> None:
        to = ("--to", "Bo", "--github", "bo", "--github-id", str(BO), "--reason", "Ana retired.")
        result = self.call(ngym, repository, "transfer", DOTS, str(repository.folder), *to)
        assert result.exit_code == 0, result.output
        assert validate(repository.folder) == []
        repository.keeper.remove_index()
        assert repository.rules(ANA) == set()
        repository.base = repository.commit()
        yank(repository)
        assert repository.rules(ANA) == {"owners"}
        assert repository.rules(BO) == set()

    def test_new(self, ngym, tmp_path: Path) -> None:
        folder = tmp_path / "ours"
        result = ngym("registry", "new", str(folder), "--keeper", "Kim", "--github-id", "33")
        assert result.exit_code == 0, result.output
        assert validate(folder) == []
        assert change._keepers(folder) == {33}
        workflows = sorted(path.name for path in (folder / ".github" / "workflows").iterdir())
        assert workflows == ["accept.yml", "publish.yml", "rules.yml"]
        again = ngym("registry", "new", str(folder), "--keeper", "Kim", "--github-id", "33")
        assert "is not empty" in again.stderr

    def test_a_reason_is_one_line_of_plain_text(self, ngym, repository) -> None:
        bad = ("yank", DOTS, "1.0.0", str(repository.folder), "--reason", "a\x1b[31m")
        assert "one line of plain text" in self.call(ngym, repository, *bad).stderr
