"""The compiled kernel under AddressSanitizer and UndefinedBehaviorSanitizer; needs GCC with
libasan.

Without it the tests are skipped with a reason; in continuous integration (CI=true) that is a
failure."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent

_spec = importlib.util.spec_from_file_location("ngym_test_sanitized", HERE / "sanitized.py")
sanitized = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sanitized)

FAULTS = {
    "nothing": "return PyLong_FromLong(at);",
    "a read behind the end": (
        "char *x = malloc(at); long y = x[at]; free(x); return PyLong_FromLong(y);"
    ),
    "a read of freed memory": "char *x = calloc(at, 1); free(x); return PyLong_FromLong(x[0]);",
    "a shift by too many bits": "int x = 1 << (8 * at); return PyLong_FromLong(x);",
    "a nan as int": "double x = at * (double)INFINITY; return PyLong_FromLong((int)x);",
}
MODULE = """
#include <Python.h>
#include <math.h>
#include <stdlib.h>
static PyObject *fault(PyObject *self, PyObject *given) {
    volatile int at = (int)PyLong_AsLong(given);
    %s
}
static PyMethodDef methods[] = {{"fault", fault, METH_O, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernel", "", -1, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__kernel(void) {
    PyObject *module = PyModule_Create(&definition);
    PyModule_AddIntConstant(module, "VERSION", %d);
    return module;
}
"""
SCRIPT = """
from neurogym_core.players import kernel_in_use
print(kernel_in_use().module.fault(8))
"""


@pytest.fixture(scope="module", autouse=True)
def gcc() -> None:
    if sanitized.runtime() is None:
        reason = "the compiled kernel is watched by AddressSanitizer, which needs GCC with libasan"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_kernel_ends_the_run_with_a_report(name, tmp_path):
    from neurogym_core.play.kernel import VERSION

    (tmp_path / "faulty.c").write_text(MODULE % (FAULTS[name], VERSION), "utf-8")
    (tmp_path / "script.py").write_text(SCRIPT, "utf-8")
    module = sanitized.build(tmp_path, tmp_path / "faulty.c")
    done = sanitized.run_sanitized([tmp_path / "script.py"], module)
    reported = "AddressSanitizer" in done.stderr or "runtime error" in done.stderr
    assert (done.returncode == 0, reported) == (
        (True, False) if name == "nothing" else (False, True)
    ), done.stderr


def test_the_fuzzer_of_the_kernel_finds_no_fault(tmp_path):
    done = sanitized.run_sanitized([HERE / "kernel_fuzz.py"], sanitized.build(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(tmp_path) in done.stdout  # the sanitized kernel played
