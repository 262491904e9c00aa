"""How long ``ngym list`` takes with a hundred packages installed, beside importing what it stands on.

``python -m benchmarks.listing`` prints CPU seconds (user and system) of whole processes and their ratio to
``python -c "import click, importlib_metadata"``, which has to find those packages too; medians of rounds in turn. The
issue asks for at most 2 for ``--json`` and 4 for the table.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 9
COUNT = 100
REPOSITORY = Path(__file__).resolve().parents[1]
CASES = {
    "import click, importlib_metadata": ["-c", "import click, importlib_metadata"],
    "ngym list --json": ["-m", "neurogym_core.cli", "list", "--json"],
    "ngym list": ["-m", "neurogym_core.cli", "list"],
}


def main() -> None:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as name:
        _write_packages(Path(name))
        seconds: dict[str, list[float]] = {case: [] for case in CASES}
        for number in range(ROUNDS + 1):
            for case, arguments in CASES.items():
                took = _cpu_seconds(arguments, name)
                if number:  # the first round warms the disk's cache and writes byte code
                    seconds[case].append(took)
    base = statistics.median(next(iter(seconds.values())))
    for case, values in seconds.items():
        median = statistics.median(values)
        print(f"{case:34} {median * 1000:6.0f} ms   {median / base:4.2f}x")


def _write_packages(folder: Path) -> None:
    path = REPOSITORY / "tests" / "ecosystem" / "packages.py"
    spec = importlib.util.spec_from_file_location("ngym_benchmark_packages", path)
    assert spec is not None
    assert spec.loader is not None
    packages = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = packages
    spec.loader.exec_module(packages)
    for number in range(COUNT):
        row = packages.manifest_row("Thing-v0", tags='["perceptual"]', species='["monkey"]')
        packages.write(packages.Package(name=f"neurogym-task-p{number}", tasks={"Thing-v0": ""}, manifest=row), folder)


def _cpu_seconds(arguments: list[str], folder: str) -> float:
    env = os.environ | {"PYTHONPATH": os.pathsep.join([folder, str(REPOSITORY)])}
    before = os.times()
    subprocess.run([sys.executable, "-P", *arguments], env=env, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    main()
