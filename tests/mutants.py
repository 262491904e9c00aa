"""Break the core in random places, and list the changes that no test of the core notices.

``python tests/mutants.py --help`` has the options. Cosmic Ray makes the mutants, in a copy of the
tracked files. The tests run once as they are, with the plain kernel, and coverage records which of
them run which line. A mutant meets those of its line, the likely and short ones first, until one
fails. The compiled kernel, which is faster, plays them, but for mutants of the kernel itself. One
that survives is a missing test, or the same program: those are listed with their reasons in
``equivalent_mutants.txt``. The exit status is 1 if fewer than 90 % are killed.

Copy, recording and results stay in ``build/mutants``: the next call goes on with them. Remove the
folder to begin again.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.plugins import get_operator, operator_names
from cosmic_ray.work_item import MutationSpec, TestOutcome
from coverage import CoverageData

MUTATED = [f"neurogym_core/{folder}" for folder in ("trials", "tasks", "play")]
TESTS = [
    *(f"tests/{folder}" for folder in ("trials", "tasks", "play", "wrappers")),
    "tests/test_bad_input.py",
]
# The conformance kit, on tasks of every form. The core's tests lack the law that only it knows.
KIT = [
    "plugins/neurogym-task-control/tests/test_control_conformance.py",
    "plugins/neurogym-task-motor/tests/test_motor_conformance.py",
]
# Minutes with the plain kernel, and no law that other tests lack.
LONG = ["tests/play/test_memory.py"]
KERNEL = Path("neurogym_core/play/kernel.py")
EQUIVALENT = Path("tests/equivalent_mutants.txt")
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
LEAST = 0.9  # share of mutants that the tests kill
FIRST = 5  # s of tests in the first of two runs: most mutants die there, and loops end soon
MEMORY = 8 << 30  # bytes of a test run: a mutant may fill any


def main() -> None:
    """Sample mutants, run their tests, and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", default=MUTATED, help="files or folders to mutate")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files or folders of tests")
    parser.add_argument("--kit", nargs="*", default=KIT, help="tests for those that survive")
    parser.add_argument("--count", type=int, default=300, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60, help="of tests per mutant")
    parser.add_argument("--kept", type=Path, default=Path("build/mutants"), help="folder")
    given = parser.parse_args()
    kept = given.kept.resolve()
    if not (kept / "lasts.txt").exists():
        shutil.rmtree(kept, ignore_errors=True)
        copy_tracked(kept / "copy")
        shutil.copytree(kept / "copy", kept / "whole")
        (kept / "compiled").mkdir()
        for file in compiled(KERNEL.parent):
            shutil.copy(file, kept / "compiled")
    # A call that was stopped leaves its last mutant in the copy.
    shutil.copytree(kept / "whole", kept / "copy", dirs_exist_ok=True)
    os.chdir(kept / "copy")
    os.environ |= {"PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1"}
    use_kernel(kept, plain=True)
    if not (kept / "lasts.txt").exists():
        record(kept, given.files, [*given.tests, *given.kit])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    play(kept, sample(given.files, given.count, given.seed), tuple(given.kit), given.seconds)


def play(kept: Path, mutants: list[MutationSpec], kit: tuple[str, ...], most: float) -> None:
    """Run the tests of each mutant that has no result yet; print the results of all."""
    lasts = re.findall(r"^ *([\d.]+)s call +(.+)$", (kept / "lasts.txt").read_text(), re.M)
    seconds = {test: float(text) for text, test in lasts}
    ran_by = CoverageData(str(kept / "coverage"))
    ran_by.read()
    results = kept / "results.jsonl"
    results.touch()
    known = {tuple(row["mutant"]): row for row in map(json.loads, results.open())}
    kills = Counter(row["by"] for row in known.values())
    same = equivalents()
    survive = []
    for number, mutant in enumerate(mutants, 1):
        name = (str(mutant.module_path), mutant.operator_name, mutant.occurrence)
        if name not in known:
            use_kernel(kept, plain=mutant.module_path == KERNEL)
            tests = tests_of(mutant, ran_by, seconds, kills)
            own = [test for test in tests if not test.startswith(kit)]
            row = {"mutant": name, **fate(mutant, within(own, seconds, most), seconds)}
            if not row["by"]:
                others = [test for test in tests if test.startswith(kit)]
                row["kit"] = fate(mutant, within(others, seconds, most), seconds)["by"]
            with results.open("a") as file:
                print(json.dumps(row), file=file)
            known[name] = row
            kills[row["by"]] += 1
        row = known[name]
        place = f"{number} {mutant.module_path}:{mutant.start_pos[0]}"
        print(f"{place} {'killed by ' + row['by'] if row['by'] else 'SURVIVES'}", flush=True)
        if not row["by"]:
            reason = same.get((str(mutant.module_path), row["change"]))
            print(row["change"], f"equivalent: {reason}" if reason else "", sep="\n")
            print(f"Only the kit's {row['kit']} notices it." if row["kit"] else "", flush=True)
            survive.append(reason)
    total = len(mutants) - sum(reason is not None for reason in survive)
    killed = len(mutants) - len(survive)
    low, high = wilson(killed, total)
    print(
        f"{killed} of {total} mutants killed: {killed / max(total, 1):.1%} (95 % interval {low:.1%}"
        f" to {high:.1%}); {len(mutants) - total} more are the same program."
    )
    sys.exit(killed < LEAST * total)


