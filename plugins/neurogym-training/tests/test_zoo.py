"""`ngym models`: runs as archives with hashes, which are compared before anything is unpacked."""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from neurogym_training import Run, zoo

from neurogym_core import InvalidValueError, UnknownNameError

TASK = "perceptual/PerceptualDecisionMaking-v0"


@pytest.fixture
def run(toys, ngym):
    code, said = ngym(
        "train", TASK, "--model", "toy", "--updates", 20, "--out", "runs/toy", "--quiet"
    )
    assert code == 0, said
    return Path("runs/toy")


def rewritten(folder, change):
    """Change the index of a collection."""
    said = json.loads((folder / zoo.INDEX).read_text())
    change(said["models"][0])
    (folder / zoo.INDEX).write_text(json.dumps(said))


def test_a_packed_run_is_got_and_opened_like_the_first(run, ngym):
    code, said = ngym("models", "pack", run, "--out", "zoo")
    assert code == 0, said
    code, said = ngym("models", "list", "--from", "zoo")
    assert "toy" in said
    assert TASK in said
    code, said = ngym("models", "get", "toy", "--from", "zoo", "--out", "copy")
    assert code == 0, said
    one, other = Run.open(run).trainer(), Run.open("copy").trainer()
    assert (one.done, one.skill, one.curve) == (other.done, other.skill, other.curve)
    assert one.play(20, seed=1) == other.play(20, seed=1)
    code, said = ngym("models", "get", "toy", "--from", "zoo", "--out", "copy")
    assert code == 2
    assert "exists" in said


def test_the_best_checkpoint_is_packed_where_it_is_named(run):
    best = run / "best"
    state = json.loads((best / "toy.json").read_text())
    changed = {**state, "skill": 0.123, "curve": [{**state["curve"][0], "accuracy": 0.321}]}
    (best / "toy.json").write_text(json.dumps(changed))
    (model,) = zoo.pack([best], "zoo")
    assert model.accuracy == 0.321, "of the checkpoint that is packed"
    assert Run.open(zoo.get("toy", "zoo", "copy")).trainer().skill == 0.123


def test_a_folder_may_be_given_by_its_address(run, ngym):
    place = Path("a zoo#1")  # characters that an address quotes
    zoo.pack([run], place)
    address = place.resolve().as_uri()
    code, said = ngym("models", "list", "--from", address)
    assert code == 0, said
    assert TASK in said
    assert Run.open(zoo.get("toy", address, "copy")).started
    elsewhere = address.replace("file://", "file://elsewhere")
    with pytest.raises(InvalidValueError, match="names the machine 'elsewhere'"):
        zoo.models(elsewhere)
    with pytest.raises(InvalidValueError, match="cannot be read"):
        zoo.models(address + "x")


def test_the_same_run_has_the_same_hash(run):
    (one,) = zoo.pack([run], "one")
    (other,) = zoo.pack([run], "other")
    assert one == other


def test_an_archive_that_was_changed_is_not_unpacked(run):
    (model,) = zoo.pack([run], "zoo")
    archive = Path("zoo", model.file)
    content = bytearray(archive.read_bytes())
    content[-30] ^= 1
    archive.write_bytes(content)
    with pytest.raises(InvalidValueError, match="hash"):
        zoo.get("toy", "zoo", "copy")
    archive.write_bytes(bytes(content) + b" ")
    with pytest.raises(InvalidValueError, match="more than"):
        zoo.get("toy", "zoo", "copy")
    archive.unlink()
    with pytest.raises(InvalidValueError, match="cannot be read"):
        zoo.get("toy", "zoo", "copy")
    assert not Path("copy").exists()


def replaced(content):
    """Put another archive with a right hash into the collection "zoo"."""
    Path("zoo/toy.zip").write_bytes(content)
    rewritten(
        Path("zoo"),
        lambda one: one.update(sha256=hashlib.sha256(content).hexdigest(), size=len(content)),
    )


def zipped(*files, method=zipfile.ZIP_STORED):
    buffer = BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
        warnings.simplefilter("ignore")  # of two files of one name
        for name, content in files:
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "a/b", ".hidden", "c:\\x"])
def test_files_outside_of_the_folder_are_refused(name, run):
    zoo.pack([run], "zoo")
    settings = (run / "settings.json").read_text()
    replaced(zipped(("settings.json", settings), (name, "evil")))
    with pytest.raises(InvalidValueError, match="refused: it has the file"):
        zoo.get("toy", "zoo", "copy")
    assert sorted(path.name for path in Path().iterdir()) == ["runs", "zoo"]


