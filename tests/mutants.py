"""Break the core in random places, and list the changes that no test notices.

``python tests/mutants.py --help`` has the options. Cosmic Ray makes the mutants, in a copy of the
tracked files that the plain kernel plays. The tests run once as they are, and coverage records
which of them run which line. A mutant meets those of its line, short ones first, until one fails.
One that survives is a missing test, or the same program.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.plugins import get_operator, operator_names
from cosmic_ray.work_item import MutationSpec, TestOutcome
from coverage import CoverageData

ROOT = Path(__file__).resolve().parents[1]
MUTATED = [f"neurogym_core/{folder}" for folder in ("trials", "tasks", "play")]
TESTS = [
    *(f"tests/{folder}" for folder in ("trials", "tasks", "play", "wrappers")),
    "tests/test_bad_input.py",
    # The conformance kit, on tasks of every form.
    "plugins/neurogym-task-control/tests/test_control_conformance.py",
    "plugins/neurogym-task-motor/tests/test_motor_conformance.py",
]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]


def main() -> None:
    """Sample mutants, run their tests, and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", default=MUTATED, help="files or folders to mutate")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files or folders of tests")
    parser.add_argument("--count", type=int, default=300, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60, help="of tests per mutant")
    parser.add_argument("--kept", type=Path, help="folder of a recording, kept for the next call")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        kept = (given.kept or Path(folder)).resolve()
        copy = kept / "copy"
        copy_tracked(copy)
        os.environ |= {"PYTHONPATH": str(copy), "NGYM_KERNEL": "plain", "OMP_NUM_THREADS": "1"}
        os.chdir(copy)
        if not (kept / "lasts.txt").exists():
            record(kept, given.tests)
        lasts = re.findall(r"^ *([\d.]+)s call +(.+)$", (kept / "lasts.txt").read_text(), re.M)
        seconds = {test: float(text) for text, test in lasts}
        ran_by = CoverageData(str(kept / "coverage"))
        ran_by.read()
        chosen, survived = sample(given.files, given.count, given.seed), 0
        for number, mutant in enumerate(chosen, 1):
            tests = tests_of(mutant, ran_by, seconds, given.seconds)
            Path("tests.txt").write_text("\n".join(tests), "utf-8")
            command = shlex.join([*PYTEST, "-x", "@tests.txt"] if tests else ["true"])
            result = mutate_and_test([mutant], command, 30 + 5 * given.seconds)
            lives = result.test_outcome == TestOutcome.SURVIVED
            survived += lives
            said = f"{'SURVIVES' if lives else 'killed by'} {len(tests)} tests"
            print(f"{number} {mutant.module_path}:{mutant.start_pos[0]} {said}", flush=True)
            if lives:
                print(*(line for line in result.diff.split("\n")[4:] if line[:1] in "+-"), sep="\n")
        print(f"{survived} of {len(chosen)} mutants survive.")


def copy_tracked(copy: Path) -> None:
    """Copy the files that git tracks, as they are now."""
    shutil.rmtree(copy, ignore_errors=True)
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)


def record(kept: Path, tests: list[str]) -> None:
    """Run the tests on the copy as it is; write which lines each runs, and how long it takes."""
    options = ["--cov=neurogym_core", "--cov-context=test", "--cov-report=", "--durations=0", "-vv"]
    where = os.environ | {"COVERAGE_FILE": str(kept / "coverage")}
    done = subprocess.run([*PYTEST, *options, *tests], env=where, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"The tests fail on the program as it is:\n{done.stdout[-5000:]}")
    (kept / "lasts.txt").write_text(done.stdout, "utf-8")


def tests_of(
    mutant: MutationSpec, ran_by: CoverageData, seconds: dict[str, float], most: float
) -> list[str]:
    """Return the tests that run the line of a mutant, short ones first, as far as time allows.

    A line that runs while modules are imported has the tests of its file.
    """
    lines = ran_by.contexts_by_lineno(str(mutant.module_path.resolve()))
    ran = set(lines.get(mutant.start_pos[0], ())) - {""} or set().union(*lines.values()) - {""}
    chosen, total = [], 0.0
    tests = {one.rpartition("|")[0] for one in ran}
    for test in sorted(tests, key=lambda test: (seconds.get(test, 0), test)):
        total += seconds.get(test, 0) + 0.01
        if total > most:
            break
        chosen.append(test)
    return chosen


def sample(folders: list[str], count: int, seed: int) -> list[MutationSpec]:
    """Return mutants of different places, one of each."""
    places: dict[tuple, list[MutationSpec]] = {}
    for one in folders:
        for path in [Path(one)] if one.endswith(".py") else sorted(Path(one).rglob("*.py")):
            for mutant in mutants_of(path):
                places.setdefault((str(path), mutant.start_pos), []).append(mutant)
    rng = random.Random(seed)
    chosen = rng.sample(sorted(places), min(count, len(places)))
    return [rng.choice(places[place]) for place in chosen]


def mutants_of(path: Path) -> Iterator[MutationSpec]:
    """Yield the mutants of a file, but for annotations, which never run, and decorators."""
    tree = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    notes = [getattr(one, name, None) for one in tree for name in ("annotation", "returns")]
    spans = [
        ((one.lineno, one.col_offset), (one.end_lineno, one.end_col_offset))
        for one in notes
        if one is not None
    ]
    nodes = list(ast_nodes(get_ast_from_path(path)))
    for name in operator_names():
        operator = get_operator(name)
        if operator.arguments() or name.endswith("/RemoveDecorator"):
            continue
        positions = (place for node in nodes for place in operator().mutation_positions(node))
        for occurrence, (start, end) in enumerate(positions):
            if not any(first <= start < last for first, last in spans):
                yield MutationSpec(path, name, occurrence, start, end)


if __name__ == "__main__":
    main()