def fate(mutant: MutationSpec, tests: list[str], seconds: dict[str, float]) -> dict[str, str]:
    """Return the test that kills a mutant, "" if none does, and the changed lines."""
    first = within(tests, seconds, FIRST)
    for some in (first, tests[len(first) :]):
        Path("tests.txt").write_text("\n".join(some), "utf-8")
        command = shlex.join([*PYTEST, "-x", "@tests.txt"] if some else ["true"])
        limit = 30 + 5 * sum(seconds.get(test, 0) for test in some)
        result = mutate_and_test([mutant], command, limit)
        changed = (line for line in result.diff.split("\n")[4:] if line[:1] in tuple("+-"))
        change = "\n".join(line for line in changed)
        if result.test_outcome != TestOutcome.SURVIVED:
            failed = re.search(r"^(?:FAILED|ERROR) (\S+)", result.output, re.M)
            # Pytest prints errors of conftest.py to stderr, which Cosmic Ray does not keep.
            by = failed[1] if failed else result.output[-200:] or "an error before the tests"
            return {"by": by, "change": change}
    return {"by": "", "change": change}


def equivalents() -> dict[tuple[str, str], str]:
    """Return the reasons of the mutants that are the same program: {(file, change): reason}.

    Each entry is a line ``file: reason``, and the lines of the change below it.
    """
    if not EQUIVALENT.exists():
        return {}
    listed = {}
    for entry in EQUIVALENT.read_text("utf-8").strip().split("\n\n"):
        head, _, change = entry.partition("\n")
        file, _, reason = head.partition(": ")
        listed[file, change] = reason
    return listed


def wilson(successes: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a proportion."""
    if not n:
        return 0.0, 1.0
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return centre - half, centre + half


def copy_tracked(copy: Path) -> None:
    """Copy the files below this folder that git tracks, as they are now."""
    files = subprocess.check_output(["git", "ls-files", "-z"], text=True)
    for name in filter(None, files.split("\0")):
        if Path(name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, copy / name)


def compiled(folder: Path) -> list[Path]:
    """Return the compiled kernel in a folder: one file, or none."""
    return [file for file in folder.glob("_kernel.*") if file.suffix in (".so", ".pyd")]


def use_kernel(kept: Path, *, plain: bool) -> None:
    """Let the plain kernel play in this folder, or the compiled one where there is one."""
    for file in compiled(KERNEL.parent):
        file.unlink()
    os.environ["NGYM_KERNEL"] = "plain"
    if not plain and compiled(kept / "compiled"):
        shutil.copy(*compiled(kept / "compiled"), KERNEL.parent)
        del os.environ["NGYM_KERNEL"]


def record(kept: Path, mutated: list[str], tests: list[str]) -> None:
    """Run the tests on the copy as it is; write which lines each runs, and how long it takes."""
    folders = {str(Path(one).parent if one.endswith(".py") else Path(one)) for one in mutated}
    options = ["--cov-context=test", "--cov-report=", "--durations=0", "-vv"]
    options += [f"--cov={folder}" for folder in sorted(folders)]
    options += [f"--ignore={one}" for one in LONG]
    where = os.environ | {"COVERAGE_FILE": str(kept / "coverage")}
    done = subprocess.run([*PYTEST, *options, *tests], env=where, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"The tests fail on the program as it is:\n{done.stdout[-5000:]}")
    (kept / "lasts.txt").write_text(done.stdout, "utf-8")


def tests_of(
    mutant: MutationSpec, ran_by: CoverageData, seconds: dict[str, float], kills: Counter[str]
) -> list[str]:
    """Return the tests that run the line of a mutant, short ones and frequent killers first.

    A line that runs while modules are imported has the tests of its file.
    """
    lines = ran_by.contexts_by_lineno(str(mutant.module_path.resolve()))
    ran = set(lines.get(mutant.start_pos[0], ())) - {""} or set().union(*lines.values()) - {""}
    tests = {one.rpartition("|")[0] for one in ran}
    return sorted(tests, key=lambda test: ((seconds.get(test, 0) + 0.02) / (1 + kills[test]), test))


def within(tests: list[str], seconds: dict[str, float], most: float) -> list[str]:
    """Return as many of the first tests as the time allows."""
    total = 0.0
    for number, test in enumerate(tests):
        total += seconds.get(test, 0) + 0.01
        if total > most:
            return tests[:number]
    return tests


def sample(folders: list[str], count: int, seed: int) -> list[MutationSpec]:
    """Return mutants of different places, spread evenly over the files by their numbers of places.

    A smaller sample with the same seed is the beginning of a larger one.
    """
    rng = random.Random(seed)
    order: list[tuple[float, MutationSpec]] = []
    for one in folders:
        for path in [Path(one)] if one.endswith(".py") else sorted(Path(one).rglob("*.py")):
            places: dict[tuple, list[MutationSpec]] = {}
            for mutant in mutants_of(path):
                places.setdefault(mutant.start_pos, []).append(mutant)
            chosen = [rng.choice(mutants) for mutants in places.values()]
            rng.shuffle(chosen)
            order += [((i + rng.random()) / len(chosen), one) for i, one in enumerate(chosen)]
    return [mutant for _, mutant in sorted(order, key=lambda pair: pair[0])[:count]]


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
