"""`ngym models`: runs as archives with hashes, which are compared before anything is unpacked."""

from __future__ import annotations

import hashlib
import json
import shutil
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


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "a/b", ".hidden", "c:\\x"])
def test_files_outside_of_the_folder_are_refused(name, run):
    (model,) = zoo.pack([run], "zoo")
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("settings.json", "{}")
        archive.writestr(name, "evil")
    content = buffer.getvalue()
    Path("zoo", model.file).write_bytes(content)
    rewritten(
        Path("zoo"),
        lambda one: one.update(sha256=hashlib.sha256(content).hexdigest(), size=len(content)),
    )
    with pytest.raises(InvalidValueError, match="refused"):
        zoo.get("toy", "zoo", "copy")
    assert sorted(path.name for path in Path().iterdir()) == ["runs", "zoo"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"file": "../toy.zip"},
        {"name": "../toy"},
        {"sha256": "0" * 63},
        {"size": zoo.MOST + 1},
        {"size": "5"},
        {"accuracy": None},
        {"more": 1},
    ],
)
def test_an_index_of_another_form_is_refused(wrong, run):
    zoo.pack([run], "zoo")
    rewritten(Path("zoo"), lambda one: one.update(wrong))
    with pytest.raises(InvalidValueError, match="cannot be read"):
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
