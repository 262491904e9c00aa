"""The C sources compile with the flags that users put into CFLAGS, and give the same bits."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

_spec = importlib.util.spec_from_file_location(
    "ngym_test_sanitized_flags", Path(__file__).parent / "sanitized.py"
)
sanitized = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sanitized)


def gcc(*arguments: object, **settings) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["gcc", *map(str, arguments)], capture_output=True, text=True, check=False, **settings
    )


@pytest.fixture(scope="module", autouse=True)
def compiler():
    try:
        gcc("--version")
    except OSError:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("GCC is not installed")


def evaluates(flags) -> str | None:
    """FLT_EVAL_METHOD with these flags; None if the compiler does not know them."""
    source = "#include <float.h>\nFLT_EVAL_METHOD\n"
    done = gcc("-E", "-P", *flags, "-", input=source)
    return done.stdout.split()[-1] if done.returncode == 0 else None


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A function that compiles the kernel to a file, with further flags."""
    source = sanitized.hatch_build().c_sources(ROOT, tmp_path_factory.mktemp("translated"))
    includes = (sysconfig.get_paths()["include"], np.get_include(), source.parent)

    def compile_to(target: Path, flags) -> subprocess.CompletedProcess[str]:
        flags = (*sanitized.COMPILE, *sanitized.product_flags(), *flags)
        return gcc(*flags, *(f"-I{folder}" for folder in includes), source, "-o", target)

    return compile_to


PLAYS = """
import sys, hashlib, warnings
import importlib.util
spec = importlib.util.spec_from_file_location("neurogym_core.play._kernel", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.modules[spec.name] = module
import numpy as np
from neurogym_core import Dataset, Task, TaskVectorEnv
from neurogym_core.players import kernel_in_use

assert kernel_in_use().module is module

class Noise(Task):
    timing = {"a": 300}
    def define(self):
        self.observe(x=7)
        self.act(rest=1, go=1)
    def new_trial(self, trial):
        trial.periods("a")
        trial.show("x", 0.1, during="a", noise=1.3)
        trial.answer("go", 0, during="a", correct=0.1)

envs, digest = TaskVectorEnv(Noise(), 5), hashlib.sha256()
digest.update(envs.reset(seed=3)[0].tobytes())
for step in range(300):
    seen, reward, *_ = envs.step(np.full(5, step % 2))
    digest.update(seen.tobytes() + reward.tobytes())
digest.update(next(Dataset(Noise, 3, 100, seed=1)).inputs.tobytes())
print(digest.hexdigest())
"""


def played_with(module: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PLAYS, str(module)], capture_output=True, text=True, check=False,
        cwd=ROOT,
    )  # fmt: skip
    if done.returncode < 0:  # an instruction that this processor does not have
        pytest.skip(f"this processor cannot run the module (signal {-done.returncode})")
    assert done.returncode == 0, done.stderr
    return done.stdout


NAME = f"_kernel{sysconfig.get_config_var('EXT_SUFFIX')}"


@pytest.fixture(scope="module")
def usual(compiled, tmp_path_factory) -> str:
    """The digest of a game of a kernel without further flags."""
    target = tmp_path_factory.mktemp("usual") / NAME
    done = compiled(target, ())
    assert done.returncode == 0, done.stderr
    return played_with(target)


# Sapphire Rapids has float16 arithmetic: GCC evaluates _Float16 there as it is (FLT_EVAL_METHOD is
# 16), and float as before.
@pytest.mark.slow
@pytest.mark.parametrize("flags", [("-march=native",), ("-march=sapphirerapids",)], ids=" ".join)
def test_flags_for_a_processor_change_no_bit(flags, tmp_path, compiled, usual):
    if evaluates(flags) is None:
        pytest.skip(f"this compiler does not know {' '.join(flags)}")
    done = compiled(tmp_path / NAME, flags)
    assert done.returncode == 0, done.stderr
    assert played_with(tmp_path / NAME) == usual


@pytest.mark.parametrize("flags", [("-mfpmath=387",), ("-ffast-math",)], ids=" ".join)
def test_arithmetic_that_does_not_round_to_float32_is_refused(flags, tmp_path, compiled):
    if evaluates(flags) is None or (flags == ("-mfpmath=387",) and evaluates(flags) == "0"):
        pytest.skip(f"this compiler does not know {' '.join(flags)}")
    done = compiled(tmp_path / "x.so", flags)
    assert done.returncode != 0
    assert "must round every operation to float32" in done.stderr