def test_an_archive_that_holds_no_run_is_refused(run):
    zoo.pack([run], "zoo")
    settings = (run / "settings.json").read_text()
    tasks = json.dumps({**json.loads(settings), "experiment": {"tasks": "ab", "wrap": []}})
    replaced(zipped(("settings.json", settings)))
    zoo.get("toy", "zoo", "right")
    for text in ("{}", "[]", "", "\xff", tasks, "[" * 100_000):
        replaced(zipped(("settings.json", text.encode("latin-1"))))
        with pytest.raises(InvalidValueError, match="not that of a run"):
            zoo.get("toy", "zoo", "new/copy")
    for other in ("settings.json", "Settings.json"):
        replaced(zipped(("settings.json", "{}"), (other, settings)))
        with pytest.raises(InvalidValueError, match="two files of one name"):
            zoo.get("toy", "zoo", "new/copy")
    assert sorted(path.name for path in Path().iterdir()) == ["right", "runs", "zoo"]


def test_a_damaged_archive_is_refused(run):
    zoo.pack([run], "zoo")
    settings = (run / "settings.json").read_text()
    content = bytearray(zipped(("settings.json", settings), method=zipfile.ZIP_DEFLATED))
    content[30 + len("settings.json")] = 0xFF  # the first byte of the stream: no such block
    replaced(bytes(content))
    with pytest.raises(InvalidValueError, match=r"damaged \(.*invalid block type"):
        zoo.get("toy", "zoo", "copy")
    replaced(zipped(("settings.json", settings), method=zipfile.ZIP_BZIP2))
    with pytest.raises(InvalidValueError, match="another method"):
        zoo.get("toy", "zoo", "copy")
    assert not Path("copy").exists()


@pytest.mark.parametrize("out", ["file", "dangling", "file/below", "file/below/deep"])
@pytest.mark.parametrize("command", ["get", "pack"])
def test_a_place_that_can_be_no_folder_is_refused_in_one_sentence(command, out, run, ngym):
    zoo.pack([run], "zoo")
    Path("file").touch()
    Path("dangling").symlink_to("nowhere")
    words = ("get", "toy", "--from", "zoo") if command == "get" else ("pack", run)
    code, said = ngym("models", *words, "--out", out)
    assert code == 2, said
    assert "Expected" in said
    assert "Give another" in said
    assert "Traceback" not in said
    assert Path("file").read_bytes() == b""
    assert not Path("nowhere").exists()


def test_other_files_of_the_folder_are_not_packed(run):
    for name in ("notes.txt", "id_rsa", ".hidden"):
        (run / name).write_text("private")
        (run / "best" / name).write_text("private")
    for packed, out in ((run, "one"), (run / "best", "other")):
        (model,) = zoo.pack([packed], out)
        with zipfile.ZipFile(Path(out, model.file)) as archive:
            names = sorted(archive.namelist())
        assert names == ["card.md", "curve.csv", "settings.json", "toy.json"]


@pytest.mark.parametrize("link", ["notes.txt", "card.md", "toy.json", "best"])
def test_links_in_a_run_are_refused(link, run):
    path = run / link
    if path.exists():
        path.rename("elsewhere")
    else:
        Path("elsewhere").write_text("private")
    path.symlink_to(Path("elsewhere").resolve())
    with pytest.raises(InvalidValueError, match=rf"has the link '{link}'"):
        zoo.pack([run / "best" if link == "best" else run], "zoo")
    assert not Path("zoo").exists()


def test_files_that_cannot_be_packed_are_named(run, monkeypatch):
    read = Path.read_bytes

    def unreadable(path):
        if path.name == "card.md":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", unreadable)  # root may read everything
        with pytest.raises(InvalidValueError, match=r"card\.md of the run .* cannot be read"):
            zoo.pack([run], "zoo")
    (run / "card.md").unlink()
    (run / "card.md").mkdir()
    with pytest.raises(InvalidValueError, match=r"has 'card\.md'. Expected"):
        zoo.pack([run], "zoo")
    assert not Path("zoo").exists()


