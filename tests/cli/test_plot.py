"""``ngym plot``: the figure of a trial in a file."""

from __future__ import annotations

import pytest

from neurogym_core.ecosystem.discovery import installed

pytest.importorskip("matplotlib")

DOTS = "PerceptualDecisionMaking-v0"
MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("suffix", MAGIC)
def test_a_trial_is_drawn_into_a_file_of_the_kind_that_its_name_says(ngym, tmp_path, suffix):
    target = tmp_path / f"trial{suffix}"
    result = ngym("plot", DOTS, "-o", str(target))
    assert result.exit_code == 0, result.output
    assert result.stdout == f"Saved {target}.\n"
    assert target.read_bytes().startswith(MAGIC[suffix])


def test_subject_settings_and_conditions_are_seen_in_it(ngym, tmp_path):
    target = tmp_path / "trial.svg"
    arguments = (
        "--subject",
        "integrator",
        "--condition",
        "coherence=51.2",
        "--set",
        "directions=4",
        "--timing",
        "delay=500",
    )
    assert ngym("plot", DOTS, "-o", str(target), *arguments).exit_code == 0
    text = target.read_text()
    assert "coherence 51.2" in text
    assert "integrator: correct" in text
    assert ">delay<" in text or "delay -->" in text


def test_the_same_seed_draws_the_same_file(ngym, tmp_path):
    first, second, other = (tmp_path / name for name in ("a.png", "b.png", "c.png"))
    for path, seed in ((first, "1"), (second, "1"), (other, "2")):
        assert ngym("plot", DOTS, "-o", str(path), "--seed", seed).exit_code == 0
    assert first.read_bytes() == second.read_bytes() != other.read_bytes()


def test_all_draws_every_installed_task(ngym, tmp_path):
    result = ngym("plot", "--all", str(tmp_path / "new" / "figures"))
    assert result.exit_code == 0, result.output
    drawn = {path.name for path in (tmp_path / "new" / "figures").iterdir()}
    assert drawn == {f"{task.id.replace('/', '-')}.png" for task in installed().tasks if task.usable}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "a task is missing"),
        ([DOTS], "-o FILE is missing"),
        ([DOTS, "-o", "trial.txt"], ".png, .svg, .pdf"),
        ([DOTS, "--all", "figures"], "--all was given together with"),
        (["--all", "figures", "--set", "sigma=1"], "--all was given together with"),
        ([DOTS, "-o", "trial.png", "--set", "sigm=1"], "Did you mean 'sigma'?"),
        ([DOTS, "-o", "trial.png", "--condition", "coherenc=1"], "Did you mean 'coherence'?"),
    ],
)
def test_wrong_usage_ends_with_2_and_draws_nothing(ngym, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    result = ngym("plot", *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_told(ngym, tmp_path):
    result = ngym("plot", DOTS, "-o", str(tmp_path / "no" / "trial.png"))
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr
