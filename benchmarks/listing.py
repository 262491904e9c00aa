"""Time ``ngym list`` with a hundred installed packages, relative to importing its dependencies.

``python -m benchmarks.listing`` prints the CPU seconds (user and system) of whole processes, and
their ratio to ``python -c "import click, importlib_metadata"``, which also has to find those
packages. Each value is a median over rounds. The ratio should be at most 2 for ``--json``, and at
most 4 for the table.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROUNDS = 9
COUNT = 100
REPOSITORY = Path(__file__).resolve().parents[1]
CASES = {
    "import click, importlib_metadata": ["-c", "import click, importlib_metadata"],
    "ngym list --json": ["-m", "neurogym_core", "list", "--json"],
    "ngym list": ["-m", "neurogym_core", "list"],
}


def main() -> None:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as name:
        python = _environment(Path(name))
        seconds: dict[str, list[float]] = {case: [] for case in CASES}
        for number in range(ROUNDS + 1):
            for case, arguments in CASES.items():
                took = _cpu_seconds([str(python), "-P", *arguments])
                if number:  # the first round fills the disk cache and writes bytecode
                    seconds[case].append(took)
    base = statistics.median(next(iter(seconds.values())))
    for case, values in seconds.items():
        median = statistics.median(values)
        print(f"{case:34} {median * 1000:6.0f} ms   {median / base:4.2f}x")


def _environment(folder: Path) -> Path:
    """Make an environment with the core's wheel and a hundred packages, and return its Python."""
    packages = _module("packages", REPOSITORY / "tests_common" / "made_packages.py")
    environments = _module("environments", REPOSITORY / "tests_common" / "environments.py")
    made = environments.Environment(folder / "venv", environments.borrowed(folder / "third-party"))
    made.pip_install([environments.build_wheel(REPOSITORY, folder)])
    for number in range(COUNT):
        row = packages.manifest_row("Thing-v0", tags='["perceptual"]', species='["monkey"]')
        package = packages.Package(
            name=f"neurogym-task-p{number}", tasks={"Thing-v0": ""}, manifest=row
        )
        packages.write(package, made.site)
    python: Path = made.python
    return python


def _module(name: str, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"ngym_benchmark_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _cpu_seconds(command: list[str]) -> float:
    mine = ("PYTHON", "NGYM_")
    env = {key: value for key, value in os.environ.items() if not key.startswith(mine)}
    before = _children()
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # finer than the ticks of os.times
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