def test_nothing_is_left_when_packing_fails(run, ngym):
    code, said = ngym("models", "pack", run, "nothere", "--out", "new/zoo")
    assert code == 2, said
    assert not Path("new").exists()
    zoo.pack([run], "zoo")
    before = {path.name: path.read_bytes() for path in Path("zoo").iterdir()}
    shutil.copytree(run, "runs/other")
    for wrong in ("nothere", run, "runs/other"):
        with pytest.raises(InvalidValueError):
            zoo.pack(["runs/other", wrong], "zoo")
    assert {path.name: path.read_bytes() for path in Path("zoo").iterdir()} == before
    assert [one.name for one in zoo.pack(["runs/other"], "zoo")] == ["other"]
    assert [one.name for one in zoo.models("zoo")] == ["toy", "other"]


def test_a_file_that_is_not_of_the_collection_is_not_overwritten(run):
    Path("zoo").mkdir()
    Path("zoo/toy.zip").write_text("mine")
    with pytest.raises(InvalidValueError, match="taken"):
        zoo.pack([run], "zoo")
    assert Path("zoo/toy.zip").read_text() == "mine"


def test_a_model_without_an_accuracy_is_listed(run, ngym):
    zoo.pack([run], "zoo")
    rewritten(Path("zoo"), lambda one: one.pop("accuracy"))
    code, said = ngym("models", "list", "--from", "zoo")
    assert code == 0, said
    assert "accuracy" not in said
    state = json.loads((run / "toy.json").read_text())
    state["curve"][-1]["accuracy"] = float("nan")
    (run / "toy.json").write_text(json.dumps(state))
    (model,) = zoo.pack([run], "other")
    assert model.accuracy is None
    assert zoo.models("other") == [model]


@pytest.mark.parametrize(
    "wrong",
    [
        {"file": "../toy.zip"},
        {"name": "../toy"},
        {"sha256": "0" * 63},
        {"size": zoo.MOST + 1},
        {"size": "5"},
        {"size": True},
        {"accuracy": None},
        {"accuracy": "0.5"},
        {"accuracy": True},
        {"accuracy": float("nan")},
        {"accuracy": float("inf")},
        {"accuracy": 10**400},
        {"tasks": "abc"},
        {"tasks": {"a": 1}},
        {"tasks": [1]},
        {"tasks": ["a\x1b[2Jb"]},
        {"tasks": ["a\nb"]},
        {"tasks": ["a\u202eb"]},
        {"trainer": "toy\x1b[2J"},
        {"more": 1},
    ],
)
def test_an_index_of_another_form_is_refused(wrong, run):
    zoo.pack([run], "zoo")
    rewritten(Path("zoo"), lambda one: one.update(wrong))
    with pytest.raises(InvalidValueError, match="cannot be read"):
        zoo.models("zoo")


def test_an_index_that_is_nested_too_deeply_is_refused(ngym):
    Path("zoo").mkdir()
    Path("zoo", zoo.INDEX).write_text("[" * 100_000)
    with pytest.raises(InvalidValueError, match=r"cannot be read.* Expected .* Ask its author"):
        zoo.models("zoo")


def test_what_others_cannot_open_is_not_packed(run, toys, sides, ngym):
    code, said = ngym("train", sides, "--model", "toy", "--updates", 10, "--out", "mine", "--quiet")
    assert code == 0, said
    with pytest.raises(InvalidValueError, match="others do not have"):
        zoo.pack(["mine"], "zoo")
    shutil.copytree(run, "untested")
    Path("untested/curve.csv").unlink()
    with pytest.raises(InvalidValueError, match="never tested"):
        zoo.pack(["untested"], "zoo")
    assert not Path("zoo").exists()
    zoo.pack([run], "zoo")
    with pytest.raises(InvalidValueError, match="taken"):
        zoo.pack([run], "zoo")
    with pytest.raises(UnknownNameError, match="Did you mean 'toy'"):
        zoo.get("toi", "zoo")
    for place, why in (("http://x.org", "not encrypted"), ("nowhere", "cannot be read")):
        with pytest.raises(InvalidValueError, match=why):
            zoo.models(place)


def test_a_trainer_without_a_network_for_others_says_so(run, ngym):
    code, said = ngym("models", "export", run, "toy.onnx")
    assert code == 1
    assert "cannot write" in said
